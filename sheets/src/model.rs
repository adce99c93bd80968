//! What a workbook holds, as far as a reader of its text wants to know.

use serde::{Deserialize, Serialize};

use crate::place::Area;

/// Which part of a workbook is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The only sheet that is read; left out, all are.
    pub sheet: Option<String>,
    /// The only cells that are read, of that sheet or else of the first.
    pub area: Option<Area>,
}

/// The sheets of a workbook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workbook {
    /// What the bytes are, such as `Excel workbook (xlsx)`.
    pub kind: String,
    /// The names of all sheets, in order, those left out included.
    pub names: Vec<String>,
    /// The sheets that were read, in order.
    pub sheets: Vec<Sheet>,
    /// What belongs to no sheet, such as defined names.
    pub details: Vec<Detail>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Whether a user of the spreadsheet program sees a sheet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Visibility {
    /// Yes.
    #[default]
    Visible,
    /// Only after asking for it.
    Hidden,
    /// Only through a program.
    VeryHidden,
}

/// One sheet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    /// Its name.
    pub name: String,
    /// Whether it is shown.
    pub visibility: Visibility,
    /// The rectangle that holds all values; nothing for an empty sheet.
    pub bounds: Option<Area>,
    /// The rows that hold something, in order: all of them, or the first of a large sheet.
    pub rows: Vec<Row>,
    /// What of a large sheet is left out, and its last rows.
    pub gap: Option<Gap>,
    /// A summary of each column of a long sheet.
    pub columns: Vec<Column>,
    /// Whether the first row was taken for a header and stays out of the summary.
    pub headed: bool,
    /// The formulas, by rows. The cells hold the values that were last calculated.
    pub formulas: Vec<Formula>,
    /// Ranges merged into one cell, such as `A1:C1`; the first cell holds the value.
    pub merged: Vec<String>,
    /// Looks, comments, links and the like.
    pub details: Vec<Detail>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// The rows of a large sheet that are not kept, and those after them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// How many rows that hold something are left out.
    pub rows: u64,
    /// The last rows.
    pub tail: Vec<Row>,
}

/// A row that holds something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its number, from 1.
    pub number: u32,
    /// The cells that hold something: column, from 0, and value. Dates are ISO 8601.
    pub cells: Vec<(u32, String)>,
}

/// What the cells of a column hold together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Which, from 0.
    pub column: u32,
    /// What its first cell calls it, where that looks like a header.
    pub header: Option<String>,
    /// The kind of its values, such as `number` or `text 12, number 3`.
    pub kind: String,
    /// Cells that hold something.
    pub filled: u64,
    /// Cells that hold nothing, in rows that hold something.
    pub blank: u64,
    /// Values that differ; a lower bound where `more` is set.
    pub distinct: u64,
    /// Whether the count of distinct values stopped at its bound.
    pub more: bool,
    /// The least number or the earliest date.
    pub least: Option<String>,
    /// The greatest number or the latest date.
    pub greatest: Option<String>,
    /// The mean of the numbers.
    pub mean: Option<String>,
    /// The most frequent values with their counts; of those counted, where `more` is set.
    pub frequent: Vec<(String, u64)>,
}

/// A formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formula {
    /// Where it stands, such as `B7`, or the range that it was filled into.
    pub cell: String,
    /// The formula of the first cell, with `=`.
    pub text: String,
}

/// A list under a title, such as the comments of a sheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// What is listed.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
}

impl Sheet {
    /// Adds a list, unless it is empty.
    pub(crate) fn detail(&mut self, title: &str, lines: Vec<String>) {
        if !lines.is_empty() {
            self.details.push(Detail { title: title.to_owned(), lines });
        }
    }
}
