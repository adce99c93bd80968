//! What a report is made of: a run, its trials, their attempts.

use std::collections::{BTreeMap, BTreeSet};

use wildgym_tasks::scenario::Language;
use wildgym_tasks::{Factor, Scenario};

use crate::metrics::{Cell, Scores, State, Tally, TaskCells};
use crate::record::{Body, Outcome, TrialId, Usage};
use crate::verdict::Verdict;

/// A run, as far as its reports need it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    /// What was run.
    pub label: RunLabel,
    /// Every planned trial, those not tried yet included.
    pub trials: Vec<TrialView>,
    /// Whether a process works on the run: a trial without an attempt may have begun.
    pub running: bool,
}

/// What was run: everything that a score must not be quoted without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLabel {
    /// The run's directory, as the user can type it.
    pub run: String,
    /// The suite.
    pub suite: SuiteLabel,
    /// The variants that the trials are in.
    pub variants: Vec<String>,
    /// Name of the agent.
    pub agent: String,
    /// Name of the model, where there is one.
    pub model: Option<String>,
    /// Name of the judge; `exact` is the one without a model.
    pub judge: String,
    /// Trials per task, variant and condition.
    pub k: u32,
    /// The run's seed.
    pub seed: u64,
    /// `hermetic`, `live` or `replay`.
    pub web: String,
}

/// A suite at one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteLabel {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its digest, as 64 hexadecimal digits.
    pub digest: String,
}

/// What a report says about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLabel {
    /// One line for listings.
    pub title: String,
    /// The kind of task.
    pub scenario: Scenario,
    /// A part of the scenario.
    pub subset: Option<String>,
    /// Field of life.
    pub domain: String,
    /// Language of request and answer.
    pub language: Language,
    /// How the task is de-idealised.
    pub factors: BTreeSet<Factor>,
}

/// A planned trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialView {
    /// Which one.
    pub id: TrialId,
    /// Its task.
    pub task: TaskLabel,
    /// Its attempts, the last one last; none when it has not been tried.
    pub attempts: Vec<AttemptView>,
    /// The verdict on the last attempt, where there is one.
    pub verdict: Option<Verdict>,
    /// The verdict's reasons.
    pub reasons: Vec<String>,
}

/// A finished attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptView {
    /// How it ended.
    pub outcome: Outcome,
    /// What explains the outcome.
    pub detail: Option<String>,
    /// The final answer, where there is one.
    pub answer: Option<Body>,
    /// Model replies, or rounds of a scripted agent.
    pub rounds: u32,
    /// Tool calls.
    pub calls: u32,
    /// Tokens.
    pub usage: Usage,
    /// Working time in milliseconds.
    pub working_ms: u64,
}

impl TrialView {
    /// Returns what became of the trial.
    #[must_use]
    pub fn state(&self) -> State {
        State::of(self.attempts.last().map(|attempt| &attempt.outcome), self.verdict)
    }

    /// Returns why the trial stands as it does, where that is known: the verdict's first
    /// reason or how the attempt ended, and without an answer also what explains that.
    /// What the state says already is not said again.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let last = self.attempts.last()?;
        let state = self.state();
        let verdict = || self.reasons.first().cloned();
        let reason = match &last.outcome {
            Outcome::Answered if state == State::Unjudged => {
                return Some(verdict().unwrap_or_else(|| "answered, not judged yet".to_owned()));
            }
            Outcome::Answered => return verdict(),
            Outcome::NoAnswer => verdict().unwrap_or_else(|| "no answer".to_owned()),
            Outcome::Limit(limit) => {
                verdict().unwrap_or_else(|| format!("limit on {}", limit.name()))
            }
            Outcome::Lost(cause) => cause.name().to_owned(),
            Outcome::Skipped(why) => why.clone(),
        };
        match &last.detail {
            Some(detail) if !reason.contains(detail.as_str()) => {
                Some(format!("{reason}: {detail}"))
            }
            Some(_) | None => Some(reason),
        }
    }
}

impl RunLabel {
    /// Returns what the judge means for the score.
    pub(super) fn judge_line(&self) -> String {
        if self.judge == crate::judge::exact::NAME {
            "exact only: lower bound".to_owned()
        } else {
            self.judge.clone()
        }
    }
}

impl RunView {
    /// Returns the numbers of trials by state.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.trials.iter().map(TrialView::state).collect()
    }

    /// Scores the trials that `wanted` chooses, with the task as the unit.
    #[must_use]
    pub fn scores(&self, wanted: impl Fn(&TrialView) -> bool) -> Scores {
        self.score(wanted, false)
    }

    /// The same, had every lost trial been a fail.
    #[must_use]
    pub fn scores_had_lost_failed(&self) -> Scores {
        self.score(|_| true, true)
    }

    fn score(&self, wanted: impl Fn(&TrialView) -> bool, lost_fails: bool) -> Scores {
        Scores::of(&self.cells(wanted, lost_fails), self.label.k)
    }

    /// Returns the counts of the chosen trials by task, variant and condition.
    pub(super) fn cells(
        &self,
        wanted: impl Fn(&TrialView) -> bool,
        lost_fails: bool,
    ) -> Vec<TaskCells> {
        let mut tasks: BTreeMap<&str, BTreeMap<(&str, String), Cell>> = BTreeMap::new();
        for trial in self.trials.iter().filter(|trial| wanted(trial)) {
            let key = (trial.id.condition.as_str(), trial.id.variant.to_string());
            let cell = tasks.entry(&trial.id.task).or_default().entry(key).or_default();
            let state = trial.state();
            let counts = state.is_judged() || (lost_fails && state == State::Lost);
            cell.judged += u32::from(counts);
            cell.passed += u32::from(state == State::Pass);
        }
        tasks.into_values().map(|cells| TaskCells(cells.into_values().collect())).collect()
    }

    /// Returns the different values that `key` gives for the trials, in order.
    pub(super) fn groups<'a, K: Ord>(&'a self, key: impl Fn(&'a TrialView) -> K) -> BTreeSet<K> {
        self.trials.iter().map(key).collect()
    }

    /// Returns the numbers of all attempts by outcome, lost ones that were repeated included.
    pub(super) fn outcomes(&self) -> BTreeMap<String, u32> {
        let mut outcomes = BTreeMap::new();
        for attempt in self.trials.iter().flat_map(|trial| &trial.attempts) {
            *outcomes.entry(attempt.outcome.to_string()).or_default() += 1;
        }
        outcomes
    }

    /// Returns the sums over all attempts.
    pub(super) fn totals(&self) -> Totals {
        Totals::of(&self.trials)
    }
}

/// Sums over attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// Number of attempts.
    pub(super) attempts: u64,
    /// Their rounds.
    pub(super) rounds: u64,
    /// Their tool calls.
    pub(super) calls: u64,
    /// Their tokens.
    pub(super) usage: Usage,
    /// Their working time in milliseconds.
    pub(super) working_ms: u64,
}

impl Totals {
    /// Sums over all attempts at the trials.
    pub(super) fn of<'a>(trials: impl IntoIterator<Item = &'a TrialView>) -> Self {
        let mut totals = Self::default();
        for attempt in trials.into_iter().flat_map(|trial| &trial.attempts) {
            totals.attempts += 1;
            totals.rounds += u64::from(attempt.rounds);
            totals.calls += u64::from(attempt.calls);
            totals.usage.add(attempt.usage);
            totals.working_ms = totals.working_ms.saturating_add(attempt.working_ms);
        }
        totals
    }
}
