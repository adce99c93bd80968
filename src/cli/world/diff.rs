//! `wildgym world diff`: what differs between two states.

use camino::Utf8PathBuf;
use clap::Args;
use serde_json::json;
use wildgym_sandbox::world::Pair;

use super::super::{Code, Failure, data, say};
use super::open::{left, state_of};

/// Show what differs between two states, row by row
///
/// States are files, as `wildgym world call … --save FILE` writes them, or worlds, which
/// stand for their state at the start. With `--run` they are trials: of one its start and its
/// end are compared, of two their ends.
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// State before: a file or a world; with `--run` a trial, as for `wildgym show`
    before: String,

    /// State after: a file or a world; with `--run` another trial, or nothing
    after: Option<String>,

    /// Directory of a run, whose trials are then named
    #[arg(long, value_name = "RUN")]
    run: Option<Utf8PathBuf>,

    /// Attempt at the first trial [default: the one that counts, else the last]
    #[arg(long, value_name = "NUMBER", requires = "run")]
    attempt: Option<u32>,

    /// Number from which the chances of a world's `seed.sql` are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    /// Check this assertion too, the first state being the start; may be given several times
    #[arg(long, value_name = "TEXT")]
    check: Vec<String>,

    /// Print the difference, and what became of assertions, as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &DiffArgs) -> Result<Code, Failure> {
    let pair = open(args)?;
    let difference = pair.difference().map_err(|error| Failure::usage(error.to_string()))?;
    let findings: Result<Vec<_>, _> = args.check.iter().map(|text| pair.check(text)).collect();
    let findings = findings.map_err(Failure::usage)?;
    if args.json {
        let mut value = json!(difference);
        if !findings.is_empty() {
            value["assertions"] = json!(findings);
        }
        data(&serde_json::to_string_pretty(&value).unwrap_or_default());
    } else {
        data(&crate::report::visible(&difference.to_string()));
        for finding in &findings {
            let reason = finding.reason.as_deref().unwrap_or("it holds");
            data(&format!("{}: {reason}", finding.assertion));
        }
    }
    Ok(if findings.iter().all(|finding| finding.holds) { Code::Done } else { Code::Incomplete })
}

/// Opens the two states beside each other.
fn open(args: &DiffArgs) -> Result<Pair, Failure> {
    let wrong = |error: wildgym_sandbox::world::WorldError| {
        Failure::usage(format!("the states cannot be compared: {error}"))
    };
    let Some(run) = &args.run else {
        let Some(after) = &args.after else {
            return Err(Failure::usage("one state differs from nothing")
                .hint("name two, or a run with `--run RUN` whose trial has a start and an end"));
        };
        let (before, _) = state_of(&args.before, args.seed)?;
        let (after, now) = state_of(after, args.seed)?;
        return Pair::open(&before, &after, now).map_err(wrong);
    };
    let first = left(run, &args.before, args.attempt)?;
    let blobs = first.store.blobs();
    match &args.after {
        None => {
            say(&format!("{}: from its start to its end", first.named));
            Ok(blobs.states(&first.state, first.now)?)
        }
        Some(other) => {
            let second = left(run, other, None)?;
            say(&format!("from the end of {} to that of {}", first.named, second.named));
            let (before, after) = (blobs.get(&first.state.end)?, blobs.get(&second.state.end)?);
            Pair::open(&before, &after, second.now).map_err(wrong)
        }
    }
}
