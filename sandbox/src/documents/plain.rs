//! Texts: which kind of text it is, and what to say about it.

use super::kind::suffix;
use super::workbook::{Part, Workbook};
use super::{Document, Unreadable, delimited, html, json};
use crate::encoding::{self, Decoded};

/// The kinds of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Html,
    Delimited,
    Json,
    JsonLines,
    Markdown,
    Xml,
    Text,
}

/// Reads a text of any kind.
pub(super) fn read(
    name: &str,
    media_type: Option<&str>,
    bytes: &[u8],
) -> Result<Document, Unreadable> {
    let decoded = encoding::decode(bytes, media_type);
    if decoded.text.trim().is_empty() {
        return Err(Unreadable::Unsupported(format!(
            "blank: {} bytes of white space",
            bytes.len()
        )));
    }
    let note = decoded.note.clone();
    let encoding = decoded.suffix();
    let mut document = match shape(name, media_type, &decoded.text) {
        Shape::Html => html::read(&decoded.text),
        Shape::Delimited => delimited::read(name, decoded),
        Shape::Json => json::read(decoded.text),
        Shape::JsonLines => json::read_lines(decoded.text),
        Shape::Markdown => whole("Markdown", decoded),
        Shape::Xml => whole("XML", decoded),
        Shape::Text => whole("text", decoded),
    };
    document.kind.push_str(&encoding);
    document.notes.extend(note);
    Ok(document)
}

/// Reads a CSV or TSV as a workbook of one sheet.
pub(super) fn sheet(name: &str, bytes: &[u8], part: &Part) -> Result<Workbook, Unreadable> {
    let decoded = encoding::decode(bytes, None);
    match shape(name, None, &decoded.text) {
        Shape::Delimited => delimited::workbook(name, &decoded, part),
        other @ (Shape::Html
        | Shape::Json
        | Shape::JsonLines
        | Shape::Markdown
        | Shape::Xml
        | Shape::Text) => Err(Unreadable::Unsupported(format!(
            "{}, not a workbook; `extract_document_content` reads it",
            noun(other)
        ))),
    }
}

fn whole(kind: &str, decoded: Decoded) -> Document {
    Document { kind: kind.to_owned(), text: decoded.text, notes: Vec::new() }
}

fn noun(shape: Shape) -> &'static str {
    match shape {
        Shape::Html => "an HTML page",
        Shape::Delimited => "a table",
        Shape::Json => "JSON",
        Shape::JsonLines => "JSON lines",
        Shape::Markdown => "a Markdown text",
        Shape::Xml => "XML",
        Shape::Text => "a text",
    }
}

/// Tells what a text is: by itself where it says so, else by its name, else by its media type.
fn shape(name: &str, media_type: Option<&str>, text: &str) -> Shape {
    let start = text.trim_start();
    let opening = start[..start.floor_char_boundary(2048)].to_ascii_lowercase();
    let page = opening.starts_with("<!doctype html") || opening.starts_with("<html");
    if page {
        return Shape::Html;
    }
    let by_name = suffix(name).and_then(|suffix| {
        Some(match suffix.as_str() {
            "csv" | "tsv" | "tab" => Shape::Delimited,
            "json" | "geojson" | "jsonld" | "ipynb" => Shape::Json,
            "jsonl" | "ndjson" => Shape::JsonLines,
            "md" | "markdown" => Shape::Markdown,
            "html" | "htm" | "xhtml" => Shape::Html,
            "xml" | "rss" | "atom" | "svg" => Shape::Xml,
            "" | "bin" | "dat" | "download" | "pdf" | "xls" | "xlsx" | "docx" | "php" | "aspx" => {
                return None;
            }
            _ => Shape::Text,
        })
    });
    if let Some(shape) = by_name {
        return shape;
    }
    if opening.starts_with("<?xml") && opening.contains("<html") {
        return Shape::Html;
    }
    by_media_type(media_type).unwrap_or_else(|| by_content(start, &opening))
}

fn by_media_type(media_type: Option<&str>) -> Option<Shape> {
    match crate::web::media_type(media_type?).as_str() {
        "text/html" | "application/xhtml+xml" => Some(Shape::Html),
        "text/csv" | "text/tab-separated-values" => Some(Shape::Delimited),
        "application/json" | "application/ld+json" => Some(Shape::Json),
        "application/x-ndjson" | "application/jsonl" => Some(Shape::JsonLines),
        "text/markdown" => Some(Shape::Markdown),
        "application/xml" | "text/xml" => Some(Shape::Xml),
        _ => None,
    }
}

fn by_content(start: &str, opening: &str) -> Shape {
    if opening.starts_with("<?xml") {
        Shape::Xml
    } else if ["<head", "<body", "<table"].iter().any(|tag| opening.contains(tag)) {
        Shape::Html
    } else if json::is_whole(start) {
        Shape::Json
    } else if delimited::is_table(start) {
        Shape::Delimited
    } else {
        Shape::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_texts() {
        let table = [
            ("a.csv", None, "a;b\n1;2\n", Shape::Delimited, "by its name"),
            ("page", Some("text/html; charset=gbk"), "<p>x", Shape::Html, "by its media type"),
            ("a.pdf", None, "<!DOCTYPE html><p>no such page", Shape::Html, "an error page, saved"),
            ("happy", None, "just a note", Shape::Text, "not Python"),
            ("data", None, "{\"a\": [1, 2]}", Shape::Json, "by its content"),
            ("data", None, "a,b,c\n1,2,3\n4,5,6\n", Shape::Delimited, "by its content"),
            ("notes.txt", None, "a,b,c\n1,2,3\n4,5,6\n", Shape::Text, "called a text, so one"),
            ("q.py", None, "print(1)\n", Shape::Text, "source"),
            ("feed", None, "<?xml version='1.0'?><rss/>", Shape::Xml, "by its content"),
            ("a.JSONL", None, "{}\n{}\n", Shape::JsonLines, "case does not matter"),
        ];
        for (name, media_type, text, want, why) in table {
            assert_eq!(shape(name, media_type, text), want, "{name}: {why}");
        }
    }
}
