//! PDF, page by page.

use std::time::{Duration, Instant};

use pdf_oxide::PdfDocument;

use super::{BLANK_PAGE, Document, TEXT_LIMIT, Unreadable};

/// Time after which no further page is begun: what was read is worth more than the
/// worker's end.
const TIME: Duration = Duration::from_secs(7);

/// The most pages.
const PAGES: usize = 5000;

/// The most page numbers that a note lists.
const LISTED: usize = 20;

/// Extracts the text of all pages, each under a heading `## Page n`.
pub(super) fn read(bytes: Vec<u8>) -> Result<Document, Unreadable> {
    let begin = Instant::now();
    let damaged = |error| Unreadable::damaged("PDF", &error);
    let pdf = PdfDocument::from_bytes(bytes).map_err(damaged)?;
    if pdf.is_encrypted() && !pdf.authenticate(b"").unwrap_or(false) {
        return Err(Unreadable::Encrypted("PDF"));
    }
    let count = pdf.page_count().map_err(damaged)?;
    if count == 0 {
        return Err(Unreadable::Damaged { kind: "PDF", reason: "it has no pages".into() });
    }
    let mut pages = Pages::default();
    let mut reached = 0;
    for page in 0..count.min(PAGES) {
        if begin.elapsed() > TIME || pages.text.len() > TEXT_LIMIT {
            break;
        }
        pages.add(page + 1, pdf.extract_text(page).ok().as_deref());
        reached = page + 1;
    }
    let mut notes = vec![format!("{count} pages")];
    if reached < count {
        notes.push(format!("only pages 1 to {reached} were read; the rest would take too long"));
    }
    notes.extend(pages.notes());
    if pages.failed.len() == reached {
        let reason = "none of its pages could be read".to_owned();
        return Err(Unreadable::Damaged { kind: "PDF", reason });
    }
    Ok(Document { kind: "PDF".into(), text: pages.text, notes })
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
