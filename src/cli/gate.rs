//! `wildgym gate`: whether a run is worse than its baseline, as an exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::SignedDuration;

use super::{Code, Failure, compare, data, report as cli_report, say};
use crate::metrics::{State, Tally};
use crate::report::{self, ALLOWABLE, GateView, RunView, TrialView};
use crate::store::{RunConfig, SeriesLine, SeriesTask, Store, append_series, read_series};

/// Block a change: compare a run with a baseline, and exit with 1 where it is worse
///
/// The baseline is a run, or a series: a file of JSON Lines that grows by a line a run
/// (`--append`). Of a series the runs of the last days count, pooled. The run is blocked
/// where its score is lower by more than `--tolerance` points and by more than chance
/// explains; where a task of `tier-5` (`--no-tolerance`) fails that never did before; and
/// where it is not complete. Only tasks of both sides are compared, so a run of a subset
/// is measured by a baseline of the whole suite.
#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Directory of a run, or file of a series, to compare it with
    #[arg(long, value_name = "RUN_OR_SERIES")]
    baseline: Utf8PathBuf,

    /// Percentage points that the score may drop
    #[arg(long, value_name = "POINTS", default_value = "3", value_parser = points)]
    tolerance: f64,

    /// Subsets of which nothing is tolerated, separated by commas
    #[arg(long, value_name = "SUBSETS", value_delimiter = ',', default_value = STRICT)]
    no_tolerance: Vec<String>,

    /// Runs of a series that are at most so many days older count
    #[arg(long, value_name = "COUNT", default_value = "7",
          value_parser = clap::value_parser!(u16).range(1..=3650))]
    days: u16,

    /// Compare only the tasks of a subset of the suite, such as `smoke`
    #[arg(long, value_name = "NAME")]
    subset: Option<String>,

    /// Append the run to the series, blocked or not, if it is complete
    #[arg(long)]
    append: bool,

    /// Differences to compare in spite of, separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(ALLOWABLE))]
    allow: Vec<String>,

    /// Judge whose verdicts count [default: the run's]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,

    /// Condition of the run, where it has several
    #[arg(long, value_name = "NAME")]
    condition: Option<String>,

    /// Also write the comparison to a file, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<Utf8PathBuf>,

    /// Also write the comparison to a file, as XML in the form of `JUnit`
    #[arg(long, value_name = "FILE")]
    junit: Option<Utf8PathBuf>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Reads a number of percentage points.
fn points(text: &str) -> Result<f64, String> {
    let range = "expected a number of percentage points from 0 to 100";
    let value: f64 = text.parse().map_err(|_| range.to_owned())?;
    if (0.0..=100.0).contains(&value) { Ok(value) } else { Err(range.to_owned()) }
}

pub(super) fn run(args: &GateArgs) -> Result<Code, Failure> {
    let (view, config, line) =
        open(&args.run, args.condition.as_deref(), args.judge.as_deref(), "--condition")?;
    let is_series = !args.baseline.is_dir();
    if args.append && !is_series {
        return Err(Failure::usage(format!(
            "`--append`: `{}` is a run, not a series",
            args.baseline
        ))
        .hint("a series is a file, such as `series.jsonl`; it is made where it is missing"));
    }
    refuse_unknown(&args.no_tolerance, &config)?;
    let only = args.subset.as_deref().map(|name| subset(&config, name)).transpose()?;
    let tally: Tally = view.trials.iter().map(TrialView::state).collect();
    let (baseline, mut notes) = baseline(args, &line, is_series)?;
    let complete = tally.is_complete();
    if baseline.is_empty() && args.append && complete {
        append(&args.baseline, &line)?;
        say("nothing to compare with yet: the run is the first of its series that counts");
        return Ok(Code::Done);
    }
    if baseline.is_empty() {
        return Err(nothing_before(args));
    }
    notes.extend(told(&line, &baseline));
    let view = GateView {
        run: line,
        tally,
        baseline,
        source: args.baseline.to_string(),
        tolerance: args.tolerance,
        strict: args.no_tolerance.clone(),
        only,
        notes,
    };
    write(args.markdown.as_deref(), || report::gate_markdown(&view))?;
    write(args.junit.as_deref(), || report::gate_junit(&view))?;
    if args.json {
        data(&report::gate_json(&view).to_string());
    } else {
        let (width, colour) = super::terminal();
        data(&report::gate_terminal(&view, width, colour));
    }
    if args.append && complete {
        append(&args.baseline, &view.run)?;
    } else if args.append {
        say("not appended: the run is not complete");
    }
    Ok(if view.gate().is_blocked() { Code::Incomplete } else { Code::Done })
}

/// Reads a run, and makes the line of it that a series holds.
fn open(
    run: &Utf8Path,
    condition: Option<&str>,
    judge: Option<&str>,
    flag: &str,
) -> Result<(RunView, RunConfig, SeriesLine), Failure> {
    let store = Store::open(run)?;
    let config = store.config()?;
    let condition = compare::one_of(&config, run, condition, flag)?;
    if let Some(judge) = judge {
        cli_report::check_judge(&store, judge)?;
    }
    let mut view = cli_report::view_by(&store, judge)?;
    view.trials.retain(|trial| trial.id.condition == condition);
    let chosen = config.conditions.get(&condition);
    let name = run.canonicalize_utf8().ok().and_then(|path| Some(path.file_name()?.to_owned()));
    let line = SeriesLine {
        run: name.unwrap_or_else(|| run.to_string()),
        created: config.created,
        agent: chosen.map(|chosen| chosen.agent.clone()).unwrap_or_default(),
        model: chosen.and_then(|chosen| Some(chosen.model.as_ref()?.name.clone())),
        pins: report::pins(&config, chosen, &view.label.judge),
        tasks: tasks(&view),
        ..SeriesLine::default()
    };
    Ok((view, config, line))
}

/// Counts the trials of each task.
fn tasks(view: &RunView) -> BTreeMap<String, SeriesTask> {
    let mut tasks: BTreeMap<String, SeriesTask> = BTreeMap::new();
    for trial in &view.trials {
        let name = if trial.id.variant.is_full() {
            trial.id.task.clone()
        } else {
            format!("{}/{}", trial.id.task, trial.id.variant)
        };
        let task = tasks.entry(name).or_default();
        task.subset.clone_from(&trial.task.subset);
        task.judged += u32::from(trial.state().is_judged());
        task.passed += u32::from(trial.state() == State::Pass);
    }
    tasks
}

/// The subset of which nothing is tolerated unless others are named.
const STRICT: &str = "tier-5";

/// Refuses subsets that the suite does not have: a slip would let everything pass.
fn refuse_unknown(named: &[String], config: &RunConfig) -> Result<(), Failure> {
    let known = &config.suite.subsets;
    match named.iter().find(|name| *name != STRICT && !known.contains_key(*name)) {
        Some(name) => subset(config, name).map(drop),
        None => Ok(()),
    }
}

/// Returns the tasks of a subset, or says which there are.
fn subset(config: &RunConfig, name: &str) -> Result<(String, BTreeSet<String>), Failure> {
    let subsets = &config.suite.subsets;
    subsets.get(name).map(|tasks| (name.to_owned(), tasks.clone())).ok_or_else(|| {
        let known: Vec<&str> = subsets.keys().map(String::as_str).collect();
        let failure =
            Failure::usage(format!("suite `{}` has no subset `{name}`", config.suite.name));
        if known.is_empty() {
            return failure.hint("it has no subsets at all; leave `--subset` out");
        }
        failure.hint(format!("its subsets are `{}`", known.join("`, `")))
    })
}

/// Returns the runs that count, the oldest first, and what was allowed.
fn baseline(
    args: &GateArgs,
    line: &SeriesLine,
    is_series: bool,
) -> Result<(Vec<SeriesLine>, Vec<String>), Failure> {
    let mut lines = if is_series { recent(args, line)? } else { vec![single(args, line)?] };
    lines.sort_by_key(|line| line.created);
    let mut notes = Vec::new();
    let mut refused = Vec::new();
    for (what, value) in &line.pins {
        let others: BTreeSet<&str> = lines
            .iter()
            .map(|other| other.pins.get(what).map_or("unknown", String::as_str))
            .filter(|other| other != value)
            .collect();
        for other in others {
            let text = format!("{what}: {value} in the run, {other} in the baseline");
            if args.allow.iter().any(|allowed| allowed == what) {
                notes.push(format!("allowed: {text}"));
            } else {
                refused.push((what.as_str(), text));
            }
        }
    }
    if refused.is_empty() {
        return Ok((lines, notes));
    }
    let texts: Vec<String> = refused.iter().map(|(_, text)| format!("\n  {text}")).collect();
    let mut names: Vec<&str> = refused.iter().map(|(what, _)| *what).collect();
    names.extend(args.allow.iter().map(String::as_str));
    names.dedup();
    Err(Failure::usage(format!(
        "`{}` cannot be compared with `{}`{}",
        args.run,
        args.baseline,
        texts.concat()
    ))
    .hint(format!(
        "`--allow {}` compares them all the same; or start a series anew",
        names.join(",")
    )))
}

/// Reads the run that is the baseline.
fn single(args: &GateArgs, line: &SeriesLine) -> Result<SeriesLine, Failure> {
    let (_, _, other) =
        open(&args.baseline, args.condition.as_deref(), args.judge.as_deref(), "--condition")?;
    if other.is_of(line) {
        return Err(Failure::usage(format!("`{}` is its own baseline", args.run))
            .hint("name another run, or a series, with `--baseline`"));
    }
    Ok(other)
}

/// Reads the runs of a series that are recent enough, the run itself left out.
fn recent(args: &GateArgs, line: &SeriesLine) -> Result<Vec<SeriesLine>, Failure> {
    if !args.baseline.exists() {
        if args.append {
            return Ok(Vec::new());
        }
        return Err(Failure::usage(format!("there is no run and no series `{}`", args.baseline))
            .hint("`--append` makes a series and puts the run into it"));
    }
    let (lines, damaged) = read_series(&args.baseline)?;
    for one in &damaged {
        say(&format!("damaged: {}; the line is left out", one.error));
    }
    let oldest = line.created - SignedDuration::from_hours(24 * i64::from(args.days));
    let counts = |other: &SeriesLine| {
        other.created >= oldest && other.created <= line.created && !other.is_of(line)
    };
    Ok(lines.into_iter().filter(counts).collect())
}

/// Says that there is nothing to compare with.
fn nothing_before(args: &GateArgs) -> Failure {
    Failure::usage(format!(
        "`{}` has no run of the {} days before `{}`",
        args.baseline, args.days, args.run
    ))
    .hint("`--days COUNT` looks further back; `--append` adds the run, if it is complete")
}

/// Says which agents and models the baseline is of, where they are others.
fn told(line: &SeriesLine, baseline: &[SeriesLine]) -> Vec<String> {
    let who = |line: &SeriesLine| match &line.model {
        Some(model) => format!("{} with {model}", line.agent),
        None => line.agent.clone(),
    };
    let others: BTreeSet<String> =
        baseline.iter().map(who).filter(|other| *other != who(line)).collect();
    let text = |other: String| format!("agent: {} in the run, {other} in the baseline", who(line));
    others.into_iter().map(text).collect()
}

fn append(path: &Utf8Path, line: &SeriesLine) -> Result<(), Failure> {
    if !append_series(path, line)? {
        say(&format!("`{}` stands in `{path}` already", line.run));
    }
    Ok(())
}

/// Writes a file that was asked for.
fn write(path: Option<&Utf8Path>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    fs::write(path, text())
        .map_err(|error| Failure::usage(format!("cannot write `{path}`: {error}")))
}
