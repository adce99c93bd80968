//! Writing one transcript.

use std::fs::{self, File};
use std::io::Write;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Blobs, StoreError};
use crate::record::{Body, Record, TrialId};

/// A transcript that is being written. Each record is one write of one line, so a
/// kill leaves whole lines and at most one torn one.
#[derive(Debug)]
pub struct Transcript {
    file: File,
    path: Utf8PathBuf,
    blobs: Blobs,
    began: Instant,
}

/// Returns the path of an attempt's transcript below a run.
pub(super) fn path(root: &Utf8Path, trial: &TrialId, attempt: u32) -> Utf8PathBuf {
    root.join("trials")
        .join(&trial.condition)
        .join(&trial.task)
        .join(trial.variant.to_string())
        .join(format!("{}.{attempt}.jsonl", trial.k))
}

impl Transcript {
    /// Begins a transcript; the file must not exist.
    pub(super) fn create(
        root: &Utf8Path,
        trial: &TrialId,
        attempt: u32,
    ) -> Result<Self, StoreError> {
        let path = path(root, trial, attempt);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        }
        let file = File::options()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(StoreError::io(&path))?;
        Ok(Self { file, path, blobs: Blobs::new(root), began: Instant::now() })
    }

    /// Appends a record.
    pub fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(record)
            .map_err(|error| StoreError::Io { path: self.path.clone(), source: error.into() })?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(StoreError::io(&self.path))
    }

    /// Turns a text into a body, as a blob where it is long.
    pub fn body(&self, text: String) -> Result<Body, StoreError> {
        self.blobs.body(text)
    }

    /// Returns the run's blobs.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Returns the milliseconds since the attempt began.
    #[must_use]
    pub fn at_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl super::Store {
    /// Begins the transcript of an attempt.
    pub fn transcript(&self, trial: &TrialId, attempt: u32) -> Result<Transcript, StoreError> {
        Transcript::create(&self.root, trial, attempt)
    }

    /// Reads the whole records of an attempt.
    pub fn records(&self, trial: &TrialId, attempt: u32) -> Result<Vec<Record>, StoreError> {
        super::lines::read(&path(&self.root, trial, attempt))
    }
}
