//! A task in the systems of a company, as JSON: `scenarios/<ID>.json`.
//!
//! The keys are those that the 43-tool harness published (`id` … `final_state_assertions`)
//! with additions, all optional. A file says what is asked, which calls are expected and
//! what must hold at the end; it becomes a [`Task`](crate::Task) of scenario `operations`.
//! What is expected never enters the sandbox: of a file only the scene, the faults and
//! the replies of `ask_user` do.

mod asking;
mod flaw;
pub mod path;
pub mod pattern;
mod replay;
mod words;

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::asking::{ASK_USER, AskMoment, AskRule, AskUser, CallLike, NO_REPLY};
pub use self::flaw::Flaw;
pub use self::path::{Locator, Segment, Source};
pub use self::replay::solution;
pub use self::words::{AnswerCheck, FileCheck};
use crate::scenario::Language;
use crate::world::{Code, Occurrence};

/// The contents of `scenarios/<ID>.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Equals the file's name, such as `T2-007`; in small letters it is the task's id.
    #[schemars(extend("format" = "line"))]
    pub id: String,
    /// 1 single call, 2 sequential, 3 parallel, 4 conditional, 5 adversarial.
    #[schemars(range(min = 1, max = 5))]
    pub tier: u8,
    /// What of acting with tools it tries.
    #[serde(rename = "type")]
    pub kind: ScenarioType,
    /// The request, as the agent reads it.
    #[schemars(length(min = 1))]
    pub prompt: String,
    /// As published, the path of a fixture; here it says nothing that `world` does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_state: Option<String>,
    /// Calls that must be made.
    #[serde(default)]
    pub expected_calls: Vec<ExpectedCall>,
    /// In which order.
    #[serde(default)]
    pub ordering: Ordering,
    /// Most calls, of whatever kind; more of them fail the trial.
    #[schemars(range(min = 1))]
    pub max_calls: u32,
    /// Calls that are made to fail; one, a list, or `null`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "faults_as_written")]
    pub fault_injection: Vec<InjectedFault>,
    /// What must hold of the world at the end: SQL or the short form.
    #[serde(default)]
    pub final_state_assertions: Vec<String>,
    /// One line for listings; without it, the beginning of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub title: Option<String>,
    /// Field of life; without it, `business`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub domain: Option<String>,
    /// Language of request and answer; without it, English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Where the logical clock starts, in UTC; without it, where the world's does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub now: Option<Timestamp>,
    /// Name of the world; without it, the suite's only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "id"))]
    pub world: Option<String>,
    /// Values that replace those of the world's context, such as who is logged in.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// What happens in the world without the agent, and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Occurrence>,
    /// Operations that the agent gets, by name or as a pattern with `*`; without it, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Other sets of calls that are as right, each with an order of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// Operations that change the world and may be called beside what is expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_writes: Vec<String>,
    /// What the person who gave the task replies to questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_user: Option<AskUser>,
    /// What the final text must and must not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer_checks: Vec<AnswerCheck>,
    /// What files in the workspace must hold at the end, such as an export.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_checks: Vec<FileCheck>,
    /// What a judge with a model looks for in the final text; it can only lower a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub rubric: Option<String>,
    /// Whether it is right to change nothing and to say why: then the mere attempt at a
    /// change fails the trial.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuse: bool,
    /// How it can be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Replayed>,
    /// How it must not be done: solutions that fail, each for its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<WrongSolution>,
}

/// The four types of the harness's taxonomy; a tier has tasks of each.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioType {
    /// One right tool with one right set of arguments.
    SingleCall,
    /// The output of one call is an input of another.
    MultiStep,
    /// Calls fail, and what matters is what comes next.
    ErrorRecovery,
    /// The request leaves open what is meant.
    AmbiguousInput,
}

impl ScenarioType {
    /// Returns the name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SingleCall => "single_call",
            Self::MultiStep => "multi_step",
            Self::ErrorRecovery => "error_recovery",
            Self::AmbiguousInput => "ambiguous_input",
        }
    }
}

/// In which order expected calls must come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ordering {
    /// As listed; calls of one round come in the order asked.
    Strict,
    /// In any.
    #[default]
    Any,
    /// As each call's `after` says.
    Partial,
}

/// A call that must be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCall {
    /// The operation.
    #[schemars(extend("format" = "name"))]
    pub tool: String,
    /// What its arguments must hold, see [`pattern`]: more may be there.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args_match: Map<String, Value>,
    /// Arguments that must be absent, such as `email` or `lines[0].price`; `null`, an empty
    /// list and an empty object are absent, and so is a default that nobody gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args_forbid: Vec<String>,
    /// Arguments whose value must be one that an earlier expected call returned, such as
    /// `$.calls[0].result.id`: `calls[0]` is whichever call was taken for expected call 0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args_from_prior: BTreeMap<String, String>,
    /// With ordering `partial`: expected calls that must come before, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// Calls that serve as well, such as another look-up that tells the same; they end as
    /// `outcome` says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<CallLike>,
    /// Whether it may be left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// How it must end.
    #[serde(default, skip_serializing_if = "CallEnd::is_usual")]
    pub outcome: CallEnd,
    /// Operations that are easily taken for this one; a call of them in its place is a
    /// near miss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// The expected call that this one undoes, once a later step has failed; counted
    /// from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensates: Option<usize>,
}

/// How an expected call must end: with a result, or with an error of some kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallEnd {
    /// With a result.
    #[default]
    Ok,
    /// With an error, whatever it is.
    Error,
    /// With either.
    Any,
    /// Failed by the scenario's `fault_injection`.
    Injected,
    /// The world says that something is not there.
    NotFound,
    /// The world says that the caller may not.
    Forbidden,
    /// The world says that the arguments make no sense.
    Invalid,
    /// The world says that there is such a thing.
    Duplicate,
    /// The world says that its state does not allow it.
    Refused,
    /// The world says that another call of the round excludes it.
    Conflict,
    /// The world says that it does not work now.
    Unavailable,
    /// The world says that it would take too much.
    Limit,
}

impl CallEnd {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_usual(&self) -> bool {
        *self == Self::Ok
    }

    /// Returns whether a call may end so: `error` is the kind of its error, where it has one,
    /// and `injected` whether the scenario made it fail. An injected failure is none of the
    /// world, so it has none of the world's codes.
    #[must_use]
    pub fn admits(self, error: Option<&str>, injected: bool) -> bool {
        match (self, self.code()) {
            (Self::Any, _) => true,
            (Self::Ok, _) => error.is_none(),
            (Self::Injected, _) => injected,
            (_, None) => error.is_some(),
            (_, Some(code)) => !injected && error == Some(code.name()),
        }
    }

    /// Returns the world's code that it asks for.
    #[must_use]
    pub fn code(self) -> Option<Code> {
        match self {
            Self::Ok | Self::Error | Self::Any | Self::Injected => None,
            Self::NotFound => Some(Code::NotFound),
            Self::Forbidden => Some(Code::Forbidden),
            Self::Invalid => Some(Code::Invalid),
            Self::Duplicate => Some(Code::Duplicate),
            Self::Refused => Some(Code::Refused),
            Self::Conflict => Some(Code::Conflict),
            Self::Unavailable => Some(Code::Unavailable),
            Self::Limit => Some(Code::Limit),
        }
    }
}

/// Another set of calls that is as right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The calls.
    pub expected_calls: Vec<ExpectedCall>,
    /// In which order.
    #[serde(default)]
    pub ordering: Ordering,
}

/// Calls of one operation that are made to fail; they do not reach the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InjectedFault {
    /// The operation.
    #[schemars(extend("format" = "name"))]
    pub tool: String,
    /// What its caller reads.
    pub fault: FaultKind,
    /// How many of its calls fail; without it, one.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub times: u32,
    /// How many of its calls go through before.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub skip: u32,
}

/// Returns the schema of a list of faults, which may be written as one of them or `null`.
fn faults_as_written(generator: &mut SchemaGenerator) -> Schema {
    let (list, one) = (
        generator.subschema_for::<Vec<InjectedFault>>(),
        generator.subschema_for::<InjectedFault>(),
    );
    json_schema!({ "anyOf": [list, one, { "type": "null" }] })
}

fn one() -> u32 {
    1
}

/// The failures that the harness names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The service failed: a 500.
    ServerError,
    /// Too many requests: a 429.
    RateLimit,
    /// What is there is said not to be: a 404.
    NotFound,
}

impl FaultKind {
    /// Returns the name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ServerError => "server_error",
            Self::RateLimit => "rate_limit",
            Self::NotFound => "not_found",
        }
    }

    /// Returns what the caller reads.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::ServerError => "500 internal server error; nothing was changed",
            Self::RateLimit => "429 too many requests; nothing was changed, try again shortly",
            Self::NotFound => "404 not found; nothing was changed",
        }
    }
}

/// Calls to be replayed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replayed {
    /// The rounds; calls of one round are made at once.
    pub rounds: Vec<Vec<ReplayedCall>>,
    /// The final text; `{{ $.calls[0].result.id }}` stands for what a call returned.
    #[schemars(length(min = 1))]
    pub answer: String,
}

/// A call to be replayed. Calls are counted from 0 through all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayedCall {
    /// The operation, or another tool.
    #[schemars(extend("format" = "name"))]
    pub tool: String,
    /// Its arguments: a text `$.calls[0].result.id` stands for that value, one with
    /// `{{ … }}` is filled in.
    #[serde(default)]
    pub args: Map<String, Value>,
}

/// A solution that must fail for the reason that it names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrongSolution {
    /// Unique in the file: small letters, digits, single `-`.
    #[schemars(extend("format" = "id"))]
    pub name: String,
    /// What the verdict must name, among other things.
    pub reason: Flaw,
    /// The rounds.
    #[serde(default)]
    pub rounds: Vec<Vec<ReplayedCall>>,
    /// The final text.
    #[schemars(length(min = 1))]
    pub answer: String,
}

impl ScenarioFile {
    /// Returns the sets of calls that are right, the main one first, each with its order.
    pub fn ways(&self) -> impl Iterator<Item = (&[ExpectedCall], Ordering)> {
        let others = self.alternatives.iter();
        let others = others.map(|other| (other.expected_calls.as_slice(), other.ordering));
        std::iter::once((self.expected_calls.as_slice(), self.ordering)).chain(others)
    }

    /// Returns the task's id.
    #[must_use]
    pub fn task_id(&self) -> String {
        self.id.to_ascii_lowercase()
    }
}

#[cfg(test)]
mod tests;
