//! A reel: the exchanges of one scope (trial, attempt, role), in one file.
//!
//! A conversation repeats itself in every request, so a line holds only what its request
//! adds to the one of the line before: a file grows with the conversation and not with
//! its square. A line appears when its exchange has ended, in one write; a last line
//! without its newline does not count.
//!
//! Every program that records into a reel begins a session, and its exchanges are numbered
//! from 1 in it. What is recorded is never served while recording: an endpoint that failed
//! yesterday is asked again today. A replay serves one session, see [`State::session`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::cassette::{CassetteError, FORMAT, Shelf};
use super::client::Exchange;
use super::difference;
use super::endpoint::Secret;
use super::error::ModelError;
use super::line::{Asked, Before, Ended, Header, How, Line, Times, first};
use super::message::{Message, Offered};

/// A request, as far as a reel keeps it.
#[derive(Debug)]
pub(super) struct Request<'a> {
    /// BLAKE3 of its body, as 64 hexadecimal digits.
    pub(super) digest: String,
    /// Its settings, as JSON without the closing brace.
    pub(super) prefix: &'a str,
    pub(super) messages: &'a [Message],
    pub(super) tools: &'a Offered,
    /// What must never be kept.
    pub(super) key: Option<&'a Secret>,
}

/// What follows from a request.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    /// It was recorded.
    Known(Box<Ended>),
    /// It is to be sent, and how it ends is to be kept.
    New(Box<Pending<'a>>),
}

/// Where a scope has got to; it outlives the reels that are made for it.
#[derive(Debug, Default)]
pub(super) struct Position {
    /// How many exchanges have begun.
    begun: AtomicU32,
    /// The session that is recorded or served.
    session: OnceLock<u32>,
    /// How long the file was before the session that is recorded.
    before: OnceLock<u64>,
}

impl Position {
    /// Returns how long the file was before the session that is recorded; none where
    /// nothing was recorded.
    pub(super) fn before(&self) -> Option<u64> {
        self.before.get().copied()
    }
}

/// The exchanges of one scope.
#[derive(Debug)]
pub(super) struct Reel {
    shelf: Arc<Shelf>,
    path: Utf8PathBuf,
    header: Header,
    position: Arc<Position>,
    /// Whether what is cut off from now on is so by no limit.
    left: AtomicBool,
    state: Mutex<Option<State>>,
}

/// An open file.
#[derive(Debug, Default)]
struct State {
    lines: Vec<Line>,
    /// Where the exchange of a session and a number stands; the last of a number counts.
    at: HashMap<(u32, u32), usize>,
    /// Where each session ends.
    sessions: BTreeMap<u32, usize>,
    /// Exchanges that were served by what they say; each is served once.
    served: HashSet<usize>,
    /// What the next line adds to.
    before: Before,
    /// Open for appending, and how long it is; none where it is replayed.
    file: Option<(File, u64)>,
}

impl State {
    /// Returns the exchange of that session and number, and where it stands.
    fn find(&self, session: u32, n: u32) -> Option<(usize, &Line)> {
        let index = *self.at.get(&(session, n))?;
        Some((index, self.lines.get(index)?))
    }

    /// Returns the session that a replay serves from which the exchange of that number is
    /// asked for: of those that have the same request there, so that two judges do not meet,
    /// the last that the endpoint did not break, else the last. Without a number it may stand
    /// anywhere.
    fn session(&self, n: Option<u32>, digest: &str) -> u32 {
        let has = |session: u32| match n {
            Some(n) => self.find(session, n).is_some_and(|(_, line)| line.is(digest)),
            None => self.lines.iter().any(|line| line.session == session && line.is(digest)),
        };
        let rank = |(number, end): (&u32, &usize)| {
            let whole = self.lines.get(*end).is_some_and(|line| match line.ended.how {
                How::Reply | How::Overflow => true,
                How::Refused | How::Gone | How::Cut => false,
            });
            (has(*number), whole, *number)
        };
        self.sessions.iter().map(rank).max().map_or_else(first, |(_, _, number)| number)
    }

    /// Returns the exchanges of a session that were not served yet, and where they stand.
    fn left(&self, session: u32) -> impl Iterator<Item = (usize, &Line)> {
        let of_it = move |(index, line): &(usize, &Line)| {
            line.session == session && !self.served.contains(index)
        };
        self.lines.iter().enumerate().filter(of_it)
    }

    /// Returns the exchange of that request which began first and was not served yet; from now
    /// on it was.
    fn serve(&mut self, session: u32, digest: &str) -> Option<&Line> {
        let same = self.left(session).filter(|(_, line)| line.is(digest));
        let (index, _) = same.min_by_key(|(_, line)| line.n)?;
        self.served.insert(index);
        self.lines.get(index)
    }

    /// Returns where the exchange stands, of those not served yet, whose request begins as
    /// `messages` do for longest; of several the one that began first.
    fn nearest(&self, session: u32, messages: &[Message]) -> Option<usize> {
        let mut before = Before::default();
        let mut shared = Vec::new();
        for line in &self.lines {
            before.apply(&line.request);
            shared.push(before.messages.iter().zip(messages).take_while(|(a, b)| a == b).count());
        }
        let rank = |(index, line): &(usize, &Line)| (shared.get(*index).copied(), Reverse(line.n));
        self.left(session).max_by_key(rank).map(|(index, _)| index)
    }
}

impl Reel {
    pub(super) fn new(
        shelf: Arc<Shelf>,
        path: Utf8PathBuf,
        (trial, attempt, role): (&str, u32, &str),
        position: Arc<Position>,
    ) -> Self {
        let header = Header {
            format: FORMAT,
            wildgym: env!("CARGO_PKG_VERSION").to_owned(),
            run: String::new(),
            trial: trial.to_owned(),
            attempt,
            role: role.to_owned(),
        };
        Self {
            shelf,
            path,
            header,
            position,
            left: AtomicBool::new(false),
            state: Mutex::new(None),
        }
    }

    /// Tells whether there is a file.
    pub(super) fn exists(&self) -> bool {
        self.path.is_file()
    }

    /// Takes the next number for a request, and returns what was recorded under it where
    /// it replays, else the place to record it.
    pub(super) fn turn<'a>(&'a self, request: Request<'a>) -> Result<Turn<'a>, CassetteError> {
        let n = self.next();
        let known = self.known(n, &request);
        self.turned(n, request, known)
    }

    /// The same for requests that may be under way side by side: what was recorded is known
    /// again by what it says, and of equal requests the one that began first is served first.
    pub(super) fn turn_by_content<'a>(
        &'a self,
        request: Request<'a>,
    ) -> Result<Turn<'a>, CassetteError> {
        let n = self.next();
        let known = self.known_by_content(n, &request);
        self.turned(n, request, known)
    }

    /// From now on nothing that is cut off is so by a limit.
    pub(super) fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    fn next(&self) -> u32 {
        self.position.begun.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    fn turned<'a>(
        &'a self,
        n: u32,
        request: Request<'a>,
        known: Result<Option<Ended>, CassetteError>,
    ) -> Result<Turn<'a>, CassetteError> {
        match known {
            Ok(None) => Ok(Turn::New(Box::new(Pending { reel: self, n, request, kept: false }))),
            known => {
                self.shelf.count(&known);
                known.map(|ended| Turn::Known(Box::new(ended.unwrap_or_else(Ended::cut))))
            }
        }
    }

    /// Returns how the recorded exchange of that number ended; none where it is to be sent.
    fn known(&self, n: u32, request: &Request<'_>) -> Result<Option<Ended>, CassetteError> {
        self.replayed(|state| {
            let find = || state.session(Some(n), &request.digest);
            let session = self.position.session.get_or_init(find);
            let Some((index, line)) = state.find(*session, n) else {
                return Err(CassetteError::Missing { round: n, scope: self.scope() });
            };
            if line.request.digest == request.digest {
                return Ok(line.ended.clone());
            }
            let what = self.difference(&state.lines[..=index], request);
            Err(CassetteError::Diverged { round: n, scope: self.scope(), what })
        })
    }

    /// Returns how a recorded exchange of that request ended; none where it is to be sent.
    fn known_by_content(
        &self,
        n: u32,
        request: &Request<'_>,
    ) -> Result<Option<Ended>, CassetteError> {
        self.replayed(|state| {
            let find = || state.session(None, &request.digest);
            let session = *self.position.session.get_or_init(find);
            if let Some(line) = state.serve(session, &request.digest) {
                return Ok(line.ended.clone());
            }
            match state.nearest(session, request.messages) {
                Some(index) => {
                    let what = self.difference(&state.lines[..=index], request);
                    Err(CassetteError::Diverged { round: n, scope: self.scope(), what })
                }
                None => Err(CassetteError::Missing { round: n, scope: self.scope() }),
            }
        })
    }

    /// Finds an exchange in what was read from the file; none where nothing is replayed.
    fn replayed(
        &self,
        find: impl FnOnce(&mut State) -> Result<Ended, CassetteError>,
    ) -> Result<Option<Ended>, CassetteError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = match &mut *state {
            Some(state) => state,
            none => none.insert(self.open()?),
        };
        if !self.shelf.replays {
            return Ok(None);
        }
        find(state).map(Some)
    }

    /// Tells whether the scope is of no trial, and so of no run: a judge's first questions.
    fn is_aside(&self) -> bool {
        is_aside(&self.header.trial)
    }

    /// Says what differs between a request and that of the last of these lines.
    fn difference(&self, lines: &[Line], now: &Request<'_>) -> String {
        let mut before = Before::default();
        let mut tools = None;
        for line in lines {
            before.apply(&line.request);
            tools.clone_from(&line.request.tools);
        }
        let tools = match &tools {
            None => "[]".to_owned(),
            Some(digest) => self.shelf.tools(digest).unwrap_or_default(),
        };
        let settings = format!("{}}}", now.prefix);
        let offered = now.tools.list().unwrap_or_else(|| "[]".to_owned());
        difference::describe(
            (&before.settings, &tools, &before.messages),
            (&settings, &offered, now.messages),
        )
    }

    /// Names trial, attempt and role.
    fn scope(&self) -> String {
        let Header { trial, attempt, role, .. } = &self.header;
        format!("`{trial}` attempt {attempt}, role `{role}`")
    }

    fn open(&self) -> Result<State, CassetteError> {
        let error = || CassetteError::io(&self.path);
        let (header, mut state, whole) = self.load()?;
        if self.shelf.replays {
            return Ok(state);
        }
        let run = if self.is_aside() { "" } else { self.shelf.run() };
        let own = Header { run: run.to_owned(), ..self.header.named() };
        match &header {
            Some(header) if !self.is_aside() && (header.run != run || run.is_empty()) => {
                return Err(CassetteError::Taken(self.path.clone()));
            }
            Some(_) | None => {}
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(CassetteError::io(folder))?;
        }
        // What stands behind the last newline was never whole.
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.path)
            .map_err(error())?;
        if self.is_aside() {
            self.hold(&file)?;
        }
        self.position.session.get_or_init(|| {
            state.sessions.last_key_value().map_or_else(first, |(last, _)| last.saturating_add(1))
        });
        self.position.before.get_or_init(|| whole);
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(error())?;
        let mut length = whole;
        if header.is_none() {
            let line = self.line(&own)?;
            file.write_all(&line).map_err(error())?;
            length += line.len() as u64;
        }
        state.file = Some((file, length));
        Ok(state)
    }

    /// Refuses to record where another process does: no run's lock guards what is of no run.
    fn hold(&self, file: &File) -> Result<(), CassetteError> {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(CassetteError::Busy(self.path.clone())),
            // A file system without locks still keeps files.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Reads the file, where there is one: its header, its lines, the length of both.
    fn load(&self) -> Result<(Option<Header>, State, u64), CassetteError> {
        let mut state = State::default();
        let bytes = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((None, state, 0)),
            Err(error) => return Err(CassetteError::io(&self.path)(error)),
            Ok(kind) if !kind.is_file() => return Err(self.corrupt(1, "it is no regular file")),
            Ok(_) => fs::read(&self.path).map_err(CassetteError::io(&self.path))?,
        };
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n');
        let Some(first) = lines.next() else { return Ok((None, state, 0)) };
        let header = self.header(first)?;
        for (index, text) in lines.enumerate() {
            let line: Line = serde_json::from_slice(text)
                .map_err(|error| self.corrupt(index + 2, &error.to_string()))?;
            if !state.before.apply(&line.request) {
                return Err(self.corrupt(index + 2, "it repeats messages that are not there"));
            }
            state.at.insert((line.session, line.n), state.lines.len());
            state.sessions.insert(line.session, state.lines.len());
            state.lines.push(line);
        }
        Ok((Some(header), state, whole as u64))
    }

    /// Reads the first line, which must be about this scope.
    fn header(&self, text: &[u8]) -> Result<Header, CassetteError> {
        /// The one field that every version has.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let read = |error: serde_json::Error| self.corrupt(1, &error.to_string());
        let Version { format } = serde_json::from_slice(text).map_err(read)?;
        if format > FORMAT {
            let path = self.path.clone();
            return Err(CassetteError::Newer { path, found: format, known: FORMAT });
        }
        let header: Header = serde_json::from_slice(text).map_err(read)?;
        let own = &self.header;
        if (&header.trial, header.attempt, &header.role) != (&own.trial, own.attempt, &own.role) {
            let Header { trial, attempt, role, .. } = header;
            let reason =
                format!("it says that it is of `{trial}` attempt {attempt}, role `{role}`");
            return Err(self.corrupt(1, &reason));
        }
        Ok(header)
    }

    fn corrupt(&self, line: usize, reason: &str) -> CassetteError {
        CassetteError::Corrupt { path: self.path.clone(), line, reason: reason.to_owned() }
    }

    fn line<T: Serialize>(&self, value: &T) -> Result<Vec<u8>, CassetteError> {
        let mut line = serde_json::to_vec(value)
            .map_err(|error| CassetteError::io(&self.path)(error.into()))?;
        line.push(b'\n');
        Ok(line)
    }

    /// Appends how an exchange ended.
    fn append(
        &self,
        n: u32,
        request: &Request<'_>,
        ended: Ended,
        t: Times,
    ) -> Result<(), CassetteError> {
        let tools = self.shelf.keep_tools(request.tools)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(State { before, file: Some((file, length)), .. }) = &mut *state else {
            return Ok(());
        };
        let settings = format!("{}}}", request.prefix);
        let keep = before.messages.iter().zip(request.messages).take_while(|(old, new)| old == new);
        let keep = keep.count();
        let raw = |text: &str| RawValue::from_string(text.to_owned());
        let changed = (settings != before.settings).then(|| raw(&settings)).transpose();
        let messages = request.messages[keep..].iter().map(|message| raw(message.as_json()));
        let asked = changed.and_then(|settings| {
            let (digest, messages) = (request.digest.clone(), messages.collect::<Result<_, _>>()?);
            Ok(Asked { digest, settings, tools, keep, messages })
        });
        let asked = asked.map_err(|error| CassetteError::io(&self.path)(error.into()))?;
        let session = self.position.session.get().copied().unwrap_or_else(first);
        let line = self.line(&Line { session, n, request: asked, ended, t })?;
        let line = match request.key {
            Some(key) => key.redact(String::from_utf8_lossy(&line).into_owned()).into_bytes(),
            None => line,
        };
        if let Err(error) = file.write_all(&line) {
            // Half a line would spoil the ones that follow it; what can be mended is.
            let _unmended = file.set_len(*length).and_then(|()| file.seek(SeekFrom::End(0)));
            return Err(CassetteError::io(&self.path)(error));
        }
        *length += line.len() as u64;
        *before = Before { messages: request.messages.to_vec(), settings };
        Ok(())
    }
}

/// A request whose end is to be kept. Dropped before, it was cut off, which is kept too.
#[derive(Debug)]
pub(super) struct Pending<'a> {
    reel: &'a Reel,
    n: u32,
    request: Request<'a>,
    kept: bool,
}

impl Pending<'_> {
    /// Keeps how the exchange ended.
    pub(super) fn keep(
        mut self,
        result: &Result<Exchange, ModelError>,
    ) -> Result<(), CassetteError> {
        self.kept = true;
        let (ended, t) = match result {
            Ok(exchange) => {
                let ended = Ended {
                    how: How::Reply,
                    status: Some(exchange.status),
                    body: exchange.reply_text.clone(),
                    mended: exchange.reply.peculiar.iter().any(|name| name == "mended-text"),
                    ..Ended::cut()
                };
                (ended, Times::new(exchange.took, exchange.waited, &exchange.retries))
            }
            Err(error) => {
                let (Some(how), Some(failure)) = (How::of(error), error.failure()) else {
                    return Ok(());
                };
                (Ended::failed(how, failure), Times::new(failure.took, failure.waited, &[]))
            }
        };
        self.reel.append(self.n, &self.request, ended, t)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.kept && !self.reel.shelf.is_stopped() {
            // Nobody is left to hear of an error.
            let left = self.reel.left.load(Ordering::Relaxed);
            let ended = if left { Ended::left() } else { Ended::cut() };
            let _unkept = self.reel.append(self.n, &self.request, ended, Times::default());
        }
    }
}

/// Tells whether a scope of that name is of no trial: a trial's name has several parts.
pub(super) fn is_aside(trial: &str) -> bool {
    !trial.contains('/')
}
