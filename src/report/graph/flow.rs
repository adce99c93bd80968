//! Which value of an earlier result went into a later call.
//!
//! It is found by the values alone: an argument, or a word in one, that stood in a result of
//! an earlier round and that the agent had not been told before. The call whose result told
//! it first is where it came from; what merely repeats it is not. Values that say little (a
//! short number, a plain word) are no sign of anything and are left out.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::scene::Call;
use super::text::head;

/// Characters that a text must have to be taken for a value of its own.
const LONG: usize = 16;

/// Characters that one with a digit in it must have.
const SHORT: usize = 5;

/// Digits that a number must have.
const DIGITS: usize = 4;

/// Most values that are remembered of one trial.
const MOST: usize = 200_000;

/// Bytes of a text that are searched for values.
const SEARCHED: usize = 1 << 20;

/// Most lines that lead into one call, or into the answer.
const INTO: usize = 24;

/// A value that went from a result into an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flow {
    /// Place of the call that told it.
    pub(super) from: usize,
    /// Place of the call that used it; none for the answer.
    pub(super) to: Option<usize>,
    /// Where it stood in the result, such as `items[0].id`; empty for a result that is a text.
    pub(super) source: String,
    /// The argument, such as `contact_id`; empty for the answer.
    pub(super) argument: String,
    /// The value.
    pub(super) value: String,
}

/// Where a value was told first.
struct Told {
    call: usize,
    path: String,
}

/// Finds the values that went from results into later calls and into the answer; `told` is
/// what the agent knew at the start.
pub(super) fn flows(calls: &[Call], told: &str, answer: Option<&str>) -> Vec<Flow> {
    let mut known = Known { first: HashMap::new(), told: told.to_lowercase() };
    let mut found = Vec::new();
    let mut start = 0;
    while start < calls.len() {
        let round = calls[start].round;
        let same = calls[start..].iter().take_while(|call| call.round == round).count();
        for (place, call) in calls.iter().enumerate().skip(start).take(same) {
            found.extend(known.used(&call.arguments, Some(place)));
        }
        // What one call returned, others of its round could not know.
        for (place, call) in calls.iter().enumerate().skip(start).take(same) {
            known.learn(place, &call.result, &mut String::new());
        }
        start += same;
    }
    if let Some(answer) = answer {
        found.extend(known.used(&Value::from(head(answer, SEARCHED)), None));
    }
    found
}

struct Known {
    first: HashMap<String, Told>,
    told: String,
}

impl Known {
    /// Remembers the values of a result that nobody had told before.
    fn learn(&mut self, call: usize, value: &Value, path: &mut String) {
        if self.first.len() >= MOST {
            return;
        }
        each(value, path, &mut |path, leaf| match leaf {
            Leaf::Number(number) => self.remember(number, call, path),
            Leaf::Text(text) => {
                self.remember(text, call, path);
                for word in words(head(text, SEARCHED)).take(MOST) {
                    self.remember(word, call, path);
                }
            }
        });
    }

    fn remember(&mut self, value: &str, call: usize, path: &str) {
        let value = value.trim();
        if self.first.len() < MOST && is_telling(value) && !self.first.contains_key(value) {
            self.first.insert(value.to_owned(), Told { call, path: path.to_owned() });
        }
    }

    /// Returns the values of arguments, or of the answer, that a result told first.
    fn used(&self, arguments: &Value, to: Option<usize>) -> Vec<Flow> {
        let mut found: Vec<Flow> = Vec::new();
        each(arguments, &mut String::new(), &mut |path, leaf| {
            let (whole, text) = match leaf {
                Leaf::Number(number) => (number, None),
                Leaf::Text(text) => (text, Some(text)),
            };
            let mut add = |value: &str| {
                let Some(told) = self.first.get(value.trim()) else { return false };
                let is_new = |one: &Flow| one.argument != path || one.value != value.trim();
                if found.len() < INTO && found.iter().all(is_new) && !self.is_given(value) {
                    found.push(Flow {
                        from: told.call,
                        to,
                        source: told.path.clone(),
                        argument: path.to_owned(),
                        value: value.trim().to_owned(),
                    });
                }
                true
            };
            if !add(whole) {
                for word in words(head(text.unwrap_or_default(), SEARCHED)) {
                    add(word);
                }
            }
        });
        found
    }

    /// Returns whether the agent was told a value before it made any call.
    fn is_given(&self, value: &str) -> bool {
        self.told.contains(&value.trim().to_lowercase())
    }
}

/// A value without parts.
enum Leaf<'v> {
    Number(&'v str),
    Text(&'v str),
}

/// Visits every number and text in a value with its path.
fn each(value: &Value, path: &mut String, visit: &mut dyn FnMut(&str, Leaf<'_>)) {
    let length = path.len();
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => visit(path, Leaf::Number(&number.to_string())),
        Value::String(text) => visit(path, Leaf::Text(text)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = write!(path, "[{index}]");
                each(item, path, visit);
                path.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                each(field, path, visit);
                path.truncate(length);
            }
        }
    }
}

/// Returns the words of a text, as far as ids, addresses and figures go.
fn words<'t>(text: &'t str) -> impl Iterator<Item = &'t str> {
    let ends = |c: char| {
        c.is_whitespace() || c.is_control() || "\"'`<>()[]{}|,;，。；、（）「」".contains(c)
    };
    // An address keeps its `=`; elsewhere it parts a name from a value.
    let parts = |word: &'t str| {
        let is_address = word.contains("://");
        word.split(move |c| c == '=' && !is_address)
    };
    let trimmed = |word: &'t str| word.trim_matches(['.', ':', '!', '?']);
    text.split(ends).flat_map(parts).map(trimmed).filter(|word| !word.is_empty())
}

/// Returns whether a value is peculiar enough that meeting it twice is no accident.
fn is_telling(value: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let length = value.chars().count();
    if value.chars().all(|c| c.is_ascii_digit() || "-+.,".contains(c)) {
        return digits >= DIGITS;
    }
    let is_named = digits > 0 || value.contains('@') || value.contains("://");
    (is_named && length >= SHORT) || length >= LONG
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(round: u32, arguments: Value, result: Value) -> Call {
        Call { round, arguments, result, ..Call::default() }
    }

    #[test]
    fn values_are_followed_from_where_they_were_told_first() {
        let calls = [
            call(1, json!({"query": "Raman"}), json!({"items": [{"id": "CON-w6tm4hdq"}]})),
            call(
                1,
                json!({"id": "CON-w6tm4hdq"}),
                json!({"name": "Priya Raman", "phone": "+1 614 5550121", "total": 1047.28}),
            ),
            call(2, json!({"contact": {"id": "CON-w6tm4hdq"}}), json!({"id": "CON-w6tm4hdq"})),
            call(
                3,
                json!({"to": ["CON-w6tm4hdq", "ACME-2026"], "sum": "1047.28",
                    "text": "About ACT-2djw6kpc and CON-w6tm4hdq."}),
                json!({"id": "EML-1"}),
            ),
        ];
        let flows = flows(&calls, "Write to ACME-2026.", Some("Call +1 614 5550121: 1047.28."));
        let short = |flow: &Flow| {
            let to = flow.to.map_or("answer".to_owned(), |to| to.to_string());
            format!("{}.{} > {to}.{}", flow.from, flow.source, flow.argument)
        };
        let found: Vec<String> = flows.iter().map(short).collect();
        let want = [
            "0.items[0].id > 2.contact.id",
            "1.total > 3.sum",
            "0.items[0].id > 3.text",
            "0.items[0].id > 3.to[0]",
            "1.phone > answer.",
            "1.total > answer.",
        ];
        let sorted = |mut all: Vec<String>| {
            all.sort();
            all
        };
        assert_eq!(sorted(found), sorted(want.map(str::to_owned).to_vec()));
    }

    #[test]
    fn common_values_are_no_sign() {
        let table = [
            ("CON-9kxt4wmb", true),
            ("2026-03-16", true),
            ("a@b.example", true),
            ("https://x.example/", true),
            ("John Smith of Acme", true),
            ("open", false),
            ("EUR", false),
            ("12", false),
            ("1047.28", true),
            ("100", false),
            ("call", false),
        ];
        for (value, want) in table {
            assert_eq!(is_telling(value), want, "{value}");
        }
        let text = "BORN=1840-07-29, see https://x.example/?q=1 (page 2).";
        let found: Vec<&str> = words(text).collect();
        assert_eq!(found, ["BORN", "1840-07-29", "see", "https://x.example/?q=1", "page", "2"]);
    }
}
