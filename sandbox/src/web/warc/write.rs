//! Records as this program writes them.
//!
//! Every record is a gzip member of its own. Those of one exchange are one piece of bytes, to
//! be appended in one write. What is passed in has no secrets any more, but for the reply:
//! its headers are redacted here.

use std::fmt::Write as _;
use std::io::Write as _;

use data_encoding::BASE32;
use flate2::{Compression, GzBuilder};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::key::Asked;
use super::{FORMAT, names, redact};
use crate::web::WebError;
use crate::web::reply::Reply;

/// What is encoded in the name of an attempt; all that is not ASCII is, too.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%').add(b' ');

/// How a record says that its body is stored with another one.
const SAME_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// Which request of which attempt a record is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::web) struct Origin {
    /// The attempt: `<condition>/<task>/<variant>/<k>`.
    pub(in crate::web) who: String,
    /// Which session of it, from 1.
    pub(in crate::web) session: u32,
    /// Which request of its kind in the session, from 1; 0 for the begin of a session.
    pub(in crate::web) nth: u32,
}

/// A body that is stored: the record that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::web) struct Payload {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) date: String,
}

impl Payload {
    /// Returns the digest under which a body is known; nothing for an empty one.
    pub(in crate::web) fn digest(body: &[u8]) -> Option<String> {
        (!body.is_empty()).then(|| digest(body))
    }
}

/// Whole records, ready to be appended.
#[derive(Debug, Default)]
pub(in crate::web) struct Written(Vec<u8>);

impl Written {
    /// Returns their bytes.
    pub(in crate::web) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A record that is being put together.
struct Record<'a> {
    kind: &'a str,
    id: &'a str,
    date: &'a str,
    fields: Vec<(&'a str, &'a str)>,
    origin: Option<&'a Origin>,
    content_type: &'a str,
    block: &'a [u8],
    /// The part of the block that is the payload.
    payload: &'a [u8],
}

impl Written {
    fn add(&mut self, record: &Record<'_>) {
        let mut head = format!(
            "WARC/1.1\r\nWARC-Type: {}\r\nWARC-Record-ID: {}\r\nWARC-Date: {}\r\n",
            record.kind, record.id, record.date
        );
        let mut field = |name: &str, value: &str| {
            let value: String = value.chars().filter(|c| !c.is_control()).collect();
            let _ = write!(head, "{name}: {value}\r\n");
        };
        for (name, value) in &record.fields {
            field(name, value);
        }
        if let Some(Origin { who, session, nth }) = record.origin {
            field(names::ATTEMPT, &utf8_percent_encode(who, ENCODED).to_string());
            field(names::SESSION, &session.to_string());
            if *nth > 0 {
                field(names::NTH, &nth.to_string());
            }
        }
        if !record.payload.is_empty() {
            field("WARC-Payload-Digest", &digest(record.payload));
        }
        field("WARC-Block-Digest", &digest(record.block));
        field("Content-Type", record.content_type);
        field("Content-Length", &record.block.len().to_string());
        let mut member = GzBuilder::new().write(&mut self.0, Compression::default());
        // A vector takes all that is written into it.
        let _ = [head.as_bytes(), b"\r\n", record.block, b"\r\n\r\n"]
            .into_iter()
            .try_for_each(|part| member.write_all(part))
            .and_then(|()| member.finish().map(|_| ()));
    }
}

/// Returns the record that a recording begins with.
pub(in crate::web) fn information() -> Written {
    let block = format!(
        "software: wildgym/{}\r\nformat: WARC File Format 1.1\r\n\
         conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/\
         warc-1.1/\r\nwildgym-recording: {FORMAT}\r\n",
        env!("CARGO_PKG_VERSION")
    );
    fields_record("warcinfo", None, &block)
}

/// Returns the record with which a session of an attempt begins.
pub(in crate::web) fn session(origin: &Origin, started: Timestamp) -> Written {
    fields_record("metadata", Some(origin), &format!("started: {started}\r\n"))
}

fn fields_record(kind: &str, origin: Option<&Origin>, block: &str) -> Written {
    let mut written = Written::default();
    written.add(&Record {
        kind,
        id: &new_id(),
        date: &date(Timestamp::now()),
        fields: Vec::new(),
        origin,
        content_type: "application/warc-fields",
        block: block.as_bytes(),
        payload: &[],
    });
    written
}

/// Returns the records of an exchange, and what its body is known by from now on.
///
/// `digest` is that of the body, `known` where the same body is stored already.
pub(in crate::web) fn exchange(
    asked: &Asked,
    origin: &Origin,
    reply: &Reply,
    digest: Option<String>,
    known: Option<&Payload>,
) -> (Written, Option<(String, Payload)>) {
    let (id, date) = (new_id(), date(asked.date));
    let body = asked.stored(&reply.body);
    let head = reply_head(asked, reply);
    let mut written = Written::default();
    written.request(asked, origin, &date, &id);
    let mut block = head.into_bytes();
    let mut fields = vec![("WARC-Target-URI", asked.url.as_str())];
    let mut record = Record {
        kind: "response",
        id: &id,
        date: &date,
        fields: Vec::new(),
        origin: Some(origin),
        content_type: "application/http; msgtype=response",
        block: &[],
        payload: body,
    };
    if let Some(known) = known {
        record.kind = "revisit";
        fields.push(("WARC-Profile", SAME_PAYLOAD));
        fields.push(("WARC-Refers-To", &known.id));
        fields.push(("WARC-Refers-To-Target-URI", &known.url));
        fields.push(("WARC-Refers-To-Date", &known.date));
    } else {
        block.extend_from_slice(body);
    }
    record.fields = fields;
    record.block = &block;
    written.add(&record);
    let payload = Payload { id: id.clone(), url: asked.url.clone(), date: date.clone() };
    (written, digest.filter(|_| known.is_none()).map(|digest| (digest, payload)))
}

/// Returns the records of a request that got no reply.
pub(in crate::web) fn failure(asked: &Asked, origin: &Origin, error: &WebError) -> Written {
    let (id, date) = (new_id(), date(asked.date));
    let mut written = Written::default();
    written.request(asked, origin, &date, &id);
    let block = serde_json::json!({ "message": error.to_string(), "error": error }).to_string();
    written.add(&Record {
        kind: "metadata",
        id: &id,
        date: &date,
        fields: vec![("WARC-Target-URI", asked.url.as_str())],
        origin: Some(origin),
        content_type: "application/json",
        block: block.as_bytes(),
        payload: &[],
    });
    written
}

impl Written {
    /// Adds the record of a request, which belongs to the record `answer`.
    fn request(&mut self, asked: &Asked, origin: &Origin, date: &str, answer: &str) {
        let mut block = request_head(asked).into_bytes();
        block.extend_from_slice(&asked.body);
        self.add(&Record {
            kind: "request",
            id: &new_id(),
            date,
            fields: vec![("WARC-Target-URI", &asked.url), ("WARC-Concurrent-To", answer)],
            origin: Some(origin),
            content_type: "application/http; msgtype=request",
            block: &block,
            payload: &asked.body,
        });
    }
}

/// Writes the head of a request as it goes over the wire.
fn request_head(asked: &Asked) -> String {
    let url = Url::parse(&asked.url).ok();
    let path = url.as_ref().map_or("/", |url| &url[url::Position::BeforePath..]);
    let mut head = format!("{} {path} HTTP/1.1\r\n", asked.method);
    let given = |name: &str| asked.headers.iter().any(|(key, _)| key == name);
    if let Some(url) = url.as_ref().filter(|_| !given("host")) {
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        header(&mut head, "host", host);
    }
    for (name, value) in &asked.headers {
        header(&mut head, name, value);
    }
    if !asked.body.is_empty() && !given("content-length") {
        header(&mut head, "content-length", &asked.body.len().to_string());
    }
    head + "\r\n"
}

/// Writes the head of a reply. Headers that do not describe the body as it is stored are kept
/// under another name, for readers that would decode it by them.
fn reply_head(asked: &Asked, reply: &Reply) -> String {
    let reason = http::StatusCode::from_u16(reply.status).ok();
    let reason = reason.and_then(|status| status.canonical_reason()).unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", reply.status);
    let length = reply.body.len().to_string();
    for (name, value) in &reply.headers {
        let wrong = name == "transfer-encoding"
            || (name == "content-length" && *value != length && asked.method != "HEAD")
            || name.starts_with(names::ORIGINAL);
        let name = if wrong { format!("{}{name}", names::ORIGINAL) } else { name.clone() };
        header(&mut head, &name, &redact::header(&name, value));
    }
    head + "\r\n"
}

/// Writes a header; what would end it early is left out.
fn header(head: &mut String, name: &str, value: &str) {
    let line = |c: &char| !matches!(c, '\r' | '\n' | '\0');
    let name: String = name.chars().filter(line).collect();
    let value: String = value.chars().filter(line).collect();
    let _ = write!(head, "{name}: {value}\r\n");
}

/// Returns the SHA-256 of bytes as records have it.
fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", BASE32.encode(&Sha256::digest(bytes)))
}

/// Writes a time as WARC 1.1 does, to the millisecond.
fn date(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Returns a name that no other record has: a random UUID (RFC 9562, version 4).
fn new_id() -> String {
    let bits = rand::random::<u128>();
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let digits = format!("{bits:032x}");
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    format!("<urn:uuid:{}>", parts.join("-"))
}
