//! Answers from a recording, and never from the network.
//!
//! A [`Tape`] is a WARC file, ours or another program's: an index by offset in memory, bodies
//! read when they are asked for. [`Web::replay`] is the web of one attempt over it. A request
//! is found by method, URL and body, all made normal and without secrets as in the recording.
//! The n-th such request of an attempt gets, in this order,
//!
//! 1. the n-th answer of the recorded attempt that it repeats: the last session of the same
//!    condition, task, variant and k, else of the same task, variant and k under any other
//!    condition, so that another agent finds what one before it was told;
//! 2. the n-th answer of any attempt, the first in the file (a file without attempts, by
//!    another program, counts as one attempt);
//! 3. the last answer known, of the repeated attempt if it has one.
//!
//! In 2 and 3 a reply goes before a recorded failure. What is found nowhere is a miss:
//! [`WebError::NotRecorded`], counted. Where an attempt makes the same request twice at once,
//! which of the two answers goes to which is as open as it was when they were recorded.

use std::collections::HashMap;
use std::fs::File;
use std::future::ready;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::Serialize;

use super::block::BlockList;
use super::recording::count;
use super::reply::Reply;
use super::warc::{Asked, Damage, Entry, FORMAT, Index, Key, Kind};
use super::{Endpoints, Exchange, Request, Rules, Web, WebError};

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// The file cannot be read.
    #[error("cannot read the recording `{path}`: {source}")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no WARC file, or damaged.
    #[error("the recording `{path}` is damaged at byte {offset}: {reason}")]
    Damaged {
        /// The file.
        path: Utf8PathBuf,
        /// Where the record, or the gzip member that holds it, begins.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// A newer program wrote it.
    #[error("the recording `{path}` has format {found}; this program reads up to {known}")]
    Newer {
        /// The file.
        path: Utf8PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
}

/// One answer of a recording, as a list of them shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TapeEntry {
    /// Where the record, or the gzip member that holds it, begins, in bytes.
    pub offset: u64,
    /// `GET`, `POST`, …
    pub method: String,
    /// The URL, without secrets.
    pub url: String,
    /// HTTP status; none where there was no reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of the reply as recorded, headers included.
    pub bytes: u64,
    /// Whether the body is stored with an earlier answer.
    pub repeated: bool,
    /// When it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Timestamp>,
    /// Which attempt asked: `<condition>/<task>/<variant>/<k>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Which session of the attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// Which request of its kind in the session, from 1.
    pub nth: u32,
}

/// A recording that can be replayed. Share it between all attempts of a run.
#[derive(Debug)]
pub struct Tape {
    path: Utf8PathBuf,
    file: File,
    index: Index,
    digest: String,
    misses: AtomicU64,
}

impl Tape {
    /// Reads a WARC file through once and remembers where its records are.
    ///
    /// Gzip or not, WARC 1.0 or 1.1, by whatever program. A last record that was cut off is
    /// ignored; anything else that is damaged is an error with its offset.
    pub fn open(path: &Utf8Path) -> Result<Arc<Self>, TapeError> {
        let io = |source| TapeError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let (index, digest) = Index::read(&file).map_err(|damage| match damage {
            Damage::Io(source) => io(source),
            Damage::At { offset, reason } => {
                TapeError::Damaged { path: path.to_owned(), offset, reason }
            }
        })?;
        if index.is_newer() {
            let (path, found) = (path.to_owned(), index.format);
            return Err(TapeError::Newer { path, found, known: FORMAT });
        }
        let (path, misses) = (path.to_owned(), AtomicU64::new(0));
        Ok(Arc::new(Self { path, file, index, digest, misses }))
    }

    /// Returns the BLAKE3 digest of the whole file, in hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns how many requests were not in the recording, of all attempts until now.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Returns when the clock of the attempt started that a replay by `who` repeats. Where
    /// there is no such attempt, it is the time of the first record; nothing where no record
    /// has one.
    #[must_use]
    pub fn started(&self, who: &str) -> Option<Timestamp> {
        let session = self.index.session_of(who);
        session.map(|session| self.index.sessions[session].started).or(self.index.first)
    }

    /// Returns every answer, in the order of the file.
    #[must_use]
    pub fn entries(&self) -> Vec<TapeEntry> {
        let entries = self.index.entries.iter();
        entries.map(|entry| self.shown(entry)).collect()
    }

    fn shown(&self, entry: &Entry) -> TapeEntry {
        let session = entry.session.map(|session| &self.index.sessions[session]);
        TapeEntry {
            offset: entry.place.offset(),
            method: entry.method.to_string(),
            url: entry.url.to_string(),
            status: entry.status,
            bytes: entry.bytes,
            repeated: entry.kind == Kind::Revisit,
            date: entry.date,
            who: session.map(|session| session.who.clone()),
            session: session.map(|session| session.number),
            nth: entry.nth,
        }
    }

    /// Returns the answer to the n-th request of its kind by an attempt that repeats `session`.
    fn answer(&self, asked: &Asked, session: Option<usize>, nth: u32) -> Result<Reply, WebError> {
        let Some(entry) = self.index.find(asked.key, session, nth) else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return Err(WebError::NotRecorded(asked.url.clone()));
        };
        let broken = |error| {
            WebError::Recording(format!(
                "cannot read the recording `{}` at byte {}: {error}",
                self.path,
                entry.place.offset()
            ))
        };
        let message = self.index.load(&self.file, entry).map_err(broken)??;
        let mut reply = Reply::new(message.status, "", Bytes::from(message.body));
        reply.headers = message.headers;
        Ok(reply)
    }
}

impl Web {
    /// Returns the web of one attempt as the recording has it.
    ///
    /// `who` names the trial, `<condition>/<task>/<variant>/<k>`. What is blocked stays so,
    /// recorded or not; see [`Web::granting`] for methods. No name is resolved and no socket
    /// opened.
    #[must_use]
    pub fn replay(tape: Arc<Tape>, who: &str, endpoints: Endpoints, blocked: &[String]) -> Self {
        let session = tape.index.session_of(who);
        let replay = Replay { tape, session, endpoints, counts: Mutex::new(HashMap::new()) };
        Self::new(Arc::new(replay), Rules::open(blocked))
    }
}

/// The web of one attempt, from a recording.
#[derive(Debug)]
struct Replay {
    tape: Arc<Tape>,
    /// The recorded session that is repeated.
    session: Option<usize>,
    endpoints: Endpoints,
    /// How often the attempt asked each request.
    counts: Mutex<HashMap<Key, u32>>,
}

impl Replay {
    fn reply(&self, request: &Request, blocked: &BlockList) -> Result<Reply, WebError> {
        let host = request.url.host_str().unwrap_or_default();
        if blocked.covers(host) {
            return Err(WebError::Blocked(host.to_owned()));
        }
        let asked = Asked::new(request);
        let nth = count(&self.counts, asked.key);
        self.tape.answer(&asked, self.session, nth)
    }
}

impl Exchange for Replay {
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        _: Timestamp,
        blocked: &'a BlockList,
    ) -> BoxFuture<'a, Result<Reply, WebError>> {
        Box::pin(ready(self.reply(request, blocked)))
    }

    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}
