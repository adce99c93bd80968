//! A task: a request, an initial state, and what counts as done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::environment::Environment;
use crate::factor::Factor;
use crate::scenario::{Language, Scenario};
use crate::scenario_file::ScenarioFile;
use crate::solution::Solution;

/// A loaded task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The contents of `task.toml`.
    pub meta: TaskMeta,
    /// The task's folder; of a task of `scenarios/`, the file.
    pub folder: Utf8PathBuf,
    /// The request, from `instruction.md`.
    pub instruction: String,
    /// Attachments: path in the workspace to file on the host.
    pub files: BTreeMap<Utf8PathBuf, Utf8PathBuf>,
    /// What takes each factor away; a folder may also stand for several factors at
    /// once (`ideal/<factor>+<factor>/`).
    pub overlays: BTreeMap<BTreeSet<Factor>, Overlay>,
    /// The reference solution.
    pub solution: Solution,
    /// What is expected of the calls, where the task is a file of `scenarios/`.
    pub scenario_file: Option<Arc<ScenarioFile>>,
}

/// The contents of `task.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskMeta {
    /// Version of this format: 1.
    #[schemars(extend("const" = 1))]
    pub format: u32,
    /// Unique in the suite; equals the folder's name: small letters, digits, `-`.
    #[schemars(extend("format" = "id"))]
    pub id: String,
    /// One line for listings.
    #[schemars(extend("format" = "line"))]
    pub title: String,
    /// The kind of task.
    pub scenario: Scenario,
    /// A part of the scenario, such as `composition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "id"))]
    pub subset: Option<String>,
    /// Field of life, such as `transport`.
    #[schemars(extend("format" = "line"))]
    pub domain: String,
    /// Language of request and answer.
    pub language: Language,
    /// How the task is de-idealised.
    #[serde(default)]
    pub factors: BTreeSet<Factor>,
    /// The time at which the logical clock starts, in UTC.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub now: Timestamp,
    /// Attachments that belong to the request as pictures: models that see are shown them
    /// with it, all others are told their paths. PNG, JPEG, GIF or WebP, 10 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", extend("items" = {"type": "string", "format": "path"}))]
    pub pictures: Vec<Utf8PathBuf>,
    /// Limits that are tighter or wider than the run's.
    #[serde(default)]
    pub limits: Limits,
    /// What surrounds the agent.
    #[serde(default)]
    pub environment: Environment,
    /// The faults that calls meet, where the factor `faults` is not taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<TaskFaults>,
    /// The reference answer.
    pub answer: Answer,
    /// Which step of the work needs what of which other, in words: for a judge that rates how
    /// it was done. It never enters the sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub dependencies: Option<String>,
    /// What has to hold in the world's state at the end against that at the start: SQL, or
    /// the short form such as `contacts.count == baseline + 1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "minLength": 1}))]
    pub final_state_assertions: Vec<String>,
    /// Steps on the way that a report counts.
    #[serde(default, rename = "milestone", skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<Milestone>,
    /// Hosts whose first visit counts as the discovery of a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "host"}))]
    pub discovery_hosts: Vec<String>,
    /// What the trial may not reach, such as pages that publish the answer: hosts with their
    /// subdomains (`example.org`), paths with what lies below (`example.org/answers`), and
    /// patterns, in which `*` stands for any text (`example.org/*/answer.html`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub blocked_hosts: Vec<String>,
}

/// Limits of one attempt; each that is reached is an outcome of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Model replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rounds: Option<u32>,
    /// Tokens of all requests and replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Working time in seconds; waiting for a slot does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub seconds: Option<u64>,
}

/// The faults that belong to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFaults {
    /// Name of a built-in fault profile, such as `rate-limits`.
    #[schemars(extend("format" = "id"))]
    pub profile: String,
    /// A number that the chances follow from, beside the trial's seed.
    #[serde(default)]
    pub seed: u64,
}

/// A step on the way to the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
// serde cannot refuse unknown fields beside a flattened enum; the schema does.
#[schemars(deny_unknown_fields)]
pub struct Milestone {
    /// Name in reports.
    #[schemars(extend("format" = "id"))]
    pub id: String,
    /// What has to have happened.
    #[serde(flatten)]
    pub predicate: Predicate,
}

/// Something that a transcript shows or does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(deny_unknown_fields)]
pub enum Predicate {
    /// A call of this tool succeeded.
    Call {
        /// Name of the tool.
        #[schemars(extend("format" = "line"))]
        tool: String,
        /// Regular expression that the arguments' JSON must match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("format" = "regex"))]
        arguments: Option<String>,
        /// Regular expression that the result must match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("format" = "regex"))]
        result: Option<String>,
    },
    /// A page was fetched with status 200.
    Visit {
        /// Host of the page.
        #[schemars(extend("format" = "host"))]
        host: String,
        /// Regular expression that the URL's path must match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("format" = "regex"))]
        path: Option<String>,
    },
}

/// What an `ideal/…/` folder changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overlay {
    /// Another request, from `instruction.md`.
    pub instruction: Option<String>,
    /// The contents of `overlay.toml`.
    pub meta: OverlayMeta,
    /// Files that are added or replaced: path in the workspace to file on the host.
    pub files: BTreeMap<Utf8PathBuf, Utf8PathBuf>,
}

/// The contents of `ideal/<factor>/overlay.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverlayMeta {
    /// Changes of the request; unlike a whole other `instruction.md`, changes of
    /// several factors compose.
    #[serde(default, rename = "edit", skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    /// A paragraph added at the end of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub append: Option<String>,
    /// Tools that the request then names as the ones needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub tools: Vec<String>,
    /// Attachments that are taken away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", extend("items" = {"type": "string", "format": "path"}))]
    pub remove: Vec<Utf8PathBuf>,
}

/// A change of the request's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Text that stands in the request exactly once.
    #[schemars(length(min = 1))]
    pub find: String,
    /// Text that replaces it.
    pub replace: String,
}
