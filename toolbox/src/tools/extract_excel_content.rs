//! The sheets of a workbook, from the workspace or the web: all, or a part of one.

use std::sync::Arc;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wildgym_sandbox::documents::{Area, Part, Visibility, Workbook};

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
    /// Name of the only sheet to read. Leave it out to get all sheets.
    #[serde(default)]
    sheet: Option<String>,
    /// The only cells to read, such as `A1:F200`, `B:D` or `500:900`; of the first sheet
    /// unless `sheet` names one. Use it to see the rows that a large sheet leaves out.
    #[serde(default)]
    range: Option<String>,
}

impl Tool for ExtractExcelContent {
    const NAME: &'static str = "extract_excel_content";
    const DESCRIPTION: &'static str = "Return every sheet of a workbook (xlsx, xlsm, xlsb, xls, \
        ods; also CSV and TSV): its name, whether it is hidden, its range, the cells as a table \
        with row numbers and column letters, merged ranges, and the formulas behind the values; \
        from xlsx, xlsm and ods also number formats, font and fill colours that differ from the \
        default, hidden rows and columns, comments with authors, links, defined names, and from \
        xlsx and xlsm tables, charts, rules for input and conditional formatting. A large sheet shows its first and last \
        rows and a summary of each column; read parts of it with `sheet` and `range`. Dates are \
        ISO 8601. To calculate with the data, read the file with `execute_code`.";
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
        let part = part(args.sheet, args.range)?;
        let file = source::load(context, &args.document_path).await?;
        let workbook = context.sandbox.host.workers.workbook(&file.name, file.bytes, part).await?;
        Ok(shown(&file.name, &workbook).into())
    }
}

/// Understands which part is asked for; a range may name its sheet, as in `Sales!A1:B9`.
fn part(sheet: Option<String>, range: Option<String>) -> Result<Part, ToolError> {
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let Some(range) = given(range) else {
        return Ok(Part { sheet: given(sheet), area: None });
    };
    let (named, cells) = match range.rsplit_once('!') {
        Some((name, cells)) => (Some(name.trim().trim_matches('\'').to_owned()), cells),
        None => (None, range.as_str()),
    };
    let area = Area::parse(cells).ok_or_else(|| ToolError::BadArguments {
        tool: ExtractExcelContent::NAME.to_owned(),
        reason: format!("`range` is `{range}`; write it as `A1:F200`, `B:D` or `500:900`"),
    })?;
    Ok(Part { sheet: given(sheet).or(named), area: Some(area) })
}

/// Writes what the agent reads: which sheets there are, then each that was read.
fn shown(name: &str, workbook: &Workbook) -> String {
    let names: Vec<String> = workbook.names.iter().map(|name| format!("`{name}`")).collect();
    let count = names.len();
    let noun = if count == 1 { "sheet" } else { "sheets" };
    let mut text = format!("`{name}`: {}, {count} {noun}: {}", workbook.kind, names.join(", "));
    let hidden: Vec<String> = workbook
        .sheets
        .iter()
        .filter(|sheet| sheet.visibility != Visibility::Visible)
        .map(|sheet| format!("`{}`", sheet.name))
        .collect();
    if !hidden.is_empty() {
        text.extend(["; hidden: ", &hidden.join(", ")]);
    }
    if workbook.sheets.len() < count {
        let read: Vec<String> =
            workbook.sheets.iter().map(|sheet| format!("`{}`", sheet.name)).collect();
        text.extend(["; only ", &read.join(", "), " was read"]);
    }
    format!("{text}\n\n{}", workbook.to_markdown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_understood_or_refused() {
        let table = [
            (None, None, Some((None, None)), "everything"),
            (Some("Q1"), None, Some((Some("Q1"), None)), "a sheet"),
            (None, Some("b2:a1"), Some((None, Some("A1:B2"))), "cells of the first sheet"),
            (
                None,
                Some("'Q 1'!A:B"),
                Some((Some("Q 1"), Some("A:B"))),
                "a range that names its sheet",
            ),
            (Some(" "), Some(""), Some((None, None)), "left empty"),
            (None, Some("total"), None, "no range"),
        ];
        for (sheet, range, want, why) in table {
            let got = part(sheet.map(str::to_owned), range.map(str::to_owned)).ok();
            let got = got.map(|part| (part.sheet, part.area.map(|area| area.to_string())));
            let want = want.map(|(sheet, area): (Option<&str>, Option<&str>)| {
                (sheet.map(str::to_owned), area.map(str::to_owned))
            });
            assert_eq!(got, want, "{why}");
        }
    }
}
