//! A run on disk: one directory, append-only, safe to kill at any time.
//!
//! ```text
//! run.toml                     everything that can move a score
//! lock                         held by the one writer
//! trials/<condition>/<task>/<variant>/<k>.<attempt>.jsonl
//! blobs/<digest>               long texts, files, task data; named by content
//! verdicts/<judge>.jsonl
//! annotations/<model>.jsonl    why trials failed, by a model
//! ```
//!
//! A transcript is finished when its last complete line is an outcome. A line without
//! its newline does not count, an attempt that died is never appended to, and a blob
//! appears under its name only when it is whole. So whatever kills the process, what
//! was finished stays finished. This module decides nothing about trials; it keeps
//! and finds them.

mod annotations;
mod blobs;
mod config;
mod index;
mod judged;
mod lines;
mod lock;
mod offering;
mod series;
mod servers;
mod states;
mod transcript;
mod verdicts;
mod web;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

pub use annotations::Annotations;
pub use blobs::Blobs;
pub use config::{
    BoundsConfig, CassetteRef, Condition, FaultsConfig, JudgeConfig, ModelConfig, OUTSIDE,
    OperationData, Plan, ProgramConfig, RunConfig, SuiteRef, TaskData, ToolsRef, WorldData,
};
pub use index::{Damaged, Index, Stored, Trial};
pub use judged::{Judged, JudgedVote};
pub use lock::Lock;
pub use offering::{Axis, Distractors, ORIGINAL, Offering, Setting, ToolOrder, ToolText};
pub use series::{SeriesLine, SeriesTask, append_series, read_series};
pub use servers::{Origin, ServerRef};
pub use transcript::Transcript;
pub use verdicts::{LastVerdicts, Verdicts};
pub use web::{RecordingRef, WebConfig, WebName};

/// Why a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("cannot access `{path}`: {source}")]
    Io {
        /// The file or directory.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no run in that directory.
    #[error("there is no run in `{0}`: it has no `run.toml`")]
    NoRun(Utf8PathBuf),
    /// A new run was to be made where something is already.
    #[error("`{0}` exists already")]
    Exists(Utf8PathBuf),
    /// Another process writes the run.
    #[error("`{path}` is being written by {holder}")]
    Locked {
        /// The run.
        path: Utf8PathBuf,
        /// Who holds the lock, as it said itself.
        holder: String,
    },
    /// A stored file does not say what it should.
    #[error("`{path}`{}: {reason}", at(*.line))]
    Corrupt {
        /// The file.
        path: Utf8PathBuf,
        /// Line number, from 1; 0 where it is about the whole file.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The run was written by a newer program.
    #[error("`{path}` has format {found}, and this program reads format {known}")]
    Newer {
        /// The file.
        path: Utf8PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
}

/// Writes the place in a file.
fn at(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" line {line}") }
}

impl StoreError {
    /// Returns whether it is about one stored file, so that the others can still be read.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt { .. } | Self::Io { .. } => true,
            Self::NoRun(_) | Self::Exists(_) | Self::Locked { .. } | Self::Newer { .. } => false,
        }
    }

    /// Says which file an error of the file system is about.
    fn io(path: &Utf8Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// A run's directory, to read from.
#[derive(Debug, Clone)]
pub struct Store {
    root: Utf8PathBuf,
}

impl Store {
    /// Opens the run in `root`.
    pub fn open(root: &Utf8Path) -> Result<Self, StoreError> {
        if !root.join("run.toml").is_file() {
            return Err(StoreError::NoRun(root.to_owned()));
        }
        Ok(Self { root: root.to_owned() })
    }

    /// Makes a new run in `root`, which must hold none, and takes its lock.
    ///
    /// `configure` may put blobs that the configuration names. `run.toml` is written last
    /// and at once, so a directory either is a run or is not.
    pub fn create(
        root: &Utf8Path,
        configure: impl FnOnce(&Blobs) -> Result<RunConfig, StoreError>,
    ) -> Result<(Self, Lock, RunConfig), StoreError> {
        std::fs::create_dir_all(root).map_err(StoreError::io(root))?;
        let lock = Lock::take(root)?;
        if root.join("run.toml").exists() {
            return Err(StoreError::Exists(root.to_owned()));
        }
        let store = Self { root: root.to_owned() };
        store.make_folders()?;
        let config = configure(&store.blobs())?;
        config.write(root)?;
        Ok((store, lock, config))
    }

    /// Makes a place for attempts that are not to stay: it has no configuration, and no other
    /// program takes it for a run.
    pub fn passing(root: &Utf8Path) -> Result<Self, StoreError> {
        let store = Self { root: root.to_owned() };
        store.make_folders()?;
        Ok(store)
    }

    /// Takes the writer's lock.
    pub fn lock(&self) -> Result<Lock, StoreError> {
        let lock = Lock::take(&self.root)?;
        self.make_folders()?;
        Ok(lock)
    }

    fn make_folders(&self) -> Result<(), StoreError> {
        ["trials", "blobs", "verdicts"].iter().try_for_each(|folder| {
            let path = self.root.join(folder);
            std::fs::create_dir_all(&path).map_err(StoreError::io(&path))
        })
    }

    /// Returns whether a process writes the run now, so that an attempt without an
    /// outcome may still get one.
    #[must_use]
    pub fn is_being_written(&self) -> bool {
        Lock::is_held(&self.root)
    }

    /// Returns the directory.
    #[must_use]
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Reads `run.toml`.
    pub fn config(&self) -> Result<RunConfig, StoreError> {
        RunConfig::read(&self.root)
    }

    /// Returns the blobs.
    #[must_use]
    pub fn blobs(&self) -> Blobs {
        Blobs::new(&self.root)
    }

    /// Finds every attempt and how it ended; damage is an error, for what goes on with a
    /// run must not take a finished attempt for one that is not.
    pub fn index(&self) -> Result<Index, StoreError> {
        let mut index = self.survey()?;
        if index.damaged.is_empty() {
            return Ok(index);
        }
        Err(index.damaged.swap_remove(0).error)
    }

    /// Finds every attempt and how it ended, and what is damaged.
    pub fn survey(&self) -> Result<Index, StoreError> {
        Index::read(&self.root)
    }

    /// Opens the verdicts of a judge for appending.
    pub fn verdicts(&self, judge: &str) -> Result<Verdicts, StoreError> {
        Verdicts::open(&self.root, judge)
    }
}
