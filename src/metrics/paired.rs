//! Differences between two sides that tried the same tasks.
//!
//! A side is a run, a condition or a variant. A *pair* is one trial on each side: the same
//! task, the same of the k. Only pairs in which both trials have a verdict are counted,
//! so that a trial which was lost on one side drops out of both scores.
//!
//! # The method
//!
//! A task's difference is the mean over its pairs of second minus first, a number in
//! `-1..=1`; the difference of the sides is the mean over tasks. With `n` tasks whose
//! differences are `d`, and two more that are set against each other, `+s` and `-s`:
//!
//! ```text
//! D = Σd / (n+2),    V = (Σd² + 2s²) / (n+2) - D²,    s = (Σd² + 1) / (Σ|d| + 1)
//! D ± 1.96 · √(V / (n+2))
//! ```
//!
//! With one pair a task `s` is 1, and this is the interval of Bonett and Price 2012,
//! "Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on
//! Paired Data", Journal of Educational and Behavioral Statistics 37(4). The two tasks
//! keep it honest where few tasks differ: where none of 20 does, it is ±12.6 points and
//! not 0. `s` carries it over to several pairs a task, whose differences are smaller: the
//! tasks that are added differ about as much as those that do differ.
//!
//! Simulated coverage (`tests/metrics.rs`): 94 to 97 % at 100 tasks where some ten or more
//! differ. Where fewer do it is higher, up to 100 %, and so it is at 20 tasks (93 % and
//! more): no method can know from 20 tasks that are all alike how many of the next 20
//! will be.

use serde::Serialize;

use super::interval::{FEWEST_TASKS, count};

/// What a report says about how the intervals of differences were made.
pub const PAIRED_METHOD: &str = "95 % intervals over tasks: adjusted Wald for pairs";

/// The normal distribution's quantile at 97.5 %.
const Z: f64 = 1.959_963_984_540_054;

/// Pairs of trials by how both ended; degraded counts as not passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Pairs {
    /// Both passed.
    pub both: u32,
    /// Only the first side passed.
    pub only_first: u32,
    /// Only the second side passed.
    pub only_second: u32,
    /// Neither passed.
    pub neither: u32,
}

/// How a task changed between the sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flip {
    /// Most of its trials passed on the second side and not on the first.
    ToPass,
    /// Most of its trials passed on the first side and not on the second.
    ToFail,
}

impl Pairs {
    /// Counts one pair.
    pub fn add(&mut self, first_passed: bool, second_passed: bool) {
        let count = match (first_passed, second_passed) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.only_first,
            (false, true) => &mut self.only_second,
            (false, false) => &mut self.neither,
        };
        *count += 1;
    }

    /// Adds the pairs of another task.
    pub fn merge(&mut self, other: Self) {
        self.both += other.both;
        self.only_first += other.only_first;
        self.only_second += other.only_second;
        self.neither += other.neither;
    }

    /// Returns the number of pairs.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.both + self.only_first + self.only_second + self.neither
    }

    /// Returns how many of them passed on the first and on the second side.
    #[must_use]
    pub fn passed(&self) -> (u32, u32) {
        (self.both + self.only_first, self.both + self.only_second)
    }

    /// Returns the shares that passed on both sides, fractions in `0..=1`.
    ///
    /// Returns `None` without pairs.
    #[must_use]
    pub fn shares(&self) -> Option<(f64, f64)> {
        let (first, second) = self.passed();
        let total = f64::from(self.total());
        (total > 0.0).then(|| (f64::from(first) / total, f64::from(second) / total))
    }

    /// Returns how the task changed, where it did: a side passes a task of which it passed
    /// *more than half* of the pairs.
    #[must_use]
    pub fn flip(&self) -> Option<Flip> {
        let (first, second) = self.passed();
        let most = |passed: u32| 2 * passed > self.total();
        match (most(first), most(second)) {
            (false, true) => Some(Flip::ToPass),
            (true, false) => Some(Flip::ToFail),
            (true, true) | (false, false) => None,
        }
    }
}

/// Two sides of the same tasks, averaged over tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Paired {
    /// Tasks that have a pair.
    pub tasks: usize,
    /// Score of the first side over the pairs; none without tasks.
    pub first: Option<f64>,
    /// Score of the second side over the pairs.
    pub second: Option<f64>,
    /// Second minus first, in `-1..=1`.
    pub difference: Option<f64>,
    /// Its 95 % interval; none below ten tasks.
    pub ci95: Option<(f64, f64)>,
}

impl Paired {
    /// Compares the sides of `tasks`; tasks without a pair are left out.
    #[must_use]
    pub fn of(tasks: &[Pairs]) -> Self {
        Self::of_shares(&tasks.iter().filter_map(Pairs::shares).collect::<Vec<_>>())
    }

    /// Compares the sides of tasks by a value of each on both sides, in `0..=1`.
    #[must_use]
    pub fn of_shares(shares: &[(f64, f64)]) -> Self {
        let differences: Vec<f64> = shares.iter().map(|(first, second)| second - first).collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            (!shares.is_empty()).then(|| values.sum::<f64>() / count(shares.len()))
        };
        Self {
            tasks: shares.len(),
            first: mean(&mut shares.iter().map(|share| share.0)),
            second: mean(&mut shares.iter().map(|share| share.1)),
            difference: mean(&mut differences.iter().copied()),
            ci95: difference_ci95(&differences),
        }
    }
}

/// Returns the 95 % interval of the mean of `differences`, one value in `-1..=1` per task.
///
/// Returns `None` below [`FEWEST_TASKS`] tasks, and when a value is not in `-1..=1`. Both
/// ends lie in `-1..=1` and enclose the mean, and the interval is never empty: see the
/// module's documentation for its source.
#[must_use]
pub fn difference_ci95(differences: &[f64]) -> Option<(f64, f64)> {
    let outside = |value: &f64| !(-1.0..=1.0).contains(value);
    if differences.len() < FEWEST_TASKS || differences.iter().any(outside) {
        return None;
    }
    let tasks = count(differences.len());
    let sum: f64 = differences.iter().sum();
    let squares: f64 = differences.iter().map(|value| value * value).sum();
    let sizes: f64 = differences.iter().map(|value| value.abs()).sum();
    let size = (squares + 1.0) / (sizes + 1.0);
    let more = tasks + 2.0;
    let centre = sum / more;
    let variance = ((squares + 2.0 * size * size) / more - centre * centre).max(0.0);
    let half = Z * (variance / more).sqrt();
    let mean = sum / tasks;
    Some(((centre - half).max(-1.0).min(mean), (centre + half).min(1.0).max(mean)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(both: u32, only_first: u32, only_second: u32, neither: u32) -> Pairs {
        Pairs { both, only_first, only_second, neither }
    }

    #[test]
    fn a_flip_is_a_change_of_most_trials() {
        let table = [
            (pairs(0, 0, 1, 0), Some(Flip::ToPass), "the one trial"),
            (pairs(0, 1, 0, 0), Some(Flip::ToFail), "the one trial, the other way"),
            (pairs(1, 0, 1, 1), Some(Flip::ToPass), "one of three became two of three"),
            (pairs(2, 0, 1, 0), None, "two of three became three: better, no flip"),
            (pairs(0, 0, 1, 1), None, "half is not most"),
            (pairs(0, 1, 1, 0), None, "one each: the same share"),
            (pairs(0, 0, 0, 0), None, "no pair"),
        ];
        for (task, want, why) in table {
            assert_eq!(task.flip(), want, "{why}");
        }
    }

    #[test]
    fn scores_are_means_over_tasks_and_not_over_pairs() {
        let paired = Paired::of(&[pairs(3, 0, 0, 0), pairs(0, 0, 1, 0), pairs(0, 0, 0, 0)]);
        assert_eq!(paired.tasks, 2, "a task without a pair is left out");
        assert_eq!((paired.first, paired.second), (Some(0.5), Some(1.0)));
        assert_eq!((paired.difference, paired.ci95), (Some(0.5), None));
        assert_eq!(Paired::of(&[]), Paired::default());
    }

    #[test]
    fn the_interval_of_single_pairs_is_that_of_its_source() {
        // 4 and 9 of 50 pairs differ: (9 - 4) / 52 ± 1.96 √((5/52 + 10/52 - (5/52)²) / 52).
        let differences = [vec![-1.0; 4], vec![1.0; 9], vec![0.0; 37]].concat();
        let (low, high) = difference_ci95(&differences).unwrap();
        let (down, up) = (5.0 / 52.0, 10.0 / 52.0);
        let (centre, variance): (f64, f64) =
            (up - down, (up + down - (up - down) * (up - down)) / 52.0);
        let half = 1.959_963_984_540_054 * variance.sqrt();
        assert!((low - (centre - half)).abs() < 1e-12 && (high - (centre + half)).abs() < 1e-12);
    }

    #[test]
    fn nothing_that_differs_is_no_proof_of_equality() {
        assert_eq!(difference_ci95(&[0.0; 9]), None, "nine tasks are too few");
        assert_eq!(difference_ci95(&[f64::NAN; 12]), None, "no number");
        let (low, high) = difference_ci95(&[0.0; 20]).unwrap();
        assert!((high - 0.126).abs() < 1e-3 && (low + high).abs() < 1e-12, "{low} {high}");
        let (low, high) = difference_ci95(&[1.0; 20]).unwrap();
        assert!(high >= 1.0 && (0.7..0.9).contains(&low), "{low} {high}");
    }

    proptest! {
        #[test]
        fn ends_enclose_the_mean_and_change_sign_with_the_sides(
            tasks in prop::collection::vec((0u32..3, 0u32..3, 0u32..3, 1u32..3), 10..60),
        ) {
            let tasks: Vec<Pairs> =
                tasks.into_iter().map(|(b, f, s, n)| pairs(b, f, s, n)).collect();
            let there = Paired::of(&tasks);
            let (mean, (low, high)) = (there.difference.unwrap(), there.ci95.unwrap());
            prop_assert!(-1.0 <= low && low <= mean && mean <= high && high <= 1.0);
            prop_assert!(high - low > 0.0);
            let back: Vec<Pairs> = tasks
                .iter()
                .map(|task| Pairs {
                    only_first: task.only_second,
                    only_second: task.only_first,
                    ..*task
                })
                .collect();
            let (from, to) = Paired::of(&back).ci95.unwrap();
            prop_assert!((low + to).abs() < 1e-12 && (high + from).abs() < 1e-12);
        }
    }
}
