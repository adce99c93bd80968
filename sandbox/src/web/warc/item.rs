//! What of a record is remembered: enough to find it and its answer again, not its body.
//!
//! Kinds of records that answer nothing (`conversion`, `continuation`, others' `metadata`, …)
//! and blocks that are no HTTP messages are passed over.

use std::io::Read;

use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use url::Url;

use super::fields::{self, Head};
use super::index::Kind;
use super::key::Key;
use super::scan::Place;
use super::source::Block;
use super::write::{Origin, Payload};
use super::{message, names, redact};
use crate::web::address;

/// Most bytes of fields in the block of a record.
const MAX_FIELDS: u64 = 64 << 10;

/// Most bytes of a request that is compared with others.
const MAX_REQUEST: u64 = 32 << 20;

/// A record that matters.
#[derive(Debug)]
pub(in crate::web) enum Item {
    /// The file is a recording of that format.
    Format(u32),
    /// A session of an attempt begins.
    Session(SessionItem),
    /// A request.
    Request(RequestItem),
    /// What came of a request.
    Answer(Box<AnswerItem>),
}

/// The begin of a session.
#[derive(Debug)]
pub(in crate::web) struct SessionItem {
    /// Whose.
    pub(in crate::web) who: String,
    /// Which, from 1.
    pub(in crate::web) number: u32,
    /// When the clock of the attempt started.
    pub(super) started: Timestamp,
}

/// A request.
#[derive(Debug)]
pub(in crate::web) struct RequestItem {
    pub(super) id: String,
    /// Records that belong to it.
    pub(super) concurrent: Vec<String>,
    pub(super) method: String,
    pub(super) key: Key,
}

/// What came of a request.
#[derive(Debug)]
pub(in crate::web) struct AnswerItem {
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) id: String,
    /// Records that belong to it.
    pub(super) concurrent: Vec<String>,
    /// Normal and without secrets.
    pub(super) url: String,
    pub(super) date: Option<Timestamp>,
    pub(super) origin: Option<Origin>,
    pub(super) status: Option<u16>,
    /// Bytes of the block.
    pub(super) bytes: u64,
    /// Digest of the payload, as written.
    pub(super) digest: Option<String>,
    /// The record that a revisit refers to.
    pub(super) refers: Option<String>,
    /// Its URL and date, as written.
    pub(super) refers_to: Option<(String, String)>,
    /// Target and date of this record, as written.
    pub(super) written: (String, String),
}

impl AnswerItem {
    /// Returns under which digest a later answer may refer to the body of this one.
    pub(in crate::web) fn payload(&self) -> Option<(String, Payload)> {
        let digest = self.digest.clone().filter(|_| self.kind == Kind::Response)?;
        let (url, date) = self.written.clone();
        Some((digest, Payload { id: self.id.clone(), url, date }))
    }
}

/// Reads what matters of a record.
pub(super) fn read(place: Place, head: &Head, length: u64, block: &mut Block<'_>) -> Option<Item> {
    let kind = head.get("WARC-Type")?.to_ascii_lowercase();
    let origin = origin(head);
    match kind.as_str() {
        "warcinfo" => format(block),
        "request" => request(head, block),
        "metadata" => match origin {
            Some(origin) if origin.nth == 0 => begun(origin, block),
            Some(_) => answer(place, head, length, Kind::Failure, None),
            None => None,
        },
        // Only the first part of a record in segments; the rest is elsewhere.
        "response" | "revisit" | "resource" if head.get("WARC-Segment-Number").is_some() => None,
        "resource" => answer(place, head, length, Kind::Resource, Some(200)),
        "response" | "revisit" => {
            let media = head.get("Content-Type").unwrap_or("application/http");
            let is_http = media.to_ascii_lowercase().starts_with("application/http");
            let status = message::head(block).ok().and_then(|head| message::status(&head.first));
            if kind == "revisit" {
                let bare = head.get("WARC-Profile").is_some_and(|it| it.ends_with("not-modified"));
                let kind = if bare { Kind::Response } else { Kind::Revisit };
                return answer(place, head, length, kind, status);
            }
            status.filter(|_| is_http)?;
            answer(place, head, length, Kind::Response, status)
        }
        _ => None,
    }
}

fn answer(place: Place, head: &Head, bytes: u64, kind: Kind, status: Option<u16>) -> Option<Item> {
    let owned = |name: &str| head.get(name).map(str::to_owned);
    let target = target(head)?;
    let date = owned("WARC-Date").unwrap_or_default();
    let refers_to = head.get("WARC-Refers-To-Target-URI").zip(head.get("WARC-Refers-To-Date"));
    Some(Item::Answer(Box::new(AnswerItem {
        place,
        kind,
        id: owned("WARC-Record-ID").unwrap_or_default(),
        concurrent: head.all("WARC-Concurrent-To").map(str::to_owned).collect(),
        url: normal(target)?,
        date: date.parse().ok(),
        origin: origin(head),
        status,
        bytes,
        digest: owned("WARC-Payload-Digest"),
        refers: owned("WARC-Refers-To"),
        refers_to: refers_to.map(|(url, date)| (unbracketed(url).to_owned(), date.to_owned())),
        written: (target.to_owned(), date),
    })))
}

fn request(head: &Head, block: &mut Block<'_>) -> Option<Item> {
    let url = normal(target(head)?)?;
    let message = message::read(block, MAX_REQUEST).ok()?;
    let method = message.first.split(' ').next().filter(|it| !it.is_empty())?.to_owned();
    let content_type = message.get("content-type");
    // Others leave secrets in.
    let body = redact::body(content_type, &message.body);
    Some(Item::Request(RequestItem {
        id: head.get("WARC-Record-ID")?.to_owned(),
        concurrent: head.all("WARC-Concurrent-To").map(str::to_owned).collect(),
        key: Key::new(&method, &url, content_type, &body),
        method,
    }))
}

fn begun(origin: Origin, block: &mut Block<'_>) -> Option<Item> {
    let started = field(block, "started")?.parse().ok()?;
    let Origin { who, session: number, .. } = origin;
    Some(Item::Session(SessionItem { who, number, started }))
}

fn format(block: &mut Block<'_>) -> Option<Item> {
    field(block, "wildgym-recording")?.parse().ok().map(Item::Format)
}

/// Returns the field of that name from a block of fields.
fn field(block: &mut Block<'_>, name: &str) -> Option<String> {
    let mut reader = block.take(MAX_FIELDS).chain(&b"\r\n\r\n"[..]);
    let fields = fields::fields(&mut reader, &mut (2 * MAX_FIELDS)).ok()?;
    fields.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Returns which attempt a record is of; the begin of a session has the number 0.
fn origin(head: &Head) -> Option<Origin> {
    let who = percent_decode_str(head.get(names::ATTEMPT)?).decode_utf8_lossy().into_owned();
    let session = head.get(names::SESSION)?.parse().ok()?;
    let nth = head.get(names::NTH).map_or(Ok(0), str::parse).ok()?;
    Some(Origin { who, session, nth })
}

fn target(head: &Head) -> Option<&str> {
    head.get("WARC-Target-URI").map(unbracketed)
}

/// WARC 1.0 had angle brackets round URLs in its grammar, and some programs write them.
fn unbracketed(url: &str) -> &str {
    url.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(url)
}

/// Returns a URL as requests have it; nothing for what is not asked through HTTP.
fn normal(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(redact::url(&address::normal(&url, address::Ports::Open).unwrap_or(url)))
}
