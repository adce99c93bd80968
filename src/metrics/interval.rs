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
//! independent, `n · trials`. The effective number of observations is
//!
//! ```text
//! n_eff = n · clamp((m(1-m) + s₀) / (v + s₀), 1, trials),    s₀ = 0.1 / n
//! ```
//!
//! with the mean `m` and the variance `v` of the tasks' values. `s₀` draws the ratio
//! towards one where few tasks differ, as near 0 % and 100 %: there `v` is known badly,
//! and a lucky value would make the interval too narrow. The interval is then the
//! equal-tailed one of `Beta(m·n_eff + ¾, (1-m)·n_eff + ¾)`; at exactly 0 % and 100 %
//! its outer end is 0 or 1.
//!
//! Effective sample sizes in intervals for extreme proportions: Franco, Little, Louis
//! and Slud 2019, "Comparative Study of Confidence Intervals for Proportions in Complex
//! Sample Surveys", Journal of Survey Statistics and Methodology 7(3). Beta intervals
//! for a binomial proportion and their coverage: Brown, Cai and Das Gupta 2001,
//! "Interval Estimation for a Binomial Proportion", Statistical Science 16(2). The
//! prior weight ¾ lies between Jeffreys' ½ and Laplace's 1, and it and `s₀` were chosen by
//! simulation: ½ covers 98 % at 2 of 100 tasks and 92 % at 8 of 400, Wilson's interval
//! 98 % at 6 of 20. The tests below repeat the simulation for the choice that was made.

use super::beta::Beta;

/// Below this number of tasks there is no interval: it would be as wide as to say
/// nothing, and still be read as a result.
pub const FEWEST_TASKS: usize = 10;

/// What a report says about how the intervals were made.
pub const METHOD: &str = "95 % intervals over tasks: beta(3/4) on the effective number of tasks";

/// Weight of the prior at either end.
const PRIOR: f64 = 0.75;

/// `n · s₀`: see the module's documentation.
const SHRINK: f64 = 0.1;

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
    let mean = values.iter().sum::<f64>() / tasks;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / tasks;
    let shrink = SHRINK / tasks;
    let gain = (mean * (1.0 - mean) + shrink) / (variance + shrink);
    let effective = tasks * gain.clamp(1.0, f64::from(trials.max(1)));
    let (hits, misses) = (mean * effective, (1.0 - mean) * effective);
    let beta = Beta::new(hits + PRIOR, misses + PRIOR);
    let end = |share| beta.quantile(share);
    let low = if values.iter().all(|value| *value <= 0.0) { 0.0 } else { end(0.025).min(mean) };
    let high = if values.iter().all(|value| *value >= 1.0) { 1.0 } else { end(0.975).max(mean) };
    Some((low, high))
}

/// Returns a number of tasks or trials as a float.
#[expect(clippy::cast_precision_loss, reason = "no run has 2^52 tasks")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// How the chance of passing differs between tasks of one mean difficulty.
    #[derive(Debug, Clone, Copy)]
    enum Spread {
        /// All tasks are alike.
        None,
        /// A share of tasks always passes, the rest never.
        Whole,
        /// Chances from a beta distribution; the number is the correlation between
        /// trials of a task.
        Beta(f64),
    }

    /// Probabilities that a task passes 0, 1, …, `trials` times.
    fn passes(p: f64, trials: u32, spread: Spread) -> Vec<f64> {
        let weight = match spread {
            Spread::None => 1e12,
            Spread::Whole => 1e-12,
            Spread::Beta(correlation) => 1.0 / correlation - 1.0,
        };
        let rising =
            |from: f64, steps: u32| (0..steps).map(|i| from + f64::from(i)).product::<f64>();
        let ways =
            |c: u32| (0..c).map(|i| f64::from(trials - i) / f64::from(c - i)).product::<f64>();
        (0..=trials)
            .map(|c| {
                ways(c) * rising(p * weight, c) * rising((1.0 - p) * weight, trials - c)
                    / rising(weight, trials)
            })
            .collect()
    }

    /// The next number in `0..1` of a splitmix generator.
    fn draw(state: &mut u64) -> f64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = *state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap()) / 4_294_967_296.0
    }

    /// Share of 2,000 simulated runs whose interval holds the truth.
    fn coverage(tasks: u32, p: f64, trials: u32, spread: Spread) -> f64 {
        const RUNS: u32 = 2000;
        let chances = passes(p, trials, spread);
        let mut state = 2026;
        let mut known: HashMap<Vec<usize>, bool> = HashMap::new();
        let mut covered = 0;
        for _ in 0..RUNS {
            let mut by_passes = vec![0; chances.len()];
            for _ in 0..tasks {
                let mut at = draw(&mut state);
                let mut passed = 0;
                while passed + 1 < chances.len() && at >= chances[passed] {
                    at -= chances[passed];
                    passed += 1;
                }
                by_passes[passed] += 1;
            }
            let holds = *known.entry(by_passes).or_insert_with_key(|by_passes| {
                let mut values = Vec::new();
                for (passed, tasks) in by_passes.iter().enumerate() {
                    values.resize(values.len() + tasks, count(passed) / f64::from(trials));
                }
                ci95(&values, trials).is_some_and(|(low, high)| low <= p && p <= high)
            });
            covered += u32::from(holds);
        }
        f64::from(covered) / f64::from(RUNS)
    }

    /// Where every task counts once, whatever its trials, all cells lie in 93 to 97 %.
    /// With several trials of differing tasks the coverage at 2 and 98 % moves in steps
    /// of some points, whatever the method; it may then be up to a point above.
    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let kinds = [
            (1, Spread::None, 0.93, 0.97),
            (3, Spread::Whole, 0.93, 0.97),
            (3, Spread::None, 0.93, 0.975),
            (3, Spread::Beta(0.3), 0.93, 0.975),
            (3, Spread::Beta(0.5), 0.93, 0.975),
            (3, Spread::Beta(0.7), 0.93, 0.975),
            (8, Spread::Beta(0.3), 0.93, 0.98),
        ];
        let mut misses = Vec::new();
        for tasks in [20, 100, 400] {
            for p in [0.02, 0.3, 0.5, 0.98] {
                for (trials, spread, least, most) in kinds {
                    let share = coverage(tasks, p, trials, spread);
                    if !(least..=most).contains(&share) {
                        misses
                            .push(format!("{tasks} tasks, p {p}, {trials} × {spread:?}: {share}"));
                    }
                }
            }
        }
        assert!(misses.is_empty(), "{}", misses.join("\n"));
    }

    #[test]
    fn the_ends_are_honest_at_the_edges() {
        assert_eq!(ci95(&[1.0; 9], 3), None, "nine tasks are too few");
        assert_eq!(ci95(&[f64::NAN; 12], 3), None, "no number");
        let (low, high) = ci95(&[0.0; 20], 3).unwrap();
        assert!(low == 0.0 && (0.10..0.20).contains(&high), "0 of 20 leaves room: {high}");
        let (low, high) = ci95(&[1.0; 20], 3).unwrap();
        assert!(high >= 1.0 && (0.80..0.90).contains(&low), "20 of 20 proves little: {low}");
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
}
