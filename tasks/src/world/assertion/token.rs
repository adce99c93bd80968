//! Cuts the short form of an assertion into its smallest parts.

use super::parse::AssertionError;

/// A smallest part.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name or a word of the language.
    Word(String),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// A text in quotes.
    Text(String),
    /// A sign, such as `==`.
    Sign(&'static str),
}

impl Token {
    /// Writes it as in a message.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Whole(number) => format!("`{number}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Text(text) => format!("the text {text:?}"),
            Self::Sign(sign) => format!("`{sign}`"),
        }
    }
}

/// Longer signs first, so that `<=` is not read as `<`.
const SIGNS: [&str; 17] =
    ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ".", ",", "="];

/// Returns the parts, each with the number of its first character, from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, AssertionError> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&first) = chars.get(at) {
        if first.is_whitespace() {
            at += 1;
            continue;
        }
        let (token, length) =
            next(&chars[at..]).map_err(|problem| AssertionError { position: at + 1, problem })?;
        found.push((at + 1, token));
        at += length;
    }
    Ok(found)
}

fn next(chars: &[char]) -> Result<(Token, usize), String> {
    let first = chars.first().copied().unwrap_or(' ');
    if first == '"' || first == '\'' {
        return quoted(chars, first);
    }
    if first.is_ascii_digit() {
        return number(chars);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let word: String = chars.iter().copied().take_while(is_part).collect();
        let length = word.len();
        return Ok((Token::Word(word), length));
    }
    let start: String = chars.iter().take(2).collect();
    match SIGNS.iter().find(|sign| start.starts_with(**sign)) {
        Some(&"=") => Err("`=` is written `==`".to_owned()),
        Some(&sign) => Ok((Token::Sign(sign), sign.len())),
        None => Err(format!("{first:?} has no meaning here")),
    }
}

fn quoted(chars: &[char], quote: char) -> Result<(Token, usize), String> {
    let mut text = String::new();
    let mut at = 1;
    while let Some(&c) = chars.get(at) {
        if c == quote {
            return Ok((Token::Text(text), at + 1));
        }
        if c == '\\' {
            at += 1;
        }
        match chars.get(at) {
            Some(&c) => text.push(c),
            None => break,
        }
        at += 1;
    }
    Err(format!("the text has no closing {quote}"))
}

fn number(chars: &[char]) -> Result<(Token, usize), String> {
    let digits = |from: usize| chars[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut length = digits(0);
    let mut whole = true;
    if chars.get(length) == Some(&'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
        whole = false;
    }
    let written: String = chars[..length].iter().collect();
    if chars.get(length).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_') {
        return Err(format!("a letter follows the number `{written}`"));
    }
    let token = if whole {
        Token::Whole(written.parse().map_err(|_| format!("`{written}` is too large"))?)
    } else {
        Token::Number(written.parse().map_err(|_| format!("`{written}` is no number"))?)
    };
    Ok((token, length))
}
