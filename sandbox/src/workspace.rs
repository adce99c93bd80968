//! The workspace: the directory that an attempt works in.
//!
//! Every access from the host's side goes through a directory handle that no `..`,
//! absolute path, symbolic link or race leaves, and counts against a quota of bytes
//! and files. Paths are relative and use `/`.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::scratch::Scratch;

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

/// What a workspace holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of all files together (allocated or apparent, whichever is larger).
    pub bytes: u64,
    /// Files and directories together.
    pub entries: u64,
}

/// A file of the workspace, as listed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Path below the workspace.
    pub path: Utf8PathBuf,
    /// Size in bytes.
    pub bytes: u64,
}

/// Why an access to the workspace failed. The messages are read by the agent.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path leads out of the workspace.
    #[error("`{0}` is outside the workspace; use a relative path, such as `data/sales.xlsx`")]
    Outside(String),
    /// Nothing has that name.
    #[error("there is no file `{path}` in the workspace{hint}")]
    NotFound {
        /// The path asked for.
        path: String,
        /// The nearest names, or nothing.
        hint: String,
    },
    /// It is something else than a regular file.
    #[error("`{0}` is not a regular file")]
    NotAFile(String),
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

/// A directory with a quota, accessed through a handle.
#[derive(Debug)]
pub struct Workspace {}

impl Workspace {
    /// Creates an empty workspace below the scratch directory; it is removed when dropped.
    pub fn create(scratch: &Scratch, quota: Quota) -> io::Result<Self> {
        let _ = (scratch, quota);
        todo!()
    }

    /// Uses a directory of the user's, which stays when the workspace is dropped.
    pub fn attach(folder: &Utf8Path, quota: Quota) -> io::Result<Self> {
        let _ = (folder, quota);
        todo!()
    }

    /// Reads a whole file of at most `limit` bytes.
    pub fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, WorkspaceError> {
        let _ = (path, limit);
        todo!()
    }

    /// Writes a whole file, creating its directories.
    pub fn write(&self, path: &Utf8Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
        let _ = (path, bytes);
        todo!()
    }

    /// Copies a file of the host into the workspace.
    pub fn place(&self, path: &Utf8Path, from: &Utf8Path) -> Result<(), WorkspaceError> {
        let _ = (path, from);
        todo!()
    }

    /// Lists all regular files, sorted by path.
    pub fn list(&self) -> Result<Vec<Entry>, WorkspaceError> {
        todo!()
    }

    /// Measures what is there now.
    pub fn usage(&self) -> Result<Usage, WorkspaceError> {
        todo!()
    }

    /// Returns where it lies on the host.
    #[must_use]
    pub fn host_path(&self) -> &Utf8Path {
        todo!()
    }

    /// Returns the quota.
    #[must_use]
    pub fn quota(&self) -> Quota {
        todo!()
    }
}
