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
    let misfits = entry.misfits(&value);
    let faults: Vec<String> = misfits.iter().take(FAULTS).map(ToString::to_string).collect();
    if faults.is_empty() {
        return Ok(value);
    }
    Err(format!("{}; expected {}", faults.join("; "), expected(&entry.parameters)))
}

/// Writes a schema's parameters in one line: `{query: string, page?: integer}`.
pub(crate) fn expected(schema: &Value) -> String {
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

/// Writes what a field takes: its types, or the values that it may have.
fn kind(field: &Value) -> String {
    let mut kinds = Vec::new();
    alternatives(field, &mut kinds);
    let mut seen = std::collections::BTreeSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    let has_values = kinds.iter().any(|kind| kind.starts_with('"'));
    match kinds.as_slice() {
        [] => "any".to_owned(),
        kinds => kinds.join(if has_values { " | " } else { " or " }),
    }
}

/// Collects what a schema allows. An enumeration comes as `enum`, as a `const`, or as one
/// `const` for each value in `oneOf`; what may be left out as `anyOf` with `null`.
fn alternatives(field: &Value, kinds: &mut Vec<String>) {
    if let Some(value) = field.get("const") {
        kinds.push(value.to_string());
    } else if let Some(values) = field["enum"].as_array() {
        kinds.extend(values.iter().map(ToString::to_string));
    } else if let Some(parts) = ["oneOf", "anyOf"].iter().find_map(|name| field[name].as_array()) {
        for part in parts {
            alternatives(part, kinds);
        }
    } else if let Some(names) = field["type"].as_array() {
        kinds.extend(names.iter().filter_map(Value::as_str).map(ToOwned::to_owned));
    } else if let Some(name) = field["type"].as_str() {
        kinds.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_shows_what_it_takes() {
        let table = [
            (json!({"type": "string"}), "string", "a type"),
            (json!({"type": ["string", "null"]}), "string or null", "types"),
            (json!({"enum": ["a", "b"]}), r#""a" | "b""#, "an enumeration"),
            (json!({"type": "string", "const": "a"}), r#""a""#, "one value"),
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), r#""a" | "b""#, "documented"),
            (
                json!({"anyOf": [{"oneOf": [{"const": "a"}]}, {"type": "null"}]}),
                r#""a" | null"#,
                "optional",
            ),
            (json!({}), "any", "nothing said"),
        ];
        for (schema, want, why) in table {
            assert_eq!(kind(&schema), want, "{why}: {schema}");
        }
        let catalog = crate::Catalog::all().unwrap();
        let search = catalog.entry("search_serper").unwrap().signature();
        assert!(search.contains(r#"kind?: "search" | "news""#), "{search}");
        for entry in catalog.iter() {
            assert!(!entry.signature().contains("any"), "{}", entry.signature());
        }
    }
}
