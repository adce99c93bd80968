//! The calls of a stored attempt, as a judge looks at them.
//!
//! Results are read as JSON where they are JSON; of a result that was cut the full text in
//! the attempt's files counts. Arguments that were left out and have a default in the
//! operation's schema count as given.

use serde_json::Value;

use super::Known;
use crate::record::{Body, CallRecord, OutcomeRecord, Record};
use crate::store::{Blobs, StoreError};

/// A call that was made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Made {
    /// Its number among the calls, from 1.
    pub(super) number: usize,
    /// Round of the agent.
    pub(super) round: u32,
    /// The tool.
    pub(super) tool: String,
    /// The arguments; `null` where they are not JSON.
    pub(super) arguments: Value,
    /// What the agent got to read.
    pub(super) text: String,
    /// The same as a value: JSON, or a text.
    pub(super) result: Value,
    /// Kind of the error, where it failed.
    pub(super) error: Option<String>,
    /// Whether a fault of the task made it fail.
    pub(super) injected: bool,
    /// Of a question, whether its reply told something; none where nobody noted it.
    pub(super) told: Option<bool>,
}

impl Made {
    /// Returns whether it had a result.
    pub(super) fn worked(&self) -> bool {
        self.error.is_none()
    }
}

/// All that an attempt left.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    /// The calls, in the order asked.
    pub(super) calls: Vec<Made>,
    /// What the agent was told before: the request and its surroundings.
    pub(super) told: String,
    /// The final text.
    pub(super) answer: Option<String>,
    /// Tools that were offered.
    pub(super) tools: usize,
    /// Events that happened in the world: of each, how many calls came before it.
    pub(super) events: Vec<usize>,
}

impl Evidence {
    /// Reads the records of an attempt.
    pub(super) fn read(
        records: &[Record],
        end: &OutcomeRecord,
        known: &Known,
        blobs: &Blobs,
    ) -> Result<Self, StoreError> {
        let mut evidence = Self::default();
        for record in records {
            match record {
                Record::Attempt(attempt) => evidence.tools = attempt.tools.len(),
                Record::Message(message) => {
                    evidence.told.push_str(&blobs.text(&message.content)?);
                    evidence.told.push('\n');
                }
                Record::Call(call) => {
                    let made = made(call, evidence.calls.len() + 1, end, known, blobs)?;
                    evidence.calls.push(made);
                }
                Record::Event(_) => evidence.events.push(evidence.calls.len()),
                Record::Model(_) | Record::Outcome(_) => {}
            }
        }
        evidence.answer = end.answer.as_ref().map(|body| blobs.text(body)).transpose()?;
        Ok(evidence)
    }
}

fn made(
    call: &CallRecord,
    number: usize,
    end: &OutcomeRecord,
    known: &Known,
    blobs: &Blobs,
) -> Result<Made, StoreError> {
    let written = blobs.text(&call.arguments)?;
    let mut arguments = match written.trim() {
        "" => Value::Object(serde_json::Map::new()),
        written => serde_json::from_str(written).unwrap_or(Value::Null),
    };
    known.fill_defaults(&call.tool, &mut arguments);
    let text = blobs.text(&call.result)?;
    let full = full(call, end).map(|body| blobs.text(&body)).transpose()?;
    let whole = full.as_deref().unwrap_or(&text);
    let result = serde_json::from_str(whole).unwrap_or_else(|_| Value::from(whole));
    let injected = call.notes.iter().any(|note| note.get("injected").is_some());
    let told =
        call.notes.iter().find_map(|note| Some(!note.get("ask_user")?.get("rule")?.is_null()));
    Ok(Made {
        number,
        round: call.round,
        tool: call.tool.clone(),
        arguments,
        result,
        text,
        error: call.error.clone(),
        injected,
        told,
    })
}

/// Returns the full text of a result that was cut, where the store keeps it.
fn full(call: &CallRecord, end: &OutcomeRecord) -> Option<Body> {
    let path = call.full.as_ref()?;
    let file = end.files.iter().find(|file| file.path == *path)?;
    Some(Body::Blob { blob: file.blob.clone()?, bytes: file.bytes })
}
