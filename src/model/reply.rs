//! What a reply says, whatever form it came in.
//!
//! Reading never fails: what is missing or odd is left out or mended, and named in
//! [`Reply::peculiar`]. Every call gets an id that is unique in its reply, because each
//! must be answered under its id.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use wildgym_toolbox::Call;

use super::bare;
use super::message::{Message, Offered};
use crate::record::Usage;

/// The longest id of a call that endpoints take back.
const LONGEST_ID: usize = 64;

/// What a model replied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The text, as the model wrote it.
    pub content: Option<String>,
    /// The reasoning, where the endpoint shows it apart.
    pub reasoning: Option<String>,
    /// The calls, in order.
    pub calls: Vec<Call>,
    /// Why the reply ended, in the endpoint's word.
    pub finish: Option<String>,
    /// What was odd, each with a fixed name, in a fixed order.
    pub peculiar: Vec<String>,
    /// The message with all its fields, as received.
    pub message: Map<String, Value>,
    /// The text beside the calls, where calls stood in the text.
    beside: Option<String>,
}

impl Reply {
    /// Returns a reply that says nothing, for the reason named.
    pub(super) fn empty(peculiar: &str) -> Self {
        Self { peculiar: vec![peculiar.to_owned()], ..Self::default() }
    }

    /// Returns the words of a sound as a reply.
    pub(super) fn of_words(body: &Value) -> Self {
        let text = body.get("text").and_then(Value::as_str).unwrap_or_default();
        Self { content: Some(text.to_owned()), ..Self::default() }
    }

    /// Reads the body of an answer. `round` makes the ids of calls that have none.
    pub(super) fn read(mut body: Value, round: u32, tools: &Offered) -> Self {
        let mut reply = Self::default();
        let choice = body.get_mut("choices").and_then(|choices| choices.get_mut(0));
        let Some(choice) = choice else {
            reply.note("no-choices");
            return reply;
        };
        reply.finish = choice.get("finish_reason").and_then(Value::as_str).map(str::to_owned);
        match choice.get_mut("message").map(Value::take) {
            Some(Value::Object(message)) => reply.message = message,
            Some(_) | None => reply.note("no-message"),
        }
        reply.read_text();
        let mut calls = reply.read_calls();
        if calls.is_empty() {
            calls = reply.read_bare_calls(tools);
        }
        reply.name_calls(calls, round);
        reply.note_ending();
        reply
    }

    /// Returns the reply as a message of the conversation, in the form that strict
    /// endpoints take: content is text; a call's name is of the letters that names may
    /// have, and its arguments are a JSON object, since endpoints parse both and would
    /// refuse every later request.
    pub(super) fn echo(&self, with_reasoning: bool) -> Message {
        let content = self.beside.as_deref().or(self.content.as_deref()).unwrap_or_default();
        let mut message = json!({ "role": "assistant", "content": content });
        if !self.calls.is_empty() {
            message["tool_calls"] = self.calls.iter().map(echo_call).collect();
        }
        if let Some(reasoning) = self.reasoning.as_ref().filter(|_| with_reasoning) {
            message["reasoning_content"] = reasoning.as_str().into();
        }
        Message::from_value(&message)
    }

    /// Notes something odd, once.
    pub(super) fn note(&mut self, name: &str) {
        if !self.peculiar.iter().any(|noted| noted == name) {
            self.peculiar.push(name.to_owned());
        }
    }

    fn read_text(&mut self) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let mut reasoning = ["reasoning_content", "reasoning"]
            .iter()
            .find_map(|key| text(self.message.get(*key)).filter(|text| !text.is_empty()));
        let content = match self.message.get("content") {
            Some(Value::String(content)) => Some(content.clone()),
            Some(Value::Array(parts)) => {
                let read = Parts::read(parts);
                self.note("content-parts");
                if read.unknown {
                    self.note("unknown-part");
                }
                reasoning = reasoning.or(Some(read.reasoning).filter(|text| !text.is_empty()));
                Some(read.text)
            }
            Some(Value::Null) | None => None,
            Some(Value::Object(_) | Value::Number(_) | Value::Bool(_)) => {
                self.note("content-not-text");
                self.message.get("content").map(Value::to_string)
            }
        };
        let refusal = text(self.message.get("refusal")).filter(|text| !text.is_empty());
        self.content = match refusal {
            Some(refusal) if content.as_deref().unwrap_or_default().is_empty() => {
                self.note("refusal");
                Some(refusal)
            }
            Some(_) | None => content,
        };
        self.reasoning = reasoning;
    }

    fn read_calls(&mut self) -> Vec<Asked> {
        let mut notes = Vec::new();
        let mut calls: Vec<Asked> = match self.message.get("tool_calls") {
            Some(Value::Array(items)) => {
                items.iter().filter_map(|item| Asked::read(item, &mut notes)).collect()
            }
            Some(single @ Value::Object(_)) => {
                notes.push("calls-not-a-list");
                Asked::read(single, &mut notes).into_iter().collect()
            }
            Some(Value::Null) | None => Vec::new(),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                notes.push("calls-not-a-list");
                Vec::new()
            }
        };
        if let (true, Some(old @ Value::Object(_))) =
            (calls.is_empty(), self.message.get("function_call"))
        {
            notes.push("legacy-function-call");
            calls.extend(Asked::read(old, &mut notes).map(|call| Asked { id: Id::Made, ..call }));
        }
        for note in notes {
            self.note(note);
        }
        calls
    }

    fn read_bare_calls(&mut self, tools: &Offered) -> Vec<Asked> {
        let found = self.content.as_deref().and_then(|content| bare::find(content, tools));
        let Some(found) = found else { return Vec::new() };
        self.note("bare-json-call");
        self.beside = Some(found.rest);
        let asked = |(name, arguments)| Asked { id: Id::Made, name, arguments };
        found.calls.into_iter().map(asked).collect()
    }

    fn name_calls(&mut self, calls: Vec<Asked>, round: u32) {
        let given = |call: &Asked| match &call.id {
            Id::Given(id) => Some(id.clone()),
            Id::Missing | Id::Made => None,
        };
        let all: HashSet<String> = calls.iter().filter_map(given).collect();
        let (mut used, mut made) = (HashSet::new(), 0_u32);
        for call in calls {
            let id = match call.id {
                Id::Given(id) if id.len() > LONGEST_ID => Err(Some("over-long-call-id")),
                Id::Given(id) if used.contains(&id) => Err(Some("duplicate-call-id")),
                Id::Given(id) => Ok(id),
                Id::Missing => Err(Some("missing-call-id")),
                Id::Made => Err(None),
            };
            let id = id.unwrap_or_else(|note| {
                if let Some(note) = note {
                    self.note(note);
                }
                loop {
                    made += 1;
                    let id = made_id(round, made);
                    if !all.contains(&id) {
                        break id;
                    }
                }
            });
            used.insert(id.clone());
            self.calls.push(Call { id, name: call.name, arguments: call.arguments });
        }
    }

    fn note_ending(&mut self) {
        let blank = self.content.as_deref().is_none_or(|content| content.trim().is_empty());
        if blank && self.calls.is_empty() {
            self.note("empty-content");
        }
        match self.finish.as_deref() {
            Some("stop" | "tool_calls") => {}
            Some("length") => self.note("cut-at-length"),
            Some("content_filter") => self.note("content-filter"),
            Some("function_call") => self.note("legacy-function-call"),
            Some(_) => self.note("unknown-finish"),
            None => self.note("no-finish"),
        }
    }
}

/// Makes an id: nine letters and digits, the one form that every endpoint accepts.
fn made_id(round: u32, number: u32) -> String {
    format!("c{:04}{:04}", round % 10_000, number)
}

/// A call before its id is settled.
struct Asked {
    id: Id,
    name: String,
    arguments: String,
}

enum Id {
    Given(String),
    Missing,
    /// The form has no ids.
    Made,
}

impl Asked {
    fn read(item: &Value, notes: &mut Vec<&str>) -> Option<Self> {
        if !item.is_object() {
            notes.push("call-not-an-object");
            return None;
        }
        let function = item.get("function").filter(|function| function.is_object()).unwrap_or(item);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            notes.push("call-without-name");
        }
        let given = ["arguments", "input", "parameters"].iter().find_map(|key| function.get(*key));
        let given = given.unwrap_or(&Value::Null);
        if given.is_object() || given.is_array() {
            notes.push("arguments-not-a-string");
        }
        let mut text = arguments(given);
        if text.trim().is_empty() {
            notes.push("empty-arguments");
            text = "{}".into();
        } else if given.is_string() && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err()
        {
            notes.push("arguments-not-json");
        }
        let id = match item.get("id") {
            Some(Value::String(id)) if !id.is_empty() => Id::Given(id.clone()),
            Some(Value::Number(id)) => Id::Given(id.to_string()),
            _ => Id::Missing,
        };
        Some(Self { id, name: name.to_owned(), arguments: text })
    }
}

/// Returns arguments as the text that the door takes.
pub(super) fn arguments(given: &Value) -> String {
    match given {
        Value::String(text) => text.clone(),
        Value::Null => "{}".into(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => given.to_string(),
    }
}

fn echo_call(call: &Call) -> Value {
    let is_object = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if is_object {
        call.arguments.clone()
    } else {
        json!({ "not_an_object": call.arguments }).to_string()
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut name: String = call.name.chars().take(64).map(plain).collect();
    if name.is_empty() {
        name.push('_');
    }
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": name, "arguments": arguments },
    })
}

/// Content that came as a list of parts.
#[derive(Default)]
struct Parts {
    text: String,
    reasoning: String,
    unknown: bool,
}

impl Parts {
    fn read(parts: &[Value]) -> Self {
        let mut read = Self::default();
        for part in parts {
            match (part.get("type").and_then(Value::as_str), part) {
                (_, Value::String(text)) => read.text.push_str(text),
                (Some("text" | "output_text"), _) => read.text.push_str(&inner(part, "text")),
                (Some("thinking"), _) => read.reasoning.push_str(&inner(part, "thinking")),
                (Some("reasoning"), _) => read.reasoning.push_str(&inner(part, "text")),
                _ => read.unknown = true,
            }
        }
        read
    }
}

/// Returns the text under `key`: a string, or a list of text parts.
fn inner(part: &Value, key: &str) -> String {
    match part.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

/// Reads the tokens that the endpoint counted; none where it did not count.
pub(super) fn usage(body: &Value) -> Option<Usage> {
    let usage = body.get("usage").filter(|usage| usage.is_object())?;
    let count = |paths: [&str; 2]| {
        paths.iter().find_map(|path| usage.pointer(path)?.as_u64()).unwrap_or_default()
    };
    Some(Usage {
        input: count(["/prompt_tokens", "/input_tokens"]),
        output: count(["/completion_tokens", "/output_tokens"]),
        cached: count(["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens"]),
        reasoning: count(["/completion_tokens_details/reasoning_tokens", "/reasoning_tokens"]),
    })
}
