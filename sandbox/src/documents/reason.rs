//! Why a file yields no text.

use thiserror::Error;

/// Why a file yields no text. The messages follow "cannot read `name`: ".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// There are no bytes.
    #[error("the file is empty (0 bytes)")]
    Empty,
    /// It needs a password.
    #[error("it is protected by a password ({0})")]
    Encrypted(&'static str),
    /// It is of a kind that is not read.
    #[error("it is {0}")]
    Unsupported(String),
    /// It is of a kind that is read, but its bytes are not in order.
    #[error("it is a damaged {kind}: {reason}")]
    Damaged {
        /// What it is.
        kind: &'static str,
        /// What its parser found.
        reason: String,
    },
    /// It unpacks to more than is allowed.
    #[error("it is refused as a decompression bomb: {0}")]
    Bomb(String),
    /// It lacks the part that was asked for.
    #[error("{0}")]
    Missing(String),
    /// It is an archive, and one member of it cannot be unpacked.
    #[error("its member `{0}` cannot be unpacked: {1}")]
    Member(String, String),
    /// It holds more than is read.
    #[error("it holds too much: {0}")]
    TooMuch(String),
}

impl Unreadable {
    /// Words what a parser found.
    pub(super) fn damaged(kind: &'static str, error: &impl ToString) -> Self {
        Self::Damaged { kind, reason: brief(error) }
    }
}

/// Returns what a parser found in one line, cut where it is long.
pub(super) fn brief(error: &impl ToString) -> String {
    let mut reason = error.to_string().replace(char::is_control, " ");
    reason.truncate(reason.floor_char_boundary(200));
    reason
}
