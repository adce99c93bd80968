//! An episode that a program outside drives.
//!
//! The program sits at a [`Seat`], from which it asks for rounds of calls, for replies of its
//! model, and hands in its answer. Rounds of calls are made one after the other. Requests to
//! the model run side by side and beside them, since real agents have others work for them:
//! each is a round, counted when it comes, so that none is sent that the limit does not allow.
//!
//! Exchanges are written in the order in which they were asked for, whichever reply comes
//! first; what has ended when a round of calls begins stands before its calls. What is still
//! under way when the episode ends is in no transcript, as with a built-in agent; a limit on
//! rounds or tokens waits for it, since it counts.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use wildgym_toolbox::{Call, Catalog, Reply, Toolbox};

use super::react::announced;
use super::{Ending, Episode, Request, shown};
use crate::mcp::{Acts, Told};
use crate::model::{Exchange, ModelError};

mod book;
mod driver;

pub use driver::drive;

/// Where the reply to a request goes.
type Done = oneshot::Sender<Result<Exchange, ModelError>>;

/// What is wished for at a seat.
enum Wish {
    Round { calls: Vec<Call>, done: oneshot::Sender<Vec<Reply>> },
    Ask { body: Box<Map<String, Value>>, done: Done },
    End { ending: Ending, done: oneshot::Sender<()> },
}

/// A place from which an episode is driven. Clones share it; when the last is dropped, the
/// episode ends without an answer.
#[derive(Clone)]
pub struct Seat {
    wishes: mpsc::UnboundedSender<Wish>,
    request: Arc<Request>,
    toolbox: Weak<Toolbox>,
    catalog: Arc<Catalog>,
}

/// What was wished for at a seat and is still to be done.
pub struct Wishes(mpsc::UnboundedReceiver<Wish>);

/// The attempt is over, and nothing is done any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the attempt is over")]
pub struct Over;

impl Seat {
    /// Makes a seat at an episode; [`drive`] does what is wished for there.
    #[must_use]
    pub fn at(episode: &Episode) -> (Self, Wishes) {
        let (wishes, taken) = mpsc::unbounded_channel();
        let seat = Self {
            wishes,
            request: Arc::new(episode.request.clone()),
            toolbox: Arc::downgrade(&episode.toolbox),
            catalog: Arc::clone(episode.toolbox.catalog()),
        };
        (seat, Wishes(taken))
    }

    /// Returns the tools.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Sends a request of the program's own to its model, and returns the exchange.
    pub async fn ask(
        &self,
        body: Map<String, Value>,
    ) -> Result<Result<Exchange, ModelError>, Over> {
        let body = Box::new(body);
        self.wish(|done| Wish::Ask { body, done }).await
    }

    /// Ends the episode.
    pub async fn end(&self, ending: Ending) -> Result<(), Over> {
        self.wish(|done| Wish::End { ending, done }).await
    }

    async fn wish<T>(&self, wish: impl FnOnce(oneshot::Sender<T>) -> Wish) -> Result<T, Over> {
        let (done, came) = oneshot::channel();
        self.wishes.send(wish(done)).map_err(|_| Over)?;
        came.await.map_err(|_| Over)
    }
}

impl Acts for Seat {
    fn task(&self) -> BoxFuture<'_, Result<Option<Told>, String>> {
        Box::pin(async move {
            let toolbox = self.toolbox.upgrade().ok_or_else(|| Over.to_string())?;
            let made = shown(&toolbox, &self.request).await;
            Ok(Some(Told::of(&self.request, made)))
        })
    }

    fn round(&self, calls: Vec<Call>) -> BoxFuture<'_, Result<Vec<Reply>, String>> {
        Box::pin(async move {
            let replies = self.wish(|done| Wish::Round { calls, done }).await;
            replies.map_err(|over| over.to_string())
        })
    }

    fn answer(&self, text: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(
            async move { self.end(Ending::answered(text)).await.map_err(|over| over.to_string()) },
        )
    }

    fn cancel(&self, id: &str) {
        if let Some(toolbox) = self.toolbox.upgrade() {
            toolbox.cancel(id);
        }
    }
}

impl Told {
    /// Returns a request as it is told, with those of its pictures that could be made ready.
    #[must_use]
    pub fn of(request: &Request, made: Vec<super::Shown>) -> Self {
        let Request { instruction, attachments, pictures, .. } = request;
        let paths: Vec<String> = made.iter().map(|one| one.path.clone()).collect();
        let text = if paths.is_empty() {
            announced(instruction, attachments, pictures, false)
        } else {
            announced(instruction, attachments, &paths, true)
        };
        let pictures = made.into_iter().map(|one| {
            let media_type = one.picture.media_type().to_owned();
            (one.path, media_type, one.picture.bytes)
        });
        Self {
            text,
            instruction: instruction.clone(),
            attachments: attachments.clone(),
            pictures: pictures.collect(),
        }
    }
}
