//! The list of all tools.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use wildgym_tasks::World;
use wildgym_tasks::environment::BrowserMode;

use crate::error::ToolError;
use crate::tool::AnyTool;
use crate::tools::ask_question_about_audio::AskQuestionAboutAudio;
use crate::tools::ask_question_about_image::AskQuestionAboutImage;
use crate::tools::ask_question_about_video::AskQuestionAboutVideo;
use crate::tools::ask_user::AskUser;
use crate::tools::audio2text::Audio2Text;
use crate::tools::browse_url::BrowseUrl;
use crate::tools::execute_code::ExecuteCode;
use crate::tools::extract_document_content::ExtractDocumentContent;
use crate::tools::extract_excel_content::ExtractExcelContent;
use crate::tools::google_scholar::GoogleScholar;
use crate::tools::image_to_text::ImageToText;
use crate::tools::operation::Operation;
use crate::tools::page_actions;
use crate::tools::scrape::Scrape;
use crate::tools::search_serper::SearchSerper;
use crate::tools::search_wiki::SearchWiki;

/// How many near names an unknown one is answered with.
const NEAR: usize = 3;

/// How alike a name must be to count as near; 1 is equal.
const ALIKE: f64 = 0.8;

/// Returns all tools of this program. A new tool is one line here.
fn all() -> Vec<Arc<dyn AnyTool>> {
    let mut tools: Vec<Arc<dyn AnyTool>> = vec![
        Arc::new(SearchSerper),
        Arc::new(SearchWiki),
        Arc::new(GoogleScholar),
        Arc::new(Scrape),
        Arc::new(BrowseUrl),
        Arc::new(ExtractDocumentContent),
        Arc::new(ExtractExcelContent),
        Arc::new(ImageToText),
        Arc::new(AskQuestionAboutImage),
        Arc::new(Audio2Text),
        Arc::new(AskQuestionAboutAudio),
        Arc::new(ExecuteCode),
    ];
    tools.extend(page_actions::all());
    tools.push(Arc::new(AskQuestionAboutVideo));
    tools
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

/// Something in arguments that does not fit the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// JSON pointer of the value; empty for the arguments as a whole.
    pub pointer: String,
    /// What was expected there.
    pub problem: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.pointer.trim_start_matches('/').replace('/', ".");
        if place.is_empty() {
            f.write_str(&self.problem)
        } else {
            write!(f, "`{place}`: {}", self.problem)
        }
    }
}

impl Entry {
    /// Returns what in the arguments does not fit the schema.
    #[must_use]
    pub fn misfits(&self, arguments: &Value) -> Vec<Misfit> {
        let misfit = |fault: jsonschema::ValidationError<'_>| Misfit {
            pointer: fault.instance_path().to_string(),
            problem: fault.to_string(),
        };
        self.validator.iter_errors(arguments).map(misfit).collect()
    }

    /// Returns the tool's name.
    fn name(&self) -> &str {
        self.tool.name()
    }

    /// Writes the parameters in one line: `{query: string, kind?: "search" | "news"}`.
    #[must_use]
    pub fn signature(&self) -> String {
        crate::door::expected(&self.parameters)
    }
}

/// Tools by name, in the order in which a model is told of them.
#[derive(Clone, Default)]
pub struct Catalog(Vec<Entry>);

/// A tool whose definition cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the tool `{tool}` cannot be offered: {reason}")]
pub struct BadTool {
    tool: String,
    reason: String,
}

impl Catalog {
    /// Returns a catalog of all tools of this program.
    pub fn all() -> Result<Self, BadTool> {
        Self::of(all())
    }

    /// Returns those tools that are offered where pages are offered in this way.
    #[must_use]
    pub fn offered(&self, browser: BrowserMode) -> Self {
        let fits = |entry: &&Entry| entry.tool.browser().is_none_or(|mode| mode == browser);
        Self(self.0.iter().filter(fits).cloned().collect())
    }

    /// Returns a catalog of these tools.
    pub fn of(tools: Vec<Arc<dyn AnyTool>>) -> Result<Self, BadTool> {
        let entry = |tool: Arc<dyn AnyTool>| {
            let parameters = tool.parameters();
            let validator = jsonschema::validator_for(&parameters).map_err(|error| BadTool {
                tool: tool.name().to_owned(),
                reason: format!("its schema is invalid: {error}"),
            })?;
            Ok(Entry { tool, parameters, validator: Arc::new(validator) })
        };
        tools.into_iter().map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// Returns those tools that pass.
    #[must_use]
    pub fn only(&self, passes: impl Fn(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|entry| passes(entry.tool.name())).cloned().collect())
    }

    /// Returns these tools with `more` behind them. No two may have one name.
    pub fn with(&self, more: &Self) -> Result<Self, BadTool> {
        let clash = more.0.iter().find(|one| self.0.iter().any(|own| own.name() == one.name()));
        match clash {
            Some(entry) => Err(BadTool {
                tool: entry.name().to_owned(),
                reason: "two tools have this name; leave one of them out".to_owned(),
            }),
            None => Ok(Self([&self.0[..], &more.0].concat())),
        }
    }

    /// Returns these tools with `more` behind them, without those that are there already:
    /// equal in all that a model is told.
    #[must_use]
    pub fn beside(&self, more: &Self) -> Self {
        let told = |entry: &Entry| crate::schema::openai(entry);
        let known: Vec<Value> = self.0.iter().map(told).collect();
        let new = more.0.iter().filter(|entry| !known.contains(&told(entry)));
        Self(self.0.iter().chain(new).cloned().collect())
    }

    /// Returns what asks the person who gave the task, which scenarios offer.
    pub fn conversation() -> Result<Self, BadTool> {
        Self::of(vec![Arc::new(AskUser)])
    }

    /// Returns the operations of a world as tools, in the order of their names.
    pub fn of_world(world: &World) -> Result<Self, BadTool> {
        let tool = |operation| Arc::new(Operation::new(operation)) as Arc<dyn AnyTool>;
        Self::of(world.operations.values().map(tool).collect())
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

    /// Returns their names in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.iter().map(|entry| entry.tool.name().to_owned()).collect()
    }

    /// Names the tools whose names are alike, the most alike first, or else all.
    fn nearest(&self, name: &str) -> String {
        let names: Vec<&str> = self.iter().map(|entry| entry.tool.name()).collect();
        let mut near: Vec<(f64, &str)> = names
            .iter()
            .map(|other| (strsim::jaro_winkler(name, other), *other))
            .filter(|(alike, _)| *alike >= ALIKE)
            .collect();
        near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let near: Vec<&str> = near.into_iter().take(NEAR).map(|(_, name)| name).collect();
        match (names.as_slice(), near.as_slice()) {
            ([], _) => "this task offers no tools".to_owned(),
            (all, []) => format!("the tools are `{}`", all.join("`, `")),
            (_, [one]) => format!("the nearest is `{one}`"),
            (_, near) => format!("the nearest are `{}`", near.join("`, `")),
        }
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|entry| entry.tool.name())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages are offered in one way or the other, and an unknown name is answered with
    /// names that are offered.
    #[test]
    fn pages_are_offered_in_one_way() {
        let all = Catalog::all().unwrap();
        let names = |mode| all.offered(mode).names();
        let (delegated, direct) = (names(BrowserMode::Delegated), names(BrowserMode::Direct));
        assert!(delegated.contains(&"browse_url".into()) && !delegated.contains(&"back".into()));
        assert!(!direct.contains(&"browse_url".into()) && direct.contains(&"click_id".into()));
        let video = "ask_question_about_video".to_owned();
        assert!(delegated.contains(&video) && direct.contains(&video), "files are in both");
        assert_eq!(direct.len(), delegated.len() - 1 + 14);
        for (mode, name, hint) in [
            (BrowserMode::Delegated, "browse", "the nearest is `browse_url`"),
            (BrowserMode::Direct, "click_ids", "the nearest is `click_id`"),
        ] {
            let error = all.offered(mode).entry(name).err().unwrap().to_string();
            assert!(error.contains(hint), "{error}");
        }
        let error = all.offered(BrowserMode::Delegated).entry("click_id").err().unwrap();
        assert!(!error.to_string().contains("click_blank_area"), "{error}");
    }
}
