//! What a PDF says about itself: title, author, contents, attached files, comments.
//!
//! The lists of a PDF may lead back into themselves, so each is followed with a count.

use std::collections::HashSet;
use std::fmt::Write;

use pdf_oxide::PdfDocument;
use pdf_oxide::object::{Object, ObjectRef};
use pdf_oxide::optional_content::decode_pdf_text_string;
use pdf_oxide::outline::{Destination, OutlineItem};

use crate::documents::tree::one_line;

/// The most entries of a table of contents.
const ENTRIES: usize = 2_000;

/// The deepest level of a table of contents.
const LEVELS: usize = 16;

/// The most comments of a page.
const REMARKS: usize = 100;

/// The most attached files that are named.
const FILES: usize = 50;

/// What the document's own dictionary may say, and how it is called here.
const FACTS: [(&str, &str); 5] = [
    ("Title", "title"),
    ("Author", "author"),
    ("Subject", "subject"),
    ("Keywords", "keywords"),
    ("CreationDate", "created"),
];

/// Returns what the document says of itself, a line each.
pub(super) fn facts(pdf: &PdfDocument) -> Vec<String> {
    let entry = |holder: &Object, name: &str| {
        let value = holder.as_dict()?.get(name)?;
        pdf.resolve_object(value).ok()
    };
    let info = entry(pdf.trailer(), "Info");
    let mut facts = Vec::new();
    for (name, called) in FACTS {
        let value = info.as_ref().and_then(|info| entry(info, name));
        let text = value.as_ref().and_then(Object::as_string).map(decode_pdf_text_string);
        let text = text.map(|text| one_line(&text)).filter(|text| !text.is_empty());
        facts.extend(text.map(|text| {
            let text = if name == "CreationDate" { date(&text) } else { text };
            format!("{called}: {text}")
        }));
    }
    let files = attached(pdf);
    if !files.is_empty() {
        facts.push(format!("attached files, not read: {}", files.join(", ")));
    }
    facts
}

/// Writes `D:20260203101500+01'00'` as a date.
fn date(text: &str) -> String {
    let digits = text.trim_start_matches("D:");
    match (digits.get(..4), digits.get(4..6), digits.get(6..8)) {
        (Some(year), Some(month), Some(day)) => format!("{year}-{month}-{day}"),
        _ => text.to_owned(),
    }
}

/// Names the files in the document's tree of names.
fn attached(pdf: &PdfDocument) -> Vec<String> {
    let within = |object: Object, name: &str| {
        let value = object.as_dict()?.get(name)?;
        pdf.resolve_object(value).ok()
    };
    let tree = pdf.catalog().ok().and_then(|catalog| within(catalog, "Names"));
    let Some(root) = tree.and_then(|names| within(names, "EmbeddedFiles")) else {
        return Vec::new();
    };
    let (mut open, mut files, mut visited) = (vec![root], Vec::new(), 0);
    while let Some(node) = open.pop().filter(|_| visited < ENTRIES && files.len() < FILES) {
        visited += 1;
        let Some(node) = node.as_dict() else { continue };
        let list = |name: &str| {
            let value = node.get(name).and_then(|value| pdf.resolve_object(value).ok());
            value.as_ref().and_then(Object::as_array).cloned().unwrap_or_default()
        };
        let pairs = list("Names");
        let called = pairs.iter().step_by(2).filter_map(Object::as_string);
        files.extend(called.map(|name| format!("`{}`", one_line(&decode_pdf_text_string(name)))));
        open.extend(list("Kids").iter().filter_map(|kid| pdf.resolve_object(kid).ok()));
    }
    files.truncate(FILES);
    files
}

/// Writes the table of contents, with pages; nothing where there is none.
pub(super) fn contents(pdf: &PdfDocument) -> String {
    if !ends(pdf) {
        return String::new();
    }
    let Ok(Some(items)) = pdf.get_outline() else { return String::new() };
    let mut text = String::from("Contents:\n");
    let mut left = ENTRIES;
    write_items(pdf, &items, 0, &mut left, &mut text);
    text.push_str("\n\n");
    text
}

fn write_items(
    pdf: &PdfDocument,
    items: &[OutlineItem],
    level: usize,
    left: &mut usize,
    text: &mut String,
) {
    for item in items {
        if *left == 0 || level > LEVELS {
            return;
        }
        *left -= 1;
        let page = match &item.dest {
            Some(Destination::PageIndex(page)) => Some(*page),
            Some(Destination::Named(name)) => pdf.resolve_named_destination(name).ok().flatten(),
            None => None,
        };
        let page = page.map(|page| format!(" (page {})", page + 1)).unwrap_or_default();
        let _ = write!(text, "\n{}- {}{page}", "  ".repeat(level), one_line(&item.title));
        write_items(pdf, &item.children, level + 1, left, text);
    }
}

/// Whether the table of contents is a tree that ends, and small enough.
fn ends(pdf: &PdfDocument) -> bool {
    let reference = |object: &Object, name: &str| {
        object.as_dict().and_then(|dict| dict.get(name)).and_then(Object::as_reference)
    };
    let Some(root) = pdf.catalog().ok().and_then(|catalog| reference(&catalog, "Outlines")) else {
        return false;
    };
    let mut open: Vec<(ObjectRef, usize)> = vec![(root, 0)];
    let mut seen: HashSet<u32> = HashSet::new();
    while let Some((place, level)) = open.pop() {
        if !seen.insert(place.id) || seen.len() > ENTRIES * 4 || level > LEVELS {
            return false;
        }
        let Ok(item) = pdf.load_object(place) else { return false };
        open.extend(reference(&item, "Next").map(|next| (next, level)));
        open.extend(reference(&item, "First").map(|first| (first, level + 1)));
    }
    true
}

/// Returns the comments of a page (from 0), with their authors.
pub(super) fn remarks(pdf: &PdfDocument, page: usize) -> Vec<String> {
    let annotations = pdf.get_annotations(page).unwrap_or_default();
    let spoken = annotations.into_iter().filter(|annotation| {
        matches!(
            annotation.subtype.as_deref(),
            Some("Text" | "FreeText" | "Highlight" | "Underline" | "StrikeOut" | "Caret")
        )
    });
    let said = spoken.filter_map(|annotation| {
        let text = one_line(&annotation.contents?);
        let author = annotation.author.map(|author| format!(" ({author})")).unwrap_or_default();
        (!text.is_empty()).then(|| format!("{text}{author}"))
    });
    said.take(REMARKS).collect()
}
