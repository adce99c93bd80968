//! OP3: results in a form that no caller expects.
//!
//! Each is something that real servers have sent with a success status: nothing, `null`, the
//! page of a proxy in between, an object of another call, a value printed instead of
//! serialised, bytes in another encoding, fields without values.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use serde_json::Value;

use super::{Changed, document, written};

/// Results that have nothing to do with what was asked, and what they are.
const STRAYS: [(&str, &str); 8] = [
    ("", "nothing"),
    ("null", "null"),
    ("{}", "an empty object"),
    ("{\"status\":\"ok\",\"data\":null}", "a status without data"),
    ("[object Object]", "an object printed by mistake"),
    ("undefined", "undefined"),
    ("<coroutine object handle_request at 0x7f3a5c1e2d40>", "an object printed by mistake"),
    (
        "<!DOCTYPE html><html><head><title>Portal</title></head><body><h1>Welcome</h1><p>The \
         server is running. There is nothing here yet.</p></body></html>",
        "the page of a web server",
    ),
];

/// Replaces a result.
pub(super) fn replace(text: &str, rng: &mut ChaCha12Rng) -> Changed {
    let own = if rng.random_bool(0.2) { of_itself(text) } else { None };
    own.filter(|own| own.text != text).unwrap_or_else(|| {
        let strays: Vec<_> = STRAYS.iter().filter(|(stray, _)| *stray != text).collect();
        let (stray, what) = strays[rng.random_range(0..strays.len())];
        Changed { text: (*stray).to_owned(), what: (*what).to_owned() }
    })
}

/// Makes an invalid result of the true one: fields without values, or undecodable bytes.
fn of_itself(text: &str) -> Option<Changed> {
    if let Some(mut value) = document(text) {
        empty(&mut value);
        let what = "fields without values".to_owned();
        return Some(Changed { text: written(&value, text), what });
    }
    // UTF-8 that was read as Latin-1 and cut: what is not ASCII doubles, and the rest is gone.
    let garbled: String = text.bytes().take(400).map(char::from).collect();
    let what = "bytes in another encoding".to_owned();
    (!text.is_ascii()).then_some(Changed { text: garbled, what })
}

/// Takes the values out of a document.
fn empty(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(empty),
        Value::Object(fields) => fields.values_mut().for_each(empty),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => *value = Value::Null,
    }
}
