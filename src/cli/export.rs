//! `wildgym export`: trajectories for other programs.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::{Code, Failure, data};
use crate::report;
use crate::store::Store;

/// Write the trajectories of a run to stdout, a JSON object a line
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Form of the lines: OpenAI-style messages with tool calls, schemas, outcome and verdict
    #[arg(long, value_enum, default_value = "messages")]
    format: Format,
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
    let schemas: Vec<serde_json::Value> =
        serde_json::from_slice(&blobs.get(&config.tools.schemas)?).map_err(|error| {
            Failure::usage(format!("the stored tool schemas are damaged: {error}"))
        })?;
    let verdicts = store.last_verdicts(&config.judge.name)?;
    match args.format {
        Format::Messages => {}
    }
    for (trial, known) in &store.index()?.trials {
        let Some(stored) = known.counted() else { continue };
        let records = store.records(trial, stored.attempt)?;
        let verdict = verdicts.get(&(trial.clone(), stored.attempt));
        let verdict = verdict.map(|verdict| verdict.verdict);
        let line = report::messages(&records, verdict, &|digest| blobs.get(digest).ok(), &schemas);
        data(&line.to_string());
    }
    Ok(Code::Done)
}
