//! `wildgym report`: the table of a run, from the store alone.

mod arms;
mod faulted;
mod held;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rustix::process::Signal;
use wildgym_tasks::Variant;

use super::{Code, Failure, data, environment, say};
use crate::metrics::{Judging, Prices};
use crate::record::TrialId;
use crate::report::{
    self, AttemptView, Grouping, ReportOptions, RunLabel, RunView, SuiteLabel, TaskLabel, TrialView,
};
use crate::runner;
use crate::store::{
    Condition, Damaged, Index, Judged, Offering, RunConfig, Store, StoreError, Stored, TaskData,
    Trial, WebName,
};
use crate::verdict::Verdict;

/// Print the scores of a run
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Group the rows of the table by these, separated by commas [default: scenario, and variant and condition where there are several]
    #[arg(long, value_name = "GROUPS", value_delimiter = ',', value_parser = groupings())]
    by: Vec<Grouping>,

    /// Show the scores for every number of trials from 1 to k, in rows of ten tasks or more
    #[arg(long)]
    all_k: bool,

    /// Also draw how scores move with the tools that are offered, as an SVG file, where the run
    /// varies that (`--distractors`, `--tool-text`, `--tool-order` of `wildgym run`)
    #[arg(long, value_name = "FILE")]
    svg: Option<Utf8PathBuf>,

    /// Also write what faults cost under each condition, and in each domain, as a CSV file, where
    /// the run has conditions with faults beside one without (`wildgym campaign`)
    #[arg(long, value_name = "FILE")]
    csv: Option<Utf8PathBuf>,

    /// The same with a line for each trial
    #[arg(long, value_name = "FILE")]
    trials_csv: Option<Utf8PathBuf>,

    /// Prices of tokens, a TOML file [default: `WILDGYM_PRICES`, else no costs are shown]
    #[arg(long, value_name = "FILE")]
    prices: Option<Utf8PathBuf>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,

    /// Judge whose verdicts count, by the name of its file in `verdicts/` [default: the run's]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
}

pub(super) fn run(args: &ReportArgs) -> Result<Code, Failure> {
    let prices = prices(args.prices.as_deref())?;
    let store = Store::open(&args.run)?;
    if let Some(name) = &args.judge {
        check_judge(&store, name)?;
    }
    let view = view_by(&store, args.judge.as_deref())?;
    for damage in &view.damaged {
        say(&format!("damaged: {damage}"));
    }
    if !view.damaged.is_empty() {
        say(
            "\nhint: move damaged transcripts away, and `wildgym resume` makes them anew; a damaged \
             line of verdicts is made up for by `wildgym rejudge`, and can then be taken out\n",
        );
    }
    let by = args.by.iter().fold(Vec::new(), |mut by, grouping| {
        if !by.contains(grouping) {
            by.push(*grouping);
        }
        by
    });
    if let Some(path) = &args.svg {
        draw(&view, path)?;
    }
    arms::write(&view, args.csv.as_ref(), args.trials_csv.as_ref())?;
    show(&view, &ReportOptions { by, all_k: args.all_k, prices }, args.json);
    Ok(code(&view))
}

/// Draws the curves of a run that has some.
fn draw(view: &RunView, path: &Utf8Path) -> Result<(), Failure> {
    let picture = report::curves_svg(view).ok_or_else(|| {
        Failure::usage(format!("`{}` does not vary what tools are offered", view.label.run))
            .hint("begin a run with `--distractors 0,10,all`, say, or leave out `--svg`")
    })?;
    std::fs::write(path, picture)
        .map_err(|error| Failure::usage(format!("cannot write `{path}`: {error}")))
}

/// Reads a grouping by its name.
fn groupings() -> impl TypedValueParser<Value = Grouping> {
    PossibleValuesParser::new(Grouping::ALL.map(Grouping::name)).try_map(|name| {
        Grouping::ALL.into_iter().find(|by| by.name() == name).ok_or("no such group")
    })
}

/// Reads the table of prices that is named, else the one that the environment names.
pub(super) fn prices(named: Option<&Utf8Path>) -> Result<Option<Prices>, Failure> {
    let (path, from) = match (named, environment::get(environment::PRICES)) {
        (Some(path), _) => (path.to_owned(), "--prices"),
        (None, Some(path)) => (Utf8PathBuf::from(path), environment::PRICES),
        (None, None) => return Ok(None),
    };
    let failed = |reason: String| {
        Failure::usage(format!("`{path}` is no table of prices: {reason}"))
            .hint(format!("its form is in the README under \"Costs\"; `{from}` names the file"))
    };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!("cannot read `{path}`: {error}"))
            .hint(format!("`{from}` names a file with the prices of tokens"))
    })?;
    Prices::parse(&text).map(Some).map_err(|error| failed(error.to_string()))
}

/// Prints the scores of a run in a process of its own: what a run takes of memory does not
/// depend on how many trials it has, and a report's does. Costs are left out, so that a bad
/// table of prices cannot spoil the end of a run.
///
/// Nothing is printed a second time: only where that process cannot be started does this one
/// print. Where the user ended it, the command counts as interrupted.
pub(super) fn apart(store: &Store, json: bool) -> Result<Code, Failure> {
    // Names this very program, also where its file was replaced meanwhile.
    let mut command = Command::new("/proc/self/exe");
    command.arg("report").arg(store.root()).env_remove(environment::PRICES);
    if json {
        command.arg("--json");
    }
    let Ok(ended) = command.status() else {
        let view = view(store)?;
        print(&view, json);
        return Ok(code(&view));
    };
    match (ended.code(), ended.signal().and_then(Signal::from_named_raw)) {
        (Some(0), _) => Ok(Code::Done),
        (Some(1), _) => Ok(Code::Incomplete),
        (Some(2), _) => Ok(Code::Usage),
        (_, Some(Signal::INT | Signal::TERM)) => Ok(Code::Interrupted),
        // Killed for want of memory, say.
        _ => Err(Failure::usage(format!("the table was not finished: {ended}"))
            .hint(format!("print it by `wildgym report {}`", store.root()))),
    }
}

/// Prints the scores, with the usual groups.
pub(super) fn print(view: &RunView, json: bool) {
    show(view, &ReportOptions::default(), json);
}

fn show(view: &RunView, options: &ReportOptions, json: bool) {
    if json {
        data(&report::json(view, options).to_string());
        return;
    }
    let (width, colour) = super::terminal();
    data(&report::terminal(view, options, width, colour));
}

/// Returns what the program exits with: 1 where trials are lost or unjudged, or stored
/// files cannot be read.
pub(super) fn code(view: &RunView) -> Code {
    let tally = view.tally();
    if tally.lost + tally.unjudged > 0 || !view.damaged.is_empty() {
        Code::Incomplete
    } else {
        Code::Done
    }
}

/// Refuses a judge that has no verdicts on the run, and names those that have.
pub(super) fn check_judge(store: &Store, name: &str) -> Result<(), Failure> {
    let own = store.config()?.judge.name;
    let mut judges = store.judges()?;
    if !judges.contains(&own) {
        judges.push(own);
    }
    if judges.iter().any(|judge| judge == name) {
        return Ok(());
    }
    let root = store.root();
    Err(Failure::usage(format!("`{root}` has no verdicts of a judge `{name}`")).hint(format!(
        "there are `{}`; others come with `wildgym rejudge {root} --judge-model NAME`",
        judges.join("`, `")
    )))
}

/// Reads what a report needs of a run, with the verdicts of the run's judge.
pub(super) fn view(store: &Store) -> Result<RunView, StoreError> {
    view_by(store, None)
}

/// The same with the verdicts of the judge of that name.
pub(super) fn view_by(store: &Store, judge: Option<&str>) -> Result<RunView, StoreError> {
    let mut config = store.config()?;
    let other = judge.filter(|name| *name != config.judge.name);
    if let Some(name) = other {
        name.clone_into(&mut config.judge.name);
    }
    let tasks = config.tasks(&store.blobs())?;
    let running = store.is_being_written();
    let mut index = store.survey()?;
    if running {
        for trial in index.trials.values_mut() {
            trial.attempts.retain(|stored| stored.end.is_some() || stored.damage.is_some());
        }
    }
    let (judged, unreadable) = store.judged(&config.judge.name)?;
    let mut verdicts: HashMap<TrialId, Vec<Judged>> = HashMap::new();
    for verdict in judged {
        match verdicts.get_mut(&verdict.trial) {
            Some(known) => known.push(verdict),
            None => drop(verdicts.insert(verdict.trial.clone(), vec![verdict])),
        }
    }
    let mut planned: Vec<TrialId> = runner::Trials::of(&config, &tasks).iter().collect();
    // The plan's order is the one in which trials begin; people look for a task.
    planned.sort_by(|a, b| place(a).cmp(&place(b)));
    let web_misses = misses(&config, &index);
    let episodes = held::reduce(&config, &planned, &mut index, &mut verdicts);
    let other_judge = other.is_some();
    let label = RunLabel { episodes, other_judge, web_misses, ..label(store, &config, &planned) };
    let mut damaged = damaged(&config, &index, &unreadable);
    let mut faulted = faulted::read(store, &config, &tasks, &index, &mut damaged);
    let specified = faulted::specified(store, &config, &mut damaged);
    let offering = |condition: &Condition| Arc::new(condition.offering.clone().unwrap_or_default());
    let offerings: BTreeMap<&String, Arc<Offering>> =
        config.conditions.iter().map(|(name, one)| (name, offering(one))).collect();
    let trials = planned
        .into_iter()
        .filter_map(|id| {
            let known = index.trials.remove(&id).unwrap_or_default();
            let judged = verdicts.remove(&id).unwrap_or_default();
            let offering = offerings.get(&id.condition).cloned().unwrap_or_default();
            let faulted = faulted.remove(&id);
            let trial = trial(tasks.get(&id.task)?, id, &known, &judged);
            Some(TrialView { offering, faulted, ..trial })
        })
        .collect();
    Ok(RunView { label, trials, running, damaged, specified })
}

/// Counts requests that the recording did not have, of all finished attempts.
fn misses(config: &RunConfig, index: &Index) -> Option<u64> {
    let attempts = index.trials.values().flat_map(|trial| &trial.attempts);
    let ends = attempts.filter_map(|stored| stored.end.as_ref());
    (config.web.kind == WebName::Replay).then(|| ends.map(|end| end.web_misses).sum())
}

/// Says what cannot be read: transcripts, verdicts, and what stands where the plan has a
/// folder of transcripts.
fn damaged(config: &RunConfig, index: &Index, verdicts: &[Damaged]) -> Vec<String> {
    let planned = |path: &&Utf8PathBuf| {
        path.file_name().is_some_and(|name| {
            config.conditions.contains_key(name)
                || config.plan.tasks.iter().any(|task| task == name)
                || name.parse::<Variant>().is_ok()
        })
    };
    let strays = index.strays.iter().filter(planned);
    let errors = index.damaged.iter().chain(verdicts).map(|damaged| damaged.error.to_string());
    errors.chain(strays.map(|path| format!("`{path}` is not a folder of transcripts"))).collect()
}

/// Returns where a trial stands in lists: by task, then variant, then condition.
fn place(id: &TrialId) -> (&str, &Variant, &str, u32) {
    (&id.task, &id.variant, &id.condition, id.k)
}

fn label(store: &Store, config: &RunConfig, planned: &[TrialId]) -> RunLabel {
    let variants: BTreeSet<&Variant> = planned.iter().map(|id| &id.variant).collect();
    let agents: BTreeSet<&str> = config.conditions.values().map(|c| c.agent.as_str()).collect();
    let agents: Vec<&str> = agents.into_iter().collect();
    let models: BTreeMap<String, String> = config
        .conditions
        .iter()
        .filter_map(|(name, condition)| {
            Some((name.clone(), condition.model.as_ref()?.name.clone()))
        })
        .collect();
    let of_tools = |(name, condition): (&String, &Condition)| {
        Some((name.clone(), condition.tool_model.as_ref()?.name.clone()))
    };
    let tool_models = config.conditions.iter().filter_map(of_tools).collect();
    let of_users = |(name, condition): (&String, &crate::store::Condition)| {
        Some((name.clone(), condition.user_model.as_ref()?.name.clone()))
    };
    let user_models = config.conditions.iter().filter_map(of_users).collect();
    let names: BTreeSet<&str> = models.values().map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().collect();
    RunLabel {
        run: store.root().to_string(),
        suite: SuiteLabel {
            name: config.suite.name.clone(),
            version: config.suite.version.clone(),
            digest: config.suite.digest.clone(),
        },
        variants: variants.into_iter().map(Variant::to_string).collect(),
        agent: agents.join(", "),
        model: (!names.is_empty()).then(|| names.join(", ")),
        models,
        tool_models,
        user_models,
        held: config.conditions.values().any(crate::store::Condition::is_held),
        episodes: None,
        uncontained: config
            .conditions
            .values()
            .any(|one| one.program.as_ref().is_some_and(|program| program.uncontained)),
        judge: config.judge.name.clone(),
        other_judge: false,
        k: config.plan.k,
        seed: config.plan.seed,
        web: config.web.kind.name().to_owned(),
        web_notes: config.web.notes(),
        web_misses: None,
        faults: config
            .conditions
            .iter()
            .filter_map(|(name, condition)| {
                Some((name.clone(), condition.faults.as_ref()?.to_string()))
            })
            .collect(),
        conditions: arms::labels(config),
        cassette: config.cassette.as_ref().map(|cassette| cassette.digest.clone()),
        servers: config.servers.iter().map(|(name, one)| one.note(name)).collect(),
    }
}

fn trial(task: &TaskData, id: TrialId, known: &Trial, verdicts: &[Judged]) -> TrialView {
    let last = known.counted().or(known.attempts.last());
    // A later line for the same attempt replaces an earlier one, but not by saying nothing.
    let of = |stored: &Stored| {
        let own = || verdicts.iter().filter(|verdict| verdict.attempt == stored.attempt);
        own().rfind(|verdict| verdict.verdict != Verdict::Unjudged).or_else(|| own().next_back())
    };
    let verdict = last.and_then(of);
    let milestones: Vec<String> =
        task.milestones.iter().map(|milestone| milestone.id.clone()).collect();
    let record = |found: &BTreeMap<String, bool>, names: &[String]| -> Vec<bool> {
        if found.is_empty() {
            return Vec::new();
        }
        names.iter().map(|name| found.get(name).copied().unwrap_or(false)).collect()
    };
    TrialView {
        attempts: known.attempts.iter().map(attempt).collect(),
        verdict: verdict.map(|verdict| verdict.verdict),
        reasons: verdict.map(|verdict| verdict.reasons.clone()).unwrap_or_default(),
        milestones: verdict.map(|v| record(&v.milestones, &milestones)).unwrap_or_default(),
        discovered: verdict
            .map(|v| record(&v.discovered, &task.discovery_hosts))
            .unwrap_or_default(),
        conduct: verdict.and_then(|verdict| verdict.conduct.clone()),
        faulted: None,
        rubric: verdict.and_then(|verdict| verdict.rubric),
        judging: judging(verdicts),
        offering: Arc::default(),
        task: TaskLabel {
            title: task.title.clone(),
            scenario: task.scenario,
            subset: task.subset.clone(),
            domain: task.domain.clone(),
            language: task.language,
            factors: task.factors.clone(),
            tier: task.scenario_file.as_ref().map(|file| file.tier),
            kind: task.scenario_file.as_ref().map(|file| file.kind),
            milestones,
            discovery_hosts: task.discovery_hosts.clone(),
        },
        id,
    }
}

/// Sums up what judging a trial took, verdicts that were replaced included.
fn judging(verdicts: &[Judged]) -> Judging {
    let mut judging = Judging::default();
    for verdict in verdicts {
        judging.verdicts += 1;
        judging.took_ms = judging.took_ms.saturating_add(verdict.took_ms());
        for vote in &verdict.votes {
            judging.call(&vote.model, vote.usage);
        }
    }
    judging
}

fn attempt(stored: &Stored) -> AttemptView {
    let end = stored.end.as_ref();
    AttemptView {
        outcome: stored.outcome(),
        closed: end.is_some(),
        detail: end.and_then(|end| end.detail.clone()).or_else(|| stored.damage.clone()),
        answer: end.and_then(|end| end.answer.clone()),
        rounds: end.map_or(0, |end| end.rounds),
        calls: end.map_or(0, |end| end.calls),
        clock: end.map(|end| end.clock),
        usage: end.map(|end| end.usage).unwrap_or_default(),
        tool_usage: end.map(|end| end.tool_usage).unwrap_or_default(),
        user_usage: end.map(|end| end.user_usage).unwrap_or_default(),
        working_ms: end.map_or(0, |end| end.t.took_ms),
        model_ms: end.map_or(0, |end| end.t.model_ms),
        tools_ms: end.map_or(0, |end| end.t.tools_ms),
    }
}
