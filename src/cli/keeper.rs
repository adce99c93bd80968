//! `wildgym keeper`: the life of what ends a browser when the gym is gone.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{Code, Failure};

/// Keep a browser until the gym ends; started by wildgym itself
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct KeeperArgs {
    /// File that the program's errors go to
    errors: PathBuf,

    /// Program to start
    program: OsString,

    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(super) fn run(args: &KeeperArgs) -> Result<Code, Failure> {
    wildgym_sandbox::browser::keep(&args.errors, &args.program, &args.arguments)
        .map_err(|error| Failure::usage(format!("the keeper stopped: {error}")))?;
    Ok(Code::Done)
}
