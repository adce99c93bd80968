//! A request that a program wrote, in the parts that a cassette keeps.
//!
//! The model's name, and that nothing is streamed, are written by the gym; of its settings hold
//! those that the program did not give. What a program says only to be told apart from others
//! is sent, but it is no part of what the request is known again by.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::message::{self, Message, Offered};

/// Fields that the gym writes, or that have no place here.
const OURS: [&str; 4] = ["model", "stream", "stream_options", "n"];

/// Fields that name whoever asks, and change nothing in what is answered: many programs draw
/// them anew in each process. `OpenAI` API reference, "Create chat completion".
const NAMING: [&str; 4] = ["metadata", "prompt_cache_key", "safety_identifier", "user"];

/// A program's request.
#[derive(Debug)]
pub(super) struct Foreign {
    /// What is sent.
    pub(super) body: Bytes,
    /// BLAKE3 of it without the fields that name whoever asks.
    pub(super) digest: String,
    /// Its settings without them, as JSON without the closing brace.
    pub(super) prefix: String,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Offered,
}

impl Foreign {
    /// Takes a request apart; `own` are the settings of the run's model, as JSON without the
    /// closing brace.
    pub(super) fn of(own: &str, request: &Map<String, Value>) -> Self {
        let mut settings: Map<String, Value> =
            serde_json::from_str(&format!("{own}}}")).unwrap_or_default();
        if request.contains_key("max_completion_tokens") {
            settings.shift_remove("max_tokens");
        }
        let theirs = request.iter().filter(|(name, _)| !OURS.contains(&name.as_str()));
        settings.extend(theirs.map(|(name, value)| (name.clone(), value.clone())));
        let listed = |value: Option<Value>| match value {
            Some(Value::Array(items)) => items,
            Some(_) | None => Vec::new(),
        };
        let messages = listed(settings.shift_remove("messages"));
        let messages: Vec<Message> = messages.iter().map(Message::from_value).collect();
        // What is no list is sent as it is; the endpoint will say so.
        let lists = settings.get("tools").is_some_and(Value::is_array);
        let tools = if lists { listed(settings.shift_remove("tools")) } else { Vec::new() };
        let tools = Offered::new(&tools);
        let whole = open(&settings);
        let named: Vec<&str> =
            NAMING.into_iter().filter(|name| settings.contains_key(*name)).collect();
        for name in &named {
            settings.shift_remove(*name);
        }
        let prefix = open(&settings);
        let body = Bytes::from(message::body(&whole, &messages, &tools));
        let digest = if named.is_empty() {
            blake3::hash(&body)
        } else {
            blake3::hash(&message::body(&prefix, &messages, &tools))
        };
        Self { body, digest: digest.to_hex().to_string(), prefix, messages, tools }
    }
}

/// Writes an object without its closing brace.
fn open(settings: &Map<String, Value>) -> String {
    let mut text = serde_json::to_string(settings).unwrap_or_else(|_| "{}".to_owned());
    text.pop();
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn foreign(request: &Value) -> Foreign {
        let own = r#"{"model":"m","temperature":0.5,"max_tokens":9"#;
        Foreign::of(own, request.as_object().unwrap())
    }

    #[test]
    fn a_programs_request_goes_out_under_the_runs_model() {
        let messages = json!([{ "role": "user", "content": "hi" }]);
        let tool = json!({ "type": "function", "function": { "name": "f" } });
        let sent = |more: Value| {
            let mut request = json!({ "model": "x", "messages": messages });
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_slice::<Value>(&foreign(&request).body).unwrap()
        };
        let base =
            json!({ "model": "m", "temperature": 0.5, "max_tokens": 9, "messages": messages });
        let with = |more: Value| {
            let mut all = base.clone();
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        let table = [
            (json!({}), base.clone(), "the run's settings"),
            (
                json!({ "stream": true, "n": 1, "stream_options": {} }),
                base.clone(),
                "whole replies",
            ),
            (json!({ "temperature": 1 }), with(json!({ "temperature": 1 })), "its own come first"),
            (json!({ "tools": [tool] }), with(json!({ "tools": [tool] })), "tools"),
            (json!({ "tools": "x" }), with(json!({ "tools": "x" })), "what is no list, as it is"),
            (json!({ "user": "u" }), with(json!({ "user": "u" })), "a name is sent"),
        ];
        for (more, expected, why) in table {
            assert_eq!(sent(more), expected, "{why}");
        }
        let own = sent(json!({ "max_completion_tokens": 3 }));
        assert_eq!((&own["max_completion_tokens"], own.get("max_tokens")), (&json!(3), None));
    }

    #[test]
    fn a_request_is_known_again_whoever_asks() {
        let request = |more: Value| {
            let mut all = json!({ "messages": [{ "role": "user", "content": "hi" }] });
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            foreign(&all)
        };
        let plain = request(json!({}));
        assert_eq!(plain.digest, blake3::hash(&plain.body).to_hex().to_string());
        let named = request(json!({ "prompt_cache_key": "7f", "metadata": { "session": 1 } }));
        assert_eq!((&named.digest, &named.prefix), (&plain.digest, &plain.prefix));
        assert_ne!(named.body, plain.body, "but it is sent");
        assert_ne!(request(json!({ "seed": 1 })).digest, plain.digest);
    }
}
