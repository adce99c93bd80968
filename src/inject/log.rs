//! The log of a proxy: what was decided about each call, and what came of it, as JSON Lines.
//!
//! A line is written and handed to the system before the call goes on, so a proxy that is killed
//! leaves no decision untold. Arguments are not written down: they may hold what is secret.

use std::fs::File;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::message::Call;
use crate::fault::Fault;

/// Writes lines.
#[derive(Debug)]
pub struct Log {
    file: File,
    /// What went wrong, once something did; nothing is written after that.
    failure: Option<String>,
}

impl Log {
    /// Opens a file, to whose end lines are added.
    pub fn open(path: &camino::Utf8Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        Ok(Self { file, failure: None })
    }

    /// Says what went wrong with the file.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Writes what was decided about a call.
    pub(super) fn decision(
        &mut self,
        (arrival, server): (u64, &str),
        call: &Call<'_>,
        fault: Option<&Fault>,
    ) {
        let id: Value = serde_json::from_str(call.id).unwrap_or(Value::Null);
        self.write(&json!({
            "record": "decision", "at": jiff::Timestamp::now(), "arrival": arrival, "id": id,
            "server": server, "tool": call.tool, "fired": fault.is_some_and(|fault| fault.fired),
            "fault": fault,
        }));
    }

    /// Writes what a fault that fired did.
    pub(super) fn effect(&mut self, arrival: u64, applied: bool, what: &str) {
        self.write(&json!({
            "record": "effect", "at": jiff::Timestamp::now(), "arrival": arrival,
            "applied": applied, "what": what,
        }));
    }

    fn write(&mut self, line: &Value) {
        if self.failure.is_some() {
            return;
        }
        if let Err(error) = self.file.write_all(format!("{line}\n").as_bytes()) {
            self.failure = Some(error.to_string());
        }
    }
}
