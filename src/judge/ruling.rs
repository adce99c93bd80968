//! What a judge said, before it is stored.

use std::time::Duration;

use crate::record::{Retry, Usage};
use crate::verdict::{Scores, Verdict};

/// A verdict and what led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// The verdict; [`Verdict::Unjudged`] where there is none.
    pub verdict: Verdict,
    /// Why, for people: the first is the deciding one.
    pub reasons: Vec<String>,
    /// Every call of a judge model, in the order made.
    pub votes: Vec<Ballot>,
    /// What an endpoint said, where there is no verdict because one would not or could not
    /// answer: judging later may help.
    pub failure: Option<String>,
}

impl Ruling {
    /// Returns a ruling for which no model was asked.
    #[must_use]
    pub fn of((verdict, reasons): (Verdict, Vec<String>)) -> Self {
        Self { verdict, reasons, votes: Vec::new(), failure: None }
    }

    /// Returns how long the models worked, without waits for their turn.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.votes.iter().map(|ballot| ballot.took).sum()
    }

    /// Returns how long requests waited for slots, cool-downs and backoffs.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.votes.iter().map(|ballot| ballot.waited).sum()
    }
}

/// One call of a judge model.
#[derive(Debug, Clone, PartialEq)]
pub struct Ballot {
    /// Which of the votes it is for, from 1; two calls have one number where the first
    /// could not be read.
    pub number: u32,
    /// The model's name.
    pub model: String,
    /// BLAKE3 of the request's body, as 64 hexadecimal digits.
    pub digest: String,
    /// The request's body.
    pub request: String,
    /// The reply's body exactly as received; none where there was no reply.
    pub reply: Option<String>,
    /// What it says: pass or fail; none where it could not be read.
    pub verdict: Option<Verdict>,
    /// Whether it was asked for the scores of a rubric, and not for a verdict.
    pub rates: bool,
    /// The scores that it gives; none where they could not be read.
    pub scores: Option<Scores>,
    /// The model's reason, or why there is no verdict.
    pub reason: String,
    /// Tokens, as the endpoint counted them.
    pub usage: Usage,
    /// How long the last request took.
    pub took: Duration,
    /// How long the exchange waited.
    pub waited: Duration,
    /// Requests that failed before.
    pub retries: Vec<Retry>,
}
