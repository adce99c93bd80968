//! Why an access to the workspace failed.

use std::io;

/// Why an access to the workspace failed. The messages are read by the agent.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path leads out of the workspace.
    #[error("`{0}` is outside the workspace; use a relative path, such as `data/sales.xlsx`")]
    Outside(String),
    /// The path can be the name of no file.
    #[error("`{path}` cannot be a file of the workspace: {reason}")]
    BadPath {
        /// The path asked for, cut where it is long.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Nothing has that name.
    #[error("there is no file `{path}` in the workspace{hint}")]
    NotFound {
        /// The path asked for.
        path: String,
        /// The nearest names, or nothing.
        hint: String,
    },
    /// It is something else than a regular file.
    #[error("`{path}` is {what}, not a regular file")]
    NotAFile {
        /// The path asked for.
        path: String,
        /// What is there, such as `a directory`.
        what: &'static str,
    },
    /// It is larger than the reader takes.
    #[error("`{path}` has {bytes} bytes; at most {limit} can be read at once")]
    TooLarge {
        /// The path asked for.
        path: String,
        /// Its size.
        bytes: u64,
        /// How much can be read.
        limit: u64,
    },
    /// The quota is used up.
    #[error("the workspace is full: {0}")]
    Full(String),
    /// Any other failure of the file system.
    #[error("cannot access `{path}`: {source}")]
    Io {
        /// The path asked for.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}
