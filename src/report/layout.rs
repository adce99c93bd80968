//! How texts are set on a page: columns, cuts, and lines of parts.
//!
//! Widths are columns of a terminal, not characters: a Chinese character takes two. A
//! line that this module cuts ends in `…` and is no wider than the page. It neutralises
//! nothing: what comes in was made harmless before.

use std::fmt::Write as _;

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

    /// Returns the columns of the page.
    pub(super) fn width(self) -> usize {
        self.width
    }

    /// Cuts a line to the page.
    pub(super) fn line(self, text: &str) -> String {
        cut(text.trim_end(), self.width)
    }

    /// Sets rows into columns, each as wide as its widest cell and set to the left, and
    /// cuts each line to the page: what may be cut belongs into the last column. A cell of
    /// more than half a page moves what stands behind it in its own line only.
    pub(super) fn rows(self, rows: &[Vec<String>]) -> Vec<String> {
        let widths: Vec<usize> =
            widths(rows).into_iter().map(|width| width.min(self.width / 2)).collect();
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

    /// Sets rows of a name and figures into columns, the figures to the right. A name that
    /// leaves no room for its figures has a line of its own above them.
    pub(super) fn table(self, rows: &[Vec<String>]) -> Vec<String> {
        let widths = widths(rows);
        let figures: usize = widths.iter().skip(1).map(|width| width + 2).sum();
        let room = self.width.saturating_sub(figures);
        let names = rows.iter().filter_map(|row| row.first()).map(|name| name.width());
        let first = names.filter(|width| *width <= room).max().unwrap_or(0);
        let mut lines = Vec::new();
        for row in rows {
            let mut line = String::new();
            for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if index > 0 {
                    let rest = width.saturating_sub(cell.width()) + 2;
                    let _ = write!(line, "{:rest$}{cell}", "");
                } else if cell.width() > room {
                    lines.push(cell.clone());
                    line = " ".repeat(first);
                } else {
                    let rest = first - cell.width();
                    let _ = write!(line, "{cell}{:rest$}", "");
                }
            }
            lines.push(line);
        }
        lines
    }

    /// Writes a name and its parts, on as many lines as they need. A part that is wider
    /// than a line is broken at its spaces.
    pub(super) fn entry(self, name: &str, parts: &[String]) -> String {
        let mut out = format!("{name:<MARGIN$}");
        let mut used = MARGIN;
        for (index, part) in parts.iter().enumerate() {
            if index > 0 && used + 3 + part.width() > self.width {
                let _ = write!(out, "\n{:MARGIN$}", "");
                used = MARGIN;
            } else if index > 0 {
                out.push_str(" · ");
                used += 3;
            }
            for (index, line) in wrapped(part, self.width - MARGIN).iter().enumerate() {
                if index > 0 {
                    let _ = write!(out, "\n{:MARGIN$}", "");
                    used = MARGIN;
                }
                out.push_str(line);
                used += line.width();
            }
        }
        out.push('\n');
        out
    }

    /// Writes a sentence below a table, broken at its spaces where it is wider than a line.
    pub(super) fn note(self, text: &str) -> String {
        wrapped(text, self.width).join("\n") + "\n"
    }
}

/// Breaks a text at its spaces into lines of at most `columns`; a word that is wider has a
/// line of its own. A text that fits stays as it is.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    if text.width() <= columns {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns the width of the widest cell of each column.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    (0..count).map(|column| cells(column).map(|cell| cell.width()).max().unwrap_or(0)).collect()
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
    // A word that stayed whole is told from one that is cut.
    let gap = if out.ends_with(' ') { " " } else { "" };
    format!("{}{gap}…", out.trim_end())
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
            ("two words", 5, "two …", "a whole word stays apart from the mark"),
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

    #[test]
    fn a_long_name_stands_above_its_figures() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let long = "variant ideal-hidden-information+tool-discovery+distractors";
        let rows =
            [row(["", "tasks", "passed"]), row([long, "1", "2/3"]), row(["all", "12", "2/3"])];
        let lines = Page::new(60, false).table(&rows);
        let want = ["     tasks  passed", long, "         1     2/3", "all     12     2/3"];
        assert_eq!(lines, want);
        let wide = Page::new(usize::MAX, false).table(&rows);
        assert_eq!(wide.len(), 3, "there is room: {wide:?}");
    }

    #[test]
    fn long_texts_are_broken_at_spaces() {
        let page = Page::new(60, false);
        let text = "word ".repeat(28);
        let parts = ["short".to_owned(), text.trim_end().to_owned(), "end".to_owned()];
        let out = page.entry("name", &parts);
        assert_eq!(out.matches("word").count(), 28, "{out}");
        assert!(out.starts_with("name      short\n          word word"), "{out}");
        assert!(out.ends_with(" · end\n"), "{out}");
        assert!(
            page.note(&text).lines().chain(out.lines()).all(|line| line.width() <= 60),
            "{out}"
        );
        assert_eq!(Page::new(usize::MAX, false).note("a  b"), "a  b\n");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_page(text in "[a-z 中文é🙂]{0,99}", columns in 1usize..99) {
            prop_assert!(cut(&text, columns).width() <= columns);
        }
    }
}
