//! The lines of a reel: what a cassette keeps of an exchange, as JSON.
//!
//! A line holds what its request adds to the one of the line before, and how the exchange
//! ended. What the fields mean stands in `README.md` beside this file; a field is never given
//! another meaning under the same version.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::cassette::CassetteError;
use super::error::{Failure, ModelError};
use super::message::Message;
use crate::record::Retry;

/// Why an exchange was cut off that no limit cut off.
const LEFT: &str = "the attempt ended before it";

/// The first line of a file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) wildgym: String,
    pub(super) run: String,
    pub(super) trial: String,
    pub(super) attempt: u32,
    pub(super) role: String,
}

/// Any other line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub(super) session: u32,
    pub(super) n: u32,
    pub(super) request: Asked,
    pub(super) ended: Ended,
    #[serde(default)]
    pub(super) t: Times,
}

/// A request, as what it adds to the one before.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) settings: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<String>,
    /// How many messages of the request before it repeats.
    pub(super) keep: usize,
    /// The messages that follow those.
    pub(super) messages: Vec<Box<RawValue>>,
}

/// How an exchange ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) how: How,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    /// The last answer's body, as it came but for the key.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) body: String,
    /// Whether that had to be repaired to be read.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) mended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// Requests that failed before; of a failure, which counts them in its words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) retries: Vec<Retry>,
}

/// The ways to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum How {
    /// With a reply.
    Reply,
    /// See [`ModelError::Refused`].
    Refused,
    /// See [`ModelError::ContextOverflow`].
    Overflow,
    /// See [`ModelError::Gone`].
    Gone,
    /// It had not ended when the one who asked was stopped.
    Cut,
}

/// What depends on the machine or the hour.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Times {
    pub(super) took_ms: u64,
    pub(super) waited_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) retries: Vec<Retry>,
}

impl Line {
    /// Tells whether it is of the request with that digest.
    pub(super) fn is(&self, digest: &str) -> bool {
        self.request.digest == digest
    }
}

/// The request of a line.
#[derive(Debug, Default)]
pub(super) struct Before {
    pub(super) messages: Vec<Message>,
    pub(super) settings: String,
}

impl Before {
    /// Goes on to the request of the next line; false where that does not fit.
    pub(super) fn apply(&mut self, asked: &Asked) -> bool {
        let fits = asked.keep <= self.messages.len();
        self.messages.truncate(asked.keep);
        self.messages
            .extend(asked.messages.iter().map(|message| Message::from_json(message.get())));
        if let Some(settings) = &asked.settings {
            settings.get().clone_into(&mut self.settings);
        }
        fits
    }
}

impl Header {
    /// Returns the same scope, of no run yet.
    pub(super) fn named(&self) -> Self {
        Self {
            format: self.format,
            wildgym: self.wildgym.clone(),
            run: String::new(),
            trial: self.trial.clone(),
            attempt: self.attempt,
            role: self.role.clone(),
        }
    }
}

impl Times {
    pub(super) fn new(took: Duration, waited: Duration, retries: &[Retry]) -> Self {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self { took_ms: ms(took), waited_ms: ms(waited), retries: retries.to_vec() }
    }
}

impl How {
    pub(super) fn of(error: &ModelError) -> Option<Self> {
        match error {
            ModelError::Refused(_) => Some(Self::Refused),
            ModelError::ContextOverflow(_) => Some(Self::Overflow),
            ModelError::Gone(_) => Some(Self::Gone),
            ModelError::Misconfigured(_) | ModelError::Cassette(_) => None,
        }
    }
}

impl Ended {
    pub(super) fn cut() -> Self {
        Self {
            how: How::Cut,
            status: None,
            body: String::new(),
            mended: false,
            reason: None,
            hint: None,
            retries: Vec::new(),
        }
    }

    /// Of an exchange that nobody waited for any more.
    pub(super) fn left() -> Self {
        Self { reason: Some(LEFT.to_owned()), ..Self::cut() }
    }

    pub(super) fn failed(how: How, failure: &Failure) -> Self {
        Self {
            how,
            status: failure.status,
            body: failure.body.clone(),
            reason: Some(failure.reason.clone()),
            hint: failure.hint.clone(),
            retries: failure.retries.clone(),
            ..Self::cut()
        }
    }

    /// Returns the error with which it ended; none where there was a reply.
    pub(super) fn error(&self, request_digest: &str) -> Option<ModelError> {
        let failure = || {
            Box::new(Failure {
                request_digest: request_digest.to_owned(),
                status: self.status,
                reason: self.reason.clone().unwrap_or_default(),
                hint: self.hint.clone(),
                body: self.body.clone(),
                retries: self.retries.clone(),
                took: Duration::ZERO,
                waited: Duration::ZERO,
            })
        };
        match self.how {
            How::Reply => None,
            How::Refused => Some(ModelError::Refused(failure())),
            How::Overflow => Some(ModelError::ContextOverflow(failure())),
            How::Gone => Some(ModelError::Gone(failure())),
            How::Cut if self.reason.is_some() => Some(CassetteError::LeftBehind.into()),
            How::Cut => Some(CassetteError::CutOff.into()),
        }
    }
}

/// Returns the number of the first session.
pub(super) fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_first(session: &u32) -> bool {
    *session == first()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
