//! Doing what is wished for at a seat.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use serde_json::{Map, Value};
use wildgym_sandbox::work::{Resting, WorkClock, Working};
use wildgym_tasks::task::Limits;
use wildgym_toolbox::{Call, Reply};

use super::super::noted::Noted;
use super::super::react::announced;
use super::super::{Broken, Ending, Episode, Part, Request};
use super::book::Book;
use super::{Done, Wish, Wishes};
use crate::model::{CassetteError, Exchange, Failure, Model, ModelError};
use crate::record::{Limit, Lost, Outcome, Usage};

/// Why an episode is over: its ending, or what broke it.
type End = Result<Ending, Broken>;

/// How a request to the model ended.
struct Came {
    round: u32,
    ended: Result<Exchange, ModelError>,
    done: Done,
}

/// An episode that is driven. Dropping it writes what has ended, whatever cut it short.
struct Driver<'a> {
    episode: &'a mut Episode,
    model: Option<&'a Model>,
    clock: Arc<WorkClock>,
    /// Given back while replies are waited for, which have shares of their own.
    resting: Option<Resting>,
    under_way: FuturesUnordered<BoxFuture<'a, Came>>,
    book: Book,
    /// What is to be done after the calls that are made now.
    later: VecDeque<Wish>,
    /// Programs that wait for a reply which no one waited for when it was recorded.
    left: Vec<Done>,
}

/// Does what is wished for until the episode ends.
///
/// A round is a reply of the model and the calls that follow it. A program that asks for no
/// model here has as many rounds as rounds of calls.
pub async fn drive(episode: &mut Episode, wishes: &mut Wishes, model: Option<&Model>) -> End {
    let Request { instruction, attachments, pictures, .. } = &episode.request;
    let task = announced(instruction, attachments, pictures, false);
    episode.told("user", "task", &task)?;
    let mut driver = Driver {
        clock: episode.working.clock(),
        episode,
        model,
        resting: None,
        under_way: FuturesUnordered::new(),
        book: Book::default(),
        later: VecDeque::new(),
        left: Vec::new(),
    };
    let ended = driver.go(wishes).await;
    if let Some(model) = model {
        model.leave();
    }
    // What had ended is known to the transcript, or the attempt is lost.
    driver.book.write(driver.episode, true)?;
    ended
}

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        self.resting = None;
        self.book.post(self.episode);
        // What cannot be written now could not be before: the outcome will not be either.
        let _unwritten = self.book.write(self.episode, true);
    }
}

impl Driver<'_> {
    async fn go(&mut self, wishes: &mut Wishes) -> End {
        loop {
            self.wait();
            let wish = if let Some(wish) = self.later.pop_front() {
                Some(wish)
            } else {
                tokio::select! {
                    biased;
                    Some(came) = self.under_way.next(), if !self.under_way.is_empty() => {
                        if let Some(over) = self.came(came) {
                            return over;
                        }
                        self.book.post(self.episode);
                        self.book.write(self.episode, false)?;
                        continue;
                    }
                    wish = wishes.0.recv() => wish,
                }
            };
            match wish {
                None => {
                    let detail = "the program left without an answer";
                    return Ok(Ending::without(Outcome::NoAnswer, detail));
                }
                Some(Wish::End { ending, done }) => {
                    let _gone = done.send(());
                    return Ok(ending);
                }
                Some(Wish::Round { calls, done }) => {
                    if let Some(ending) = self.book.forbids_calls(self.limits(), self.spent()) {
                        return self.finish(ending).await;
                    }
                    let replies = self.round(calls, wishes).await?;
                    match replies {
                        Ok(replies) => drop(done.send(replies)),
                        Err(over) => return over,
                    }
                }
                Some(Wish::Ask { body, done }) => {
                    if let Some(ending) = self.book.forbids_ask(self.limits(), self.spent()) {
                        return self.finish(ending).await;
                    }
                    let asked = ask(self.model, self.book.ask(), body, done, self.clock.work());
                    self.under_way.push(asked);
                }
            }
        }
    }

    fn limits(&self) -> (Option<u32>, Option<u64>) {
        let Limits { rounds, tokens, .. } = self.episode.limits;
        (rounds, tokens)
    }

    fn spent(&self) -> u64 {
        self.episode.usage.total()
    }

    /// Says what is waited for: a request has a share in the working time of its own, so the
    /// program's rests until the last has come back.
    fn wait(&mut self) {
        self.book.post(self.episode);
        if self.under_way.is_empty() {
            self.resting = None;
            self.episode.turn(Part::Own);
            "waiting for the program".clone_into(&mut self.episode.doing);
        } else {
            self.resting.get_or_insert_with(|| self.clock.rest());
            self.episode.turn(Part::Model);
            self.episode.doing = format!("round {}, waiting for the model", self.book.begun);
        }
    }

    /// Takes a request that came back, and passes on what came of it; says where that ends the
    /// episode.
    fn came(&mut self, came: Came) -> Option<End> {
        take(&mut self.book, &mut self.left, came, &self.episode.doing)
    }

    /// Waits for what is under way, then ends the episode at a limit.
    async fn finish(&mut self, ending: Ending) -> End {
        while let Some(came) = self.under_way.next().await {
            if let Some(Err(broken)) = self.came(came) {
                return Err(broken);
            }
        }
        Ok(ending)
    }

    /// Makes the calls of a round. Meanwhile requests come back and new ones are sent; what
    /// else is wished for, and what a limit forbids, has to wait. The inner error says why the
    /// episode is over.
    async fn round(
        &mut self,
        calls: Vec<Call>,
        wishes: &mut Wishes,
    ) -> Result<Result<Vec<Reply>, End>, Broken> {
        self.book.write(self.episode, true)?;
        // The calls have shares of their own, and give back the one that is the program's.
        self.resting = None;
        let (limits, spent) = (self.limits(), self.spent());
        let Self { episode, model, clock, under_way, book, later, left, .. } = self;
        episode.rounds = book.call();
        let doing = format!("round {}, waiting for the model", episode.rounds);
        let mut over = None;
        let mut calling = pin!(episode.call(calls));
        let replies = loop {
            tokio::select! {
                biased;
                replies = &mut calling => break replies?,
                Some(came) = under_way.next(), if !under_way.is_empty() => {
                    over = over.or(take(book, left, came, &doing));
                }
                Some(wish) = wishes.0.recv() => match wish {
                    Wish::Ask { body, done } if book.forbids_ask(limits, spent).is_none() => {
                        under_way.push(ask(*model, book.ask(), body, done, clock.work()));
                    }
                    wish @ (Wish::Ask { .. } | Wish::Round { .. } | Wish::End { .. }) => {
                        later.push_back(wish);
                    }
                },
            }
        };
        Ok(over.map_or(Ok(replies), Err))
    }
}

/// Sends a request of the program's to its model.
fn ask(
    model: Option<&Model>,
    round: u32,
    body: Box<Map<String, Value>>,
    done: Done,
    mut working: Working,
) -> BoxFuture<'_, Came> {
    Box::pin(async move {
        let ended = match model {
            Some(model) => model.relay(round, &body, Some(&mut working)).await,
            None => Err(ModelError::Refused(Box::new(Failure {
                reason: "this run has no model".to_owned(),
                ..Failure::default()
            }))),
        };
        Came { round, ended, done }
    })
}

/// Notes how a request ended and tells the program. What the endpoint refuses is the program's
/// to deal with; an endpoint that is gone, or a cassette that lacks the request, ends the
/// attempt as lost.
fn take(book: &mut Book, left: &mut Vec<Done>, came: Came, doing: &str) -> Option<End> {
    let Came { round, ended, done } = came;
    let lost = match &ended {
        Ok(exchange) => {
            book.ended(round, Some(Noted::good(round, exchange)), exchange.usage);
            None
        }
        Err(error @ (ModelError::Refused(_) | ModelError::ContextOverflow(_))) => {
            book.ended(round, Noted::failed(round, error), Usage::default());
            None
        }
        Err(ModelError::Cassette(error)) if **error == CassetteError::LeftBehind => {
            left.push(done);
            return None;
        }
        // In a replay no time passes, so the limit is reached where it was reached.
        Err(ModelError::Cassette(error)) if **error == CassetteError::CutOff => {
            return Some(Ok(Ending::without(Outcome::Limit(Limit::Time), doing)));
        }
        Err(
            error @ (ModelError::Misconfigured(_) | ModelError::Gone(_) | ModelError::Cassette(_)),
        ) => Some(Err(Broken { lost: Lost::Model, detail: error.to_string() })),
    };
    let _gone = done.send(ended);
    lost
}
