//! Arguments against their schema.

use serde_json::{Map, Value};

use crate::catalog::Entry;
use crate::error::ToolError;

/// How many faults one message names.
const FAULTS: usize = 3;

/// Reads the arguments of a call. An empty text counts as no arguments, since models
/// write that for tools without any.
pub(super) fn read(entry: &Entry, text: &str) -> Result<Value, ToolError> {
    let reject =
        |reason: String| ToolError::BadArguments { tool: entry.tool.name().to_owned(), reason };
    if text.trim().is_empty() {
        return check(entry, Value::Object(Map::new())).map_err(reject);
    }
    let value = serde_json::from_str::<Value>(text).map_err(|error| {
        reject(format!("they are not JSON ({error}); expected {}", expected(&entry.parameters)))
    })?;
    check(entry, value).map_err(reject)
}

fn check(entry: &Entry, value: Value) -> Result<Value, String> {
    let faults: Vec<String> = entry
        .validator
        .iter_errors(&value)
        .take(FAULTS)
        .map(|fault| {
            let path = fault.instance_path().to_string();
            let place = path.trim_start_matches('/').replace('/', ".");
            if place.is_empty() { fault.to_string() } else { format!("`{place}`: {fault}") }
        })
        .collect();
    if faults.is_empty() {
        return Ok(value);
    }
    Err(format!("{}; expected {}", faults.join("; "), expected(&entry.parameters)))
}

/// Writes a schema's parameters in one line: `{query: string, page?: integer}`.
fn expected(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| {
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            format!("{name}{mark}: {}", kind(field))
        })
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn kind(field: &Value) -> String {
    let named = match &field["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "any".to_owned(),
    };
    match field["enum"].as_array() {
        Some(values) => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
        None => named,
    }
}
