//! Checks a value against the schema of its type, and repairs it.
//!
//! The schemas are our own ([`crate::schema`]), so this reads just the keywords that
//! they use; in exchange each fault names its field and says in plain words what was
//! expected. After a check the value fits the schema: whatever did not was replaced by
//! the plainest value that does.

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::text;

/// Faults as pairs of field and problem.
pub(crate) type Found = Vec<(String, String)>;

/// Checks `value` at `field` and repairs it.
pub(crate) fn check(schema: &Value, value: &mut Value, field: &str, found: &mut Found) {
    let schema = present(schema);
    let fits = match (kind(schema), &mut *value) {
        (Kind::Any, _) => true,
        (Kind::Object, Value::Object(fields)) => {
            object(schema, fields, field, found);
            true
        }
        (Kind::Array, Value::Array(items)) => {
            array(schema, items, field, found);
            items.len() as u64 >= schema["minItems"].as_u64().unwrap_or(0)
        }
        (Kind::Scalar, value) => scalar(schema, value),
        (Kind::Object | Kind::Array, _) => false,
    };
    if !fits {
        found.push((
            field.to_owned(),
            format!("expected {}, found {}", expectation(schema), describe(value)),
        ));
        *value = placeholder(schema);
    }
}

enum Kind {
    Any,
    Object,
    Array,
    Scalar,
}

fn kind(schema: &Value) -> Kind {
    match type_name(schema) {
        "object" => Kind::Object,
        "array" => Kind::Array,
        "" if !choices(schema).is_empty() => Kind::Scalar,
        "" => Kind::Any,
        _ => Kind::Scalar,
    }
}

/// Looks past "or nothing", which TOML cannot write.
fn present(schema: &Value) -> &Value {
    let options = schema["anyOf"].as_array();
    options.and_then(|all| all.iter().find(|one| one["type"] != "null")).unwrap_or(schema)
}

fn type_name(schema: &Value) -> &str {
    schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_default()
}

/// Returns the names that a schema of fixed names allows.
fn choices(schema: &Value) -> Vec<&str> {
    let consts = schema["oneOf"].as_array().into_iter().flatten();
    let mut names: Vec<_> = consts.filter_map(|one| one["const"].as_str()).collect();
    names.extend(schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str));
    names
}

/// Checks the fields of a table: those of the schema and those of the alternative
/// (`oneOf`) that the table chooses by a tag or by a field that only this one has.
fn object(schema: &Value, fields: &mut Map<String, Value>, path: &str, found: &mut Found) {
    let join =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let branch = schema["oneOf"].as_array().map(|branches| alternative(branches, fields));
    let branch = match branch {
        Some(Err((field, problem))) => {
            found.push((if field.is_empty() { path.to_owned() } else { join(&field) }, problem));
            fields.clear();
            if let Value::Object(plain) = placeholder(schema) {
                *fields = plain;
            }
            return;
        }
        Some(Ok(branch)) => branch,
        None => &Value::Null,
    };
    let parts = [schema, branch];
    let property = |name: &str| parts.iter().find_map(|part| part["properties"].get(name));
    let known: Vec<String> = parts
        .iter()
        .filter_map(|part| part["properties"].as_object())
        .flat_map(Map::keys)
        .cloned()
        .collect();
    let others = &schema["additionalProperties"];
    let closed =
        *others == Value::Bool(false) || schema["unevaluatedProperties"] == Value::Bool(false);
    let mut unknown = Vec::new();
    for (name, value) in fields.iter_mut() {
        if let Some(schema) = property(name) {
            check(schema, value, &join(name), found);
        } else if closed {
            unknown.push(name.clone());
        } else if others.is_object() {
            check(others, value, &join(name), found);
        }
    }
    for name in unknown {
        fields.remove(&name);
        found.push((join(&name), text::unknown("field", &name, &known)));
    }
    for part in parts {
        for name in part["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                let schema = &part["properties"][name];
                let problem = format!("missing; expected {}", expectation(present(schema)));
                found.push((join(name), problem));
                fields.insert(name.to_owned(), placeholder(schema));
            }
        }
    }
}

/// Chooses the alternative of a table, or says at which field there is none.
fn alternative<'s>(
    branches: &'s [Value],
    fields: &Map<String, Value>,
) -> Result<&'s Value, (String, String)> {
    let tag = branches[0]["properties"].as_object().and_then(|properties| {
        properties.iter().find(|(_, schema)| schema.get("const").is_some()).map(|(name, _)| name)
    });
    let Some(tag) = tag else {
        let names: Vec<_> = branches.iter().filter_map(|one| one["required"][0].as_str()).collect();
        let chosen: Vec<_> = branches
            .iter()
            .filter(|one| one["required"][0].as_str().is_some_and(|name| fields.contains_key(name)))
            .collect();
        return match chosen[..] {
            [one] => Ok(one),
            _ => Err((String::new(), format!("expected exactly one of {}", text::ticked(&names)))),
        };
    };
    let names: Vec<_> =
        branches.iter().filter_map(|one| one["properties"][tag]["const"].as_str()).collect();
    let expected = format!("expected one of {}", text::ticked(&names));
    let Some(given) = fields.get(tag) else {
        return Err((tag.clone(), format!("missing; {expected}")));
    };
    branches
        .iter()
        .find(|one| one["properties"][tag]["const"] == *given)
        .ok_or_else(|| (tag.clone(), format!("{expected}, found {}", describe(given))))
}

fn array(schema: &Value, items: &mut [Value], path: &str, found: &mut Found) {
    for index in 0..items.len() {
        let (before, rest) = items.split_at_mut(index);
        let field = format!("{path}[{index}]");
        if schema["uniqueItems"] == true && before.contains(&rest[0]) {
            found.push((field, format!("{} is listed twice", describe(&rest[0]))));
        } else {
            check(&schema["items"], &mut rest[0], &field, found);
        }
    }
}

fn scalar(schema: &Value, value: &Value) -> bool {
    let names = choices(schema);
    if !names.is_empty() {
        return value.as_str().is_some_and(|name| names.contains(&name));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return false;
    }
    match type_name(schema) {
        "string" => value.as_str().is_some_and(|text| {
            !(schema["minLength"].as_u64() >= Some(1) && text.trim().is_empty())
                && schema["format"].as_str().is_none_or(|format| fits_format(format, text))
        }),
        "boolean" => value.is_boolean(),
        "integer" => value.as_i64().is_some_and(|number| {
            number >= schema["minimum"].as_i64().unwrap_or(i64::MIN)
                && number <= schema["maximum"].as_i64().unwrap_or(i64::MAX)
                && (schema["format"] != "uint32" || number <= i64::from(u32::MAX))
        }),
        _ => value
            .as_f64()
            .is_some_and(|number| number >= schema["minimum"].as_f64().unwrap_or(f64::MIN)),
    }
}

fn fits_format(format: &str, text: &str) -> bool {
    match format {
        "date" => text.parse::<Date>().is_ok_and(|date| date.to_string() == text),
        "date-time" => text.parse::<Timestamp>().is_ok(),
        "regex" => regex::Regex::new(text).is_ok(),
        "line" => text::is_line(text),
        "id" => text::is_id(text),
        "name" => text::is_name(text),
        "host" => text::is_host(text),
        "path" => text::is_path(text),
        "url-path" => text::is_url_path(text),
        _ => true,
    }
}

/// Says in words what a schema wants.
fn expectation(schema: &Value) -> String {
    let names = choices(schema);
    if !names.is_empty() {
        return format!("one of {}", text::ticked(&names));
    }
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    let least = |value: &Value| match (value.as_f64(), schema["maximum"].as_f64()) {
        // What the type alone allows is no bound that anyone meant.
        (Some(least), Some(most)) if schema["maximum"].as_u64() < Some(1 << 16) => {
            format!(" from {least} to {most}")
        }
        (Some(least), _) => format!(" ≥ {least}"),
        (None, _) => String::new(),
    };
    match type_name(schema) {
        "object" => "a table".to_owned(),
        "array" if schema["minItems"].as_u64() >= Some(1) => {
            "an array that is not empty".to_owned()
        }
        "array" => "an array".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => format!("a whole number{}", least(&schema["minimum"])),
        "number" => format!("a number{}", least(&schema["minimum"])),
        _ => match schema["format"].as_str() {
            Some("date") => "a date, such as \"2026-03-01\"".to_owned(),
            Some("date-time") => "a time in UTC, such as \"2026-03-01T09:00:00Z\"".to_owned(),
            Some("regex") => "a regular expression".to_owned(),
            Some("line") => "one line of text that is not blank".to_owned(),
            Some("id") => "small letters, digits and single `-`, such as \"ds-ferry\"".to_owned(),
            Some("name") => "letters, digits and `_`, not starting with a digit".to_owned(),
            Some("host") => "a host name in small letters, such as \"www.example.org\"".to_owned(),
            Some("path") => "a relative path without `..`, such as \"data/sales.csv\"".to_owned(),
            Some("url-path") => "a path that starts with `/`".to_owned(),
            _ if schema["minLength"].as_u64() >= Some(1) => "text that is not blank".to_owned(),
            _ => "text".to_owned(),
        },
    }
}

/// Says in words what was found.
fn describe(value: &Value) -> String {
    match value {
        Value::Object(_) => "a table".to_owned(),
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::String(text) => text::quoted(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Returns the plainest value that fits.
fn placeholder(schema: &Value) -> Value {
    let schema = present(schema);
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(name) = choices(schema).first() {
        return json!(name);
    }
    match type_name(schema) {
        "object" => {
            let mut fields = Map::new();
            for part in [schema, &schema["oneOf"][0]] {
                for name in part["required"].as_array().into_iter().flatten() {
                    let name = name.as_str().unwrap_or_default();
                    fields.insert(name.to_owned(), placeholder(&part["properties"][name]));
                }
            }
            Value::Object(fields)
        }
        "array" => json!([]),
        "boolean" => json!(false),
        "integer" | "number" => json!(1),
        _ => match schema["format"].as_str() {
            Some("date") => json!("2000-01-01"),
            Some("date-time") => json!("2000-01-01T00:00:00Z"),
            _ => json!("x"),
        },
    }
}
