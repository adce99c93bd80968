//! Places in a sheet: letters of columns, addresses of cells, rectangles.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Rows of the largest sheet that the spreadsheet program knows.
pub(crate) const ROWS: u32 = 1 << 20;

/// Columns of the largest sheet that the spreadsheet program knows.
pub(crate) const COLUMNS: u32 = 1 << 14;

/// A rectangle of cells; rows and columns count from 0, both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// First row.
    pub top: u32,
    /// First column.
    pub left: u32,
    /// Last row.
    pub bottom: u32,
    /// Last column.
    pub right: u32,
}

impl Area {
    /// Reads `A1:D50`, `B7`, `A:C` or `5:20`, with or without `$`; ends in any order.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().replace('$', "");
        let (first, second) = text.split_once(':').unwrap_or((&text, &text));
        let ((top, left), (bottom, right)) = (corner(first.trim())?, corner(second.trim())?);
        let single = !text.contains(':');
        if single && (top.is_none() || left.is_none()) {
            return None;
        }
        let (tops, lefts) = ((top, bottom), (left, right));
        let (top, bottom) = ends(tops, ROWS)?;
        let (left, right) = ends(lefts, COLUMNS)?;
        Some(Self { top, left, bottom, right })
    }

    /// Whether a row may hold cells of it.
    pub(crate) fn has_row(&self, row: u32) -> bool {
        (self.top..=self.bottom).contains(&row)
    }

    /// Whether a column may hold cells of it.
    pub(crate) fn has_column(&self, column: u32) -> bool {
        (self.left..=self.right).contains(&column)
    }

    /// Whether both share a cell.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.top <= other.bottom
            && other.top <= self.bottom
            && self.left <= other.right
            && other.left <= self.right
    }
}

/// Orders the two ends of a side; where neither is given, the side is whole.
fn ends(pair: (Option<u32>, Option<u32>), count: u32) -> Option<(u32, u32)> {
    match pair {
        (Some(one), Some(other)) => Some((one.min(other), one.max(other))),
        (None, None) => Some((0, count - 1)),
        (Some(_), None) | (None, Some(_)) => None,
    }
}

impl fmt::Display for Area {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { top, left, bottom, right } = *self;
        let rows = (u64::from(top) + 1, u64::from(bottom) + 1);
        if top == bottom && left == right {
            write!(out, "{}", address(top, left))
        } else if top == 0 && bottom >= ROWS - 1 {
            write!(out, "{}:{}", letters(left), letters(right))
        } else if left == 0 && right >= COLUMNS - 1 {
            write!(out, "{}:{}", rows.0, rows.1)
        } else {
            write!(out, "{}:{}", address(top, left), address(bottom, right))
        }
    }
}

/// Reads letters, digits or both: row and column from 0.
fn corner(text: &str) -> Option<(Option<u32>, Option<u32>)> {
    let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
    let (letters, digits) = text.split_at(digits);
    let row = match digits {
        "" => None,
        digits => Some(digits.parse::<u32>().ok()?.checked_sub(1)?),
    };
    let column = match letters {
        "" => None,
        letters => Some(column(letters)?),
    };
    (row.is_some() || column.is_some()).then_some((row, column))
}

/// Reads the letters of a column, of either case.
pub(crate) fn column(letters: &str) -> Option<u32> {
    if letters.is_empty() || letters.len() > 6 || !letters.bytes().all(|b| b.is_ascii_alphabetic())
    {
        return None;
    }
    let count = letters
        .bytes()
        .fold(0, |sum, letter| sum * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    Some(count - 1)
}

/// Reads the address of a cell, such as `B7`: row and column from 0.
pub(crate) fn cell(text: &str) -> Option<(u32, u32)> {
    let bytes = text.as_bytes();
    let (mut at, mut across) = (0, 0_u32);
    while let Some(letter) = bytes.get(at).filter(|b| b.is_ascii_alphabetic()) {
        across = across * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1;
        at += 1;
        if at > 6 {
            return None;
        }
    }
    let mut down = 0_u32;
    for digit in &bytes[at..] {
        let digit = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
        down = down.checked_mul(10)?.checked_add(digit)?;
    }
    Some((down.checked_sub(1)?, across.checked_sub(1)?))
}

/// Returns the letters of a column, counted from 0: `A`, …, `Z`, `AA`, ….
pub(crate) fn letters(column: u32) -> String {
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
pub(crate) fn address(row: u32, column: u32) -> String {
    format!("{}{}", letters(column), u64::from(row) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_letters() {
        let table = [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16383, "XFD")];
        for (number, want) in table {
            assert_eq!(letters(number), want);
            assert_eq!(column(want), Some(number));
        }
        assert_eq!(letters(u32::MAX).len(), 7, "no number overflows");
        assert_eq!(address(6, 1), "B7");
        assert_eq!(cell("B7"), Some((6, 1)));
        for bad in ["", "7", "B", "B0", "B7x", "ABCDEFG1", "B99999999999"] {
            assert_eq!(cell(bad), None, "{bad}");
        }
    }

    #[test]
    fn ranges_in_every_spelling() {
        let table = [
            ("A1:D50", Some("A1:D50"), "a rectangle"),
            ("d50:a1", Some("A1:D50"), "from the other end, in small letters"),
            ("$B$7", Some("B7"), "a cell, anchored"),
            ("A:C", Some("A:C"), "whole columns"),
            ("5:20", Some("5:20"), "whole rows"),
            ("A", None, "a column needs both ends"),
            ("A1:C", None, "half a rectangle"),
            ("A0", None, "no such row"),
            ("", None, "nothing"),
            ("total", None, "a word"),
            ("A1:B2:C3", None, "two colons"),
        ];
        for (text, want, why) in table {
            let got = Area::parse(text).map(|area| area.to_string());
            assert_eq!(got.as_deref(), want, "{text}: {why}");
        }
    }
}
