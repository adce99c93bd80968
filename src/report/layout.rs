//! How texts are set on a page: columns, cuts, and lines of parts.
//!
//! Widths are columns of a terminal, not characters: a Chinese character takes two. A
//! line that this module cuts ends in `…` and is no wider than the page. It neutralises
//! nothing: what comes in was made harmless before.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns in front of what is said about a name.
pub(super) const MARGIN: usize = 10;

/// How the page looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    width: usize,
    colour: bool,
}

impl Page {
    /// Returns a page of `width` columns; `usize::MAX` is one whose lines never end.
    pub(super) fn new(width: usize, colour: bool) -> Self {
        Self { width: width.max(60), colour }
    }

    pub(super) fn bold(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Cuts a line to the page.
    pub(super) fn line(self, text: &str) -> String {
        cut(text.trim_end(), self.width)
    }

    /// Sets rows into columns, each as wide as its widest cell and set to the left, and
    /// cuts each line to the page: what may be cut belongs into the last column.
    pub(super) fn rows(self, rows: &[Vec<String>]) -> Vec<String> {
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max()
        };
        let widths: Vec<usize> = (0..count).map(|column| widest(column).unwrap_or(0)).collect();
        rows.iter()
            .map(|row| {
                let mut line = String::new();
                for (cell, width) in row.iter().zip(&widths) {
                    let rest = width.saturating_sub(cell.width()) + if *width > 0 { 2 } else { 0 };
                    let _ = write!(line, "{cell}{:rest$}", "");
                }
                self.line(&line)
            })
            .collect()
    }

    /// Sets rows into columns; the first `left` of them to the left, the rest to the right.
    /// Cells that are too wide for the page are wrapped.
    pub(super) fn table(self, rows: Vec<Vec<String>>, left: usize) -> Vec<String> {
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        if let Ok(width) = u16::try_from(self.width) {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        table.add_rows(rows);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if index >= left {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Writes a name and its parts, on as many lines as they need.
    pub(super) fn entry(self, name: &str, parts: &[String]) -> String {
        let mut out = format!("{name:<MARGIN$}");
        let mut used = MARGIN;
        for (index, part) in parts.iter().enumerate() {
            let long = part.width();
            if index > 0 && used + 3 + long > self.width {
                let _ = write!(out, "\n{:MARGIN$}{part}", "");
                used = MARGIN + long;
            } else {
                let dot = if index > 0 { " · " } else { "" };
                let _ = write!(out, "{dot}{part}");
                used += dot.width() + long;
            }
        }
        out.push('\n');
        out
    }
}

/// Cuts a text to `columns`, the `…` at its end included.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for letter in text.chars() {
        used += letter.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(letter);
    }
    format!("{}…", out.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cuts_count_columns() {
        let table = [
            ("plain", 5, "plain", "what fits stays"),
            ("plainer", 5, "plai…", "the mark is part of the width"),
            ("two words", 5, "two…", "no blank in front of the mark"),
            ("中文字", 5, "中文…", "a wide character takes two"),
            ("中文字", 4, "中…", "half a character does not fit"),
            ("中文字", 6, "中文字", "just fits"),
        ];
        for (text, columns, want, why) in table {
            assert_eq!(cut(text, columns), want, "{why}");
        }
    }

    #[test]
    fn columns_start_at_one_place() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["中文", "a", "why"]), row(["x", "", ""]), row(["y", "bcd", "中文"])];
        let lines = Page::new(usize::MAX, false).rows(&rows);
        assert_eq!(lines, ["中文  a    why", "x", "y     bcd  中文"]);
        let empty = [row(["a", "", "b"]), row(["c", "", "d"])];
        assert_eq!(Page::new(80, false).rows(&empty), ["a  b", "c  d"], "no column of nothing");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_page(text in "[a-z 中文é🙂]{0,99}", columns in 1usize..99) {
            prop_assert!(cut(&text, columns).width() <= columns);
        }
    }
}
