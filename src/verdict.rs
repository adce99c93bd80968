//! What an answer is worth.

mod conduct;
mod rubric;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::conduct::{Conduct, Parameters, Recovery, Share};
pub use self::rubric::{Aspect, GROUNDED, HIGHEST, Rubric, Scores};
use crate::record::{Body, Times, TrialId, Usage};

/// What an answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Right.
    Pass,
    /// Right in what was done, and not in what was said of it; counts as not passed.
    Degraded,
    /// Wrong, or no answer.
    Fail,
    /// There is no verdict yet, for lack of a judge's reply.
    Unjudged,
}

impl Verdict {
    /// Returns the name used in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Degraded => "degraded",
            Self::Fail => "fail",
            Self::Unjudged => "unjudged",
        }
    }
}

/// One line of `verdicts/<judge>.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerdictRecord {
    /// Version of this format: 1.
    pub format: u32,
    /// The trial.
    pub trial: TrialId,
    /// The attempt that was judged.
    pub attempt: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for people: the first is the deciding one.
    pub reasons: Vec<String>,
    /// Whether each milestone of the task was reached, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub milestones: BTreeMap<String, bool>,
    /// Where each milestone that was reached was reached first, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<String, Step>,
    /// Whether each host whose finding counts was visited.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub discovered: BTreeMap<String, bool>,
    /// What the calls were like, where the task says what is expected of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conduct: Option<Conduct>,
    /// What a rubric judge gives the attempt; none of other judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Rubric>,
    /// The calls of judge models, in the order made, those that came to nothing included;
    /// none where no model was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// See [`Times`]; `took_ms` is how long the judge models worked, `waited_ms` how long
    /// requests waited for their turn.
    pub t: Times,
}

/// A place in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Round of the agent, from 1.
    pub round: u32,
    /// Ingress number of the call.
    pub ingress: String,
}

/// One call of a judge model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// Which of the votes it is for, from 1: two calls have one number where the reply to
    /// the first could not be read; 0 in files of older versions.
    #[serde(default)]
    pub number: u32,
    /// The model's name.
    pub model: String,
    /// BLAKE3 of the request's body, as 64 hexadecimal digits.
    pub digest: String,
    /// The request's body.
    pub request: Body,
    /// The reply's body exactly as received; none where there was no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Body>,
    /// What it says; none where it could not be read, and of a vote on a rubric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether it was asked for the scores of a rubric, and not for a verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rates: bool,
    /// The scores that it gives; none where they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
    /// The model's reason, or why there is no verdict.
    pub reason: String,
    /// Tokens, as the endpoint counted them.
    pub usage: Usage,
}
