//! JSON and JSON lines.
//!
//! The text stays as it is: numbers, order and doubled keys included. Only a JSON in a
//! single long line is broken into lines, by adding white space.

use serde::de::IgnoredAny;

use super::Document;

/// A line longer than this is broken, in bytes.
const LONG: usize = 2000;

/// The most bad lines that a note names.
const NAMED: usize = 8;

/// Levels beyond which white space would outgrow the text.
const LEVELS: usize = 40;

/// Whether the text is an object or array and nothing else.
pub(super) fn is_whole(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether a text is JSON lines: at least two, each an object or array.
pub(super) fn are_lines(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    text.starts_with(['{', '[']) && lines.clone().count() > 1 && lines.all(is_whole)
}

/// Reads a JSON; one that is not valid is shown as it is, and what turns out to be JSON
/// lines is read as such.
pub(super) fn read(text: String) -> Document {
    if are_lines(text.trim_start()) {
        return read_lines(text);
    }
    let mut notes = Vec::new();
    let text = match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) if text.lines().any(|line| line.len() > LONG) => spread(&text),
        Ok(_) => text,
        Err(error) => {
            notes.push(format!("not valid JSON ({error}); shown as it is"));
            text
        }
    };
    Document { kind: "JSON".into(), text, notes }
}

/// Reads JSON lines; all lines are shown, bad ones named.
pub(super) fn read_lines(text: String) -> Document {
    let lines = || (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let bad: Vec<u64> = lines()
        .filter(|(_, line)| serde_json::from_str::<IgnoredAny>(line).is_err())
        .map(|(number, _)| number)
        .collect();
    let mut notes = vec![format!("{} lines", lines().count())];
    if !bad.is_empty() {
        let names: Vec<String> = bad.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if bad.len() > NAMED { ", …" } else { "" };
        notes.push(format!("{} lines are not valid JSON: {}{more}", bad.len(), names.join(", ")));
    }
    Document { kind: "JSON lines".into(), text, notes }
}

/// Adds line breaks and indentation to a valid JSON and changes nothing else.
fn spread(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let (mut level, mut quoted, mut escaped) = (0_usize, false, false);
    let mut opened = false;
    for letter in text.chars() {
        if quoted {
            out.push(letter);
            quoted = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
            continue;
        }
        let closing = matches!(letter, '}' | ']');
        if opened && !closing && !letter.is_whitespace() {
            level += 1;
            line(&mut out, level);
        }
        match letter {
            letter if letter.is_whitespace() => continue,
            '"' => {
                quoted = true;
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                line(&mut out, level);
            }
            ':' => out.push_str(": "),
            '}' | ']' => {
                if !opened {
                    level = level.saturating_sub(1);
                    line(&mut out, level);
                }
                out.push(letter);
            }
            other => out.push(other),
        }
        opened = matches!(letter, '{' | '[');
    }
    out
}

fn line(out: &mut String, level: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level.min(LEVELS)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_spread_text_keeps_what_a_parser_would_lose() {
        let text = r#"{"a":[1.0e5,123456789012345678901,{}],"a":[],"s":"x\",{y"}"#;
        let want = "{\n  \"a\": [\n    1.0e5,\n    123456789012345678901,\n    {}\n  ],\n  \
                    \"a\": [],\n  \"s\": \"x\\\",{y\"\n}";
        assert_eq!(spread(text), want);
    }

    #[test]
    fn all_lines_are_read_and_bad_ones_named() {
        let document = read_lines("{\"a\":1}\n\n{\"a\":\n{\"a\":3}\n".into());
        assert_eq!(document.notes, ["3 lines", "1 lines are not valid JSON: 3"]);
        assert!(document.text.contains("{\"a\":3}"), "what follows a bad line stays");
        let lines = read("{\"a\":1}\n{\"a\":2}\n".into());
        assert_eq!((lines.kind.as_str(), lines.notes.len()), ("JSON lines", 1), "named a JSON");
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[\\PC\"\\\\{}\\[\\],:]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((".{0,3}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_spread_text_means_the_same(value in json()) {
            let spread = spread(&value.to_string());
            prop_assert_eq!(serde_json::from_str::<Value>(&spread).unwrap(), value);
        }
    }
}
