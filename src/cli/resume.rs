//! `wildgym resume`: goes on with a run that stopped half-way.

use std::num::NonZeroU32;

use camino::Utf8PathBuf;
use clap::Args;

use super::host::{open_gym, open_suite};
use super::start::{self, Job, Shown};
use super::{Code, Failure};
use crate::store::Store;

/// Go on with a run: keep what is finished, attempt the rest
///
/// Finished attempts and their verdicts are never touched. A suite that changed since
/// the run began is refused, for its scores could not be added to the old ones.
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Attempts at once
    #[arg(long, value_name = "COUNT", default_value = "8")]
    concurrency: NonZeroU32,

    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(args: &ResumeArgs) -> Result<Code, Failure> {
    let store = Store::open(&args.run)?;
    let config = store.config()?;
    let lock = store.lock()?;
    let opened = open_suite(&config.suite.source)?;
    if opened.suite.digest != config.suite.digest {
        return Err(Failure::usage(format!(
            "suite `{}` is not the one that `{}` began with: its files have digest {}, not {}",
            config.suite.name, args.run, opened.suite.digest, config.suite.digest
        ))
        .hint("restore those files, or begin anew with `wildgym run`"));
    }
    for condition in config.conditions.values() {
        start::check_model(condition)?;
    }
    let gym = open_gym(&opened.suite)?;
    let names: Vec<&str> = gym.catalog.iter().map(|entry| entry.tool.name()).collect();
    if names != config.tools.names
        || store.blobs().put_json(gym.schemas.as_ref())? != config.tools.schemas
    {
        return Err(Failure::usage(
            "this version of wildgym offers other tools than the run began with",
        )
        .hint(format!("resume with wildgym {}, or begin anew", config.wildgym)));
    }
    let concurrency = args.concurrency.get() as usize;
    start::go(Job { gym, store, config, lock, concurrency }, &args.shown)
}
