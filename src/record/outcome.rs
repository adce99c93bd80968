//! How the agent's part of an attempt ended.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the agent's part of an attempt ended; stored as `answered`, `no-answer`,
/// `limit:<which>`, `lost:<why>` or `skipped:<why>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Outcome {
    /// It gave a final answer.
    Answered,
    /// It stopped without one.
    NoAnswer,
    /// A limit stopped it; counts like no answer.
    Limit(Limit),
    /// The harness broke it: no verdict, attempted again.
    Lost(Lost),
    /// It could not be tried on this machine.
    Skipped(String),
}

/// A limit of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Model replies.
    Rounds,
    /// Tokens of requests and replies.
    Tokens,
    /// Working time.
    Time,
    /// The model's context window.
    Context,
}

/// What broke an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// The process died; such a transcript has no outcome line.
    Killed,
    /// The user stopped the run.
    Interrupted,
    /// The model's endpoint failed for good.
    Model,
    /// The endpoint of the model that plays the user failed for good.
    User,
    /// The sandbox failed.
    Sandbox,
    /// The browser died with a page of the attempt open.
    Browser,
    /// A store could not be written, or an invariant broke.
    Harness,
}

impl Limit {
    const ALL: [Self; 4] = [Self::Rounds, Self::Tokens, Self::Time, Self::Context];

    /// Returns the name after `limit:`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Tokens => "tokens",
            Self::Time => "time",
            Self::Context => "context",
        }
    }
}

impl Lost {
    const ALL: [Self; 7] = [
        Self::Killed,
        Self::Interrupted,
        Self::Model,
        Self::User,
        Self::Sandbox,
        Self::Browser,
        Self::Harness,
    ];

    /// Returns the name after `lost:`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Interrupted => "interrupted",
            Self::Model => "model",
            Self::User => "user",
            Self::Sandbox => "sandbox",
            Self::Browser => "browser",
            Self::Harness => "harness",
        }
    }
}

impl Outcome {
    /// Returns whether the trial needs another attempt.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Lost(_) => true,
            Self::Answered | Self::NoAnswer | Self::Limit(_) | Self::Skipped(_) => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("answered"),
            Self::NoAnswer => f.write_str("no-answer"),
            Self::Limit(limit) => write!(f, "limit:{}", limit.name()),
            Self::Lost(lost) => write!(f, "lost:{}", lost.name()),
            Self::Skipped(why) => write!(f, "skipped:{why}"),
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || format!("`{text}` is no outcome");
        match text.split_once(':') {
            None if text == "answered" => Ok(Self::Answered),
            None if text == "no-answer" => Ok(Self::NoAnswer),
            Some(("limit", name)) => Limit::ALL
                .into_iter()
                .find(|limit| limit.name() == name)
                .map(Self::Limit)
                .ok_or_else(unknown),
            Some(("lost", name)) => Lost::ALL
                .into_iter()
                .find(|lost| lost.name() == name)
                .map(Self::Lost)
                .ok_or_else(unknown),
            Some(("skipped", why)) => Ok(Self::Skipped(why.to_owned())),
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for Outcome {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Outcome> for String {
    fn from(outcome: Outcome) -> Self {
        outcome.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_reads_back_as_written() {
        let limits = Limit::ALL.map(Outcome::Limit);
        let lost = Lost::ALL.map(Outcome::Lost);
        let rest = [Outcome::Answered, Outcome::NoAnswer, Outcome::Skipped("no speech".into())];
        for outcome in limits.into_iter().chain(lost).chain(rest) {
            let json = serde_json::to_string(&outcome).unwrap();
            assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome, "{json}");
        }
        assert!("limit:patience".parse::<Outcome>().is_err());
        assert!("answered:yes".parse::<Outcome>().is_err());
    }
}
