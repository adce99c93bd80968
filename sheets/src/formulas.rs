//! Formulas: moved from cell to cell as a spreadsheet program fills them, and listed
//! once for each range that one formula was filled into.

use std::collections::BTreeMap;

use crate::model::Formula;
use crate::place::{Area, address, column, letters};

/// The most ranges that are kept.
const KEPT: usize = 3_000;

/// The most cells whose values were never calculated that are named.
const NAMED: usize = 20;

/// The formulas of a sheet as they arrive, by rows.
#[derive(Debug, Default)]
pub(crate) struct Formulas {
    /// Of each column the range that may go on: first row, last row, text of first and last.
    open: BTreeMap<u32, Run>,
    closed: Vec<(Area, String)>,
    /// Formulas that fill a range as one.
    arrays: Vec<Formula>,
    more: u64,
    /// Cells whose values were never calculated: the first, and how many.
    uncalculated: (Vec<String>, u64),
}

#[derive(Debug)]
struct Run {
    top: u32,
    bottom: u32,
    first: String,
    last: String,
}

impl Formulas {
    /// Adds the formula of a cell, without `=`.
    pub(crate) fn add(&mut self, row: u32, column: u32, text: String) {
        if let Some(run) = self.open.get_mut(&column) {
            if run.bottom.checked_add(1) == Some(row) && shifted(&run.last, 1, 0) == text {
                run.bottom = row;
                run.last = text;
                return;
            }
            if let Some(run) = self.open.remove(&column) {
                self.close(column, run);
            }
        }
        let run = Run { top: row, bottom: row, first: text.clone(), last: text };
        self.open.insert(column, run);
    }

    /// Adds a formula that fills a range as one.
    pub(crate) fn add_array(&mut self, range: &str, text: &str) {
        if self.arrays.len() >= KEPT {
            self.more += 1;
            return;
        }
        self.arrays.push(Formula { cell: range.to_owned(), text: format!("{{={text}}}") });
    }

    /// Notes that the cell of a formula holds no value.
    pub(crate) fn add_uncalculated(&mut self, row: u32, column: u32) {
        self.uncalculated.1 += 1;
        if self.uncalculated.0.len() < NAMED {
            self.uncalculated.0.push(address(row, column));
        }
    }

    fn close(&mut self, column: u32, run: Run) {
        if self.closed.len() >= KEPT {
            self.more += 1;
            return;
        }
        let area = Area { top: run.top, left: column, bottom: run.bottom, right: column };
        self.closed.push((area, run.first));
    }

    /// Returns the formulas by rows, and what a reader should know about them.
    pub(crate) fn finish(mut self) -> (Vec<Formula>, Vec<String>) {
        for (column, run) in std::mem::take(&mut self.open) {
            self.close(column, run);
        }
        self.closed.sort_by_key(|(area, _)| (area.top, area.bottom, area.left));
        let mut joined: Vec<(Area, String, String)> = Vec::new();
        for (area, text) in self.closed {
            if let Some((other, _, last)) = joined.last_mut()
                && (other.top, other.bottom) == (area.top, area.bottom)
                && other.right.checked_add(1) == Some(area.left)
                && shifted(last, 0, 1) == text
            {
                other.right = area.right;
                *last = text;
            } else {
                joined.push((area, text.clone(), text));
            }
        }
        let mut notes = Vec::new();
        if self.more > 0 {
            notes.push(format!("{} more ranges with formulas are not listed", self.more));
        }
        let (named, count) = self.uncalculated;
        if count > 0 {
            let more = if count > named.len() as u64 { ", …" } else { "" };
            notes.push(format!(
                "formulas whose values were never calculated, so their cells look empty: {}{more}",
                named.join(", ")
            ));
        }
        let formulas = joined.into_iter().map(|(area, text, _)| Formula {
            cell: area.to_string(),
            text: format!("={}", text.trim_start_matches('=')),
        });
        (formulas.chain(self.arrays).collect(), notes)
    }
}

/// Moves a formula down and to the right: references move along, save where `$` holds them.
/// Texts and names of sheets stay as they are.
pub(crate) fn shifted(text: &str, down: i64, right: i64) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    let mut rest = text;
    // Whether the last character could belong to a longer name.
    let mut inside = false;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' | '\'' => quoted(rest, first),
            '[' => bracketed(rest),
            _ => 0,
        };
        if end > 0 {
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            inside = false;
            continue;
        }
        let word = word(rest);
        if word == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            inside = false;
            continue;
        }
        if let Some((end, moved)) = band(rest, down, right).filter(|_| !inside) {
            out.push_str(&moved);
            rest = &rest[end..];
            inside = true;
            continue;
        }
        let (name, after) = rest.split_at(word);
        let called = after.starts_with(['(', '!']);
        match reference(name).filter(|_| !called && !inside) {
            Some(parts) => parts.push_shifted(&mut out, down, right),
            None => out.push_str(name),
        }
        rest = after;
        inside = true;
    }
    out
}

/// Returns the length of a quoted text; doubled quotes belong to it.
fn quoted(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// Returns the length of what stands in brackets, which may nest.
fn bracketed(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Returns the length of the word that a text begins with: letters, digits, `$`, `_`, `.`.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '$' | '_' | '.')).unwrap_or(text.len())
}

/// A reference: column and row, each with whether `$` holds it.
#[derive(Debug)]
struct Reference<'a> {
    column: (bool, &'a str),
    row: (bool, u32),
}

/// Reads a reference to a cell.
fn reference(word: &str) -> Option<Reference<'_>> {
    let (held_column, rest) = strip(word);
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (letters, rest) = rest.split_at(end);
    let (held_row, digits) = strip(rest);
    let fits = (1..=3).contains(&letters.len()) && is_row(digits);
    let row = digits.parse().ok().filter(|row| fits && *row > 0)?;
    Some(Reference { column: (held_column, letters), row: (held_row, row) })
}

fn is_row(text: &str) -> bool {
    (1..=7).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_column(text: &str) -> bool {
    (1..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphabetic())
}

fn strip(text: &str) -> (bool, &str) {
    text.strip_prefix('$').map_or((false, text), |rest| (true, rest))
}

/// Reads whole columns or rows, such as `A:C` or `$1:2`: returns their length and what
/// they become.
fn band(text: &str, down: i64, right: i64) -> Option<(usize, String)> {
    let first = &text[..word(text)];
    let rest = text[first.len()..].strip_prefix(':')?;
    let second = &rest[..word(rest)];
    let ends = [strip(first), strip(second)];
    let moved = |(held, name): (bool, &str)| {
        let name = if is_column(name) {
            across(held, name, right)
        } else {
            below(held, name.parse().ok()?, down)
        };
        Some(format!("{}{name}", if held { "$" } else { "" }))
    };
    let alike =
        ends.iter().all(|(_, name)| is_column(name)) || ends.iter().all(|(_, name)| is_row(name));
    let end = first.len() + 1 + second.len();
    let called = text[end..].starts_with(['(', '!']);
    (alike && !called).then(|| Some((end, format!("{}:{}", moved(ends[0])?, moved(ends[1])?))))?
}

/// Returns the letters of a column further right.
fn across(held: bool, name: &str, right: i64) -> String {
    if held || right == 0 {
        return name.to_owned();
    }
    let moved = column(name).and_then(|column| u32::try_from(i64::from(column) + right).ok());
    moved.map_or_else(|| "#REF!".to_owned(), letters)
}

/// Returns the number of a row further down.
fn below(held: bool, row: u32, down: i64) -> String {
    (i64::from(row) + if held { 0 } else { down }).to_string()
}

impl Reference<'_> {
    fn push_shifted(&self, out: &mut String, down: i64, right: i64) {
        let ((held_column, name), (held_row, row)) = (self.column, self.row);
        out.push_str(if held_column { "$" } else { "" });
        out.push_str(&across(held_column, name, right));
        out.push_str(if held_row { "$" } else { "" });
        out.push_str(&below(held_row, row, down));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_move_and_nothing_else() {
        let table = [
            ("A1+$B$2", 1, 1, "B2+$B$2", "held and free"),
            ("SUM(B$2:B9)", 3, 1, "SUM(C$2:C12)", "a row that is held"),
            ("\"A1\"&A1", 1, 0, "\"A1\"&A2", "a text"),
            ("'Tab A1'!A1", 1, 0, "'Tab A1'!A2", "the name of a sheet"),
            ("AB1!C3", 1, 0, "AB1!C4", "the same without quotes"),
            ("LOG10(A1)", 1, 0, "LOG10(A2)", "a function"),
            ("Table1[[#This Row],[A1]]", 1, 0, "Table1[[#This Row],[A1]]", "a column of a table"),
            ("rate_A1*A1", 1, 0, "rate_A1*A2", "a name"),
            ("1.5E10+A1", 1, 0, "1.5E10+A2", "a number"),
            ("\"it\"\"s A1\"", 1, 0, "\"it\"\"s A1\"", "doubled quotes"),
            ("Z9", 0, 1, "AA9", "over the last letter"),
            ("SUM(A:$C)+SUM(1:$2)", 1, 1, "SUM(B:$C)+SUM(2:$2)", "whole columns and rows"),
            ("汉A1", 1, 0, "汉A1", "a name in another script"),
        ];
        for (text, down, right, want, why) in table {
            assert_eq!(shifted(text, down, right), want, "{text}: {why}");
        }
    }

    #[test]
    fn what_was_filled_is_listed_once() {
        let mut formulas = Formulas::default();
        for row in 1..9 {
            formulas.add(row, 2, format!("A{0}*B{0}", row + 1));
        }
        for (column, name) in [(0, "A"), (1, "B"), (2, "C")] {
            formulas.add(9, column, format!("SUM({name}2:{name}9)"));
        }
        formulas.add(20, 0, "NOW()".into());
        formulas.add_uncalculated(20, 0);
        let (got, notes) = formulas.finish();
        let got: Vec<String> = got.iter().map(|it| format!("{} {}", it.cell, it.text)).collect();
        assert_eq!(got, ["C2:C9 =A2*B2", "A10:C10 =SUM(A2:A9)", "A21 =NOW()"]);
        assert!(notes[0].ends_with("look empty: A21"), "{notes:?}");
    }
}
