//! Tools of foreign servers, which speak the Model Context Protocol.
//!
//! Every attempt has servers of its own: started before the agent, ended with it. What an agent
//! is offered was listed once, when the gym was opened, and is pinned: an attempt whose server
//! lists anything else does not begin, and a list that changes later is noted and not followed.
//! So all attempts of a run are offered the same, and a score says of which tools it is.
//!
//! A server may do anything wrong that bytes can do wrong. What comes of it is the error of one
//! call: a lost reply ends at the call's limit, a reply that is too large or no reply at all is
//! told as what it is, a server that ends, or writes without end, is started anew, once. Nothing that a server sends is
//! trusted to have a form, and of nothing is more held than a bound.

pub mod line;
mod lines;
mod list;
mod names;
mod result;
mod server;
mod session;
mod tool;
mod wire;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use futures::future::join_all;
use wildgym_sandbox::{Host, Seed, Workspace};

pub use list::{Remote, nothing};
pub use session::list_tools;
pub use tool::offered;

use server::Server;

/// How long the start of a server is put off at most, so that not all connect at once.
const JITTER: Duration = Duration::from_millis(100);

/// A server that attempts may have.
#[derive(Clone, PartialEq, Eq)]
pub struct Spec {
    /// Its name, which begins those of its tools.
    pub name: String,
    /// What is started or reached.
    pub server: wildgym_tasks::environment::Server,
    /// Its own folder on the host, where it has one.
    pub folder: Option<Utf8PathBuf>,
    /// What else of the host it may read.
    pub reads: Vec<Utf8PathBuf>,
    /// What is kept nowhere: variables of its environment by name; of a server with a URL the
    /// first value is the bearer token.
    pub secrets: Vec<(String, String)>,
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A server with the tools that it listed when the gym was opened.
#[derive(Debug, Clone, PartialEq)]
pub struct Pinned {
    /// The server.
    pub spec: Spec,
    /// Its tools, in its order.
    pub tools: Vec<Remote>,
}

/// What a server did that keeps an attempt from using it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("server `{server}`: {reason}")]
pub struct ServerError {
    /// Name of the server.
    pub server: String,
    /// What it did.
    pub reason: String,
}

/// The servers of one attempt.
#[derive(Debug)]
pub struct Foreign {
    servers: BTreeMap<String, Server>,
    seed: Seed,
}

impl Foreign {
    /// Gives an attempt these servers; none is started yet.
    #[must_use]
    pub fn new(
        pinned: Vec<Arc<Pinned>>,
        host: &Arc<Host>,
        workspace: &Arc<Workspace>,
        seed: Seed,
    ) -> Self {
        let server = |one: Arc<Pinned>| {
            let name = one.spec.name.clone();
            (name, Server::new(one, Arc::clone(host), Arc::clone(workspace)))
        };
        Self { servers: pinned.into_iter().map(server).collect(), seed }
    }

    /// Starts all that are not started yet, side by side, each at most as long as it may take.
    /// One that is used before is started then.
    pub async fn start(&self) -> Result<(), ServerError> {
        let starts = self.servers.iter().map(|(name, server)| async move {
            let byte = self.seed.child(&format!("server:{name}"), 0).bytes()[0];
            tokio::time::sleep(JITTER.mul_f64(f64::from(byte) / 256.0)).await;
            let started = server.session().await;
            started.map(drop).map_err(|reason| ServerError { server: name.clone(), reason })
        });
        join_all(starts).await.into_iter().collect()
    }

    /// Ends all, side by side, and waits until they have ended.
    pub async fn end(&self) {
        join_all(self.servers.values().map(Server::end)).await;
    }

    /// Returns the server of that name.
    fn server(&self, name: &str) -> Option<&Server> {
        self.servers.get(name)
    }
}
