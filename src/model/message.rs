//! Messages of a conversation and the tools it offers, ready to be sent.
//!
//! Both hold their JSON text: a request's body is made by joining texts, so a long
//! conversation is serialised once and not once a round, and equal conversations have
//! equal bytes.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

/// One message. Clones are cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(Arc<str>);

#[derive(Serialize)]
struct Plain<'a> {
    role: &'a str,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl Message {
    /// Returns a message of the system.
    #[must_use]
    pub fn system(content: &str) -> Self {
        Self::plain("system", content, None)
    }

    /// Returns a message of the user.
    #[must_use]
    pub fn user(content: &str) -> Self {
        Self::plain("user", content, None)
    }

    /// Returns a message of the user that has parts: texts, images, sounds.
    #[must_use]
    pub fn user_parts(parts: &[Value]) -> Self {
        Self::from_value(&json!({ "role": "user", "content": parts }))
    }

    /// Returns the result of the call with that id.
    #[must_use]
    pub fn tool(call_id: &str, content: &str) -> Self {
        Self::plain("tool", content, Some(call_id))
    }

    /// Returns the message as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    pub(super) fn from_value(value: &Value) -> Self {
        Self(value.to_string().into())
    }

    /// Takes a message that is JSON text already, as a cassette keeps it.
    pub(super) fn from_json(text: &str) -> Self {
        Self(text.into())
    }

    fn plain(role: &str, content: &str, tool_call_id: Option<&str>) -> Self {
        let plain = Plain { role, content, tool_call_id };
        // Strings always serialise; an empty object would be refused by any endpoint.
        Self(serde_json::to_string(&plain).unwrap_or_else(|_| "{}".into()).into())
    }
}

/// The tools that a model is offered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offered {
    json: String,
    names: Vec<String>,
}

impl Offered {
    /// Takes the entries of `tools`, in order, as `wildgym_toolbox::schema::openai` makes them.
    #[must_use]
    pub fn new(tools: &[Value]) -> Self {
        let name = |tool: &Value| Some(tool.pointer("/function/name")?.as_str()?.to_owned());
        let joined: Vec<String> = tools.iter().map(Value::to_string).collect();
        Self { json: joined.join(","), names: tools.iter().filter_map(name).collect() }
    }

    /// Returns the names, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the entries as a JSON list; none where nothing is offered.
    #[must_use]
    pub fn list(&self) -> Option<String> {
        (!self.json.is_empty()).then(|| format!("[{}]", self.json))
    }

    /// Returns whether a tool of that name is offered.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|offered| offered == name)
    }
}

/// Joins the body of a request. `prefix` is JSON without its closing brace.
pub(super) fn body(prefix: &str, messages: &[Message], tools: &Offered) -> Vec<u8> {
    let texts: usize = messages.iter().map(|message| message.0.len() + 1).sum();
    let mut body = Vec::with_capacity(prefix.len() + tools.json.len() + texts + 64);
    body.extend_from_slice(prefix.as_bytes());
    if !tools.json.is_empty() {
        body.extend_from_slice(b",\"tools\":[");
        body.extend_from_slice(tools.json.as_bytes());
        body.push(b']');
    }
    body.extend_from_slice(b",\"messages\":[");
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(message.0.as_bytes());
    }
    body.extend_from_slice(b"]}");
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_json_that_it_looks_like() {
        let tools = Offered::new(&[json!({"type": "function", "function": {"name": "scrape"}})]);
        let messages = [Message::system("be\n\"brief\""), Message::tool("c1", "ok")];
        let body = body(r#"{"model":"m""#, &messages, &tools);
        let expected = json!({
            "model": "m",
            "tools": [{"type": "function", "function": {"name": "scrape"}}],
            "messages": [
                {"role": "system", "content": "be\n\"brief\""},
                {"role": "tool", "content": "ok", "tool_call_id": "c1"},
            ],
        });
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), expected);
        assert!(tools.has("scrape") && !tools.has("scrap"));
    }

    #[test]
    fn no_tools_means_no_field() {
        let body = body("{\"a\":1", &[], &Offered::default());
        assert_eq!(String::from_utf8(body).unwrap(), r#"{"a":1,"messages":[]}"#);
    }
}
