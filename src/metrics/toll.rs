//! What a condition costs: scores of the same tasks with and without it.
//!
//! A pair is one trial in both conditions, at the same task, of the same number among the k and
//! so with the same seed, judged in both. A task's score on a side is the mean over its pairs; a
//! score is the mean over tasks. These are the figures of MCP-Injector (sections 5 and 6): the
//! *drop* is the score without faults minus that with them, with trials that came to no answer
//! scored 0; the same drop is given once more for pairs that were completed on both sides,
//! which tells worse answers from missing ones; the *resilience* is the score with faults as a
//! share of that without.
//!
//! Intervals are bootstrapped over tasks (`bootstrap`). Where all tasks show the same, draws say
//! nothing; a drop then has the adjusted Wald interval of `paired`, which does, and a ratio
//! has none.

use serde::Serialize;

use super::bootstrap::bootstrap_ci95;
use super::interval::count;
use super::paired::difference_ci95;
use super::scores::Estimate;
use super::wilcoxon::SignedRank;

/// One side of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The trial's score, in `0..=1`.
    pub score: f64,
    /// Whether it came to an answer.
    pub completed: bool,
}

/// A pair: without the condition's faults, and with them.
pub type ScoredPair = [Scored; 2];

/// What a condition costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Toll {
    /// Tasks that have a pair.
    pub tasks: usize,
    /// Pairs.
    pub pairs: usize,
    /// Scores without and with faults, and their difference.
    pub score: Fall,
    /// Share of trials that came to an answer, on both sides, and their difference.
    pub completion: Fall,
    /// Scores of the pairs that came to an answer on both sides.
    pub completed: Fall,
    /// Pairs that came to an answer on both sides.
    pub completed_pairs: usize,
    /// Score with faults as a share of that without; none where that is 0.
    pub resilience: Estimate,
    /// Whether the scores differ at all; none without tasks.
    pub test: Option<SignedRank>,
}

/// A figure on both sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Fall {
    /// Without faults; none where no task has a value.
    pub fault_free: Option<f64>,
    /// With them.
    pub faulted: Option<f64>,
    /// The first minus the second: what is lost, in `-1..=1`.
    pub drop: Estimate,
}

/// A task's means on both sides.
type Means = [f64; 2];

impl Toll {
    /// Compares the pairs of some tasks; tasks without a pair are left out.
    ///
    /// Scores lie in `0..=1`.
    #[must_use]
    pub fn of(tasks: &[Vec<ScoredPair>]) -> Self {
        let completed = |pair: &&ScoredPair| pair.iter().all(|side| side.completed);
        let means = |wanted: &dyn Fn(&&ScoredPair) -> bool, value: fn(&Scored) -> f64| {
            tasks.iter().filter_map(|pairs| mean_of(pairs, wanted, value)).collect::<Vec<Means>>()
        };
        let score = |side: &Scored| side.score;
        let scores = means(&|_| true, score);
        let drops: Vec<f64> = scores.iter().map(|[without, with]| without - with).collect();
        Self {
            tasks: scores.len(),
            pairs: tasks.iter().map(Vec::len).sum(),
            score: Fall::of(&scores),
            completion: Fall::of(&means(&|_| true, |side| f64::from(u8::from(side.completed)))),
            completed: Fall::of(&means(&completed, score)),
            completed_pairs: tasks.iter().flatten().filter(completed).count(),
            resilience: ratio(&scores),
            test: SignedRank::of(&drops),
        }
    }
}

/// Returns the means of the pairs of a task that are wanted; none without any.
fn mean_of(
    pairs: &[ScoredPair],
    wanted: &dyn Fn(&&ScoredPair) -> bool,
    value: fn(&Scored) -> f64,
) -> Option<Means> {
    let wanted: Vec<&ScoredPair> = pairs.iter().filter(wanted).collect();
    let mean = |side: usize| {
        wanted.iter().map(|pair| value(&pair[side])).sum::<f64>() / count(wanted.len())
    };
    (!wanted.is_empty()).then(|| [mean(0), mean(1)])
}

/// Returns the mean over tasks of one side, each as often as it is drawn.
fn side(tasks: &[Means], weights: &[u32], side: usize) -> f64 {
    let sum: f64 = tasks.iter().zip(weights).map(|(task, n)| task[side] * f64::from(*n)).sum();
    sum / count(tasks.len())
}

impl Fall {
    /// Compares the sides of tasks.
    fn of(tasks: &[Means]) -> Self {
        if tasks.is_empty() {
            return Self::default();
        }
        let once = vec![1; tasks.len()];
        let drop = |weights: &[u32]| side(tasks, weights, 0) - side(tasks, weights, 1);
        let drops: Vec<f64> = tasks.iter().map(|[without, with]| without - with).collect();
        let ci95 = bootstrap_ci95(tasks.len(), |weights| Some(drop(weights)))
            .or_else(|| difference_ci95(&drops));
        Self {
            fault_free: Some(side(tasks, &once, 0)),
            faulted: Some(side(tasks, &once, 1)),
            drop: Estimate { value: Some(drop(&once)), ci95, tasks: tasks.len() },
        }
    }
}

/// Returns the second side as a share of the first.
fn ratio(tasks: &[Means]) -> Estimate {
    let of = |weights: &[u32]| {
        let without = side(tasks, weights, 0);
        (without > 0.0).then(|| side(tasks, weights, 1) / without)
    };
    if tasks.is_empty() {
        return Estimate::default();
    }
    let value = of(&vec![1; tasks.len()]);
    let ci95 = value.and_then(|_| bootstrap_ci95(tasks.len(), of));
    Estimate { value, ci95, tasks: tasks.len() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pair(without: f64, with: f64) -> ScoredPair {
        [without, with].map(|score| Scored { score, completed: true })
    }

    /// A pair whose second side came to no answer.
    fn cut_short(without: f64) -> ScoredPair {
        let [first, second] = pair(without, 0.0);
        [first, Scored { completed: false, ..second }]
    }

    #[test]
    fn figures_are_means_over_tasks() {
        let toll =
            Toll::of(&[vec![pair(1.0, 1.0), cut_short(1.0)], vec![pair(1.0, 0.0)], Vec::new()]);
        assert_eq!((toll.tasks, toll.pairs, toll.completed_pairs), (2, 3, 2));
        assert_eq!((toll.score.fault_free, toll.score.faulted), (Some(1.0), Some(0.25)));
        assert_eq!(toll.score.drop.value, Some(0.75), "no answer is scored 0");
        assert_eq!(toll.completed.drop.value, Some(0.5), "without the one that was cut short");
        assert_eq!(toll.completion.faulted, Some(0.75));
        assert_eq!(toll.resilience.value, Some(0.25));
        assert_eq!(toll.score.drop.ci95, None, "two tasks are too few");
        assert_eq!(Toll::of(&[]), Toll::default());
    }

    #[test]
    fn tasks_that_are_all_alike_leave_room() {
        let nothing_lost = Toll::of(&vec![vec![pair(1.0, 1.0)]; 25]);
        let (low, high) = nothing_lost.score.drop.ci95.unwrap();
        assert!(low < -0.05 && high > 0.05, "25 of 25 is no proof: {low} {high}");
        assert_eq!(nothing_lost.resilience.value, Some(1.0));
        assert_eq!(nothing_lost.test.map(|test| test.p), Some(1.0));
        let hopeless = Toll::of(&vec![vec![pair(0.0, 0.0)]; 25]);
        assert_eq!(hopeless.resilience.value, None, "no share of nothing");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn figures_stay_in_their_bounds(
            tasks in prop::collection::vec(
                prop::collection::vec((any::<[bool; 2]>(), any::<[bool; 2]>()), 0..4),
                0..20,
            ),
        ) {
            let scored = |(passed, completed): &([bool; 2], [bool; 2])| {
                [0, 1].map(|side| Scored {
                    score: f64::from(u8::from(passed[side] && completed[side])),
                    completed: completed[side],
                })
            };
            let tasks: Vec<Vec<ScoredPair>> =
                tasks.iter().map(|pairs| pairs.iter().map(scored).collect()).collect();
            let toll = Toll::of(&tasks);
            for fall in [toll.score, toll.completion, toll.completed] {
                if let (Some(value), Some((low, high))) = (fall.drop.value, fall.drop.ci95) {
                    prop_assert!(-1.0 <= low && low <= high && high <= 1.0);
                    prop_assert!((-1.0..=1.0).contains(&value));
                }
            }
            prop_assert!(toll.resilience.value.is_none_or(|share| share >= 0.0));
            prop_assert!(toll.completed_pairs <= toll.pairs);
        }
    }
}
