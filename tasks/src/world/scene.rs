//! What a task says about the world that it uses.
//!
//! A scene is what the sandbox gets of it. The assertions over the final state are not
//! part of a scene: what decides about an answer never enters the sandbox.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::World;
use crate::check::Pattern;
use crate::load::text;

/// The world of a task: which, with what context, and what happens in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Name of the world.
    #[schemars(extend("format" = "id"))]
    pub name: String,
    /// Number from which the chances of `seed.sql` are drawn.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub seed: u64,
    /// Values that replace those of the world's context.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// Operations that the agent gets, by name or as a pattern with `*`; without it, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Vec<String>>,
    /// What happens, and when.
    #[serde(default, rename = "event", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Occurrence>,
}

/// That an event happens. Exactly one of `at`, `after_calls`, `when`, `percent` is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Occurrence {
    /// Name of the event.
    #[schemars(extend("format" = "name"))]
    pub event: String,
    /// What the event's `:name` stand for.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// Once the clock has come to this time, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub at: Option<jiff::Timestamp>,
    /// Once so many calls were made, failed ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_calls: Option<u64>,
    /// Once this query is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// With this chance in percent before every call, drawn from the trial's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// How often it may happen; without it, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

/// When an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger<'o> {
    /// At a time of the logical clock.
    At(jiff::Timestamp),
    /// After so many calls.
    AfterCalls(u64),
    /// When a query is true.
    When(&'o str),
    /// With a chance in percent before every call.
    Percent(u8),
}

impl Occurrence {
    /// Returns when it happens, or nothing unless exactly one way is given.
    #[must_use]
    pub fn trigger(&self) -> Option<Trigger<'_>> {
        let all = [
            self.at.map(Trigger::At),
            self.after_calls.map(Trigger::AfterCalls),
            self.when.as_deref().map(Trigger::When),
            self.percent.map(Trigger::Percent),
        ];
        let mut given = all.into_iter().flatten();
        let first = given.next()?;
        given.next().is_none().then_some(first)
    }
}

impl Scene {
    /// Returns whether the agent gets the operation.
    #[must_use]
    pub fn exposes(&self, operation: &str) -> bool {
        self.operations.as_ref().is_none_or(|patterns| {
            patterns.iter().any(|pattern| Pattern::new(pattern).matches(operation))
        })
    }

    /// Returns what does not fit the world, as pairs of field and problem.
    #[must_use]
    pub fn misfits(&self, world: &World) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if self.name != world.meta.name {
            let problem = format!("expected `{}`, found `{}`", world.meta.name, self.name);
            found.push(("name".to_owned(), problem));
        }
        let known: Vec<_> = world.meta.context.keys().collect();
        for name in self.context.keys().filter(|name| !known.contains(name)) {
            let problem = text::unknown("value of the context", name, &known);
            found.push((format!("context.{name}"), problem));
        }
        let names: Vec<_> = world.operations.keys().collect();
        for (index, pattern) in self.operations.iter().flatten().enumerate() {
            if !names.iter().any(|name| Pattern::new(pattern).matches(name)) {
                let problem =
                    format!("`{pattern}`: {}", text::unknown("operation", pattern, &names));
                found.push((format!("operations[{index}]"), problem));
            }
        }
        for (index, occurrence) in self.events.iter().enumerate() {
            let found_here = occurrence.misfits(world);
            let place = |(field, problem)| (format!("event[{index}].{field}"), problem);
            found.extend(found_here.into_iter().map(place));
        }
        found
    }
}

impl Occurrence {
    fn misfits(&self, world: &World) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut note = |field: &str, problem: String| found.push((field.to_owned(), problem));
        match world.meta.events.iter().find(|event| event.name == self.event) {
            None => {
                let names: Vec<_> = world.meta.events.iter().map(|event| &event.name).collect();
                note(
                    "event",
                    format!("`{}`: {}", self.event, text::unknown("event", &self.event, &names)),
                );
            }
            Some(event) => {
                for name in self.arguments.keys().filter(|name| !event.arguments.contains(name)) {
                    let problem = text::unknown("argument of the event", name, &event.arguments);
                    note(&format!("arguments.{name}"), problem);
                }
            }
        }
        if self.trigger().is_none() {
            let problem = "expected exactly one of `at`, `after_calls`, `when`, `percent`";
            note("event", problem.to_owned());
        }
        if self.percent.is_some_and(|percent| percent == 0 || percent > 100) {
            note("percent", "expected a whole number from 1 to 100".to_owned());
        }
        if self.times == Some(0) {
            note("times", "expected a whole number ≥ 1".to_owned());
        }
        found
    }
}
