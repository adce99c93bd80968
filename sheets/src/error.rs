//! Why a workbook yields nothing.

use thiserror::Error as ThisError;

/// Why a workbook yields nothing. The messages follow "it is ", "it holds too much: " and
/// the like; who calls words the whole.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum Error {
    /// It needs a password.
    #[error("a workbook that is protected by a password")]
    Encrypted,
    /// Its bytes are not in order; what the parser found.
    #[error("{0}")]
    Damaged(String),
    /// It holds more than is read.
    #[error("{0}")]
    TooMuch(String),
    /// It has no sheet of the name that was asked for.
    #[error("it has no sheet `{wanted}`; its sheets are {}", quoted(.names))]
    NoSheet {
        /// What was asked for.
        wanted: String,
        /// What there is.
        names: Vec<String>,
    },
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// Words what a parser found: one line, cut where it is long.
    pub(crate) fn damaged(error: &impl ToString) -> Self {
        let text = error.to_string();
        if text.contains("password protected") || text.to_lowercase().contains("encrypted") {
            return Self::Encrypted;
        }
        Self::Damaged(brief(&text))
    }
}

/// Returns what a parser found in one line, cut where it is long.
pub(crate) fn brief(error: &impl ToString) -> String {
    let mut reason = error.to_string().replace(char::is_control, " ");
    reason.truncate(reason.floor_char_boundary(200));
    reason
}
