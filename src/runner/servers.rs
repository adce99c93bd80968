//! The foreign servers of a gym: which there are, what each offers, and who gets it.
//!
//! Servers are listed once, before anything runs, each in an empty workspace of its own. What
//! they list then is what every attempt is offered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::join_all;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::{Host, Seed};
use wildgym_tasks::Task;
use wildgym_toolbox::catalog::BadTool;
use wildgym_toolbox::foreign::{self, Pinned, ServerError, Spec};
use wildgym_toolbox::{Catalog, Foreign};

/// The foreign servers of a gym.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// By name.
    listed: BTreeMap<String, Listed>,
    /// Those that every attempt gets, whatever its task says.
    everywhere: BTreeSet<String>,
    /// What servers list and cannot be offered, a sentence each.
    left_out: Vec<String>,
}

/// A server that was listed.
#[derive(Debug, Clone)]
struct Listed {
    pinned: Arc<Pinned>,
    tools: Catalog,
}

impl Servers {
    /// Starts every server once, side by side, and lists its tools. `everywhere` are those
    /// that every attempt gets; the others are for the tasks that name them.
    pub async fn list(
        specs: Vec<Spec>,
        everywhere: BTreeSet<String>,
        host: &Host,
    ) -> Result<Self, ServerError> {
        let one = |spec: Spec| async move {
            let workspace = Workspace::create(&host.scratch, Quota::default());
            foreign::list_tools(&spec, host, &workspace).await.map(|listed| (spec, listed))
        };
        let mut servers = Self { everywhere, ..Self::default() };
        for listed in join_all(specs.into_iter().map(one)).await {
            let (spec, (tools, none)) = listed?;
            let name = spec.name.clone();
            let pinned = Pinned { spec, tools };
            let (tools, bad) = foreign::offered(&pinned);
            let said = |why: &dyn std::fmt::Display| format!("server `{name}` lists {why}");
            if tools.iter().next().is_none() {
                let why: Vec<String> =
                    bad.iter().map(BadTool::to_string).chain(none.iter().cloned()).collect();
                let reason = foreign::nothing("none of its tools can be offered", &why);
                return Err(ServerError { server: name, reason });
            }
            servers.left_out.extend(none.iter().map(|why| said(why)));
            servers
                .left_out
                .extend(bad.iter().map(|error: &BadTool| format!("server `{name}`: {error}")));
            servers.listed.insert(name, Listed { pinned: Arc::new(pinned), tools });
        }
        Ok(servers)
    }

    /// Returns what servers list and cannot be offered, a sentence each.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Returns the names of all, each with how many tools it offers.
    pub fn names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.listed.iter().map(|(name, one)| (name.as_str(), one.tools.iter().count()))
    }

    /// Returns the tools of all together.
    pub fn catalog(&self) -> Result<Catalog, BadTool> {
        self.tools().try_fold(Catalog::default(), |all, more| all.with(more))
    }

    /// Gives servers of its own to an attempt that is at no task: those that every attempt gets.
    #[must_use]
    pub fn everywhere(&self, host: &Arc<Host>, workspace: &Arc<Workspace>, seed: Seed) -> Foreign {
        let found = self.everywhere.iter().filter_map(|name| self.listed.get(name));
        let pinned = found.map(|one| Arc::clone(&one.pinned)).collect();
        Foreign::new(pinned, host, workspace, seed)
    }

    /// Returns the tools of all.
    fn tools(&self) -> impl Iterator<Item = &Catalog> {
        self.listed.values().map(|one| &one.tools)
    }

    /// Returns the names of those that an attempt at a task gets.
    pub(super) fn of(&self, task: &Task) -> BTreeSet<String> {
        self.everywhere.union(&task.meta.environment.servers).cloned().collect()
    }

    /// Returns the tools of these servers; those of servers that the gym does not have are
    /// missing.
    pub(super) fn offered(&self, names: &BTreeSet<String>) -> Result<Catalog, BadTool> {
        let mut found = names.iter().filter_map(|name| self.listed.get(name));
        found.try_fold(Catalog::default(), |all, one| all.with(&one.tools))
    }

    /// Gives an attempt at a task servers of its own; none where it has none. An error names
    /// one that the gym does not have.
    pub(super) fn give(
        &self,
        task: &Task,
        host: &Arc<Host>,
        workspace: &Arc<Workspace>,
        seed: Seed,
    ) -> Result<Option<Arc<Foreign>>, ServerError> {
        let pinned = |name: String| match self.listed.get(&name) {
            Some(one) => Ok(Arc::clone(&one.pinned)),
            None => Err(ServerError {
                server: name,
                reason: "the task needs it, and it was not started for this run".to_owned(),
            }),
        };
        let all: Vec<Arc<Pinned>> =
            self.of(task).into_iter().map(pinned).collect::<Result<_, _>>()?;
        Ok((!all.is_empty()).then(|| Arc::new(Foreign::new(all, host, workspace, seed))))
    }
}
