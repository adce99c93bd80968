//! From a suite and a trial to a sandbox and a toolbox.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use wildgym_sandbox::web::{Hermetic, HermeticError, Web};
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::workspace::{Quota, Workspace, WorkspaceError};
use wildgym_sandbox::{Clock, Host, Sandbox};
use wildgym_tasks::environment::WebKind;
use wildgym_tasks::{Suite, Task, Variant};
use wildgym_toolbox::{Bounds, Catalog, Interceptor, Toolbox, schema};

use crate::agent::Request;
use crate::record::TrialId;
use crate::store::BoundsConfig;

use super::plan::seed_of;

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
    /// The workspace cannot be made.
    #[error("the workspace cannot be made: {0}")]
    Workspace(#[from] WorkspaceError),
    /// The scratch directory cannot be used.
    #[error("the workspace cannot be made: {0}")]
    Scratch(#[from] std::io::Error),
}

/// Everything that attempts of one suite share.
pub struct Gym {
    /// What all attempts of the process share.
    pub host: Arc<Host>,
    /// The suite.
    pub suite: Arc<Suite>,
    /// The tools.
    pub catalog: Arc<Catalog>,
    /// Their schemas in `OpenAI` form.
    pub schemas: Arc<Vec<Value>>,
    /// What watches and changes calls.
    pub interceptors: Vec<Arc<dyn Interceptor>>,
    hermetic: Option<Arc<Hermetic>>,
}

impl std::fmt::Debug for Gym {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gym").field("suite", &self.suite.meta.name).finish_non_exhaustive()
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
    /// Opens a suite: its sites and their search index, kept below `cache`.
    pub fn open(
        host: Arc<Host>,
        suite: Arc<Suite>,
        catalog: Arc<Catalog>,
        interceptors: Vec<Arc<dyn Interceptor>>,
        cache: &Utf8Path,
    ) -> Result<Self, BuildError> {
        let hermetic = if suite.sites.is_empty() {
            None
        } else {
            Some(Arc::new(Hermetic::open(&suite.sites, cache)?))
        };
        let schemas = Arc::new(catalog.iter().map(schema::openai).collect::<Vec<_>>());
        Ok(Self { host, suite, catalog, schemas, interceptors, hermetic })
    }

    /// Returns the task of a trial.
    pub fn task(&self, id: &str) -> Result<&Task, BuildError> {
        self.suite.tasks.get(id).ok_or_else(|| BuildError::NoTask(id.to_owned()))
    }

    /// Makes the sandbox of a trial, with its attachments in place; `faults` act at its door
    /// after what acts on all attempts.
    pub fn build(
        &self,
        trial: &TrialId,
        run_seed: u64,
        bounds: &BoundsConfig,
        faults: Vec<Arc<dyn Interceptor>>,
    ) -> Result<Built, BuildError> {
        let task = self.task(&trial.task)?;
        let given = task.given(&trial.variant).map_err(|error| BuildError::Variant {
            task: trial.task.clone(),
            variant: trial.variant.clone(),
            reason: error.to_string(),
        })?;
        let workspace = Workspace::create(&self.host.scratch, Quota::default());
        fill(&workspace, &given.files)?;
        let sandbox = Arc::new(Sandbox {
            host: Arc::clone(&self.host),
            workspace,
            web: self.web(task),
            clock: Clock::starting_at(task.meta.now),
            seed: seed_of(run_seed, trial),
        });
        let work = Arc::new(WorkClock::default());
        let toolbox = Arc::new(Toolbox::new(
            sandbox,
            Arc::clone(&self.catalog),
            [self.interceptors.clone(), faults].concat(),
            Bounds { time: Duration::from_secs(bounds.seconds), text: bounds.bytes },
            Arc::clone(&work),
        ));
        let request = Request {
            instruction: given.instruction,
            attachments: given.files.keys().map(ToString::to_string).collect(),
            language: task.meta.language,
        };
        Ok(Built { request, toolbox, work })
    }

    /// Returns the network that a task grants.
    fn web(&self, task: &Task) -> Option<Web> {
        match task.meta.environment.web? {
            WebKind::Hermetic => self
                .hermetic
                .as_ref()
                .map(|web| Web::hermetic(Arc::clone(web), task.meta.blocked_hosts.clone())),
        }
    }
}

/// Copies attachments into a workspace.
fn fill(
    workspace: &Workspace,
    files: &BTreeMap<Utf8PathBuf, Utf8PathBuf>,
) -> Result<(), WorkspaceError> {
    files.iter().try_for_each(|(path, from)| workspace.place(path, from))
}
