//! Parsers of foreign bytes, each in a process of its own.
//!
//! A worker is this same program started as `wildgym worker`: it may use a bounded
//! amount of memory and time, has no network and no files, and reads one job at a
//! time from its standard input. A file that makes a parser loop, bloat or crash
//! costs one call and one worker, never the run.
//!
//! [`Workers`] is the host's side (`pool`, `process`), [`serve`] the worker's (`serve`,
//! `contain`); `frame` is what they say to each other.

pub(crate) mod contain;
mod frame;
mod pool;
mod process;
mod serve;

use serde::{Deserialize, Serialize};

use crate::documents::{Document, Part, Workbook};
use crate::media::{Aim, Picture, Turn};

pub use contain::Containment;
pub use pool::{Limits, Workers};
pub use serve::serve;

/// What a worker is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Job {
    /// Extract the text of a document.
    Document {
        /// The name it goes by, a hint only.
        name: String,
        /// Media type that a server declared, a hint only.
        media_type: Option<String>,
        /// The page from which one that has pages is read, from 1.
        #[serde(default)]
        page: usize,
    },
    /// Read the sheets of a workbook.
    Workbook {
        /// The name it goes by, a hint only.
        name: String,
        /// Which part of it.
        part: Part,
    },
    /// Unpack one member of an archive.
    Member {
        /// The name that the archive goes by, a hint only.
        name: String,
        /// The member, through archives in archives where it has `!/`.
        path: String,
    },
    /// Make of a picture one that can be shown.
    Picture {
        /// What it is wanted for.
        aim: Aim,
        /// How it is turned.
        turn: Turn,
    },
    /// Try what a worker must not be able to do, and tell.
    Probe,
}

/// What a worker answers.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Document(Document),
    Workbook(Workbook),
    /// The bytes of a member, in base64.
    Member(String),
    Picture(Picture),
    Probe(Containment),
    /// The file cannot be read; why.
    Unreadable(String),
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
