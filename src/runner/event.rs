//! What a run tells while it runs, and how it is told to stop.

use tokio::sync::watch;

use crate::record::{Outcome, TrialId, Usage};
use crate::verdict::Verdict;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// It is known what is left to do.
    Planned {
        /// Trials of the plan.
        trials: usize,
        /// Those that were finished before.
        finished: usize,
    },
    /// An attempt began.
    Began {
        /// The trial.
        trial: TrialId,
        /// Which attempt at it.
        attempt: u32,
    },
    /// An attempt ended and its transcript is closed.
    Ended {
        /// The trial.
        trial: TrialId,
        /// Which attempt at it.
        attempt: u32,
        /// How it ended.
        outcome: Outcome,
        /// What explains the outcome.
        detail: Option<String>,
        /// Tokens of the attempt.
        usage: Usage,
        /// Whether another attempt follows.
        again: bool,
    },
    /// A stored attempt was judged, or could not be.
    Judged {
        /// The trial.
        trial: TrialId,
        /// The verdict; [`Verdict::Unjudged`] where there is none.
        verdict: Verdict,
        /// Why there is none.
        detail: Option<String>,
    },
}

/// Asks a run to stop.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Learns that a run was asked to stop.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<bool>);

impl Stopper {
    /// Returns both ends.
    #[must_use]
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(receiver))
    }

    /// Asks the run to stop: nothing more begins, what runs is closed as interrupted.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Returns whether the run was asked to stop.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Completes when the run is asked to stop; never, if nobody can ask any more.
    pub async fn asked(&mut self) {
        if self.0.wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
