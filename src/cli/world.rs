//! `wildgym world`: worlds and their states, for those who write and read them.

mod call;
mod check;
mod diff;
mod open;
mod shell;
mod show;

use clap::{Args, Subcommand};

use super::{Code, Failure};

pub(super) use open::{StateArgs, load, make};

/// Check, show and try worlds; look into states
#[derive(Debug, Args)]
pub(super) struct WorldArgs {
    #[command(subcommand)]
    command: WorldCommand,
}

#[derive(Debug, Subcommand)]
enum WorldCommand {
    Check(check::CheckArgs),
    Show(show::ShowArgs),
    Call(Box<call::CallArgs>),
    Diff(diff::DiffArgs),
    Shell(shell::ShellArgs),
}

pub(super) fn run(args: &WorldArgs) -> Result<Code, Failure> {
    match &args.command {
        WorldCommand::Check(args) => check::run(args),
        WorldCommand::Show(args) => show::run(args),
        WorldCommand::Call(args) => call::run(args),
        WorldCommand::Diff(args) => diff::run(args),
        WorldCommand::Shell(args) => shell::run(args),
    }
}
