//! What a judge knows of the operations of a task's world, and how arguments fit them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wildgym_tasks::scenario_file::{ASK_USER, pattern};

use crate::store::OperationData;

/// The operations of a world.
#[derive(Debug, Clone, Default)]
pub(super) struct Known(pub(super) BTreeMap<String, OperationData>);

/// What is wrong with arguments, by the classes of the 43-tool harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Misfit {
    /// A required one is missing.
    Missing,
    /// One has the wrong type.
    WrongType,
    /// One is none of the values that it may have.
    BadEnum,
    /// One does not exist.
    Unknown,
}

impl Known {
    /// Returns whether a tool can change the world.
    pub(super) fn writes(&self, tool: &str) -> bool {
        self.0.get(tool).is_some_and(|operation| operation.writes)
    }

    /// Returns whether a tool is an operation, or the one that asks the user.
    pub(super) fn has(&self, tool: &str) -> bool {
        tool == ASK_USER || self.0.contains_key(tool)
    }

    /// Returns whether two operations are easily taken for each other: they do the same with
    /// different things, that is, their names have the same first word after the category's.
    pub(super) fn alike(&self, a: &str, b: &str) -> bool {
        fn verb<'n>(known: &Known, name: &'n str) -> Option<&'n str> {
            let category = known.0.get(name).map(|operation| operation.category.as_str());
            name.split('_').find(|word| Some(*word) != category)
        }
        a != b && verb(self, a) == verb(self, b)
    }

    /// Puts the defaults of an operation's schema where arguments are left out, and returns
    /// the names of those.
    pub(super) fn fill_defaults(&self, tool: &str, arguments: &mut Value) -> BTreeSet<String> {
        let mut filled = BTreeSet::new();
        let Some(operation) = self.0.get(tool) else { return filled };
        let Some(fields) = arguments.as_object_mut() else { return filled };
        for (name, schema) in operation.parameters["properties"].as_object().into_iter().flatten() {
            if let Some(default) = schema.get("default")
                && !fields.contains_key(name)
            {
                fields.insert(name.clone(), default.clone());
                filled.insert(name.clone());
            }
        }
        filled
    }

    /// Returns whether a text, in small letters, stands in what the schemas tell of arguments,
    /// which an agent reads before its first call.
    pub(super) fn tells(&self, text: &str) -> bool {
        self.0.values().any(|one| one.parameters.to_string().to_lowercase().contains(text))
    }

    /// Returns what is wrong with the arguments of a call: the first class that fits.
    pub(super) fn misfit(&self, tool: &str, arguments: &Value) -> Option<Misfit> {
        let operation = self.0.get(tool)?;
        let mut found = BTreeSet::new();
        examine(&operation.parameters, arguments, &mut found);
        found.into_iter().next()
    }
}

fn examine(schema: &Value, value: &Value, found: &mut BTreeSet<Misfit>) {
    if let Some(allowed) = schema["enum"].as_array() {
        if !allowed.iter().any(|one| pattern::same(one, value)) {
            let kinds: Vec<&str> = allowed.iter().map(kind).collect();
            let is_type = kinds.contains(&kind(value));
            found.insert(if is_type { Misfit::BadEnum } else { Misfit::WrongType });
        }
        return;
    }
    if !has_type(&schema["type"], value) {
        found.insert(Misfit::WrongType);
        return;
    }
    if let Some(fields) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                found.insert(Misfit::Missing);
            }
        }
        let properties = schema["properties"].as_object();
        for (name, value) in fields {
            match properties.and_then(|all| all.get(name)) {
                Some(schema) => examine(schema, value, found),
                None if schema["additionalProperties"] == Value::Bool(false) => {
                    found.insert(Misfit::Unknown);
                }
                None => {}
            }
        }
    }
    if schema["items"].is_object() {
        for item in value.as_array().into_iter().flatten() {
            examine(&schema["items"], item, found);
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    match wanted {
        Value::String(name) if name == "integer" => {
            value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Value::String(name) => name == kind(value),
        Value::Array(names) => names.iter().any(|name| has_type(name, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known() -> Known {
        let parameters = json!({
            "type": "object",
            "required": ["contact_id", "type"],
            "additionalProperties": false,
            "properties": {
                "contact_id": {"type": "string"},
                "type": {"type": "string", "enum": ["call", "note"]},
                "minutes": {"type": "integer", "default": 10},
                "lines": {"type": "array", "items": {"type": "object", "required": ["sku"],
                    "properties": {"sku": {"type": "string"}}}},
            },
        });
        let operation = |category: &str, parameters: Value| OperationData {
            category: category.to_owned(),
            writes: true,
            parameters,
        };
        let all = [
            ("crm_log", operation("crm", parameters)),
            ("crm_search_contacts", operation("crm", json!({}))),
            ("admin_search_users", operation("admin", json!({}))),
            ("crm_delete_contact", operation("crm", json!({}))),
            ("crm_update_deal", operation("crm", json!({}))),
        ];
        Known(all.into_iter().map(|(name, one)| (name.to_owned(), one)).collect())
    }

    #[test]
    fn arguments_are_classed_by_what_is_wrong_first() {
        let known = known();
        let table = [
            (json!({"contact_id": "C", "type": "call"}), None, "right"),
            (json!({"type": "call"}), Some(Misfit::Missing), "missing"),
            (json!({"contact_id": 5, "type": "call"}), Some(Misfit::WrongType), "type"),
            (json!({"contact_id": "C", "type": "chat"}), Some(Misfit::BadEnum), "enum"),
            (json!({"contact_id": "C", "type": 1}), Some(Misfit::WrongType), "type of an enum"),
            (json!({"contact_id": "C", "type": "call", "x": 1}), Some(Misfit::Unknown), "name"),
            (json!({"type": "chat", "x": 1}), Some(Misfit::Missing), "the first of several"),
            (json!({"contact_id": "C", "type": "call", "minutes": 2.0}), None, "2.0 is whole"),
            (
                json!({"contact_id": "C", "type": "call", "minutes": "2"}),
                Some(Misfit::WrongType),
                "text for a number",
            ),
            (
                json!({"contact_id": "C", "type": "call", "lines": [{"sku": "A"}, {}]}),
                Some(Misfit::Missing),
                "nested",
            ),
            (json!(null), Some(Misfit::WrongType), "not JSON"),
        ];
        for (arguments, want, why) in table {
            assert_eq!(known.misfit("crm_log", &arguments), want, "{why}: {arguments}");
        }
        let mut arguments = json!({"type": "call"});
        known.fill_defaults("crm_log", &mut arguments);
        assert_eq!(arguments["minutes"], 10);
    }

    #[test]
    fn names_are_alike_by_what_is_done() {
        let known = known();
        assert!(known.alike("crm_search_contacts", "admin_search_users"));
        assert!(!known.alike("crm_search_contacts", "crm_delete_contact"), "the same things");
        assert!(known.alike("send_email", "send_notification"));
        assert!(!known.alike("crm_log", "crm_update_deal"), "the category says nothing");
        assert!(!known.alike("crm_log", "crm_log"), "itself");
    }
}
