//! Tokens of RTF (Rich Text Format specification 1.9.1, "RTF Syntax").

/// A piece of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// `\name` with its number, if it has one.
    Word(&'a str, Option<i32>),
    /// `\` and a sign.
    Sign(u8),
    /// A byte of text, as it stands or as `\'hh`.
    Byte(u8),
}

/// The longest name of a control word.
const NAME: usize = 32;

/// Cuts a file into tokens. Binary data is left out.
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn word(&mut self) -> Token<'a> {
        let begin = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) && self.at - begin < NAME {
            self.at += 1;
        }
        let name = std::str::from_utf8(&self.bytes[begin..self.at]).unwrap_or_default();
        let digits = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) && self.at - digits < 11 {
            self.at += 1;
        }
        let number = std::str::from_utf8(&self.bytes[digits..self.at]).unwrap_or_default();
        if number == "-" {
            self.at = digits;
        }
        if self.peek() == Some(b' ') {
            self.at += 1;
        }
        let number = number.parse().ok();
        if name == "bin" {
            let length = number.and_then(|it: i32| usize::try_from(it).ok()).unwrap_or(0);
            self.at = self.at.saturating_add(length).min(self.bytes.len());
        }
        Token::Word(name, number)
    }

    fn hexadecimal(&mut self) -> Token<'a> {
        let digit = |at: usize| char::from(*self.bytes.get(at)?).to_digit(16);
        let value = digit(self.at).zip(digit(self.at + 1)).map(|(high, low)| high * 16 + low);
        match value.and_then(|value| u8::try_from(value).ok()) {
            Some(value) => {
                self.at += 2;
                Token::Byte(value)
            }
            None => Token::Sign(b'\''),
        }
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let byte = self.peek()?;
            self.at += 1;
            return Some(match byte {
                b'{' => Token::Open,
                b'}' => Token::Close,
                b'\r' | b'\n' | 0 => continue,
                b'\\' => match self.peek() {
                    Some(next) if next.is_ascii_alphabetic() => self.word(),
                    Some(b'\'') => {
                        self.at += 1;
                        self.hexadecimal()
                    }
                    Some(next) => {
                        self.at += 1;
                        Token::Sign(next)
                    }
                    None => return None,
                },
                byte => Token::Byte(byte),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_of_a_text() {
        let tokens: Vec<_> = Lexer::new(b"{\\b1 a\\'e9\\~\\u-10179?\\bin2 {{x").collect();
        let want = [
            Token::Open,
            Token::Word("b", Some(1)),
            Token::Byte(b'a'),
            Token::Byte(0xe9),
            Token::Sign(b'~'),
            Token::Word("u", Some(-10179)),
            Token::Byte(b'?'),
            Token::Word("bin", Some(2)),
            Token::Byte(b'x'),
        ];
        assert_eq!(tokens, want);
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Lexer::new(&bytes).count() <= bytes.len());
        }
    }
}
