//! `search_serper`: asks the search engine.
//!
//! Speaks Serper's protocol to whatever the web says the search engine is. The first
//! page is the default: a forerunner asked for the tenth unless told otherwise. A
//! search that finds nothing is an answer, not an error.

use std::sync::Arc;

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wildgym_sandbox::web::{AccessLog, Web, WebError};

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::serper::{ask, list, text};
use crate::tool::{CallContext, Category, Output, Tool};

/// The last page that can be asked for; no search goes on so long.
const LAST_PAGE: u32 = 100;

/// Asks the search engine.
#[derive(Debug, Default)]
pub struct SearchSerper;

/// Arguments of [`SearchSerper`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What to look for, in any language. Understood: "exact phrase",
    /// -excluded, one OR other, site:host, intitle:word, filetype:pdf.
    query: String,
    /// Page of results, from 1; each has ten.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 100))]
    page: u32,
    /// Where to search from, such as "United States". Left out: anywhere.
    #[serde(default)]
    location: Option<String>,
    /// "search" for all pages, "news" for news only.
    #[serde(default)]
    kind: Kind,
}

/// What is searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum Kind {
    /// All pages.
    #[default]
    Search,
    /// News only.
    News,
}

fn first() -> u32 {
    1
}

impl Tool for SearchSerper {
    const NAME: &'static str = "search_serper";
    const DESCRIPTION: &'static str = "Search the web (Google via Serper). Returns up to ten results \
        a page: position, title, link, date and a short snippet. Snippets are cut; open a link with \
        `scrape` to read the page.";
    const CATEGORY: Category = Category::InformationRetrieval;
    const EXAMPLE: &'static str = r#"{"query": "Tarrow Sound ferry timetable", "page": 1}"#;
    type Args = Args;

    fn footprint(&self, _args: &Args) -> Footprint {
        Footprint::none()
    }

    fn cost(&self, _args: &Args) -> Duration {
        Duration::from_secs(2)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let web = context.sandbox.web.as_ref().ok_or(WebError::NoWeb)?;
        search(web, context.now, &context.accesses, &args).await.map(Output::from)
    }
}

/// Sends the search and writes its results for a reader.
async fn search(
    web: &Web,
    now: Timestamp,
    log: &AccessLog,
    args: &Args,
) -> Result<String, ToolError> {
    let refuse =
        |reason: String| ToolError::BadArguments { tool: SearchSerper::NAME.to_owned(), reason };
    if args.query.trim().is_empty() {
        return Err(refuse("`query` is empty; say what to look for".to_owned()));
    }
    if !(1..=LAST_PAGE).contains(&args.page) {
        return Err(refuse(format!("`page` is {}; pages go from 1 to {LAST_PAGE}", args.page)));
    }
    let (path, name) = match args.kind {
        Kind::Search => ("search", "organic"),
        Kind::News => ("news", "news"),
    };
    let mut body = json!({"q": args.query, "page": args.page});
    if let Some(location) = args.location.as_deref().filter(|it| !it.trim().is_empty()) {
        body["location"] = json!(location);
    }
    let reply = ask(web, now, log, path, &body).await?;
    let hits = list(&reply, name);
    let mut out = boxes(&reply);
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&if hits.is_empty() { nothing(args) } else { written(&hits, args) });
    Ok(out)
}

/// Writes what the live service shows beside its results: a direct answer, and a box about
/// a thing. The hermetic one never has any.
fn boxes(reply: &Map<String, Value>) -> String {
    let mut out = String::new();
    if let Some(answer) = reply.get("answerBox") {
        let said = text(answer, "answer", &[]).or_else(|| text(answer, "snippet", &[]));
        if let Some(said) = said {
            let _ = writeln!(out, "Answer box: {said}");
            let from = [text(answer, "title", &[]), text(answer, "link", &[])];
            let from: Vec<_> = from.into_iter().flatten().collect();
            if !from.is_empty() {
                let _ = writeln!(out, "   from {}", from.join(" "));
            }
        }
    }
    if let Some(thing) = reply.get("knowledgeGraph")
        && let Some(title) = text(thing, "title", &[])
    {
        let about = [text(thing, "type", &[]), text(thing, "description", &[])];
        let about: Vec<_> = about.into_iter().flatten().collect();
        let _ = writeln!(out, "About {title}: {}", about.join(". "));
        let attributes = thing.get("attributes").and_then(Value::as_object);
        for name in attributes.iter().flat_map(|all| all.keys()) {
            if let Some(value) = text(&thing["attributes"], name, &[]) {
                let _ = writeln!(out, "   {name}: {value}");
            }
        }
    }
    out
}

/// Says that nothing was found, and what may help.
fn nothing(args: &Args) -> String {
    if args.page > 1 {
        return format!("No results on page {}; earlier pages may have some.", args.page);
    }
    let hint = match args.kind {
        Kind::Search => "Try fewer or more general words, another spelling, or another language.",
        Kind::News => "Try `kind` \"search\", or fewer or more general words.",
    };
    format!("No results for: {}\n{hint}", args.query)
}

/// Writes hits as a numbered list.
fn written(hits: &[&Value], args: &Args) -> String {
    let mut out = String::new();
    let offset = (args.page as usize - 1) * 10;
    for (place, hit) in hits.iter().enumerate() {
        let field = |name: &str| text(hit, name, &[]);
        // The live service counts positions from 1 on every page.
        let place = offset + place + 1;
        let _ = writeln!(out, "{place}. {}", field("title").unwrap_or("(no title)".to_owned()));
        let _ = writeln!(out, "   {}", field("link").unwrap_or("(no link)".to_owned()));
        let about: Vec<_> = [field("date"), field("source")].into_iter().flatten().collect();
        if !about.is_empty() {
            let _ = writeln!(out, "   {}", about.join(" · "));
        }
        if let Some(snippet) = field("snippet") {
            let _ = writeln!(out, "   {snippet}");
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::web_fixture::Fixture;
    use super::*;

    fn run(arguments: &str) -> Result<String, ToolError> {
        let args = serde_json::from_str(arguments)
            .map_err(|error| ToolError::Failed(error.to_string()))?;
        Fixture::new()
            .run(|web, now, log| Box::pin(async move { search(web, now, log, &args).await }))
    }

    #[test]
    fn results_are_listed_with_what_a_reader_needs() {
        let got = run(r#"{"query": "harbour tide flood"}"#).unwrap();
        let want = "1. Flood at the quay\n   https://news.test/flood\n   Feb 20, 2026\n";
        assert!(got.starts_with(want), "{got}");
        let got = run(r#"{"query": "flood", "kind": "news", "location": "Ellery"}"#).unwrap();
        assert!(got.contains("1 week ago · The Ellery Post"), "news name their source: {got}");
        let got = run(r#"{"query": "水位"}"#).unwrap();
        assert!(got.contains("https://news.test/%E6%B0%B4%E4%BD%8D"), "Chinese: {got}");
    }

    #[test]
    fn what_the_live_service_adds_is_shown_and_what_it_leaves_out_is_missed() {
        let reply = json!({
            "answerBox": {"snippet": "4.2 m", "title": "Tides", "link": "https://a.test/"},
            "knowledgeGraph": {"title": "Ellery", "type": "Harbour",
                "attributes": {"Depth": "9 m", "Odd": {"a": 1}}},
        });
        let Value::Object(reply) = reply else { panic!("an object") };
        assert_eq!(
            boxes(&reply),
            "Answer box: 4.2 m\n   from Tides https://a.test/\nAbout Ellery: Harbour\n   Depth: 9 m\n"
        );
        let args: Args = serde_json::from_str(r#"{"query": "a", "page": 2}"#).unwrap();
        let hits = [json!({"link": "https://a.test/", "position": 1, "date": 7}), json!({})];
        let got = written(&hits.iter().collect::<Vec<_>>(), &args);
        assert_eq!(
            got, "11. (no title)\n   https://a.test/\n   7\n12. (no title)\n   (no link)",
            "positions go on from page to page"
        );
    }

    #[test]
    fn the_first_page_is_the_default() {
        let args: Args = serde_json::from_str(r#"{"query": "a"}"#).unwrap();
        assert_eq!(args.page, 1, "a forerunner began at the tenth");
    }

    #[test]
    fn nothing_found_is_an_answer_with_a_hint() {
        let table = [
            (r#"{"query": "zeppelin"}"#, "more general words"),
            (r#"{"query": "水位", "kind": "news"}"#, "`kind` \"search\""),
            (r#"{"query": "flood", "page": 9}"#, "No results on page 9"),
        ];
        for (arguments, want) in table {
            let got = run(arguments).unwrap();
            assert!(got.contains(want), "{arguments}: {got}");
        }
    }

    #[test]
    fn bad_arguments_are_named() {
        let table = [
            (r#"{"query": "  "}"#, "`query` is empty"),
            (r#"{"query": "a", "page": 0}"#, "pages go from 1"),
            (r#"{"query": "a", "page": -1}"#, "-1"),
            (r#"{"query": "a", "page": 101}"#, "pages go from 1 to 100"),
            (r#"{"query": "a", "kind": "images"}"#, "`search` or `news`"),
            (r#"{"query": "a", "num": 5}"#, "unknown field `num`"),
            ("{}", "missing field `query`"),
        ];
        for (arguments, want) in table {
            let error = run(arguments).unwrap_err().to_string();
            assert!(error.contains(want), "{arguments}: {error}");
        }
    }
}
