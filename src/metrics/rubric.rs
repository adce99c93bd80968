//! Means of the scores that rubric judges give.
//!
//! The unit is the task, as everywhere: a task's value is the mean over its trials, and a
//! group's the mean over its tasks. Scores lie in `0..=10`.

use serde::Serialize;

use super::interval::ci95;
use crate::verdict::{HIGHEST, Rubric, Scores};

/// Number of scores of an attempt, the grounded fulfilment included.
const COUNT: usize = Scores::NAMES.len();

/// The mean of one score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct MeanScore {
    /// The mean over tasks, in `0..=10`; none without a task.
    pub value: Option<f64>,
    /// Its 95 % interval; none below ten tasks.
    ///
    /// A score is read as a share of 10, and the interval is the one of a share of passed
    /// trials. Of all things with that mean and these bounds, passing or not has the largest
    /// spread, so the interval is rather too wide than too narrow.
    pub ci95: Option<(f64, f64)>,
}

/// The means of a group of trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RubricMeans {
    /// Trials that have scores.
    pub trials: usize,
    /// Those of them that ended with an answer.
    pub completed: usize,
    /// Tasks of those trials.
    pub tasks: usize,
    /// Of all trials, in the order of [`Scores::NAMES`]: a trial without an answer counts as 0.
    pub all: [MeanScore; COUNT],
    /// Of the trials that ended with an answer.
    pub completed_only: [MeanScore; COUNT],
}

impl RubricMeans {
    /// Takes the means over tasks, each with what its trials were given.
    #[must_use]
    pub fn of(tasks: &[Vec<Rubric>]) -> Self {
        let trials = || tasks.iter().flatten();
        let completed: Vec<Vec<Rubric>> = tasks
            .iter()
            .map(|task| task.iter().copied().filter(|one| one.completed).collect())
            .collect();
        Self {
            trials: trials().count(),
            completed: trials().filter(|one| one.completed).count(),
            tasks: tasks.iter().filter(|task| !task.is_empty()).count(),
            all: means(tasks),
            completed_only: means(&completed),
        }
    }
}

fn means(tasks: &[Vec<Rubric>]) -> [MeanScore; COUNT] {
    let most = tasks.iter().map(Vec::len).max().unwrap_or_default();
    let most = u32::try_from(most).unwrap_or(u32::MAX);
    std::array::from_fn(|at| {
        let values: Vec<f64> = tasks
            .iter()
            .filter_map(|task| mean(task.iter().map(|one| one.all()[at] / HIGHEST)))
            .collect();
        let scaled = |(low, high): (f64, f64)| (low * HIGHEST, high * HIGHEST);
        MeanScore {
            value: mean(values.iter().copied()).map(|mean| mean * HIGHEST),
            ci95: ci95(&values, most).map(scaled),
        }
    })
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.sum::<f64>() / f64::from(count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn given(score: f64) -> Rubric {
        Rubric::of(&[Scores::each(|_| score)]).unwrap()
    }

    #[test]
    fn tasks_count_alike_and_silence_counts_as_nothing() {
        let tasks = [vec![given(8.0), given(8.0), Rubric::default()], vec![given(2.0)], Vec::new()];
        let means = RubricMeans::of(&tasks);
        assert_eq!((means.trials, means.completed, means.tasks), (4, 3, 2));
        let value = |of: &[MeanScore; COUNT]| of[0].value.unwrap();
        assert!(
            (value(&means.all) - f64::midpoint(16.0 / 3.0, 2.0)).abs() < 1e-9,
            "0 for the silent one"
        );
        assert!((value(&means.completed_only) - 5.0).abs() < 1e-9, "without it");
        assert_eq!(means.all[0].ci95, None, "of two tasks there is no interval");
        assert_eq!(RubricMeans::of(&[]).all[0].value, None, "of nothing there is no mean");
    }

    proptest! {
        #[test]
        fn means_and_their_intervals_stay_in_bounds(
            tasks in proptest::collection::vec(proptest::collection::vec(0.0..=10.0_f64, 0..4), 0..30)
        ) {
            let tasks: Vec<Vec<Rubric>> =
                tasks.iter().map(|task| task.iter().map(|score| given(*score)).collect()).collect();
            for score in RubricMeans::of(&tasks).all {
                if let (Some(value), Some((low, high))) = (score.value, score.ci95) {
                    prop_assert!((0.0..=10.0).contains(&low) && (0.0..=10.0).contains(&high));
                    prop_assert!(low <= value + 1e-9 && value <= high + 1e-9);
                }
            }
        }
    }
}
