//! PDF, page by page, as Markdown.
//!
//! Each page stands under a mark `## Page n`, so that a reader can cite it. Columns,
//! headings, lists, tables and links are told from where and how large the text is drawn
//! (`layout`, `markdown`, `links`); text that is not written from left to right is taken
//! as the library orders it. A page without text is noted.

mod layout;
mod links;
mod markdown;
mod outline;

use std::collections::BTreeMap;
use std::fmt::Write;

use pdf_oxide::PdfDocument;
use unicode_normalization::UnicodeNormalization;

use layout::Run;

use super::reading::Reading;
use super::{BLANK_PAGE, Document, TEXT_LIMIT, Unreadable};

/// The most pages.
const PAGES: usize = 5000;

/// The pages from which the size of the text is told.
const SAMPLE: usize = 8;

/// How far headers and footers reach into a page, in points.
const EDGE: f32 = 40.0;

/// The size of text where there is none to tell it from, in points.
const USUAL: f32 = 11.0;

/// The most page numbers that a note lists.
const LISTED: usize = 20;

/// Extracts the text of all pages, each under a heading `## Page n`.
pub(super) fn read(bytes: Vec<u8>, reading: &Reading) -> Result<Document, Unreadable> {
    let damaged = |error| Unreadable::damaged("PDF", &error);
    let has_end = has_end(&bytes);
    let pdf = PdfDocument::from_bytes(bytes).map_err(damaged)?;
    let locked = unlock(&pdf)?;
    let count = pdf.page_count().map_err(damaged)?;
    if count == 0 {
        return Err(Unreadable::Damaged { kind: "PDF", reason: "it has no pages".into() });
    }
    let first = reading.page.max(1);
    if first > count {
        return Err(Unreadable::Unsupported(format!(
            "a PDF of {count} pages, without page {first}"
        )));
    }
    let body = body_size(&pdf, count);
    let mut pages = Pages::default();
    let mut reached = first - 1;
    for page in (first - 1..count).take(PAGES) {
        if reading.is_late() || pages.text.len() > TEXT_LIMIT {
            break;
        }
        pages.add(page + 1, text_of(&pdf, page, body).as_deref());
        reached = page + 1;
    }
    let mut notes = vec![format!("{count} pages")];
    if !has_end {
        notes.push("the file has no end mark: it may be cut off, and pages be missing".to_owned());
    }
    notes.extend(outline::facts(&pdf));
    notes.extend(locked);
    if first > 1 || reached < count {
        notes.push(format!("only pages {first} to {reached} were read"));
    }
    if reached < count {
        notes.push(format!(
            "go on with `#page={}` after the name; more at once would take too long",
            reached + 1
        ));
    }
    notes.extend(pages.notes());
    if pages.failed.len() == reached + 1 - first {
        let reason = "none of its pages could be read".to_owned();
        return Err(Unreadable::Damaged { kind: "PDF", reason });
    }
    let mut text = if first == 1 { outline::contents(&pdf) } else { String::new() };
    text.push_str(&pages.text);
    Ok(Document { kind: "PDF".into(), text, notes })
}

/// Whether the file ends as it should; a reader mends one that does not from what is there.
fn has_end(bytes: &[u8]) -> bool {
    const END: &[u8] = b"%%EOF";
    let tail = &bytes[bytes.len().saturating_sub(2048)..];
    tail.windows(END.len()).any(|window| window == END)
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

/// Returns the text of a page (from 0) as Markdown, with the comments on it.
fn text_of(pdf: &PdfDocument, page: usize, body: f32) -> Option<String> {
    let mut text = match runs(pdf, page) {
        Some(mut runs) => {
            links::mark(pdf, page, &mut runs);
            markdown::write(&layout::ordered(runs), body)
        }
        None => String::new(),
    };
    if text.is_empty() {
        text = pdf.extract_text(page).ok()?;
    }
    for remark in outline::remarks(pdf, page) {
        let _ = write!(text, "\n\n> Comment: {remark}");
    }
    Some(text)
}

/// Returns what is drawn on a page; nothing where the page is turned, or written from
/// right to left or from top to bottom.
fn runs(pdf: &PdfDocument, page: usize) -> Option<Vec<Run>> {
    if pdf.get_page_rotation(page).is_ok_and(|turn| turn % 360 != 0) {
        return None;
    }
    let spans = pdf.extract_spans(page).ok()?;
    let foreign = spans.iter().filter(|span| is_backwards(&span.text)).count();
    let turned = spans.iter().filter(|span| span.rotation_degrees.abs() > 1.0).count();
    if (foreign + turned) * 5 > spans.len() {
        return None;
    }
    let drawn = spans.into_iter().filter(|span| {
        let place = [span.bbox.x, span.bbox.y, span.bbox.width, span.font_size];
        place.iter().all(|number| number.is_finite()) && !span.text.is_empty()
    });
    let runs = drawn.map(|span| Run {
        text: spelled(&span.text),
        left: span.bbox.x,
        right: span.bbox.x + span.bbox.width.max(0.0),
        bottom: span.bbox.y,
        size: span.bbox.height.max(1.0),
        bold: span.font_weight.is_bold(),
    });
    Some(runs.collect())
}

/// Whether a text is Hebrew, Arabic or akin.
fn is_backwards(text: &str) -> bool {
    text.chars().any(|letter| matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}'))
}

/// Writes joined letters apart, and what a radical stands for.
fn spelled(text: &str) -> String {
    let joined = |letter: char| matches!(letter, '\u{fb00}'..='\u{fb06}' | '\u{2e80}'..='\u{2fdf}' | '\u{f900}'..='\u{faff}');
    if !text.contains(joined) {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|letter| {
            let spelled: Vec<char> =
                if joined(letter) { letter.nfkc().collect() } else { vec![letter] };
            spelled
        })
        .collect()
}

/// Tells the size in which most of the text is set, in points.
fn body_size(pdf: &PdfDocument, pages: usize) -> f32 {
    let mut letters: BTreeMap<u32, usize> = BTreeMap::new();
    for page in 0..pages.min(SAMPLE) {
        let (_, low, _, high) = pdf.get_page_media_box(page).unwrap_or((0.0, 0.0, 0.0, 9e9));
        // What stands at the edges says nothing about the text.
        let inner = |run: &Run| run.bottom > low + EDGE && run.bottom < high - EDGE;
        for run in runs(pdf, page).unwrap_or_default().into_iter().filter(inner) {
            *letters.entry(tenths(run.size)).or_default() += run.text.trim().chars().count();
        }
    }
    let most = letters.iter().max_by_key(|(size, count)| (**count, **size));
    most.map_or(USUAL, |(size, _)| f32::from(u16::try_from(*size).unwrap_or(110)) / 10.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes are positive and small, and others count as the largest"
)]
fn tenths(size: f32) -> u32 {
    (size * 10.0).round() as u32
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
