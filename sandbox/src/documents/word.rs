//! Word documents (docx) as Markdown, with headers, footers and notes.

use undoc::docx::DocxParser;
use undoc::render::{RenderOptions, to_markdown};

use super::{Document, Unreadable};

/// Extracts the text of a document.
pub(super) fn read(bytes: Vec<u8>) -> Result<Document, Unreadable> {
    let damaged = |error| Unreadable::damaged("Word document", &error);
    let document =
        DocxParser::from_bytes(bytes).and_then(|mut parser| parser.parse()).map_err(damaged)?;
    let mut options = RenderOptions::new().with_images(false).with_include_headers_footers(true);
    options.escape_special_chars = false;
    let text = to_markdown(&document, &options).map_err(damaged)?;
    let mut notes = Vec::new();
    if text.trim().is_empty() {
        notes.push("the document holds no text".to_owned());
    }
    if !document.resources.is_empty() {
        notes.push(format!("{} pictures or other parts are not shown", document.resources.len()));
    }
    Ok(Document { kind: "Word document".into(), text, notes })
}
