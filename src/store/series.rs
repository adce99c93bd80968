//! A series: one line a run, which is what a gate compares with.
//!
//! A line says what pins the run's scores and how often each task passed, so a series can be
//! kept and read where the runs themselves are gone. Lines are only ever appended, in one
//! write, under a lock on the file; what a killed writer left torn is cut off by the next.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use camino::Utf8Path;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Damaged, StoreError, lines};
use crate::record::FORMAT;

/// A run in a series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesLine {
    /// Version of the line's format.
    pub format: u32,
    /// Name of the run's directory.
    pub run: String,
    /// When the run was made; with the name it tells runs apart.
    pub created: Timestamp,
    /// Name of the agent.
    pub agent: String,
    /// Name of its model, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What pins the scores, by name: two lines compare when all of them are equal.
    pub pins: BTreeMap<String, String>,
    /// The tasks, by id; in a variant other than `full`, by `id/variant`.
    pub tasks: BTreeMap<String, SeriesTask>,
}

/// A task of a run in a series.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesTask {
    /// The part of its scenario, such as `tier-5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subset: Option<String>,
    /// Trials with a verdict.
    pub judged: u32,
    /// Those that passed; degraded ones did not.
    pub passed: u32,
}

impl SeriesLine {
    /// Whether both lines are of the same run.
    #[must_use]
    pub fn is_of(&self, other: &Self) -> bool {
        (&self.run, self.created) == (&other.run, other.created)
    }
}

/// Reads a series, in the order of its lines, and says which lines cannot be read.
pub fn read_series(path: &Utf8Path) -> Result<(Vec<SeriesLine>, Vec<Damaged>), StoreError> {
    lines::sound(path)
}

/// Appends a run to a series, which is made where it is missing. Returns whether it was
/// appended: a run stands in a series once.
pub fn append_series(path: &Utf8Path, line: &SeriesLine) -> Result<bool, StoreError> {
    let io = StoreError::io;
    let mut file = File::options().create(true).append(true).open(path).map_err(io(path))?;
    file.lock().map_err(io(path))?;
    refuse_other(path)?;
    lines::cut_torn_end(path)?;
    if read_series(path)?.0.iter().any(|known| known.is_of(line)) {
        return Ok(false);
    }
    let mut text = serde_json::to_vec(line).map_err(|error| io(path)(error.into()))?;
    text.push(b'\n');
    file.write_all(&text).and_then(|()| file.sync_data()).map_err(io(path))?;
    Ok(true)
}

/// Refuses a file that is something else: nothing of it may be cut off. What a killed writer
/// left of a first line begins as every line does.
fn refuse_other(path: &Utf8Path) -> Result<(), StoreError> {
    const BEGINNING: &[u8] = b"{\"format\":";
    let bytes = std::fs::read(path).map_err(StoreError::io(path))?;
    let ours = |line: &[u8]| {
        let common = line.len().min(BEGINNING.len());
        line[..common] == BEGINNING[..common]
    };
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let torn = bytes.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    if lines.next().is_none_or(ours) && ours(torn) {
        return Ok(());
    }
    Err(StoreError::Corrupt {
        path: path.to_owned(),
        line: 0,
        reason: "it is no series, and nothing was appended to it".to_owned(),
    })
}

impl Default for SeriesLine {
    fn default() -> Self {
        Self {
            format: FORMAT,
            run: String::new(),
            created: Timestamp::UNIX_EPOCH,
            agent: String::new(),
            model: None,
            pins: BTreeMap::new(),
            tasks: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_grows_by_a_line_a_run_whatever_was_torn() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("series.jsonl");
        let line = |run: &str| SeriesLine { run: run.to_owned(), ..SeriesLine::default() };
        assert!(append_series(&path, &line("a")).unwrap(), "it is made");
        assert!(!append_series(&path, &line("a")).unwrap(), "a run stands in it once");
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"format\":1,\"run\":\"b").unwrap();
        assert!(append_series(&path, &line("c")).unwrap(), "after a writer was killed");
        file.write_all(b"what is this\n").unwrap();
        let (all, damaged) = read_series(&path).unwrap();
        let names: Vec<&str> = all.iter().map(|line| line.run.as_str()).collect();
        assert_eq!((names.as_slice(), damaged.len()), (["a", "c"].as_slice(), 1));
    }

    #[test]
    fn a_file_that_is_no_series_keeps_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("notes.txt");
        let whole: &[&[u8]] = &[
            b"precious notes without newline",
            b"two\nlines",
            b"\x89PNG\r\n\x1a\n\0\0",
            b"{\"format\":1}\nmore",
        ];
        for bytes in whole {
            std::fs::write(&path, bytes).unwrap();
            let error = append_series(&path, &SeriesLine::default()).unwrap_err().to_string();
            assert!(error.contains("it is no series"), "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), *bytes);
        }
    }
}
