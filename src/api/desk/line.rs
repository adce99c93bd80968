//! The line in which requests wait for their turn. It has an end, and a length.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::Problem;

/// The line.
#[derive(Debug)]
pub(super) struct Line {
    turns: Arc<Semaphore>,
    at_once: usize,
    waiting: Arc<AtomicUsize>,
    most: usize,
}

/// A place in the line, or a turn already.
pub(super) enum Ticket {
    Now(OwnedSemaphorePermit),
    Later(Arc<Semaphore>, Waits),
}

/// Counts as waiting until it is dropped.
pub(super) struct Waits(Arc<AtomicUsize>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Line {
    /// Makes a line in which `most` may wait for one of `at_once` turns.
    pub(super) fn new(at_once: usize, most: usize) -> Self {
        let at_once = at_once.clamp(1, Semaphore::MAX_PERMITS);
        let turns = Arc::new(Semaphore::new(at_once));
        Self { turns, at_once, waiting: Arc::default(), most }
    }

    /// Takes a place, where there is one.
    pub(super) fn enter(&self) -> Result<Ticket, Problem> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(Ticket::Now(turn));
        }
        let before = self.waiting.fetch_add(1, Ordering::AcqRel);
        let waits = Waits(Arc::clone(&self.waiting));
        if before >= self.most {
            return Err(Problem::overloaded(self.most));
        }
        Ok(Ticket::Later(Arc::clone(&self.turns), waits))
    }

    /// Returns how many are worked on, and how many wait.
    pub(super) fn figures(&self) -> (usize, usize) {
        let free = self.turns.available_permits();
        (self.at_once.saturating_sub(free), self.waiting.load(Ordering::Acquire))
    }
}

impl Ticket {
    /// Waits for the turn; it lasts until the permit is dropped.
    pub(super) async fn turn(self) -> Result<OwnedSemaphorePermit, Problem> {
        match self {
            Self::Now(turn) => Ok(turn),
            // Nobody closes it.
            Self::Later(turns, _waits) => {
                turns.acquire_owned().await.map_err(|_| Problem::stopping())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_is_as_long_as_it_may_be() {
        let line = Line::new(1, 1);
        let first = line.enter().ok().unwrap().turn().await.unwrap();
        let second = line.enter().ok().unwrap();
        assert_eq!(line.figures(), (1, 1));
        let refused = line.enter().err().unwrap();
        assert_eq!((refused.status, refused.code), (503, "overloaded"));
        assert!(refused.retry_after.is_some(), "it says when to come again");
        drop(first);
        drop(second.turn().await.unwrap());
        assert_eq!(line.figures(), (0, 0), "everything is back");
    }
}
