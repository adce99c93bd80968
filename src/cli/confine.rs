//! `wildgym confine`: the first life of a foreign program's process.

use std::ffi::OsString;

use clap::Args;

use super::{Code, Failure};

/// Become a foreign program with next to no rights; started by wildgym itself
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct ConfineArgs {
    /// What it may keep, as JSON
    confinement: String,

    /// Program to become [default: none; what cannot be done is tried and told]
    program: Option<OsString>,

    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(super) fn run(args: &ConfineArgs) -> Result<Code, Failure> {
    wildgym_sandbox::programs::confine(&args.confinement, args.program.as_deref(), &args.arguments)
        .map_err(|error| Failure::usage(format!("the program was not started: {error}")))?;
    Ok(Code::Done)
}
