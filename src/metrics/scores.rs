//! Scores of a group of tasks.
//!
//! What is left out is counted: a task without a judged trial has no score, and a task
//! with fewer than `j` judged trials (others were lost, unjudged or skipped) has no
//! pass@j and no pass^j. Neither counts as a fail; both show in [`Estimate::tasks`]
//! being smaller than [`Scores::tasks`], and in `tasks_scored` of the JSON. Estimating from fewer trials than asked for
//! (`min(n, j)`) would be biased, and in opposite directions for the two.

use serde::{Serialize, Serializer};

use super::estimators::{avg, pass_at_k, pass_hat_k};
use super::interval::{ci95, count};

/// Judged trials of one task in one variant under one condition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cell {
    /// Trials with a verdict.
    pub judged: u32,
    /// Those that passed; degraded ones did not.
    pub passed: u32,
}

/// A task with its cells: one, unless variants or conditions are pooled. The task's
/// value is the mean over its cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskCells(pub Vec<Cell>);

impl TaskCells {
    /// Returns the mean of what `estimate` gives for the cells that have one.
    fn value(&self, estimate: impl Fn(Cell) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.0.iter().copied().filter_map(estimate).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
    }
}

/// A mean over tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean, a fraction in `0..=1`; none where no task has an estimate.
    pub value: Option<f64>,
    /// Its 95 % interval; none below ten tasks.
    pub ci95: Option<(f64, f64)>,
    /// Number of tasks that have an estimate.
    #[serde(rename = "tasks_scored")]
    pub tasks: usize,
}

impl Estimate {
    /// Returns the mean of values of tasks in `0..=1`, each of so many trials.
    #[must_use]
    pub fn of(values: &[f64], trials: u32) -> Self {
        let value = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()));
        Self { value, ci95: ci95(values, trials), tasks: values.len() }
    }
}

/// The three scores at one number of trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ByK {
    /// The number of trials.
    pub k: u32,
    /// Share of passed trials. Its expectation does not depend on `k`.
    pub avg_at_k: Estimate,
    /// Chance that at least one of `k` trials passes.
    pub pass_at_k: Estimate,
    /// Chance that all of `k` trials pass.
    pub pass_hat_k: Estimate,
}

/// Scores of a group of tasks, averaged over tasks (not over scenarios).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// Number of tasks in the group, those without a score included.
    pub tasks: usize,
    /// Trials per task that the run asked for.
    pub k: u32,
    /// The scores for every number of trials from 1 to `k`.
    pub by_k: Vec<ByK>,
}

impl Scores {
    /// Scores `tasks`, of each of which `k` trials were asked for per cell.
    #[must_use]
    pub fn of(tasks: &[TaskCells], k: u32) -> Self {
        let by_k = (1..=k).map(|j| at_k(tasks, k, j)).collect();
        Self { tasks: tasks.len(), k, by_k }
    }

    /// Returns the scores at `k` itself; all empty when `k` is zero.
    #[must_use]
    pub fn at_k(&self) -> ByK {
        self.by_k.last().copied().unwrap_or_default()
    }
}

impl Serialize for Scores {
    /// Writes the scores at `k` in front, those for every number of trials behind.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'a> {
            tasks: usize,
            k: u32,
            avg_at_k: Estimate,
            pass_at_k: Estimate,
            pass_hat_k: Estimate,
            by_k: &'a [ByK],
        }
        let ByK { avg_at_k, pass_at_k, pass_hat_k, .. } = self.at_k();
        let (tasks, k, by_k) = (self.tasks, self.k, &self.by_k);
        Flat { tasks, k, avg_at_k, pass_at_k, pass_hat_k, by_k }.serialize(serializer)
    }
}

fn at_k(tasks: &[TaskCells], k: u32, j: u32) -> ByK {
    let cells = tasks.iter().map(|task| task.0.len()).max().unwrap_or(1);
    let cells = u32::try_from(cells).unwrap_or(u32::MAX);
    let trials = k.saturating_mul(cells);
    ByK {
        k: j,
        avg_at_k: estimate(tasks, trials, |cell| avg(cell.judged, cell.passed)),
        pass_at_k: estimate(tasks, trials, |cell| pass_at_k(cell.judged, cell.passed, j)),
        pass_hat_k: estimate(tasks, trials, |cell| pass_hat_k(cell.judged, cell.passed, j)),
    }
}

fn estimate(
    tasks: &[TaskCells],
    trials: u32,
    of_cell: impl Fn(Cell) -> Option<f64> + Copy,
) -> Estimate {
    let values: Vec<f64> = tasks.iter().filter_map(|task| task.value(of_cell)).collect();
    Estimate::of(&values, trials)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn one(judged: u32, passed: u32) -> TaskCells {
        TaskCells(vec![Cell { judged, passed }])
    }

    #[test]
    fn the_json_is_flat_and_has_no_interval_for_few_tasks() {
        let scores = Scores::of(&[one(2, 1), one(2, 2)], 2);
        let none = json!(null);
        let estimate = |value: f64| json!({"value": value, "ci95": none, "tasks_scored": 2});
        let want = json!({
            "tasks": 2,
            "k": 2,
            "avg_at_k": estimate(0.75),
            "pass_at_k": estimate(1.0),
            "pass_hat_k": estimate(0.5),
            "by_k": [
                {"k": 1, "avg_at_k": estimate(0.75), "pass_at_k": estimate(0.75), "pass_hat_k": estimate(0.75)},
                {"k": 2, "avg_at_k": estimate(0.75), "pass_at_k": estimate(1.0), "pass_hat_k": estimate(0.5)},
            ],
        });
        assert_eq!(serde_json::to_value(&scores).unwrap(), want);
    }

    #[test]
    fn what_cannot_be_estimated_is_left_out_and_counted() {
        let scores = Scores::of(&[one(3, 3), one(2, 0), one(0, 0)], 3);
        let at = scores.at_k();
        assert_eq!((scores.tasks, at.avg_at_k.tasks, at.pass_at_k.tasks), (3, 2, 1));
        assert_eq!((at.avg_at_k.value, at.pass_hat_k.value), (Some(0.5), Some(1.0)));
        let empty = Scores::of(&[], 3).at_k();
        assert_eq!((empty.avg_at_k.value, empty.avg_at_k.ci95), (None, None));
        assert_eq!(Scores::of(&[one(1, 1)], 0).at_k(), ByK::default());
    }

    #[test]
    fn pooled_cells_weigh_a_task_once() {
        let pooled = TaskCells(vec![Cell { judged: 1, passed: 0 }, Cell { judged: 1, passed: 1 }]);
        let at = Scores::of(&[pooled, one(1, 1)], 1).at_k();
        assert_eq!((at.avg_at_k.value, at.avg_at_k.tasks), (Some(0.75), 2));
    }

    proptest! {
        #[test]
        fn scores_stay_in_order(counts in prop::collection::vec((0u32..6, 0u32..6), 0..40)) {
            let tasks: Vec<_> = counts.iter().map(|&(n, c)| one(n, c.min(n))).collect();
            let scores = Scores::of(&tasks, 5);
            for by in &scores.by_k {
                for estimate in [by.avg_at_k, by.pass_at_k, by.pass_hat_k] {
                    if let (Some(value), Some((low, high))) = (estimate.value, estimate.ci95) {
                        prop_assert!(0.0 <= low && low <= value && value <= high && high <= 1.0);
                    }
                }
                // With the same tasks behind both, some is likelier than all.
                if let (Some(some), Some(all)) = (by.pass_at_k.value, by.pass_hat_k.value) {
                    prop_assert!(some >= all - 1e-12);
                }
            }
        }
    }
}
