//! The list of all tools.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::error::ToolError;
use crate::tool::AnyTool;
use crate::tools::execute_code::ExecuteCode;
use crate::tools::extract_document_content::ExtractDocumentContent;
use crate::tools::extract_excel_content::ExtractExcelContent;
use crate::tools::scrape::Scrape;
use crate::tools::search_serper::SearchSerper;
use crate::tools::search_wiki::SearchWiki;

/// How many near names an unknown one is answered with.
const NEAR: usize = 3;

/// Returns all tools of this program. A new tool is one line here.
fn all() -> Vec<Arc<dyn AnyTool>> {
    vec![
        Arc::new(SearchSerper),
        Arc::new(SearchWiki),
        Arc::new(Scrape),
        Arc::new(ExtractDocumentContent),
        Arc::new(ExtractExcelContent),
        Arc::new(ExecuteCode),
    ]
}

/// A tool with what is derived from it once.
#[derive(Clone)]
pub struct Entry {
    /// The tool.
    pub tool: Arc<dyn AnyTool>,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
    /// The schema, compiled.
    pub(crate) validator: Arc<jsonschema::Validator>,
}

/// Tools by name, in the order in which a model is told of them.
#[derive(Clone, Default)]
pub struct Catalog(Vec<Entry>);

/// A tool whose definition cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the schema of tool `{tool}` is invalid: {reason}")]
pub struct BadTool {
    tool: String,
    reason: String,
}

impl Catalog {
    /// Returns a catalog of all tools of this program.
    pub fn all() -> Result<Self, BadTool> {
        Self::of(all())
    }

    /// Returns a catalog of these tools.
    pub fn of(tools: Vec<Arc<dyn AnyTool>>) -> Result<Self, BadTool> {
        let entry = |tool: Arc<dyn AnyTool>| {
            let parameters = tool.parameters();
            let validator = jsonschema::validator_for(&parameters).map_err(|error| BadTool {
                tool: tool.name().to_owned(),
                reason: error.to_string(),
            })?;
            Ok(Entry { tool, parameters, validator: Arc::new(validator) })
        };
        tools.into_iter().map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the entry of that name, or an error that names the nearest ones.
    pub fn entry(&self, name: &str) -> Result<&Entry, ToolError> {
        self.0.iter().find(|entry| entry.tool.name() == name).ok_or_else(|| {
            ToolError::UnknownTool { name: name.to_owned(), hint: self.nearest(name) }
        })
    }

    /// Returns the tools in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter()
    }

    fn nearest(&self, name: &str) -> String {
        let mut names: Vec<&str> = self.iter().map(|entry| entry.tool.name()).collect();
        if names.is_empty() {
            return "this task offers no tools".to_owned();
        }
        names.sort_by(|a, b| {
            strsim::jaro_winkler(name, b).total_cmp(&strsim::jaro_winkler(name, a))
        });
        let near: Vec<String> = names.iter().take(NEAR).map(|name| format!("`{name}`")).collect();
        format!("the nearest are {}", near.join(", "))
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|entry| entry.tool.name())).finish()
    }
}
