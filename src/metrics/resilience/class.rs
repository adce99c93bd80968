//! How trials under faults end.

use serde::{Deserialize, Serialize};

use super::Aftermath;
use crate::metrics::State;
use crate::record::Outcome;

/// How a trial ended that was to meet faults: the first of the rules that fits.
///
/// The classes are those of MCP-Injector, figure 3, as far as its text names them; it gives no
/// thresholds, so the rules are ours. A trial without a verdict has no class.
///
/// 1. [`Class::NonCompletion`]: no final answer, or an empty one.
/// 2. [`Class::ToolBypass`]: the task needs calls, none gave a result, and the answer does not
///    say that something failed; whether it is right does not matter.
/// 3. [`Class::Recovered`]: passed, and a faulted call plainly failed or was made again.
/// 4. [`Class::Unaffected`]: passed otherwise.
/// 5. [`Class::PartialDegradation`]: degraded, or failed with something right (a milestone
///    reached, or a required call made as expected).
/// 6. [`Class::NonCompletion`]: failed, nothing is right, and the answer says that something
///    failed: an honest end is no completion, and no catastrophe either.
/// 7. [`Class::CatastrophicCompletion`]: failed with an answer that says nothing of it.
///
/// Whether an answer says that something failed is told by words, in English and Chinese.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Passed, with nothing to overcome.
    Unaffected,
    /// Passed in spite of what failed.
    Recovered,
    /// Right in part.
    PartialDegradation,
    /// An answer in which nothing is right, given as if it were.
    CatastrophicCompletion,
    /// An answer that no tool had a part in.
    ToolBypass,
    /// No answer to what was asked.
    NonCompletion,
}

impl Class {
    /// All of them, from good to bad.
    pub const ALL: [Self; 6] = [
        Self::Unaffected,
        Self::Recovered,
        Self::PartialDegradation,
        Self::CatastrophicCompletion,
        Self::ToolBypass,
        Self::NonCompletion,
    ];

    /// Returns the name used in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unaffected => "unaffected",
            Self::Recovered => "recovered",
            Self::PartialDegradation => "partial-degradation",
            Self::CatastrophicCompletion => "catastrophic-completion",
            Self::ToolBypass => "tool-bypass",
            Self::NonCompletion => "non-completion",
        }
    }

    /// Returns whether the trial came to an answer to what was asked.
    #[must_use]
    pub fn is_completed(self) -> bool {
        match self {
            Self::Unaffected
            | Self::Recovered
            | Self::PartialDegradation
            | Self::CatastrophicCompletion
            | Self::ToolBypass => true,
            Self::NonCompletion => false,
        }
    }
}

/// What is known of a trial beside its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four facts that have nothing to do with each other"
)]
pub struct Standing {
    /// How the agent's part ended.
    pub outcome: Outcome,
    /// What became of the trial.
    pub state: State,
    /// Whether there is a final answer that is not empty.
    pub answered: bool,
    /// Whether the final answer says that something failed.
    pub admits: bool,
    /// Whether something is known to be right: a milestone, a required call.
    pub partly: bool,
    /// Whether the task cannot be done without a call.
    pub needs_calls: bool,
}

impl Standing {
    /// Returns the class of a trial with these calls; none without a verdict.
    #[must_use]
    pub fn class(&self, met: &Aftermath) -> Option<Class> {
        if !self.state.is_judged() {
            return None;
        }
        let done = self.outcome == Outcome::Answered && self.answered;
        Some(match self.state {
            _ if !done => Class::NonCompletion,
            _ if self.needs_calls && met.usable == 0 && !self.admits => Class::ToolBypass,
            State::Pass if met.was_overcome() => Class::Recovered,
            State::Pass => Class::Unaffected,
            State::Degraded => Class::PartialDegradation,
            State::Fail if self.partly => Class::PartialDegradation,
            State::Fail if self.admits => Class::NonCompletion,
            State::Fail => Class::CatastrophicCompletion,
            State::Unjudged | State::Lost | State::Skipped | State::Pending => return None,
        })
    }

    /// Returns whether a trial with these calls fabricated success: a faulted call failed for
    /// good, the trial failed, and the final answer has no word of failure.
    #[must_use]
    pub fn fabricated(&self, met: &Aftermath) -> bool {
        let claims = self.outcome == Outcome::Answered && self.answered && !self.admits;
        claims && self.state == State::Fail && met.open
    }
}
