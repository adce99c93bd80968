//! The texts that the cells of a workbook share, end to end in one buffer.
//!
//! A million texts of twenty bytes cost twenty-four megabytes this way, not eighty.

use crate::error::Error;

/// The most bytes of all texts.
const BYTES: usize = 160 << 20;

/// Texts by number.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    /// Adds a text.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), Error> {
        self.text.push_str(text);
        if self.text.len() > BYTES {
            return Err(Error::TooMuch(format!(
                "more than {} MiB of shared texts; read it with `execute_code`",
                BYTES >> 20
            )));
        }
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Returns a text; nothing for a number that is not there.
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        let number = usize::try_from(number).ok()?;
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }
}

/// Undoes what the format writes for characters that XML cannot hold: `_x000D_` and the like.
pub(crate) fn unescaped(text: &str) -> String {
    if !text.contains("_x") {
        return text.to_owned();
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("_x") {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 2..at + 6).filter(|_| rest.as_bytes().get(at + 6) == Some(&b'_'));
        let letter = code
            .filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|code| u32::from_str_radix(code, 16).ok())
            .and_then(char::from_u32);
        if let Some(letter) = letter {
            out.push(letter);
            rest = &rest[at + 7..];
        } else {
            out.push_str("_x");
            rest = &rest[at + 2..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_number() {
        let mut strings = Strings::default();
        for text in ["潮", "", "tide"] {
            strings.push(text).unwrap();
        }
        let got: Vec<_> = (0..4).map(|number| strings.get(number)).collect();
        assert_eq!(got, [Some("潮"), Some(""), Some("tide"), None]);
    }

    #[test]
    fn escapes_of_the_format_are_undone() {
        let table = [
            ("a_x000D_b", "a\rb", "a carriage return"),
            ("_x005F_x000D_", "_x000D_", "an escaped escape"),
            ("_x00zz_ _x12", "_x00zz_ _x12", "no escape"),
            ("_xD800_", "_xD800_", "no character"),
            ("_x汉字", "_x汉字", "letters of several bytes"),
        ];
        for (text, want, why) in table {
            assert_eq!(unescaped(text), want, "{why}");
        }
    }
}
