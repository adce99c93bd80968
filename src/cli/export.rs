//! `wildgym export`: trajectories for other programs.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::judging::BAD_LINE;
use super::{Code, Failure, LEFT_OUT, data, report, say, say_damaged, show};
use crate::report::messages;
use crate::store::{Store, Stored};

/// Write the trajectories of a run to stdout, a JSON object a line
///
/// Of a run that a server kept, every episode that was not lost is written; of others, the attempt
/// that counts of each trial. An attempt whose transcript cannot be read is left out and named, and the exit code is 1.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Form of the lines: OpenAI-style messages with tool calls, schemas, outcome and verdict
    #[arg(long, value_enum, default_value = "messages")]
    format: Format,

    /// Take the verdicts of this judge, by the name of its file in `verdicts/`
    /// [default: the run's judge]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// OpenAI-style messages
    Messages,
}

pub(super) fn run(args: &ExportArgs) -> Result<Code, Failure> {
    let store = Store::open(&args.run)?;
    let config = store.config()?;
    let blobs = store.blobs();
    let read = |digest: &str| -> Result<Vec<Value>, Failure> {
        serde_json::from_slice(&blobs.get(digest)?).map_err(|error| {
            Failure::usage(format!("the stored tool schemas are damaged: {error}"))
        })
    };
    let schemas = read(&config.tools.schemas)?;
    let mut told: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (name, condition) in &config.conditions {
        let own = condition.offering.as_ref().map(|offering| &offering.schemas);
        if let Some(digest) = own.filter(|digest| !digest.is_empty()) {
            told.insert(name, read(digest)?);
        }
    }
    if let Some(name) = &args.judge {
        report::check_judge(&store, name)?;
    }
    let judge = args.judge.as_deref().unwrap_or(&config.judge.name);
    let (verdicts, bad_lines) = store.last_verdicts(judge)?;
    say_damaged(&bad_lines, BAD_LINE);
    match args.format {
        Format::Messages => {}
    }
    let index = store.survey()?;
    let is_served = show::is_served(&store)?;
    say_damaged(&index.damaged, LEFT_OUT);
    let mut whole = bad_lines.is_empty() && index.damaged.is_empty();
    let mut written = 0_u64;
    for (trial, known) in &index.trials {
        let ended = |stored: &&Stored| !stored.outcome().is_lost();
        let counted: Vec<&Stored> = if is_served {
            known.attempts.iter().filter(ended).collect()
        } else {
            known.counted().into_iter().collect()
        };
        for stored in counted {
            let records = match store.records(trial, stored.attempt) {
                Ok(records) => records,
                Err(error) if error.is_damage() => {
                    say(&format!("{error}; {LEFT_OUT}"));
                    whole = false;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let verdict = verdicts.get(&(trial.clone(), stored.attempt));
            let verdict = verdict.map(|verdict| verdict.verdict);
            let schemas = told.get(&*trial.condition).unwrap_or(&schemas);
            let line = messages(&records, verdict, &|digest| blobs.get(digest).ok(), schemas);
            data(&line.to_string());
            written += 1;
        }
    }
    if written == 0 {
        let root = store.root();
        say(&format!(
            "nothing was written: no attempt is kept that came to an end of its own; \
             `wildgym show {root}` lists what there is"
        ));
    }
    Ok(if whole { Code::Done } else { Code::Incomplete })
}
