//! The sheets of a workbook, from the workspace or the web.

use std::sync::Arc;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wildgym_sandbox::documents::Workbook;

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::source;
use crate::tool::{CallContext, Category, Output, Tool};

/// Reads every sheet of a workbook.
#[derive(Debug, Default)]
pub struct ExtractExcelContent;

/// Arguments of [`ExtractExcelContent`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path of the workbook in the workspace (`data/sales.xlsx`), or an http(s) URL.
    document_path: String,
}

impl Tool for ExtractExcelContent {
    const NAME: &'static str = "extract_excel_content";
    const DESCRIPTION: &'static str = "Return every sheet of a workbook (xlsx, xlsm, xlsb, xls, \
        ods; also CSV and TSV): its name, whether it is hidden, its range, the cells as a table \
        with row numbers and column letters, merged ranges, and the formulas behind the values. \
        Dates are ISO 8601. To calculate with the data, read the file with `execute_code`.";
    const CATEGORY: Category = Category::FileProcessing;
    const EXAMPLE: &'static str =
        r#"{"document_path": "https://data.tarrow.example/files/population-2021.csv"}"#;
    type Args = Args;

    fn footprint(&self, args: &Args) -> Footprint {
        source::footprint(&args.document_path)
    }

    fn cost(&self, _: &Args) -> Duration {
        Duration::from_secs(2)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let file = source::load(context, &args.document_path).await?;
        let workbook = context.sandbox.host.workers.workbook(&file.name, file.bytes).await?;
        Ok(shown(&file.name, &workbook).into())
    }
}

/// Writes what the agent reads: which sheets there are, then each.
fn shown(name: &str, workbook: &Workbook) -> String {
    let names: Vec<String> =
        workbook.sheets.iter().map(|sheet| format!("`{}`", sheet.name)).collect();
    let count = names.len();
    let noun = if count == 1 { "sheet" } else { "sheets" };
    format!(
        "`{name}`: {}, {count} {noun}: {}\n\n{}",
        workbook.kind,
        names.join(", "),
        workbook.to_markdown()
    )
}
