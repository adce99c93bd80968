//! The files of sites: known by their digest when the web is opened, read when asked for.
//!
//! Reading tens of thousands of files takes longer than a trial should wait, so a ledger
//! in the cache remembers the digest of each with what the file system says of it (size,
//! times, inode). A file that differs in any of these is read again; so is one that had
//! changed in the two seconds before it was read, for a second change could then look
//! like the first. What is served always has the digest of the opening: a file that
//! changes before it was first read is refused, never served as if nothing had happened.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use blake3::Hash;
use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::media::content_type_of;
use super::search;
use crate::encoding::decode;

/// A file that changed so shortly before it was read is read again next time, in seconds.
const SETTLED: i64 = 2;

/// Part of the ledger's name: a change of its format is a new number.
const FORMAT: u32 = 1;

/// What the file system says of a file: size, seconds and nanoseconds of the last change
/// of content and of the last change of any kind, device, inode.
type Stamp = (u64, i64, i64, i64, i64, u64, u64);

/// What is remembered of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    stamp: Stamp,
    /// When it was read, in seconds since 1970.
    read: i64,
    /// BLAKE3 of its content, hexadecimal.
    digest: String,
}

impl Line {
    /// Returns whether the file is surely the one that was read.
    fn is_of(&self, stamp: &Stamp) -> bool {
        self.stamp == *stamp && stamp.3 < self.read - SETTLED
    }
}

/// The digests of the files of one suite, kept between openings.
#[derive(Debug)]
pub(super) struct Ledger {
    place: Utf8PathBuf,
    known: HashMap<Utf8PathBuf, Line>,
    seen: HashMap<Utf8PathBuf, Line>,
}

impl Ledger {
    /// Opens the ledger of the files that lie below `root`; one that is missing or
    /// damaged is empty.
    pub(super) fn open(cache: &Utf8Path, root: &Utf8Path) -> Self {
        let name = blake3::hash(format!("{FORMAT}\n{root}").as_bytes()).to_hex();
        let place = cache.join(format!("files-{}.json", name.get(..20).unwrap_or_default()));
        let known = std::fs::read(&place).ok();
        let known = known.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { place, known: known.unwrap_or_default(), seen: HashMap::new() }
    }

    /// Returns the digest of a file, reading it only where that is needed.
    pub(super) fn digest(&mut self, file: &Utf8Path) -> io::Result<Hash> {
        if let Some(digest) = self.seen.get(file).and_then(|line| Hash::from_hex(&line.digest).ok())
        {
            return Ok(digest);
        }
        let stamp = stamp(file)?;
        let known = self.known.get(file).filter(|line| line.is_of(&stamp));
        if let Some((line, digest)) =
            known.and_then(|line| Some((line, Hash::from_hex(&line.digest).ok()?)))
        {
            self.seen.insert(file.to_owned(), line.clone());
            return Ok(digest);
        }
        let read = now();
        let digest = blake3::hash(&std::fs::read(file)?);
        let line = Line { stamp, read, digest: digest.to_hex().to_string() };
        self.seen.insert(file.to_owned(), line);
        Ok(digest)
    }

    /// Returns how many bytes the files have that were asked for.
    pub(super) fn bytes(&self) -> u64 {
        self.seen.values().map(|line| line.stamp.0).sum()
    }

    /// Writes the ledger where it changed. A cache that cannot be written costs time at
    /// the next opening and nothing else.
    pub(super) fn keep(self) {
        if self.seen == self.known {
            return;
        }
        let write = || -> io::Result<()> {
            let parent = self.place.parent().unwrap_or(&self.place);
            std::fs::create_dir_all(parent)?;
            let mut draft = tempfile::NamedTempFile::new_in(parent)?;
            draft.write_all(&serde_json::to_vec(&self.seen)?)?;
            draft.persist(&self.place)?;
            Ok(())
        };
        let _ = write();
    }
}

fn stamp(file: &Utf8Path) -> io::Result<Stamp> {
    let data = std::fs::metadata(file)?;
    let (size, device, inode) = (data.size(), data.dev(), data.ino());
    Ok((size, data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec(), device, inode))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// One served file.
#[derive(Debug)]
pub(super) struct File {
    /// Where it lies on this machine; two paths may serve one file.
    pub(super) source: Utf8PathBuf,
    /// BLAKE3 of its content when the web was opened.
    pub(super) digest: Hash,
    /// The path at which it is served.
    path: String,
    loaded: OnceLock<Loaded>,
}

/// A file as it is sent.
#[derive(Debug, Clone)]
pub(super) struct Loaded {
    /// The `Content-Type`.
    pub(super) content_type: String,
    /// The bytes.
    pub(super) body: Bytes,
    /// The day that an HTML page says it is of.
    pub(super) modified: Option<Date>,
}

impl File {
    /// Names a file that is served at `path`.
    pub(super) fn new(path: &str, source: Utf8PathBuf, digest: Hash) -> Self {
        Self { source, digest, path: path.to_owned(), loaded: OnceLock::new() }
    }

    /// Holds what was computed for `path`; `source` says by whom.
    pub(super) fn computed(
        path: &str,
        source: Utf8PathBuf,
        content_type: String,
        body: Bytes,
    ) -> Self {
        let file = Self::new(path, source, blake3::hash(&body));
        let _ = file.loaded.set(Loaded::new(content_type, body));
        file
    }

    /// Returns its entity tag, quotes included.
    pub(super) fn etag(&self) -> String {
        format!("\"{}\"", self.digest.to_hex().get(..20).unwrap_or_default())
    }

    /// Returns the file, from memory where it was asked for before. The error says what
    /// became of it.
    pub(super) fn load(&self) -> Result<&Loaded, String> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let loaded = self.read()?;
        Ok(self.loaded.get_or_init(|| loaded))
    }

    /// Returns the file and keeps nothing more of it in memory.
    pub(super) fn read(&self) -> Result<Loaded, String> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded.clone());
        }
        let bytes = std::fs::read(&self.source)
            .map_err(|error| format!("the file of this page cannot be read: {error}"))?;
        if blake3::hash(&bytes) != self.digest {
            let problem = "the file of this page was changed after the web was opened";
            return Err(problem.to_owned());
        }
        let content_type = content_type_of(&self.path, self.source.as_str(), &bytes);
        Ok(Loaded::new(content_type, bytes.into()))
    }
}

impl Loaded {
    fn new(content_type: String, body: Bytes) -> Self {
        let modified = content_type
            .starts_with("text/html")
            .then(|| search::declared_date(&decode(&body, Some(&content_type)).text))
            .flatten();
        Self { content_type, body, modified }
    }
}

/// Returns the folder that holds all of these files.
pub(super) fn common_root<'a>(files: impl Iterator<Item = &'a Utf8PathBuf>) -> Utf8PathBuf {
    let mut root: Option<Utf8PathBuf> = None;
    for file in files {
        let folder = file.parent().unwrap_or(file);
        let known = root.get_or_insert_with(|| folder.to_owned());
        while !folder.starts_with(&*known) && known.pop() {}
    }
    root.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ledger in which every file has settled: it was read in the far future.
    fn settled(cache: &Utf8Path, file: &Utf8Path) -> Line {
        let mut ledger = Ledger::open(cache, cache);
        ledger.digest(file).unwrap();
        let mut line = ledger.seen[file].clone();
        line.read += 1000;
        ledger.seen.insert(file.to_owned(), line.clone());
        ledger.keep();
        line
    }

    #[test]
    fn a_changed_file_is_seen_and_an_unchanged_one_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Utf8Path::from_path(dir.path()).unwrap();
        let file = cache.join("page.html");
        std::fs::write(&file, "one").unwrap();
        let line = settled(cache, &file);
        let mut again = Ledger::open(cache, cache);
        assert_eq!(again.known[&file], line, "kept");
        let forged = Line { digest: blake3::hash(b"other").to_hex().to_string(), ..line };
        again.known.insert(file.clone(), forged);
        assert_eq!(again.digest(&file).unwrap(), blake3::hash(b"other"), "told without reading");
        std::fs::write(&file, "two").unwrap();
        let mut changed = Ledger::open(cache, cache);
        assert_eq!(changed.digest(&file).unwrap(), blake3::hash(b"two"), "same size, changed");
        assert!(Ledger::open(cache, cache).digest(&cache.join("gone")).is_err(), "no such file");
    }

    #[test]
    fn what_changed_just_before_it_was_read_is_read_again() {
        let line = Line { stamp: (3, 100, 0, 100, 0, 1, 1), read: 101, digest: String::new() };
        assert!(!line.is_of(&line.stamp), "a change in the same moment would look the same");
        let later = Line { read: 103, ..line.clone() };
        assert!(later.is_of(&line.stamp));
        assert!(!later.is_of(&(3, 100, 0, 100, 1, 1, 1)), "touched since");
        assert!(!later.is_of(&(3, 100, 0, 100, 0, 1, 2)), "another file of the same name");
    }

    #[test]
    fn a_damaged_ledger_is_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Utf8Path::from_path(dir.path()).unwrap();
        let file = cache.join("page.html");
        std::fs::write(&file, "one").unwrap();
        settled(cache, &file);
        let place = Ledger::open(cache, cache).place;
        for damage in ["", "{", "[]", "{\"a\": 1}"] {
            std::fs::write(&place, damage).unwrap();
            let mut ledger = Ledger::open(cache, cache);
            assert_eq!(ledger.digest(&file).unwrap(), blake3::hash(b"one"), "{damage}");
        }
    }

    #[test]
    fn a_file_that_changes_later_is_not_served() {
        let dir = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(dir.path()).unwrap().join("a.html");
        std::fs::write(&file, "<p>one").unwrap();
        let served = |digest| File::new("/a", file.clone(), digest);
        let first = served(blake3::hash(b"<p>one"));
        assert_eq!(first.load().unwrap().content_type, "text/html; charset=utf-8");
        std::fs::write(&file, "<p>two").unwrap();
        assert!(first.load().is_ok(), "what was read stays");
        let fresh = served(blake3::hash(b"<p>one"));
        assert!(fresh.load().unwrap_err().contains("changed after"), "and nothing else is served");
    }

    #[test]
    fn the_root_is_what_all_files_share() {
        let table: [(&[&str], &str); 4] = [
            (&["/s/a/x.html", "/s/b/y.html"], "/s"),
            (&["/s/a/x.html", "/s/a/y.html"], "/s/a"),
            (&["/s/x.html"], "/s"),
            (&[], ""),
        ];
        for (files, want) in table {
            let files: Vec<Utf8PathBuf> = files.iter().map(Into::into).collect();
            assert_eq!(common_root(files.iter()), want);
        }
    }
}
