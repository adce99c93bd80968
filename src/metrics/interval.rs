//! Intervals for a mean over tasks.
//!
//! # The method
//!
//! Every task gives one value in `0..=1`: its share of passed trials, or its pass@k or
//! pass^k. The tasks are read as a sample of the tasks one could have written, so an
//! interval says what another sample of as many tasks, tried as often, could have shown.
//!
//! The spread *between* tasks tells how much a trial beyond the first adds: were all
//! trials of a task alike, `n` tasks would carry `n` observations, and were they
//! independent, `n·k`. With the mean `m` and the variance `v` of the tasks' values, the
//! correlation between trials of a task and the effective number of observations are
//!
//! ```text
//! ρ = (n·k·(k·v - m(1-m)) / (k-1) + w) / (n·k·m(1-m) + w),    clamped to 0..=1
//! n_eff = n·k / (1 + (k-1)·ρ)
//! ```
//!
//! The lower end is a quantile of `Beta(m·n_eff + 0.7, (1-m)·n_eff + 0.5)`, with
//! `w = 1.75·m`, at the share `0.025 + 0.008·(1-2m)`. The upper end is the lower end of
//! the failures, mirrored. At exactly 0 % and 100 % the outer end is 0 or 1.
//!
//! Two things are skewed near 0 % and 100 %, and the method with them. A run that by
//! chance passes little also shows little spread, so the end that looks *away* from the
//! nearer edge draws `ρ` towards one by `w` (in passed trials). And an interval can hardly
//! miss the truth there on the side of the edge, so the other side gets more of the 5 %:
//! 3.3 % and 1.7 % at the edge itself, 2.5 % each in the middle.
//!
//! # Sources
//!
//! The effective number of observations: Kish 1965, "Survey Sampling", section 5.4
//! (`1 + (k-1)·ρ`); in intervals for extreme proportions: Korn and Graubard 1998,
//! "Confidence Intervals for Proportions with Small Expected Number of Positive Counts
//! Estimated from Survey Data", Survey Methodology 24(2); Franco, Little, Louis and Slud
//! 2019, "Comparative Study of Confidence Intervals for Proportions in Complex Sample
//! Surveys", Journal of Survey Statistics and Methodology 7(3). Beta intervals for a
//! proportion and how their coverage swings: Brown, Cai and Das Gupta 2001, "Interval
//! Estimation for a Binomial Proportion", Statistical Science 16(2).
//!
//! The four numbers (0.7, 0.5, 1.75, 0.008) are of no paper. They were chosen by
//! simulation and lie in the middle of a region in which the coverage hardly moves: for
//! 20, 100 and 400 tasks, chances of 2, 30, 50, 98 %, and 1 to 10 trials that are
//! independent, alike, or anything between, it lies between 93 and 97 %
//! (`tests/metrics.rs` repeats it). Elsewhere it may leave that band, as for any method
//! that is deterministic: with one trial per task there are only `n + 1` results. For
//! 1 % and 20 tasks it is 98.3 %, for 1 % and 50 tasks 91.1 %.

use super::beta::Beta;

/// Below this number of tasks there is no interval: it would be as wide as to say
/// nothing, and still be read as a result.
pub const FEWEST_TASKS: usize = 10;

/// What a report says about how the intervals were made.
pub const METHOD: &str = "95 % intervals over tasks: beta on the effective number of trials";

/// Weights of the prior on the side of the end and on the other side.
const PRIOR: (f64, f64) = (0.7, 0.5);

/// Weight that draws the correlation towards one, in passed trials, at the far edge.
const PULL: f64 = 1.75;

/// How much more than 2.5 % may lie beyond the end that looks to the nearer edge.
const TILT: f64 = 0.008;

/// What is known of the values of all tasks.
#[derive(Debug, Clone, Copy)]
struct Known {
    tasks: f64,
    trials: f64,
    mean: f64,
    variance: f64,
}

/// Returns the 95 % interval of the mean of `values`, one value in `0..=1` per task.
///
/// `trials` is the number of trials behind a task's value, which bounds what a task can
/// count for. Returns `None` below [`FEWEST_TASKS`] tasks, and when a value is not in
/// `0..=1`. Both ends are fractions in `0..=1` and enclose the mean.
#[must_use]
pub fn ci95(values: &[f64], trials: u32) -> Option<(f64, f64)> {
    if values.len() < FEWEST_TASKS || values.iter().any(|value| !(0.0..=1.0).contains(value)) {
        return None;
    }
    let tasks = count(values.len());
    let mean = (values.iter().sum::<f64>() / tasks).min(1.0);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / tasks;
    let passed = Known { tasks, trials: f64::from(trials.max(1)), mean, variance };
    let failed = Known { mean: 1.0 - mean, ..passed };
    Some((passed.low_end().min(mean), (1.0 - failed.low_end()).max(mean)))
}

impl Known {
    /// Returns the lower end; the upper end is that of the failures, mirrored.
    fn low_end(&self) -> f64 {
        let Self { mean, .. } = *self;
        if mean <= 0.0 {
            return 0.0;
        }
        let effective = self.effective(PULL * mean);
        let beta = Beta::new(mean * effective + PRIOR.0, (1.0 - mean) * effective + PRIOR.1);
        beta.quantile(0.025 + TILT * (1.0 - 2.0 * mean))
    }

    /// Returns the effective number of observations, with the correlation between trials
    /// of a task drawn towards one by `pull` passed trials.
    fn effective(&self, pull: f64) -> f64 {
        let Self { tasks, trials, mean, variance } = *self;
        if trials <= 1.0 {
            return tasks;
        }
        let alone = mean * (1.0 - mean);
        let excess = (trials * variance - alone) / (trials - 1.0);
        let correlation = (tasks * trials * excess + pull) / (tasks * trials * alone + pull);
        tasks * trials / (1.0 + (trials - 1.0) * correlation.clamp(0.0, 1.0))
    }
}

/// Returns a number of tasks or trials as a float.
#[expect(clippy::cast_precision_loss, reason = "no run has 2^52 tasks")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends_are_honest_at_the_edges() {
        assert_eq!(ci95(&[1.0; 9], 3), None, "nine tasks are too few");
        assert_eq!(ci95(&[f64::NAN; 12], 3), None, "no number");
        let (low, high) = ci95(&[0.0; 20], 3).unwrap();
        assert!(low == 0.0 && (0.10..0.20).contains(&high), "0 of 20 leaves room: {high}");
        let (low, high) = ci95(&[1.0; 20], 3).unwrap();
        assert!(high >= 1.0 && (0.80..0.90).contains(&low), "20 of 20 proves little: {low}");
        let (_, one) = ci95(&[0.0; 20], 1).unwrap();
        let (_, many) = ci95(&[0.0; 20], 8).unwrap();
        assert!(one <= many + 1e-12, "trials that are all alike count once: {one} {many}");
    }

    #[test]
    fn more_trials_narrow_the_interval_only_as_far_as_tasks_differ_less() {
        let width = |values: &[f64]| ci95(values, 4).map(|(low, high)| high - low).unwrap();
        let alike = width(&[0.5; 20]);
        let split = width(&[[0.0; 10], [1.0; 10]].concat());
        let between = width(&[[0.25; 10], [0.75; 10]].concat());
        assert!(alike < between && between < split, "{alike} {between} {split}");
        assert!(alike > split / 2.1, "four trials count at most fourfold: {alike} {split}");
    }

    proptest! {
        #[test]
        fn ends_enclose_the_mean_and_mirror(
            values in prop::collection::vec(0.0f64..=1.0, 10..60),
            trials in 0u32..9,
        ) {
            let (low, high) = ci95(&values, trials).unwrap();
            let mean = values.iter().sum::<f64>() / count(values.len());
            prop_assert!(0.0 <= low && low <= mean && mean <= high && high <= 1.0);
            let mirrored: Vec<f64> = values.iter().map(|value| 1.0 - value).collect();
            let (from, to) = ci95(&mirrored, trials).unwrap();
            prop_assert!((low - (1.0 - to)).abs() < 1e-6 && (high - (1.0 - from)).abs() < 1e-6);
        }
    }
}
