//! PDF, page by page, as Markdown.
//!
//! Each page stands under a mark `## Page n`, so that a reader can cite it; headings,
//! lists, tables and links are what the tags of the file or else its layout tell. A page
//! that cannot be converted is given as plain text, and one without text is noted.

mod outline;

use std::fmt::Write;

use pdf_oxide::PdfDocument;
use pdf_oxide::converters::ConversionOptions;

use super::reading::Reading;
use super::{BLANK_PAGE, Document, TEXT_LIMIT, Unreadable};

/// The most pages.
const PAGES: usize = 5000;

/// The most page numbers that a note lists.
const LISTED: usize = 20;

/// Extracts the text of all pages, each under a heading `## Page n`.
pub(super) fn read(bytes: Vec<u8>, reading: &Reading) -> Result<Document, Unreadable> {
    let damaged = |error| Unreadable::damaged("PDF", &error);
    let pdf = PdfDocument::from_bytes(bytes).map_err(damaged)?;
    let locked = unlock(&pdf)?;
    let count = pdf.page_count().map_err(damaged)?;
    if count == 0 {
        return Err(Unreadable::Damaged { kind: "PDF", reason: "it has no pages".into() });
    }
    let mut pages = Pages::default();
    let mut reached = 0;
    for page in 0..count.min(PAGES) {
        if reading.is_late() || pages.text.len() > TEXT_LIMIT {
            break;
        }
        pages.add(page + 1, text_of(&pdf, page).as_deref());
        reached = page + 1;
    }
    let mut notes = vec![format!("{count} pages")];
    notes.extend(outline::facts(&pdf));
    notes.extend(locked);
    if reached < count {
        notes.push(format!("only pages 1 to {reached} were read; the rest would take too long"));
    }
    notes.extend(pages.notes());
    if pages.failed.len() == reached {
        let reason = "none of its pages could be read".to_owned();
        return Err(Unreadable::Damaged { kind: "PDF", reason });
    }
    let mut text = outline::contents(&pdf);
    text.push_str(&pages.text);
    Ok(Document { kind: "PDF".into(), text, notes })
}

/// Opens what opens without a password, and notes it.
fn unlock(pdf: &PdfDocument) -> Result<Option<String>, Unreadable> {
    if !pdf.is_encrypted() {
        return Ok(None);
    }
    match pdf.authenticate(b"") {
        Ok(true) => Ok(Some("it is encrypted, and opens without a password".to_owned())),
        Ok(false) => Err(Unreadable::Encrypted("PDF")),
        Err(error) => Err(Unreadable::damaged("encrypted PDF", &error)),
    }
}

/// Returns the text of a page (from 0), as Markdown where that can be told.
fn text_of(pdf: &PdfDocument, page: usize) -> Option<String> {
    let options = ConversionOptions { expand_ligatures: true, ..ConversionOptions::default() };
    let marked = pdf.to_markdown(page, &options).ok().filter(|text| !text.trim().is_empty());
    let mut text = marked.or_else(|| pdf.extract_text(page).ok())?;
    for remark in outline::remarks(pdf, page) {
        let _ = write!(text, "\n\n> Comment: {remark}");
    }
    Some(text)
}

/// The pages read so far.
#[derive(Default)]
struct Pages {
    text: String,
    blank: Vec<usize>,
    failed: Vec<usize>,
}

impl Pages {
    fn add(&mut self, number: usize, text: Option<&str>) {
        let text = text.map(str::trim);
        let shown = match text {
            None => {
                self.failed.push(number);
                "(this page could not be read)"
            }
            Some("") => {
                self.blank.push(number);
                BLANK_PAGE
            }
            Some(text) => text,
        };
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.extend(["## Page ", &number.to_string(), "\n\n", shown]);
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        [
            (&self.blank, "hold no text; they are probably scanned images"),
            (&self.failed, "could not be read"),
        ]
        .into_iter()
        .filter(|(pages, _)| !pages.is_empty())
        .map(|(pages, what)| format!("pages without text: {} ({what})", listed(pages)))
    }
}

fn listed(pages: &[usize]) -> String {
    let list: Vec<String> = pages.iter().take(LISTED).map(ToString::to_string).collect();
    let more = if pages.len() > LISTED { ", …" } else { "" };
    format!("{}{more}", list.join(", "))
}
