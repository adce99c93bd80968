//! Trials by what became of them.

use serde::{Deserialize, Serialize};

use crate::record::Outcome;
use crate::verdict::Verdict;

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Right.
    Pass,
    /// Right, with an objection; counts as not passed.
    Degraded,
    /// Wrong, or no answer.
    Fail,
    /// The agent is done, the judge is not.
    Unjudged,
    /// The harness broke its last attempt.
    Lost,
    /// It could not be tried on this machine.
    Skipped,
    /// It has no finished attempt yet.
    Pending,
}

impl State {
    /// Every state, the best first.
    pub const ALL: [Self; 7] = [
        Self::Pass,
        Self::Degraded,
        Self::Fail,
        Self::Unjudged,
        Self::Lost,
        Self::Skipped,
        Self::Pending,
    ];

    /// Returns the state of a trial from the outcome of its last finished attempt and
    /// the verdict on it.
    ///
    /// A lost or skipped attempt has no verdict; one that somebody wrote all the same
    /// does not count.
    #[must_use]
    pub fn of(outcome: Option<&Outcome>, verdict: Option<Verdict>) -> Self {
        match outcome {
            None => Self::Pending,
            Some(Outcome::Lost(_)) => Self::Lost,
            Some(Outcome::Skipped(_)) => Self::Skipped,
            Some(Outcome::Answered | Outcome::NoAnswer | Outcome::Limit(_)) => match verdict {
                Some(Verdict::Pass) => Self::Pass,
                Some(Verdict::Degraded) => Self::Degraded,
                Some(Verdict::Fail) => Self::Fail,
                Some(Verdict::Unjudged) | None => Self::Unjudged,
            },
        }
    }

    /// Returns whether the trial has a verdict that counts in a score.
    #[must_use]
    pub fn is_judged(self) -> bool {
        match self {
            Self::Pass | Self::Degraded | Self::Fail => true,
            Self::Unjudged | Self::Lost | Self::Skipped | Self::Pending => false,
        }
    }

    /// Returns the name used in reports and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Degraded => "degraded",
            Self::Fail => "fail",
            Self::Unjudged => "unjudged",
            Self::Lost => "lost",
            Self::Skipped => "skipped",
            Self::Pending => "pending",
        }
    }
}

/// Numbers of trials by [`State`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// See [`State::Pass`].
    pub pass: u32,
    /// See [`State::Degraded`].
    pub degraded: u32,
    /// See [`State::Fail`].
    pub fail: u32,
    /// See [`State::Unjudged`].
    pub unjudged: u32,
    /// See [`State::Lost`].
    pub lost: u32,
    /// See [`State::Skipped`].
    pub skipped: u32,
    /// See [`State::Pending`]; not part of the JSON, where states are final.
    #[serde(skip)]
    pub pending: u32,
}

impl Tally {
    /// Counts one trial.
    pub fn add(&mut self, state: State) {
        let count = match state {
            State::Pass => &mut self.pass,
            State::Degraded => &mut self.degraded,
            State::Fail => &mut self.fail,
            State::Unjudged => &mut self.unjudged,
            State::Lost => &mut self.lost,
            State::Skipped => &mut self.skipped,
            State::Pending => &mut self.pending,
        };
        *count += 1;
    }

    /// Returns the number of trials in a state.
    #[must_use]
    pub fn of(&self, state: State) -> u32 {
        match state {
            State::Pass => self.pass,
            State::Degraded => self.degraded,
            State::Fail => self.fail,
            State::Unjudged => self.unjudged,
            State::Lost => self.lost,
            State::Skipped => self.skipped,
            State::Pending => self.pending,
        }
    }

    /// Returns the number of trials, pending ones included.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.judged() + self.unjudged + self.lost + self.skipped + self.pending
    }

    /// Returns the number of trials that count in a score.
    #[must_use]
    pub fn judged(&self) -> u32 {
        self.pass + self.degraded + self.fail
    }

    /// Returns whether every trial has a verdict or was skipped, which makes the
    /// difference between exit codes 0 and 1.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unjudged == 0 && self.lost == 0 && self.pending == 0
    }
}

impl FromIterator<State> for Tally {
    fn from_iter<I: IntoIterator<Item = State>>(states: I) -> Self {
        let mut tally = Self::default();
        for state in states {
            tally.add(state);
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Limit, Lost};

    #[test]
    fn the_outcome_decides_before_the_verdict() {
        use Verdict::{Degraded, Fail, Pass, Unjudged};
        let table = [
            (None, None, State::Pending, "never tried"),
            (Some(Outcome::Answered), Some(Pass), State::Pass, "right"),
            (Some(Outcome::Answered), Some(Degraded), State::Degraded, "objection"),
            (Some(Outcome::Answered), None, State::Unjudged, "killed before judging"),
            (Some(Outcome::Answered), Some(Unjudged), State::Unjudged, "judge was down"),
            (Some(Outcome::NoAnswer), Some(Fail), State::Fail, "no answer is a fail"),
            (Some(Outcome::Limit(Limit::Time)), Some(Fail), State::Fail, "a limit is a fail"),
            (Some(Outcome::Lost(Lost::Model)), Some(Fail), State::Lost, "lost has no verdict"),
            (Some(Outcome::Skipped("no speech".into())), None, State::Skipped, "not tried"),
        ];
        for (outcome, verdict, want, why) in table {
            assert_eq!(State::of(outcome.as_ref(), verdict), want, "{why}");
        }
    }

    #[test]
    fn a_tally_counts_every_state_once() {
        let tally: Tally = State::ALL.into_iter().collect();
        assert!(State::ALL.into_iter().all(|state| tally.of(state) == 1), "{tally:?}");
        assert_eq!((tally.total(), tally.judged()), (7, 3));
        assert!(!tally.is_complete());
        let json = serde_json::to_string(&tally).unwrap();
        let want = r#"{"pass":1,"degraded":1,"fail":1,"unjudged":1,"lost":1,"skipped":1}"#;
        assert_eq!(json, want);
    }
}
