//! Cuts SQL text into statements, so that a fault can say which one and on which line.
//!
//! Only as much of the language is known as is needed to find the `;` that ends a
//! statement: texts, names in quotes, comments, and that a trigger ends with `END;`.

/// One statement of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    /// Its text, without the `;` and the space around it.
    pub(super) text: &'t str,
    /// The line of the script on which it starts, from 1.
    pub(super) line: usize,
}

impl Piece<'_> {
    /// Returns the line of the script at a byte of the statement.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        // An offset inside a character counts as that character's start.
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        self.line + self.text[..offset].matches('\n').count()
    }

    /// Returns its first words for a message.
    pub(super) fn beginning(&self) -> String {
        let words: Vec<&str> = self.text.split_whitespace().take(8).collect();
        let mut text: String = words.join(" ").chars().take(60).collect();
        if text.len() < self.text.len() {
            text.push('…');
        }
        text
    }
}

/// Returns the statements of a script in order.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut start = None;
    let mut words: Vec<String> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(after) = skip_comment(bytes, at) {
            at = after;
            continue;
        }
        let byte = bytes[at];
        if byte == b';' && !inside_trigger(&words) {
            push(&mut found, text, start.take(), at);
            words.clear();
            at += 1;
            continue;
        }
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        start = start.or(Some(at));
        let after = token_end(bytes, at);
        remember(&mut words, &text[at..after]);
        at = after;
    }
    push(&mut found, text, start, bytes.len());
    found
}

fn push<'t>(found: &mut Vec<Piece<'t>>, text: &'t str, start: Option<usize>, end: usize) {
    if let Some(start) = start {
        let line = 1 + text[..start].matches('\n').count();
        found.push(Piece { text: text[start..end].trim_end(), line });
    }
}

/// Keeps the first three words, which say whether it is a trigger, and the last two, which
/// say whether it is over.
fn remember(words: &mut Vec<String>, word: &str) {
    if words.len() == 5 {
        words.remove(3);
    }
    words.push(word.to_ascii_lowercase());
}

fn inside_trigger(words: &[String]) -> bool {
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    let temporary = usize::from(["temp", "temporary"].contains(&word(1)));
    let is_trigger = word(0) == "create" && word(1 + temporary) == "trigger";
    let last_two = words.len().checked_sub(2).and_then(|from| words.get(from..));
    is_trigger && !last_two.is_some_and(|last| last[0] == ";" && last[1] == "end")
}

/// Returns where a comment that starts here ends.
fn skip_comment(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if rest.starts_with(b"--") {
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        return Some(at + length);
    }
    if rest.starts_with(b"/*") {
        let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
        return Some(end.map_or(bytes.len(), |end| at + end + 4));
    }
    None
}

/// Returns where the part that starts here ends: a quoted text or name, a word, one sign.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let close = match bytes[at] {
        b'\'' | b'"' | b'`' => bytes[at],
        b'[' => b']',
        byte if is_word(byte) => {
            let length = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
            return at + length;
        }
        _ => return at + 1,
    };
    bytes[at + 1..].iter().position(|byte| *byte == close).map_or(bytes.len(), |end| at + end + 2)
}

/// Bytes of other alphabets count as parts of words, so a text is never cut inside a
/// character.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A script, its statements with their lines, and what is special.
    type Case<'a> = (&'a str, &'a [(&'a str, usize)], &'a str);

    #[test]
    fn statements_end_where_the_database_ends_them() {
        let table: [Case<'_>; 8] = [
            ("", &[], "nothing"),
            (" -- only a comment;\n", &[], "a comment is no statement"),
            ("a;b", &[("a", 1), ("b", 1)], "the last needs no `;`"),
            ("a 'x;y' \"p;q\";\nb", &[("a 'x;y' \"p;q\"", 1), ("b", 2)], "quoted `;`"),
            ("a 'it''s; so';b", &[("a 'it''s; so'", 1), ("b", 1)], "a doubled quote"),
            ("/* x;\n */ a\n;\n;b", &[("a", 2), ("b", 4)], "a comment over lines; an empty one"),
            (
                "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT CASE WHEN 1 THEN 2 END; b; END;c",
                &[
                    (
                        "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT CASE WHEN 1 THEN 2 END; b; END",
                        1,
                    ),
                    ("c", 1),
                ],
                "a trigger ends with `; END;`",
            ),
            ("a '未;完';b", &[("a '未;完'", 1), ("b", 1)], "other alphabets"),
        ];
        for (text, want, why) in table {
            let got: Vec<_> = pieces(text).iter().map(|piece| (piece.text, piece.line)).collect();
            assert_eq!(got, want, "{why}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic_and_nothing_is_lost(text in "[ a-c'\"`;\\n/*\\[\\]-]{0,40}|\\PC{0,20}") {
            let kept: usize = pieces(&text).iter().map(|piece| piece.text.len()).sum();
            prop_assert!(kept <= text.len());
        }
    }
}
