//! What a rubric judge thinks of an attempt: six scores, three that follow from them, and what
//! several votes come to.
//!
//! A score lies in `0..=10`; 0 is for an attempt in which there is nothing to be scored. The
//! scores stand beside a verdict and never move it.

use serde::{Deserialize, Serialize};

/// The highest score.
pub const HIGHEST: f64 = 10.0;

/// The appropriateness of tools below which fulfilment counts for nothing: what was not found
/// with the tools was known, guessed or made up.
///
/// Source: MCP-Injector, in whose analysis fulfilment is grounded from 2 on.
pub const GROUNDED: f64 = 2.0;

/// What one vote, or the middle of several, gives an attempt.
///
/// The six names and the three means are those of MCP-Bench's judge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// How much of what was asked the answer delivers.
    pub task_fulfillment: f64,
    /// How much of the answer rests on what tools returned.
    pub grounding: f64,
    /// How many calls were of the tool for their purpose.
    pub tool_appropriateness: f64,
    /// How many calls had whole and right arguments.
    pub parameter_accuracy: f64,
    /// How well what depends on what was respected.
    pub dependency_awareness: f64,
    /// How few calls were needless, and how many independent ones were made at once.
    pub parallelism_and_efficiency: f64,
}

/// A score that a vote gives, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// See [`Scores::task_fulfillment`].
    Fulfilment,
    /// See [`Scores::grounding`].
    Grounding,
    /// See [`Scores::tool_appropriateness`].
    Appropriateness,
    /// See [`Scores::parameter_accuracy`].
    Parameters,
    /// See [`Scores::dependency_awareness`].
    Dependencies,
    /// See [`Scores::parallelism_and_efficiency`].
    Efficiency,
}

impl Aspect {
    /// All of them; two by two they make the three means.
    pub const ALL: [Self; 6] = [
        Self::Fulfilment,
        Self::Grounding,
        Self::Appropriateness,
        Self::Parameters,
        Self::Dependencies,
        Self::Efficiency,
    ];

    /// Returns the name that files and replies of judges have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fulfilment => "task_fulfillment",
            Self::Grounding => "grounding",
            Self::Appropriateness => "tool_appropriateness",
            Self::Parameters => "parameter_accuracy",
            Self::Dependencies => "dependency_awareness",
            Self::Efficiency => "parallelism_and_efficiency",
        }
    }
}

impl Scores {
    /// Names of the nine scores and of the grounded fulfilment, in the order of
    /// [`all`](Self::all).
    pub const NAMES: [&'static str; 10] = [
        "task_fulfillment",
        "grounding",
        "tool_appropriateness",
        "parameter_accuracy",
        "dependency_awareness",
        "parallelism_and_efficiency",
        "task_completion_score",
        "tool_selection_score",
        "planning_effectiveness_and_efficiency_score",
        "grounded_fulfillment",
    ];

    /// Returns the score of an aspect.
    #[must_use]
    pub fn of(&self, aspect: Aspect) -> f64 {
        match aspect {
            Aspect::Fulfilment => self.task_fulfillment,
            Aspect::Grounding => self.grounding,
            Aspect::Appropriateness => self.tool_appropriateness,
            Aspect::Parameters => self.parameter_accuracy,
            Aspect::Dependencies => self.dependency_awareness,
            Aspect::Efficiency => self.parallelism_and_efficiency,
        }
    }

    /// Makes scores out of what each aspect has.
    #[must_use]
    pub fn each(score: impl Fn(Aspect) -> f64) -> Self {
        Self {
            task_fulfillment: score(Aspect::Fulfilment),
            grounding: score(Aspect::Grounding),
            tool_appropriateness: score(Aspect::Appropriateness),
            parameter_accuracy: score(Aspect::Parameters),
            dependency_awareness: score(Aspect::Dependencies),
            parallelism_and_efficiency: score(Aspect::Efficiency),
        }
    }

    /// Returns how far the task was completed: the mean of fulfilment and grounding.
    #[must_use]
    pub fn completion(&self) -> f64 {
        f64::midpoint(self.task_fulfillment, self.grounding)
    }

    /// Returns how well tools were selected: the mean of appropriateness and parameters.
    #[must_use]
    pub fn selection(&self) -> f64 {
        f64::midpoint(self.tool_appropriateness, self.parameter_accuracy)
    }

    /// Returns how well the work was planned: the mean of dependencies and efficiency.
    #[must_use]
    pub fn planning(&self) -> f64 {
        f64::midpoint(self.dependency_awareness, self.parallelism_and_efficiency)
    }

    /// Returns the fulfilment where the tools have a part in it, else 0; see [`GROUNDED`].
    #[must_use]
    pub fn grounded_fulfilment(&self) -> f64 {
        if self.tool_appropriateness >= GROUNDED { self.task_fulfillment } else { 0.0 }
    }
}

/// What the votes on an attempt come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rubric {
    /// Whether there was an answer to be scored. Without one every score is 0 and nobody was
    /// asked, which is how an attempt counts that ran into a limit or said nothing.
    pub completed: bool,
    /// Votes that could be read.
    pub votes: u32,
    /// The median of each score over them.
    #[serde(flatten)]
    pub scores: Scores,
    /// The median of the votes' means of fulfilment and grounding.
    pub task_completion_score: f64,
    /// The median of the votes' means of appropriateness and parameters.
    pub tool_selection_score: f64,
    /// The median of the votes' means of dependencies and efficiency.
    pub planning_effectiveness_and_efficiency_score: f64,
}

impl Rubric {
    /// Returns what votes come to; none without a vote.
    ///
    /// Each of the nine scores is the median over the votes of what it is in each of them, so
    /// a mean is the median of means and not the mean of medians.
    #[must_use]
    pub fn of(votes: &[Scores]) -> Option<Self> {
        let middle = |score: &dyn Fn(&Scores) -> f64| median(votes.iter().map(score).collect());
        middle(&Scores::completion)?;
        Some(Self {
            completed: true,
            votes: u32::try_from(votes.len()).unwrap_or(u32::MAX),
            scores: Scores::each(|aspect| middle(&|vote| vote.of(aspect)).unwrap_or_default()),
            task_completion_score: middle(&Scores::completion)?,
            tool_selection_score: middle(&Scores::selection)?,
            planning_effectiveness_and_efficiency_score: middle(&Scores::planning)?,
        })
    }

    /// Returns the nine scores and the grounded fulfilment, in the order of [`Scores::NAMES`].
    #[must_use]
    pub fn all(&self) -> [f64; 10] {
        let aspects = Aspect::ALL.map(|aspect| self.scores.of(aspect));
        let rest = [
            self.task_completion_score,
            self.tool_selection_score,
            self.planning_effectiveness_and_efficiency_score,
            self.scores.grounded_fulfilment(),
        ];
        std::array::from_fn(|at| *aspects.get(at).unwrap_or(&rest[at.saturating_sub(6)]))
    }
}

/// Returns the middle of some values, of an even number the mean of the middle two; none of
/// none.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    let upper = *values.get(half)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[half - 1], upper) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scores(values: [f64; 6]) -> Scores {
        Scores::each(|aspect| values[aspect as usize])
    }

    fn close(got: &[f64], want: &[f64]) -> bool {
        got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-9)
    }

    #[test]
    fn each_of_the_nine_is_a_median_of_its_own() {
        let votes = [
            scores([10.0, 0.0, 9.0, 9.0, 5.0, 5.0]),
            scores([0.0, 10.0, 9.0, 9.0, 5.0, 5.0]),
            scores([6.0, 8.0, 1.0, 3.0, 4.0, 8.0]),
        ];
        let rubric = Rubric::of(&votes).unwrap();
        assert_eq!((rubric.votes, rubric.completed), (3, true));
        let want = [6.0, 8.0, 9.0, 9.0, 5.0, 5.0, 5.0, 9.0, 5.0, 6.0];
        assert!(close(&rubric.all(), &want), "5 is the median of 5, 5, 7, not the mean of 6 and 8");
        let two = Rubric::of(&votes[..2]).unwrap();
        assert!(close(&[two.scores.task_fulfillment], &[5.0]), "of two, the mean");
        assert_eq!(Rubric::of(&[]), None, "no vote is no score");
    }

    #[test]
    fn fulfilment_counts_where_tools_had_a_part_in_it() {
        //    fulfilment, appropriateness, grounded, why
        let table = [
            (9.8, 1.2, 0.0, "known without the tools, as in the source"),
            (4.4, 0.8, 0.0, "the other example of the source"),
            (9.0, 2.0, 9.0, "at the bound it counts"),
            (9.0, 1.999, 0.0, "just below it"),
        ];
        for (fulfilment, appropriateness, want, why) in table {
            let one = scores([fulfilment, 5.0, appropriateness, 5.0, 5.0, 5.0]);
            assert!(close(&[one.grounded_fulfilment()], &[want]), "{why}");
        }
    }

    #[test]
    fn a_line_of_verdicts_keeps_the_published_names() {
        let line = serde_json::to_value(Rubric::of(&[scores([7.0; 6])]).unwrap()).unwrap();
        for name in &Scores::NAMES[..9] {
            assert_eq!(line[name], 7.0, "{name}: {line}");
        }
        for (aspect, name) in Aspect::ALL.into_iter().zip(Scores::NAMES) {
            assert_eq!(aspect.name(), name);
        }
        let back: Rubric = serde_json::from_value(line).unwrap();
        assert_eq!(back, Rubric::of(&[scores([7.0; 6])]).unwrap());
    }

    proptest! {
        /// Whatever the order of the votes, and half of them wild, the result stays among the
        /// others.
        #[test]
        fn the_median_withstands_a_minority(
            sober in proptest::collection::vec(4.0..=6.0_f64, 3),
            wild in proptest::collection::vec(0.0..=10.0_f64, 2),
            turn in 0_usize..5,
        ) {
            let mut votes: Vec<Scores> =
                sober.iter().chain(&wild).map(|value| scores([*value; 6])).collect();
            let rubric = Rubric::of(&votes).unwrap();
            votes.rotate_left(turn);
            prop_assert_eq!(rubric, Rubric::of(&votes).unwrap());
            for value in &rubric.all()[..9] {
                prop_assert!((4.0..=6.0).contains(value), "{}", value);
            }
        }
    }
}
