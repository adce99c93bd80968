//! What the calls of a trial were like: figures that stand beside its verdict.
//!
//! They are counts, so that a report can sum them before it divides: a share of a group is
//! the share of all its calls and not a mean of shares.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use wildgym_tasks::scenario_file::Flaw;

/// Weight of success in the composite score.
const SUCCESS: f64 = 0.4;
/// Weight of step efficiency.
const EFFICIENCY: f64 = 0.3;
/// Weight of kept dependencies.
const DEPENDENCY: f64 = 0.2;
/// Weight of robustness.
const ROBUSTNESS: f64 = 0.1;
/// What a violated dependency costs of that part.
const VIOLATION: f64 = 0.2;

/// What the calls of a trial were like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// What was found wrong; a passed trial may have some of the five failure modes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub flaws: BTreeSet<Flaw>,
    /// Calls, failed ones and questions included.
    pub calls: u32,
    /// Calls of the shortest known way: of the reference, else those expected.
    pub optimum: u32,
    /// Tools that were offered.
    pub tools: u32,
    /// Expected calls whose tool was called.
    pub selection: Share,
    /// Required calls that were made as expected; none in files of older versions.
    #[serde(default, skip_serializing_if = "Share::is_of_nothing")]
    pub expected: Share,
    /// Assertions over the state at the end that hold.
    #[serde(default, skip_serializing_if = "Share::is_of_nothing")]
    pub assertions: Share,
    /// How arguments fared.
    pub parameters: Parameters,
    /// What came after the first call that failed; none where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// Calls that were refused because what they need was not there.
    pub violations: u32,
    /// Calls that repeat an earlier one while nothing changed.
    pub redundant: u32,
    /// Calls without those that only look.
    pub steps: u32,
    /// The same of the shortest known way.
    pub optimal_steps: u32,
    /// Questions to the person who gave the task.
    pub asked: u32,
    /// Whether it was right in spite of events and injected faults; true where there are
    /// none.
    pub robust: bool,
    /// Whether what had been done was undone after a step that failed for good; none where
    /// the task does not say how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensated: Option<bool>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// How many.
    pub right: u32,
    /// Of how many.
    pub of: u32,
}

impl Share {
    /// Returns the share in `0..=1`; none of nothing.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| f64::from(self.right) / f64::from(self.of))
    }

    /// Returns whether it is a share of nothing.
    #[must_use]
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub fn is_of_nothing(&self) -> bool {
        self.of == 0
    }

    /// Adds another one.
    pub fn add(&mut self, other: Self) {
        self.right += other.right;
        self.of += other.of;
    }
}

/// How the arguments of calls of known tools fared: each call counts once, by the first of
/// the classes that fits. The first four are those that the 43-tool harness names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// Calls with arguments that fit, and with the expected values where they were compared.
    pub right: u32,
    /// A required one is missing.
    pub missing: u32,
    /// One has the wrong type.
    pub wrong_type: u32,
    /// One is none of the values that it may have.
    pub bad_enum: u32,
    /// One does not exist.
    pub unknown: u32,
    /// Something else does not fit the schema: a range, a pattern, not JSON at all.
    pub other: u32,
    /// All fit the schema, and one is not what was expected.
    pub wrong_value: u32,
}

impl Parameters {
    /// Returns the calls with right arguments, of all.
    #[must_use]
    pub fn share(self) -> Share {
        let wrong = self.missing + self.wrong_type + self.bad_enum + self.unknown + self.other;
        Share { right: self.right, of: self.right + wrong + self.wrong_value }
    }

    /// Adds those of other calls.
    pub fn add(&mut self, other: Self) {
        self.right += other.right;
        self.missing += other.missing;
        self.wrong_type += other.wrong_type;
        self.bad_enum += other.bad_enum;
        self.unknown += other.unknown;
        self.other += other.other;
        self.wrong_value += other.wrong_value;
    }
}

/// What came after a failed call, from bad to good: a trial counts by the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The final text speaks of success.
    Fabricated,
    /// The same call failed at least three times in a row.
    Loop,
    /// Nothing that helped, and the final text says so or says nothing.
    GaveUp,
    /// The same call again, which then worked.
    Retried,
    /// The same tool with other arguments, which then worked.
    Corrected,
    /// Another tool, and the trial passed.
    Alternative,
}

impl Recovery {
    /// All of them, from bad to good.
    pub const ALL: [Self; 6] = [
        Self::Fabricated,
        Self::Loop,
        Self::GaveUp,
        Self::Retried,
        Self::Corrected,
        Self::Alternative,
    ];

    /// Returns the name used in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fabricated => "fabricated",
            Self::Loop => "loop",
            Self::GaveUp => "gave-up",
            Self::Retried => "retried",
            Self::Corrected => "corrected",
            Self::Alternative => "alternative",
        }
    }
}

impl Conduct {
    /// Returns how near the calls are to the fewest: `min(1, optimum / calls)`; none
    /// without a call or where none is needed.
    #[must_use]
    pub fn path_efficiency(&self) -> Option<f64> {
        ratio(self.optimum, self.calls)
    }

    /// Returns `min(1, optimal steps / steps)`, where steps are calls that do more than
    /// look; none where one of them is 0.
    ///
    /// Source: `ComplexMCP`'s tutorial, section 4.2. Its prose defines the ratio the other way
    /// round (steps over optimal steps); its code computes this one, as only this one is
    /// right in the composite, where more must be better.
    #[must_use]
    pub fn step_efficiency(&self) -> Option<f64> {
        ratio(self.optimal_steps, self.steps)
    }

    /// Returns the composite score in `0..=1` of a trial with this conduct.
    ///
    /// `0.4·success + 0.3·min(1, optimal/steps) + 0.2·max(0, 1 − 0.2·violations) +
    /// 0.1·robust`; the efficiency of no step is 0 as in the source, but 1 in a trial that
    /// passed because none was needed. Source: `ComplexMCP`'s tutorial, section 4.2, `evaluate_agent_run`.
    #[must_use]
    pub fn composite(&self, passed: bool) -> f64 {
        let efficiency = if passed && self.optimal_steps == 0 && self.steps == 0 {
            1.0
        } else {
            self.step_efficiency().unwrap_or(0.0)
        };
        let kept = (1.0 - VIOLATION * f64::from(self.violations)).max(0.0);
        let one = |truth: bool| if truth { 1.0 } else { 0.0 };
        SUCCESS * one(passed)
            + EFFICIENCY * efficiency
            + DEPENDENCY * kept
            + ROBUSTNESS * one(self.robust)
    }
}

fn ratio(optimum: u32, made: u32) -> Option<f64> {
    (optimum > 0 && made > 0).then(|| (f64::from(optimum) / f64::from(made)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_composite_is_that_of_its_source() {
        let conduct = |optimal_steps, steps, violations, robust| Conduct {
            violations,
            steps,
            optimal_steps,
            robust,
            ..Conduct::default()
        };
        let table = [
            (conduct(2, 2, 0, true), true, 1.0, "perfect"),
            (conduct(2, 4, 0, true), true, 0.85, "twice the steps"),
            (conduct(4, 2, 0, true), true, 1.0, "a shorter way than known is no more than best"),
            (conduct(2, 2, 3, true), true, 0.88, "three violations of 0.2 each"),
            (conduct(2, 2, 9, true), true, 0.8, "never below nothing"),
            (conduct(2, 0, 0, false), false, 0.2, "nothing done"),
            (conduct(0, 0, 0, true), true, 1.0, "nothing to do"),
            (conduct(0, 0, 0, true), false, 0.3, "nothing done, where the answer was wrong"),
            (conduct(2, 2, 0, false), false, 0.5, "wrong in the end"),
        ];
        for (conduct, passed, want, why) in table {
            let got = conduct.composite(passed);
            assert!((got - want).abs() < 1e-9, "{why}: {got}");
        }
    }
}
