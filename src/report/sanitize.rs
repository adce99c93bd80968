//! Foreign texts made harmless and short.
//!
//! A tool's result or a model's reply may hold escape sequences that move the cursor,
//! rewrite what stands above or speak to the terminal, and marks that turn text around.
//! None of them leaves this module: each shows as what it is.

use std::fmt::Write as _;

/// Returns the text with everything that a terminal could act on made visible: `␛` for
/// the escape character, `\u{202e}` for a mark of direction. Newlines and tabs stay, and a
/// carriage return before a newline is dropped.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => out.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            // The control pictures lie in the order of the controls.
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(letter))),
            '\u{7f}' => out.push('␡'),
            _ if letter.is_control() || is_mark(letter) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "{}", letter.escape_unicode());
            }
            _ => out.push(letter),
        }
    }
    out
}

/// Returns whether a character is invisible and turns text around or hides in it.
fn is_mark(letter: char) -> bool {
    matches!(letter,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Writes a text as the value of an XML attribute: on one line, see [`xml`].
pub(super) fn attribute(text: &str) -> String {
    xml(text).replace(['\n', '\r', '\t'], " ")
}

/// Writes a text for XML; characters that XML 1.0 has no place for (section 2.2) become
/// `U+FFFD`.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => out.push(letter),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// Returns the text on one line, at most `most` characters of it.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clip(&visible(&words.join(" ")), most)
}

/// Cuts a line to `most` characters and says how much is gone.
pub(super) fn clip(line: &str, most: usize) -> String {
    let length = line.chars().count();
    if length <= most {
        return line.to_owned();
    }
    let head: String = line.chars().take(most).collect();
    format!("{head} … {} more characters", super::figures::number(length - most))
}

/// Returns the visible lines of a text, at most `most` of them, each at most `wide`
/// characters, and a last line that says how many are gone.
pub(super) fn lines(text: &str, most: usize, wide: usize) -> Vec<String> {
    let text = visible(text.trim_end());
    let total = text.lines().count();
    let mut lines: Vec<String> = text.lines().take(most).map(|line| clip(line, wide)).collect();
    if total > most {
        let gone = total - most;
        let noun = if gone == 1 { "line" } else { "lines" };
        lines.push(format!("… {} more {noun}", super::figures::number(gone)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_could_act_on_becomes_visible() {
        let table = [
            ("plain\ttext\n", "plain\ttext\n", "untouched"),
            ("\u{1b}[2J\u{1b}]0;title\u{7}", "␛[2J␛]0;title␇", "escape sequences"),
            ("a\r\nb\rc", "a\nb␍c", "a lone carriage return would overwrite the line"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m␡", "controls of eight bits"),
            ("user\u{202e}txt.exe", "user\\u{202e}txt.exe", "text turned around"),
            ("中文 é 🙂", "中文 é 🙂", "scripts stay"),
        ];
        for (given, want, why) in table {
            assert_eq!(visible(given), want, "{why}");
        }
    }

    #[test]
    fn cuts_say_how_much_is_gone() {
        assert_eq!(clip("中文字", 2), "中文 … 1 more characters");
        assert_eq!(lines("a\nb\nc\n\n", 2, 9), ["a", "b", "… 1 more line"]);
        assert_eq!(one_line(" a\n  b\u{1b}c ", 9), "a b␛c");
    }

    proptest! {
        #[test]
        fn no_control_is_left(text in any::<String>()) {
            let out = visible(&text);
            prop_assert!(out.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
        }
    }
}
