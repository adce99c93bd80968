//! What a navigator's reply says, whatever form it came in.
//!
//! The form asked for is one JSON object; models also fence it, put prose around it, or
//! write nothing but the call. All of that is read as long as exactly one action can be
//! meant. Where none can, the problem is worded for the model, which is told of it. Nothing
//! is evaluated: an action is parsed by [`Action`].

use serde_json::{Map, Value, json};
use wildgym_sandbox::browser::Action;

use crate::ask::Form;

/// Names by which an action may be called in a reply that is no JSON.
const NAMES: [&str; 15] = [
    "fill_input_id",
    "click_id",
    "hover_id",
    "download_file_id",
    "scroll_to_top",
    "scroll_to_bottom",
    "scroll_up",
    "scroll_down",
    "back",
    "stop",
    "get_url",
    "find_text_on_page",
    "visit_page",
    "click_blank_area",
    "ask_question_about_video",
];

/// What a navigator wants to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    /// What it saw, in its words.
    pub(super) observation: String,
    /// The action, as written.
    pub(super) written: String,
    /// The action.
    pub(super) action: Action,
    /// What it reports, with `stop()`.
    pub(super) result: String,
}

/// Returns the form of a reply.
pub(super) fn form() -> Form {
    let text = json!({ "type": "string" });
    let names = ["observation", "reasoning", "action", "result"];
    let properties: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), text.clone())).collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    });
    Form { name: "browser_action", schema }
}

/// Returns the form of a reply about the plan.
pub(super) fn plan_form() -> Form {
    let schema = json!({
        "type": "object",
        "properties": { "replan": { "type": "boolean" }, "plan": { "type": "string" } },
        "required": ["replan", "plan"],
        "additionalProperties": false,
    });
    Form { name: "browser_plan", schema }
}

/// Reads a reply, or says to the model what is wrong with it.
pub(super) fn read(text: &str) -> Result<Move, String> {
    if text.trim().is_empty() {
        return Err("your reply was empty; reply with the JSON object".to_owned());
    }
    let Some(object) = object(text) else { return bare(text) };
    let field = |names: &[&str]| names.iter().find_map(|name| object.get(*name)).map(plain);
    let written = field(&["action", "action_code"]).unwrap_or_default();
    if written.trim().is_empty() {
        return Err("your reply had no `action`; write exactly one, such as `scroll_down()`".into());
    }
    let action = parse(&written)?;
    Ok(Move {
        observation: field(&["observation"]).unwrap_or_default(),
        result: field(&["result", "answer"]).unwrap_or_default(),
        written: written.trim().to_owned(),
        action,
    })
}

/// Returns the new plan, where a reply gives one.
pub(super) fn read_plan(text: &str) -> Option<String> {
    let object = object(text)?;
    let wanted = match object.get("replan") {
        Some(Value::Bool(wanted)) => *wanted,
        Some(Value::String(word)) => matches!(word.trim(), "true" | "True" | "yes"),
        Some(Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_)) | None => false,
    };
    let plan = object.get("plan").map(plain).unwrap_or_default();
    (wanted && !plan.trim().is_empty()).then_some(plan)
}

fn parse(written: &str) -> Result<Action, String> {
    let call = written.trim().trim_matches('`').trim();
    call.parse().map_err(|error| format!("`{call}` is no action: {error}"))
}

/// Returns a value as text: lists and objects as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Returns the first JSON object that stands in a text, whole.
fn object(text: &str) -> Option<Map<String, Value>> {
    let mut starts = text.match_indices('{').map(|(at, _)| at).take(50);
    starts.find_map(|at| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(object))) if !object.is_empty() => Some(object),
            _ => None,
        }
    })
}

/// Reads a reply without JSON: the one action that is called in it.
fn bare(text: &str) -> Result<Move, String> {
    let mut found: Vec<(&str, Action)> = Vec::new();
    for name in NAMES {
        for (at, _) in text.match_indices(&format!("{name}(")) {
            let inside = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let ends = text[at..].match_indices(')').take(20).map(|(end, _)| at + end + 1);
            let calls = ends.filter_map(|end| Some((&text[at..end], text[at..end].parse().ok()?)));
            let call = calls.take(1).next();
            if let Some((written, action)) = call.filter(|_| !inside)
                && !found.iter().any(|(_, other)| *other == action)
            {
                found.push((written, action));
            }
        }
    }
    match &found[..] {
        [] => Err("your reply had neither the JSON object nor an action; reply with the JSON \
                   object and nothing else"
            .to_owned()),
        [(written, action)] => Ok(Move {
            observation: text.trim().to_owned(),
            written: (*written).to_owned(),
            action: action.clone(),
            result: if *action == Action::Stop { text.replace(written, "") } else { String::new() },
        }),
        [..] => Err("your reply had several actions; write exactly one".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CLICK: Action = Action::ClickId { id: 12 };

    #[test]
    fn an_action_is_found_where_only_one_can_be_meant() {
        let json = r#"{"observation":"a {page}","reasoning":"r","action":"click_id(12)"}"#;
        let table: [(String, Result<Action, &str>, &str); 16] = [
            (json.into(), Ok(CLICK), "as asked"),
            (format!("```json\n{json}\n```"), Ok(CLICK), "fenced"),
            (format!("Sure, {{here}} it is:\n{json}\nDone."), Ok(CLICK), "prose around it"),
            (r#"{"action":" `click_id(12)` "}"#.into(), Ok(CLICK), "ticked, other fields missing"),
            (r#"{"action_code":"click_id(12)"}"#.into(), Ok(CLICK), "the older name"),
            ("I will click_id(12) now.".into(), Ok(CLICK), "only the call"),
            ("click_id(12), yes, click_id(12)".into(), Ok(CLICK), "the same twice"),
            (
                r#"fill_input_id(7, "a (b) c")"#.into(),
                Ok(Action::FillInputId { id: 7, text: "a (b) c".into() }),
                "brackets in the text",
            ),
            (String::new(), Err("was empty"), "owl#296: nothing"),
            ("  \n".into(), Err("was empty"), "blank"),
            ("{}".into(), Err("neither the JSON object nor an action"), "owl#237: empty JSON"),
            ("I do not know.".into(), Err("neither the JSON object"), "prose"),
            (r#"{"observation":"x"}"#.into(), Err("no `action`"), "no action"),
            (r#"{"action":"jump(3)"}"#.into(), Err("is no action"), "unknown action"),
            ("click_id(1) or click_id(2)".into(), Err("several actions"), "undecided"),
            (r#"{"action":"nonstop()"}"#.into(), Err("is no action"), "stop is no substring"),
        ];
        for (text, want, why) in table {
            match (read(&text), want) {
                (Ok(got), Ok(want)) => assert_eq!(got.action, want, "{why}"),
                (Err(got), Err(want)) => assert!(got.contains(want), "{why}: {got}"),
                (got, _) => panic!("{why}: {got:?}"),
            }
        }
    }

    #[test]
    fn a_result_may_have_any_form() {
        let table = [
            (r#"{"action":"stop()","result":"3.2 m"}"#, "3.2 m", "text"),
            (r#"{"action":"stop()","result":["a",1]}"#, r#"["a",1]"#, "a list"),
            (r#"{"action":"stop()"}"#, "", "none"),
            ("stop() The level is 3.2 m.", " The level is 3.2 m.", "prose beside the call"),
        ];
        for (text, want, why) in table {
            let got = read(text).unwrap();
            assert_eq!((got.action, got.result.as_str()), (Action::Stop, want), "{why}");
        }
    }

    #[test]
    fn a_plan_is_new_only_where_it_says_so() {
        let table = [
            (r#"{"replan": true, "plan": "1. Look"}"#, Some("1. Look"), "new"),
            (r#"{"replan": "true", "plan": ["Look"]}"#, Some(r#"["Look"]"#), "loose types"),
            (r#"{"replan": false, "plan": "1. Look"}"#, None, "holds"),
            (r#"{"replan": true, "plan": ""}"#, None, "nothing new"),
            ("keep going", None, "prose"),
        ];
        for (text, want, why) in table {
            assert_eq!(read_plan(text).as_deref(), want, "{why}");
        }
    }

    proptest! {
        #[test]
        fn no_reply_is_too_strange(text in r#"([{}"(),\\:`é\n ]|action|stop|click_id|[0-9]|\PC){0,60}"#) {
            let _ = read(&text);
            let _ = read_plan(&text);
        }
    }
}
