//! `wildgym resume`: goes on with a run that stopped half-way.

use std::num::NonZeroU32;
use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::Args;

use super::cassette::{self, CassetteArgs};
use super::faults::check_tasks;
use super::host::{BROWSERS, open_own_gym, open_suite};
use super::judging::{self, MovedArgs};
use super::network::MovedWebArgs;
use super::offering;
use super::servers::AllowArgs;
use super::start::{self, Job, Shown};
use super::tool_model::ToolMovedArgs;
use super::user_model::UserMovedArgs;
use super::{Code, Failure, program};
use crate::runner;
use crate::store::{Condition, ModelConfig, Store};

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

    /// Attempts that may have pages open at once; others wait, and their time does not count
    #[arg(long, value_name = "COUNT", default_value = BROWSERS)]
    browsers: NonZeroU32,

    /// Base URL of the endpoint, where the model has moved
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Environment variable that holds the endpoint's key, where it is another now
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,

    /// Requests in flight at the endpoint at once [default: the run's]
    #[arg(long, value_name = "COUNT")]
    requests: Option<NonZeroU32>,

    /// How long a request may take, in seconds [default: the run's]
    #[arg(long, value_name = "SECONDS")]
    request_seconds: Option<u64>,

    #[command(flatten)]
    tools: ToolMovedArgs,

    #[command(flatten)]
    user: UserMovedArgs,

    #[command(flatten)]
    judge: MovedArgs,

    #[command(flatten)]
    cassette: CassetteArgs,

    #[command(flatten)]
    web: MovedWebArgs,

    #[command(flatten)]
    servers: AllowArgs,

    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(args: &ResumeArgs) -> Result<Code, Failure> {
    let store = Store::open(&args.run)?;
    let mut config = store.config()?;
    if config.conditions.values().any(Condition::is_held) {
        let run = &args.run;
        return Err(Failure::usage(format!("whoever acts in `{run}` comes from outside")).hint(
            format!("serve anew with `wildgym serve`; `wildgym rejudge {run}` judges what is left"),
        ));
    }
    args.cassette.refuse_unused(config.conditions.values(), &config.judge)?;
    let cassette = args.cassette.open()?;
    cassette::check_same(&config, &args.run, cassette.as_ref())?;
    for model in config.conditions.values_mut().filter_map(|condition| condition.model.as_mut()) {
        args.move_model(model);
    }
    config.conditions.values_mut().try_for_each(|one| args.tools.apply(one))?;
    config.conditions.values_mut().try_for_each(|one| args.user.apply(one))?;
    args.judge.apply(&mut config.judge)?;
    let web = args.web.plan(&mut config.web, &args.run)?;
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
        start::check_model(condition, cassette.as_ref())?;
        program::check(condition)?;
        program::check_same(condition)?;
    }
    check_tasks(&opened, &config.plan.tasks)?;
    for faults in config.conditions.values().filter_map(|condition| condition.faults.as_ref()) {
        runner::pinned_profile(&store, faults).map_err(|error| {
            Failure::usage(format!("run `{}`: {error}", args.run))
                .hint("restore the files of the run, or begin anew with `wildgym run`")
        })?;
    }
    let judge = judging::for_stored(&store, &config, cassette.as_ref())?;
    let servers = args.servers.stored(&config.servers, &opened.suite, &args.run)?;
    let foreign = !servers.is_empty();
    let (mut gym, servers) = open_own_gym(&opened.suite, web, args.browsers, servers)?;
    if let Some((name, was)) =
        config.servers.iter().find(|(name, one)| servers.get(*name) != Some(one))
    {
        let now = servers.get(name).map(|one| one.note(name)).unwrap_or_default();
        return Err(Failure::usage(format!("when the run began, {}; now, {now}", was.note(name)))
            .hint("have it as it was, or begin anew with `wildgym run`"));
    }
    if gym.catalog.names() != config.tools.names
        || store.blobs().put_json(gym.schemas.as_ref())? != config.tools.schemas
    {
        if foreign {
            return Err(Failure::usage(
                "the foreign servers, or this version of wildgym, offer other tools than the run \
                 began with",
            )
            .hint("start the servers as they were, or begin anew"));
        }
        return Err(Failure::usage(
            "this version of wildgym offers other tools than the run began with",
        )
        .hint(format!("resume with wildgym {}, or begin anew", config.wildgym)));
    }
    offering::again(&mut gym, &config, &store.blobs())?;
    let (gym, concurrency) = (Arc::new(gym), args.concurrency.get() as usize);
    start::go(Job { gym, store, config, judge, lock, concurrency, cassette }, &args.shown)
}

impl ResumeArgs {
    /// Applies what does not move a score: where the model is and how fast it is asked.
    fn move_model(&self, model: &mut ModelConfig) {
        if let Some(url) = &self.base_url {
            model.base_url.clone_from(url);
        }
        if let Some(name) = &self.api_key_env {
            model.key_env.clone_from(name);
        }
        if let Some(requests) = self.requests {
            model.requests = requests.get();
        }
        if let Some(seconds) = self.request_seconds {
            model.request_seconds = seconds;
        }
    }
}
