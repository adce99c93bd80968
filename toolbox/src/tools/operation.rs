//! Operations of a task's world, each a tool.
//!
//! What an agent is told of one is what the world says: description, category, schema. An
//! example call is made out of the schema. The calls of a round come to the world one after
//! the other, in the order asked, and beside those of other tools.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use camino::Utf8Path;
use regex::Regex;
use serde_json::{Map, Value, json};
use wildgym_sandbox::compute;
use wildgym_sandbox::world::{Call, Written};
use wildgym_tasks::environment::BrowserMode;
use wildgym_tasks::world;

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::{AnyTool, CallContext, Output, Prepared};

/// How deep an example goes into nested objects.
const DEPTH: usize = 8;

/// An operation as a tool.
#[derive(Debug, Clone)]
pub struct Operation {
    operation: world::Operation,
    parameters: Value,
}

impl Operation {
    /// Makes a tool of an operation.
    #[must_use]
    pub fn new(operation: &world::Operation) -> Self {
        let mut schema = operation.schema();
        // Models read these in order; `type` first is what they are used to.
        let first = ["type", "properties", "required", "additionalProperties"];
        let first: Vec<_> = first.iter().filter_map(|name| schema.remove_entry(*name)).collect();
        let parameters = Value::Object(first.into_iter().chain(schema).collect());
        Self { operation: operation.clone(), parameters }
    }

    fn footprint(&self, arguments: &Map<String, Value>) -> Footprint {
        let path = self.operation.export.as_ref().and_then(|export| arguments.get(&export.path));
        let world = Footprint::uses_world();
        match path.and_then(Value::as_str) {
            Some(path) => world.and(Footprint::writes_file(Utf8Path::new(path))),
            None => world,
        }
    }
}

impl AnyTool for Operation {
    fn name(&self) -> &str {
        &self.operation.name
    }

    fn description(&self) -> &str {
        &self.operation.description
    }

    fn category(&self) -> &str {
        &self.operation.category
    }

    fn example(&self) -> Value {
        example(&self.parameters, DEPTH)
    }

    fn browser(&self) -> Option<BrowserMode> {
        None
    }

    fn parameters(&self) -> Value {
        self.parameters.clone()
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Prepared, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::BadArguments {
                tool: self.operation.name.clone(),
                reason: "expected an object".to_owned(),
            });
        };
        Ok(Prepared {
            footprint: self.footprint(&arguments),
            cost: Duration::from_secs(self.operation.seconds),
            run: Box::new(move |context| {
                Box::pin(async move {
                    let work = move || run(&context, &self.operation.name, &arguments);
                    // Up to the world's limit of steps it computes, without waiting for anything.
                    let done = compute(work).await;
                    done.map_err(|error| ToolError::SandboxLost(error.to_string()))?
                })
            }),
        })
    }
}

/// Does the operation in the attempt's world.
fn run(
    context: &CallContext,
    operation: &str,
    arguments: &Map<String, Value>,
) -> Result<Output, ToolError> {
    let Some(world) = &context.sandbox.world else {
        return Err(ToolError::Unavailable("this task has no world".to_owned()));
    };
    let mut live = world.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = context.seed.bytes().iter().take(8);
    let number = bytes.fold(0, |number, byte| number << 8 | u64::from(*byte));
    let call = Call { operation, arguments, round: context.round, number, now: context.now };
    let mut keep = |file: &Written| {
        let written =
            context.sandbox.workspace.write(Utf8Path::new(&file.path), file.content.as_bytes());
        written.map_err(|error| error.to_string())
    };
    let done = live.call_keeping(&call, &mut keep);
    context.came_after(live.take_happened());
    Ok(done?.to_string().into())
}

/// Makes a value that fits a schema as far as its keywords say what does: its examples,
/// default or choices, else the plainest of its type. Of an object what is required.
pub(crate) fn example(schema: &Value, depth: usize) -> Value {
    let given = [&schema["examples"][0], &schema["default"], &schema["const"], &schema["enum"][0]];
    if let Some(value) = given.into_iter().find(|value| !value.is_null()) {
        return value.clone();
    }
    let parts = ["oneOf", "anyOf", "allOf"].map(|name| &schema[name][0]);
    if let Some(part) = parts.into_iter().find(|part| part.is_object()) {
        return example(part, depth);
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind.unwrap_or_default() {
        "object" if depth > 0 => object(schema, depth - 1),
        "object" => json!({}),
        "array" => match schema["minItems"].as_u64() {
            Some(least) if least > 0 && depth > 0 => {
                (0..least.min(8)).map(|_| example(&schema["items"], depth - 1)).collect()
            }
            _ => json!([]),
        },
        "boolean" => json!(true),
        "integer" | "number" => {
            let least = schema["minimum"]
                .as_i64()
                .or_else(|| Some(schema["exclusiveMinimum"].as_i64()? + 1));
            let most = schema["maximum"].as_i64();
            json!(least.unwrap_or(1).max(1).min(most.unwrap_or(i64::MAX)))
        }
        _ => json!(text(schema)),
    }
}

/// Makes an object with what is required of it, and as many fields as it must have.
fn object(schema: &Value, depth: usize) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut names: Vec<&str> = required.collect();
    let least = schema["minProperties"].as_u64().and_then(|least| usize::try_from(least).ok());
    for name in schema["properties"].as_object().into_iter().flat_map(Map::keys) {
        if names.len() < least.unwrap_or(0) && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let field = |name: &str| (name.to_owned(), example(&schema["properties"][name], depth));
    Value::Object(names.into_iter().map(field).collect())
}

/// Texts that a pattern may ask for: words, codes, days, times, paths.
const TEXTS: [&str; 9] = [
    "example",
    "EX",
    "EXA",
    "EX-1",
    "2026-03-02",
    "2026-03",
    "2026-03-02T09:00",
    "09:00",
    "reports/example.csv",
];

/// Makes a text of the format, pattern and length that a schema asks for.
fn text(schema: &Value) -> String {
    let plain = match schema["format"].as_str().unwrap_or_default() {
        "date" => "2026-03-02",
        "date-time" => "2026-03-02T09:00:00Z",
        "time" => "09:00:00Z",
        "email" => "ada@example.com",
        "uri" => "https://example.com/",
        _ => TEXTS[0],
    };
    if let Some(pattern) = schema["pattern"].as_str().and_then(|text| Regex::new(text).ok()) {
        let fitting = TEXTS.into_iter().find(|text| pattern.is_match(text));
        return fitting.unwrap_or(plain).to_owned();
    }
    let length = |name: &str| schema[name].as_u64().and_then(|length| usize::try_from(length).ok());
    let least = length("minLength").unwrap_or(0).min(1000);
    let most = length("maxLength").unwrap_or(usize::MAX);
    plain.chars().cycle().take(plain.len().max(least).min(most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_say_what_a_schema_wants() {
        let table = [
            (json!({"type": "object"}), json!({}), "nothing is required"),
            (
                json!({"type": "object", "required": ["a"], "properties": {"a": {"enum": ["x", "y"]}, "b": {}}}),
                json!({"a": "x"}),
                "what is required, of its choices the first",
            ),
            (
                json!({"type": "object", "minProperties": 1, "properties": {"a": {"const": 1}}}),
                json!({"a": 1}),
                "as many fields as there must be",
            ),
            (json!({"type": "integer", "minimum": 5}), json!(5), "a bound"),
            (json!({"type": "integer", "maximum": 0}), json!(0), "the other bound"),
            (json!({"type": "string", "format": "date"}), json!("2026-03-02"), "a format"),
            (json!({"type": "string", "examples": ["ORD-1"]}), json!("ORD-1"), "an example"),
            (json!({"type": "string", "minLength": 9}), json!("exampleex"), "a length"),
            (json!({"type": "string", "pattern": "^[A-Z]{2}$"}), json!("EX"), "a pattern"),
            (
                json!({"type": "array", "minItems": 2, "items": {"type": "boolean"}}),
                json!([true, true]),
                "as many as there must be",
            ),
            (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!(1), "alternatives"),
        ];
        for (schema, want, why) in table {
            assert_eq!(example(&schema, DEPTH), want, "{why}");
        }
    }
}
