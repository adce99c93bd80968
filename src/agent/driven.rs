//! An episode that a program outside drives.
//!
//! The program sits at a [`Seat`], from which it asks for rounds of calls, for replies of its
//! model, and hands in its answer. What it asks for is done one after the other, in the order
//! in which it asked: so limits, times and records are those of a built-in agent, and no
//! request is on its way that the transcript does not know of.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use wildgym_toolbox::{Call, Catalog, Reply, Toolbox};

use super::react::{announced, note};
use super::{Broken, Ending, Episode, Part, Request, millis, shown};
use crate::mcp::{Acts, Told};
use crate::model::{Exchange, Failure, Model, ModelError};
use crate::record::{Limit, Lost, ModelRecord, Outcome, Record, Times, Usage};

/// What is wished for at a seat.
enum Wish {
    Round { calls: Vec<Call>, done: oneshot::Sender<Vec<Reply>> },
    Ask { body: Box<Map<String, Value>>, done: oneshot::Sender<Result<Exchange, ModelError>> },
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

/// Does what is wished for until the episode ends.
///
/// A round is a reply of the model and the calls that follow it. A program that asks for no
/// model here has as many rounds as rounds of calls.
pub async fn drive(
    episode: &mut Episode,
    wishes: &mut Wishes,
    model: Option<&Model>,
) -> Result<Ending, Broken> {
    let Request { instruction, attachments, pictures, .. } = &episode.request;
    let task = announced(instruction, attachments, pictures, false);
    episode.told("user", "task", &task)?;
    "waiting for the program".clone_into(&mut episode.doing);
    let mut asks = false;
    while let Some(wish) = wishes.0.recv().await {
        match wish {
            Wish::End { ending, done } => {
                let _gone = done.send(());
                return Ok(ending);
            }
            Wish::Round { calls, done } => {
                if let Some(ending) = exhausted(episode, !asks) {
                    return Ok(ending);
                }
                let _gone = done.send(episode.call(calls).await?);
            }
            Wish::Ask { body, done } => {
                asks = true;
                if let Some(ending) = exhausted(episode, true) {
                    return Ok(ending);
                }
                let _gone = done.send(ask(episode, model, &body).await?);
            }
        }
        "waiting for the program".clone_into(&mut episode.doing);
    }
    Ok(Ending::without(Outcome::NoAnswer, "the program left without an answer"))
}

/// Says which limit is reached; none where the episode may go on. With `begins` a round
/// begins.
fn exhausted(episode: &mut Episode, begins: bool) -> Option<Ending> {
    let spent = episode.usage.total();
    if episode.limits.tokens.is_some_and(|limit| spent >= limit) {
        let detail = format!("{spent} tokens used");
        return Some(Ending::without(Outcome::Limit(Limit::Tokens), detail));
    }
    if begins && !episode.next_round() {
        return Some(Ending::without(Outcome::Limit(Limit::Rounds), "no round left"));
    }
    None
}

/// Asks the program's model and notes the exchange. What the endpoint refuses is the
/// program's to deal with; an endpoint that is gone ends the attempt as lost.
async fn ask(
    episode: &mut Episode,
    model: Option<&Model>,
    body: &Map<String, Value>,
) -> Result<Result<Exchange, ModelError>, Broken> {
    let Some(model) = model else {
        let none = ModelError::Misconfigured("this run has no model".to_owned());
        return Ok(Err(none));
    };
    episode.doing = format!("round {}, waiting for the model", episode.rounds);
    episode.turn(Part::Model);
    let round = episode.rounds;
    let asked = model.relay(round, body, Some(&mut episode.working)).await;
    episode.turn(Part::Own);
    match asked {
        Ok(exchange) => {
            episode.usage.add(exchange.usage);
            note(episode, &exchange)?;
            Ok(Ok(exchange))
        }
        Err(error @ (ModelError::Refused(_) | ModelError::ContextOverflow(_))) => {
            if let Some(failure) = error.failure() {
                note_failure(episode, failure)?;
            }
            Ok(Err(error))
        }
        Err(
            error @ (ModelError::Misconfigured(_) | ModelError::Gone(_) | ModelError::Cassette(_)),
        ) => Err(Broken { lost: Lost::Model, detail: error.to_string() }),
    }
}

/// Notes an exchange that got no reply.
fn note_failure(episode: &mut Episode, failure: &Failure) -> Result<(), Broken> {
    let round = episode.rounds;
    let transcript = episode.transcript();
    let said = if failure.body.is_empty() { &failure.reason } else { &failure.body };
    let record = ModelRecord {
        round,
        role: "agent".to_owned(),
        call: None,
        purpose: None,
        asked: None,
        request: failure.request_digest.clone(),
        reply: transcript.body(said.clone())?,
        status: failure.status.unwrap_or_default(),
        usage: Usage::default(),
        peculiar: Vec::new(),
        t: Times {
            at_ms: transcript.at_ms(),
            took_ms: millis(failure.took),
            waited_ms: millis(failure.waited),
            retries: failure.retries.clone(),
            ..Times::default()
        },
    };
    Ok(transcript.append(&Record::Model(record))?)
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
