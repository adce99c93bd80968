//! Reading what a step does: calls, an answer, or the text of a model.
//!
//! The typed forms are strict. Text is read the way models write: a final answer in tags,
//! calls as JSON, `tool[{…}]`, `tool {…}` or `tool with Action Input: {…}`, after an
//! `Action:` where there is one. What is none of these is no action; nothing is guessed.

use serde_json::Value;
use wildgym_toolbox::Call as Asked;

use super::Problem;
use super::types::{Call, Deed, Said, Step};
use crate::agent::{REMINDER, final_answer};
use crate::model::{Offered, calls_in};

/// Most calls of a step.
const MOST_CALLS: usize = 128;

/// What an agent is told that wrote no action.
const FORMS: &str = "This is no action. Write `Action: TOOL {\"argument\": …}` to call a tool, or \
<final_answer>your answer</final_answer> to end.";

/// What ends an episode beside an answer in tags.
const ENDS: [&str; 3] = ["finish", "submit_answer", "final_answer"];

/// Reads what a step does.
pub(super) fn read(step: Step) -> Result<Deed, Problem> {
    let Step { calls, answer, message, .. } = step;
    match (calls, answer, message) {
        (Some(calls), None, None) => called(calls),
        (None, Some(answer), None) => Ok(Deed::Answer(answer)),
        (None, None, Some(said)) => told(said),
        _ => Err(Problem::invalid("a step has exactly one of `calls`, `answer` and `message`")),
    }
}

/// Reads calls.
fn called(calls: Vec<Call>) -> Result<Deed, Problem> {
    if calls.is_empty() || calls.len() > MOST_CALLS {
        let count = calls.len();
        return Err(Problem::invalid(format!(
            "`calls` has {count} entries; a step makes 1 to {MOST_CALLS} calls"
        )));
    }
    let call = |(index, call): (usize, Call)| Asked {
        id: call.id.unwrap_or_else(|| format!("call_{}", index + 1)),
        name: call.name,
        arguments: text(call.arguments),
    };
    Ok(Deed::Calls(calls.into_iter().enumerate().map(call).collect()))
}

/// Reads a model's reply as the built-in agent does: an answer comes before calls.
fn told(said: Said) -> Result<Deed, Problem> {
    if let Some(answer) = said.content.as_deref().and_then(final_answer) {
        return Ok(Deed::Answer(answer));
    }
    let calls = said.tool_calls.unwrap_or_default();
    if calls.is_empty() {
        return Ok(Deed::Neither(REMINDER));
    }
    let call = |call: super::types::SaidCall| Call {
        id: call.id,
        name: call.function.name,
        arguments: call.function.arguments,
    };
    called(calls.into_iter().map(call).collect())
}

/// Returns arguments as a model writes them.
fn text(arguments: Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text,
        given @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            given.to_string()
        }
    }
}

/// Reads an action out of a model's raw text.
pub(super) fn from_text(text: &str, offered: &Offered) -> Deed {
    if let Some(answer) = final_answer(text) {
        return Deed::Answer(answer);
    }
    let spoken = text.rfind("</think>").map_or(text, |end| &text[end + "</think>".len()..]);
    let action = spoken.rfind("Action:").map_or(spoken, |at| &spoken[at + "Action:".len()..]);
    let numbered = |(index, (name, arguments)): (usize, (String, String))| Asked {
        id: format!("call_{}", index + 1),
        name,
        arguments,
    };
    if let Some(calls) = calls_in(action, offered) {
        let calls = calls.into_iter().take(MOST_CALLS).enumerate().map(numbered).collect();
        return Deed::Calls(calls);
    }
    match named(action.trim()) {
        Some((name, rest)) if ENDS.contains(&name) => Deed::Answer(answer(rest)),
        Some((name, rest)) if offered.has(name) && (rest.is_empty() || is_object(rest)) => {
            let arguments = if rest.is_empty() { "{}" } else { rest };
            Deed::Calls(vec![numbered((0, (name.to_owned(), arguments.to_owned())))])
        }
        Some(_) | None => Deed::Neither(FORMS),
    }
}

/// Splits an action into its name and what stands behind it, without brackets around.
fn named(action: &str) -> Option<(&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.';
    let end = action.find(|c| !is_name(c)).unwrap_or(action.len());
    let (name, rest) = action.split_at(end);
    if name.is_empty() {
        return None;
    }
    let rest = rest.trim();
    let rest = rest.strip_prefix("with ").map_or(rest, str::trim_start);
    let rest = rest.strip_prefix("Action Input:").map_or(rest, str::trim);
    let inside = |open, close| rest.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    Some((name, inside('(', ')').or_else(|| inside('[', ']')).unwrap_or(rest).trim()))
}

/// Returns the answer in what stands behind `finish`: the field `answer` of an object, else
/// the text.
fn answer(rest: &str) -> String {
    let object = serde_json::from_str::<Value>(rest).ok();
    match object.as_ref().and_then(|object| object.get("answer")) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => rest.to_owned(),
    }
}

fn is_object(text: &str) -> bool {
    matches!(serde_json::from_str::<Value>(text), Ok(Value::Object(_)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn offered() -> Offered {
        Offered::new(&["crm_get", "now"].map(|name| json!({"function": {"name": name}})))
    }

    fn shown(deed: &Deed) -> String {
        match deed {
            Deed::Calls(calls) => {
                let one = |call: &Asked| format!("{} {}", call.name, call.arguments);
                calls.iter().map(one).collect::<Vec<_>>().join("; ")
            }
            Deed::Answer(answer) => format!("= {answer}"),
            Deed::Neither(_) => "-".to_owned(),
        }
    }

    #[test]
    fn actions_are_read_as_models_write_them() {
        let table = [
            ("Thought: x\nAction: crm_get {\"id\": 1}", "crm_get {\"id\": 1}", "react"),
            ("Action: crm_get[{\"id\": 1}]", "crm_get {\"id\": 1}", "brackets"),
            ("crm_get({\"id\": 1})", "crm_get {\"id\": 1}", "a call"),
            ("Action: now with Action Input: {}", "now {}", "with an input"),
            ("Action: now\nAction Input: {}", "now {}", "an input on its own line"),
            ("now", "now {}", "a name alone"),
            ("{\"name\": \"crm_get\", \"arguments\": {\"id\":1}}", "crm_get {\"id\":1}", "JSON"),
            (
                "[{\"name\":\"now\",\"arguments\":{}},{\"name\":\"now\",\"arguments\":{}}]",
                "now {}; now {}",
                "several",
            ),
            ("<final_answer>42</final_answer>", "= 42", "an answer"),
            ("Action: finish with Action Input: {\"answer\": -0.1}", "= -0.1", "finish"),
            ("Action: finish[done]", "= done", "finish in brackets"),
            ("Action: nothing {}", "-", "an unknown tool"),
            ("Action: now {\"a\"", "-", "broken JSON"),
            ("", "-", "nothing"),
            ("<think>Action: now</think>", "-", "only thought of"),
        ];
        for (text, want, why) in table {
            assert_eq!(shown(&from_text(text, &offered())), want, "{why}");
        }
    }

    #[test]
    fn a_step_does_one_thing() {
        let read = |value| serde_json::from_value::<Step>(value).map(super::read);
        let table = [
            (json!({"answer": "x"}), Ok("= x"), "an answer"),
            (
                json!({"calls": [{"name": "now", "arguments": {"a": 1}}, {"name": "now"}]}),
                Ok("now {\"a\":1}; now {}"),
                "calls",
            ),
            (json!({"calls": [{"name": "now", "arguments": "{}"}]}), Ok("now {}"), "as text"),
            (
                json!({"message": {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "a", "type": "function",
                     "function": {"name": "now", "arguments": "{\"b\""}}]}}),
                Ok("now {\"b\""),
                "a model's reply, its arguments untouched",
            ),
            (
                json!({"message": {"content": "<final_answer>y</final_answer>", "tool_calls": []}}),
                Ok("= y"),
                "a model's answer",
            ),
            (json!({"message": {"content": "hm"}}), Ok("-"), "neither"),
            (json!({}), Err(422), "nothing"),
            (json!({"calls": []}), Err(422), "no call"),
            (json!({"calls": [{"name": "now"}], "answer": "x"}), Err(422), "two things"),
        ];
        for (value, want, why) in table {
            let got = read(value).unwrap().map(|deed| shown(&deed));
            let want = want.map(str::to_owned);
            assert_eq!(got.map_err(|problem| problem.status), want, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*|(Action: |now|\\[|\\{|\"|<final_answer>|</think>|，)*") {
            from_text(&text, &offered());
        }
    }
}
