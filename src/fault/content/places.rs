//! The places of a text at which it can be changed without breaking its form.
//!
//! In JSON these are the insides of text values, numbers, `true` and `false`: never field
//! names, never escapes. In any other text it is the whole. URLs are left out everywhere: a
//! changed address is another fault than a changed fact.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::document;

/// An address, up to what ends one in prose, Markdown or HTML.
static URL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?:https?|ftp)://[^\s"'<>)\]}]+"#).ok());

/// A part of a text in which things may be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Its bytes.
    pub(super) range: Range<usize>,
    /// Whether it is a bare token of JSON: a number, `true` or `false`.
    pub(super) bare: bool,
}

/// A change of some bytes.
pub(super) type Edit = (Range<usize>, String);

/// Returns the places of a text, in order.
pub(super) fn places(text: &str) -> Vec<Place> {
    let all = if document(text).is_some() {
        tokens(text)
    } else {
        vec![Place { range: 0..text.len(), bare: false }]
    };
    let urls: Vec<Range<usize>> = URL
        .as_ref()
        .map(|url| url.find_iter(text).map(|found| found.range()).collect())
        .unwrap_or_default();
    all.into_iter().flat_map(|place| without(place, &urls)).collect()
}

/// Cuts ranges out of a place.
fn without(place: Place, urls: &[Range<usize>]) -> Vec<Place> {
    let Place { range, bare } = place;
    let mut left = Vec::new();
    let mut start = range.start;
    for url in urls.iter().filter(|url| url.start < range.end && url.end > range.start) {
        if url.start > start {
            left.push(Place { range: start..url.start, bare });
        }
        start = start.max(url.end);
    }
    if start < range.end {
        left.push(Place { range: start..range.end, bare });
    }
    left
}

/// Returns the places of a text that is known to be JSON.
fn tokens(text: &str) -> Vec<Place> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        if *byte == b'"' {
            while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            let inside = start + 1..at.min(bytes.len());
            at += 1;
            let rest = bytes.get(at..).unwrap_or_default();
            let is_name = rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
            if !is_name {
                found.extend(unescaped(text, inside));
            }
        } else if byte.is_ascii_alphanumeric() || *byte == b'-' {
            let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            while bytes.get(at).is_some_and(word) {
                at += 1;
            }
            if &text[start..at] != "null" {
                found.push(Place { range: start..at, bare: true });
            }
        }
    }
    found
}

/// Splits the inside of a JSON text at its escapes.
fn unescaped(text: &str, inside: Range<usize>) -> Vec<Place> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let (mut start, mut at) = (inside.start, inside.start);
    while at < inside.end {
        if bytes[at] == b'\\' {
            if at > start {
                parts.push(Place { range: start..at, bare: false });
            }
            at += if bytes.get(at + 1) == Some(&b'u') { 6 } else { 2 };
            start = at;
        } else {
            at += 1;
        }
    }
    if inside.end > start {
        parts.push(Place { range: start..inside.end, bare: false });
    }
    parts
}

/// Makes changes, which are in order and do not overlap.
pub(super) fn edited(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len() + edits.len());
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(new);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<&str> {
        places(text).into_iter().map(|place| &text[place.range]).collect()
    }

    #[test]
    fn names_and_escapes_and_addresses_are_no_places() {
        let table: [(&str, &[&str], &str); 6] = [
            ("plain words", &["plain words"], "a text is one place"),
            (r#"{"name": "Ida", "age": 41}"#, &["Ida", "41"], "values, not field names"),
            (r#"["a\nbc", "\u00e9t\u00e9", ""]"#, &["a", "bc", "t"], "no escape is cut"),
            (r#"{"a" : {"b":[true,null,-1.5e3]}}"#, &["true", "-1.5e3"], "bare tokens, no null"),
            ("see https://a.example/1 (2)", &["see ", " (2)"], "no address"),
            (r#"{"u":"http://a.example/7"}"#, &[], "no address in JSON either"),
        ];
        for (text, want, why) in table {
            assert_eq!(of(text), want, "{why}");
        }
    }
}
