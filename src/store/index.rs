//! What a run holds: every attempt and how it ended.
//!
//! Of a transcript only the ends are read, each file is opened once, and the folders are
//! shared out to threads: a run of 20,000 trials is found in well under a second. Nothing
//! is passed over in silence: what cannot be read is named.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use wildgym_tasks::Variant;

use super::{StoreError, lines};
use crate::record::{Lost, Outcome, OutcomeRecord, Record, TrialId};

/// An attempt, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Which attempt at the trial, from 1.
    pub attempt: u32,
    /// Its last record, without the list of files; none where the process died.
    pub end: Option<OutcomeRecord>,
    /// What is wrong with the transcript, where that cannot be read.
    pub damage: Option<String>,
}

impl Stored {
    /// Returns how it ended; `lost:killed` where there is no outcome line, and
    /// `lost:harness` where the transcript is damaged.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match (&self.end, &self.damage) {
            (_, Some(_)) => Outcome::Lost(Lost::Harness),
            (None, None) => Outcome::Lost(Lost::Killed),
            (Some(end), None) => end.outcome.clone(),
        }
    }
}

/// The attempts at one trial, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trial {
    /// The attempts; all but the last are lost or skipped.
    pub attempts: Vec<Stored>,
}

impl Trial {
    /// Returns the attempt that counts: the first that is neither lost nor skipped, else the
    /// last that was skipped.
    #[must_use]
    pub fn counted(&self) -> Option<&Stored> {
        let skipped = |stored: &&Stored| matches!(stored.outcome(), Outcome::Skipped(_));
        let began = |stored: &&Stored| !stored.outcome().is_lost() && !skipped(stored);
        let last = || self.attempts.iter().rev().find(skipped);
        self.attempts.iter().find(began).or_else(last)
    }

    /// Returns the number that the next attempt gets.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.attempts.iter().map(|stored| stored.attempt).max().unwrap_or(0).saturating_add(1)
    }
}

/// Every trial that was begun.
#[derive(Debug, Default)]
pub struct Index {
    /// The trials.
    pub trials: BTreeMap<TrialId, Trial>,
    /// What cannot be read, in the order of paths.
    pub damaged: Vec<Damaged>,
    /// What stands in the place of a folder of transcripts and is none. It may be a file
    /// that somebody left there; whoever knows the plan can tell.
    pub strays: Vec<Utf8PathBuf>,
}

/// A transcript that cannot be read.
#[derive(Debug)]
pub struct Damaged {
    /// The file.
    pub path: Utf8PathBuf,
    /// What is wrong with it.
    pub error: StoreError,
}

/// A folder with the transcripts of one task in one variant under one condition.
struct Shelf {
    condition: String,
    task: String,
    variant: Variant,
    path: Utf8PathBuf,
}

impl Index {
    /// Reads the end of every transcript below a run, by several threads.
    pub(super) fn read(root: &Utf8Path) -> Result<Self, StoreError> {
        let mut index = Self::default();
        let shelves = index.shelves(&root.join("trials"))?;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut part = Self::default();
            let mut trials = Vec::new();
            while let Some(shelf) = shelves.get(next.fetch_add(1, Ordering::Relaxed)) {
                shelf.read(&mut part.damaged, &mut trials)?;
            }
            part.trials.extend(trials);
            Ok::<_, StoreError>(part)
        };
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let parts: Vec<Result<Self, StoreError>> = std::thread::scope(|scope| {
            let running: Vec<_> =
                (0..threads.min(shelves.len())).map(|_| scope.spawn(work)).collect();
            // A panic of a thread goes on in the one that waits for it.
            let resume = |panic| std::panic::resume_unwind(panic);
            running.into_iter().map(|thread| thread.join().unwrap_or_else(resume)).collect()
        });
        for part in parts {
            let mut part = part?;
            index.trials.append(&mut part.trials);
            index.damaged.append(&mut part.damaged);
        }
        index.damaged.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(index)
    }

    /// Finds the folders that hold transcripts.
    fn shelves(&mut self, trials: &Utf8Path) -> Result<Vec<Shelf>, StoreError> {
        let mut shelves = Vec::new();
        for condition in self.folders(trials)? {
            for task in self.folders(condition.path())? {
                for variant in self.folders(task.path())? {
                    let Ok(parsed) = variant.file_name().parse::<Variant>() else { continue };
                    shelves.push(Shelf {
                        condition: condition.file_name().to_owned(),
                        task: task.file_name().to_owned(),
                        variant: parsed,
                        path: variant.path().to_owned(),
                    });
                }
            }
        }
        Ok(shelves)
    }

    /// Returns the folders in a folder, and remembers what else is there.
    fn folders(&mut self, folder: &Utf8Path) -> Result<Vec<Utf8DirEntry>, StoreError> {
        let (folders, others): (Vec<_>, Vec<_>) = entries(folder)?
            .into_iter()
            .partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        self.strays.extend(others.into_iter().map(Utf8DirEntry::into_path));
        Ok(folders)
    }
}

impl Shelf {
    /// Reads how each attempt ended. What cannot be read is noted, and is an attempt all
    /// the same; what a newer program wrote is refused.
    fn read(
        &self,
        damaged: &mut Vec<Damaged>,
        trials: &mut Vec<(TrialId, Trial)>,
    ) -> Result<(), StoreError> {
        let mut found: BTreeMap<u32, Vec<Stored>> = BTreeMap::new();
        for entry in entries(&self.path)? {
            let Some((k, attempt)) = numbers(entry.file_name()) else { continue };
            let path = entry.path();
            let (end, damage) = match end(path) {
                Ok(end) => (end, None),
                Err(error) if !error.is_damage() => return Err(error),
                Err(error) => {
                    let reason = error.to_string();
                    damaged.push(Damaged { path: path.to_owned(), error });
                    (None, Some(reason))
                }
            };
            found.entry(k).or_default().push(Stored { attempt, end, damage });
        }
        for (k, mut attempts) in found {
            attempts.sort_by_key(|stored| stored.attempt);
            let Self { condition, task, variant, .. } = self;
            let (condition, task, variant) = (condition.clone(), task.clone(), variant.clone());
            trials.push((TrialId { condition, task, variant, k }, Trial { attempts }));
        }
        Ok(())
    }
}

/// Returns the outcome record of a transcript that has one.
fn end(path: &Utf8Path) -> Result<Option<OutcomeRecord>, StoreError> {
    /// The one field that every record has.
    #[derive(Deserialize)]
    struct Kind {
        record: String,
    }
    let Some(line) = lines::last(path)? else {
        return Ok(None);
    };
    let corrupt = |error: serde_json::Error| StoreError::Corrupt {
        path: path.to_owned(),
        line: fs::read(path)
            .map_or(0, |bytes| bytes.split_inclusive(|&byte| byte == b'\n').count()),
        reason: error.to_string(),
    };
    let kind: Kind = serde_json::from_slice(&line).map_err(corrupt)?;
    // The kind is read first, since reading any of many kinds takes several times as long.
    if kind.record == "outcome" {
        let mut end: OutcomeRecord = serde_json::from_slice(&line).map_err(corrupt)?;
        // An index of a long run would else be files for the most part.
        end.files = Vec::new();
        return Ok(Some(end));
    }
    serde_json::from_slice::<Record>(&line).map(|_| None).map_err(corrupt)
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
