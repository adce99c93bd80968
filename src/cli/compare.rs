//! `wildgym compare`: two runs side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::Value;

use super::{Code, Failure, data, report as cli_report};
use crate::judge::exact::NAME as EXACT;
use crate::report::{self, ALLOWABLE, Comparison, Difference, Pinned, RunView};
use crate::store::{RunConfig, Store, StoreError, TaskData};

/// Compare two runs trial by trial: scores, their difference, what flipped, what it took
///
/// The difference is B minus A, over trials at the same task, in the same variant, of the
/// same number, and judged in both. Runs over different tasks, or with another judge,
/// other limits, tools or network are refused, and what differs is said. Exits with 1
/// where trials in common are lost or unjudged.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Directory of the first run
    run_a: Utf8PathBuf,

    /// Directory of the second run
    run_b: Utf8PathBuf,

    /// Judge whose verdicts count in both runs [default: the one of each run]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,

    /// Differences to compare in spite of, separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(ALLOWABLE))]
    allow: Vec<String>,

    /// Condition of the first run, where it has several
    #[arg(long, value_name = "NAME")]
    condition_a: Option<String>,

    /// Condition of the second run, where it has several
    #[arg(long, value_name = "NAME")]
    condition_b: Option<String>,

    /// Print one JSON object instead of the tables
    #[arg(long)]
    json: bool,
}

/// One of the two runs, as far as it is compared.
struct Side {
    /// Everybody who has judged the run, its own judge included.
    judges: Vec<String>,
    config: RunConfig,
    condition: String,
    tasks: BTreeMap<String, TaskData>,
    tools: Vec<Value>,
    view: RunView,
}

pub(super) fn run(args: &CompareArgs) -> Result<Code, Failure> {
    let judge = args.judge.as_deref();
    let a = Side::open(&args.run_a, judge, args.condition_a.as_deref(), "--condition-a")?;
    let b = Side::open(&args.run_b, judge, args.condition_b.as_deref(), "--condition-b")?;
    let mut differences = report::differences(&a.pinned()?, &b.pinned()?);
    refuse(&differences, args, &a, &b)?;
    if a.condition != b.condition && args.condition_a.is_some() && args.condition_b.is_some() {
        let lines = vec![format!("condition: {} in A, {} in B", a.condition, b.condition)];
        differences.push(Difference { what: "condition", lines });
    }
    let place = |run: &Utf8Path| run.canonicalize_utf8().ok();
    let same_run = place(&args.run_a).is_some_and(|a| Some(a) == place(&args.run_b));
    let comparison = Comparison { a: a.view, b: b.view, differences, same_run };
    if !comparison.has_common_trials() {
        return Err(nothing_in_common(&comparison, args));
    }
    if args.json {
        data(&report::comparison_json(&comparison).to_string());
    } else {
        let (width, colour) = super::terminal();
        data(&report::comparison_terminal(&comparison, width, colour));
    }
    Ok(if comparison.is_complete() { Code::Done } else { Code::Incomplete })
}

impl Side {
    fn open(
        run: &Utf8Path,
        judge: Option<&str>,
        condition: Option<&str>,
        flag: &str,
    ) -> Result<Self, Failure> {
        let store = Store::open(run)?;
        let config = store.config()?;
        let condition = one_of(&config, run, condition, flag)?;
        let judges = judges(&store, &config)?;
        if let Some(judge) = judge {
            has_judged(&store, &judges, judge)?;
        }
        let mut view = cli_report::view_by(&store, judge)?;
        view.trials.retain(|trial| trial.id.condition == condition);
        if let Some(chosen) = config.conditions.get(&condition) {
            view.label.agent.clone_from(&chosen.agent);
            view.label.model = chosen.model.as_ref().map(|model| model.name.clone());
        }
        let (tasks, tools) = (config.tasks(&store.blobs())?, schemas(&store, &config)?);
        Ok(Self { judges, config, condition, tasks, tools, view })
    }

    fn pinned(&self) -> Result<Pinned<'_>, Failure> {
        let condition = self.config.conditions.get(&self.condition).ok_or_else(|| {
            Failure::usage(format!("the run has no condition `{}`", self.condition))
        })?;
        Ok(Pinned {
            config: &self.config,
            condition,
            tasks: &self.tasks,
            tools: &self.tools,
            judge: &self.view.label.judge,
        })
    }
}

/// Returns the condition that is meant.
pub(super) fn one_of(
    config: &RunConfig,
    run: &Utf8Path,
    wanted: Option<&str>,
    flag: &str,
) -> Result<String, Failure> {
    let names: Vec<&str> = config.conditions.keys().map(String::as_str).collect();
    let list = || format!("`{}`", names.join("`, `"));
    match (wanted, names.as_slice()) {
        (Some(name), _) if names.contains(&name) => Ok(name.to_owned()),
        (Some(name), _) => Err(Failure::usage(format!("`{run}` has no condition `{name}`"))
            .hint(format!("name one of {} with `{flag}`", list()))),
        (None, [only]) => Ok((*only).to_owned()),
        (None, []) => Err(Failure::usage(format!("`{run}` has no condition"))),
        (None, _) => Err(Failure::usage(format!("`{run}` has {} conditions", names.len()))
            .hint(format!("name one of {} with `{flag}`", list()))),
    }
}

/// Returns who has judged a run. Its own judge counts also where it has not begun.
fn judges(store: &Store, config: &RunConfig) -> Result<Vec<String>, StoreError> {
    let mut judges = store.judges()?;
    if !judges.contains(&config.judge.name) {
        judges.push(config.judge.name.clone());
    }
    Ok(judges)
}

/// Checks that a judge has judged a run, and else says who has.
fn has_judged(store: &Store, judges: &[String], judge: &str) -> Result<(), Failure> {
    if judges.iter().any(|name| name == judge) {
        return Ok(());
    }
    let known = judges.join(", ");
    Err(Failure::usage(format!("`{judge}` has not judged `{}`", store.root()))
        .hint(format!("it was judged by {known}; leave out `--judge` for the one of each run")))
}

/// Reads the schemas of the tools that were offered.
fn schemas(store: &Store, config: &RunConfig) -> Result<Vec<Value>, StoreError> {
    let bytes = store.blobs().get(&config.tools.schemas)?;
    serde_json::from_slice(&bytes).map_err(|error| StoreError::Corrupt {
        path: Utf8PathBuf::from(format!("blobs/{}", config.tools.schemas)),
        line: error.line(),
        reason: error.to_string(),
    })
}

/// Refuses runs that differ in what forbids a comparison and was not allowed.
fn refuse(
    differences: &[Difference],
    args: &CompareArgs,
    a: &Side,
    b: &Side,
) -> Result<(), Failure> {
    let refused = |found: &&Difference| {
        found.is_fatal() && !args.allow.iter().any(|allowed| allowed == found.what)
    };
    let refused: Vec<&Difference> = differences.iter().filter(refused).collect();
    if refused.is_empty() {
        return Ok(());
    }
    let mut message = format!("`{}` and `{}` cannot be compared", args.run_a, args.run_b);
    for found in &refused {
        for line in &found.lines {
            // Writing to a string cannot fail.
            let _ = write!(message, "\n  {line}");
        }
    }
    let only_judges = refused.iter().all(|found| found.what == "judge");
    let first = if only_judges { by_one_judge(args, a, b) } else { String::new() };
    let mut names: Vec<&str> = refused.iter().map(|found| found.what).collect();
    names.extend(args.allow.iter().map(String::as_str));
    Err(Failure::usage(message).hint(format!(
        "{first}`--allow {}` compares them all the same, and says so above the scores",
        names.join(",")
    )))
}

/// Says how the runs are compared by the verdicts of one judge: of one that has judged
/// both, preferably with a model, or else by equality, which asks nobody.
fn by_one_judge(args: &CompareArgs, a: &Side, b: &Side) -> String {
    // One name for two judges does not help: it is what was refused.
    let refused = |name: &str| [a, b].iter().all(|side| side.view.label.judge == name);
    let common = || a.judges.iter().filter(|name| b.judges.contains(name) && !refused(name));
    if let Some(judge) = common().find(|name| *name != EXACT).or_else(|| common().next()) {
        return format!("`--judge {judge}` compares both by a judge that they have in common; ");
    }
    let without = [(&args.run_a, a), (&args.run_b, b)]
        .into_iter()
        .filter(|(_, side)| !side.judges.iter().any(|name| name == EXACT));
    let commands: Vec<String> =
        without.map(|(run, _)| format!("`wildgym rejudge {run} --judge {EXACT}`")).collect();
    format!("{} and then `--judge {EXACT}` compares both by one judge; ", commands.join(", "))
}

fn nothing_in_common(comparison: &Comparison, args: &CompareArgs) -> Failure {
    let mut message = format!("`{}` and `{}` have no trial in common", args.run_a, args.run_b);
    let planned = |found: &&Difference| ["tasks", "variants"].contains(&found.what);
    let found = comparison.differences.iter().filter(planned);
    for line in found.flat_map(|found| &found.lines) {
        let _ = write!(message, "\n  {line}");
    }
    Failure::usage(message).hint(
        "compare runs of the same tasks and variants; what a variant changes is measured within \
         one run, by `wildgym ablate SUITE`",
    )
}
