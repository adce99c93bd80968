//! Annotations of failed trials, a line each.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Damaged, Store, StoreError, lines};
use crate::record::{AnnotationRecord, TrialId};

/// The annotations of one model, open for appending.
#[derive(Debug)]
pub struct Annotations {
    path: Utf8PathBuf,
    file: Mutex<File>,
}

/// Returns the file of a model. Models whose names differ only in what a file name cannot
/// hold share one; each line names its model.
fn path(root: &Utf8Path, model: &str) -> Utf8PathBuf {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    root.join("annotations").join(format!("{}.jsonl", model.chars().map(keep).collect::<String>()))
}

impl Annotations {
    /// Appends an annotation, in one write.
    pub fn append(&self, record: &AnnotationRecord) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(record)
            .map_err(|error| StoreError::Io { path: self.path.clone(), source: error.into() })?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(StoreError::io(&self.path))
    }
}

impl Store {
    /// Opens the annotations of a model for appending.
    pub fn annotations(&self, model: &str) -> Result<Annotations, StoreError> {
        let path = path(self.root(), model);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        }
        let file =
            File::options().create(true).append(true).open(&path).map_err(StoreError::io(&path))?;
        lines::cut_torn_end(&path)?;
        Ok(Annotations { path, file: Mutex::new(file) })
    }

    /// Reads what each model says of an attempt, the last where it was asked again; without
    /// those that could say nothing, and without lines that cannot be read.
    pub fn annotations_of(
        &self,
        trial: &TrialId,
        attempt: u32,
    ) -> Result<Vec<AnnotationRecord>, StoreError> {
        let folder = self.root().join("annotations");
        let mut last: BTreeMap<String, AnnotationRecord> = BTreeMap::new();
        if !folder.exists() {
            return Ok(Vec::new());
        }
        for entry in folder.read_dir_utf8().map_err(StoreError::io(&folder))? {
            let entry = entry.map_err(StoreError::io(&folder))?;
            if entry.path().extension() != Some("jsonl") {
                continue;
            }
            let (all, _) = lines::sound::<AnnotationRecord>(entry.path())?;
            let means = |record: &AnnotationRecord| {
                record.attempt == attempt && record.trial == *trial && record.annotation.is_some()
            };
            let records = all.into_iter().filter(means);
            last.extend(records.map(|record| (record.model.clone(), record)));
        }
        Ok(last.into_values().collect())
    }

    /// Reads the annotations of a model, in the order in which they were made, and which
    /// lines cannot be read.
    pub fn read_annotations(
        &self,
        model: &str,
    ) -> Result<(Vec<AnnotationRecord>, Vec<Damaged>), StoreError> {
        let path = path(self.root(), model);
        if !path.exists() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (mut all, damaged) = lines::sound::<AnnotationRecord>(&path)?;
        all.retain(|record| record.model == model);
        Ok((all, damaged))
    }
}
