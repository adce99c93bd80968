//! `wildgym keeper`: the life of what ends a browser, or a guest, when the gym is gone.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{Code, Failure};

/// The exit status where the guest's own is unknown.
const UNKNOWN: i32 = 255;

/// Keep a browser or a guest until the gym ends; started by wildgym itself
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct KeeperArgs {
    /// Keep a guest, which has this process's standard input and output, and end with its
    /// exit status
    #[arg(long)]
    guest: bool,

    /// File that the program's errors go to
    errors: PathBuf,

    /// Program to start
    program: OsString,

    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(super) fn run(args: &KeeperArgs) -> Result<Code, Failure> {
    let stopped = |error: std::io::Error| Failure::usage(format!("the keeper stopped: {error}"));
    if args.guest {
        let kept = wildgym_sandbox::guest::keep_guest(&args.errors, &args.program, &args.arguments);
        leave(kept.map_err(stopped)?.unwrap_or(UNKNOWN));
    }
    wildgym_sandbox::browser::keep(&args.errors, &args.program, &args.arguments)
        .map_err(stopped)?;
    Ok(Code::Done)
}

/// Ends with a guest's own exit status.
#[expect(clippy::exit, reason = "the status is the guest's, not one of this program's")]
fn leave(status: i32) -> ! {
    std::process::exit(status)
}
