//! A workbook as Markdown: per sheet a table with column letters and row numbers.

use std::fmt::Write;

use crate::model::{Detail, Row, Sheet, Visibility, Workbook};
use crate::place::{address, letters};

/// A table with more fields than this must be at least a quarter full; a sheet that is
/// not shows its cells one by one.
const SPARSE: u64 = 10_000;

impl Workbook {
    /// Writes what concerns the whole, then all sheets.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.notes.iter().map(|note| format!("Note: {note}")));
        parts.extend(self.sheets.iter().map(Sheet::to_markdown));
        let mut text = parts.join("\n\n");
        details(&mut text, &self.details);
        text
    }
}

impl Sheet {
    /// Writes the sheet: heading, notes, merged ranges, summary, cells, formulas, details.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("## Sheet `{}`{}", self.name, self.state());
        if let Some(bounds) = self.bounds {
            let width = bounds.right - bounds.left + 1;
            let height = u64::from(bounds.bottom) - u64::from(bounds.top) + 1;
            let corners = (bounds.top, bounds.left, bounds.bottom, bounds.right);
            let _ = write!(
                text,
                ": {}:{}, {height} rows × {width} columns",
                address(corners.0, corners.1),
                address(corners.2, corners.3)
            );
            self.remarks(&mut text);
            self.summary(&mut text);
            self.cells(&mut text, bounds.left, bounds.right);
        } else {
            text.push_str(": no cells");
            self.remarks(&mut text);
        }
        if !self.formulas.is_empty() {
            let filled = self.formulas.iter().any(|formula| formula.cell.contains(':'));
            text.push_str("\n\nFormulas");
            text.push_str(if filled { " (of a range, that of its first cell):\n" } else { ":\n" });
            for formula in &self.formulas {
                let _ = write!(text, "\n- {}: `{}`", formula.cell, formula.text);
            }
        }
        details(&mut text, &self.details);
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

    /// Writes the summary of each column.
    fn summary(&self, text: &mut String) {
        if self.columns.is_empty() {
            return;
        }
        let basis =
            if self.headed { "all rows below the first, which names them" } else { "all rows" };
        let _ = write!(
            text,
            "\n\nSummary of the columns, over {basis}:\n\n| column | name | kind | filled | blank | \
             distinct | least | greatest | mean | most frequent |\n|---|---|---|---|---|---|---|---|---|---|"
        );
        for column in &self.columns {
            let or_none =
                |value: &Option<String>| value.as_deref().map(escaped).unwrap_or_default();
            let frequent: Vec<String> = column
                .frequent
                .iter()
                .map(|(value, count)| format!("{} ({count})", escaped(value)))
                .collect();
            let _ = write!(
                text,
                "\n| {} | {} | {} | {} | {} | {}{} | {} | {} | {} | {} |",
                letters(column.column),
                or_none(&column.header),
                column.kind,
                column.filled,
                column.blank,
                if column.more { "more than " } else { "" },
                column.distinct,
                or_none(&column.least),
                or_none(&column.greatest),
                or_none(&column.mean),
                frequent.join(", ")
            );
        }
    }

    /// Writes the cells; of a large sheet the first and the last rows.
    fn cells(&self, text: &mut String, left: u32, right: u32) {
        rows(text, &self.rows, left, right);
        let Some(gap) = &self.gap else { return };
        if gap.rows > 0 {
            let last = self.rows.last().map_or(0, |row| row.number);
            let next = gap.tail.first().map_or(0, |row| row.number);
            let _ = write!(
                text,
                "\n\n… {} rows are left out here. `extract_excel_content` shows a part of them with \
                 `sheet` and `range`, such as `{}{}:{}{}`; `execute_code` calculates with all.",
                gap.rows,
                letters(left),
                last.saturating_add(1),
                letters(right),
                last.saturating_add(500).min(next.saturating_sub(1))
            );
        }
        rows(text, &gap.tail, left, right);
    }
}

/// Writes rows as a table, or one by one where they are few over a wide area.
fn rows(text: &mut String, rows: &[Row], left: u32, right: u32) {
    let cells: u64 = rows.iter().map(|row| row.cells.len() as u64).sum();
    if rows.is_empty() {
    } else if u64::from(right - left + 1) * rows.len() as u64 > SPARSE.max(cells * 4) {
        list(text, rows);
    } else {
        table(text, rows, left, right);
    }
}

/// Writes the cells one by one.
fn list(text: &mut String, rows: &[Row]) {
    text.push_str("\n\nFew cells over a wide area, so they are listed:\n");
    for Row { number, cells } in rows {
        for (column, value) in cells {
            let _ = write!(text, "\n- {}{number}: {}", letters(*column), escaped(value));
        }
    }
}

/// Writes the cells as a table; rows without any are left out, as their numbers show.
fn table(text: &mut String, rows: &[Row], left: u32, right: u32) {
    text.push_str("\n\n| |");
    for column in left..=right {
        let _ = write!(text, " {} |", letters(column));
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(usize::try_from(right - left + 1).unwrap_or(0)));
    for row in rows {
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

/// Writes lists under their titles.
fn details(text: &mut String, details: &[Detail]) {
    for Detail { title, lines } in details {
        let _ = write!(text, "\n\n{title}:\n");
        for line in lines {
            let _ = write!(text, "\n- {}", line.replace(['\n', '\r'], " "));
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
    use super::*;
    use crate::model::{Formula, Gap};
    use crate::place::Area;

    fn sheet(bounds: Option<&str>, rows: Vec<Row>) -> Sheet {
        Sheet {
            name: "Umsatz".into(),
            visibility: Visibility::Hidden,
            bounds: bounds.and_then(Area::parse),
            rows,
            formulas: vec![Formula { cell: "C4".into(), text: "=SUM(C2:C3)".into() }],
            merged: vec!["B2:C2".into()],
            details: vec![Detail { title: "Comments".into(), lines: vec!["B2: x\ny".into()] }],
            notes: vec!["a remark".into()],
            ..Sheet::default()
        }
    }

    #[test]
    fn a_sheet_as_a_table() {
        let row = |number, cells: &[(u32, &str)]| Row {
            number,
            cells: cells.iter().map(|(column, value)| (*column, (*value).to_owned())).collect(),
        };
        let text =
            sheet(Some("B2:D4"), vec![row(2, &[(1, "a|b"), (3, "x\ny")]), row(4, &[(2, "3")])])
                .to_markdown();
        let want = "## Sheet `Umsatz` (hidden): B2:D4, 3 rows × 3 columns\n\n\
            Note: a remark\n\nMerged cells: B2:C2\n\n\
            | | B | C | D |\n|---|---|---|---|\n| 2 | a\\|b |  | x<br>y |\n| 4 |  | 3 |  |\n\n\
            Formulas:\n\n- C4: `=SUM(C2:C3)`\n\nComments:\n\n- B2: x y";
        assert_eq!(text, want);
    }

    #[test]
    fn corners_of_a_huge_sheet_are_listed() {
        let corner =
            |number, column, value: &str| Row { number, cells: vec![(column, value.to_owned())] };
        let text = sheet(
            Some("A1:XFD1048576"),
            vec![corner(1, 0, "top"), corner(1_048_576, 16_383, "bottom")],
        )
        .to_markdown();
        assert!(text.contains("- A1: top\n- XFD1048576: bottom"), "{text}");
    }

    #[test]
    fn what_is_left_out_says_how_to_see_it() {
        let row = |number| Row { number, cells: vec![(0, number.to_string())] };
        let mut large = sheet(Some("A1:A1000"), vec![row(1), row(2)]);
        large.gap = Some(Gap { rows: 996, tail: vec![row(999), row(1000)] });
        let text = large.to_markdown();
        assert!(text.contains("… 996 rows are left out here."), "{text}");
        assert!(text.contains("such as `A3:A502`"), "{text}");
        assert!(text.contains("| 2 | 2 |") && text.contains("| 1000 | 1000 |"), "{text}");
    }
}
