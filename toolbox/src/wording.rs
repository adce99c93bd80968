//! What models are told of tools, in other words.
//!
//! A wording replaces descriptions of tools and of their parameters. Names, types and what
//! arguments are taken stay as they are, so that trials under two wordings differ in the
//! words alone. It refuses nothing by itself: [`Wording::misfits`] says what of it is about
//! no tool.
//!
//! A parameter is named by its place in the schema: `query`; `address.city` is a field of
//! one, `lines[]` the items of a list, `lines[].quantity` a field of these, and `rates.*` what
//! stands under any other name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wildgym_tasks::environment::BrowserMode;

use crate::catalog::{ALIKE, Catalog, Entry};
use crate::error::ToolError;
use crate::tool::{AnyTool, Prepared};

/// Other texts for some tools; what it does not name stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    /// By name of the tool.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolWords>,
}

/// The texts of one tool. An empty one means that nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolWords {
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its parameters are, by their place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

impl Wording {
    /// Returns all texts of some tools as they are; a parameter without one has an empty one.
    #[must_use]
    pub fn of(catalog: &Catalog) -> Self {
        let mut tools: BTreeMap<String, ToolWords> = BTreeMap::new();
        for entry in catalog.iter() {
            let words = tools.entry(entry.tool.name().to_owned()).or_default();
            words.description = Some(entry.tool.description().to_owned());
            each(&mut entry.parameters.clone(), "", &mut |place, schema| {
                let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
                words.parameters.insert(place.to_owned(), text.to_owned());
            });
        }
        Self { tools }
    }

    /// Returns whether it replaces nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.values().all(|words| *words == ToolWords::default())
    }

    /// Returns whether it has another text for a tool.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|words| *words != ToolWords::default())
    }

    /// Says of each name that is not one of `catalog` that it is none, and what is nearest.
    #[must_use]
    pub fn misfits(&self, catalog: &Catalog) -> Vec<String> {
        let mut found = Vec::new();
        for (tool, words) in &self.tools {
            if let Err(error) = catalog.entry(tool) {
                found.push(error.to_string());
                continue;
            }
            let places = places(catalog, tool);
            let unknown = words.parameters.keys().filter(|place| !places.contains(*place));
            found.extend(unknown.map(|place| unknown_place(tool, place, &places)));
        }
        found
    }

    /// Returns a tool as it is told of in these words.
    pub(crate) fn applied(&self, entry: &Entry) -> Entry {
        let Some(words) = self.tools.get(entry.tool.name()) else { return entry.clone() };
        let mut parameters = entry.parameters.clone();
        each(&mut parameters, "", &mut |place, schema| {
            let Some(text) = words.parameters.get(place) else { return };
            if text.is_empty() {
                schema.shift_remove("description");
            } else {
                schema.insert("description".to_owned(), Value::from(text.as_str()));
            }
        });
        let own = || entry.tool.description().to_owned();
        let tool = Arc::new(Reworded {
            tool: Arc::clone(&entry.tool),
            description: words.description.clone().unwrap_or_else(own),
            parameters: parameters.clone(),
        });
        // What arguments are taken is the same, so the compiled schema is too.
        Entry { tool, parameters, validator: Arc::clone(&entry.validator) }
    }
}

/// Shows `visit` every parameter below a schema with its place.
fn each(schema: &mut Value, place: &str, visit: &mut dyn FnMut(&str, &mut Map<String, Value>)) {
    for word in ["anyOf", "oneOf", "allOf"] {
        for one in schema.get_mut(word).and_then(Value::as_array_mut).into_iter().flatten() {
            each(one, place, visit);
        }
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, one) in properties.into_iter().flatten() {
        let below = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        part(one, &below, visit);
    }
    for (word, mark) in [("items", "[]"), ("additionalProperties", ".*")] {
        if let Some(one) = schema.get_mut(word) {
            part(one, &format!("{place}{mark}"), visit);
        }
    }
}

/// Shows `visit` a parameter, where a schema says what it is, and those below.
fn part(schema: &mut Value, place: &str, visit: &mut dyn FnMut(&str, &mut Map<String, Value>)) {
    if let Some(fields) = schema.as_object_mut() {
        visit(place, fields);
        each(schema, place, visit);
    }
}

/// Returns the places of all parameters of a tool.
fn places(catalog: &Catalog, tool: &str) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    for entry in catalog.iter().filter(|entry| entry.tool.name() == tool) {
        each(&mut entry.parameters.clone(), "", &mut |place, _| {
            places.insert(place.to_owned());
        });
    }
    places
}

fn unknown_place(tool: &str, place: &str, known: &BTreeSet<String>) -> String {
    let alike = |other: &String| strsim::jaro_winkler(place, other);
    let nearest = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    let names = || known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let hint = match nearest {
        None => "it has none".to_owned(),
        Some(near) if alike(near) >= ALIKE => format!("the nearest is `{near}`"),
        Some(_) => format!("its parameters are {}", names()),
    };
    format!("`{tool}` has no parameter `{place}`; {hint}")
}

/// A tool that is told of in other words.
struct Reworded {
    tool: Arc<dyn AnyTool>,
    description: String,
    parameters: Value,
}

impl AnyTool for Reworded {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn category(&self) -> &str {
        self.tool.category()
    }

    fn example(&self) -> Value {
        self.tool.example()
    }

    fn browser(&self) -> Option<BrowserMode> {
        self.tool.browser()
    }

    fn parameters(&self) -> Value {
        self.parameters.clone()
    }

    fn origin(&self) -> Option<(&str, &str)> {
        self.tool.origin()
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Prepared, ToolError> {
        Arc::clone(&self.tool).prepare(arguments)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::schema;

    fn words(tool: &str, description: Option<&str>, parameters: &[(&str, &str)]) -> Wording {
        let parameters = parameters.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        let words = ToolWords {
            description: description.map(str::to_owned),
            parameters: parameters.collect(),
        };
        Wording { tools: [(tool.to_owned(), words)].into() }
    }

    #[test]
    fn the_texts_as_they_are_change_nothing() {
        let all = Catalog::all().unwrap();
        let own = Wording::of(&all);
        assert_eq!(own.misfits(&all), Vec::<String>::new());
        assert_eq!(own.tools.len(), all.names().len());
        let told = |catalog: &Catalog| catalog.iter().map(schema::openai).collect::<Vec<_>>();
        assert_eq!(told(&all.reworded(&own)), told(&all));
    }

    #[test]
    fn words_change_and_what_is_taken_stays() {
        let all = Catalog::all().unwrap();
        let wording = words("scrape", Some("Get it."), &[("url", "Where.")]);
        let told = all.reworded(&wording);
        let entry = told.entry("scrape").unwrap();
        let openai = schema::openai(entry);
        assert_eq!(openai["function"]["description"], "Get it.");
        assert_eq!(openai["function"]["parameters"]["properties"]["url"]["description"], "Where.");
        assert_eq!(schema::mcp(entry)["description"], "Get it.");
        let own = all.entry("scrape").unwrap();
        for arguments in [json!({"url": "https://a.example/"}), json!({"uri": 1}), json!({})] {
            assert_eq!(entry.misfits(&arguments), own.misfits(&arguments), "{arguments}");
        }
        let silent = all.reworded(&words("scrape", Some(""), &[("url", "")]));
        let silent = silent.entry("scrape").unwrap();
        assert_eq!(silent.tool.description(), "");
        assert!(silent.parameters["properties"]["url"].get("description").is_none());
    }

    #[test]
    fn parameters_are_named_by_their_place() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "q"},
                "lines": {"type": "array", "items": {"type": "object", "properties": {
                    "quantity": {"type": "integer"},
                }}},
                "to": {"anyOf": [
                    {"type": "object", "properties": {"city": {}}, "additionalProperties": false},
                    {"type": "null"},
                ]},
                "rates": {"type": "object", "additionalProperties": {"type": "number"}},
            },
        });
        let mut seen = Vec::new();
        each(&mut schema, "", &mut |place, _| seen.push(place.to_owned()));
        let want =
            ["query", "lines", "lines[]", "lines[].quantity", "to", "to.city", "rates", "rates.*"];
        assert_eq!(seen, want);
    }

    #[test]
    fn unknown_names_are_told_with_the_nearest() {
        let all = Catalog::all().unwrap();
        let table = [
            (words("scrap", None, &[]), "there is no tool `scrap`; the nearest is `scrape`"),
            (
                words("scrape", None, &[("qurey", "x")]),
                "no parameter `qurey`; the nearest is `query`",
            ),
            (words("scrape", None, &[("zzz", "x")]), "its parameters are `"),
            (words("back", None, &[("x", "x")]), "`back` has no parameter `x`; it has none"),
        ];
        for (wording, says) in table {
            let found = wording.misfits(&all);
            assert!(found.len() == 1 && found[0].contains(says), "{says}: {found:?}");
        }
        assert!(words("scrape", None, &[]).is_empty(), "a name alone replaces nothing");
        assert!(Wording::default().is_empty());
    }

    proptest! {
        /// Whatever a wording says, names and what is taken stay.
        #[test]
        fn no_wording_changes_what_can_be_called(
            text in ".{0,40}", place in "[a-z_.\\[\\]*]{0,12}", pick in any::<prop::sample::Index>()
        ) {
            let all = Catalog::all().unwrap();
            let name = all.names()[pick.index(all.names().len())].clone();
            let told = all.reworded(&words(&name, Some(&text), &[(&place, &text)]));
            prop_assert_eq!(told.names(), all.names());
            let (own, other) = (all.entry(&name).unwrap(), told.entry(&name).unwrap());
            prop_assert_eq!(own.signature(), other.signature());
        }
    }
}
