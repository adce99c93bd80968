//! `wildgym worker`: the life of a parser process.

use clap::Args;

use super::{Code, Failure};

/// Parse foreign files on standard input; started by wildgym itself
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct WorkerArgs {}

pub(super) fn run(_args: &WorkerArgs) -> Result<Code, Failure> {
    wildgym_sandbox::worker::serve()
        .map_err(|error| Failure::usage(format!("the worker stopped: {error}")))?;
    Ok(Code::Done)
}
