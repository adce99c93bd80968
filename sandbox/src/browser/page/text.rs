//! Texts of pages as they are told: cut to a length, or folded into one line.

/// Cuts a text after `most` characters, and says so by `…`.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// Folds a text of a page into one line for the places where it stands among words that
/// are not the page's: white space becomes single spaces, and what cannot be seen (control
/// characters, and those that turn the direction of a text) goes.
pub(in crate::browser) fn fold(text: &str) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().filter(|letter| !unseen(*letter)).collect())
        .filter(|word: &String| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Folds a text, and escapes what would end it between backticks.
pub(super) fn quoted(text: &str) -> String {
    fold(text).replace('\\', "\\\\").replace('`', "\\`")
}

fn unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{cut, fold, quoted};

    #[test]
    fn texts_of_pages_stay_in_their_line() {
        let table = [
            ("a  b", "a b", "spaces"),
            ("a\nnote: b\r\n\tc", "a note: b c", "lines"),
            ("a\u{2028}b\u{85}c", "a b c", "other ends of lines"),
            ("\u{1b}[31mred\u{0}", "[31mred", "control characters"),
            ("a\u{202e}b\u{2066}c \u{200f} d", "abc d", "directions"),
            ("日本 ‘x’ 👩\u{200d}🚀", "日本 ‘x’ 👩\u{200d}🚀", "letters stay"),
        ];
        for (text, want, why) in table {
            assert_eq!(fold(text), want, "{why}");
        }
        assert_eq!(quoted("ok`; downloaded `x` \\"), r"ok\`; downloaded \`x\` \\");
    }

    #[test]
    fn cuts_fall_between_letters() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("日本語", 2), "日本…");
        assert_eq!(cut("", 0), "");
    }
}
