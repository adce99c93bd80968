//! Keeps what an attempt's web answered, so that [`replay`](super::replay) can answer it again.
//!
//! A [`Recorder`] is one WARC file that a whole run shares; [`Web::recorded`] wraps the web
//! of one attempt, whatever answers behind it. Every hop is kept with the attempt that asked,
//! the session (a trial that is attempted again, or a run that is resumed, begins another) and
//! how often the attempt had asked the same before. Requests without a reply are kept with
//! their error. Secrets are taken out before anything is written (see `warc/redact.rs`); what
//! the block list refused never reached the network and is left out.
//!
//! Invariant: the file holds whole records only. A record that a kill cut off is removed when
//! the file is opened again, and ignored by every reader here. Where the file cannot be
//! written, requests fail and [`Recorder::failure`] says why: a recording with holes would
//! replay as something that never happened.
//!
//! # Which time an attempt has
//!
//! Decision: a live attempt has a logical clock like a hermetic one. It *starts* at the real
//! time at which the attempt began, and from there moves by the declared costs of calls. That
//! start is what is passed to [`Web::recorded`], and kept; a replayed attempt starts its clock
//! at [`Tape::started`](super::Tape::started). Nothing else of a transcript depends on the
//! hour, so a replay has the same bytes. (The real time of every exchange is in the recording
//! too, as `WARC-Date`, and in the records of the transcript under `t`.)

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use futures::future::BoxFuture;
use jiff::Timestamp;

use super::block::BlockList;
use super::reply::Reply;
use super::warc::{Asked, Key, Origin, Payload, Written, exchange, failure, information, session};
use super::warc::{Damage, FORMAT, Item, scan};
use super::{Endpoints, Exchange, Request, Web, WebError};

/// Bodies up to this size are compressed where the request was made; larger ones beside it.
const SMALL: usize = 128 << 10;

/// The one writer of a recording. Share it between all attempts of a run.
#[derive(Debug)]
pub struct Recorder {
    path: Utf8PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Open for appending, and locked as long as it is open.
    file: File,
    /// Bytes of whole records.
    length: u64,
    /// What was stored already, by digest.
    payloads: HashMap<String, Payload>,
    /// The last session of each attempt.
    sessions: HashMap<String, u32>,
    /// Why nothing can be written any more.
    failure: Option<String>,
}

impl Recorder {
    /// Opens a recording, and makes the file where there is none; its folder must exist.
    ///
    /// An existing recording is continued: nothing whole is touched, and what a kill left of a
    /// last record is removed. Errors: another process records into it (`WouldBlock`), it is
    /// damaged or no recording of this program (`InvalidData`), or the file cannot be used.
    pub fn create(path: &Utf8Path) -> io::Result<Arc<Self>> {
        let options = File::options().read(true).append(true).create(true).open(path);
        let file = options.map_err(|error| named(path, &error))?;
        hold(&file, path)?;
        let mut state = State {
            file,
            length: 0,
            payloads: HashMap::new(),
            sessions: HashMap::new(),
            failure: None,
        };
        state.load().map_err(|damage| named(path, &damage.into_io()))?;
        if state.length == 0 {
            state.append(&information()).map_err(|error| named(path, &error))?;
        }
        Ok(Arc::new(Self { path: path.to_owned(), state: Mutex::new(state) }))
    }

    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Returns why the file could not be written, if that happened: then it lacks exchanges,
    /// and attempts that used it do not count.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.state().failure.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session of an attempt and returns its number, from 1.
    fn begin(&self, who: &str, started: Timestamp) -> u32 {
        let mut state = self.state();
        let number = state.sessions.get(who).map_or(1, |last| last.saturating_add(1));
        state.sessions.insert(who.to_owned(), number);
        let origin = Origin { who: who.to_owned(), session: number, nth: 0 };
        // The failure is kept, and every request hears of it.
        let _ = state.append(&session(&origin, started));
        number
    }

    /// Keeps how a request ended.
    fn keep(
        &self,
        asked: &Asked,
        origin: &Origin,
        result: &Result<Reply, WebError>,
    ) -> Result<(), WebError> {
        let (records, new) = match result {
            Ok(reply) => {
                let digest = Payload::digest(asked.stored(&reply.body));
                let known = digest.as_ref().and_then(|it| self.state().payloads.get(it).cloned());
                exchange(asked, origin, reply, digest, known.as_ref())
            }
            Err(error) => (failure(asked, origin, error), None),
        };
        let mut state = self.state();
        state.append(&records).map_err(|error| self.broken(&error.to_string()))?;
        if let Some((digest, payload)) = new {
            state.payloads.entry(digest).or_insert(payload);
        }
        Ok(())
    }

    fn broken(&self, reason: &str) -> WebError {
        WebError::Recording(format!("cannot record into `{}`: {reason}", self.path))
    }
}

impl State {
    /// Reads what is there, and removes what was never whole.
    fn load(&mut self) -> Result<(), Damage> {
        let scanned = scan(&self.file)?;
        if scanned.plain {
            let reason = "it is not compressed, and so no recording of wildgym; choose another \
                          file to record into";
            return Err(Damage::new(0, reason));
        }
        for item in scanned.items {
            match item {
                Item::Session(session) => {
                    let last = self.sessions.entry(session.who).or_insert(0);
                    *last = (*last).max(session.number);
                }
                Item::Answer(answer) => {
                    if let Some((digest, payload)) = answer.payload() {
                        self.payloads.entry(digest).or_insert(payload);
                    }
                }
                Item::Format(found) if found > FORMAT => {
                    let reason = format!("it has format {found}; this program writes {FORMAT}");
                    return Err(Damage::new(0, &reason));
                }
                Item::Format(_) | Item::Request(_) => {}
            }
        }
        self.length = scanned.whole;
        self.file.set_len(scanned.whole)?;
        Ok(())
    }

    /// Appends whole records, or nothing. After a failure it appends nothing any more.
    fn append(&mut self, records: &Written) -> io::Result<()> {
        if let Some(failure) = &self.failure {
            return Err(io::Error::other(failure.clone()));
        }
        let bytes = records.bytes();
        if let Err(error) = self.file.write_all(bytes) {
            // Part of a record is no record; readers ignore it where it cannot be removed.
            let _unmended = self.file.set_len(self.length);
            self.failure = Some(error.to_string());
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// Refuses to record where another process does.
fn hold(file: &File, path: &Utf8Path) -> io::Result<()> {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => {
            let reason = format!("another process records into `{path}`; choose another file");
            Err(io::Error::new(io::ErrorKind::WouldBlock, reason))
        }
        // A file system without locks still keeps files.
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(()),
    }
}

fn named(path: &Utf8Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot record into `{path}`: {error}"))
}

impl Web {
    /// Returns the same web with every exchange kept. Call it once for each attempt.
    ///
    /// `who` names the trial, `<condition>/<task>/<variant>/<k>`; a replay finds its requests
    /// by it. `started` is the time at which the attempt's clock starts.
    #[must_use]
    pub fn recorded(self, recorder: Arc<Recorder>, who: &str, started: Timestamp) -> Self {
        let session = recorder.begin(who, started);
        let (inner, counts) = (Arc::clone(&self.exchange), Mutex::new(HashMap::new()));
        let kept = Recorded { inner, recorder, who: who.to_owned(), session, counts };
        Self { exchange: Arc::new(kept), ..self }
    }
}

/// The web of one attempt, with what it answers kept.
#[derive(Debug)]
struct Recorded {
    inner: Arc<dyn Exchange>,
    recorder: Arc<Recorder>,
    who: String,
    session: u32,
    /// How often the attempt asked each request.
    counts: Mutex<HashMap<Key, u32>>,
}

impl Recorded {
    async fn exchange(
        &self,
        request: &Request,
        now: Timestamp,
        blocked: &BlockList,
    ) -> Result<Reply, WebError> {
        if let Some(reason) = self.recorder.failure() {
            return Err(self.recorder.broken(&reason));
        }
        let asked = Asked::new(request);
        let nth = count(&self.counts, asked.key);
        let origin = Origin { who: self.who.clone(), session: self.session, nth };
        let mut pending = Pending { recorder: &self.recorder, ended: Some((asked, origin)) };
        let result = self.inner.answer(request, now, blocked).await;
        let Some((asked, origin)) = pending.ended.take() else { return result };
        if matches!(result, Err(WebError::Blocked(_))) {
            return result;
        }
        let large = matches!(&result, Ok(reply) if reply.body.len() > SMALL);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if large => {
                let (recorder, kept) = (Arc::clone(&self.recorder), result.clone());
                let keep = move || recorder.keep(&asked, &origin, &kept);
                let done = runtime.spawn_blocking(keep).await;
                done.map_err(|error| self.recorder.broken(&error.to_string()))??;
            }
            Ok(_) | Err(_) => self.recorder.keep(&asked, &origin, &result)?,
        }
        result
    }
}

impl Exchange for Recorded {
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        now: Timestamp,
        blocked: &'a BlockList,
    ) -> BoxFuture<'a, Result<Reply, WebError>> {
        Box::pin(self.exchange(request, now, blocked))
    }

    fn endpoints(&self) -> &Endpoints {
        self.inner.endpoints()
    }
}

/// A request on its way. Dropped before its end, it was cut off, which is kept too.
#[derive(Debug)]
struct Pending<'a> {
    recorder: &'a Recorder,
    ended: Option<(Asked, Origin)>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some((asked, origin)) = self.ended.take() {
            // Nobody is left to hear of an error; the recorder keeps it.
            let _ = self.recorder.keep(&asked, &origin, &Err(WebError::Cut(asked.url.clone())));
        }
    }
}

/// Counts a request and says which of its kind it is, from 1.
pub(super) fn count(counts: &Mutex<HashMap<Key, u32>>, key: Key) -> u32 {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry(key).or_insert(0);
    *count = count.saturating_add(1);
    *count
}

#[cfg(test)]
mod tests;
