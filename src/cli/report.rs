//! `wildgym report`: the table of a run, from the store alone.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use clap::Args;
use wildgym_tasks::Variant;

use super::{Code, Failure, data};
use crate::record::TrialId;
use crate::report::{self, AttemptView, RunLabel, RunView, SuiteLabel, TaskLabel, TrialView};
use crate::runner;
use crate::store::{RunConfig, Store, StoreError, Stored, TaskData, Trial};
use crate::verdict::VerdictRecord;

/// Print the scores of a run
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ReportArgs) -> Result<Code, Failure> {
    let view = view(&Store::open(&args.run)?)?;
    print(&view, args.json);
    Ok(code(&view))
}

/// Prints the scores.
pub(super) fn print(view: &RunView, json: bool) {
    if json {
        data(&report::json(view).to_string());
        return;
    }
    let (width, colour) = super::terminal();
    data(&report::terminal(view, width, colour));
}

/// Returns what the program exits with: 1 where trials are lost or unjudged.
pub(super) fn code(view: &RunView) -> Code {
    let tally = view.tally();
    if tally.lost + tally.unjudged > 0 { Code::Incomplete } else { Code::Done }
}

/// Reads what a report needs of a run.
pub(super) fn view(store: &Store) -> Result<RunView, StoreError> {
    view_by(store, None)
}

/// The same with the verdicts of another judge than the run's own.
pub(super) fn view_by(store: &Store, judge: Option<&str>) -> Result<RunView, StoreError> {
    let mut config = store.config()?;
    if let Some(judge) = judge {
        judge.clone_into(&mut config.judge.name);
    }
    let tasks = config.tasks(&store.blobs())?;
    let running = store.is_being_written();
    let mut index = store.index()?;
    if running {
        for trial in index.trials.values_mut() {
            trial.attempts.retain(|stored| stored.end.is_some());
        }
    }
    let verdicts: BTreeMap<(TrialId, u32), VerdictRecord> = store
        .read_verdicts(&config.judge.name)?
        .into_iter()
        .map(|verdict| ((verdict.trial.clone(), verdict.attempt), verdict))
        .collect();
    let mut planned = runner::trials(&config, &tasks);
    // The plan's order is the one in which trials begin; people look for a task.
    planned.sort_by(|a, b| place(a).cmp(&place(b)));
    let label = label(store, &config, &planned);
    let trials = planned
        .into_iter()
        .filter_map(|id| {
            let known = index.trials.remove(&id).unwrap_or_default();
            Some(trial(tasks.get(&id.task)?, id, &known, &verdicts))
        })
        .collect();
    Ok(RunView { label, trials, running })
}

/// Returns where a trial stands in lists: by task, then variant, then condition.
fn place(id: &TrialId) -> (&str, &Variant, &str, u32) {
    (&id.task, &id.variant, &id.condition, id.k)
}

fn label(store: &Store, config: &RunConfig, planned: &[TrialId]) -> RunLabel {
    let variants: BTreeSet<&Variant> = planned.iter().map(|id| &id.variant).collect();
    let agents: Vec<&str> = config.conditions.values().map(|c| c.agent.as_str()).collect();
    let models: Vec<&str> = config
        .conditions
        .values()
        .filter_map(|condition| Some(condition.model.as_ref()?.name.as_str()))
        .collect();
    RunLabel {
        run: store.root().to_string(),
        suite: SuiteLabel {
            name: config.suite.name.clone(),
            version: config.suite.version.clone(),
            digest: config.suite.digest.clone(),
        },
        variants: variants.into_iter().map(Variant::to_string).collect(),
        agent: agents.join(", "),
        model: (!models.is_empty()).then(|| models.join(", ")),
        judge: config.judge.name.clone(),
        k: config.plan.k,
        seed: config.plan.seed,
        web: config.web.clone(),
    }
}

fn trial(
    task: &TaskData,
    id: TrialId,
    known: &Trial,
    verdicts: &BTreeMap<(TrialId, u32), VerdictRecord>,
) -> TrialView {
    let last = known.counted().or(known.attempts.last());
    let verdict = last.and_then(|stored| verdicts.get(&(id.clone(), stored.attempt)));
    TrialView {
        task: TaskLabel {
            title: task.title.clone(),
            scenario: task.scenario,
            subset: task.subset.clone(),
            domain: task.domain.clone(),
            language: task.language,
            factors: task.factors.clone(),
        },
        attempts: known.attempts.iter().map(attempt).collect(),
        verdict: verdict.map(|verdict| verdict.verdict),
        reasons: verdict.map(|verdict| verdict.reasons.clone()).unwrap_or_default(),
        id,
    }
}

fn attempt(stored: &Stored) -> AttemptView {
    let end = stored.end.as_ref();
    AttemptView {
        outcome: stored.outcome(),
        detail: end.and_then(|end| end.detail.clone()),
        answer: end.and_then(|end| end.answer.clone()),
        rounds: end.map_or(0, |end| end.rounds),
        calls: end.map_or(0, |end| end.calls),
        usage: end.map(|end| end.usage).unwrap_or_default(),
        working_ms: end.map_or(0, |end| end.t.took_ms),
    }
}
