//! `wildgym show`: the trials of a run, or the transcript of one.

mod served;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::Value;

use super::{Code, Failure, data, report};
use crate::judge::{Examiner, Findings};
use crate::metrics::State;
use crate::record::{AnnotationRecord, Outcome, Record, TrialId};
use crate::report::{GraphOptions, RunView, TranscriptOptions, TrialView};
use crate::store::{Store, StoreError};
use crate::verdict::VerdictRecord;

pub(super) use served::is_served;

/// List the trials of a run, or print the transcript of one
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Trial, as condition/task/variant/k; parts that are clear may be left out, as in `ds-boat` or `ds-boat/full/2`
    trial: Option<String>,

    /// List only trials in this state; may be given several times
    #[arg(long, value_name = "STATE", conflicts_with = "trial", value_parser = states())]
    state: Vec<State>,

    /// Attempt to show [default: the one that counts, else the last]
    #[arg(long, value_name = "NUMBER", requires = "trial")]
    attempt: Option<u32>,

    /// Most lines of each text
    #[arg(long, value_name = "COUNT", default_value = "16")]
    lines: usize,

    /// Show every text whole
    #[arg(long)]
    full: bool,

    /// Print the stored records with verdicts, votes and annotations, or the list of trials, as JSON
    #[arg(long)]
    json: bool,

    /// Draw the trial as a graph of its calls into FILE instead, as SVG; `-` for standard
    /// output. A file that is there is replaced
    #[arg(long, value_name = "FILE", requires = "trial", conflicts_with_all = ["json", "full"])]
    graph: Option<Utf8PathBuf>,

    /// Judge whose verdicts are shown, by the name of its file in `verdicts/`
    /// [default: in a list the run's, for one trial every judge]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
}

pub(super) fn run(args: &ShowArgs) -> Result<Code, Failure> {
    let store = Store::open(&args.run)?;
    if let Some(name) = &args.judge {
        report::check_judge(&store, name)?;
    }
    let view = report::view_by(&store, args.judge.as_deref())?;
    match &args.trial {
        None if is_served(&store)? => served::list(args, &store)?,
        None => list(args, &store, &view),
        Some(named) => {
            let trial = find(&store, &view, named)?;
            let planned = view.trials.iter().find(|planned| planned.id == trial);
            show(args, &store, &trial, planned)?;
        }
    }
    Ok(Code::Done)
}

/// Reads a state by its name.
fn states() -> impl TypedValueParser<Value = State> {
    PossibleValuesParser::new(State::ALL.map(State::name)).try_map(|name| {
        State::ALL.into_iter().find(|state| state.name() == name).ok_or("no such state")
    })
}

/// Lists trials with what became of them.
fn list(args: &ShowArgs, store: &Store, view: &RunView) {
    let wanted = |trial: &TrialView| args.state.is_empty() || args.state.contains(&trial.state());
    let blobs = store.blobs();
    let resolve = |digest: &str| blobs.get(digest).ok();
    if !view.trials.iter().any(wanted) {
        let names: Vec<&str> = args.state.iter().map(|state| state.name()).collect();
        super::say(&format!("no trial is {}", names.join(" or ")));
        return;
    }
    if !args.json {
        let (width, colour) = super::terminal();
        data(&crate::report::listing(view, wanted, &resolve, width, colour));
        return;
    }
    for trial in view.trials.iter().filter(|trial| wanted(trial)) {
        let last = trial.attempts.last();
        let mut line = serde_json::json!({
            "trial": trial.id.to_string(),
            "state": trial.state(),
            "attempts": trial.attempts.len(),
            "outcome": last.map(|attempt| &attempt.outcome),
            "detail": last.and_then(|attempt| attempt.detail.as_ref()),
            "answer": trial.answer(&resolve),
            "reasons": trial.reasons,
        });
        if let Some(tried) = trial.tried() {
            line["faults"] = serde_json::json!({
                "dose": tried.met.dose,
                "class": tried.class,
                "fabricated": tried.fabricated,
            });
        }
        data(&line.to_string());
    }
}

/// Finds the one trial that is meant: each part given must be equal, from the task on. Of a
/// run that a server kept, among those that it kept: there may be others than were planned.
fn find(store: &Store, view: &RunView, named: &str) -> Result<TrialId, Failure> {
    let means = |id: &TrialId| {
        let (full, short) = (id.to_string(), format!("{}/{}/{}", id.task, id.variant, id.k));
        full == named || short == named || id.task == named || {
            let without_variant = format!("{}/{}", id.task, id.k);
            let without_k = format!("{}/{}", id.task, id.variant);
            without_variant == named || without_k == named
        }
    };
    let planned = || view.trials.iter().map(|trial| trial.id.clone());
    let mut found: Vec<TrialId> = if is_served(store)? {
        served::trials(store)?.into_iter().filter(&means).collect()
    } else {
        planned().filter(&means).collect()
    };
    if found.is_empty() {
        found = planned().filter(&means).collect();
    }
    match found.as_slice() {
        [] => Err(Failure::usage(format!("the run has no trial `{named}`"))
            .hint(format!("see them with `wildgym show {}`", view.label.run))),
        [one, ..] => {
            if found.len() > 1 {
                super::say(&format!("{one} of {} trials that `{named}` means", found.len()));
            }
            Ok(one.clone())
        }
    }
}

/// Finds the trial that is meant and which attempt at it: the one asked for, else the one
/// that counts, else the last.
pub(super) fn attempt_of(
    store: &Store,
    named: &str,
    wanted: Option<u32>,
) -> Result<(TrialId, u32), Failure> {
    let view = report::view_by(store, None)?;
    let trial = find(store, &view, named)?;
    let attempt = attempt(store, &trial, wanted)?;
    Ok((trial, attempt))
}

/// Returns the attempt that is asked for, else the one that counts, else the last.
fn attempt(store: &Store, trial: &TrialId, wanted: Option<u32>) -> Result<u32, Failure> {
    let index = store.survey()?;
    let known = index.trials.get(trial);
    let chosen = known.and_then(|known| known.counted().or(known.attempts.last()));
    if known.is_none() && is_served(store)? {
        return Err(served::nothing_of(store, trial)?);
    }
    let Some(attempt) = wanted.or(chosen.map(|stored| stored.attempt)) else {
        return Err(Failure::usage(format!("trial `{trial}` was not attempted yet"))
            .hint(format!("go on with `wildgym resume {}`", store.root())));
    };
    let made = known.map_or(&[][..], |known| &known.attempts);
    if !made.iter().any(|stored| stored.attempt == attempt) {
        let count = made.len();
        let noun = if count == 1 { "attempt" } else { "attempts" };
        return Err(Failure::usage(format!("trial `{trial}` has {count} {noun}"))
            .hint("leave `--attempt` out to see the one that counts"));
    }
    if wanted.is_none() && made.len() > 1 && is_served(store)? {
        super::say(&format!("attempt {attempt} of {}; `--attempt` takes another", made.len()));
    }
    Ok(attempt)
}

/// Shows an attempt at a trial, which is one of those `planned` or an episode beyond them.
fn show(
    args: &ShowArgs,
    store: &Store,
    trial: &TrialId,
    planned: Option<&TrialView>,
) -> Result<(), Failure> {
    let attempt = attempt(store, trial, args.attempt)?;
    let records = store.records(trial, attempt)?;
    let verdicts = verdicts(args, store, (trial, attempt))?;
    if let Some(path) = &args.graph {
        return draw(path, store, (trial, attempt), (&records, verdicts));
    }
    let annotations = store.annotations_of(trial, attempt)?;
    if args.json {
        print_json(&records, &verdicts, &annotations);
        return Ok(());
    }
    let said = |record: AnnotationRecord| Some((record.model, record.annotation?));
    let annotations = annotations.into_iter().filter_map(said).collect();
    // What is known of the trial is known of the attempt that counts.
    let planned = planned.filter(|_| args.attempt.is_none());
    let faulted = planned.and_then(|trial| Some((trial.faulted.clone()?, trial.class())));
    let whole =
        TranscriptOptions { verdicts, annotations, faulted, ..TranscriptOptions::default() };
    let options = if args.full {
        TranscriptOptions { lines: usize::MAX, reasoning: usize::MAX, wide: usize::MAX, ..whole }
    } else {
        TranscriptOptions { lines: args.lines, ..whole }
    };
    let blobs = store.blobs();
    data(&crate::report::transcript(&records, &|digest| blobs.get(digest).ok(), &options));
    Ok(())
}

/// Draws an attempt into a file, or to standard output.
fn draw(
    path: &Utf8Path,
    store: &Store,
    (trial, attempt): (&TrialId, u32),
    (records, verdicts): (&[Record], Vec<(String, VerdictRecord)>),
) -> Result<(), Failure> {
    let findings = findings(store, (trial, attempt), records).unwrap_or_else(|error| {
        super::say(&format!("calls are not held against what is expected: {error}"));
        None
    });
    let title = match attempt {
        1 => trial.to_string(),
        attempt => format!("{trial}, attempt {attempt}"),
    };
    let options = GraphOptions { title, verdict: verdicts.into_iter().next(), findings };
    let blobs = store.blobs();
    let picture = crate::report::graph(records, &|digest| blobs.get(digest).ok(), &options);
    if path == "-" {
        data(picture.trim_end());
        return Ok(());
    }
    std::fs::write(path, picture)
        .map_err(|error| Failure::usage(format!("cannot write `{path}`: {error}")))?;
    super::say(&format!("drawn into {path}"));
    Ok(())
}

/// Returns what was found of each call; none where the task expects no calls, or the attempt
/// did not end in a way that is judged.
fn findings(
    store: &Store,
    (trial, attempt): (&TrialId, u32),
    records: &[Record],
) -> Result<Option<Findings>, StoreError> {
    let Some(Record::Outcome(end)) = records.last() else { return Ok(None) };
    if end.outcome.is_lost() || matches!(end.outcome, Outcome::Skipped(_)) {
        return Ok(None);
    }
    let blobs = store.blobs();
    let mut tasks = store.config()?.tasks(&blobs)?;
    tasks.retain(|id, _| *id == trial.task);
    let examiners = Examiner::of_run(&tasks, &blobs)?;
    let Some(examiner) = examiners.get(&trial.task) else { return Ok(None) };
    Ok(Some(examiner.examine(store, trial, attempt, end)?.findings))
}

/// Prints the records as they are stored, then in the same form, with `record` for the kind,
/// each verdict with its `judge`, and each annotation.
fn print_json(
    records: &[Record],
    verdicts: &[(String, VerdictRecord)],
    annotations: &[AnnotationRecord],
) {
    for record in records {
        data(&serde_json::to_string(record).unwrap_or_default());
    }
    let print = |kind: &str, value: Value| {
        let mut line = serde_json::Map::new();
        line.insert("record".to_owned(), kind.into());
        if let Value::Object(fields) = value {
            line.extend(fields);
        }
        data(&Value::Object(line).to_string());
    };
    for (judge, verdict) in verdicts {
        let mut value = serde_json::to_value(verdict).unwrap_or_default();
        value["judge"] = judge.as_str().into();
        print("verdict", value);
    }
    for annotation in annotations {
        print("annotation", serde_json::to_value(annotation).unwrap_or_default());
    }
}

/// Returns the verdicts on an attempt, by judge, those of the run's judge first.
fn verdicts(
    args: &ShowArgs,
    store: &Store,
    (trial, attempt): (&TrialId, u32),
) -> Result<Vec<(String, VerdictRecord)>, Failure> {
    let own = store.config()?.judge.name;
    let mut judges = store.judges()?;
    judges.retain(|judge| args.judge.as_ref().is_none_or(|wanted| wanted == judge));
    judges.sort_by_key(|judge| *judge != own);
    let mut verdicts = Vec::new();
    for judge in judges {
        let line = store.last_verdicts(&judge)?.0.remove(&(trial.clone(), attempt));
        verdicts.extend(line.map(|line| (judge, line)));
    }
    Ok(verdicts)
}
