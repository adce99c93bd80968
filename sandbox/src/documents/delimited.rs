//! CSV and its kin, whose dialects `wildgym-sheets` tells apart.
//!
//! A document shows the rows as they stand in the file, since dirt is often the point;
//! the notes say what separates, how many rows and columns there are, and which rows
//! do not fit.

use wildgym_sheets::delimited::{self, Dialect};

use super::workbook::{Part, Workbook, reason};
use super::{Document, Unreadable};
use crate::encoding::Decoded;

pub(super) use wildgym_sheets::delimited::is_table;

/// Reads a table as it stands.
pub(super) fn read(name: &str, decoded: Decoded) -> Document {
    let dialect = dialect(name, &decoded.text);
    let notes = dialect.notes(&decoded.text);
    let kind = if dialect.delimiter == b'\t' { "TSV" } else { "CSV" };
    Document { kind: kind.to_owned(), text: decoded.text, notes }
}

/// Reads a table as a workbook of one sheet.
pub(super) fn workbook(name: &str, decoded: &Decoded, part: &Part) -> Result<Workbook, Unreadable> {
    let title = name.rsplit('/').next().unwrap_or(name);
    let dialect = dialect(name, &decoded.text);
    let mut workbook = delimited::workbook(title, &decoded.text, dialect, part)
        .map_err(|error| reason("table", error))?;
    workbook.kind.push_str(&decoded.suffix());
    workbook.notes.extend(decoded.note.clone());
    Ok(workbook)
}

fn dialect(name: &str, text: &str) -> Dialect {
    let tabbed = super::kind::suffix(name).is_some_and(|it| it == "tsv" || it == "tab");
    Dialect::of(text, tabbed).unwrap_or_default()
}
