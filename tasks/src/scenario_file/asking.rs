//! What the person who gave a task replies, and what is a guess without having asked.
//!
//! Replies come from rules in the order of the file, so one question has one reply. Which
//! calls need a question is data too: an author guards what is ambiguous and nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Name of the tool that asks the person who gave the task.
pub const ASK_USER: &str = "ask_user";

/// What `ask_user` replies where no rule fits and the file says nothing else.
pub const NO_REPLY: &str =
    "I have nothing to add to my request; please do as it says, or tell me why you cannot.";

/// What the person who gave the task replies to questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskUser {
    /// Whether a question that a rule fits must come, and its reply be read, before the first
    /// attempt at a change, or at one of the calls in `guarded`.
    #[serde(default)]
    pub required: bool,
    /// Until when a required question must have come.
    #[serde(default, skip_serializing_if = "AskMoment::is_usual")]
    pub before: AskMoment,
    /// Calls that only the reply settles, changes or reads: with them, an attempt at anything
    /// else is no guess.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<CallLike>,
    /// The first rule that fits a question replies.
    #[serde(default)]
    pub rules: Vec<AskRule>,
    /// What is replied where no rule fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub default: Option<String>,
}

/// Until when a required question must have come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskMoment {
    /// Before the first guarded call: what makes none needs no question.
    #[default]
    Change,
    /// Before the first guarded call, and in any case before the final text.
    Answer,
}

impl AskMoment {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_usual(&self) -> bool {
        *self == Self::Change
    }
}

/// Calls of one operation whose arguments fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallLike {
    /// The operation.
    #[schemars(extend("format" = "name"))]
    pub tool: String,
    /// What its arguments hold, see [`super::pattern`]; without it, whatever they are.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args_match: Map<String, Value>,
}

/// A reply to some questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRule {
    /// Regular expression that must match somewhere in the question; case does not matter.
    #[schemars(extend("format" = "regex"))]
    pub pattern: String,
    /// The reply.
    #[schemars(length(min = 1))]
    pub reply: String,
}

impl AskUser {
    /// Returns the reply to a question and the number of the rule that gave it, from 0.
    #[must_use]
    pub fn reply(&self, question: &str) -> (Option<usize>, &str) {
        let fits = |rule: &AskRule| {
            let pattern = regex::RegexBuilder::new(&rule.pattern).case_insensitive(true).build();
            pattern.is_ok_and(|pattern| pattern.is_match(question))
        };
        match self.rules.iter().position(fits) {
            Some(index) => (Some(index), &self.rules[index].reply),
            None => (None, self.default.as_deref().unwrap_or(NO_REPLY)),
        }
    }
}
