//! Trials as chat messages: `wildgym export RUN --format messages`.
//!
//! One object per attempt, in the form in which chat models are trained and prompted.
//! What a model said is taken from its raw reply, so fields that this program does not
//! know stay. The invariant that endpoints insist on: every `tool` message answers exactly
//! one entry of the `tool_calls` of the assistant message before it, and every entry is
//! answered. A call that the agent asked for and that never ran is therefore left out.

use std::collections::BTreeSet;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use super::Resolve;
use crate::record::{Body, CallRecord, MessageRecord, ModelRecord, PictureRecord, Record};
use crate::verdict::Verdict;

/// Returns an attempt as one object with `trial`, `attempt`, `messages`, `tools`,
/// `outcome`, `verdict` and `answer`.
///
/// `tools` are the entries of all tools in the form of a chat request; those that the
/// attempt offered are kept, in its order. An agent without a model has assistant
/// messages made from its calls, and a last one with its answer.
#[must_use]
pub fn messages(
    records: &[Record],
    verdict: Option<Verdict>,
    resolve: &Resolve<'_>,
    tools: &[Value],
) -> Value {
    let mut chat = Chat { messages: Vec::new(), open: None, resolve };
    let mut out = Map::new();
    let mut offered = Vec::new();
    let mut scripted = true;
    let mut end = (Value::Null, Value::Null);
    for record in records {
        match record {
            Record::Attempt(attempt) => {
                out.insert("trial".to_owned(), json!(attempt.trial.to_string()));
                out.insert("attempt".to_owned(), json!(attempt.attempt));
                offered.clone_from(&attempt.tools);
            }
            Record::Message(message) => {
                chat.close();
                chat.told(message);
            }
            Record::Model(model) if model.role == "agent" => {
                scripted = false;
                chat.reply(model);
            }
            // What a tool asks a model is its own affair, and so are calls of executed code.
            Record::Model(_) => {}
            // Nobody told the agent.
            Record::Event(_) => {}
            Record::Call(call) if call.ingress.contains('.') => {}
            Record::Call(call) => chat.call(call),
            Record::Outcome(outcome) => {
                let answer = outcome.answer.as_ref().map(|answer| chat.text(answer));
                end = (json!(outcome.outcome), json!(answer));
            }
        }
    }
    chat.close();
    if let (true, Some(answer)) = (scripted, end.1.as_str()) {
        let content = format!("<final_answer>{answer}</final_answer>");
        chat.messages.push(json!({"role": "assistant", "content": content}));
    }
    let named = |name: &String| tools.iter().find(|tool| tool["function"]["name"] == **name);
    let tools: Vec<&Value> = offered.iter().filter_map(named).collect();
    out.insert("messages".to_owned(), Value::Array(chat.messages));
    out.insert("tools".to_owned(), json!(tools));
    out.insert("outcome".to_owned(), end.0);
    out.insert("verdict".to_owned(), json!(verdict));
    out.insert("answer".to_owned(), end.1);
    Value::Object(out)
}

/// The messages so far, and the assistant's turn that still collects its calls.
struct Chat<'a> {
    messages: Vec<Value>,
    open: Option<Turn<'a>>,
    resolve: &'a Resolve<'a>,
}

/// An assistant message and the calls that ran for it.
struct Turn<'a> {
    round: u32,
    message: Map<String, Value>,
    calls: Vec<&'a CallRecord>,
}

impl<'a> Chat<'a> {
    fn text(&self, body: &Body) -> String {
        match body {
            Body::Inline(text) => text.clone(),
            Body::Blob { blob, .. } => (self.resolve)(blob)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .unwrap_or_default(),
        }
    }

    /// Adds what the agent was told, pictures included; a request without the pictures that
    /// an endpoint refused replaces the one with them.
    fn told(&mut self, message: &MessageRecord) {
        let text = self.text(&message.content);
        if message.why == "pictures-refused" {
            self.messages.pop();
        }
        let content = if message.pictures.is_empty() {
            Value::from(text)
        } else {
            let mut parts = vec![json!({"type": "text", "text": text})];
            for PictureRecord { path, media_type, blob, .. } in &message.pictures {
                let Some(bytes) = (self.resolve)(blob) else { continue };
                let url = format!("data:{media_type};base64,{}", BASE64.encode(&bytes));
                parts.push(json!({"type": "text", "text": format!("{path}:")}));
                parts.push(json!({"type": "image_url", "image_url": {"url": url}}));
            }
            Value::Array(parts)
        };
        self.messages.push(json!({"role": message.role, "content": content}));
    }

    /// Opens a turn with a model's reply; an error's body is none.
    fn reply(&mut self, model: &'a ModelRecord) {
        self.close();
        if model.status != 200 {
            return;
        }
        let body: Value = serde_json::from_str(&self.text(&model.reply)).unwrap_or_default();
        if let Some(message) = body["choices"][0]["message"].as_object() {
            let mut message = message.clone();
            message.insert("role".to_owned(), json!("assistant"));
            self.open = Some(Turn { round: model.round, message, calls: Vec::new() });
        }
    }

    /// Adds a call to the turn of its round, or to a new one.
    fn call(&mut self, call: &'a CallRecord) {
        if self.open.as_ref().is_none_or(|turn| turn.round != call.round) {
            self.close();
            let message = Map::from_iter([
                ("role".to_owned(), json!("assistant")),
                ("content".to_owned(), Value::Null),
            ]);
            self.open = Some(Turn { round: call.round, message, calls: Vec::new() });
        }
        if let Some(turn) = &mut self.open {
            turn.calls.push(call);
        }
    }

    /// Writes the open turn: the assistant's message, then one result for each call.
    fn close(&mut self) {
        let Some(Turn { mut message, calls, .. }) = self.open.take() else { return };
        let asked = message.remove("tool_calls").unwrap_or_default();
        message.remove("function_call");
        let ids = ids(&calls);
        if !calls.is_empty() {
            let entries: Vec<Value> = calls
                .iter()
                .zip(&ids)
                .enumerate()
                .map(|(index, (call, id))| {
                    entry(&asked[index], call, id, &self.text(&call.arguments))
                })
                .collect();
            // A call that stood in the content as bare JSON stands in `tool_calls` now.
            if !asked.is_array() {
                message.insert("content".to_owned(), Value::Null);
            }
            message.insert("tool_calls".to_owned(), Value::Array(entries));
        }
        self.messages.push(Value::Object(message));
        for (call, id) in calls.iter().zip(ids) {
            let content = self.text(&call.result);
            self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
        }
    }
}

/// Returns the ids under which the calls of one turn were answered; one that is empty or
/// was used before in the turn is made from the ingress number.
fn ids(calls: &[&CallRecord]) -> Vec<String> {
    let mut used = BTreeSet::new();
    calls
        .iter()
        .map(|call| {
            let mut id = call.id.clone();
            while id.is_empty() || !used.insert(id.clone()) {
                id = format!("{id}call-{}", call.ingress);
            }
            id
        })
        .collect()
}

/// Returns the entry of `tool_calls` for a call that ran, with unknown fields of what the
/// model asked for kept.
fn entry(asked: &Value, call: &CallRecord, id: &str, arguments: &str) -> Value {
    let same = asked["function"]["name"] == call.tool.as_str();
    let mut entry = asked.as_object().filter(|_| same).cloned().unwrap_or_default();
    let mut function =
        entry.get("function").and_then(Value::as_object).cloned().unwrap_or_default();
    function.insert("name".to_owned(), json!(call.tool));
    function.insert("arguments".to_owned(), json!(arguments));
    entry.insert("id".to_owned(), json!(id));
    entry.insert("type".to_owned(), json!("function"));
    entry.insert("function".to_owned(), Value::Object(function));
    Value::Object(entry)
}
