//! Whether a run passes less than its baseline, beyond what chance explains.
//!
//! A baseline is one run, or several of the same tasks whose trials are pooled. A *drop*
//! is the baseline's score minus the run's, over the tasks that both have judged trials
//! of, with the task as the unit.
//!
//! # The method
//!
//! A task of which the baseline has `b` and the run `r` judged trials, `x` of them passed
//! together, has a difference `d = (passed of b)/b - (passed of r)/r`. Given `x`, and if
//! nothing changed, its mean is 0 and its variance that of the hypergeometric
//! distribution. Over tasks, weighted by `w`, it is `Z` standard errors from 0:
//!
//! ```text
//! Z = Σ w·d / √(Σ w²·v),    v = x·(b+r-x) / ((b+r)·(b+r-1)) · (1/b + 1/r)
//! w = 1 / (2 - x / (b+r))
//! ```
//!
//! (The exact conditional mean and variance are those of Mantel and Haenszel 1959,
//! "Statistical Aspects of the Analysis of Data From Retrospective Studies of Disease",
//! Journal of the National Cancer Institute 22(4). The tasks are the same on both sides,
//! so only the chances of their trials count, not how tasks differ.) The weight is of no
//! paper: a task that mostly passes tells more by a failure than one that mostly fails, so
//! it counts up to twice; since it depends on `x` alone, it does not move the mean.
//!
//! A drop, the plain mean of `d`, blocks when it is larger than what is tolerated *and*
//! `Z` is larger than [`SURE`], the one-sided test at 4 %. Without the second half a
//! tolerance of 3 points would block one run in ten for nothing: with 78 tasks, three
//! trials each and a baseline of seven runs a standard error is about 2 points.
//!
//! `tests/gate.rs` simulates it: of runs that are as good as their baseline at most 5 % are
//! blocked, of those that are 6 points worse at least 80 %. A baseline of a single run
//! finds fewer of them (five to six in ten), and so do tasks that all pass half of the time.
//!
//! Where nothing is tolerated, each task counts by itself: see [`Sides::fails_newly`].

use super::interval::count;
use super::scores::Cell;

/// So many standard errors a drop is large: the normal distribution's 96 % quantile.
pub const SURE: f64 = 1.750_686_071_252_17;

/// A task's trials in the baseline and in the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sides {
    /// All judged trials of the baseline.
    pub baseline: Cell,
    /// The judged trials of the run.
    pub run: Cell,
}

impl Sides {
    /// Returns whether a task that passed every trial of its baseline fails one now.
    ///
    /// A task that failed now and then in the baseline is none: that it fails again is no
    /// news.
    #[must_use]
    pub fn fails_newly(&self) -> bool {
        let steady = self.baseline.judged > 0 && self.baseline.passed == self.baseline.judged;
        steady && self.run.passed < self.run.judged
    }

    /// Returns whether the baseline has trials of it that passed and others that did not.
    #[must_use]
    pub fn is_flaky(&self) -> bool {
        self.baseline.passed > 0 && self.baseline.passed < self.baseline.judged
    }

    /// Returns the shares that passed in the baseline and in the run, fractions in `0..=1`.
    ///
    /// Returns `None` where a side has no judged trial.
    #[must_use]
    pub fn shares(&self) -> Option<(f64, f64)> {
        let share = |cell: Cell| f64::from(cell.passed) / f64::from(cell.judged);
        let both = self.baseline.judged > 0 && self.run.judged > 0;
        both.then(|| (share(self.baseline), share(self.run)))
    }

    /// Returns its weight, and the variance of the difference of its shares if nothing
    /// changed.
    fn weight(&self) -> (f64, f64) {
        let [base, run] = [self.baseline.judged, self.run.judged].map(f64::from);
        let passed = f64::from(self.baseline.passed + self.run.passed);
        let all = base + run;
        let chance = passed * (all - passed) / (all * (all - 1.0));
        (1.0 / (2.0 - passed / all), chance * (1.0 / base + 1.0 / run))
    }
}

/// How much less a run passes than its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drop {
    /// Tasks with judged trials on both sides.
    pub tasks: usize,
    /// Score of the baseline over these tasks, a fraction in `0..=1`.
    pub baseline: f64,
    /// Score of the run over them.
    pub run: f64,
    /// `Z` of the module's documentation: standard errors from no change, positive where
    /// the run passes less; 0 where no task differs.
    pub errors: f64,
}

impl Drop {
    /// Compares the sides of `tasks`. Those that lack a side are left out.
    ///
    /// Returns `None` where no task is left.
    #[must_use]
    pub fn of(tasks: &[Sides]) -> Option<Self> {
        let both: Vec<(&Sides, (f64, f64))> =
            tasks.iter().filter_map(|sides| Some((sides, sides.shares()?))).collect();
        if both.is_empty() {
            return None;
        }
        let (mut sum, mut variance) = (0.0, 0.0);
        for (sides, (baseline, run)) in &both {
            let (weight, of_task) = sides.weight();
            sum += weight * (baseline - run);
            variance += weight * weight * of_task;
        }
        let mean = |side: fn(&(f64, f64)) -> f64| {
            both.iter().map(|(_, shares)| side(shares)).sum::<f64>() / count(both.len())
        };
        Some(Self {
            tasks: both.len(),
            baseline: mean(|shares| shares.0),
            run: mean(|shares| shares.1),
            errors: if variance > 0.0 { sum / variance.sqrt() } else { 0.0 },
        })
    }

    /// Returns baseline minus run, in `-1..=1`; negative where the run is better.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.baseline - self.run
    }

    /// Returns whether it is larger than `tolerance`, a fraction in `0..=1`, and than what
    /// chance explains.
    #[must_use]
    pub fn exceeds(&self, tolerance: f64) -> bool {
        // A drop of three points is not more than a tolerance of three.
        const ROUNDING: f64 = 1e-9;
        self.size() > tolerance + ROUNDING && self.errors > SURE
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sides(baseline: (u32, u32), run: (u32, u32)) -> Sides {
        let cell = |(passed, judged)| Cell { judged, passed };
        Sides { baseline: cell(baseline), run: cell(run) }
    }

    #[test]
    fn only_what_never_failed_fails_newly() {
        let table = [
            (sides((21, 21), (2, 3)), true, false, "one failure after none"),
            (sides((21, 21), (3, 3)), false, false, "as before"),
            (sides((20, 21), (0, 3)), false, true, "it failed before: the drop counts it"),
            (sides((0, 21), (0, 3)), false, false, "it never passed"),
            (sides((0, 0), (0, 3)), false, false, "no baseline"),
            (sides((3, 3), (0, 0)), false, false, "not tried"),
        ];
        for (task, newly, flaky, why) in table {
            assert_eq!((task.fails_newly(), task.is_flaky()), (newly, flaky), "{why}");
        }
    }

    #[test]
    fn a_drop_is_a_mean_over_tasks_with_both_sides() {
        let tasks = [sides((3, 3), (0, 1)), sides((1, 2), (1, 2)), sides((1, 1), (0, 0))];
        let drop = Drop::of(&tasks).unwrap();
        assert_eq!((drop.tasks, drop.baseline, drop.run), (2, 0.75, 0.25));
        // 3 of 4 passed: 3/12 · (1/3 + 1), weight 4/5; 2 of 4: 4/12 · (1/2 + 1/2), weight 2/3.
        let (first, second) = (0.64 / 3.0, 4.0 / 9.0 / 3.0_f64);
        assert!((drop.errors - 0.8 / (first + second).sqrt()).abs() < 1e-12, "{drop:?}");
        assert_eq!(Drop::of(&[sides((1, 1), (0, 0))]), None);
    }

    #[test]
    fn a_drop_blocks_beyond_tolerance_and_chance() {
        let steady = |failing: usize| -> Vec<Sides> {
            let now = |task| if task < failing { (0, 3) } else { (3, 3) };
            (0..100).map(|task| sides((21, 21), now(task))).collect()
        };
        let exceeds = |tasks: &[Sides], by: f64| Drop::of(tasks).unwrap().exceeds(by);
        assert!(!exceeds(&steady(0), 0.0), "no drop");
        assert!(!exceeds(&steady(3), 0.03), "as much as is tolerated");
        assert!(exceeds(&steady(4), 0.03), "more");
        assert!(exceeds(&steady(4), 0.0), "nothing is tolerated");
        let coins = vec![sides((10, 21), (1, 3)); 10];
        assert!(!exceeds(&coins, 0.03), "14 points, which ten coins do every third time");
    }

    proptest! {
        #[test]
        fn what_is_better_never_blocks(
            tasks in prop::collection::vec((0u32..4, 0u32..4, 1u32..4), 1..80),
        ) {
            // Every task passes at least as often in the run as in the baseline.
            let tasks: Vec<Sides> = tasks
                .into_iter()
                .map(|(base, more, judged)| {
                    let base = base.min(judged);
                    sides((base, judged), ((base + more).min(judged), judged))
                })
                .collect();
            let drop = Drop::of(&tasks).unwrap();
            prop_assert!(!drop.exceeds(0.0) && drop.errors <= 0.0, "{drop:?}");
            prop_assert!(tasks.iter().all(|task| !task.fails_newly()));
        }
    }
}
