//! What a planner says: reading its replies.
//!
//! Models wrap JSON in prose, fences and reasoning; what is meant is looked for, and nothing
//! is guessed beyond it. A reply in which no plan can be found is none.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::model::json_text;

/// What a planner wants.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Said {
    /// The calls of the round: a tool and its arguments.
    pub(super) calls: Vec<(String, String)>,
    /// Whether it says that it is done.
    pub(super) done: bool,
    /// The final answer; none where it is empty.
    pub(super) answer: Option<String>,
}

/// The object that a planner is asked for. Other fields, such as its reasoning, are for people.
#[derive(Debug, Deserialize)]
struct Written {
    #[serde(default, alias = "planned_tools", alias = "tool_calls")]
    calls: Option<Vec<Planned>>,
    #[serde(default)]
    done: Option<bool>,
    #[serde(default, alias = "final_answer")]
    answer: Option<Value>,
}

/// A planned call.
#[derive(Debug, Deserialize)]
struct Planned {
    #[serde(alias = "name")]
    tool: String,
    #[serde(default, alias = "parameters")]
    arguments: Option<Value>,
}

impl Said {
    /// Reads a reply; none where it has no plan.
    pub(super) fn read(content: &str) -> Option<Self> {
        let text = json_text(content);
        let whole = serde_json::from_str::<Map<String, Value>>(text).ok();
        whole.and_then(Self::of).or_else(|| objects(text).find_map(Self::of))
    }

    /// Takes an object for a plan; none where it has nothing of one.
    fn of(object: Map<String, Value>) -> Option<Self> {
        let written: Written = serde_json::from_value(Value::Object(object)).ok()?;
        if written.calls.is_none() && written.done.is_none() && written.answer.is_none() {
            return None;
        }
        let calls = written.calls.unwrap_or_default().into_iter();
        let calls = calls.map(|call| (call.tool, arguments(call.arguments))).collect();
        let answer = written.answer.and_then(|answer| match answer {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Null => None,
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Some(other.to_string())
            }
        });
        let answer = answer.filter(|answer| !answer.is_empty());
        Some(Self { calls, done: written.done.unwrap_or(false), answer })
    }
}

/// Returns arguments as a tool takes them. Some models write the object into a text.
fn arguments(value: Option<Value>) -> String {
    match value {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

/// Returns the JSON objects in a text, from left to right, without those inside of others.
fn objects(text: &str) -> impl Iterator<Item = Map<String, Value>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('{')?..];
            let mut found = serde_json::Deserializer::from_str(rest).into_iter();
            match found.next() {
                Some(Ok(object)) => {
                    rest = &rest[found.byte_offset()..];
                    return Some(object);
                }
                Some(Err(_)) | None => rest = &rest[1..],
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(calls: &[(&str, &str)], done: bool, answer: Option<&str>) -> Said {
        let calls = calls.iter().map(|(tool, given)| ((*tool).into(), (*given).into())).collect();
        Said { calls, done, answer: answer.map(str::to_owned) }
    }

    #[test]
    fn plans_are_found_in_what_models_write() {
        let call = r#"{"calls": [{"tool": "scrape", "arguments": {"url": "u"}}], "done": false}"#;
        let scrape = Some(said(&[("scrape", r#"{"url":"u"}"#)], false, None));
        let table = [
            (call.to_owned(), scrape.clone(), "as asked for"),
            (format!("```json\n{call}\n```"), scrape.clone(), "in a fence"),
            (format!("Here is {{my}} plan: {call} Good luck!"), scrape.clone(), "in prose"),
            (format!("<think>{{}}</think>{call}"), scrape.clone(), "after reasoning"),
            (
                r#"{"planned_tools": [{"name": "scrape", "parameters": "{\"url\":\"u\"}"}]}"#
                    .into(),
                scrape,
                "by other names, arguments as a text",
            ),
            (
                r#"{"calls": [{"tool": "back"}]}"#.into(),
                Some(said(&[("back", "{}")], false, None)),
                "none",
            ),
            (
                r#"{"done": true, "calls": [], "answer": " 42 "}"#.into(),
                Some(said(&[], true, Some("42"))),
                "done",
            ),
            (
                r#"{"done": true, "answer": 42}"#.into(),
                Some(said(&[], true, Some("42"))),
                "a number",
            ),
            (
                r#"{"done": true, "answer": ""}"#.into(),
                Some(said(&[], true, None)),
                "empty is none",
            ),
            (r#"{"reasoning": "hm"}"#.into(), None, "nothing of a plan"),
            (r#"{"calls": "scrape"}"#.into(), None, "calls that are none"),
            (r#"{"calls": [{"arguments": {}}]}"#.into(), None, "a call of nothing"),
            ("I will search first.".into(), None, "prose"),
            (String::new(), None, "nothing"),
        ];
        for (content, want, why) in table {
            assert_eq!(Said::read(&content), want, "{why}: {content}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[{}\\[\\]\":,a-z中 ]{0,60}") {
            Said::read(&text);
        }

        #[test]
        fn what_is_planned_is_read(tool in "[a-z_]{1,12}", text in "\\PC{0,30}", before in "[^{<]{0,20}") {
            let given = serde_json::json!({ "text": text });
            let plan = serde_json::json!({ "calls": [{ "tool": tool, "arguments": given }] });
            let read = Said::read(&format!("{before}{plan}"));
            prop_assert_eq!(read.map(|said| said.calls), Some(vec![(tool, given.to_string())]));
        }
    }
}
