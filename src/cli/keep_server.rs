//! `wildgym keep-server`: the life of what ends a foreign server when its time is over.

use std::ffi::OsString;

use clap::Args;

use super::{Code, Failure};

/// Keep a foreign server until the gym ends; started by wildgym itself
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct KeepServerArgs {
    /// Keep it until the process of this number ends, which started this one, and without
    /// limits of its own
    #[arg(long, value_name = "PID")]
    of: Option<u32>,

    /// Program to start
    program: OsString,

    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Ends with the server's status.
#[expect(clippy::exit, reason = "who started it reads the server's own status")]
pub(super) fn run(args: &KeepServerArgs) -> Result<Code, Failure> {
    let kept = match args.of {
        Some(of) => wildgym_sandbox::servers::keep_beside(of, &args.program, &args.arguments),
        None => wildgym_sandbox::servers::keep(&args.program, &args.arguments),
    };
    match kept {
        Ok(status) => std::process::exit(status),
        Err(error) => Err(Failure::usage(format!("the keeper stopped: {error}"))),
    }
}
