//! Who makes the calls that clients ask for.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use wildgym_toolbox::{Call, Reply, Toolbox};

/// A sandbox as a desk needs it: it takes rounds of calls, and where a task is to be done,
/// tells it and takes the answer.
pub trait Acts: Send + Sync + 'static {
    /// Returns what is to be done; none where nothing is.
    fn task(&self) -> BoxFuture<'_, Result<Option<Told>, String>>;

    /// Makes the calls of a round and returns what came of them in the order asked, or why
    /// nothing is called any more.
    fn round(&self, calls: Vec<Call>) -> BoxFuture<'_, Result<Vec<Reply>, String>>;

    /// Takes the answer, which ends the attempt, or says why it comes too late.
    fn answer(&self, text: String) -> BoxFuture<'_, Result<(), String>>;

    /// Takes back the call with that id; see [`Toolbox::cancel`].
    fn cancel(&self, id: &str);
}

/// A task, as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The request with its attachments announced.
    pub text: String,
    /// The request alone.
    pub instruction: String,
    /// Paths of the attachments in the workspace.
    pub attachments: Vec<String>,
    /// The pictures that belong to it: path, media type, bytes.
    pub pictures: Vec<(String, String, Vec<u8>)>,
}

/// A sandbox without a task: tools to be called at will. Nothing of it is kept.
#[derive(Debug)]
pub struct Free(Arc<Toolbox>);

impl Free {
    /// Takes the sandbox behind a door.
    #[must_use]
    pub fn new(toolbox: Arc<Toolbox>) -> Self {
        Self(toolbox)
    }
}

impl Acts for Free {
    fn task(&self) -> BoxFuture<'_, Result<Option<Told>, String>> {
        Box::pin(async { Ok(None) })
    }

    fn round(&self, calls: Vec<Call>) -> BoxFuture<'_, Result<Vec<Reply>, String>> {
        Box::pin(async move { self.0.round(calls).await.map_err(|lost| lost.to_string()) })
    }

    fn answer(&self, _text: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Err("there is no task to answer".to_owned()) })
    }

    fn cancel(&self, id: &str) {
        self.0.cancel(id);
    }
}

/// Takes back a call when it is dropped before the call is done: a client that cancels a
/// request, or whose connection breaks, waits no longer for it.
pub(super) struct Withdrawn {
    acts: Weak<dyn Acts>,
    id: Option<String>,
}

impl Withdrawn {
    pub(super) fn watch(acts: &Arc<dyn Acts>, id: &str) -> Self {
        Self { acts: Arc::downgrade(acts), id: Some(id.to_owned()) }
    }

    /// The call is done.
    pub(super) fn done(mut self) {
        self.id = None;
    }
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        if let (Some(id), Some(acts)) = (self.id.take(), self.acts.upgrade()) {
            acts.cancel(&id);
        }
    }
}
