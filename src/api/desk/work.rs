//! Episodes: how they begin, go on and are let go.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::FutureExt;
use wildgym_toolbox::Reply as Made;

use super::super::seat::{Occupied, Passing, Stepped, Work};
use super::super::types::{CallResult, Deed, Episode, Observation, Reset, Step, Told};
use super::super::{Problem, action};
use super::Desk;
use crate::agent::{Ending, SYSTEM};
use crate::record::{Lost, Outcome, OutcomeRecord};
use crate::runner::{Attempt, Opening, OpeningError, Pace, Round, Session};
use crate::store::{Store, StoreError};

/// A step that takes longer than this gives its turn to others, and goes on.
const LONG: Duration = Duration::from_secs(2);

/// How often, and after how long each time, it is looked whether a session that is taken is
/// taken for the step that was asked for.
const LOOKS: u32 = 20;
const LOOK: Duration = Duration::from_millis(5);

impl Desk {
    /// Begins an episode in a session; the one before is closed.
    pub async fn reset(self: &Arc<Self>, id: &str, asked: Reset) -> Result<Observation, Problem> {
        let held = self.seat(id)?.occupy()?;
        self.refuse_unserved(&asked.task)?;
        let ticket = self.line.enter()?;
        let seed = self.seed(&asked)?;
        let desk = Arc::clone(self);
        let work = async move {
            let _turn = ticket.turn().await?;
            let mut held = desk.let_go(held, "another episode was begun").await?;
            desk.begin(&mut held, &asked, seed)?;
            let shown = held.seat.look().shown.as_ref().clone();
            Ok(shown)
        };
        finished(tokio::spawn(work)).await
    }

    /// Puts an episode into a session that has none that goes on. Nothing is made yet.
    pub(super) fn begin(
        &self,
        held: &mut Occupied,
        asked: &Reset,
        seed: u32,
    ) -> Result<(), Problem> {
        let trial = self.trial(asked, seed)?;
        let attempt = Attempt { attempt: self.next_attempt(&trial), trial };
        let opening = Opening {
            answers: (self.answers)(&attempt),
            attempt,
            pace: Pace::Free,
            prompt: Some(SYSTEM),
        };
        let (gym, config) = (Arc::clone(&self.gym), Arc::clone(&self.config));
        let (store, passing) = self.place(&held.seat.id)?;
        let session = Session::open(gym, store, config, opening);
        let session = session.map_err(|error| match error {
            OpeningError::Build(error) => Problem::broken(error.to_string()),
            OpeningError::Lacking { ref lacking, .. } => {
                Problem::lacking(&format!("{error}; {}", lacking.remedy()))
            }
        })?;
        let shown = Observation {
            told: Some(Told {
                system: SYSTEM.to_owned(),
                user: session.announced(),
                attachments: session.request().attachments.clone(),
                language: session.request().language,
            }),
            ..seen(&held.seat.id, &session, 0)
        };
        let mut inner = held.seat.look();
        inner.shown = Arc::new(shown);
        inner.evaluation = None;
        inner.work = None;
        inner.passing = passing;
        inner.failed = 0;
        inner.reminded = false;
        drop(inner);
        held.session = Some(session);
        Ok(())
    }

    /// Returns where an episode is kept: in the run, or where it does not stay.
    fn place(&self, id: &str) -> Result<(Store, Option<Passing>), Problem> {
        if !self.bounds.forget {
            return Ok((self.store.clone(), None));
        }
        // Several episodes may follow each other in one session.
        let number = self.places.fetch_add(1, Ordering::Relaxed);
        let passing = Passing(self.gym.host.scratch.path().join(format!("{id}-{number}")));
        let store = Store::passing(&passing.0);
        let store = store.map_err(|error| Problem::broken(error.to_string()))?;
        Ok((store, Some(passing)))
    }

    /// Makes a step in a session.
    pub async fn step(self: &Arc<Self>, id: &str, asked: Step) -> Stepped {
        let seat = self.seat(id)?;
        let digest = blake3::hash(&serde_json::to_vec(&asked).unwrap_or_default());
        let step = asked.step;
        let same = |step: Option<u32>| step.map_or(Ok(None), |step| seat.same(step, &digest));
        if let Some(work) = same(step)? {
            seat.touch();
            return self.wait(work).await;
        }
        let deed = action::read(asked)?;
        let mut occupied = seat.occupy();
        // Perhaps the same step is just being begun, asked for at the same moment.
        for _ in 0..LOOKS {
            if occupied.is_ok() || step.is_none() {
                break;
            }
            tokio::time::sleep(LOOK).await;
            if let Some(work) = same(step)? {
                return self.wait(work).await;
            }
            occupied = seat.occupy();
        }
        let held = occupied?;
        // Or it was begun, and is even done, since that was looked at first.
        if let Some(work) = same(step)? {
            drop(held);
            return self.wait(work).await;
        }
        self.act(held, step, digest, deed).await
    }

    /// Does what an agent's text says.
    pub(in super::super) async fn step_text(self: &Arc<Self>, id: &str, text: &str) -> Stepped {
        let held = self.seat(id)?.occupy()?;
        let session = held.session.as_ref().ok_or_else(Problem::no_episode)?;
        let offer = session.offer().map_err(|error| Problem::broken(error.to_string()))?;
        let deed = action::from_text(text, &offer.offered);
        self.act(held, None, blake3::hash(text.as_bytes()), deed).await
    }

    /// Begins a step and waits for it.
    async fn act(
        self: &Arc<Self>,
        held: Occupied,
        asked: Option<u32>,
        digest: blake3::Hash,
        deed: Deed,
    ) -> Stepped {
        let session = held.session.as_ref().ok_or_else(Problem::no_episode)?;
        if let Some(end) = session.over() {
            return Err(Problem::over(&end.outcome.to_string()));
        }
        let seat = Arc::clone(&held.seat);
        let next = seat.look().shown.step.saturating_add(1);
        if let Some(step) = asked.filter(|step| *step != next) {
            return Err(Problem::wrong_step(step, next));
        }
        let ticket = self.line.enter()?;
        let desk = Arc::clone(self);
        let task = tokio::spawn(async move {
            let turn = ticket.turn().await?;
            let mut work = desk.perform(held, next, deed).boxed();
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(LONG) => {}
            }
            // It waits for a page, a model or code of its own: others have their turn, who may
            // hold what it waits for.
            drop(turn);
            work.await
        });
        let result = finished(task).boxed().shared();
        let work = Work { step: next, asked: digest, result };
        seat.look().work = Some(work.clone());
        self.wait(work).await
    }

    /// Waits for a step for as long as a request may wait.
    async fn wait(&self, work: Work) -> Stepped {
        let Work { step, result, .. } = work;
        match tokio::time::timeout(self.bounds.patience, result).await {
            Ok(done) => done,
            Err(_) => Err(Problem::unfinished(step)),
        }
    }

    async fn perform(self: &Arc<Self>, mut held: Occupied, step: u32, deed: Deed) -> Stepped {
        if held.session.as_ref().is_some_and(Session::is_waiting) {
            held = self.heavily(held, Session::begin).await?;
        }
        let was_reminded = std::mem::take(&mut held.seat.look().reminded);
        let mut reminder = None;
        let round = match deed {
            Deed::Calls(calls) => match &mut held.session {
                Some(session) => {
                    let mut ending = self.stop.1.clone();
                    tokio::select! {
                        biased;
                        round = session.round(calls) => round,
                        () = ending.asked() => stopped(session),
                    }
                }
                None => return Err(Problem::no_episode()),
            },
            Deed::Answer(text) => {
                held = self.heavily(held, move |session| session.answer(text).map(drop)).await?;
                Ok(Round { replies: Vec::new(), over: None })
            }
            Deed::Neither(_) if was_reminded => {
                let ending = Ending::without(Outcome::NoAnswer, "neither call nor answer twice");
                held = self.heavily(held, move |session| session.last(ending).map(drop)).await?;
                Ok(Round { replies: Vec::new(), over: None })
            }
            Deed::Neither(text) => {
                held.seat.look().reminded = true;
                reminder = Some(text);
                match &mut held.session {
                    Some(session) => session.remind(text),
                    None => return Err(Problem::no_episode()),
                }
            }
        };
        let round = round.map_err(|error| unwritten(&mut held, &error))?;
        Ok(conclude(&held, step, round, reminder))
    }

    /// Does what computes for a while, or writes much, away from what must stay quick.
    pub(super) async fn heavily(
        &self,
        held: Occupied,
        work: impl FnOnce(&mut Session) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<Occupied, Problem> {
        let (held, done) = self.kept(held, work).await?;
        done.map(|()| held)
    }

    /// The same, and gives the session back also where the work failed.
    async fn kept(
        &self,
        mut held: Occupied,
        work: impl FnOnce(&mut Session) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(Occupied, Result<(), Problem>), Problem> {
        self.aside(move || {
            let done = held.session.as_mut().map_or(Ok(()), work);
            let done = done.map_err(|error| unwritten(&mut held, &error));
            (held, done)
        })
        .await
    }

    /// Computes on a thread for such things, as many at once as there are cores.
    pub(super) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = Arc::clone(&self.heavy).acquire_owned().await;
        let turn = turn.map_err(|_| Problem::stopping())?;
        let task = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        task.await.map_err(|panic| Problem::broken(format!("the server failed: {panic}")))
    }

    /// Closes the episode of a session, where one goes on: it counts as interrupted. What
    /// cannot be written of it is lost; the session itself is not.
    async fn let_go(&self, mut held: Occupied, why: &'static str) -> Result<Occupied, Problem> {
        if held.session.as_ref().is_some_and(Session::is_open) {
            let ending = Ending::without(Outcome::Lost(Lost::Interrupted), why);
            let close = move |session: &mut Session| session.close(ending).map(drop);
            (held, _) = self.kept(held, close).await?;
        }
        held.session = None;
        Ok(held)
    }

    /// Closes a session for good.
    pub(super) async fn dismiss(self: &Arc<Self>, held: Occupied, why: &'static str) {
        let id = held.seat.id.clone();
        if let Ok(mut held) = self.let_go(held, why).await {
            held.shut();
        }
        self.forget(&id, why);
    }
}

/// Waits for a task of ours.
pub(super) async fn finished<T>(
    task: tokio::task::JoinHandle<Result<T, Problem>>,
) -> Result<T, Problem> {
    task.await.unwrap_or_else(|panic| Err(Problem::broken(format!("the server failed: {panic}"))))
}

/// Gives up an episode whose transcript cannot be written; whoever looks sees that it is lost.
fn unwritten(held: &mut Occupied, error: &StoreError) -> Problem {
    if let Some(session) = &mut held.session {
        session.abandon();
        let mut inner = held.seat.look();
        inner.shown = Arc::new(seen(&held.seat.id, session, inner.shown.step));
    }
    Problem::broken(format!("the episode is lost: {error}"))
}

/// Ends an episode whose calls were stopped because the server stops.
fn stopped(session: &mut Session) -> Result<Round, StoreError> {
    let ending = Ending::without(Outcome::Lost(Lost::Interrupted), "the server stopped");
    let over = session.close(ending)?;
    Ok(Round { replies: Vec::new(), over: Some(over) })
}

/// Keeps what is to be seen after a step.
fn conclude(held: &Occupied, step: u32, round: Round, reminder: Option<&str>) -> Arc<Observation> {
    let failed = round.replies.iter().filter(|reply| reply.error.is_some()).count();
    let results = round.replies.into_iter().map(result).collect();
    let mut inner = held.seat.look();
    inner.failed = inner.failed.saturating_add(u32::try_from(failed).unwrap_or(u32::MAX));
    let shown = match &held.session {
        Some(session) => seen(&held.seat.id, session, step),
        None => inner.shown.as_ref().clone(),
    };
    let reminder = reminder.filter(|_| shown.outcome.is_none()).map(str::to_owned);
    let shown = Arc::new(Observation { results, reminder, ..shown });
    inner.shown = Arc::clone(&shown);
    shown
}

fn result(reply: Made) -> CallResult {
    CallResult {
        id: reply.call.id,
        name: reply.call.name,
        content: reply.text,
        error: reply.error.map(str::to_owned),
    }
}

/// Returns what is to be seen of a session after so many steps, without results.
pub(super) fn seen(id: &str, session: &Session, step: u32) -> Observation {
    let over = session.over();
    let (terminated, truncated) = over.map_or((false, false), ended);
    let (rounds, _) = session.taken();
    Observation {
        session: id.to_owned(),
        episode: Some(episode(session.attempt())),
        step,
        told: None,
        results: Vec::new(),
        reminder: None,
        steps_left: session.limits().rounds.map(|limit| limit.saturating_sub(rounds)),
        terminated,
        truncated,
        outcome: over.map(|end| end.outcome.to_string()),
        detail: over.and_then(|end| end.detail.clone()),
        evaluation: None,
    }
}

/// Returns whether the agent ended an episode, and whether something else did.
pub(super) fn ended(end: &OutcomeRecord) -> (bool, bool) {
    match end.outcome {
        Outcome::Answered | Outcome::NoAnswer => (true, false),
        Outcome::Limit(_) | Outcome::Lost(_) | Outcome::Skipped(_) => (false, true),
    }
}

/// Returns which episode an attempt is.
pub(super) fn episode(attempt: &Attempt) -> Episode {
    Episode {
        task: attempt.trial.task.clone(),
        variant: attempt.trial.variant.to_string(),
        seed: attempt.trial.k,
        attempt: attempt.attempt,
    }
}
