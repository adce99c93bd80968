//! Texts that fit: cut and broken by the columns that they take.
//!
//! Boxes are set in a font of fixed width, in which a Chinese character takes two columns;
//! whatever is wider in fact is cut off by its box.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::report::sanitize::visible;

/// Bytes of a foreign text that are looked at before it is cut: a line needs no more.
const LOOKED_AT: usize = 8 << 10;

/// Returns the first part of a text, whole characters.
pub(super) fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Returns the text on one line of at most `columns`, with `…` where something is gone.
pub(super) fn line(text: &str, columns: usize) -> String {
    let looked = head(text, LOOKED_AT);
    let words: Vec<&str> = looked.split_whitespace().collect();
    let whole = visible(&words.join(" "));
    if looked.len() == text.len() && whole.width() <= columns {
        return whole;
    }
    fitting(&whole, columns.saturating_sub(1)) + "…"
}

/// Returns as many whole characters as fit into `columns`.
fn fitting(text: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used <= columns
    };
    text.chars().take_while(fits).collect()
}

/// Breaks a text into at most `most` lines of at most `columns`, at spaces where there are
/// some; the last one ends in `…` where something is gone.
pub(super) fn wrapped(text: &str, columns: usize, most: usize) -> Vec<String> {
    let looked = head(text, LOOKED_AT);
    let mut lines: Vec<String> = Vec::new();
    let mut now = String::new();
    for word in visible(looked).split_whitespace() {
        for piece in pieces(word, columns) {
            let joined = if now.is_empty() { 0 } else { now.width() + 1 } + piece.width();
            if joined > columns {
                lines.push(std::mem::take(&mut now));
            } else if !now.is_empty() {
                now.push(' ');
            }
            now.push_str(&piece);
        }
        if lines.len() > most {
            break;
        }
    }
    if !now.is_empty() {
        lines.push(now);
    }
    let is_cut = lines.len() > most || looked.len() < text.len();
    lines.truncate(most);
    if let Some(last) = lines.last_mut().filter(|_| is_cut) {
        *last = fitting(last, columns.saturating_sub(1)) + "…";
    }
    lines
}

/// Breaks a word that is wider than a line.
fn pieces(word: &str, columns: usize) -> Vec<String> {
    let (mut all, mut rest) = (Vec::new(), word);
    while rest.width() > columns {
        let piece = fitting(rest, columns);
        // A single character that is wider than the line has a line of its own.
        let taken = piece.len().max(rest.chars().next().map_or(1, char::len_utf8));
        all.push(rest[..taken].to_owned());
        rest = &rest[taken..];
    }
    all.push(rest.to_owned());
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_cut_and_broken_by_their_width() {
        assert_eq!(line("a\n  b\u{1b}c", 9), "a b␛c");
        assert_eq!(line("中文字符", 5), "中文…", "a Chinese character takes two columns");
        assert_eq!(line(&"x".repeat(1 << 20), 4), "xxx…", "however long");
        assert_eq!(wrapped("one two three four", 9, 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("one two three four", 9, 2), ["one two", "three…"]);
        assert_eq!(wrapped("abcdefghij", 4, 9), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("", 9, 3), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_asked_for(text in any::<String>(), columns in 2_usize..40) {
            prop_assert!(line(&text, columns).width() <= columns);
            for line in wrapped(&text, columns, 5) {
                prop_assert!(line.width() <= columns, "{line}");
            }
        }
    }
}
