//! How far trials came: survival by stage, and success given discovery.
//!
//! The milestones of a task stand in the order in which they are meant to be reached. A
//! trial *comes to* stage `s` when it reached milestone `s` or a later one, so survival
//! never rises from one stage to the next, even where an agent found a way around a step.
//!
//! Tasks with different numbers of milestones are put on one scale of quarters: after
//! milestone `i` of `n` a trial has gone `i/n` of the way, and it comes to quarter `q` when
//! that is at least `q/4`.
//!
//! Every mean and interval has the task as its unit, as for scores: a task's value is the
//! share among its trials, and a group's the mean over its tasks.
//!
//! Survival by stage is Figure 7 of `AgentGym2`, discovery ratio and success Figure 6.

use serde::Serialize;

use super::interval::{ci95, count};
use super::{Estimate, State};

/// How one trial went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    /// Whether each milestone of the task was reached, in the task's order.
    pub reached: Vec<bool>,
    /// What became of the trial.
    pub state: State,
}

impl Course {
    /// Returns the number of the last milestone that was reached, from 1; 0 without any.
    #[must_use]
    pub fn furthest(&self) -> usize {
        self.reached.iter().rposition(|reached| *reached).map_or(0, |last| last + 1)
    }
}

/// Trials of which something is true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Share {
    /// Their number.
    pub count: u32,
    /// The number of trials it is out of.
    pub of: u32,
    /// The share, as a mean over tasks.
    #[serde(flatten)]
    pub share: Estimate,
}

impl Share {
    /// Sums up tasks, of each of which it is true of so many of so many trials. Tasks
    /// without trials have no part in it.
    pub fn over(tasks: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let tasks: Vec<(u32, u32)> = tasks.into_iter().filter(|(_, of)| *of > 0).collect();
        let values: Vec<f64> =
            tasks.iter().map(|(count, of)| f64::from(*count) / f64::from(*of)).collect();
        let value = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()));
        let most = tasks.iter().map(|(_, of)| *of).max().unwrap_or(1);
        Self {
            count: tasks.iter().map(|(count, _)| count).sum(),
            of: tasks.iter().map(|(_, of)| of).sum(),
            share: Estimate { value, ci95: ci95(&values, most), tasks: values.len() },
        }
    }

    /// Sums up the trials of tasks: of those that `of` chooses, those that `is` true of.
    fn among<T>(tasks: &[Vec<T>], of: impl Fn(&T) -> bool, is: impl Fn(&T) -> bool) -> Self {
        Self::over(tasks.iter().map(|trials| {
            let chosen = trials.iter().filter(|trial| of(trial));
            chosen.fold((0, 0), |(count, of), trial| (count + u32::from(is(trial)), of + 1))
        }))
    }
}

/// The scale on which stages are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// Every task has this many milestones; each is a stage.
    Milestones(usize),
    /// The tasks differ: quarters of the way.
    Quarters,
}

impl Grid {
    /// Returns the scale for tasks with these numbers of milestones; none without tasks
    /// that have some.
    pub fn of(lengths: impl IntoIterator<Item = usize>) -> Option<Self> {
        let mut lengths = lengths.into_iter().filter(|length| *length > 0);
        let first = lengths.next()?;
        let alike = lengths.all(|length| length == first);
        Some(if alike { Self::Milestones(first) } else { Self::Quarters })
    }

    /// Returns the number of stages.
    #[must_use]
    pub fn stages(self) -> usize {
        match self {
            Self::Milestones(count) => count,
            Self::Quarters => 4,
        }
    }

    /// Returns the last stage that a trial came to; 0 before the first.
    #[must_use]
    pub fn stage(self, course: &Course) -> usize {
        match self {
            Self::Milestones(_) => course.furthest(),
            Self::Quarters => 4 * course.furthest() / course.reached.len().max(1),
        }
    }

    /// Returns the name of a stage, from 1: `2`, or `50 %` in quarters.
    #[must_use]
    pub fn name(self, stage: usize) -> String {
        match self {
            Self::Milestones(_) => stage.to_string(),
            Self::Quarters => format!("{} %", stage * 25),
        }
    }
}

/// Survival by stage of a group of tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Survival {
    /// Number of tasks.
    pub tasks: usize,
    /// For each stage, the trials that came to it, of all.
    pub stages: Vec<Share>,
    /// The trials that passed, of those that were judged.
    pub passed: Share,
    /// The trials that failed, by the last stage that they came to; the first number is of
    /// those that came to none.
    pub failed_after: Vec<u32>,
}

impl Survival {
    /// Sums up tasks, each with its trials.
    #[must_use]
    pub fn of(tasks: &[Vec<Course>], grid: Grid) -> Self {
        let stages = (1..=grid.stages())
            .map(|stage| Share::among(tasks, |_| true, |course| grid.stage(course) >= stage))
            .collect();
        let mut failed_after = vec![0; grid.stages() + 1];
        let failed = tasks.iter().flatten().filter(|course| course.state == State::Fail);
        for course in failed {
            if let Some(count) = failed_after.get_mut(grid.stage(course)) {
                *count += 1;
            }
        }
        let passed = Share::among(
            tasks,
            |course| course.state.is_judged(),
            |course| course.state == State::Pass,
        );
        Self { tasks: tasks.len(), stages, passed, failed_after }
    }
}

/// Discovery and what it was worth, of a group of tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Discovery {
    /// Number of tasks.
    pub tasks: usize,
    /// The trials that found every discovery host of their task, of all: the discovery
    /// ratio.
    pub found: Share,
    /// The trials that passed, of those judged that found every host.
    pub passed_if_found: Share,
    /// The trials that passed, of those judged that did not.
    pub passed_if_not: Share,
}

impl Discovery {
    /// Sums up tasks; a trial is whether it found every host, and what became of it.
    #[must_use]
    pub fn of(tasks: &[Vec<(bool, State)>]) -> Self {
        let passed = |wanted: bool| {
            Share::among(
                tasks,
                |(found, state)| *found == wanted && state.is_judged(),
                |(_, state)| *state == State::Pass,
            )
        };
        Self {
            tasks: tasks.len(),
            found: Share::among(tasks, |_| true, |(found, _)| *found),
            passed_if_found: passed(true),
            passed_if_not: passed(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A trial by its milestones (`x` reached, `.` not) and its state.
    fn course(reached: &str, state: State) -> Course {
        Course { reached: reached.chars().map(|mark| mark == 'x').collect(), state }
    }

    fn counts(shares: &[Share]) -> Vec<(u32, u32)> {
        shares.iter().map(|share| (share.count, share.of)).collect()
    }

    #[test]
    fn the_last_milestone_reached_decides() {
        let tasks = [
            vec![course("xxx", State::Pass), course("..x", State::Pass)],
            vec![course("x..", State::Fail), course("...", State::Fail)],
            vec![course("xx.", State::Unjudged), course(".x.", State::Degraded)],
        ];
        let survival = Survival::of(&tasks, Grid::Milestones(3));
        assert_eq!(counts(&survival.stages), [(5, 6), (4, 6), (2, 6)]);
        assert_eq!((survival.passed.count, survival.passed.of), (2, 5), "the unjudged is out");
        assert_eq!(survival.failed_after, [1, 1, 0, 0], "degraded and unjudged did not fail");
        assert_eq!(survival.stages[1].share.value, Some(2.0 / 3.0), "a mean over tasks");
        assert_eq!(survival.stages[1].share.ci95, None, "below ten tasks");
    }

    #[test]
    fn tasks_that_differ_are_put_on_quarters() {
        //    milestones reached  quarter  why
        let table = [
            ("...", 0, "nothing"),
            ("x..", 1, "a third is beyond a quarter"),
            ("xx.", 2, "two thirds are beyond a half"),
            ("xxx", 4, "all"),
            ("x....", 0, "a fifth is not a quarter yet"),
            ("xx...", 1, "two fifths"),
            ("x", 4, "the only one"),
            (".x", 4, "the last alone"),
            ("", 0, "no milestones"),
        ];
        for (reached, want, why) in table {
            assert_eq!(Grid::Quarters.stage(&course(reached, State::Fail)), want, "{why}");
        }
        assert_eq!(Grid::of([4, 4]), Some(Grid::Milestones(4)));
        assert_eq!(Grid::of([4, 3]), Some(Grid::Quarters));
        assert_eq!(Grid::of([0, 3, 0]), Some(Grid::Milestones(3)), "tasks without any are out");
        assert_eq!(Grid::of([0]), None);
        assert_eq!(
            (Grid::Quarters.name(2), Grid::Milestones(5).name(2)),
            ("50 %".into(), "2".into())
        );
    }

    #[test]
    fn success_is_split_by_discovery() {
        let tasks = [
            vec![(true, State::Pass), (true, State::Fail), (false, State::Fail)],
            vec![(false, State::Fail), (false, State::Pass), (true, State::Lost)],
        ];
        let discovery = Discovery::of(&tasks);
        let all = [discovery.found, discovery.passed_if_found, discovery.passed_if_not];
        assert_eq!(counts(&all), [(3, 6), (1, 2), (1, 3)], "lost ones are in no score");
        let none = Discovery::of(&[]);
        assert_eq!((none.tasks, none.found.share.value), (0, None), "nothing is not zero");
    }

    proptest! {
        /// Survival never rises, ends enclose the share, and who failed failed somewhere.
        #[test]
        fn survival_falls(trials in prop::collection::vec(
            prop::collection::vec((prop::collection::vec(any::<bool>(), 1..6), 0usize..7), 1..4), 1..25,
        )) {
            let tasks: Vec<Vec<Course>> = trials
                .into_iter()
                .map(|task| {
                    let course = |(reached, state)| Course { reached, state: State::ALL[state] };
                    task.into_iter().map(course).collect()
                })
                .collect();
            let survival = Survival::of(&tasks, Grid::Quarters);
            let counts: Vec<u32> = survival.stages.iter().map(|share| share.count).collect();
            prop_assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
            let failed = tasks.iter().flatten().filter(|c| c.state == State::Fail).count();
            prop_assert_eq!(survival.failed_after.iter().sum::<u32>() as usize, failed);
            for Share { share, .. } in survival.stages {
                prop_assert_eq!(share.ci95.is_some(), tasks.len() >= 10);
                if let (Some(value), Some((low, high))) = (share.value, share.ci95) {
                    prop_assert!(low <= value && value <= high);
                }
            }
        }
    }
}
