//! Why a model gave no reply.

use std::time::Duration;

use thiserror::Error;

use super::cassette::CassetteError;
use crate::record::Retry;

/// Why a model gave no reply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// The endpoint, the key or the settings cannot be used; nothing was sent.
    #[error("{0}")]
    Misconfigured(String),
    /// The endpoint refused the request, and would refuse it again.
    #[error("the endpoint refused the request{0}")]
    Refused(Box<Failure>),
    /// The conversation is longer than what the model can read.
    #[error("the conversation is longer than the model's context{0}")]
    ContextOverflow(Box<Failure>),
    /// No request got a usable answer; the attempt is lost.
    #[error("the endpoint gave no usable answer{0}")]
    Gone(Box<Failure>),
    /// The cassette does not hold the exchange, or cannot keep it; nothing was sent, or
    /// what was sent is not kept.
    #[error("{0}")]
    Cassette(Box<CassetteError>),
}

impl From<CassetteError> for ModelError {
    fn from(error: CassetteError) -> Self {
        Self::Cassette(Box::new(error))
    }
}

impl ModelError {
    /// Returns what is known of the last request, where one was sent.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Misconfigured(_) | Self::Cassette(_) => None,
            Self::Refused(failure) | Self::ContextOverflow(failure) | Self::Gone(failure) => {
                Some(failure)
            }
        }
    }
}

/// What is known of a request that got no reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// BLAKE3 of the request's body, as 64 hexadecimal digits.
    pub request_digest: String,
    /// Status of the last answer; none where there was no answer.
    pub status: Option<u16>,
    /// What went wrong, in the endpoint's words where it said something.
    pub reason: String,
    /// What to check, where that is known.
    pub hint: Option<String>,
    /// Body of the last answer; empty where there was none.
    pub body: String,
    /// Requests that failed before the last one.
    pub retries: Vec<Retry>,
    /// How long the last request took.
    pub took: Duration,
    /// How long the exchange waited for slots, cool-downs and backoffs.
    pub waited: Duration,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.retries.is_empty() {
            write!(f, " in {} tries", self.retries.len() + 1)?;
        }
        write!(f, ": {}", self.reason)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}
