//! Where the answers of a recording are, and which of them answers a request.
//!
//! The rules are told in `replay`; this is the memory behind them. A record costs a few
//! hundred bytes here whatever it holds.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};

use jiff::Timestamp;
use serde::Deserialize;

use super::FORMAT;
use super::item::{AnswerItem, Item, RequestItem, SessionItem};
use super::key::Key;
use super::message::{self, Served};
use super::scan::{Damage, Place, at, scan};
use super::write::Origin;
use crate::web::{MAX_BODY, WebError};

/// Most bytes of a recorded error.
const MAX_ERROR: u64 = 1 << 20;

/// How an answer is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum Kind {
    /// A reply, whole.
    Response,
    /// A reply whose body is that of an earlier one.
    Revisit,
    /// A body alone.
    Resource,
    /// The error of a request without a reply.
    Failure,
}

/// One answer.
#[derive(Debug)]
pub(in crate::web) struct Entry {
    /// Where it is.
    pub(in crate::web) place: Place,
    /// How it is stored.
    pub(in crate::web) kind: Kind,
    /// `GET`, `POST`, …
    pub(in crate::web) method: Box<str>,
    /// What was asked, without secrets.
    pub(in crate::web) url: Box<str>,
    /// HTTP status, where there was a reply.
    pub(in crate::web) status: Option<u16>,
    /// Bytes of the block.
    pub(in crate::web) bytes: u64,
    /// When it was asked.
    pub(in crate::web) date: Option<Timestamp>,
    /// In which session.
    pub(in crate::web) session: Option<usize>,
    /// Which request of its kind in the session, or of all without one, from 1.
    pub(in crate::web) nth: u32,
    /// The entry that has the body of a revisit.
    body: Option<usize>,
}

/// A session of an attempt.
#[derive(Debug)]
pub(in crate::web) struct Session {
    /// Whose.
    pub(in crate::web) who: String,
    /// Which, from 1.
    pub(in crate::web) number: u32,
    /// When the clock of the attempt started.
    pub(in crate::web) started: Timestamp,
}

/// All answers of a file.
#[derive(Debug, Default)]
pub(in crate::web) struct Index {
    /// The format, if it is a recording of this program.
    pub(in crate::web) format: u32,
    /// When the first request was made.
    pub(in crate::web) first: Option<Timestamp>,
    /// The sessions, in the order of the file.
    pub(in crate::web) sessions: Vec<Session>,
    /// The answers, in the order of the file.
    pub(in crate::web) entries: Vec<Entry>,
    keys: HashMap<Key, Vec<usize>>,
    /// The last session of each attempt, and of each trial whatever its condition.
    attempts: HashMap<String, usize>,
    trials: HashMap<String, usize>,
}

impl Index {
    /// Reads a file through; returns the digest of its bytes too.
    pub(in crate::web) fn read(file: &File) -> Result<(Self, String), Damage> {
        let scanned = scan(file)?;
        if scanned.whole == 0 {
            return Err(Damage::new(0, "there is no whole WARC record"));
        }
        Ok((Builder::default().build(scanned.items), scanned.digest))
    }

    /// Returns the session that an attempt of that name repeats.
    pub(in crate::web) fn session_of(&self, who: &str) -> Option<usize> {
        self.attempts.get(who).or_else(|| self.trials.get(trial_of(who))).copied()
    }

    /// Returns the answer to the n-th request of its kind by who repeats that session.
    pub(in crate::web) fn find(
        &self,
        key: Key,
        session: Option<usize>,
        nth: u32,
    ) -> Option<&Entry> {
        let known = self.keys.get(&key)?.iter().map(|index| &self.entries[*index]);
        let own = known.clone().filter(|entry| session.is_some() && entry.session == session);
        own.clone()
            .rev()
            .find(|entry| entry.nth == nth)
            .or_else(|| reply_first(known.clone().filter(|entry| entry.nth == nth)))
            .or_else(|| reply_first(own.rev()))
            .or_else(|| reply_first(known.rev()))
    }

    /// Reads an answer: a reply, or the error of a request that got none.
    pub(in crate::web) fn load(
        &self,
        file: &File,
        entry: &Entry,
    ) -> io::Result<Result<Served, WebError>> {
        if entry.kind == Kind::Failure {
            return error(file, entry.place).map(Err);
        }
        let mut message = message(file, entry)?;
        if let Some(body) = entry.body.map(|index| &self.entries[index]) {
            let original = self::message(file, body)?;
            if message::status(&message.first).is_none() {
                (message.first, message.headers) = (original.first, original.headers);
            }
            message.body = original.body;
        }
        if entry.session.is_some() { message.own() } else { message.foreign() }.map(Ok)
    }
}

/// Returns the first reply, or the first failure where there is none.
fn reply_first<'a>(entries: impl Iterator<Item = &'a Entry>) -> Option<&'a Entry> {
    entries.min_by_key(|entry| entry.kind == Kind::Failure)
}

/// Reads an answer as it is stored.
fn message(file: &File, entry: &Entry) -> io::Result<message::Message> {
    at(file, entry.place, |head, block| {
        if entry.kind != Kind::Resource {
            return message::read(block, MAX_BODY + 1);
        }
        let mut body = Vec::new();
        block.take(MAX_BODY + 1).read_to_end(&mut body)?;
        let media = head.get("Content-Type").map(|it| ("content-type".to_owned(), it.to_owned()));
        let first = "HTTP/1.1 200 OK".to_owned();
        Ok(message::Message { first, headers: media.into_iter().collect(), body })
    })
}

/// Reads the error of a request that got no reply. One that a newer program wrote keeps its
/// words.
fn error(file: &File, place: Place) -> io::Result<WebError> {
    #[derive(Deserialize)]
    struct Recorded {
        message: String,
        error: serde_json::Value,
    }
    let recorded: Recorded = at(file, place, |_, block| {
        serde_json::from_reader(block.take(MAX_ERROR)).map_err(io::Error::from)
    })?;
    let known = serde_json::from_value(recorded.error);
    Ok(known.unwrap_or(WebError::Recording(recorded.message)))
}

/// Returns the part of the name of an attempt that does not depend on the condition.
fn trial_of(who: &str) -> &str {
    let start = who.rmatch_indices('/').nth(2).map_or(0, |(slash, _)| slash + 1);
    &who[start..]
}

/// Puts an index together from the records of a file.
#[derive(Default)]
struct Builder {
    index: Index,
    /// Method and key of requests, by the records that they belong to and by their own name.
    requests: HashMap<String, (String, Key)>,
    /// The session that a name and number stand for, at this place of the file.
    sessions: HashMap<(String, u32), usize>,
    /// How often each request was answered outside of any session.
    counts: HashMap<Key, u32>,
    /// Where a revisit finds a body: by record, by URL and date, by digest.
    records: HashMap<String, usize>,
    captures: HashMap<(String, String), usize>,
    digests: HashMap<String, usize>,
}

impl Builder {
    fn build(mut self, items: Vec<Item>) -> Index {
        // A request may stand behind its answer.
        let (mut answers, mut begun) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Item::Format(format) => self.index.format = self.index.format.max(format),
                Item::Request(request) => self.request(request),
                Item::Session(session) => begun.push((answers.len(), session)),
                Item::Answer(answer) => answers.push(answer),
            }
        }
        let mut begun = begun.into_iter().peekable();
        for (number, answer) in answers.into_iter().enumerate() {
            while let Some((_, session)) = begun.next_if(|(before, _)| *before <= number) {
                self.begin(session);
            }
            self.answer(*answer);
        }
        for (_, session) in begun {
            self.begin(session);
        }
        self.index
    }

    fn request(&mut self, request: RequestItem) {
        let RequestItem { id, concurrent, method, key } = request;
        for record in concurrent {
            self.requests.insert(record, (method.clone(), key));
        }
        self.requests.insert(id, (method, key));
    }

    fn begin(&mut self, session: SessionItem) -> usize {
        let SessionItem { who, number, started } = session;
        let place = self.index.sessions.len();
        self.sessions.insert((who.clone(), number), place);
        self.index.attempts.insert(who.clone(), place);
        self.index.trials.insert(trial_of(&who).to_owned(), place);
        self.index.sessions.push(Session { who, number, started });
        place
    }

    fn answer(&mut self, item: AnswerItem) {
        let mut names = std::iter::once(&item.id).chain(&item.concurrent);
        let asked = names.find_map(|record| self.requests.get(record)).cloned();
        let (method, key) =
            asked.unwrap_or_else(|| ("GET".to_owned(), Key::new("GET", &item.url, None, &[])));
        let (session, nth) = if let Some(origin) = &item.origin {
            (Some(self.session(origin, item.date)), origin.nth)
        } else {
            let count = self.counts.entry(key).or_insert(0);
            *count = count.saturating_add(1);
            (None, *count)
        };
        let body = (item.kind == Kind::Revisit).then(|| self.original(&item)).flatten();
        let index = self.index.entries.len();
        if item.kind != Kind::Revisit || body.is_some() {
            // A revisit of what is not here has no body to serve.
            self.index.keys.entry(key).or_default().push(index);
        }
        self.index.first = self.index.first.or(item.date);
        match item.kind {
            Kind::Response | Kind::Resource => self.remember(&item, index),
            // A chain of revisits leads to the first.
            Kind::Revisit => body.into_iter().for_each(|body| self.remember(&item, body)),
            Kind::Failure => {}
        }
        self.index.entries.push(Entry {
            place: item.place,
            kind: item.kind,
            method: method.into(),
            url: item.url.into(),
            status: item.status,
            bytes: item.bytes,
            date: item.date,
            session,
            nth,
            body,
        });
    }

    /// Returns the session of an answer. Where someone took its begin out of the file, it
    /// begins with that answer.
    fn session(&mut self, origin: &Origin, date: Option<Timestamp>) -> usize {
        let name = (origin.who.clone(), origin.session);
        if let Some(session) = self.sessions.get(&name) {
            return *session;
        }
        let (who, number) = name;
        self.begin(SessionItem { who, number, started: date.unwrap_or(Timestamp::UNIX_EPOCH) })
    }

    /// Returns the entry that has the body of a revisit.
    fn original(&self, item: &AnswerItem) -> Option<usize> {
        let record = item.refers.as_ref().and_then(|id| self.records.get(id));
        let capture = || item.refers_to.as_ref().and_then(|it| self.captures.get(it));
        let digest = || item.digest.as_ref().and_then(|digest| self.digests.get(digest));
        record.or_else(capture).or_else(digest).copied()
    }

    /// Remembers where later revisits find the body of an answer.
    fn remember(&mut self, item: &AnswerItem, body: usize) {
        self.records.entry(item.id.clone()).or_insert(body);
        self.captures.entry(item.written.clone()).or_insert(body);
        if let Some(digest) = &item.digest {
            self.digests.entry(digest.clone()).or_insert(body);
        }
    }
}

impl Index {
    /// Whether this program knows the format of the file.
    pub(in crate::web) fn is_newer(&self) -> bool {
        self.format > FORMAT
    }
}
