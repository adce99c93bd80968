//! The workspace: the directory that an attempt works in.
//!
//! Every access from the host's side goes through a directory handle that no `..`,
//! absolute path, symbolic link or race leaves, and counts against a quota of bytes
//! and files. Paths are relative and use `/`; `/workspace/x` and `./x`, which agents
//! write because executed code has the workspace as `/workspace`, mean `x`.
//!
//! The one invariant: a path is walked one name at a time, each opened in the
//! directory before it and never through a symbolic link, and what a tool reads comes
//! from the very file whose type was checked. Code that swaps a file or a directory
//! for a link meanwhile gains an error.

mod error;
mod files;
mod handle;
mod hint;
mod path;
pub(crate) mod tree;

pub use error::WorkspaceError;
pub use files::Workspace;
pub use path::relative;
pub use tree::{Entry, Usage};

/// How much a workspace may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Files and directories together.
    pub entries: u64,
}

impl Default for Quota {
    /// 1 GiB and 20,000 entries.
    fn default() -> Self {
        Self { bytes: 1 << 30, entries: 20_000 }
    }
}
