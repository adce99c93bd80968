//! What a report is made of: a run, its trials, their attempts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use wildgym_tasks::scenario::Language;
use wildgym_tasks::scenario_file::ScenarioType;
use wildgym_tasks::{Factor, Scenario, Variant};

use super::resilience::Faulted;
use crate::metrics::resilience::Mix;
use crate::metrics::{Cell, Judging, Scores, State, Tally, TaskCells, Work};
use crate::record::{Body, Outcome, TrialId, Usage};
use crate::store::Offering;
use crate::verdict::{Conduct, Rubric, Verdict};

/// A run, as far as its reports need it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    /// What was run.
    pub label: RunLabel,
    /// Every planned trial, those not tried yet included.
    pub trials: Vec<TrialView>,
    /// Whether a process works on the run: a trial without an attempt may have begun.
    pub running: bool,
    /// Stored files that cannot be read, each with what is wrong: what they held is
    /// missing in the report.
    pub damaged: Vec<String>,
    /// How likely each kind of fault is by the profile of a condition, where it has one.
    pub specified: BTreeMap<String, Mix>,
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
    /// Whether the agent is a program that nothing walled in.
    pub uncontained: bool,
    /// Whether whoever acted came from outside, so that nothing can be tried again.
    pub held: bool,
    /// What a server kept, where one did.
    pub episodes: Option<Episodes>,
    /// Name of the model, where there is one.
    pub model: Option<String>,
    /// Name of the model by condition, where there is one.
    pub models: BTreeMap<String, String>,
    /// Name of the model that answers tools by condition, where it is not the agent's.
    pub tool_models: BTreeMap<String, String>,
    /// Name of the model that plays the user by condition, where one does.
    pub user_models: BTreeMap<String, String>,
    /// Name of the judge; `exact` is the one without a model.
    pub judge: String,
    /// Whether that is another judge than the one that the run was started with, which is
    /// the one that `wildgym resume` asks.
    pub other_judge: bool,
    /// Trials per task, variant and condition.
    pub k: u32,
    /// The run's seed.
    pub seed: u64,
    /// `hermetic`, `live` or `replay`.
    pub web: String,
    /// What must be said of it.
    pub web_notes: Vec<String>,
    /// Requests that the recording did not have; none where no recording is replayed.
    pub web_misses: Option<u64>,
    /// The faults that calls met, by condition, where a run has some; those of tasks are not
    /// among them.
    pub faults: BTreeMap<String, String>,
    /// What sets each condition apart, by its name.
    pub conditions: BTreeMap<String, ConditionLabel>,
    /// Digest of the cassette that replies of models came from; none where models were asked.
    pub cassette: Option<String>,
    /// What must be said of foreign servers.
    pub servers: Vec<String>,
}

/// The episodes that a server kept. Whoever acts may begin them with any seed, and again with
/// the same one, so there may be more of them than a plan has trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Episodes {
    /// Those whose transcripts are there.
    pub kept: usize,
    /// Those of them that scores cover: the first of each planned trial that was not lost.
    pub counted: usize,
    /// Those of which a verdict is left and nothing else.
    pub forgotten: usize,
}

impl Episodes {
    /// Says what scores leave out; nothing where they cover all.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let Self { kept, counted, forgotten } = *self;
        let beyond = (kept > counted).then(|| {
            format!(
                "{counted} of {kept} count here: of each planned trial the first that was not \
                 lost; `wildgym show` and `export` have them all"
            )
        });
        let gone = (forgotten > 0).then(|| {
            format!("{forgotten} more were judged and not kept; `wildgym show` lists the verdicts")
        });
        let said: Vec<String> = beyond.into_iter().chain(gone).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// What sets a condition apart: who acts, and the faults that calls meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionLabel {
    /// Names who acts: the same for conditions that differ in their faults alone.
    pub arm: String,
    /// Name of the agent.
    pub agent: String,
    /// Name of its model, where it has one.
    pub model: Option<String>,
    /// The fault profile, with its seed where that is not 0; [`OFF`](super::OFF) without any.
    pub faults: String,
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
    /// Its tier, where it has one.
    pub tier: Option<u8>,
    /// What of acting with tools it tries, where it says so.
    pub kind: Option<ScenarioType>,
    /// Its milestones, in order.
    pub milestones: Vec<String>,
    /// Its discovery hosts.
    pub discovery_hosts: Vec<String>,
}

/// A planned trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialView {
    /// Which one.
    pub id: TrialId,
    /// Its task.
    pub task: TaskLabel,
    /// How its condition offers tools.
    pub offering: Arc<Offering>,
    /// Its attempts, the last one last; none when it has not been tried.
    pub attempts: Vec<AttemptView>,
    /// The verdict on the last attempt, where there is one.
    pub verdict: Option<Verdict>,
    /// The verdict's reasons.
    pub reasons: Vec<String>,
    /// Whether each milestone of the task was reached; empty where nobody looked.
    pub milestones: Vec<bool>,
    /// Whether each discovery host of the task was found; empty where nobody looked.
    pub discovered: Vec<bool>,
    /// What the calls were like; none where nobody looked.
    pub conduct: Option<Conduct>,
    /// What calls met of faults and events; none where nobody looked.
    pub faulted: Option<Faulted>,
    /// What a rubric judge gives it; none of other judges.
    pub rubric: Option<Rubric>,
    /// What judging took, all verdicts on the trial together.
    pub judging: Judging,
}

/// A finished attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptView {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether its transcript is closed. If not, the sums below are unknown and zero.
    pub closed: bool,
    /// What explains the outcome.
    pub detail: Option<String>,
    /// The final answer, where there is one.
    pub answer: Option<Body>,
    /// Model replies, or rounds of a scripted agent.
    pub rounds: u32,
    /// Tool calls.
    pub calls: u32,
    /// Where the task's clock ended, where that is known.
    pub clock: Option<Timestamp>,
    /// Tokens.
    pub usage: Usage,
    /// Those of them that tools used.
    pub tool_usage: Usage,
    /// Tokens of the model that played the user, which are not among them.
    pub user_usage: Usage,
    /// Working time in milliseconds.
    pub working_ms: u64,
    /// The part of it that went into waiting for the model.
    pub model_ms: u64,
    /// The part of it that went into rounds of calls.
    pub tools_ms: u64,
}

impl AttemptView {
    /// Returns what the attempt took.
    pub(super) fn work(&self) -> Work {
        Work {
            attempts: 1,
            unfinished: u64::from(!self.closed),
            rounds: u64::from(self.rounds),
            calls: u64::from(self.calls),
            usage: self.usage,
            working_ms: self.working_ms,
            model_ms: self.model_ms,
            tools_ms: self.tools_ms,
        }
    }
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
    /// Returns what must be said of the network, a line each.
    pub(super) fn web_lines(&self) -> Vec<String> {
        let mut lines = self.web_notes.clone();
        if let Some(misses) = self.web_misses {
            let requests = super::figures::counted(misses, "request");
            lines.push(format!("{requests} not in the recording"));
        }
        lines.iter().map(|line| super::sanitize::one_line(line, 200)).collect()
    }

    /// Names the faults that calls met, each once; empty where there were none.
    pub(super) fn faults_line(&self) -> String {
        let names: BTreeSet<&str> = self.faults.values().map(String::as_str).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }

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
    /// Names the judge as a score must be quoted with it. Checks of calls are no lower bound:
    /// without a model it is rubrics that nobody looked at.
    pub(super) fn judge_line(&self) -> String {
        let checked = |trial: &TrialView| trial.task.tier.is_some();
        let exact = self.label.judge == crate::judge::exact::NAME;
        if exact && !self.trials.is_empty() && self.trials.iter().all(checked) {
            return "exact: checks alone, no rubric was judged".to_owned();
        }
        self.label.judge_line()
    }

    /// Returns the numbers of trials by state.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.trials.iter().map(TrialView::state).collect()
    }

    /// Scores the trials that `wanted` chooses, with the task as the unit.
    #[must_use]
    pub fn scores(&self, wanted: impl Fn(&TrialView) -> bool) -> Scores {
        self.scores_of(self.trials.iter().filter(|trial| wanted(trial)))
    }

    /// Scores some trials, with the task as the unit.
    pub(super) fn scores_of<'a>(&self, trials: impl IntoIterator<Item = &'a TrialView>) -> Scores {
        self.scores_had(trials, Had::AsJudged)
    }

    /// Scores some trials as if others had a verdict too.
    pub(super) fn scores_had<'a>(
        &self,
        trials: impl IntoIterator<Item = &'a TrialView>,
        had: Had,
    ) -> Scores {
        Scores::of(&cells(trials, had), self.label.k)
    }

    /// Returns whether a task was tried in several variants under one condition: such a
    /// task has no one score.
    pub(super) fn mixes_variants(&self) -> bool {
        let mut variants: BTreeMap<(&str, &str), &Variant> = BTreeMap::new();
        self.trials.iter().any(|TrialView { id, .. }| {
            let known = variants.entry((&id.condition, &id.task)).or_insert(&id.variant);
            *known != &id.variant
        })
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
}

/// What trials without a verdict are taken for: the bounds between which a score would lie
/// if it had them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Had {
    /// For nothing: they are in no score.
    AsJudged,
    /// Lost ones for fails.
    LostFailed,
    /// Unjudged ones for fails.
    UnjudgedFailed,
    /// Unjudged ones for passes.
    UnjudgedPassed,
}

impl Had {
    /// Returns whether a trial in this state is taken to be judged, and whether passed.
    fn counts(self, state: State) -> (bool, bool) {
        let taken = match self {
            Self::AsJudged => None,
            Self::LostFailed => Some((State::Lost, false)),
            Self::UnjudgedFailed => Some((State::Unjudged, false)),
            Self::UnjudgedPassed => Some((State::Unjudged, true)),
        };
        match taken {
            Some((missing, passed)) if missing == state => (true, passed),
            Some(_) | None => (state.is_judged(), state == State::Pass),
        }
    }
}

/// Returns the counts of trials by task, variant and condition.
pub(super) fn cells<'a>(
    trials: impl IntoIterator<Item = &'a TrialView>,
    had: Had,
) -> Vec<TaskCells> {
    let mut tasks: BTreeMap<&str, BTreeMap<(&str, &Variant), Cell>> = BTreeMap::new();
    for trial in trials {
        let key = (trial.id.condition.as_str(), &trial.id.variant);
        let cell = tasks.entry(&trial.id.task).or_default().entry(key).or_default();
        let (judged, passed) = had.counts(trial.state());
        cell.judged += u32::from(judged);
        cell.passed += u32::from(passed);
    }
    tasks.into_values().map(|cells| TaskCells(cells.into_values().collect())).collect()
}

/// Returns what all attempts at the trials took.
pub(super) fn work_of<'a>(trials: impl IntoIterator<Item = &'a TrialView>) -> Work {
    let mut work = Work::default();
    for attempt in trials.into_iter().flat_map(|trial| &trial.attempts) {
        work.add(&attempt.work());
    }
    work
}
