//! A workbook as Markdown: per sheet a table with column letters and row numbers.

use std::fmt::Write;

use super::model::letters;
use super::{Row, Sheet, Visibility, Workbook};

/// A table with more fields than this must be at least a quarter full; a sheet that is
/// not shows its cells one by one.
const SPARSE: u64 = 10_000;

impl Workbook {
    /// Writes all sheets.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let sheets: Vec<String> = self.sheets.iter().map(Sheet::to_markdown).collect();
        sheets.join("\n\n")
    }
}

impl Sheet {
    /// Writes the sheet: heading, notes, merged ranges, cells, formulas.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("## Sheet `{}`{}", self.name, self.state());
        let cells: u64 = self.rows.iter().map(|row| row.cells.len() as u64).sum();
        if let Some(((left, right), (top, bottom))) = self.bounds() {
            let (width, height) = (right - left + 1, bottom - top + 1);
            let _ = write!(
                text,
                ": {}{top}:{}{bottom}, {height} rows × {width} columns",
                letters(left),
                letters(right)
            );
            self.remarks(&mut text);
            if u64::from(width) * self.rows.len() as u64 > SPARSE.max(cells * 4) {
                self.list(&mut text);
            } else {
                self.table(&mut text, left, right);
            }
        } else {
            text.push_str(": no cells");
            self.remarks(&mut text);
        }
        if !self.formulas.is_empty() {
            text.push_str("\n\nFormulas:\n");
            for formula in &self.formulas {
                let _ = write!(text, "\n- {}: `{}`", formula.cell, formula.text);
            }
        }
        text
    }

    fn state(&self) -> &'static str {
        match self.visibility {
            Visibility::Visible => "",
            Visibility::Hidden => " (hidden)",
            Visibility::VeryHidden => " (very hidden)",
        }
    }

    fn remarks(&self, text: &mut String) {
        for note in &self.notes {
            let _ = write!(text, "\n\nNote: {note}");
        }
        if !self.merged.is_empty() {
            let _ = write!(text, "\n\nMerged cells: {}", self.merged.join(", "));
        }
    }

    /// Writes the cells one by one.
    fn list(&self, text: &mut String) {
        text.push_str("\n\nFew cells over a wide area, so they are listed:\n");
        for Row { number, cells } in &self.rows {
            for (column, value) in cells {
                let _ = write!(text, "\n- {}{number}: {}", letters(*column), escaped(value));
            }
        }
    }

    /// Writes the cells as a table; rows without any are left out, as their numbers show.
    fn table(&self, text: &mut String, left: u32, right: u32) {
        text.push_str("\n\n| |");
        for column in left..=right {
            let _ = write!(text, " {} |", letters(column));
        }
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(usize::try_from(right - left + 1).unwrap_or(0)));
        for row in &self.rows {
            let _ = write!(text, "\n| {} |", row.number);
            let mut next = left;
            for (column, value) in &row.cells {
                while next < *column {
                    text.push_str("  |");
                    next += 1;
                }
                let _ = write!(text, " {} |", escaped(value));
                next = column.saturating_add(1);
            }
            text.extend(std::iter::repeat_n("  |", usize::try_from(right + 1 - next).unwrap_or(0)));
        }
    }
}

/// Keeps a value within its field.
fn escaped(value: &str) -> String {
    let value = value.trim_end_matches(['\r', '\n']);
    if value.contains(['|', '\n', '\r']) {
        value.replace('|', "\\|").replace("\r\n", "<br>").replace(['\n', '\r'], "<br>")
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Formula;
    use super::*;

    fn sheet(rows: Vec<Row>) -> Sheet {
        Sheet {
            name: "Umsatz".into(),
            visibility: Visibility::Hidden,
            rows,
            formulas: vec![Formula { cell: "C4".into(), text: "=SUM(C2:C3)".into() }],
            merged: vec!["B2:C2".into()],
            notes: vec!["a remark".into()],
        }
    }

    #[test]
    fn a_sheet_as_a_table() {
        let row = |number, cells: &[(u32, &str)]| Row {
            number,
            cells: cells.iter().map(|(column, value)| (*column, (*value).to_owned())).collect(),
        };
        let text =
            sheet(vec![row(2, &[(1, "a|b"), (3, "x\ny")]), row(4, &[(2, "3")])]).to_markdown();
        let want = "## Sheet `Umsatz` (hidden): B2:D4, 3 rows × 3 columns\n\n\
            Note: a remark\n\nMerged cells: B2:C2\n\n\
            | | B | C | D |\n|---|---|---|---|\n| 2 | a\\|b |  | x<br>y |\n| 4 |  | 3 |  |\n\n\
            Formulas:\n\n- C4: `=SUM(C2:C3)`";
        assert_eq!(text, want);
    }

    #[test]
    fn corners_of_a_huge_sheet_are_listed() {
        let corner =
            |number, column, value: &str| Row { number, cells: vec![(column, value.to_owned())] };
        let text =
            sheet(vec![corner(1, 0, "top"), corner(1_048_576, 16_383, "bottom")]).to_markdown();
        assert!(text.contains("- A1: top\n- XFD1048576: bottom"), "{text}");
    }
}
