//! What agents do about events of the world.

use serde::{Deserialize, Serialize};

use super::steps::Step;

/// An event of the world that happened in an attempt, and what came of it.
///
/// An event is felt by the first call of the agent after it that fails without a fault. It was
/// recovered from where a later call of the same tool works, or the trial passes: then `steps`
/// counts the agent's calls after the one that failed, up to the one that worked, or to the end
/// where none of that tool did. An event that no failing call follows was not felt: whether the
/// agent looked again is seen from the verdict alone. The rule is ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Met {
    /// Name of the event.
    pub event: String,
    /// Place of its occurrence in the task's scene, from 0.
    pub occurrence: usize,
    /// What came of it.
    #[serde(flatten)]
    pub felt: Felt,
}

/// Whether an event was felt, and what came then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "felt")]
pub enum Felt {
    /// No call failed after it.
    Not,
    /// A call failed, and the same tool worked later.
    Mended {
        /// The agent's calls from there to the one that worked, that one included.
        steps: u32,
    },
    /// A call failed, and its tool never worked again.
    Open {
        /// The agent's calls after it.
        steps: u32,
    },
}

/// Events of many trials, by what came of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSum {
    /// Events that had an effect.
    pub happened: u32,
    /// Those that were not felt.
    pub unfelt: u32,
    /// Those of them in trials that passed.
    pub unfelt_passed: u32,
    /// Those that were felt and recovered from.
    pub recovered: u32,
    /// Those that were felt and not recovered from.
    pub unrecovered: u32,
    /// Calls that recovering took, all together.
    pub steps: u64,
    /// The most that it took.
    pub most_steps: u32,
}

impl EventSum {
    /// Counts an event of a trial that passed or did not.
    pub fn add(&mut self, felt: Felt, passed: bool) {
        self.happened += 1;
        let steps = match felt {
            Felt::Not => {
                self.unfelt += 1;
                self.unfelt_passed += u32::from(passed);
                return;
            }
            Felt::Mended { steps } => steps,
            Felt::Open { steps } if passed => steps,
            Felt::Open { .. } => {
                self.unrecovered += 1;
                return;
            }
        };
        self.recovered += 1;
        self.steps += u64::from(steps);
        self.most_steps = self.most_steps.max(steps);
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        self.happened += other.happened;
        self.unfelt += other.unfelt;
        self.unfelt_passed += other.unfelt_passed;
        self.recovered += other.recovered;
        self.unrecovered += other.unrecovered;
        self.steps += other.steps;
        self.most_steps = self.most_steps.max(other.most_steps);
    }

    /// Returns the mean number of calls that recovering took; none where nothing did.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no run has so many calls")]
    pub fn mean_steps(&self) -> Option<f64> {
        (self.recovered > 0).then(|| self.steps as f64 / f64::from(self.recovered))
    }
}

/// Returns what came of an event after which the agent made the calls from `from` on.
pub(super) fn felt(own: &[&Step], from: usize) -> Felt {
    let later = own.get(from..).unwrap_or_default();
    let Some(at) = later.iter().position(|step| step.error && !step.is_hit()) else {
        return Felt::Not;
    };
    let (failed, rest) = (later[at], &later[at + 1..]);
    let mended = rest.iter().position(|step| step.tool == failed.tool && !step.failed());
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    match mended {
        Some(place) => Felt::Mended { steps: count(place + 1) },
        None => Felt::Open { steps: count(rest.len()) },
    }
}
