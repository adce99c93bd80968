//! JSON Lines whose last line may be torn.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use camino::Utf8Path;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Damaged, StoreError};
use crate::record::FORMAT;

/// How much of a file's end is read at first when only its last line is wanted.
const TAIL: u64 = 16 << 10;

/// Reads every complete line; what follows the last newline does not count.
pub(super) fn read<T: DeserializeOwned>(path: &Utf8Path) -> Result<Vec<T>, StoreError> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(StoreError::io(path))?;
    check_format(path, &bytes)?;
    complete(&bytes)
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_slice(line).map_err(|error| StoreError::Corrupt {
                path: path.to_owned(),
                line: index + 1,
                reason: error.to_string(),
            })
        })
        .collect()
}

/// Reads the complete lines that can be read, in order, and says which cannot. What a newer
/// program wrote is refused, wherever it stands.
pub(super) fn sound<T: DeserializeOwned>(
    path: &Utf8Path,
) -> Result<(Vec<T>, Vec<Damaged>), StoreError> {
    let (mut all, mut damaged, mut newer) = (Vec::new(), Vec::new(), None);
    each(path, |line, bytes| {
        if let Err(error) = check_format(path, bytes) {
            newer.get_or_insert(error);
            return;
        }
        match serde_json::from_slice(bytes) {
            Ok(value) => all.push(value),
            Err(error) => {
                let (path, reason) = (path.to_owned(), error.to_string());
                let error = StoreError::Corrupt { path: path.clone(), line, reason };
                damaged.push(Damaged { path, error });
            }
        }
    })?;
    newer.map_or(Ok((all, damaged)), Err)
}

/// Returns the last complete line of a file, reading of a long one only its beginning,
/// which says the format, and its end.
pub(super) fn last(path: &Utf8Path) -> Result<Option<Vec<u8>>, StoreError> {
    let mut file = open(path)?;
    let length = file.metadata().map_err(StoreError::io(path))?.len();
    let mut first = Vec::new();
    (&mut file).take(TAIL).read_to_end(&mut first).map_err(StoreError::io(path))?;
    check_format(path, &first)?;
    if length <= TAIL {
        return Ok(complete(&first).next_back().map(<[u8]>::to_vec));
    }
    let mut wanted = TAIL;
    loop {
        let from = length.saturating_sub(wanted);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(StoreError::io(path))?;
        let end = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        // A line that starts where the reading started may be the end of a longer one.
        let whole = bytes[..end].contains(&b'\n');
        if whole || from == 0 {
            return Ok(complete(&bytes).next_back().map(<[u8]>::to_vec));
        }
        wanted = wanted.saturating_mul(8);
    }
}

/// Reads complete lines one after the other, so that a long file is never in memory as a
/// whole, and gives each to `take` with its number, from 1.
pub(super) fn each(path: &Utf8Path, mut take: impl FnMut(usize, &[u8])) -> Result<(), StoreError> {
    let mut file = BufReader::with_capacity(1 << 18, open(path)?);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        file.read_until(b'\n', &mut line).map_err(StoreError::io(path))?;
        if line.pop() != Some(b'\n') {
            return Ok(());
        }
        number += 1;
        if number == 1 {
            check_format(path, &line)?;
        }
        if !line.is_empty() {
            take(number, &line);
        }
    }
}

/// Opens a regular file and nothing else: a pipe would wait for ever.
fn open(path: &Utf8Path) -> Result<File, StoreError> {
    let kind = fs::symlink_metadata(path).map_err(StoreError::io(path))?;
    if !kind.is_file() {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            line: 0,
            reason: "it is not a regular file".to_owned(),
        });
    }
    File::open(path).map_err(StoreError::io(path))
}

/// Refuses what a newer program wrote: the first line says its format, in transcripts and
/// in verdicts. `bytes` begin with that line.
fn check_format(path: &Utf8Path, bytes: &[u8]) -> Result<(), StoreError> {
    /// The one field that every version has.
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<Version>(first) {
        Ok(version) if version.format > FORMAT => {
            Err(StoreError::Newer { path: path.to_owned(), found: version.format, known: FORMAT })
        }
        // A first line that is torn or damaged is for the reader of the lines to judge.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Cuts off what follows the last newline, so that a writer can go on.
pub(super) fn cut_torn_end(path: &Utf8Path) -> Result<(), StoreError> {
    let bytes = fs::read(path).map_err(StoreError::io(path))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |index| index + 1);
    if whole < bytes.len() {
        let file = File::options().write(true).open(path).map_err(StoreError::io(path))?;
        file.set_len(whole as u64).map_err(StoreError::io(path))?;
    }
    Ok(())
}

fn complete(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    bytes[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_does_not_count_and_is_cut_before_writing_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("x.jsonl");
        let long = format!("\"{}\"", "y".repeat(100_000));
        //         content                     lines  last                    why
        let table = [
            (String::new(), 0, None, "empty"),
            ("1".to_owned(), 0, None, "one torn line"),
            ("1\n2".to_owned(), 1, Some("1".to_owned()), "torn after a whole one"),
            ("1\n2\n".to_owned(), 2, Some("2".to_owned()), "whole"),
            (format!("1\n{long}\n"), 2, Some(long.clone()), "last line longer than the tail"),
            (format!("1\n{long}\n{long}"), 2, Some(long), "long and torn"),
        ];
        for (content, count, end, why) in table {
            fs::write(&path, &content).unwrap();
            assert_eq!(read::<serde_json::Value>(&path).unwrap().len(), count, "{why}");
            let mut each_one = 0;
            each(&path, |_, _| each_one += 1).unwrap();
            assert_eq!(each_one, count, "{why}");
            let got = last(&path).unwrap().map(|line| String::from_utf8(line).unwrap());
            assert!(got == end, "{why}");
            cut_torn_end(&path).unwrap();
            let kept = fs::read_to_string(&path).unwrap();
            assert!(
                content.starts_with(&kept) && (kept.is_empty() || kept.ends_with('\n')),
                "{why}"
            );
        }
    }

    #[test]
    fn what_is_newer_or_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("x.jsonl");
        fs::write(&path, "{\"format\":9}\n").unwrap();
        let error = read::<serde_json::Value>(&path).unwrap_err().to_string();
        assert!(error.contains("has format 9, and this program reads format 1"), "{error}");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = read::<serde_json::Value>(&path).unwrap_err().to_string();
        assert!(error.contains("it is not a regular file"), "{error}");
    }

    #[test]
    fn a_broken_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("x.jsonl");
        fs::write(&path, "1\n{\n").unwrap();
        let error = read::<serde_json::Value>(&path).unwrap_err().to_string();
        assert!(error.contains("x.jsonl` line 2: EOF while parsing"), "{error}");
    }
}
