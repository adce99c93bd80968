//! Parsers of foreign bytes, each in a process of its own.
//!
//! A worker is this same program started as `wildgym worker`: it may use a bounded
//! amount of memory and time, has no network and no files, and reads one job at a
//! time from its standard input. A file that makes a parser loop, bloat or crash
//! costs one call and one worker, never the run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::documents::{Document, Workbook};

/// What a worker is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Job {
    /// Extract the text of a document.
    Document {
        /// The name it goes by, a hint only.
        name: String,
        /// Media type that a server declared, a hint only.
        media_type: Option<String>,
    },
    /// Read the sheets of a workbook.
    Workbook {
        /// The name it goes by, a hint only.
        name: String,
    },
}

/// Why there is no result. The messages are read by the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The file cannot be read; the text says why.
    #[error("{0}")]
    Unreadable(String),
    /// The worker ran into its limit of time or memory, or crashed; the text says which.
    #[error("{0}")]
    Ended(String),
}

/// A pool of worker processes.
#[derive(Debug)]
pub struct Workers {
    program: PathBuf,
}

impl Workers {
    /// Prepares a pool of at most `count` processes of `program worker`; they start on demand.
    #[must_use]
    pub fn new(program: PathBuf, count: usize) -> Self {
        let _ = count;
        Self { program }
    }

    /// Extracts the text of a document.
    pub async fn document(
        &self,
        name: &str,
        media_type: Option<&str>,
        bytes: Vec<u8>,
    ) -> Result<Document, WorkerError> {
        let _ = (name, media_type, bytes, &self.program);
        todo!()
    }

    /// Reads the sheets of a workbook.
    pub async fn workbook(&self, name: &str, bytes: Vec<u8>) -> Result<Workbook, WorkerError> {
        let _ = (name, bytes);
        todo!()
    }
}

/// Serves jobs until standard input ends: the whole life of a worker process.
pub fn serve() -> std::io::Result<()> {
    todo!()
}
