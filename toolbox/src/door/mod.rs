//! The one door for tool calls.
//!
//! Every call goes through here, in this order: is the name known; its ingress
//! number; what the interceptors decide; then, under the call's time limit: a delay or
//! a loss, the arguments against their schema, the work itself; what the interceptors
//! change of the reply; the cap on its length. A tool's own failure is a result that
//! the agent reads. Only a broken sandbox ends the attempt.
//!
//! Calls of one round run side by side unless their footprints conflict; numbers,
//! logical times and chances are given out in the order asked before any of them
//! starts, and the results go back in that order.

mod arguments;
mod cap;
mod intercept;
mod round;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;
use wildgym_sandbox::Sandbox;
use wildgym_sandbox::browser::Observation;
use wildgym_sandbox::web::Access;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::world::Happened;

use crate::ask::Ask;
use crate::catalog::Catalog;
use crate::error::Vital;
use crate::foreign::Foreign;
use crate::tools::ask_user::Person;

pub(crate) use arguments::expected;
pub use intercept::{Decision, Incoming, Interceptor};

/// The number of a call, settled when it is taken in: the order asked, from 1. A
/// call made from executed code has the number of its parent and its own: `7.2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ingress(pub String);

impl fmt::Display for Ingress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A call, as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id that the model gave it.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments, as the model wrote them: JSON, one hopes.
    pub arguments: String,
}

/// What came of a call.
#[derive(Debug)]
pub struct Reply {
    /// Its number.
    pub ingress: Ingress,
    /// The call.
    pub call: Call,
    /// What the agent reads.
    pub text: String,
    /// The page that the text tells of, as data; none where the text was changed.
    pub page: Option<Arc<Observation>>,
    /// Kind of the error, where the text is one.
    pub error: Option<&'static str>,
    /// Workspace path of the full text, where the text was cut.
    pub full: Option<String>,
    /// Logical time at which it started.
    pub clock: Timestamp,
    /// Logical time that it took.
    pub cost: Duration,
    /// What it sent over the network.
    pub accesses: Vec<Access>,
    /// What happened in the world before it.
    pub happened: Vec<Happened>,
    /// What interceptors noted, then what the call itself noted of its work.
    pub notes: Vec<Value>,
    /// Calls that it made itself, in order.
    pub children: Vec<Reply>,
    /// Working time.
    pub took: Duration,
}

/// Bounds of every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Working time of a call.
    pub time: Duration,
    /// Bytes of a result that the agent reads; the full text goes to the workspace.
    pub text: usize,
}

impl Default for Bounds {
    /// 180 s and 32 KiB.
    fn default() -> Self {
        Self { time: Duration::from_mins(3), text: 32 << 10 }
    }
}

/// A part of the sandbox is gone, and with it the attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SandboxLost {
    /// What is gone.
    pub part: Vital,
    /// How, for people.
    pub reason: String,
}

/// Is told at once what calls note of their work.
pub type Watch = dyn Fn(&Ingress, &Value) + Send + Sync;

/// The tools of one attempt and the sandbox they act in.
pub struct Toolbox {
    sandbox: Arc<Sandbox>,
    catalog: Arc<Catalog>,
    interceptors: Vec<Arc<dyn Interceptor>>,
    bounds: Bounds,
    work: Arc<WorkClock>,
    taken: AtomicU64,
    rounds: AtomicU64,
    ask: Option<Arc<dyn Ask>>,
    user: Option<Arc<Person>>,
    watch: Option<Arc<Watch>>,
    /// Ids of calls that were taken back.
    cancelled: watch::Sender<BTreeSet<String>>,
    foreign: Option<Arc<Foreign>>,
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolbox").field("catalog", &self.catalog).finish_non_exhaustive()
    }
}

impl Toolbox {
    /// Opens a door to the tools of `catalog` in a sandbox.
    #[must_use]
    pub fn new(
        sandbox: Arc<Sandbox>,
        catalog: Arc<Catalog>,
        interceptors: Vec<Arc<dyn Interceptor>>,
        bounds: Bounds,
        work: Arc<WorkClock>,
    ) -> Self {
        let (taken, rounds) = (AtomicU64::new(0), AtomicU64::new(0));
        let (ask, user, watch, foreign) = (None, None, None, None);
        let cancelled = watch::Sender::default();
        Self {
            sandbox,
            catalog,
            interceptors,
            bounds,
            work,
            taken,
            rounds,
            ask,
            user,
            watch,
            cancelled,
            foreign,
        }
    }

    /// Has the questions of tools answered by `ask`; without it nobody answers them.
    #[must_use]
    pub fn answered_by(self, ask: Option<Arc<dyn Ask>>) -> Self {
        Self { ask, ..self }
    }

    /// Has the questions of agents to the person who gave the task answered by `user`.
    #[must_use]
    pub fn asked_of(self, user: Option<Arc<Person>>) -> Self {
        Self { user, ..self }
    }

    /// Tells `watch` at once what calls note of their work.
    #[must_use]
    pub fn watched_by(self, watch: Arc<Watch>) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Lets calls of foreign tools go to these servers.
    #[must_use]
    pub fn with_foreign(self, foreign: Option<Arc<Foreign>>) -> Self {
        Self { foreign, ..self }
    }

    /// Returns the foreign servers of the attempt, where it has any.
    #[must_use]
    pub fn foreign(&self) -> Option<&Arc<Foreign>> {
        self.foreign.as_ref()
    }

    /// Returns who answers the questions of tools.
    pub(crate) fn ask(&self) -> Option<&Arc<dyn Ask>> {
        self.ask.as_ref()
    }

    /// Returns who answers questions to the person who gave the task.
    pub(crate) fn user(&self) -> Option<&Person> {
        self.user.as_deref()
    }

    /// Returns who is told what calls note.
    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }

    /// Returns the sandbox.
    #[must_use]
    pub fn sandbox(&self) -> &Arc<Sandbox> {
        &self.sandbox
    }

    /// Returns the tools.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Takes back the call with that id, whether it runs, waits or is still to be asked for:
    /// it ends at once as a failure of the kind `cancelled`. What it did until then stays
    /// done, as after a time-out. Calls that are to be cancelled one by one need ids of
    /// their own.
    pub fn cancel(&self, id: &str) {
        self.cancelled.send_if_modified(|ids| ids.insert(id.to_owned()));
    }

    /// Completes when the call with that id was taken back.
    async fn until_cancelled(&self, id: &str) {
        let mut cancelled = self.cancelled.subscribe();
        if cancelled.wait_for(|ids| ids.contains(id)).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Makes one call.
    pub async fn call(self: &Arc<Self>, call: Call) -> Result<Reply, SandboxLost> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        let ingress = Ingress(number.to_string());
        let seed = self.sandbox.seed.child("call", number);
        self.pass(self.take(ingress, seed, 0, call)).await
    }
}
