//! Sessions in which clients of MCP act, and the court that judges what they leave.
//!
//! A client neither knows nor learns what an attempt is worth: it is told that its answer
//! was taken, and the verdict goes to the store.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use futures::future::BoxFuture;
use tokio::task::JoinSet;
use wildgym_toolbox::{Call, Reply, Toolbox};

use super::event::{Event, Stop};
use super::judging::{Case, Referee};
use super::session::Session;
use super::{Gym, Opening, OpeningError, Summary};
use crate::agent::{Ending, Request, shown};
use crate::mcp::{Acts, Told};
use crate::record::{Lost, Outcome, OutcomeRecord};
use crate::store::{RunConfig, Store, StoreError};
use crate::verdict::Verdict;

/// Judges what sessions leave, beside everything else.
pub struct Court {
    referee: Arc<Referee>,
    store: Store,
    stop: Stop,
    events: Arc<dyn Fn(Event) + Send + Sync>,
    cases: Mutex<JoinSet<Result<Option<String>, StoreError>>>,
    lost: Mutex<usize>,
}

impl Court {
    /// Opens a court; `events` is told how each attempt ended and what it is worth.
    #[must_use]
    pub fn new(
        referee: Referee,
        store: Store,
        stop: Stop,
        events: Arc<dyn Fn(Event) + Send + Sync>,
    ) -> Self {
        let (referee, cases) = (Arc::new(referee), Mutex::default());
        Self { referee, store, stop, events, cases, lost: Mutex::default() }
    }

    /// Takes a case on.
    fn take(&self, case: Case) {
        let Case { trial, attempt, end } = &case;
        (self.events)(Event::Ended {
            trial: trial.clone(),
            attempt: *attempt,
            outcome: end.outcome.clone(),
            detail: end.detail.clone(),
            usage: end.usage,
            again: false,
        });
        if end.outcome.is_lost() {
            *self.lost.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            return;
        }
        let (referee, stop) = (Arc::clone(&self.referee), self.stop.clone());
        let store = self.store.clone();
        let events = Arc::clone(&self.events);
        self.cases.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
            let trial = case.trial.clone();
            let (verdict, detail) = match referee.judge(&store, &case, stop).await? {
                Ok(line) => (line.verdict, None),
                Err(why) => (Verdict::Unjudged, Some(why)),
            };
            events(Event::Judged { trial, verdict, detail: detail.clone() });
            Ok(detail)
        });
    }

    /// Waits until all cases are decided, and says how many are not.
    pub async fn adjourn(&self) -> Result<Summary, StoreError> {
        let mut cases =
            std::mem::take(&mut *self.cases.lock().unwrap_or_else(PoisonError::into_inner));
        let lost = *self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let mut summary = Summary { lost, ..Summary::default() };
        while let Some(done) = cases.join_next().await {
            let open = match done {
                Ok(decided) => decided?,
                Err(panic) => Some(format!("the judge failed: {panic}")),
            };
            if let Some(why) = open {
                summary.unjudged += 1;
                summary.judge_failure.get_or_insert(why);
            }
        }
        Ok(summary)
    }
}

/// A session that waits for a client.
pub struct Attended {
    session: tokio::sync::Mutex<Session>,
    request: Request,
    /// The door while the session goes on: not the session's own hold on it, so that the
    /// sandbox goes when the attempt ends.
    toolbox: OnceLock<Weak<Toolbox>>,
    court: Arc<Court>,
}

impl Attended {
    /// Opens a session; nothing is made before a client comes.
    pub fn open(
        gym: Arc<Gym>,
        store: Store,
        config: Arc<RunConfig>,
        opening: Opening,
        court: Arc<Court>,
    ) -> Result<Arc<Self>, OpeningError> {
        let session = Session::open(gym, store, config, opening)?;
        let request = session.request().clone();
        let (session, toolbox) = (tokio::sync::Mutex::new(session), OnceLock::new());
        Ok(Arc::new(Self { session, request, toolbox, court }))
    }

    /// Begins the attempt, unless it began, and says why where it is over.
    async fn begin(&self) -> Result<(), String> {
        let mut session = self.session.lock().await;
        let went_on = session.over().is_none();
        session.begin().map_err(|error| error.to_string())?;
        if let Some(toolbox) = session.toolbox() {
            let _set_before = self.toolbox.set(Arc::downgrade(toolbox));
        }
        let Some(end) = session.over() else { return Ok(()) };
        if went_on {
            self.hand_over(&session);
        }
        Err(over(end))
    }

    /// Ends the attempt where a client began one and left it open: the server ends.
    pub async fn close(&self, interrupted: bool) -> Result<(), StoreError> {
        let mut session = self.session.lock().await;
        if session.toolbox().is_none() {
            return Ok(());
        }
        let ending = if interrupted {
            Ending::without(Outcome::Lost(Lost::Interrupted), "the server was stopped")
        } else {
            Ending::without(Outcome::NoAnswer, "the client left without an answer")
        };
        session.close(ending)?;
        self.hand_over(&session);
        Ok(())
    }

    /// Hands an attempt that is over to the court.
    fn hand_over(&self, session: &Session) {
        if let Some(case) = session.case() {
            self.court.take(case);
        }
    }
}

impl Acts for Attended {
    fn task(&self) -> BoxFuture<'_, Result<Option<Told>, String>> {
        Box::pin(async move {
            self.begin().await?;
            let made = match self.toolbox.get().and_then(Weak::upgrade) {
                Some(toolbox) => shown(&toolbox, &self.request).await,
                None => Vec::new(),
            };
            Ok(Some(Told::of(&self.request, made)))
        })
    }

    fn round(&self, calls: Vec<Call>) -> BoxFuture<'_, Result<Vec<Reply>, String>> {
        Box::pin(async move {
            self.begin().await?;
            let mut session = self.session.lock().await;
            let goes_on = session.over().is_none();
            let round = session.round(calls).await.map_err(|error| error.to_string())?;
            if let Some(end) = &round.over {
                if goes_on {
                    self.hand_over(&session);
                }
                if round.replies.is_empty() {
                    return Err(over(end));
                }
            }
            Ok(round.replies)
        })
    }

    fn answer(&self, text: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            self.begin().await?;
            let mut session = self.session.lock().await;
            if let Some(end) = session.over() {
                return Err(over(end));
            }
            let end = session.answer(text).map_err(|error| error.to_string())?;
            self.hand_over(&session);
            if end.outcome == Outcome::Answered { Ok(()) } else { Err(over(&end)) }
        })
    }

    fn cancel(&self, id: &str) {
        if let Some(toolbox) = self.toolbox.get().and_then(Weak::upgrade) {
            toolbox.cancel(id);
        }
    }
}

/// Says why nothing is called any more.
fn over(end: &OutcomeRecord) -> String {
    match &end.detail {
        Some(detail) => format!("the attempt is over: {} ({detail})", end.outcome),
        None => format!("the attempt is over: {}", end.outcome),
    }
}
