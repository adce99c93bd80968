//! Why a call had no result, worded for whoever has to act.
//!
//! A violated constraint is a sentence about the table and its columns; SQLite's own words
//! reach a caller only for what an agent's own SQL got wrong.

use std::fmt;

use rusqlite::{Error, ErrorCode, ffi};
use thiserror::Error as ThisError;
use wildgym_tasks::world::{Code, WorldMeta};

use super::guard::Guard;

/// A call that was understood and not done; the state is as before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The kind, for programs.
    pub code: Code,
    /// What is wrong and what helps: a fragment for the caller.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code.name())
    }
}

/// Why a call had no result.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum WorldError {
    /// The caller has to do something else.
    #[error("{0}")]
    Refused(Refusal),
    /// The world is broken: no call will be right again.
    #[error("the world is broken: {0}")]
    Broken(String),
}

impl WorldError {
    /// Returns a refusal.
    pub(super) fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::Refused(Refusal { code, message: message.into() })
    }

    /// Returns a fault of the world in a part of an operation.
    pub(super) fn broken(place: &str, error: &Error) -> Self {
        Self::Broken(format!("{place}: {error}"))
    }
}

/// Words what stopped a statement of the world while it ran.
#[expect(clippy::wildcard_enum_match_arm, reason = "what no caller can help is broken")]
pub(super) fn of_statement(error: &Error, meta: &WorldMeta, guard: &Guard) -> WorldError {
    if guard.was_stopped() {
        let steps = guard.steps();
        let message = format!("it takes more than {steps} steps; ask for less at once");
        return WorldError::refused(Code::Limit, message);
    }
    let Error::SqliteFailure(cause, message) = error else {
        return WorldError::Broken(error.to_string());
    };
    let message = message.as_deref().unwrap_or_default();
    match cause.code {
        ErrorCode::ConstraintViolation => constraint(cause.extended_code, message, meta),
        ErrorCode::TypeMismatch => {
            WorldError::refused(Code::Invalid, "a value has the wrong type for its place")
        }
        ErrorCode::TooBig => WorldError::refused(Code::Limit, "a text is too long"),
        ErrorCode::DiskFull => WorldError::refused(Code::Limit, "the state has no room for more"),
        ErrorCode::Unknown => WorldError::refused(Code::Invalid, message.to_owned()),
        // The rest tells of the engine or the machine, and no caller can help it.
        code => WorldError::Broken(format!("{code:?}: {message}")),
    }
}

fn constraint(code: i32, message: &str, meta: &WorldMeta) -> WorldError {
    // `UNIQUE constraint failed: contacts.company, contacts.email`
    let subject = message.split_once("failed: ").map_or(message, |(_, subject)| subject);
    if let Some(known) = meta.constraints.get(subject) {
        return WorldError::refused(Code::Refused, known.clone());
    }
    match code {
        ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_ROWID => {
            let (table, columns) = columns(subject);
            let message = format!(
                "there is already a row of `{table}` with the same {columns}; \
                 look it up, or use another value"
            );
            WorldError::refused(Code::Duplicate, message)
        }
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            let (table, columns) = columns(subject);
            let message = format!("{columns} of `{table}` must be given");
            WorldError::refused(Code::Invalid, message)
        }
        ffi::SQLITE_CONSTRAINT_CHECK => {
            let message = format!("the state would break the rule `{subject}`");
            WorldError::refused(Code::Refused, message)
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
            let message = "something that was named does not exist, or is still in use";
            WorldError::refused(Code::Refused, message)
        }
        // RAISE(ABORT, '…') of a trigger, a function of the engine, a strict table's types.
        _ => WorldError::refused(Code::Refused, message.to_owned()),
    }
}

/// Words a foreign key that does not hold at the end of an operation.
pub(super) fn dangling(table: &str, parent: &str) -> WorldError {
    let message = format!(
        "a row of `{table}` would name a row of `{parent}` that does not exist; \
         look up the id in `{parent}`, or deal with the rows of `{table}` first"
    );
    WorldError::refused(Code::NotFound, message)
}

/// Reads `contacts.company, contacts.email` as a table and its columns.
fn columns(subject: &str) -> (String, String) {
    let mut table = String::new();
    let mut columns = Vec::new();
    for part in subject.split(", ") {
        match part.split_once('.') {
            Some((name, column)) => {
                name.clone_into(&mut table);
                columns.push(format!("`{column}`"));
            }
            None => columns.push(format!("`{part}`")),
        }
    }
    (table, columns.join(" and "))
}
