//! Browses: a navigator of our own finds something out, or does something, on pages of a
//! real browser.
//!
//! The agent says what is wanted and where to begin; whoever answers tools ([`crate::ask`])
//! looks at the pages and names one action a round, out of the fifteen page actions. What
//! the agent gets is the result and where it stands, never the pages themselves. Cookies
//! and tabs belong to the attempt and outlive the call, what the navigator knew does not.

mod history;
mod navigator;
mod prompt;
mod reply;
mod scene;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;
use wildgym_tasks::environment::BrowserMode;

use self::navigator::Found;
use self::scene::Live;
use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::{CallContext, Category, Output, Tool};
use crate::tools::page_actions::browser;

/// Has a navigator browse.
#[derive(Debug, Default)]
pub struct BrowseUrl;

/// Arguments of [`BrowseUrl`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What to find out or do, in full: the navigator knows nothing else of the task.
    task_prompt: String,
    /// Address of the page to start from.
    start_url: String,
    /// Most rounds; in each the navigator looks at a page and does one action.
    #[serde(default = "rounds")]
    #[schemars(range(min = 1, max = 50))]
    round_limit: u32,
}

fn rounds() -> u32 {
    12
}

/// Begins the last line of a result, which is the harness's and not the navigator's.
const FOOT: &str = "\n\n[ended at ";

/// Begins a result that the navigator did not finish.
const UNFINISHED: &str = "[not finished: ";

impl Tool for BrowseUrl {
    const NAME: &'static str = "browse_url";
    const DESCRIPTION: &'static str = "Have a navigator work on pages in a real browser and report \
        what it found: it reads, clicks, fills in forms, logs in, scrolls, searches in pages, \
        looks at videos and downloads files into the workspace. For pages that need more than \
        reading one address. It sees only the task you write, so put everything into it: names, \
        values, dates, the form of the answer. Logins last until the task ends; what the \
        navigator saw is forgotten after the call. Returns its report, the address where it \
        ended and the paths of downloaded files; if the rounds run out, what was found so far.";
    const CATEGORY: Category = Category::WebBrowsing;
    const EXAMPLE: &'static str = r#"{"task_prompt": "Find the adult single fare from Kelmouth to Orrisay. Give the amount and the page's address.", "start_url": "https://tarrowferries.example/"}"#;
    const BROWSER: Option<BrowserMode> = Some(BrowserMode::Delegated);
    type Args = Args;

    fn footprint(&self, _: &Args) -> Footprint {
        Footprint::uses_browser().and(Footprint::writes_workspace())
    }

    /// A second for each round that it may take.
    fn cost(&self, args: &Args) -> Duration {
        Duration::from_secs(args.round_limit.into())
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let task = args.task_prompt.trim();
        if task.is_empty() {
            return Err(rejected("`task_prompt` is empty; say what to find out or do"));
        }
        let start = address(&args.start_url)?;
        let browser = browser(context).await?;
        let scene = Live { context, browser };
        let fence = context.seed.child("fence", 0).to_string();
        let fence = fence.get(..12).unwrap_or(&fence);
        let found = navigator::browse(&scene, (task, fence), &start, args.round_limit).await?;
        Ok(text_of(&found).into())
    }
}

fn rejected(reason: &str) -> ToolError {
    ToolError::BadArguments { tool: BrowseUrl::NAME.to_owned(), reason: reason.to_owned() }
}

/// Returns the address that is meant: one without a scheme is of the web.
fn address(given: &str) -> Result<String, ToolError> {
    let given = given.trim();
    let host = |c: char| !c.is_whitespace() && !"/?#".contains(c);
    let bare = !given.contains("://")
        && given.starts_with(host)
        && given.split(['/', '?', '#']).next().is_some_and(|host| host.contains('.'));
    let url = Url::parse(given).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.or_else(|| Url::parse(&format!("https://{given}")).ok().filter(|_| bare));
    url.map(|url| url.to_string()).ok_or_else(|| {
        rejected(&format!(
            "`start_url`: `{given}` is no address of a page; write it whole, such as \
             `https://www.example.org/fares`"
        ))
    })
}

/// Writes the result as the agent reads it.
fn text_of(found: &Found) -> String {
    let mut text = String::new();
    if let Some(why) = &found.unfinished {
        let _ = writeln!(text, "{UNFINISHED}{why}; this was found so far]\n");
    }
    text.push_str(&found.text);
    let rounds = if found.rounds == 1 { "round" } else { "rounds" };
    let _ = write!(text, "{FOOT}{} after {} {rounds}", found.url, found.rounds);
    if !found.downloads.is_empty() {
        let _ = write!(text, "; downloaded: {}", found.downloads.join(", "));
    }
    text.push(']');
    text
}

/// Returns the navigator's own words in a result of this tool; none where it did not finish.
#[must_use]
pub fn report_in(text: &str) -> Option<&str> {
    let (report, _) = text.rsplit_once(FOOT)?;
    (!report.starts_with(UNFINISHED)).then_some(report)
}
