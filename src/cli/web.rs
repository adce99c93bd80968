//! `wildgym web`: the hermetic web of a suite, for those who write it.

mod check;
mod serve;

use std::sync::Arc;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use wildgym_sandbox::web::Hermetic;
use wildgym_tasks::Suite;

use super::host::open_suite;
use super::{Code, Failure, environment};

/// Browse and check the web of a suite
#[derive(Debug, Args)]
pub(super) struct WebArgs {
    #[command(subcommand)]
    command: WebCommand,
}

#[derive(Debug, Subcommand)]
enum WebCommand {
    Serve(serve::ServeArgs),
    Check(check::CheckArgs),
}

pub(super) fn run(args: &WebArgs) -> Result<Code, Failure> {
    match &args.command {
        WebCommand::Serve(args) => serve::run(args),
        WebCommand::Check(args) => check::run(args),
    }
}

/// Opens a suite and its web.
fn open(named: &str) -> Result<(Arc<Suite>, Arc<Hermetic>), Failure> {
    let suite = open_suite(named)?.suite;
    if suite.sites.is_empty() {
        return Err(Failure::usage(format!("suite `{named}` has no sites"))
            .hint("a site is a folder `sites/<host>/` with a `site.toml`; see `wildgym tasks schema site.toml`"));
    }
    let web = Hermetic::open(&suite.sites, &environment::cache()?)
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok((suite, Arc::new(web)))
}

/// Returns the logical time at which the latest task begins.
fn latest(suite: &Suite) -> Timestamp {
    suite.tasks.values().map(|task| task.meta.now).max().unwrap_or_else(Timestamp::now)
}
