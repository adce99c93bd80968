//! One session at the desk, and the right to work in it.
//!
//! One thing at a time is done in a session. Whoever does it holds it, and gives it back
//! when done, whatever happens meanwhile: a task that dies gives it back too.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use futures::future::{BoxFuture, Shared};

use super::Problem;
use super::types::{Evaluation, Observation};
use crate::runner::Session;

/// What came of a step.
pub(super) type Stepped = Result<Arc<Observation>, Problem>;

/// One session.
pub(super) struct Seat {
    /// Its id.
    pub(super) id: String,
    occupied: AtomicBool,
    inner: Mutex<Inner>,
}

/// What a session has beside its attempt.
pub(super) struct Inner {
    /// The attempt; none before the first reset, and while somebody works in it.
    session: Option<Session>,
    /// The last observation.
    pub(super) shown: Arc<Observation>,
    /// What the episode is worth, once that was asked.
    pub(super) evaluation: Option<Arc<Evaluation>>,
    /// The last step that was begun.
    pub(super) work: Option<Work>,
    /// Where the episode is kept, where it is not to stay: it goes with this.
    pub(super) passing: Option<Passing>,
    /// Calls of the episode that failed.
    pub(super) failed: u32,
    /// Whether the agent was reminded in the last step.
    pub(super) reminded: bool,
    /// Why it is closed, where it is.
    closed: bool,
    used: Instant,
}

/// A step that was begun; its result stays until the next one.
#[derive(Clone)]
pub(super) struct Work {
    /// Its number.
    pub(super) step: u32,
    /// Digest of what was asked.
    pub(super) asked: blake3::Hash,
    /// Completes when it is done. The work goes on whether anybody waits or not.
    pub(super) result: Shared<BoxFuture<'static, Stepped>>,
}

/// A directory that goes when this is dropped.
pub(super) struct Passing(pub(super) Utf8PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        // What cannot be removed now goes with the process's scratch directory.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A session that somebody works in.
pub(super) struct Occupied {
    pub(super) seat: Arc<Seat>,
    /// The attempt, where there is one.
    pub(super) session: Option<Session>,
}

impl Seat {
    /// Makes a session without an episode.
    pub(super) fn new(id: String) -> Self {
        let shown = Observation {
            session: id.clone(),
            episode: None,
            step: 0,
            told: None,
            results: Vec::new(),
            reminder: None,
            steps_left: None,
            terminated: false,
            truncated: false,
            outcome: None,
            detail: None,
            evaluation: None,
        };
        let inner = Inner {
            session: None,
            shown: Arc::new(shown),
            evaluation: None,
            work: None,
            passing: None,
            failed: 0,
            reminded: false,
            closed: false,
            used: Instant::now(),
        };
        Self { id, occupied: AtomicBool::new(false), inner: Mutex::new(inner) }
    }

    /// Looks at what there is beside the attempt.
    pub(super) fn look(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to work in the session, where nobody does.
    pub(super) fn occupy(self: &Arc<Self>) -> Result<Occupied, Problem> {
        if self.occupied.swap(true, Ordering::AcqRel) {
            return Err(Problem::busy());
        }
        let mut inner = self.look();
        if inner.closed {
            drop(inner);
            self.occupied.store(false, Ordering::Release);
            return Err(Problem::gone(&self.id, "was closed"));
        }
        inner.used = Instant::now();
        let session = inner.session.take();
        Ok(Occupied { seat: Arc::clone(self), session })
    }

    /// Notes that somebody looked at it.
    pub(super) fn touch(&self) {
        self.look().used = Instant::now();
    }

    /// Returns whether nobody works in it or has for this long.
    pub(super) fn is_idle(&self, time: Duration) -> bool {
        !self.is_occupied() && self.look().used.elapsed() >= time
    }

    /// Returns whether somebody works in it.
    pub(super) fn is_occupied(&self) -> bool {
        self.occupied.load(Ordering::Acquire)
    }

    /// Returns the step of this number, where it was the last one that was begun: asking for it
    /// again is the same as having waited. Another step of that number is refused.
    pub(super) fn same(&self, step: u32, asked: &blake3::Hash) -> Result<Option<Work>, Problem> {
        let inner = self.look();
        match &inner.work {
            Some(work) if work.step == step && work.asked == *asked => Ok(Some(work.clone())),
            Some(work) if work.step == step => Err(Problem::wrong_step(step, step + 1)),
            Some(_) | None => Ok(None),
        }
    }
}

impl Occupied {
    /// Shuts the session for good.
    pub(super) fn shut(&mut self) {
        let mut inner = self.seat.look();
        inner.closed = true;
        inner.work = None;
        inner.passing = None;
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let mut inner = self.seat.look();
        inner.session = self.session.take();
        inner.used = Instant::now();
        drop(inner);
        self.seat.occupied.store(false, Ordering::Release);
    }
}
