//! A cassette: the exchanges of a run, kept in a directory or served from it.
//!
//! It stands between a conversation and the network. Recording keeps every exchange
//! that a scope ended, errors included; replaying answers from what was kept, after
//! comparing the request's digest, and never reaches an endpoint. Recording asks even what
//! was recorded before, and adds the answer; see [`Reel`]. It decides nothing about trials.
//! Exchanges of another run under the same name are an error, and so is, in a replay, a
//! request that differs from the recorded one.
//!
//! `README.md` beside this file describes the format.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use thiserror::Error;

use super::message::Offered;
use super::reel::{Position, Reel, is_aside};

/// The version of the format that this program writes.
pub(super) const FORMAT: u32 = 1;

/// The file that makes a directory a cassette.
const MARK: &str = "cassette.toml";

/// Why a cassette cannot keep or serve an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CassetteError {
    /// There is no cassette in the directory.
    #[error("there is no cassette in `{0}`: it has no `cassette.toml`")]
    NoCassette(Utf8PathBuf),
    /// A cassette was to be recorded among other files.
    #[error("`{0}` is not empty and holds no cassette")]
    NotEmpty(Utf8PathBuf),
    /// Something else is kept under the same name.
    #[error("`{0}` holds other exchanges; record into another directory")]
    Taken(Utf8PathBuf),
    /// Another process records there.
    #[error("another process records into `{0}`")]
    Busy(Utf8PathBuf),
    /// There is a link, or what is no file, among the files.
    #[error("`{0}` is neither a file nor a folder, and a cassette holds nothing else")]
    Irregular(Utf8PathBuf),
    /// Nothing of a condition is kept.
    #[error("no exchange recorded for `{condition}`: the cassette holds {}", listed(.known))]
    Unknown {
        /// The condition: the agent and its model.
        condition: String,
        /// What there is, in order.
        known: Vec<String>,
    },
    /// The file system refused.
    #[error("cannot access `{path}`: {reason}")]
    Io {
        /// The file or directory.
        path: Utf8PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file does not say what it should.
    #[error("`{path}` line {line}: {reason}")]
    Corrupt {
        /// The file.
        path: Utf8PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A newer program recorded it.
    #[error("`{path}` has format {found}, and this program reads format {known}")]
    Newer {
        /// The file.
        path: Utf8PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
    /// The cassette holds no such exchange.
    #[error("no exchange recorded for round {round} of {scope}")]
    Missing {
        /// Which exchange of the scope, from 1.
        round: u32,
        /// Trial, attempt and role.
        scope: String,
    },
    /// The request is not the recorded one.
    #[error("diverged at round {round} of {scope}: {what}")]
    Diverged {
        /// Which exchange of the scope, from 1.
        round: u32,
        /// Trial, attempt and role.
        scope: String,
        /// What differs, for people.
        what: String,
    },
    /// The recorded exchange had not ended when the attempt's working time was up.
    #[error("the recorded exchange was cut off by a limit")]
    CutOff,
    /// The recorded exchange had not ended when the attempt did, which no limit ended.
    #[error("the recorded exchange was left behind when the attempt ended")]
    LeftBehind,
    /// What is recorded as a reply is none.
    #[error("the recorded reply cannot be read: {0}")]
    Unreadable(String),
    /// A replayed model was asked outside of any scope.
    #[error("a replayed model answers only what an attempt asks")]
    Unscoped,
}

impl CassetteError {
    pub(super) fn io(path: &Utf8Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, reason: error.to_string() }
    }
}

/// Writes the names of conditions.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { format!("`{}`", names.join("`, `")) }
}

/// What a replay met, as numbers of exchanges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Met {
    /// Served as recorded.
    pub served: usize,
    /// Not in the cassette.
    pub missing: usize,
    /// Not the recorded request.
    pub diverged: usize,
    /// In a file that cannot be read.
    pub unreadable: usize,
}

/// The exchanges of a run, on disk.
#[derive(Debug)]
pub struct Cassette {
    shelf: Arc<Shelf>,
    /// Ordinals of every scope so far, and its reel while somebody holds it.
    reels: Mutex<HashMap<Utf8PathBuf, Place>>,
    /// Digest of what is replayed.
    digest: Option<String>,
}

#[derive(Debug)]
struct Place {
    /// Whether it is of no trial.
    aside: bool,
    position: Arc<Position>,
    reel: Weak<Reel>,
}

/// What all reels of a cassette share.
#[derive(Debug)]
pub(super) struct Shelf {
    root: Utf8PathBuf,
    pub(super) replays: bool,
    /// What tells the run from others; see [`Cassette::claim`].
    run: OnceLock<String>,
    stopped: AtomicBool,
    served: AtomicUsize,
    missing: AtomicUsize,
    diverged: AtomicUsize,
    unreadable: AtomicUsize,
    /// Digests of tools that are kept already.
    tools: Mutex<HashSet<String>>,
}

impl Cassette {
    /// Begins to record into a directory: a new one, an empty one, or a cassette, which
    /// then grows. Links among its files are refused, as they are by
    /// [`replay`](Self::replay): what they name is no part of the digest.
    pub fn record(root: &Utf8Path) -> Result<Self, CassetteError> {
        fs::create_dir_all(root).map_err(CassetteError::io(root))?;
        let mark = root.join(MARK);
        match version(&mark)? {
            Some(()) => drop(files(root)?),
            None if fs::read_dir(root).map_err(CassetteError::io(root))?.next().is_some() => {
                return Err(CassetteError::NotEmpty(root.to_owned()));
            }
            None => {
                let text = format!("format = {FORMAT}\n");
                put(root, &mark, text.as_bytes())?;
            }
        }
        Ok(Self::new(root, false, None))
    }

    /// Begins to replay what a directory holds. All of it is read once, for the digest.
    pub fn replay(root: &Utf8Path) -> Result<Self, CassetteError> {
        if version(&root.join(MARK))?.is_none() {
            return Err(CassetteError::NoCassette(root.to_owned()));
        }
        let digest = digest(root)?;
        Ok(Self::new(root, true, Some(digest)))
    }

    fn new(root: &Utf8Path, replays: bool, digest: Option<String>) -> Self {
        let shelf = Shelf {
            root: root.to_owned(),
            replays,
            run: OnceLock::new(),
            stopped: AtomicBool::new(false),
            served: AtomicUsize::new(0),
            missing: AtomicUsize::new(0),
            diverged: AtomicUsize::new(0),
            unreadable: AtomicUsize::new(0),
            tools: Mutex::default(),
        };
        Self { shelf: Arc::new(shelf), reels: Mutex::default(), digest }
    }

    /// Says to which run exchanges belong that are recorded from now on. A scope that has
    /// exchanges of the same run gets more of them, in a session of their own. Those of any
    /// other run are an error. Only the first claim counts.
    pub fn claim(&self, run: &str) {
        self.shelf.run.get_or_init(|| run.to_owned());
    }

    /// Refuses to record where tasks of a condition have exchanges already.
    pub fn refuse_recorded<'a>(
        &self,
        condition: &str,
        tasks: impl IntoIterator<Item = &'a String>,
    ) -> Result<(), CassetteError> {
        let folder = self.shelf.root.join("trials").join(encoded(condition));
        let taken = tasks.into_iter().map(|task| folder.join(encoded(task))).find(|f| f.exists());
        match taken {
            Some(taken) if !self.shelf.replays => Err(CassetteError::Taken(taken)),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses to replay a condition of which nothing is kept, and says what is.
    pub fn refuse_unknown(&self, condition: &str) -> Result<(), CassetteError> {
        let folder = self.shelf.root.join("trials");
        if !self.shelf.replays || folder.join(encoded(condition)).is_dir() {
            return Ok(());
        }
        let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir());
        let mut known: Vec<String> = folders.map(|entry| decoded(entry.file_name())).collect();
        known.sort_unstable();
        Err(CassetteError::Unknown { condition: condition.to_owned(), known })
    }

    /// Takes back what was recorded of no trial since the cassette was opened: the first
    /// questions to a judge that failed them, which a replay must not meet.
    pub fn forget_asides(&self) {
        let places = self.reels.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, place) in places.iter().filter(|(_, place)| place.aside) {
            let Some(before) = place.position.before() else { continue };
            // What cannot be taken back is passed over once another session has ended well.
            let _kept = match before {
                0 => fs::remove_file(path),
                before => {
                    fs::File::options().write(true).open(path).and_then(|file| file.set_len(before))
                }
            };
        }
    }

    /// Keeps nothing of what is cut off from now on: it is the user who stops, and no
    /// limit of an attempt.
    pub fn stop(&self) {
        self.shelf.stopped.store(true, Ordering::Relaxed);
    }

    /// Tells whether it replays; otherwise it records.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.shelf.replays
    }

    /// Returns the BLAKE3 digest of what is replayed, as 64 hexadecimal digits; none where
    /// it records.
    #[must_use]
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Returns what was met so far.
    #[must_use]
    pub fn met(&self) -> Met {
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let Shelf { served, missing, diverged, unreadable, .. } = &*self.shelf;
        Met {
            served: read(served),
            missing: read(missing),
            diverged: read(diverged),
            unreadable: read(unreadable),
        }
    }

    /// Returns the reel of a scope. Those who hold it together count together, and who
    /// comes later counts on.
    pub(super) fn reel(&self, trial: &str, attempt: u32, role: &str) -> Arc<Reel> {
        let path = self.shelf.root.join("trials").join(place(trial, attempt, role));
        let mut places = self.reels.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = places.entry(path.clone()).or_insert_with(|| Place {
            aside: is_aside(trial),
            position: Arc::default(),
            reel: Weak::new(),
        });
        entry.reel.upgrade().unwrap_or_else(|| {
            let (common, position) = (Arc::clone(&self.shelf), Arc::clone(&entry.position));
            let new = Arc::new(Reel::new(common, path, (trial, attempt, role), position));
            entry.reel = Arc::downgrade(&new);
            new
        })
    }
}

impl Shelf {
    /// Returns what tells the run from others; empty where nobody said.
    pub(super) fn run(&self) -> &str {
        self.run.get().map(String::as_str).unwrap_or_default()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Counts how an exchange fared.
    pub(super) fn count<T>(&self, result: &Result<T, CassetteError>) {
        let count = match result {
            Ok(_) => &self.served,
            Err(CassetteError::Missing { .. }) => &self.missing,
            Err(CassetteError::Diverged { .. }) => &self.diverged,
            Err(
                CassetteError::Io { .. }
                | CassetteError::Corrupt { .. }
                | CassetteError::Newer { .. },
            ) => &self.unreadable,
            Err(
                CassetteError::NoCassette(_)
                | CassetteError::NotEmpty(_)
                | CassetteError::Taken(_)
                | CassetteError::Busy(_)
                | CassetteError::Irregular(_)
                | CassetteError::Unknown { .. }
                | CassetteError::CutOff
                | CassetteError::LeftBehind
                | CassetteError::Unreadable(_)
                | CassetteError::Unscoped,
            ) => return,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps the tools of a request, once, and returns their digest.
    pub(super) fn keep_tools(&self, tools: &Offered) -> Result<Option<String>, CassetteError> {
        let Some(json) = tools.list() else { return Ok(None) };
        let digest = blake3::hash(json.as_bytes()).to_hex().to_string();
        let mut kept = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.contains(&digest) {
            let folder = self.root.join("tools");
            fs::create_dir_all(&folder).map_err(CassetteError::io(&folder))?;
            let path = folder.join(format!("{digest}.json"));
            if !path.exists() {
                put(&folder, &path, json.as_bytes())?;
            }
            kept.insert(digest.clone());
        }
        Ok(Some(digest))
    }

    /// Returns the tools of that digest, where they are kept.
    pub(super) fn tools(&self, digest: &str) -> Option<String> {
        let plain = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = self.root.join("tools").join(format!("{digest}.json"));
        plain.then(|| fs::read_to_string(path).ok()).flatten()
    }
}

/// Writes a file that is there whole or not at all.
fn put(folder: &Utf8Path, path: &Utf8Path, bytes: &[u8]) -> Result<(), CassetteError> {
    let mut part = tempfile::Builder::new()
        .prefix(".part-")
        .tempfile_in(folder)
        .map_err(CassetteError::io(folder))?;
    part.write_all(bytes).map_err(CassetteError::io(path))?;
    part.persist(path).map_err(|failed| CassetteError::io(path)(failed.error))?;
    Ok(())
}

/// Reads the mark of a cassette; none where there is none.
fn version(mark: &Utf8Path) -> Result<Option<()>, CassetteError> {
    #[derive(Deserialize)]
    struct Mark {
        format: u32,
    }
    let text = match fs::read_to_string(mark) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CassetteError::io(mark)(error)),
    };
    let Mark { format } = toml::from_str(&text).map_err(|error| CassetteError::Corrupt {
        path: mark.to_owned(),
        line: error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1),
        reason: error.message().to_owned(),
    })?;
    if format > FORMAT {
        let path = mark.to_owned();
        return Err(CassetteError::Newer { path, found: format, known: FORMAT });
    }
    Ok(Some(()))
}

/// Finds the files of a cassette. A link would be served and be no part of the digest, so
/// it is an error.
fn files(root: &Utf8Path) -> Result<BTreeSet<Utf8PathBuf>, CassetteError> {
    let mut files = BTreeSet::new();
    let mut folders = vec![root.join("tools"), root.join("trials")];
    while let Some(folder) = folders.pop() {
        if folder.is_symlink() {
            return Err(CassetteError::Irregular(folder));
        }
        let entries = match folder.read_dir_utf8() {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(CassetteError::io(&folder)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(CassetteError::io(&folder))?;
            let kind = entry.file_type().map_err(CassetteError::io(entry.path()))?;
            let name = entry.path().to_owned();
            if kind.is_dir() {
                folders.push(name);
            } else if !kind.is_file() {
                return Err(CassetteError::Irregular(name));
            } else if matches!(name.extension(), Some("json" | "jsonl")) {
                files.insert(name);
            }
        }
    }
    Ok(files)
}

/// Returns the digest of every file of a cassette, by name.
fn digest(root: &Utf8Path) -> Result<String, CassetteError> {
    let mut all = blake3::Hasher::new();
    for file in files(root)? {
        let bytes = fs::read(&file).map_err(CassetteError::io(&file))?;
        let name = file.strip_prefix(root).unwrap_or(&file).as_str();
        all.update(name.as_bytes()).update(b"\0").update(blake3::hash(&bytes).as_bytes());
    }
    Ok(all.finalize().to_hex().to_string())
}

/// Returns the path of a scope below `trials/`.
fn place(trial: &str, attempt: u32, role: &str) -> Utf8PathBuf {
    let mut path: Utf8PathBuf = trial.split('/').map(encoded).collect();
    path.pop();
    let last = trial.rsplit('/').next().unwrap_or_default();
    path.push(format!("{}.{attempt}.{}.jsonl", encoded(last), encoded(role)));
    path
}

/// Makes a file name of any text: what is no letter, digit, `-`, `_`, `+` or inner dot
/// is written as `%` and its bytes in hexadecimal.
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut name = String::new();
    for (at, c) in text.char_indices() {
        if c.is_alphanumeric() || "-_+".contains(c) || (c == '.' && at > 0) {
            name.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(name, "%{byte:02x}");
            }
        }
    }
    if name.is_empty() { "%".to_owned() } else { name }
}

/// Returns the text of which [`encoded`] made a file name.
fn decoded(name: &str) -> String {
    let mut parts = name.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).map(|digits| u8::from_str_radix(digits, 16)) {
            Some(Ok(byte)) => {
                bytes.push(byte);
                bytes.extend(part.as_bytes().iter().skip(2));
            }
            Some(Err(_)) | None => bytes.extend([b"%", part.as_bytes()].concat()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in ["react-m", "react-鱼", "a b/c", "..", "100%", "%zz", "react-%é"] {
            assert_eq!(decoded(&encoded(name)), name);
        }
        assert_eq!(decoded("a%zz%4"), "a%zz%4", "what nobody encoded stays");
    }

    #[test]
    fn any_scope_has_a_place_below_the_cassette() {
        let table = [
            ("react-m/t-1/full/2", 1, "agent", "react-m/t-1/full/2.1.agent.jsonl", "usual"),
            ("m/鱼/ideal-a+b/1", 3, "judge-1", "m/鱼/ideal-a+b/1.3.judge-1.jsonl", "letters"),
            ("../../x", 1, "..", "%2e./%2e./x.1.%2e..jsonl", "climbs nowhere"),
            ("a//b", 1, "", "a/%/b.1.%.jsonl", "empty parts"),
            ("", 1, "a b", "%.1.a%20b.jsonl", "no trial"),
            ("preflight", 1, "judge", "preflight.1.judge.jsonl", "not of a trial"),
        ];
        for (trial, attempt, role, path, why) in table {
            assert_eq!(place(trial, attempt, role), path, "{why}");
        }
    }
}
