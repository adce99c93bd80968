//! Text out of documents and workbooks; runs inside worker processes only.
//!
//! What a file is, its bytes decide; its name and the media type that a server declared
//! are hints for what bytes cannot tell (a CSV from a text). Nothing is dropped in
//! silence: what could not be read or shown stands in the notes. Parsers may loop,
//! bloat or crash: the worker's limits hold them, and the guards here (`archive`, bounds
//! on cells and nesting) only make the common cases end with a better reason.

mod archive;
mod captions;
mod delimited;
mod feed;
mod html;
mod json;
mod kind;
mod links;
mod mail;
mod notebook;
mod office;
mod packed;
mod pdf;
mod plain;
mod reading;
mod reason;
mod svg;
mod tree;
mod workbook;
mod xml;

use serde::{Deserialize, Serialize};

use kind::Kind;
use reading::Reading;

pub(crate) use packed::take;
pub use reason::Unreadable;
pub use workbook::{Area, Column, Detail, Formula, Gap, Part, Row, Sheet, Visibility, Workbook};

/// The most bytes of text that a document yields.
pub const TEXT_LIMIT: usize = 12 << 20;

/// What stands below the mark of a PDF's page that holds no text.
pub const BLANK_PAGE: &str = "(no text on this page; it may be scanned)";

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// What the bytes are, such as `PDF` or `CSV (GB18030)`.
    pub kind: String,
    /// The text, as Markdown where the document has structure.
    pub text: String,
    /// What a reader should know, such as pages that hold no text.
    pub notes: Vec<String>,
}

/// Extracts the text of a document of any kind that can be read; of one that has pages,
/// from this page on.
pub(crate) fn document(
    name: &str,
    media_type: Option<&str>,
    page: usize,
    bytes: Vec<u8>,
) -> Result<Document, Unreadable> {
    let mut document = read(name, media_type, bytes, &mut Reading::of(page, 0))?;
    if page > 1 && !document.kind.starts_with("PDF") {
        let note = format!("`#page={page}` is of PDFs only; this is shown from its start");
        document.notes.push(note);
    }
    bound(&mut document);
    Ok(document)
}

/// Reads a document that lies in an archive.
fn within(name: &str, bytes: Vec<u8>, reading: &mut Reading) -> Result<Document, Unreadable> {
    read(name, None, bytes, reading)
}

/// Reads what hangs on a message that lies so many levels within others.
fn read_at(
    name: &str,
    media_type: Option<&str>,
    bytes: Vec<u8>,
    level: u8,
) -> Result<Document, Unreadable> {
    read(name, media_type, bytes, &mut Reading::of(1, level.into()))
}

fn read(
    name: &str,
    media_type: Option<&str>,
    bytes: Vec<u8>,
    reading: &mut Reading,
) -> Result<Document, Unreadable> {
    let kind = kind::detect(name, media_type, &bytes)?;
    let mut document = match kind {
        Kind::Pdf => pdf::read(bytes, reading)?,
        Kind::Office(format) => office::read(format, bytes)?,
        Kind::Mail(format) => {
            mail::read(format, &bytes, u8::try_from(reading.depth).unwrap_or(u8::MAX))?
        }
        Kind::Book(format) => {
            let workbook = workbook::read(format, bytes, &Part::default())?;
            let text = workbook.to_markdown();
            Document { kind: format.name().to_owned(), text, notes: Vec::new() }
        }
        Kind::Packed(packing) => packed::read(packing, name, &bytes, reading)?,
        Kind::Text => plain::read(name, media_type, &bytes)?,
    };
    document.notes.extend(kind::mismatch(name, &document.kind));
    clean(&mut document.text);
    Ok(document)
}

/// Reads the sheets of a workbook, or the part that is asked for; a CSV or TSV counts as
/// one with a single sheet.
pub(crate) fn workbook(name: &str, bytes: Vec<u8>, part: &Part) -> Result<Workbook, Unreadable> {
    match kind::detect(name, None, &bytes)? {
        Kind::Book(format) => workbook::read(format, bytes, part),
        Kind::Text => plain::sheet(name, &bytes, part),
        Kind::Packed(packing) => match packed::sole(packing, name, &bytes)? {
            Some((name, inner)) => workbook(&name, inner, part),
            None => Err(Unreadable::Unsupported(format!(
                "a {}; name the workbook in it, such as `{name}!/book.xlsx`",
                packing.name()
            ))),
        },
        kind @ (Kind::Pdf | Kind::Office(_) | Kind::Mail(_)) => Err(Unreadable::Unsupported(
            format!("{}, not a workbook; `extract_document_content` reads it", kind.name()),
        )),
    }
}

/// Takes out the control characters that no reader wants.
fn clean(text: &mut String) {
    let unwanted = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if text.contains(unwanted) {
        *text = text.replace("\r\n", "\n").replace('\r', "\n");
        text.retain(|letter| !unwanted(letter));
    }
}

/// Bounds the text.
fn bound(document: &mut Document) {
    let size = document.text.len();
    if size > TEXT_LIMIT {
        document.text.truncate(document.text.floor_char_boundary(TEXT_LIMIT));
        document.notes.push(format!(
            "the text has {size} bytes and is cut after {}; read the rest with `execute_code`",
            document.text.len()
        ));
    }
}

#[cfg(test)]
mod tests;
