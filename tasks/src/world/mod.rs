//! A world: state in tables, and the operations that read and change it, as data.
//!
//! This module holds what is written in a world's folder and what a task says about the
//! world that it uses. It knows the shape of these things and runs no SQL: that every
//! statement fits the tables is shown where worlds run, in the sandbox, which reports
//! what is wrong as the same [`Fault`]s with the lines kept here.

pub mod assertion;
mod scene;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::assertion::{Assertion, Truth};
pub use self::scene::{Occurrence, Scene, Trigger};
pub use crate::fault::{Fault, Faults};
pub(crate) use crate::load::document::Source;

/// A loaded world: the folder `worlds/<name>/`.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// The contents of `world.toml` without its operations.
    pub meta: WorldMeta,
    /// The tables, views, indexes and triggers: `schema.sql`.
    pub schema: Script,
    /// The rows at the start: `seed.sql`.
    pub seed: Script,
    /// Views that are no part of the state: `views.sql`, where there is one.
    pub views: Option<Script>,
    /// The operations by name, from `world.toml` and `operations/*.toml`.
    pub operations: BTreeMap<String, Operation>,
    /// BLAKE3 over the names and bytes of every file, as 64 hexadecimal digits.
    pub digest: String,
    /// Where everything is written.
    pub(crate) sources: BTreeMap<Utf8PathBuf, Source>,
    /// File and field of each operation.
    pub(crate) places: BTreeMap<String, (Utf8PathBuf, String)>,
}

impl World {
    /// Returns a fault of a field of `world.toml`, with its line.
    #[must_use]
    pub fn fault(&self, field: &str, problem: String) -> Fault {
        self.fault_in(Utf8Path::new("world.toml"), field, problem)
    }

    /// Returns a fault of a field of an operation, such as `effects[1]`.
    #[must_use]
    pub fn fault_of(&self, operation: &str, field: &str, problem: String) -> Fault {
        match self.places.get(operation) {
            Some((file, place)) => self.fault_in(file, &format!("{place}.{field}"), problem),
            None => self.fault(&format!("operation `{operation}`"), problem),
        }
    }

    fn fault_in(&self, file: &Utf8Path, field: &str, problem: String) -> Fault {
        let line = self.sources.get(file).and_then(|source| source.line(field));
        Fault { file: file.to_owned(), line, field: Some(field.to_owned()), problem }
    }
}

/// A file of SQL statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The file, relative to the world.
    pub file: Utf8PathBuf,
    /// Its text, with line ends as `\n`.
    pub text: String,
}

/// The contents of `world.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldMeta {
    /// Version of this format: 1.
    #[schemars(extend("const" = 1))]
    pub format: u32,
    /// Name of the world; equals the folder's name: small letters, digits, `-`.
    #[schemars(extend("format" = "id"))]
    pub name: String,
    /// Version of its content; scores over two versions are not comparable.
    #[schemars(extend("format" = "line"))]
    pub version: String,
    /// One line for listings.
    #[schemars(extend("format" = "line"))]
    pub description: String,
    /// The time at which `seed.sql` is run, in UTC.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub now: Timestamp,
    /// What statements read as `@name`, such as who is logged in; a task may set others.
    /// Values are texts, whole numbers or truth values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// Views over which an agent may run SQL of its own; nothing else is seen by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<String>,
    /// What a caller is told when the constraint of this name is violated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constraints: BTreeMap<String, String>,
    /// Limits of one operation.
    #[serde(default)]
    pub limits: WorldLimits,
    /// Operations; more of them may stand in `operations/*.toml`.
    #[serde(default, rename = "operation", skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
    /// What may happen in the world without the agent.
    #[serde(default, rename = "event", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}

/// The contents of a file in `operations/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationsFile {
    /// The operations.
    #[serde(default, rename = "operation")]
    pub operations: Vec<Operation>,
}

/// Limits of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldLimits {
    /// Steps of the database's virtual machine.
    #[serde(default = "default_steps")]
    #[schemars(range(min = 1))]
    pub steps: u64,
    /// Rows of a result.
    #[serde(default = "default_rows")]
    #[schemars(range(min = 1))]
    pub rows: u64,
    /// Bytes by which the state may grow beyond the start.
    #[serde(default = "default_growth")]
    #[schemars(range(min = 1))]
    pub growth: u64,
}

impl Default for WorldLimits {
    fn default() -> Self {
        Self { steps: default_steps(), rows: default_rows(), growth: default_growth() }
    }
}

fn default_steps() -> u64 {
    2_000_000
}

fn default_rows() -> u64 {
    1_000
}

fn default_growth() -> u64 {
    64 << 20
}

/// Something that can be done in the world: a tool of the agent, a tool over MCP, a
/// route of a site.
///
/// In its statements `:name` is an argument (a missing one is `NULL`, a list or table is
/// JSON text), `@name` a value of the context, `$now` the time and `$today` the day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Unique in the world: letters, digits, `_`.
    #[schemars(extend("format" = "name"))]
    pub name: String,
    /// The part of the world that it belongs to, such as `crm`.
    #[schemars(extend("format" = "id"))]
    pub category: String,
    /// What an agent reads about it.
    #[schemars(length(min = 1))]
    pub description: String,
    /// JSON Schema of its arguments, an object; a `default` of a property is filled in.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
    /// What must hold before anything is done; the first that does not is the answer.
    #[serde(default, rename = "precondition", skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<Precondition>,
    /// Statements that change the state: all of them, or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// Query whose rows the caller gets; a column named `x:json` holds JSON text and
    /// comes as the value `x`, one named `x:bool` as a truth value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How the rows are given.
    #[serde(default)]
    pub shape: Shape,
    /// A file that a call writes into the workspace of the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<Export>,
    /// The parameter that holds SQL of the caller, which is run over the world's `views`;
    /// in place of effects and result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Operations that may not come in the same round as this one.
    #[serde(default, rename = "conflict", skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// Seconds of the logical clock that a call takes.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 0))]
    pub seconds: u64,
}

fn default_seconds() -> u64 {
    1
}

impl Operation {
    /// Returns whether it can change the state.
    #[must_use]
    pub fn writes(&self) -> bool {
        !self.effects.is_empty()
    }

    /// Returns the schema of its arguments as a tool publishes it: an object without
    /// further properties.
    #[must_use]
    pub fn schema(&self) -> Map<String, Value> {
        let mut schema = self.parameters.clone();
        schema.insert("type".to_owned(), Value::from("object"));
        schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        schema.entry("additionalProperties").or_insert(Value::Bool(false));
        schema
    }

    /// Returns the declared parameters with their schemas.
    pub fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.parameters.get("properties").and_then(Value::as_object).into_iter().flatten()
    }

    /// Returns whether there is such a parameter.
    #[must_use]
    pub fn has_parameter(&self, name: &str) -> bool {
        self.properties().any(|(known, _)| known == name)
    }
}

/// A file that an operation writes into the workspace; the shape of the result is `row`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The parameter that names the file, relative to the workspace.
    #[schemars(extend("format" = "name"))]
    pub path: String,
    /// The column of the result that holds the file's text; the caller does not get it.
    #[schemars(extend("format" = "name"))]
    pub content: String,
}

/// How the rows of a result are given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A list of objects.
    #[default]
    Rows,
    /// The first row as an object, or `null`.
    Row,
    /// The first column of the first row, or `null`.
    Value,
}

/// Something that must hold before an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    /// Query whose first row's first column must be true; no row is false.
    #[schemars(length(min = 1))]
    pub sql: String,
    /// What the caller is told otherwise: a fragment, in which `{name}` stands for an
    /// argument or another column of that row.
    #[schemars(length(min = 1))]
    pub message: String,
    /// The kind of refusal.
    #[serde(default)]
    pub code: Code,
}

/// Why an operation was refused, for programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// Something that was named does not exist.
    NotFound,
    /// The caller may not do this.
    Forbidden,
    /// The arguments do not make sense together or with the state.
    Invalid,
    /// There is already such a thing.
    Duplicate,
    /// The state does not allow this now.
    #[default]
    Refused,
    /// It conflicts with another call of the same round.
    Conflict,
    /// It does not work at the moment.
    Unavailable,
    /// It would take too many steps, rows or bytes.
    Limit,
}

impl Code {
    /// Returns the name used in files and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::Forbidden => "forbidden",
            Self::Invalid => "invalid",
            Self::Duplicate => "duplicate",
            Self::Refused => "refused",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::Limit => "limit",
        }
    }
}

/// Two operations that may not come in one round; either of them declares it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conflict {
    /// The other operation, which may be the same one.
    #[schemars(extend("format" = "name"))]
    pub with: String,
    /// Parameters of both: they conflict only where all of these are equal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<String>,
}

/// Something that may happen in the world without the agent; when, a task says.
///
/// In its statements `:name` is one of its `arguments`, the rest as in an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Unique among the events: letters, digits, `_`.
    #[schemars(extend("format" = "name"))]
    pub name: String,
    /// What happens, for reports; the agent does not read it.
    #[schemars(extend("format" = "line"))]
    pub description: String,
    /// Names of what a task may set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "name"}))]
    pub arguments: Vec<String>,
    /// Statements that change the state: all of them, or none.
    #[schemars(length(min = 1))]
    pub effects: Vec<String>,
}
