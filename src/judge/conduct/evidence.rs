//! The calls of a stored attempt, as a judge looks at them.
//!
//! Results are read as JSON where they are JSON; of a result that was cut the full text in
//! the attempt's files counts. Arguments that were left out and have a default in the
//! operation's schema count as given.

use std::collections::BTreeSet;

use serde_json::Value;
use wildgym_tasks::check::Pattern;
use wildgym_tasks::scenario_file::FileCheck;

use super::Known;
use super::words::Left;
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
    /// Those of them that were left out and count as given.
    pub(super) defaults: BTreeSet<String>,
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
    let defaults = known.fill_defaults(&call.tool, &mut arguments);
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
        defaults,
        result,
        text,
        error: call.error.clone(),
        injected,
        told,
    })
}

/// Returns the files that checks ask for, each with its text where the store keeps it.
pub(super) fn left(
    checks: &[FileCheck],
    end: &OutcomeRecord,
    blobs: &Blobs,
) -> Result<Vec<Left>, StoreError> {
    let patterns: Vec<Pattern> = checks.iter().map(|check| Pattern::new(&check.path)).collect();
    let asked = |path: &str| patterns.iter().any(|pattern| pattern.matches(path));
    let text = |blob: &String| -> Result<String, StoreError> {
        Ok(String::from_utf8_lossy(&blobs.get(blob)?).into_owned())
    };
    let files = end.files.iter().filter(|file| asked(&file.path));
    files.map(|file| Ok((file.path.clone(), file.blob.as_ref().map(text).transpose()?))).collect()
}

/// Returns the full text of a result that was cut, where the store keeps it.
fn full(call: &CallRecord, end: &OutcomeRecord) -> Option<Body> {
    let path = call.full.as_ref()?;
    let file = end.files.iter().find(|file| file.path == *path)?;
    Some(Body::Blob { blob: file.blob.clone()?, bytes: file.bytes })
}
