//! CSV and its kin: which dialect a text is in, and the table that it holds.
//!
//! Files are dirty: rows that do not fit, a title above the table, quotes that open and
//! never close. The guess looks at whole lines of the beginning and takes the reading under
//! which rows agree; the notes say what it took and which rows do not fit.

use csv::{ByteRecord, ReaderBuilder};

use crate::cell::{Cell, Context, Value};
use crate::error::Error;
use crate::gather::{Budget, Gather};
use crate::model::{Part, Sheet, Workbook};
use crate::read::chosen;

/// What may separate fields.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// How much of a text the dialect is told from, in bytes.
const SNIFFED: usize = 64 << 10;

/// The most rows of another width that a note names.
const NAMED: usize = 8;

/// How fields are separated and quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// What separates fields.
    pub delimiter: u8,
    /// What encloses fields that hold delimiters or line ends.
    pub quote: u8,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', quote: b'"' }
    }
}

impl Dialect {
    /// Finds the dialect of a text: that under which most rows have the most frequent width,
    /// the widest if several do. `tabbed` says that the name promises tabs. A text in one
    /// column has none.
    #[must_use]
    pub fn of(text: &str, tabbed: bool) -> Option<Self> {
        let head = head(rows_of(text));
        let quote = quote(head);
        if let Some(delimiter) = declared(text) {
            return Some(Self { delimiter, quote });
        }
        DELIMITERS
            .into_iter()
            .filter_map(|delimiter| {
                let dialect = Self { delimiter, quote };
                let widths = dialect.widths(head);
                let (width, same) = usual(&widths)?;
                // Seven in ten suffice: dirty files have rows that do not fit.
                let steady = same * 10 >= widths.len() * 7;
                let named = tabbed && delimiter == b'\t';
                // Decimal commas are in every row but the one that names the columns.
                let headed = widths.first() == Some(&width);
                let rank = (steady, named, headed, width, same, delimiter == b',');
                (width > 1).then_some((rank, dialect))
            })
            .max_by_key(|(rank, _)| *rank)
            .map(|(_, dialect)| dialect)
    }

    fn reader(self, text: &str) -> csv::Reader<&[u8]> {
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quote(self.quote)
            .has_headers(false)
            .flexible(true)
            .from_reader(rows_of(text).as_bytes())
    }

    fn widths(self, text: &str) -> Vec<usize> {
        let mut reader = self.reader(text);
        reader.byte_records().map_while(Result::ok).map(|record| record.len()).collect()
    }

    /// Names what separates.
    fn separator(self) -> String {
        match self.delimiter {
            b'\t' => "a tab".to_owned(),
            other => format!("`{}`", char::from(other)),
        }
    }

    /// Says how large a table is and which rows do not fit.
    #[must_use]
    pub fn notes(self, text: &str) -> Vec<String> {
        let mut shape = Shape::default();
        let mut reader = self.reader(text);
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).unwrap_or(false) {
            shape.add(&record);
        }
        shape.notes(self, text)
    }
}

/// What a first line such as `sep=;` says that separates; spreadsheets write and heed it.
fn declared(text: &str) -> Option<u8> {
    let line = text.get(..4).filter(|it| it.eq_ignore_ascii_case("sep=")).and(text.lines().next());
    match line?.as_bytes()[4..] {
        [delimiter] if delimiter.is_ascii() && !delimiter.is_ascii_alphanumeric() => {
            Some(delimiter)
        }
        _ => None,
    }
}

/// A text without the line that only declares what separates.
fn rows_of(text: &str) -> &str {
    match declared(text) {
        Some(_) => text.split_once('\n').map_or("", |(_, rows)| rows),
        None => text,
    }
}

/// Whether a text of unknown kind looks like a table: at least three rows of the same
/// width of three or more.
#[must_use]
pub fn is_table(text: &str) -> bool {
    let head = head(text);
    DELIMITERS.into_iter().any(|delimiter| {
        let widths = Dialect { delimiter, ..Dialect::default() }.widths(head);
        widths.len() >= 3 && widths[0] >= 3 && widths.iter().all(|width| *width == widths[0])
    })
}

/// Reads a table as a workbook of one sheet.
pub fn workbook(name: &str, text: &str, dialect: Dialect, part: &Part) -> Result<Workbook, Error> {
    let names = vec![name.to_owned()];
    chosen(&names, part)?;
    let (context, mut budget) = (Context::default(), Budget::default());
    let mut gather = Gather::new(&context, part.area, &budget);
    let mut shape = Shape::default();
    let mut reader = dialect.reader(text);
    let mut record = ByteRecord::new();
    let mut cells = Vec::new();
    let mut row = 0;
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        shape.add(&record);
        let filled = (0..).zip(&record).filter(|(_, field)| !field.is_empty());
        cells.extend(filled.map(|(column, field)| Cell {
            column,
            format: 0,
            value: Value::Field(String::from_utf8_lossy(field).into()),
        }));
        gather.add(row, &mut cells);
        row = row.saturating_add(1);
    }
    let mut sheet =
        Sheet { name: name.to_owned(), notes: shape.notes(dialect, text), ..Sheet::default() };
    gather.finish(&mut sheet, &mut budget);
    Ok(Workbook {
        kind: "CSV".to_owned(),
        names,
        sheets: vec![sheet],
        details: Vec::new(),
        notes: Vec::new(),
    })
}

/// How many rows and columns a table has.
#[derive(Debug, Default)]
struct Shape {
    rows: u64,
    columns: Option<usize>,
    odd: Vec<String>,
    others: u64,
    /// How many lines the last field of the last row goes on for.
    lines: usize,
}

impl Shape {
    fn add(&mut self, row: &ByteRecord) {
        let width = row.len();
        let last = row.get(width.saturating_sub(1)).unwrap_or_default();
        self.lines = last.iter().filter(|byte| **byte == b'\n').count();
        self.rows += 1;
        let columns = *self.columns.get_or_insert(width);
        if width != columns {
            self.others += 1;
            if self.odd.len() < NAMED {
                self.odd.push(format!("row {} ({width})", self.rows));
            }
        }
    }

    fn notes(&self, dialect: Dialect, text: &str) -> Vec<String> {
        let quotes = if dialect.quote == b'\'' { ", quoted with `'`" } else { "" };
        let mut notes = vec![format!(
            "{} rows with the first, {} columns, separated by {}{quotes}",
            self.rows,
            self.columns.unwrap_or(0),
            dialect.separator()
        )];
        if self.others > 0 {
            let more = if self.others > self.odd.len() as u64 { ", …" } else { "" };
            notes.push(format!(
                "{} rows have another number of fields: {}{more}",
                self.others,
                self.odd.join(", ")
            ));
        }
        // Only a quoted field has lines, and one that ends does so with its quote.
        if self.lines > 0 && !text.trim_end().ends_with(char::from(dialect.quote)) {
            notes.push(format!(
                "a quote that opens in row {} is never closed: its field takes in all {} lines \
                 after it",
                self.rows, self.lines
            ));
        }
        if declared(text).is_some() {
            notes.push("the first line only says what separates; it is no row".to_owned());
        }
        notes
    }
}

/// The whole lines at the start of a text.
fn head(text: &str) -> &str {
    if text.len() <= SNIFFED {
        return text;
    }
    let cut = &text[..text.floor_char_boundary(SNIFFED)];
    cut.rfind('\n').map_or(cut, |end| &cut[..end])
}

/// Finds what encloses fields: a mark beside delimiters or line ends on both sides. Single
/// marks must be more than a few, since words have apostrophes.
fn quote(text: &str) -> u8 {
    let count = |mark: u8| {
        let bytes = text.as_bytes();
        let edge = |byte: Option<&u8>| {
            byte.is_none_or(|byte| DELIMITERS.contains(byte) || matches!(byte, b'\n' | b'\r'))
        };
        let (mut opening, mut closing) = (0_usize, 0_usize);
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == mark) {
            opening += usize::from(edge(at.checked_sub(1).and_then(|before| bytes.get(before))));
            closing += usize::from(edge(bytes.get(at + 1)));
        }
        opening.min(closing)
    };
    let (single, double) = (count(b'\''), count(b'"'));
    if single > double && single >= 4 { b'\'' } else { b'"' }
}

/// Returns the most frequent width and how many rows have it; the wider of several.
fn usual(widths: &[usize]) -> Option<(usize, usize)> {
    let mut sorted = widths.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).max().map(|(n, w)| (w, n))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dialects_are_told_apart() {
        let table = [
            ("a,b\n1,2\n", false, Some((b',', b'"')), "comma"),
            ("a;b\n1,5;2,5\n3,5;4,5\n", false, Some((b';', b'"')), "decimal commas"),
            ("a;b\nA;1,5\nB;2,5;x\n", false, Some((b';', b'"')), "decimal commas, and dirt"),
            ("p;q\nA;1,5\nB;2,5\nC;3,5\n", false, Some((b';', b'"')), "below a header without"),
            ("a\tb, c\n1\t2, 3\n", true, Some((b'\t', b'"')), "tab, as the name says"),
            ("a|b|c\n1|2|3\n", false, Some((b'|', b'"')), "bar"),
            ("\"x;y\",b\n\"p;q\",2\n", false, Some((b',', b'"')), "the other only in quotes"),
            ("'a,x','b'\n'c,y','d'\n", false, Some((b',', b'\'')), "single quotes"),
            ("it's,b\n'tis,d\n", false, Some((b',', b'"')), "apostrophes"),
            ("Sales of 2025\n\na;b;c\n1;2;3\n4;5;6\n7;8;9\n", false, Some((b';', b'"')), "a title"),
            ("sep=|\na,b|c\n1,2|3\n", false, Some((b'|', b'"')), "what the first line declares"),
            ("one\ntwo\n", false, None, "a single column"),
            ("", false, None, "nothing"),
        ];
        for (text, tabbed, want, why) in table {
            let got = Dialect::of(text, tabbed).map(|it| (it.delimiter, it.quote));
            assert_eq!(got, want, "{text:?}: {why}");
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_named() {
        let notes = Dialect::default().notes("a,b\n1,2\n1,2,3\n\"x\ny\",2\n9\n");
        let want = [
            "5 rows with the first, 2 columns, separated by `,`",
            "2 rows have another number of fields: row 3 (3), row 5 (1)",
        ];
        assert_eq!(notes, want);
        let notes = Dialect::default().notes("sep=,\na,b\n1,\"two\n3,4\n5,6\n");
        let want = [
            "2 rows with the first, 2 columns, separated by `,`",
            "a quote that opens in row 2 is never closed: its field takes in all 3 lines after it",
            "the first line only says what separates; it is no row",
        ];
        assert_eq!(notes, want);
        let whole = Dialect::default().notes("a,b\n1,\"two\nlines\"\n");
        assert_eq!(whole.len(), 1, "a field of lines that ends: {whole:?}");
    }

    /// Fields as people fill them: words, numbers, and now and then one with a mark in it.
    fn field() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => "[a-z]{1,8}( [a-z]{1,6})?",
            4 => "[1-9][0-9]{0,5}(\\.[0-9]{1,3})?",
            1 => "[a-z]{1,4}[,;|\t\"\n][a-z]{1,4}",
            1 => Just(String::new()),
        ]
    }

    proptest! {
        #[test]
        fn what_a_writer_writes_is_read_back(
            columns in 2_usize..6,
            fields in prop::collection::vec(field(), 12..60),
            delimiter in prop::sample::select(&DELIMITERS[..]),
        ) {
            let rows: Vec<&[String]> = fields.chunks_exact(columns).collect();
            prop_assume!(rows.len() >= 2);
            let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(*row).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let dialect = Dialect::of(&text, false).unwrap();
            prop_assert_eq!(dialect.delimiter, delimiter, "{:?}", text);
            let read: Vec<Vec<String>> = dialect
                .reader(&text)
                .records()
                .map(|record| record.unwrap().iter().map(str::to_owned).collect())
                .collect();
            prop_assert_eq!(read, rows);
        }

        #[test]
        fn any_text_is_read(text in "[a,;|\t\"'\n\r 0-9潮]{0,60}", tabbed: bool) {
            let dialect = Dialect::of(&text, tabbed).unwrap_or_default();
            let book = workbook("t.csv", &text, dialect, &Part::default()).unwrap();
            let _ = (book.to_markdown(), is_table(&text));
        }
    }
}
