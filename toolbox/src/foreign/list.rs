//! What a server lists as its tools.
//!
//! Read as plain JSON and piece by piece, so that one tool that is none costs itself alone.

use serde_json::{Map, Value, json};

use super::Spec;

/// Most characters of a description that a model is told.
const DESCRIPTION: usize = 16 << 10;

/// Most bytes of a schema, as JSON.
const SCHEMA: usize = 256 << 10;

/// Most characters of a tool's own name.
const NAME: usize = 256;

/// How much of a list is told to people.
const SHOWN: usize = 12;

/// A tool, as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Remote {
    /// The name by which its server knows it.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// Whether its server says that it changes nothing.
    pub reads_only: bool,
}

/// A page of a list: the tools, what is none and why, and where the next page is.
type Page = (Vec<Remote>, Vec<String>, Option<String>);

/// Reads one page.
pub(super) fn page(result: &Value) -> Result<Page, String> {
    let Some(listed) = result.get("tools").and_then(Value::as_array) else {
        return Err("its list of tools is none".to_owned());
    };
    let (mut tools, mut left_out) = (Vec::new(), Vec::new());
    for one in listed {
        match remote(one) {
            Ok(tool) => tools.push(tool),
            Err(why) => left_out.push(why),
        }
    }
    let next = result.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
    Ok((tools, left_out, next.map(str::to_owned)))
}

fn remote(tool: &Value) -> Result<Remote, String> {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() || name.chars().count() > NAME {
        return Err("a tool without a usable name".to_owned());
    }
    let schema = match tool.get("inputSchema") {
        Some(Value::Object(schema)) => parameters(schema.clone()),
        Some(_) | None => return Err(format!("`{name}`, which has no schema")),
    };
    if schema.to_string().len() > SCHEMA {
        return Err(format!("`{name}`, whose schema is larger than {} KiB", SCHEMA >> 10));
    }
    let title = tool.get("title").and_then(Value::as_str);
    let said = tool.get("description").and_then(Value::as_str).or(title).unwrap_or_default();
    let hints = tool.get("annotations");
    let reads = hints.and_then(|hints| hints.get("readOnlyHint")).and_then(Value::as_bool);
    Ok(Remote {
        name: name.to_owned(),
        description: said.chars().take(DESCRIPTION).collect(),
        schema,
        reads_only: reads.unwrap_or(false),
    })
}

/// Returns a schema as endpoints want it: that of an object with a list of its fields.
fn parameters(mut schema: Map<String, Value>) -> Value {
    // One that nobody knows says nothing about the rest.
    let known =
        |dialect: &Value| dialect.as_str().is_some_and(|one| one.contains("json-schema.org/"));
    if schema.get("$schema").is_some_and(|dialect| !known(dialect)) {
        schema.remove("$schema");
    }
    schema.entry("type").or_insert_with(|| json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Value::Object(schema)
}

/// Refuses a list that lacks tools which are named: whoever wrote `tools` means something by
/// each.
pub(super) fn all_named(spec: &Spec, listed: &[String]) -> Result<(), String> {
    let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
    let strangers: Vec<String> = spec
        .server
        .strangers(&listed)
        .into_iter()
        .map(|(_, pattern)| format!("`{pattern}`"))
        .collect();
    if strangers.is_empty() {
        return Ok(());
    }
    let known: Vec<String> = listed.iter().map(|name| format!("`{name}`")).collect();
    let known = if known.is_empty() { "none".to_owned() } else { some(&known) };
    Err(format!("`tools` names {}, and it lists no such tool; it lists {known}", some(&strangers)))
}

/// Says that there is nothing, and why of each that is listed all the same.
#[must_use]
pub fn nothing(what: &str, left_out: &[String]) -> String {
    if left_out.is_empty() { what.to_owned() } else { format!("{what}: {}", some(left_out)) }
}

/// Joins the first of what a server may have made long.
fn some(all: &[String]) -> String {
    let clean = |one: &String| -> String {
        one.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
    };
    let shown: Vec<String> = all.iter().take(SHOWN).map(clean).collect();
    let more = match all.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join("; ") + &more
}

/// Says how a list differs from the one that is pinned; none where it does not.
pub(super) fn drift(pinned: &[Remote], found: &[Remote]) -> Option<String> {
    let of = |list: &[Remote], other: &[Remote]| -> Vec<String> {
        let missing = |tool: &&Remote| !other.iter().any(|one| one.name == tool.name);
        list.iter().filter(missing).map(|tool| format!("`{}`", tool.name)).collect()
    };
    let changed: Vec<String> = pinned
        .iter()
        .filter(|tool| found.iter().any(|one| one.name == tool.name && one != *tool))
        .map(|tool| format!("`{}`", tool.name))
        .collect();
    let parts = [("gone", of(pinned, found)), ("new", of(found, pinned)), ("changed", changed)];
    let said: Vec<String> = parts
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}", names.join(", ")))
        .collect();
    (!said.is_empty()).then(|| said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_tool_costs_itself_alone() {
        let good = json!({
            "name": "a", "description": "A", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true}, "icons": [1, 2],
        });
        let bad = [
            json!(null),
            json!({"name": 7, "inputSchema": {}}),
            json!({"name": "", "inputSchema": {}}),
            json!({"name": "b"}),
            json!({"name": "c", "inputSchema": "x"}),
            json!({"name": "d", "inputSchema": {"x": "y".repeat(SCHEMA)}}),
        ];
        let all: Vec<Value> = bad.iter().cloned().chain([good]).collect();
        let (tools, left_out, next) = page(&json!({"tools": all, "nextCursor": "2"})).unwrap();
        assert_eq!(left_out.len(), bad.len(), "{left_out:?}");
        assert_eq!((tools.len(), next.as_deref()), (1, Some("2")));
        assert!(tools[0].reads_only && tools[0].schema["properties"].is_object());
        for none in [json!({}), json!({"tools": 3}), json!([]), json!(null)] {
            assert!(page(&none).is_err(), "{none}");
        }
    }

    #[test]
    fn a_drift_is_named() {
        let tool = |name: &str, description: &str| Remote {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: json!({}),
            reads_only: false,
        };
        let pinned = [tool("a", ""), tool("b", ""), tool("c", "")];
        assert_eq!(drift(&pinned, &pinned), None);
        let found = [tool("b", "other"), tool("c", ""), tool("d", "")];
        let said = drift(&pinned, &found).unwrap();
        assert_eq!(said, "gone: `a`; new: `d`; changed: `b`");
    }
}
