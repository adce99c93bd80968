//! What a run holds: every attempt and how it ended.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8DirEntry, Utf8Path};
use wildgym_tasks::Variant;

use super::{StoreError, lines};
use crate::record::{Lost, Outcome, OutcomeRecord, Record, TrialId};

/// An attempt, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Which attempt at the trial, from 1.
    pub attempt: u32,
    /// Its last record; none where the process died.
    pub end: Option<OutcomeRecord>,
}

impl Stored {
    /// Returns how it ended; `lost:killed` where there is no outcome line.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.end.as_ref().map_or(Outcome::Lost(Lost::Killed), |end| end.outcome.clone())
    }
}

/// The attempts at one trial, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trial {
    /// The attempts; all but the last are lost.
    pub attempts: Vec<Stored>,
}

impl Trial {
    /// Returns the attempt that counts: the first that is not lost.
    #[must_use]
    pub fn counted(&self) -> Option<&Stored> {
        self.attempts.iter().find(|stored| !stored.outcome().is_lost())
    }

    /// Returns the number that the next attempt gets.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.attempts.iter().map(|stored| stored.attempt).max().unwrap_or(0).saturating_add(1)
    }
}

/// Every trial that was begun.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// The trials.
    pub trials: BTreeMap<TrialId, Trial>,
}

impl Index {
    /// Reads the end of every transcript below a run.
    pub(super) fn read(root: &Utf8Path) -> Result<Self, StoreError> {
        let mut index = Self::default();
        let trials = root.join("trials");
        for condition in folders(&trials)? {
            for task in folders(condition.path())? {
                for variant in folders(task.path())? {
                    index.read_variant(condition.file_name(), task.file_name(), &variant)?;
                }
            }
        }
        for trial in index.trials.values_mut() {
            trial.attempts.sort_by_key(|stored| stored.attempt);
        }
        Ok(index)
    }

    fn read_variant(
        &mut self,
        condition: &str,
        task: &str,
        folder: &Utf8DirEntry,
    ) -> Result<(), StoreError> {
        let Ok(variant) = folder.file_name().parse::<Variant>() else {
            return Ok(());
        };
        for entry in entries(folder.path())? {
            let Some((k, attempt)) = numbers(entry.file_name()) else {
                continue;
            };
            let trial = TrialId {
                condition: condition.to_owned(),
                task: task.to_owned(),
                variant: variant.clone(),
                k,
            };
            let end = end(entry.path())?;
            self.trials.entry(trial).or_default().attempts.push(Stored { attempt, end });
        }
        Ok(())
    }
}

/// Returns the outcome record of a transcript that has one.
fn end(path: &Utf8Path) -> Result<Option<OutcomeRecord>, StoreError> {
    lines::check_format(path)?;
    let Some(line) = lines::last(path)? else {
        return Ok(None);
    };
    match serde_json::from_slice(&line) {
        Ok(Record::Outcome(end)) => Ok(Some(end)),
        Ok(Record::Attempt(_) | Record::Message(_) | Record::Model(_) | Record::Call(_)) => {
            Ok(None)
        }
        Err(error) => Err(StoreError::Corrupt {
            path: path.to_owned(),
            line: fs::read_to_string(path).map_or(0, |text| text.lines().count()),
            reason: error.to_string(),
        }),
    }
}

/// Reads `k` and the attempt out of `<k>.<attempt>.jsonl`. Numbers that this program
/// never gives belong to other files.
fn numbers(name: &str) -> Option<(u32, u32)> {
    const MOST: u32 = 1_000_000;
    let (k, attempt) = name.strip_suffix(".jsonl")?.split_once('.')?;
    let (k, attempt) = (k.parse().ok()?, attempt.parse().ok()?);
    ((1..=MOST).contains(&k) && (1..=MOST).contains(&attempt)).then_some((k, attempt))
}

fn entries(folder: &Utf8Path) -> Result<Vec<Utf8DirEntry>, StoreError> {
    folder.read_dir_utf8().and_then(Iterator::collect).map_err(StoreError::io(folder))
}

fn folders(folder: &Utf8Path) -> Result<Vec<Utf8DirEntry>, StoreError> {
    let mut found = entries(folder)?;
    found.retain(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(found)
}
