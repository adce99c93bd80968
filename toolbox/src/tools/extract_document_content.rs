//! Text out of a document, from the workspace or the web.
//!
//! What the file is, its bytes decide, in a worker process. The whole text is returned;
//! the door cuts what is too long and says where the rest is.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wildgym_sandbox::documents::Document;
use wildgym_sandbox::passages::passages;

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::sight;
use crate::source::{self, Source};
use crate::speech;
use crate::tool::{CallContext, Category, Output, Tool};

/// A text of at most so many characters is returned whole, whatever is asked.
const WHOLE: usize = 4_000;

/// How much of a longer text is returned when a query was given, in characters.
const LONGEST_PASSAGES: usize = 10_000;

/// Reads the text of a document.
#[derive(Debug, Default)]
pub struct ExtractDocumentContent;

/// Arguments of [`ExtractDocumentContent`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path of the document in the workspace (`data/report.pdf`), or an http(s) URL; for one
    /// member of an archive, its name after `!/` (`mail.zip!/inbox/3.txt`); to begin a PDF at a page, `#page=12`.
    document_path: String,
    /// What you want to know. If given, only the passages of a long document that match its
    /// words are returned, with their pages; leave it out to get the whole text.
    #[serde(default)]
    query: Option<String>,
}

impl Tool for ExtractDocumentContent {
    const NAME: &'static str = "extract_document_content";
    const DESCRIPTION: &'static str = "Return the text of a document: CSV and TSV (rows as they \
        stand in the file), xlsx, xls and ods (a table per sheet), PDF (Markdown with page \
        numbers), Word (docx, doc), PowerPoint (pptx, ppt: a heading per slide, with speaker \
        notes), odt, odp, rtf, epub, messages (eml, mbox, msg: with the attachments that can be \
        read), HTML, Markdown, JSON and JSON lines, Jupyter notebooks, RSS and Atom feeds, XML, \
        SVG (its texts), YAML, TOML, logs, SRT and WebVTT captions, plain and source text; of \
        archives (zip, 7z, tar, gz, bz2, xz) a list of the members and the text of those that \
        are documents. The text in pictures and on scanned pages is recognised (English and \
        Chinese), and the result says so; of sounds and videos it returns what is said in them, \
        with times. The encoding is detected, and the type is told from the content, not the \
        name. Password-protected files are refused with the reason.";
    const CATEGORY: Category = Category::FileProcessing;
    const EXAMPLE: &'static str =
        r#"{"document_path": "https://tarrowferries.example/fares", "query": "adult single"}"#;
    type Args = Args;

    fn footprint(&self, args: &Args) -> Footprint {
        source::footprint(&args.document_path)
    }

    fn cost(&self, _: &Args) -> Duration {
        Duration::from_secs(2)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let file = source::load(context, &args.document_path).await?;
        read(context, file, args.query).await.map(Output::from)
    }
}

/// Extracts a document's text in a worker, and returns it or what of it fits the query.
pub(super) async fn read(
    context: &CallContext,
    file: Source,
    query: Option<String>,
) -> Result<String, ToolError> {
    if let Some(document) = speech::document(context, ExtractDocumentContent::NAME, &file).await? {
        return ranked(file.name, document, query).await;
    }
    let name = file.name.clone();
    let document = sight::document(context, file).await?;
    ranked(name, document, query).await
}

/// Returns a document's text, or what of it fits the query.
async fn ranked(
    name: String,
    document: Document,
    query: Option<String>,
) -> Result<String, ToolError> {
    // Ranking a long text is work for a processor: it must not hold up other attempts.
    tokio::task::spawn_blocking(move || shown(&name, &document, query.as_deref()))
        .await
        .map_err(|_| ToolError::Failed("the document cannot be searched".to_owned()))
}

/// Writes what the agent reads: the kind, the notes, then the text or its passages.
fn shown(name: &str, document: &Document, query: Option<&str>) -> String {
    let mut text = format!("`{name}`: {}", document.kind);
    for note in &document.notes {
        text.push_str("\n- ");
        text.push_str(note);
    }
    let query = query.map(str::trim).filter(|query| !query.is_empty());
    let found = query.and_then(|query| fitting(&document.text, query));
    if let (Some(_), None) = (query, &found) {
        text.push_str("\n- the whole text: it is short, or holds no word of the query");
    }
    text.push_str("\n\n");
    text.push_str(found.as_deref().unwrap_or(&document.text));
    text
}

/// Returns the passages that fit, or nothing where the whole text serves better.
fn fitting(text: &str, query: &str) -> Option<String> {
    if text.chars().count() <= WHOLE {
        return None;
    }
    let found = passages(text, query, LONGEST_PASSAGES);
    (found.chosen > 0).then(|| {
        format!("{} of {} passages match the query:\n\n{}", found.chosen, found.blocks, found.text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_before_the_text() {
        let document =
            Document { kind: "CSV (Big5)".into(), text: "a,b".into(), notes: vec!["1 row".into()] };
        assert_eq!(shown("q.csv", &document, None), "`q.csv`: CSV (Big5)\n- 1 row\n\na,b");
        let asked = shown("q.csv", &document, Some("zeppelin"));
        assert!(asked.ends_with("holds no word of the query\n\na,b"), "{asked}");
    }

    #[test]
    fn no_passages_where_the_whole_serves_better() {
        let book = "The ferry fare rose.\n\n".to_owned() + &"Nothing of note.\n\n".repeat(400);
        let got = fitting(&book, "ferry fare").unwrap();
        assert_eq!(got, "1 of 401 passages match the query:\n\nThe ferry fare rose.\n\n[…]");
        assert_eq!(fitting("short", "short"), None, "a short text is read whole");
        assert_eq!(fitting(&book, "zeppelin"), None, "no word occurs");
        assert_eq!(fitting(&book, "what is the"), None, "nothing is asked for");
    }

    #[test]
    fn parameters_that_it_does_not_have_are_refused() {
        let error = serde_json::from_str::<Args>(r#"{"document_path": "a", "pages": [1]}"#);
        assert!(error.unwrap_err().to_string().contains("unknown field `pages`"));
        assert!(serde_json::from_str::<Args>(r#"{"document_path": "a", "query": null}"#).is_ok());
    }
}
