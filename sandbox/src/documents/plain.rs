//! Texts: which kind of text it is, and what to say about it.

use super::kind::suffix;
use super::workbook::{Part, Workbook};
use super::{Document, Unreadable, captions, delimited, feed, html, json, notebook, svg, xml};
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
    Captions,
    /// A text that is shown as it stands; what it is called.
    Text(&'static str),
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
        Shape::Json => notebook::read(&decoded.text).unwrap_or_else(|| json::read(decoded.text)),
        Shape::JsonLines => json::read_lines(decoded.text),
        Shape::Markdown => whole("Markdown", decoded),
        Shape::Xml => feed::read(&decoded.text)
            .or_else(|| svg::read(&decoded.text))
            .unwrap_or_else(|| xml::read(decoded.text)),
        Shape::Captions => captions::read(&decoded.text).unwrap_or_else(|| whole("text", decoded)),
        Shape::Text(kind) => whole(kind, decoded),
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
        | Shape::Captions
        | Shape::Text(_)) => Err(Unreadable::Unsupported(format!(
            "{}, not a workbook; `extract_document_content` reads it",
            noun(other)
        ))),
    }
}

fn whole(kind: &str, decoded: Decoded) -> Document {
    let mut notes = Vec::new();
    match kind {
        "log" => notes.push(format!("{} lines", decoded.text.lines().count())),
        "TOML" => {
            let broken = toml::from_str::<toml::Table>(&decoded.text).err();
            notes.extend(
                broken.map(|error| format!("not valid TOML ({}); shown as it is", error.message())),
            );
        }
        _ => {}
    }
    Document { kind: kind.to_owned(), text: decoded.text, notes }
}

fn noun(shape: Shape) -> &'static str {
    match shape {
        Shape::Html => "an HTML page",
        Shape::Delimited => "a table",
        Shape::Json => "JSON",
        Shape::JsonLines => "JSON lines",
        Shape::Markdown => "a Markdown text",
        Shape::Xml => "XML",
        Shape::Captions => "captions",
        Shape::Text(_) => "a text",
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
    if let Some(shape) = suffix(name).and_then(|suffix| by_suffix(&suffix)) {
        return shape;
    }
    if opening.starts_with("<?xml") && opening.contains("<html") {
        return Shape::Html;
    }
    by_media_type(media_type).unwrap_or_else(|| by_content(start, &opening))
}

/// Returns what a suffix promises; nothing for those that promise no text.
fn by_suffix(suffix: &str) -> Option<Shape> {
    Some(match suffix {
        "csv" | "tsv" | "tab" => Shape::Delimited,
        "json" | "geojson" | "jsonld" | "ipynb" | "webmanifest" | "har" => Shape::Json,
        "jsonl" | "ndjson" => Shape::JsonLines,
        "md" | "markdown" => Shape::Markdown,
        "html" | "htm" | "xhtml" => Shape::Html,
        "xml" | "rss" | "atom" | "svg" | "rdf" | "opml" | "kml" | "gpx" | "xsd" | "xsl" => {
            Shape::Xml
        }
        "srt" | "vtt" => Shape::Captions,
        "yaml" | "yml" => Shape::Text("YAML"),
        "toml" => Shape::Text("TOML"),
        "log" => Shape::Text("log"),
        "ini" | "cfg" | "conf" | "properties" | "env" => Shape::Text("configuration"),
        "py" => Shape::Text("Python source"),
        "js" | "mjs" | "ts" | "rs" | "go" | "c" | "h" | "cpp" | "java" | "rb" | "sh" | "sql"
        | "r" | "jl" | "css" => Shape::Text("source text"),
        "" | "bin" | "dat" | "download" | "php" | "aspx" | "pdf" | "xls" | "xlsx" | "docx"
        | "doc" | "pptx" | "zip" | "gz" => return None,
        _ => Shape::Text("text"),
    })
}

fn by_media_type(media_type: Option<&str>) -> Option<Shape> {
    match crate::web::media_type(media_type?).as_str() {
        "text/html" | "application/xhtml+xml" => Some(Shape::Html),
        "text/csv" | "text/tab-separated-values" => Some(Shape::Delimited),
        "application/json" | "application/ld+json" => Some(Shape::Json),
        "application/x-ndjson" | "application/jsonl" => Some(Shape::JsonLines),
        "text/markdown" => Some(Shape::Markdown),
        "application/xml"
        | "text/xml"
        | "image/svg+xml"
        | "application/rss+xml"
        | "application/atom+xml" => Some(Shape::Xml),
        "text/vtt" | "application/x-subrip" => Some(Shape::Captions),
        "application/yaml" | "text/yaml" => Some(Shape::Text("YAML")),
        "application/toml" => Some(Shape::Text("TOML")),
        _ => None,
    }
}

fn by_content(start: &str, opening: &str) -> Shape {
    if ["<?xml", "<rss", "<feed", "<svg"].iter().any(|mark| opening.starts_with(mark)) {
        Shape::Xml
    } else if captions::is_captions(start) {
        Shape::Captions
    } else if ["<head", "<body", "<table"].iter().any(|tag| opening.contains(tag)) {
        Shape::Html
    } else if json::is_whole(start) {
        Shape::Json
    } else if json::are_lines(start) {
        Shape::JsonLines
    } else if delimited::is_table(start) {
        Shape::Delimited
    } else {
        Shape::Text("text")
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
            ("happy", None, "just a note", Shape::Text("text"), "not Python"),
            ("data", None, "{\"a\": [1, 2]}", Shape::Json, "by its content"),
            ("data", None, "a,b,c\n1,2,3\n4,5,6\n", Shape::Delimited, "by its content"),
            (
                "notes.txt",
                None,
                "a,b,c\n1,2,3\n4,5,6\n",
                Shape::Text("text"),
                "called a text, so one",
            ),
            ("q.py", None, "print(1)\n", Shape::Text("Python source"), "source"),
            ("feed", None, "<?xml version='1.0'?><rss/>", Shape::Xml, "by its content"),
            (
                "talk",
                None,
                "WEBVTT\n\n00:01.000 --> 00:02.000\nx\n",
                Shape::Captions,
                "by its mark",
            ),
            ("d", None, "{\"a\":1}\n{\"a\":2}\n", Shape::JsonLines, "by its content"),
            ("a.yml", None, "a: 1\n", Shape::Text("YAML"), "by its name"),
            ("a.JSONL", None, "{}\n{}\n", Shape::JsonLines, "case does not matter"),
        ];
        for (name, media_type, text, want, why) in table {
            assert_eq!(shape(name, media_type, text), want, "{name}: {why}");
        }
    }
}
