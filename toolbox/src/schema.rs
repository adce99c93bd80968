//! One definition, two schemas: what OpenAI-compatible endpoints and MCP clients are told.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::catalog::Entry;

/// Returns the JSON Schema (draft 2020-12, all inlined) of a tool's arguments.
///
/// Optional arguments stay optional and keep their defaults; the titles that the
/// generator adds are left out, since they only cost tokens.
#[must_use]
pub fn parameters<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        object.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// Returns the tool as an entry of `tools` in a chat-completions request.
#[must_use]
pub fn openai(entry: &Entry) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": entry.tool.name(),
            "description": entry.tool.description(),
            "parameters": entry.parameters,
        },
    })
}

/// Returns the tool as an entry of the result of MCP's `tools/list`.
#[must_use]
pub fn mcp(entry: &Entry) -> Value {
    json!({
        "name": entry.tool.name(),
        "description": entry.tool.description(),
        "inputSchema": entry.parameters,
    })
}
