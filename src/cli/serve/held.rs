//! What every server of a suite is told, and the run that it keeps its attempts in.

use std::num::NonZeroU32;
use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::Args;
use wildgym_tasks::environment::BrowserMode;
use wildgym_tasks::{Factor, Variant};

use super::super::faults::{Chosen, check_tasks};
use super::super::host::{BROWSERS, open_own_gym, open_suite};
use super::super::judging::{self, JudgeArgs};
use super::super::network::{self, WebArgs};
use super::super::pin::{self, LimitArgs, Pinned};
use super::super::run::{self, Selection};
use super::super::servers::ServerArgs;
use super::super::tool_model::ToolModelArgs;
use super::super::{Failure, start};
use crate::agent::{Answers, Asking};
use crate::judge::Judge;
use crate::model::Model;
use crate::runner::{Attempt, Gym};
use crate::store::{Condition, Lock, Plan, RunConfig, Store};

/// The suite that is served, and the run that keeps what is done in it.
#[derive(Debug, Args)]
pub(super) struct HeldArgs {
    /// Suite to serve: the name of a built-in one, or a folder with a `suite.toml`
    pub(super) suite: String,

    /// Tasks to serve, as a glob over task ids
    #[arg(long, value_name = "PATTERN", visible_alias = "task")]
    tasks: Option<String>,

    /// Serve only the tasks of a subset of the suite, such as `smoke`
    #[arg(long, value_name = "NAME")]
    subset: Option<String>,

    /// Seed of the run: together with an episode's own seed every random number follows from it
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    pub(super) seed: u64,

    /// Attempts that may have pages open at once; others wait, and their time does not count
    #[arg(long, value_name = "COUNT", default_value = BROWSERS)]
    pub(super) browsers: NonZeroU32,

    /// Faults that calls meet beside those of their tasks: a profile of `wildgym faults`, or a
    /// TOML file; runs with another seed meet others
    #[arg(long, value_name = "PROFILE[:SEED]")]
    pub(super) faults: Option<Chosen>,

    #[command(flatten)]
    pub(super) tools: ToolModelArgs,

    #[command(flatten)]
    pub(super) servers: ServerArgs,

    #[command(flatten)]
    judge: JudgeArgs,

    #[command(flatten)]
    pub(super) web: WebArgs,

    #[command(flatten)]
    limits: LimitArgs,

    /// Directory that holds runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(super) runs_dir: Utf8PathBuf,

    /// Name of the run's directory [default: <time>-<suite>-<server>]
    #[arg(long)]
    name: Option<String>,
}

/// Makes who answers the questions of an attempt's tools.
pub(super) type MakeAnswers = dyn Fn(&Attempt) -> Option<Arc<dyn Answers>> + Send + Sync;

/// A run whose attempts are held open from outside.
pub(super) struct Held {
    /// The suite with its sandboxes.
    pub(super) gym: Arc<Gym>,
    /// Where it is kept.
    pub(super) store: Store,
    /// Its configuration, with one condition.
    pub(super) config: Arc<RunConfig>,
    /// Its judge.
    pub(super) judge: Judge,
    /// Who answers tools.
    pub(super) answers: Arc<MakeAnswers>,
    /// The writer's lock.
    pub(super) lock: Lock,
}

impl HeldArgs {
    /// Returns whether tasks are named.
    pub(super) fn names_tasks(&self) -> bool {
        self.tasks.is_some() || self.subset.is_some()
    }

    /// Opens the suite and makes the run, under a condition of this name, with `k` trials of
    /// each task in a variant.
    pub(super) fn open(&self, label: &str, k: u32, variant: Variant) -> Result<Held, Failure> {
        let opened = open_suite(&self.suite)?;
        let (tasks, subset) = (self.tasks.as_deref(), self.subset.as_deref());
        let selection = Selection { tasks, subset, limit: None };
        let tasks = run::selected(&opened.suite, selection, |_| true)?;
        check_tasks(&opened, &tasks)?;
        let web = self.web.plan(&opened.suite)?;
        let condition = self.condition(label)?;
        let judged = self.judge.config(None)?;
        start::check_model(&condition, None)?;
        let answers = answers(&condition)?;
        let judge = judging::checked(&judged, None)?;
        let pinned = web.config.clone();
        let servers = self.servers.plan(&opened.suite, &tasks)?;
        let (gym, servers) = open_own_gym(&opened.suite, web, self.browsers, servers)?;
        network::refuse_unsuited(&gym, &tasks)?;
        let name = &opened.suite.meta.name;
        let root = run::root(self.name.as_deref(), &self.runs_dir, name, label)?;
        // Any variant may be asked for; reports cover this one.
        let every = Variant::all_of(&Factor::ALL.into_iter().collect());
        let (store, lock, config) = Store::create(&root, |blobs| {
            if let Some(faults) = &self.faults {
                blobs.put(faults.profile.text().as_bytes())?;
            }
            let flags = Pinned { k, seed: self.seed, limits: &self.limits };
            let agent = [(label.to_owned(), condition)].into();
            let config = pin::config(flags, &opened, (tasks, every), (agent, judged), &gym, blobs)?;
            let plan = Plan { variants: vec![variant], ..config.plan };
            Ok(RunConfig { plan, web: pinned, servers, ..config })
        })?;
        let gym = Arc::new(gym);
        Ok(Held { gym, store, config: Arc::new(config), judge, answers, lock })
    }

    /// Returns the condition: nobody of ours acts, but models may answer tools.
    fn condition(&self, label: &str) -> Result<Condition, Failure> {
        let tool_model = self.tools.model(None)?;
        Ok(Condition {
            text_only: self.tools.text_only(),
            hears: self.tools.hears(),
            speech_model: self.tools.speech(tool_model.as_ref()),
            browser: self.tools.browser.map(BrowserMode::from),
            tool_model,
            faults: self.faults.as_ref().map(Chosen::config),
            ..Condition::of(label)
        })
    }
}

/// Returns what makes who answers tools.
fn answers(condition: &Condition) -> Result<Arc<MakeAnswers>, Failure> {
    let open = |config| start::client(config, None);
    let model: Option<Model> = condition.tool_model.as_ref().map(open).transpose()?;
    let speech: Option<Model> = condition.speech_model.as_ref().map(open).transpose()?;
    let (blind, hears) = (condition.text_only, condition.hears);
    Ok(Arc::new(move |attempt: &Attempt| {
        if model.is_none() && speech.is_none() {
            return None;
        }
        let (name, attempt) = (attempt.trial.to_string(), attempt.attempt);
        let asking = Asking::new(model.clone(), name, attempt, blind)
            .hearing(hears)
            .transcribed_by(speech.clone());
        Some(Arc::new(asking) as Arc<dyn Answers>)
    }))
}
