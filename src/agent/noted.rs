//! An exchange with an agent's model, as a transcript has it.
//!
//! It is taken down when the exchange has ended and may be written later: exchanges that run
//! side by side are written in the order in which they began. It decides nothing about what an
//! error means.

use tokio::time::Instant;

use super::{Broken, millis};
use crate::model::{Exchange, ModelError};
use crate::record::{ModelRecord, Record, Retry, Times, Usage};
use crate::store::Transcript;

/// An exchange that has ended and is not written yet.
#[derive(Debug)]
pub(super) struct Noted {
    round: u32,
    request: String,
    reply: String,
    status: u16,
    usage: Usage,
    peculiar: Vec<String>,
    took_ms: u64,
    waited_ms: u64,
    retries: Vec<Retry>,
    ended: Instant,
}

impl Noted {
    /// Takes down an exchange that got a reply.
    pub(super) fn good(round: u32, exchange: &Exchange) -> Self {
        Self {
            round,
            request: exchange.request_digest.clone(),
            reply: exchange.reply_text.clone(),
            status: exchange.status,
            usage: exchange.usage,
            peculiar: exchange.reply.peculiar.clone(),
            took_ms: millis(exchange.took),
            waited_ms: millis(exchange.waited),
            retries: exchange.retries.clone(),
            ended: Instant::now(),
        }
    }

    /// Takes down an exchange that got none; nothing where no request was sent.
    pub(super) fn failed(round: u32, error: &ModelError) -> Option<Self> {
        let failure = error.failure()?;
        let said = if failure.body.is_empty() { &failure.reason } else { &failure.body };
        Some(Self {
            round,
            request: failure.request_digest.clone(),
            reply: said.clone(),
            status: failure.status.unwrap_or_default(),
            usage: Usage::default(),
            peculiar: Vec::new(),
            took_ms: millis(failure.took),
            waited_ms: millis(failure.waited),
            retries: failure.retries.clone(),
            ended: Instant::now(),
        })
    }

    /// Writes it; its time is that at which it ended.
    pub(super) fn append(self, transcript: &mut Transcript) -> Result<(), Broken> {
        let since = millis(self.ended.elapsed());
        let record = ModelRecord {
            round: self.round,
            role: "agent".to_owned(),
            call: None,
            purpose: None,
            asked: None,
            request: self.request,
            reply: transcript.body(self.reply)?,
            status: self.status,
            usage: self.usage,
            peculiar: self.peculiar,
            t: Times {
                at_ms: transcript.at_ms().saturating_sub(since),
                took_ms: self.took_ms,
                waited_ms: self.waited_ms,
                retries: self.retries,
                ..Times::default()
            },
        };
        Ok(transcript.append(&Record::Model(record))?)
    }
}
