//! What a message of a client asks for, as far as a proxy has to know.

use serde_json::Value;

use super::json::{Object, items, string};

/// The first revision of the protocol whose results say of which kind they are.
const KINDS: &str = "2026-07-28";

/// Where a request of that revision and later ones says its revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    /// A call of a tool.
    Call(Call<'a>),
    /// Several messages, calls of tools among them, as the revision 2025-03-26 allows.
    Batch(Vec<Part<'a>>),
    /// Nobody waits any more for the request of this key.
    Cancels(String),
    /// Anything else, JSON or not.
    Other,
}

/// One of several messages.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A call of a tool, and the message that it is.
    Call(Call<'a>, &'a str),
    /// Any other message.
    Other(&'a str),
}

impl<'a> Part<'a> {
    /// Returns the message.
    pub(super) fn raw(&self) -> &'a str {
        match self {
            Self::Call(_, raw) | Self::Other(raw) => raw,
        }
    }
}

/// A call of a tool that is to be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call<'a> {
    /// The request's id, as JSON.
    pub(super) id: &'a str,
    /// What tells the id apart, however it is written.
    pub(super) key: String,
    /// Name of the tool.
    pub(super) tool: String,
    /// The arguments, as JSON; an empty object where there are none.
    pub(super) arguments: &'a str,
    /// Whether a result is to say of which kind it is.
    pub(super) says_kind: bool,
}

/// Reads a message.
pub(super) fn read(bytes: &[u8]) -> Message<'_> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Message::Other };
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{') {
        return one(text);
    }
    let Some(places) = text.starts_with('[').then(|| items(text)).flatten() else {
        return Message::Other;
    };
    let raw = places.into_iter().filter_map(|place| text.get(place));
    let parts: Vec<Part<'_>> = raw
        .map(|raw| match one(raw) {
            Message::Call(call) => Part::Call(call, raw),
            Message::Batch(_) | Message::Cancels(_) | Message::Other => Part::Other(raw),
        })
        .collect();
    let calls = parts.iter().any(|part| matches!(part, Part::Call(..)));
    if calls { Message::Batch(parts) } else { Message::Other }
}

/// Reads a message that is no list of them.
fn one(text: &str) -> Message<'_> {
    let read = || {
        let object = Object::read(text)?;
        let method = object.get(text, "method").and_then(string)?;
        let params = object.get(text, "params");
        match method.as_str() {
            "tools/call" => call(object.get(text, "id")?, params?).map(Message::Call),
            "notifications/cancelled" => {
                let params = params?;
                let id = Object::read(params)?.get(params, "requestId")?;
                key(id).map(Message::Cancels)
            }
            _ => None,
        }
    };
    read().unwrap_or(Message::Other)
}

/// Reads a call; none where it names no tool: it is for the server to say so.
fn call<'a>(id: &'a str, params: &'a str) -> Option<Call<'a>> {
    let object = Object::read(params)?;
    let tool = object.get(params, "name").and_then(string)?;
    let arguments = object.get(params, "arguments").unwrap_or("{}");
    let revision = object.get(params, "_meta").and_then(|meta| {
        let object = Object::read(meta)?;
        object.get(meta, REVISION).and_then(string)
    });
    let says_kind = revision.is_some_and(|revision| revision.as_str() >= KINDS);
    Some(Call { id, key: key(id)?, tool, arguments, says_kind })
}

/// Returns what tells an id apart: `1` and `1.0` are one number and `"a"` and `"\u0061"` one
/// text, since a server may write the id of its reply in another way than its client did.
pub(super) fn key(id: &str) -> Option<String> {
    match serde_json::from_str(id).ok()? {
        Value::String(text) => Some(format!("text {text}")),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), _, _) => Some(format!("number {whole}")),
            (_, Some(whole), _) => Some(format!("number {whole}")),
            (_, _, Some(real)) if real.fract() == 0.0 => Some(format!("number {real:.0}")),
            _ => Some(format!("number {number}")),
        },
        other @ (Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            Some(format!("value {other}"))
        }
    }
}

/// Returns the key of the request that a message answers; none where it answers none.
pub(super) fn answered(message: &Object, text: &str) -> Option<String> {
    if message.place("method").is_some() {
        return None;
    }
    key(message.get(text, "id")?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_call(text: &str) -> Option<Call<'_>> {
        match read(text.as_bytes()) {
            Message::Call(call) => Some(call),
            Message::Batch(_) | Message::Cancels(_) | Message::Other => None,
        }
    }

    #[test]
    fn a_call_is_found_however_it_is_written() {
        let call = |id: &str, params: &str| {
            format!("{{\"id\":{id},\"params\":{params},\"method\":\"tools\\/call\"}}")
        };
        //     id           params                                    key, tool, arguments
        let table = [
            ("7", r#"{"name":"a"}"#, ("number 7", "a", "{}"), "no arguments"),
            ("7.0", r#"{"name":"a"}"#, ("number 7", "a", "{}"), "a real number"),
            ("7e0", r#"{"name":"a"}"#, ("number 7", "a", "{}"), "another one"),
            (r#""7""#, r#"{"name":"\u0061"}"#, ("text 7", "a", "{}"), "a text"),
            (r#""\u0078""#, r#"{"name":"a"}"#, ("text x", "a", "{}"), "an escape"),
            ("null", r#"{"name":"a"}"#, ("value null", "a", "{}"), "no id to speak of"),
            ("1.5", r#"{"name":"a"}"#, ("number 1.5", "a", "{}"), "a broken number"),
            ("9", r#"{"arguments": [1], "name":"a"}"#, ("number 9", "a", "[1]"), "bad arguments"),
            ("9", r#"{"arguments": "x", "name":"a"}"#, ("number 9", "a", "\"x\""), "worse ones"),
            ("9", r#"{"name":"b","name":"a"}"#, ("number 9", "a", "{}"), "named twice"),
        ];
        for (id, params, want, why) in table {
            let text = call(id, params);
            let got = of_call(&text).unwrap();
            assert_eq!((got.key.as_str(), got.tool.as_str(), got.arguments), want, "{why}");
            assert_eq!(got.id, id, "{why}");
            assert!(!got.says_kind, "{why}");
        }
        let new =
            r#"{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        assert!(of_call(&call("1", new)).unwrap().says_kind);
    }

    #[test]
    fn what_is_no_call_is_left_alone() {
        let table = [
            (r#"{"method":"tools/call","params":{"name":"a"}}"#, "a notification"),
            (r#"{"id":1,"method":"tools/list"}"#, "another request"),
            (r#"{"id":1,"method":"tools/call","params":{"name":7}}"#, "no name"),
            (r#"{"id":1,"method":"tools/call"}"#, "no parameters"),
            (r#"{"id":1,"result":{"method":"tools/call"}}"#, "a reply"),
            (r#"{"id":1,"method":"tools/call","params":{"name":"a"}"#, "not closed"),
            (r#"[{"id":1,"method":"ping"}]"#, "a batch without calls"),
            ("tools/call", "no JSON"),
            ("", "nothing"),
        ];
        for (text, why) in table {
            assert_eq!(read(text.as_bytes()), Message::Other, "{why}");
        }
        assert_eq!(
            read(b"{\"method\":\"tools/call\",\"id\":\"\xff\"}"),
            Message::Other,
            "no UTF-8"
        );
        let cancelled = r#"{"method":"notifications/cancelled","params":{"requestId":7.0}}"#;
        assert_eq!(read(cancelled.as_bytes()), Message::Cancels("number 7".into()));
    }

    #[test]
    fn a_batch_is_taken_apart() {
        let text =
            r#" [{"id":1,"method":"ping"}, {"id":2,"method":"tools/call","params":{"name":"a"}} ]"#;
        let Message::Batch(parts) = read(text.as_bytes()) else { panic!("no batch") };
        assert_eq!(parts[0], Part::Other(r#"{"id":1,"method":"ping"}"#));
        assert!(
            matches!(&parts[1], Part::Call(call, raw) if call.id == "2" && raw.ends_with("}}"))
        );
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in any::<Vec<u8>>()) {
            let _ = read(&bytes);
        }
    }
}
