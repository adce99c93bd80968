//! `google_scholar`: asks the index of scholarly papers.
//!
//! Speaks Serper's `/scholar` protocol. Takes one query or several at once, as other
//! harnesses do. What a paper does not say is left out, never guessed.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wildgym_sandbox::web::{AccessLog, Web, WebError};

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::serper::{ask, list, text};
use crate::tool::{CallContext, Category, Output, Tool};

/// Most queries in one call.
const MOST: usize = 5;

/// Asks the index of scholarly papers.
#[derive(Debug, Default)]
pub struct GoogleScholar;

/// Arguments of [`GoogleScholar`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What to look for: a title, authors, a subject. Several queries may be given in an
    /// array of at most 5.
    query: Queries,
}

/// One query or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Queries {
    One(String),
    Several(#[schemars(length(min = 1, max = 5))] Vec<String>),
}

impl Tool for GoogleScholar {
    const NAME: &'static str = "google_scholar";
    const DESCRIPTION: &'static str = "Search for scholarly papers (Google Scholar via Serper). \
        Returns up to ten papers a query: title, link, authors and venue, year, how often it is \
        cited, PDF link and a snippet of the abstract. Read a paper with `scrape` or \
        `extract_document_content`.";
    const CATEGORY: Category = Category::InformationRetrieval;
    const EXAMPLE: &'static str = r#"{"query": "seiches in tidal straits"}"#;
    type Args = Args;

    fn footprint(&self, _args: &Args) -> Footprint {
        Footprint::none()
    }

    fn cost(&self, args: &Args) -> Duration {
        let queries = match &args.query {
            Queries::One(_) => 1,
            Queries::Several(all) => all.len().clamp(1, MOST) as u64,
        };
        Duration::from_secs(2 * queries)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let web = context.sandbox.web.as_ref().ok_or(WebError::NoWeb)?;
        search(web, context.now, &context.accesses, &args).await.map(Output::from)
    }
}

/// Sends the searches, one after the other, and writes what they found for a reader.
async fn search(
    web: &Web,
    now: Timestamp,
    log: &AccessLog,
    args: &Args,
) -> Result<String, ToolError> {
    let queries = match &args.query {
        Queries::One(one) => std::slice::from_ref(one),
        Queries::Several(all) => all,
    };
    let refuse =
        |reason: String| ToolError::BadArguments { tool: GoogleScholar::NAME.to_owned(), reason };
    if queries.is_empty() || queries.len() > MOST {
        let reason = format!("`query` has {} queries; give 1 to {MOST}", queries.len());
        return Err(refuse(reason));
    }
    if let Some(place) = queries.iter().position(|query| query.trim().is_empty()) {
        let place =
            if queries.len() == 1 { String::new() } else { format!(" (number {})", place + 1) };
        return Err(refuse(format!("`query` is empty{place}; say what to look for")));
    }
    let mut parts = Vec::new();
    for query in queries {
        let found = ask(web, now, log, "scholar", &json!({"q": query.trim()})).await;
        let part = match found {
            Ok(reply) => written(query.trim(), &list(&reply, "organic")),
            // One of several that fails costs itself only.
            Err(error) if queries.len() > 1 => format!("The search failed: {error}"),
            Err(error) => return Err(error),
        };
        parts.push(if queries.len() > 1 { format!("## {}\n\n{part}", query.trim()) } else { part });
    }
    Ok(parts.join("\n\n---\n\n"))
}

/// Writes papers as a numbered list.
fn written(query: &str, papers: &[&Value]) -> String {
    if papers.is_empty() {
        return format!(
            "No papers for: {query}\nTry fewer or more general words, a part of the title, or an \
             author's name."
        );
    }
    let mut out = String::new();
    for (place, paper) in papers.iter().enumerate() {
        let field = |name: &str| text(paper, name, &["summary", "total", "value", "link"]);
        let title = field("title").unwrap_or_else(|| "(no title)".to_owned());
        let _ = writeln!(out, "{}. {title}", place + 1);
        let _ = writeln!(out, "   {}", field("link").unwrap_or_else(|| "(no link)".to_owned()));
        let about = [
            field("publicationInfo"),
            field("year").map(|year| format!("year {year}")),
            field("citedBy").map(|count| format!("cited by {count}")),
        ];
        let about: Vec<_> = about.into_iter().flatten().collect();
        if !about.is_empty() {
            let _ = writeln!(out, "   {}", about.join(" · "));
        }
        if let Some(pdf) = field("pdfUrl") {
            let _ = writeln!(out, "   PDF: {pdf}");
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
    fn papers_are_listed_with_what_they_say_of_themselves() {
        let got = run(r#"{"query": "seiches"}"#).unwrap();
        assert_eq!(
            got,
            "1. Seiches of the Ellery quay\n   https://journal.test/seiches\n   \
             I Holm, B Rusk - Tidal Letters, 2019 - journal.test · year 2019 · cited by 1\n   \
             PDF: https://journal.test/seiches.pdf\n   Standing waves of 4.2 minutes.\n\
             2. A survey of tides\n   https://journal.test/survey\n   journal.test\n   \
             A survey of tides Seiches and more."
        );
        let got = run(r#"{"query": ["seiches", "zeppelins"]}"#).unwrap();
        assert!(got.starts_with("## seiches\n\n1. "), "{got}");
        assert!(got.ends_with("---\n\n## zeppelins\n\nNo papers for: zeppelins\nTry fewer or more general words, a part of the title, or an author's name."), "{got}");
    }

    #[test]
    fn every_live_shape_is_read() {
        let papers = [
            json!({"title": "T", "publicationInfo": {"summary": "A - J, 2020"},
                "citedBy": {"total": 12, "link": "x"}, "year": "2020", "pdfUrl": ""}),
            json!({"link": "https://a.test/", "citedBy": "7", "snippet": null}),
        ];
        let got = written("q", &papers.iter().collect::<Vec<_>>());
        assert_eq!(
            got,
            "1. T\n   (no link)\n   A - J, 2020 · year 2020 · cited by 12\n\
             2. (no title)\n   https://a.test/\n   cited by 7"
        );
    }

    #[test]
    fn bad_arguments_are_named() {
        let table = [
            (r#"{"query": "  "}"#, "`query` is empty; say"),
            (r#"{"query": []}"#, "has 0 queries; give 1 to 5"),
            (r#"{"query": ["a","b","c","d","e","f"]}"#, "has 6 queries; give 1 to 5"),
            (r#"{"query": ["a", ""]}"#, "`query` is empty (number 2)"),
            (r#"{"query": 7}"#, "did not match"),
            (r#"{"query": "a", "year": 2020}"#, "unknown field `year`"),
            ("{}", "missing field `query`"),
        ];
        for (arguments, want) in table {
            let error = run(arguments).unwrap_err().to_string();
            assert!(error.contains(want), "{arguments}: {error}");
        }
    }
}
