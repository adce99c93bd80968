//! What an answer is worth.

use serde::{Deserialize, Serialize};

use crate::record::{Times, TrialId};

/// What an answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Right.
    Pass,
    /// Right, but reached in a way that a rubric judge objects to; counts as not passed.
    Degraded,
    /// Wrong, or no answer.
    Fail,
    /// There is no verdict yet, for lack of a judge's reply.
    Unjudged,
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
    /// See [`Times`].
    pub t: Times,
}
