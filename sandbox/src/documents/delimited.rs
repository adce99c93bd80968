//! CSV and its kin.
//!
//! A document shows the rows as they stand in the file, since dirt is often the point;
//! the notes say what separates, how many rows and columns there are, and which rows
//! do not fit.

use csv::{ByteRecord, ReaderBuilder};

use super::workbook::{Row, Sheet, Visibility, Workbook};
use super::{Document, Unreadable};
use crate::encoding::Decoded;

/// What may separate fields.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// How much of a text the delimiter is told from, in bytes.
const SNIFFED: usize = 64 << 10;

/// The most rows of another width that a note names.
const NAMED: usize = 8;

/// The most cells of a sheet.
const CELLS: usize = 1_000_000;

/// Reads a table as it stands.
pub(super) fn read(name: &str, decoded: Decoded) -> Document {
    let delimiter = sniff(name, &decoded.text).unwrap_or(b',');
    let notes = notes(&decoded.text, delimiter);
    let kind = if delimiter == b'\t' { "TSV" } else { "CSV" };
    Document { kind: kind.to_owned(), text: decoded.text, notes }
}

/// Reads a table as a sheet.
pub(super) fn workbook(name: &str, decoded: &Decoded) -> Result<Workbook, Unreadable> {
    let delimiter = sniff(name, &decoded.text).unwrap_or(b',');
    let mut sheet = Sheet {
        name: name.rsplit('/').next().unwrap_or(name).to_owned(),
        visibility: Visibility::Visible,
        rows: Vec::new(),
        formulas: Vec::new(),
        merged: Vec::new(),
        notes: notes(&decoded.text, delimiter),
    };
    sheet.notes.extend(decoded.note.clone());
    let mut count = 0;
    let mut reader = reader(&decoded.text, delimiter);
    for (index, record) in reader.byte_records().map_while(Result::ok).enumerate() {
        count += record.len();
        if count > CELLS {
            return Err(Unreadable::TooMuch(format!(
                "more than {CELLS} cells; read it with `execute_code`"
            )));
        }
        let cells = (0_u32..)
            .zip(&record)
            .filter(|(_, field)| !field.is_empty())
            .map(|(column, field)| (column, String::from_utf8_lossy(field).into_owned()))
            .collect();
        sheet.rows.push(Row { number: u32::try_from(index + 1).unwrap_or(u32::MAX), cells });
    }
    Ok(Workbook { kind: format!("CSV{}", decoded.suffix()), sheets: vec![sheet] })
}

/// Whether a text of unknown kind looks like a table: at least three rows of the same
/// width of three or more.
pub(super) fn is_table(text: &str) -> bool {
    let head = head(text);
    DELIMITERS.iter().any(|delimiter| {
        let widths = widths(head, *delimiter);
        widths.len() >= 3 && widths[0] >= 3 && widths.iter().all(|width| *width == widths[0])
    })
}

/// Finds what separates: the delimiter under which most rows have the width of the
/// first, the widest if several do.
fn sniff(name: &str, text: &str) -> Option<u8> {
    let head = head(text);
    let tab = super::kind::suffix(name).is_some_and(|suffix| suffix == "tsv" || suffix == "tab");
    DELIMITERS
        .into_iter()
        .filter_map(|delimiter| {
            let widths = widths(head, delimiter);
            let first = *widths.first()?;
            let same = widths.iter().filter(|width| **width == first).count();
            // Seven in ten suffice: dirty files have rows that do not fit.
            let steady = same * 10 >= widths.len() * 7;
            (first > 1).then_some((steady, tab && delimiter == b'\t', first, delimiter))
        })
        .max_by_key(|&(steady, named, width, delimiter)| (steady, named, width, delimiter == b','))
        .map(|(.., delimiter)| delimiter)
}

/// The whole lines at the start of a text.
fn head(text: &str) -> &str {
    if text.len() <= SNIFFED {
        return text;
    }
    let cut = &text[..text.floor_char_boundary(SNIFFED)];
    cut.rfind('\n').map_or(cut, |end| &cut[..end])
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes())
}

fn widths(text: &str, delimiter: u8) -> Vec<usize> {
    let mut reader = reader(text, delimiter);
    reader.byte_records().map_while(Result::ok).map(|record| record.len()).collect()
}

/// Says how large a table is and which rows do not fit.
fn notes(text: &str, delimiter: u8) -> Vec<String> {
    let mut reader = reader(text, delimiter);
    let mut record = ByteRecord::new();
    let (mut rows, mut columns, mut odd) = (0_u64, None, Vec::new());
    let mut others = 0;
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        rows += 1;
        let width = *columns.get_or_insert(record.len());
        if record.len() != width {
            others += 1;
            if odd.len() < NAMED {
                odd.push(format!("row {rows} ({})", record.len()));
            }
        }
    }
    let columns = columns.unwrap_or(0);
    let separator = match delimiter {
        b'\t' => "a tab".to_owned(),
        other => format!("`{}`", char::from(other)),
    };
    let mut notes =
        vec![format!("{rows} rows with the first, {columns} columns, separated by {separator}")];
    if others > 0 {
        let more = if others > odd.len() { ", …" } else { "" };
        notes
            .push(format!("{others} rows have another number of fields: {}{more}", odd.join(", ")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_told_apart() {
        let table = [
            ("a.csv", "a,b\n1,2\n", Some(b','), "comma"),
            ("a.csv", "a;b\n1,5;2,5\n3,5;4,5\n", Some(b';'), "decimal commas"),
            ("a.tsv", "a\tb, c\n1\t2, 3\n", Some(b'\t'), "tab"),
            ("a.csv", "a|b|c\n1|2|3\n", Some(b'|'), "bar"),
            ("a.csv", "\"x;y\",b\n\"p;q\",2\n", Some(b','), "the other only in quotes"),
            ("a.csv", "one\ntwo\n", None, "a single column"),
        ];
        for (name, text, want, why) in table {
            assert_eq!(sniff(name, text), want, "{text:?}: {why}");
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_named() {
        let notes = notes("a,b\n1,2\n1,2,3\n\"x\ny\",2\n9\n", b',');
        let want = [
            "5 rows with the first, 2 columns, separated by `,`",
            "2 rows have another number of fields: row 3 (3), row 5 (1)",
        ];
        assert_eq!(notes, want);
    }
}
