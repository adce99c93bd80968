//! Agents: what acts in an episode.
//!
//! An agent gets a request and a toolbox and ends with an answer or without one. It
//! writes every step to the transcript before it goes on to the next, sees nothing of
//! references or judges, and has no clock of its own: the runner stops it when its
//! working time is up.

mod accompanied;
mod answers;
mod asking;
mod driven;
mod episode;
mod guess;
mod noted;
mod pictures;
mod plan;
pub mod program;
mod random;
mod react;
mod reference;
mod refuse;
mod silent;
mod split;
mod written;

use std::sync::Arc;

use futures::future::BoxFuture;

pub use accompanied::Accompanied;
pub use answers::{Answers, Asked};
pub use asking::Asking;
pub use driven::{Over, Seat, Wishes, drive};
pub use episode::{Episode, Request, event_of};
pub use guess::Guess;
pub use pictures::{Shown, shown};
pub use plan::Plan;
pub use program::Program;
pub use random::Random;
pub use react::{REMINDER, React, SYSTEM, announced, final_answer};
pub use reference::{Manner, Reference};
pub use refuse::Refuse;
pub use silent::Silent;
pub use split::{Part, Spent};

use crate::record::{Lost, Outcome};
use crate::store::StoreError;

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// How its part ended.
    pub outcome: Outcome,
    /// The final answer, where it gave one.
    pub answer: Option<String>,
    /// What explains the outcome, for people.
    pub detail: Option<String>,
}

impl Ending {
    /// Ends with an answer.
    #[must_use]
    pub fn answered(answer: impl Into<String>) -> Self {
        Self { outcome: Outcome::Answered, answer: Some(answer.into()), detail: None }
    }

    /// Ends without one.
    #[must_use]
    pub fn without(outcome: Outcome, detail: impl Into<String>) -> Self {
        Self { outcome, answer: None, detail: Some(detail.into()) }
    }
}

/// Something that is not the agent's doing ended the attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// What broke.
    pub lost: Lost,
    /// How, for people.
    pub detail: String,
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self { lost: Lost::Harness, detail: error.to_string() }
    }
}

/// Something that acts in an episode.
pub trait Agent: Send + Sync {
    /// Acts until it ends. Dropping the future stops it at once.
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>>;

    /// Returns who answers the questions of this attempt's tools; none where nobody does.
    fn answers(&self) -> Option<Arc<dyn Answers>> {
        None
    }

    /// Returns the model that plays the person who gave the task in this attempt; none where
    /// the task's script does.
    fn user(&self) -> Option<Arc<dyn Answers>> {
        None
    }

    /// Tells whether the agent acts as recorded, and this attempt was.
    fn is_recorded(&self) -> bool {
        false
    }
}

/// Returns whole milliseconds.
fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
