//! Sandboxes without a task: the tools over the web of a suite, the operations of a world, or
//! both.

use std::sync::{Arc, Mutex};

use clap::Args;
use jiff::Timestamp;
use wildgym_sandbox::browser::Browser;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::world::Blueprint;
use wildgym_sandbox::{Clock, Host, Sandbox, Seed};
use wildgym_tasks::environment::BrowserMode;
use wildgym_tasks::world::Scene;
use wildgym_toolbox::{Ask, Bounds, Catalog, Interceptor, Toolbox};

use super::super::faults::Chosen;
use super::super::host::{catalog, open_host_for, open_suite};
use super::super::{Failure, start, world};
use super::held::HeldArgs;
use crate::agent::Asking;
use crate::fault::Injector;
use crate::model::Model;
use crate::runner::Network;
use crate::store::ModelConfig;

/// What a sandbox without a task offers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sandboxes without a task")]
pub(super) struct FreeArgs {
    /// World whose operations are offered too: its name, SUITE/WORLD, or its folder
    #[arg(long, value_name = "WORLD", conflicts_with_all = ["tasks", "subset"])]
    world: Option<String>,

    /// Number from which the chances of the world's `seed.sql` are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0", requires = "world")]
    world_seed: u64,

    /// Offer the operations of the world alone, without the other tools
    #[arg(long, requires = "world")]
    world_only: bool,
}

/// Makes sandboxes without a task.
pub(super) struct Free {
    host: Arc<Host>,
    network: Network,
    blueprint: Option<Blueprint>,
    /// What is offered.
    pub(super) catalog: Arc<Catalog>,
    /// The models that answer tools, and that write down what is said.
    models: (Option<Model>, Option<Model>),
    blind: bool,
    hears: bool,
    seed: u64,
    /// The faults that calls meet.
    faults: Option<Chosen>,
}

/// 2026-01-01T09:00:00Z, in seconds.
const USUAL: i64 = 1_767_258_000;

impl Free {
    /// Opens what all sandboxes share.
    pub(super) fn open(held: &HeldArgs, args: &FreeArgs) -> Result<Self, Failure> {
        let opened = open_suite(&held.suite)?;
        let blueprint = args.world.as_deref().map(|named| world::make(named, args.world_seed));
        let blueprint = blueprint.transpose()?;
        let mode = held.tools.browser.map(BrowserMode::from).unwrap_or_default();
        let own = if args.world_only { Catalog::default() } else { catalog()?.offered(mode) };
        let all = match &blueprint {
            None => Ok(own),
            Some(blueprint) => {
                Catalog::of_world(blueprint.world()).and_then(|more| own.with(&more))
            }
        };
        let all = all.map_err(|error| Failure::usage(error.to_string()))?;
        let answers = held.tools.model(None)?;
        let speech = held.tools.speech(answers.as_ref());
        let open = |config: Option<&ModelConfig>| {
            let Some(config) = config else { return Ok(None) };
            start::check_endpoint(config, None)?;
            start::client(config, None).map(Some)
        };
        Ok(Self {
            models: (open(answers.as_ref())?, open(speech.as_ref())?),
            network: held.web.plan(&opened.suite)?.open(&opened.suite)?,
            host: open_host_for(held.browsers)?,
            blueprint,
            catalog: Arc::new(all),
            blind: held.tools.text_only(),
            hears: held.tools.hears(),
            seed: held.seed,
            faults: held.faults.clone(),
        })
    }

    /// Returns what all sandboxes share of this process.
    pub(super) fn host(&self) -> Arc<Host> {
        Arc::clone(&self.host)
    }

    /// Makes the sandbox of that number, from 1.
    pub(super) fn make(&self, number: u32) -> Result<Arc<Toolbox>, String> {
        let who = format!("mcp/free/full/{number}");
        let own = self.blueprint.as_ref().map(|made| made.world().meta.now);
        let own =
            own.unwrap_or_else(|| Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(USUAL));
        let (web, now) = self.network.by_hand(&who, own);
        let seed = Seed::of_run(self.seed).child("free", u64::from(number));
        let workspace = Arc::new(Workspace::create(&self.host.scratch, Quota::default()));
        let browser = web.as_ref().map(|web| {
            let browsers = self.host.browsers.clone();
            let timeless = self.network.is_timeless();
            Browser::new(browsers, web.clone(), Arc::clone(&workspace), timeless)
        });
        let scene =
            |made: &Blueprint| Scene { name: made.world().meta.name.clone(), ..Scene::default() };
        let world = self.blueprint.as_ref().map(|made| made.open(scene(made), now, seed));
        let world = world.transpose().map_err(|error| error.to_string())?;
        let sandbox = Sandbox {
            host: Arc::clone(&self.host),
            workspace,
            web,
            browser,
            world: world.map(Mutex::new),
            clock: Clock::starting_at(now),
            seed,
        };
        let work = Arc::new(WorkClock::default());
        let (catalog, bounds) = (Arc::clone(&self.catalog), Bounds::default());
        let injector = |chosen: &Chosen| -> Arc<dyn Interceptor> {
            let root = seed.child("faults", chosen.seed);
            Arc::new(Injector::new(Arc::new(chosen.profile.clone()), root))
        };
        let faults = self.faults.iter().map(injector).collect();
        let toolbox = Toolbox::new(Arc::new(sandbox), catalog, faults, bounds, work);
        Ok(Arc::new(toolbox.answered_by(self.ask(who))))
    }

    fn ask(&self, who: String) -> Option<Arc<dyn Ask>> {
        let (model, speech) = &self.models;
        if model.is_none() && speech.is_none() {
            return None;
        }
        let asking = Asking::new(model.clone(), who, 1, self.blind)
            .hearing(self.hears)
            .transcribed_by(speech.clone());
        Some(Arc::new(asking))
    }
}
