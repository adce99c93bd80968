//! What page actions take, as models are told of it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use wildgym_sandbox::browser::Action;

/// Id of an element. Models write `12`, `"12"` and `"[12]"`; all of them mean 12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identifier(u32);

impl JsonSchema for Identifier {
    fn schema_name() -> Cow<'static, str> {
        "Identifier".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"] })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl<'de> Deserialize<'de> for Identifier {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let bare = value.as_str().map(|text| text.trim().trim_matches(['[', ']']).trim());
        let number = bare.map_or_else(|| value.as_u64(), |text| text.parse().ok());
        number.and_then(|number| u32::try_from(number).ok()).map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "`identifier`: {value} is no id; take the number in brackets before the element"
            ))
        })
    }
}

/// Arguments of an action that takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Arguments of an action on an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Element {
    /// Id of the element: the number in brackets before it.
    pub(super) identifier: Identifier,
}

/// Arguments of `fill_input_id`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Field {
    /// Id of the field: the number in brackets before it.
    pub(super) identifier: Identifier,
    /// What to put in: a text, the label of an option, a date as `2026-03-05`, `true` or
    /// `false` for a checkbox, the path of a file of the workspace for a file field.
    pub(super) text: String,
}

/// Arguments of `find_text_on_page`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// The text; case and runs of spaces do not matter.
    pub(super) search_text: String,
}

/// Arguments of `visit_page`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Address {
    /// The address, whole: with `https://`.
    pub(super) url: String,
}

/// Reads arguments into the action that they are for.
pub(super) type Read = fn(Value) -> Result<Action, serde_json::Error>;

impl Element {
    /// Returns a reader for an action on an element.
    pub(super) fn read(
        arguments: Value,
        action: fn(u32) -> Action,
    ) -> Result<Action, serde_json::Error> {
        let Self { identifier: Identifier(id) } = serde_json::from_value(arguments)?;
        Ok(action(id))
    }
}

impl Nothing {
    pub(super) fn read(arguments: Value, action: Action) -> Result<Action, serde_json::Error> {
        let Self {} = serde_json::from_value(arguments)?;
        Ok(action)
    }
}

pub(super) fn fill(arguments: Value) -> Result<Action, serde_json::Error> {
    let Field { identifier: Identifier(id), text } = serde_json::from_value(arguments)?;
    Ok(Action::FillInputId { id, text })
}

pub(super) fn find(arguments: Value) -> Result<Action, serde_json::Error> {
    let Search { search_text: text } = serde_json::from_value(arguments)?;
    Ok(Action::FindTextOnPage { text })
}

pub(super) fn visit(arguments: Value) -> Result<Action, serde_json::Error> {
    let Address { url } = serde_json::from_value(arguments)?;
    Ok(Action::VisitPage { url })
}
