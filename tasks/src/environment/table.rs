//! The tables of a site: JSON arrays of objects, and CSV with a line of names.
//!
//! Cells of CSV are text, as written; those of JSON keep their type. Where cells are
//! compared, two that spell numbers are compared as numbers.

use serde_json::{Map, Value};

/// Most rows of a table.
const MOST_ROWS: usize = 100_000;

/// Rows with named columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The names of all columns, in the order in which they first stand.
    pub columns: Vec<String>,
    /// The rows; of JSON, one may lack columns.
    pub rows: Vec<Map<String, Value>>,
}

/// Why a file is no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct TableError {
    /// The line, from 1, where that is known.
    pub line: Option<usize>,
    /// What was expected.
    pub problem: String,
}

impl Table {
    /// Reads a table off the bytes of a file called `name`: CSV where that ends in `.csv`,
    /// else JSON.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, TableError> {
        let is_csv = name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("csv"));
        let table = if is_csv { Self::csv(bytes) } else { Self::json(bytes) }?;
        if table.rows.len() > MOST_ROWS {
            let problem = format!("{} rows; a table may have {MOST_ROWS}", table.rows.len());
            return Err(TableError { line: None, problem });
        }
        Ok(table)
    }

    fn json(bytes: &[u8]) -> Result<Self, TableError> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| TableError {
            line: Some(error.line()),
            problem: format!("not JSON: {error}"),
        })?;
        let no_rows =
            || TableError { line: None, problem: "expected a JSON array of objects".to_owned() };
        let Value::Array(items) = value else { return Err(no_rows()) };
        let mut table = Self::default();
        let mut known = std::collections::BTreeSet::new();
        for item in items {
            let Value::Object(row) = item else { return Err(no_rows()) };
            for name in row.keys().filter(|name| known.insert((*name).clone())) {
                table.columns.push(name.clone());
            }
            table.rows.push(row);
        }
        Ok(table)
    }

    fn csv(bytes: &[u8]) -> Result<Self, TableError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = csv::Reader::from_reader(bytes);
        let columns = reader.headers().map_err(|error| fault(&error))?;
        let columns: Vec<String> = columns.iter().map(|name| name.trim().to_owned()).collect();
        for (at, name) in columns.iter().enumerate() {
            let problem = if name.is_empty() {
                format!("column {} has no name in the first line", at + 1)
            } else if columns[..at].contains(name) {
                format!("two columns are named `{name}`")
            } else {
                continue;
            };
            return Err(TableError { line: Some(1), problem });
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| fault(&error))?;
            let cells = record.iter().map(|cell| Value::String(cell.to_owned()));
            rows.push(columns.iter().cloned().zip(cells).collect());
        }
        Ok(Self { columns, rows })
    }
}

fn fault(error: &csv::Error) -> TableError {
    let line = error.position().and_then(|position| usize::try_from(position.line()).ok());
    let problem = if let csv::ErrorKind::UnequalLengths { expected_len, len, .. } = error.kind() {
        format!("expected {expected_len} cells, as in the first line, found {len}")
    } else if matches!(error.kind(), csv::ErrorKind::Utf8 { .. }) {
        "not UTF-8; save the file as UTF-8".to_owned()
    } else {
        format!("not CSV: {error}")
    };
    TableError { line, problem }
}

/// Returns a cell as text; what is not there, and `null`, is empty.
#[must_use]
pub fn cell_text(cell: Option<&Value>) -> String {
    match cell {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Compares two cells, or a cell and a value of a request: as numbers where both spell
/// one, else as text; empty ones come first.
#[must_use]
pub fn compare(left: &str, right: &str) -> std::cmp::Ordering {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left.total_cmp(&right),
        _ => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_table_are_read() {
        let csv = Table::read("a.CSV", "\u{feff}id,名\n1,\"a,b\"\n".as_bytes()).unwrap();
        assert_eq!(csv.columns, ["id", "名"]);
        assert_eq!(csv.rows[0]["名"], "a,b");
        let json = Table::read("a.json", br#"[{"b": 1}, {"a": null, "b": 2}]"#).unwrap();
        assert_eq!(json.columns, ["b", "a"], "in the order of the file");
        assert_eq!(cell_text(json.rows[0].get("a")), "");
        assert_eq!(cell_text(json.rows[1].get("b")), "2");
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_line() {
        let table: [(&str, &[u8], Option<usize>, &str); 8] = [
            ("a.json", b"{}", None, "array of objects"),
            ("a.json", b"[1]", None, "array of objects"),
            ("a.json", b"[\n{", Some(2), "not JSON"),
            ("a.csv", b"a,b\n1,2\n3\n", Some(3), "expected 2 cells"),
            ("a.csv", b"a,a\n", Some(1), "two columns are named `a`"),
            ("a.csv", b"a,\n1,2\n", Some(1), "column 2 has no name"),
            ("a.csv", b"a\n\xff\n", Some(2), "not UTF-8"),
            ("a.csv", b"", Some(1), "column 1 has no name"),
        ];
        for (name, bytes, line, want) in table {
            match Table::read(name, bytes) {
                Ok(read) => assert!(bytes.is_empty() && read.rows.is_empty(), "{want}"),
                Err(error) => {
                    assert_eq!(error.line, line, "{want}");
                    assert!(error.problem.contains(want), "{want}: {error}");
                }
            }
        }
    }

    #[test]
    fn cells_are_compared_as_numbers_where_they_are() {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let table =
            [("9", "10", Less), ("1.50", "1.5", Equal), ("b", "a", Greater), ("", "0", Less)];
        for (left, right, want) in table {
            assert_eq!(compare(left, right), want, "{left} {right}");
        }
    }
}
