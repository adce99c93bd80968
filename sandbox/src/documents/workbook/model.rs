//! What a workbook holds, as far as a reader of its text wants to know.

use serde::{Deserialize, Serialize};

/// The sheets of a workbook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workbook {
    /// What the bytes are, such as `Excel workbook (xlsx)`.
    pub kind: String,
    /// The sheets, in order.
    pub sheets: Vec<Sheet>,
}

/// Whether a user of the spreadsheet program sees a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Visibility {
    /// Yes.
    Visible,
    /// Only after asking for it.
    Hidden,
    /// Only through a program.
    VeryHidden,
}

/// One sheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    /// Its name.
    pub name: String,
    /// Whether it is shown.
    pub visibility: Visibility,
    /// The rows that hold something, in order.
    pub rows: Vec<Row>,
    /// The formulas, by rows. The cells hold the values that were last calculated.
    pub formulas: Vec<Formula>,
    /// Ranges merged into one cell, such as `A1:C1`; the first cell holds the value.
    pub merged: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A row that holds something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its number, from 1.
    pub number: u32,
    /// The cells that hold something: column, from 0, and value. Dates are ISO 8601.
    pub cells: Vec<(u32, String)>,
}

/// A formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formula {
    /// Where it stands, such as `B7`.
    pub cell: String,
    /// The formula, with `=`.
    pub text: String,
}

impl Sheet {
    /// Returns the rectangle that holds all cells: first and last column from 0, first and
    /// last row from 1. Nothing for an empty sheet.
    #[must_use]
    pub fn bounds(&self) -> Option<((u32, u32), (u32, u32))> {
        let columns =
            || self.rows.iter().flat_map(|row| row.cells.iter().map(|(column, _)| *column));
        let (first, last) = (self.rows.first()?, self.rows.last()?);
        Some(((columns().min()?, columns().max()?), (first.number, last.number)))
    }
}

/// Returns the letters of a column, counted from 0: `A`, …, `Z`, `AA`, ….
pub(super) fn letters(column: u32) -> String {
    let mut rest = u64::from(column) + 1;
    let mut letters = Vec::new();
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// Returns the address of a cell: row and column from 0.
pub(super) fn address(row: u32, column: u32) -> String {
    format!("{}{}", letters(column), u64::from(row) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_letters() {
        let table = [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16383, "XFD")];
        for (column, want) in table {
            assert_eq!(letters(column), want);
        }
        assert_eq!(letters(u32::MAX).len(), 7, "no number overflows");
        assert_eq!(address(6, 1), "B7");
    }
}
