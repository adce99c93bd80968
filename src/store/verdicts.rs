//! Verdicts, a line each.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Store, StoreError, lines};
use crate::record::TrialId;
use crate::verdict::VerdictRecord;

/// The verdicts of one judge, open for appending.
#[derive(Debug)]
pub struct Verdicts {
    path: Utf8PathBuf,
    file: Mutex<File>,
}

fn path(root: &Utf8Path, judge: &str) -> Utf8PathBuf {
    root.join("verdicts").join(format!("{judge}.jsonl"))
}

impl Verdicts {
    pub(super) fn open(root: &Utf8Path, judge: &str) -> Result<Self, StoreError> {
        let path = path(root, judge);
        let file =
            File::options().create(true).append(true).open(&path).map_err(StoreError::io(&path))?;
        lines::cut_torn_end(&path)?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// Appends a verdict.
    pub fn append(&self, verdict: &VerdictRecord) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(verdict)
            .map_err(|error| StoreError::Io { path: self.path.clone(), source: error.into() })?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(StoreError::io(&self.path))
    }
}

impl Store {
    /// Reads the verdicts of a judge; none where it has not judged yet.
    pub fn read_verdicts(&self, judge: &str) -> Result<Vec<VerdictRecord>, StoreError> {
        let path = path(self.root(), judge);
        if path.exists() { lines::read(&path) } else { Ok(Vec::new()) }
    }
    /// Reads the verdicts of a judge that count: of several on one attempt the last.
    pub fn last_verdicts(
        &self,
        judge: &str,
    ) -> Result<BTreeMap<(TrialId, u32), VerdictRecord>, StoreError> {
        let all = self.read_verdicts(judge)?;
        Ok(all.into_iter().map(|line| ((line.trial.clone(), line.attempt), line)).collect())
    }

    /// Returns the names of the judges that have verdicts, in order.
    pub fn judges(&self) -> Result<Vec<String>, StoreError> {
        let folder = self.root().join("verdicts");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in folder.read_dir_utf8().map_err(StoreError::io(&folder))? {
            let entry = entry.map_err(StoreError::io(&folder))?;
            names.extend(entry.file_name().strip_suffix(".jsonl").map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }
}
