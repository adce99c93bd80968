//! From a suite and a trial to a sandbox and a toolbox.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use wildgym_sandbox::browser::Browser;
use wildgym_sandbox::web::HermeticError;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::workspace::{Quota, Workspace, WorkspaceError};
use wildgym_sandbox::world::WorldError;
use wildgym_sandbox::{Clock, Engines, Host, Sandbox};
use wildgym_tasks::environment::BrowserMode;
use wildgym_tasks::{Suite, Task, Variant};
use wildgym_toolbox::catalog::BadTool;
use wildgym_toolbox::foreign::ServerError;
use wildgym_toolbox::tools::ask_user::Person;
use wildgym_toolbox::{Ask, Bounds, Catalog, Interceptor, Toolbox, schema};

use crate::agent::Request;
use crate::model::Offered;
use crate::record::TrialId;
use crate::store::{RunConfig, Store};

use super::faults;
use super::injected::Injected;
use super::needs::{Lacking, lacking};
use super::network::{Network, View};
use super::offering::Presented;
use super::plan::seed_of;
use super::servers::Servers;
use super::worlds::{Worlds, WorldsError};

/// Why a sandbox could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The suite has no such task.
    #[error("the suite has no task `{0}`")]
    NoTask(String),
    /// The variant cannot be composed.
    #[error("variant `{variant}` of task `{task}`: {reason}")]
    Variant {
        /// The task.
        task: String,
        /// The variant.
        variant: Variant,
        /// What does not compose.
        reason: String,
    },
    /// The faults that calls are to meet cannot be had.
    #[error("the faults cannot be had: {0}")]
    Faults(String),
    /// The sites cannot be served.
    #[error("the hermetic web cannot be opened: {0}")]
    Web(#[from] HermeticError),
    /// The texts of a condition's tools are not there.
    #[error("the texts of tools with digest `{0}` are not there")]
    NoWording(String),
    /// The worlds cannot be used.
    #[error(transparent)]
    Worlds(#[from] WorldsError),
    /// A foreign server cannot be used.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Tools cannot be offered together.
    #[error(transparent)]
    Tool(#[from] BadTool),
    /// The copy of a world cannot be opened.
    #[error("the world cannot be opened: {0}")]
    World(#[from] WorldError),
    /// The workspace cannot be made.
    #[error("the workspace cannot be made: {0}")]
    Workspace(#[from] WorkspaceError),
    /// The scratch directory cannot be used.
    #[error("the workspace cannot be made: {0}")]
    Scratch(#[from] std::io::Error),
}

/// Who answers questions of one kind; nobody, where none is given.
type Answerer = Option<Arc<dyn Ask>>;

/// Everything that attempts of one suite share.
pub struct Gym {
    /// What all attempts of the process share.
    pub host: Arc<Host>,
    /// The suite.
    pub suite: Arc<Suite>,
    /// All tools: those of the program, then the operations of the suite's worlds.
    pub catalog: Arc<Catalog>,
    /// Their schemas in `OpenAI` form.
    pub schemas: Arc<Vec<Value>>,
    /// What agents are offered, by task and by how pages are offered.
    offers: BTreeMap<(String, BrowserMode), Offer>,
    /// What watches and changes calls.
    pub interceptors: Vec<Arc<dyn Interceptor>>,
    /// The network that trials see.
    pub network: Network,
    /// The worlds that trials get copies of.
    pub(super) worlds: Worlds,
    /// How conditions offer tools that vary it, by name.
    pub(super) presented: BTreeMap<String, Presented>,
    /// The foreign servers that trials get their own of.
    servers: Servers,
}

impl std::fmt::Debug for Gym {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gym").field("suite", &self.suite.meta.name).finish_non_exhaustive()
    }
}

/// The tools that agents are offered.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The tools.
    pub catalog: Arc<Catalog>,
    /// Their schemas in `OpenAI` form.
    pub schemas: Arc<Vec<Value>>,
    /// The same, as a model is told of them.
    pub offered: Arc<Offered>,
}

impl Offer {
    pub(super) fn of(catalog: Catalog) -> Self {
        let schemas: Arc<Vec<Value>> = Arc::new(catalog.iter().map(schema::openai).collect());
        let offered = Arc::new(Offered::new(&schemas));
        Self { catalog: Arc::new(catalog), schemas, offered }
    }
}

/// A sandbox with its toolbox and what the agent is asked in it.
#[derive(Debug)]
pub struct Built {
    /// What is asked.
    pub request: Request,
    /// What can be called.
    pub toolbox: Arc<Toolbox>,
    /// The attempt's working time.
    pub work: Arc<WorkClock>,
}

impl Gym {
    /// Opens a suite over its own sites; their search index is kept below `cache`.
    pub fn open(
        host: Arc<Host>,
        suite: Arc<Suite>,
        catalog: Arc<Catalog>,
        interceptors: Vec<Arc<dyn Interceptor>>,
        cache: &Utf8Path,
    ) -> Result<Self, BuildError> {
        let network = Network::hermetic(&suite, cache)?;
        Self::over(network, host, suite, catalog, interceptors)
    }

    /// Opens a suite over some network; `catalog` holds the tools of the program.
    pub fn over(
        network: Network,
        host: Arc<Host>,
        suite: Arc<Suite>,
        catalog: Arc<Catalog>,
        interceptors: Vec<Arc<dyn Interceptor>>,
    ) -> Result<Self, BuildError> {
        let worlds = Worlds::make(&suite)?;
        let servers = Servers::default();
        let offers = offers(&suite, &catalog, &worlds, &servers)?;
        let own = Arc::unwrap_or_clone(catalog);
        let mut catalog = worlds.operations().fold(own, |all, more| all.beside(more));
        if suite.tasks.values().any(|task| task.scenario_file.is_some()) {
            catalog = catalog.beside(&Catalog::conversation().map_err(WorldsError::from)?);
        }
        let Offer { catalog, schemas, .. } = Offer::of(catalog);
        let presented = BTreeMap::new();
        let gym = Self {
            host,
            suite,
            catalog,
            schemas,
            offers,
            interceptors,
            network,
            worlds,
            presented,
            servers,
        };
        Ok(gym)
    }

    /// Offers the tools of foreign servers too; `catalog` holds the tools of the program.
    pub fn with_servers(self, servers: Servers, catalog: &Catalog) -> Result<Self, BuildError> {
        let offers = offers(&self.suite, catalog, &self.worlds, &servers)?;
        let all = Arc::unwrap_or_clone(self.catalog);
        let all = all.with(&servers.catalog()?)?;
        let Offer { catalog, schemas, .. } = Offer::of(all);
        Ok(Self { catalog, schemas, offers, servers, ..self })
    }

    /// Returns the foreign servers.
    #[must_use]
    pub fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Returns how pages are offered at a task: as `browser` says, which is the condition's
    /// word, else as the task does.
    #[must_use]
    pub fn mode(&self, task: &str, browser: Option<BrowserMode>) -> BrowserMode {
        let own = || self.suite.tasks.get(task).and_then(|task| task.meta.environment.browser);
        browser.or_else(own).unwrap_or_default()
    }

    /// Returns the tools that agents are offered at a task where no condition varies it.
    pub fn offer(&self, task: &str, mode: BrowserMode) -> Result<&Offer, BuildError> {
        let known = self.offers.get(&(task.to_owned(), mode));
        known.ok_or_else(|| BuildError::NoTask(task.to_owned()))
    }

    /// Returns the task of a trial.
    pub fn task(&self, id: &str) -> Result<&Task, BuildError> {
        self.suite.tasks.get(id).ok_or_else(|| BuildError::NoTask(id.to_owned()))
    }

    /// Returns what a task needs and neither this machine nor whoever answers tools has.
    #[must_use]
    pub fn lacks(&self, task: &str, answers: Option<&dyn Ask>) -> Option<Lacking> {
        let needs = &self.suite.tasks.get(task)?.meta.environment.needs;
        lacking(needs, Engines::of(&self.host.programs), answers)
    }

    /// Makes the sandbox of a trial, with its attachments in place. `mode` is how
    /// pages are offered; `ask` answers the questions of tools, and `person` plays the one who
    /// gave the task, where a model does. What spoils calls comes from the task and from the
    /// trial's condition, whose profile lies in the store.
    pub fn build(
        &self,
        trial: &TrialId,
        (config, store): (&RunConfig, &Store),
        mode: BrowserMode,
        (ask, person): (Answerer, Answerer),
    ) -> Result<Built, BuildError> {
        let task = self.task(&trial.task)?;
        let given = task.given(&trial.variant).map_err(|error| BuildError::Variant {
            task: trial.task.clone(),
            variant: trial.variant.clone(),
            reason: error.to_string(),
        })?;
        let workspace = Arc::new(Workspace::create(&self.host.scratch, Quota::default()));
        fill(&workspace, &given.files)?;
        let View { web, now } = self.network.view(task, &trial.to_string());
        let browser = web.as_ref().map(|web| {
            let browsers = self.host.browsers.clone();
            Browser::new(browsers, web.clone(), Arc::clone(&workspace), self.network.is_timeless())
        });
        let (clock, seed) = (Clock::starting_at(now), seed_of(config.plan.seed, trial));
        let world = self.worlds.open(task, &trial.variant, &clock, seed)?.map(Mutex::new);
        let foreign = self.servers.give(task, &self.host, &workspace, seed)?;
        let sandbox = Arc::new(Sandbox {
            host: Arc::clone(&self.host),
            workspace,
            web,
            browser,
            world,
            clock,
            seed,
        });
        let work = Arc::new(WorkClock::default());
        let bounds = &config.bounds;
        let offer = self.offer_under(&trial.condition, &trial.task, mode)?;
        let script = task.scenario_file.as_ref();
        let mut interceptors = self.interceptors.clone();
        if let Some(file) = script.filter(|file| !file.fault_injection.is_empty()) {
            interceptors.push(Arc::new(Injected::of(&file.fault_injection)));
        }
        interceptors.extend(faults::injectors(task, store, config, trial)?);
        let user = script.and_then(|file| file.ask_user.clone()).map(|script| {
            Arc::new(Person { request: given.instruction.clone(), script, played_by: person })
        });
        let toolbox = Toolbox::new(
            sandbox,
            Arc::clone(&offer.catalog),
            interceptors,
            Bounds { time: Duration::from_secs(bounds.seconds), text: bounds.bytes },
            Arc::clone(&work),
        );
        let toolbox = Arc::new(toolbox.answered_by(ask).asked_of(user).with_foreign(foreign));
        let request = Request {
            instruction: given.instruction,
            attachments: given.files.keys().map(ToString::to_string).collect(),
            pictures: given.pictures.iter().map(ToString::to_string).collect(),
            language: task.meta.language,
        };
        Ok(Built { request, toolbox, work })
    }
}

/// Returns what agents are offered at each task, in each way of offering pages. Tasks that
/// are offered the same share it.
fn offers(
    suite: &Suite,
    catalog: &Catalog,
    worlds: &Worlds,
    servers: &Servers,
) -> Result<BTreeMap<(String, BrowserMode), Offer>, BuildError> {
    type World = Option<(String, Option<Vec<String>>)>;
    type Key = (BrowserMode, Option<Vec<String>>, World, bool, BTreeSet<String>);
    let conversation = Catalog::conversation().map_err(WorldsError::from)?;
    let mut known: BTreeMap<Key, Offer> = BTreeMap::new();
    let mut offers = BTreeMap::new();
    for (id, task) in &suite.tasks {
        let environment = &task.meta.environment;
        let scene = environment.world.as_ref();
        for mode in [BrowserMode::Delegated, BrowserMode::Direct] {
            let world = scene.map(|scene| (scene.name.clone(), scene.operations.clone()));
            let talks = task.scenario_file.is_some();
            let foreign = servers.of(task);
            let key = (mode, environment.tools.clone(), world, talks, foreign.clone());
            let offer = if let Some(offer) = known.get(&key) {
                offer.clone()
            } else {
                let own = catalog.offered(mode).only(|name| environment.offers(name));
                let operations = scene.map(|scene| worlds.offered(scene)).unwrap_or_default();
                let mut all = own.with(&operations).map_err(WorldsError::from)?;
                if talks {
                    all = all.with(&conversation).map_err(WorldsError::from)?;
                }
                let all = all.with(&servers.offered(&foreign)?)?;
                let offer = Offer::of(all);
                known.insert(key, offer.clone());
                offer
            };
            offers.insert((id.clone(), mode), offer);
        }
    }
    Ok(offers)
}

/// Copies attachments into a workspace.
fn fill(
    workspace: &Workspace,
    files: &BTreeMap<Utf8PathBuf, Utf8PathBuf>,
) -> Result<(), WorkspaceError> {
    files.iter().try_for_each(|(path, from)| workspace.place(path, from))
}
