//! `wildgym serve`: the sandboxes of a suite, for programs that act in them from outside.

mod free;
mod held;
mod http;
mod mcp;
mod world;

use clap::{Args, Subcommand};

use super::{Code, Failure};

/// Let other programs act in a suite's sandboxes
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(subcommand)]
    command: ServeCommand,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    Http(Box<http::HttpArgs>),
    Mcp(Box<mcp::McpArgs>),
    World(world::WorldArgs),
}

pub(super) fn run(args: &ServeArgs) -> Result<Code, Failure> {
    match &args.command {
        ServeCommand::Http(args) => http::run(args),
        ServeCommand::Mcp(args) => mcp::run(args),
        ServeCommand::World(args) => world::run(args),
    }
}
