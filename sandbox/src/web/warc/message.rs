//! HTTP messages as records hold them.
//!
//! Our own bodies are stored as the agent's tools got them. Those of other programs are as
//! they went over the wire: chunked, compressed, or said to be and not.

use std::io::{self, BufRead, Read};

use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};

use super::fields::{Head, invalid};
use super::names;
use crate::web::MAX_BODY;

/// Most bytes of the head of a message.
const MAX_HEAD: u64 = 1 << 20;

/// A message: its first line, headers with names in lower case, and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) first: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// A reply, ready to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::web) struct Served {
    pub(in crate::web) status: u16,
    pub(in crate::web) headers: Vec<(String, String)>,
    pub(in crate::web) body: Vec<u8>,
}

/// Reads the head of a message; the empty line at its end may be missing.
pub(super) fn head(block: &mut dyn BufRead) -> io::Result<Head> {
    Head::read(&mut Read::chain(block, &b"\r\n\r\n"[..]), MAX_HEAD)
}

/// Reads a message with at most `most` bytes of its body.
pub(super) fn read(mut block: &mut dyn BufRead, most: u64) -> io::Result<Message> {
    let Head { first, fields } = head(block)?;
    let lower = |(name, value): (String, String)| (name.to_ascii_lowercase(), value);
    let headers = fields.into_iter().map(lower).collect();
    let mut body = Vec::new();
    Read::take(&mut block, most).read_to_end(&mut body)?;
    Ok(Message { first, headers, body })
}

/// Returns the status of a status line.
pub(super) fn status(first: &str) -> Option<u16> {
    let (version, rest) = first.split_once(' ')?;
    let status = rest.trim_start().split(' ').next()?.parse().ok()?;
    (version.starts_with("HTTP/") && (100..=999).contains(&status)).then_some(status)
}

impl Message {
    /// Returns the first header of that (lower-case) name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the reply that this program recorded.
    pub(super) fn own(self) -> io::Result<Served> {
        let status = status(&self.first).ok_or_else(no_status)?;
        let original = |(name, value): (String, String)| match name.strip_prefix(names::ORIGINAL) {
            Some(name) => (name.to_owned(), value),
            None => (name, value),
        };
        let headers = self.headers.into_iter().map(original).collect();
        Ok(Served { status, headers, body: self.body })
    }

    /// Returns the reply that another program recorded, its body as a client would get it.
    ///
    /// Bodies grow to little more than what a reply may have, whatever they decompress to.
    pub(super) fn foreign(mut self) -> io::Result<Served> {
        let status = status(&self.first).ok_or_else(no_status)?;
        let names = |value: Option<&str>| value.unwrap_or_default().trim().to_ascii_lowercase();
        if names(self.get("transfer-encoding")).contains("chunked") {
            if let Some(body) = unchunked(&self.body) {
                self.body = body;
            }
            self.remove("transfer-encoding");
        }
        let encoding = names(self.get("content-encoding"));
        let body = match encoding.as_str() {
            "gzip" | "x-gzip" if !self.body.starts_with(&[0x1f, 0x8b]) => Some(None),
            "gzip" | "x-gzip" => Some(limited(GzDecoder::new(&self.body[..]))),
            "deflate" => Some(
                limited(ZlibDecoder::new(&self.body[..]))
                    .or_else(|| limited(DeflateDecoder::new(&self.body[..]))),
            ),
            _ => None,
        };
        if let Some(body) = body {
            // What cannot be decompressed was not compressed, whatever the header says.
            self.body = body.unwrap_or(self.body);
            self.headers.retain(|(name, _)| name != "content-encoding");
            self.remove("content-length");
        }
        Ok(Served { status, headers: self.headers, body: self.body })
    }

    fn remove(&mut self, name: &str) {
        self.headers.retain(|(key, _)| key != name);
    }
}

fn no_status() -> io::Error {
    invalid("the reply has no status line")
}

/// Decompresses to a little more than a reply may have; nothing where that fails.
fn limited(decoder: impl Read) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    decoder.take(MAX_BODY + 1).read_to_end(&mut body).ok()?;
    Some(body)
}

/// Joins the chunks of a body. One that was cut off keeps what is there; nothing is returned
/// for what does not begin with a chunk: some programs store the body without them.
fn unchunked(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    let mut first = true;
    loop {
        let size = line(&mut rest).and_then(|line| {
            let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
            u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        });
        let size = match size {
            Some(size) => usize::try_from(size).unwrap_or(usize::MAX).min(rest.len()),
            None if first => return None,
            None => return Some(out),
        };
        if size == 0 {
            return Some(out);
        }
        first = false;
        out.extend_from_slice(&rest[..size]);
        rest = &rest[size..];
        rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
}

/// Takes a line off the front.
fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let line = &rest[..end];
    *rest = &rest[end + 1..];
    Some(line)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;

    use super::*;

    fn message(headers: &[(&str, &str)], body: &[u8]) -> Message {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Message { first: "HTTP/1.1 200 OK".into(), headers: headers.collect(), body: body.into() }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    type Case<'a> = (&'a [(&'a str, &'a str)], Vec<u8>, &'a [u8], &'a str);

    #[test]
    fn bodies_of_others_are_decoded() {
        let chunked = ("transfer-encoding", "chunked");
        let gz = ("content-encoding", "gzip");
        let mut both = format!("{:x}\r\n", gzip(b"hello").len()).into_bytes();
        both.extend(gzip(b"hello"));
        both.extend(b"\r\n0\r\n\r\n");
        let table: [Case<'_>; 10] = [
            (&[], b"hello".to_vec(), b"hello", "as it is"),
            (&[chunked], b"3;x=1\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n".to_vec(), b"hello", "chunks"),
            (&[chunked], b"3\nhel\n2\nlo\n0\n\n".to_vec(), b"hello", "bare line feeds"),
            (&[chunked], b"3\r\nhel\r\n9\r\nlo".to_vec(), b"hello", "cut off"),
            (&[chunked], b"hello\r\n".to_vec(), b"hello\r\n", "no chunks, whatever it says"),
            (&[gz], gzip(b"hello"), b"hello", "compressed"),
            (&[gz], b"hello".to_vec(), b"hello", "not compressed, whatever it says"),
            (&[("content-encoding", "deflate")], zlib(b"hello"), b"hello", "deflate"),
            (&[gz, chunked], both, b"hello", "compressed, then chunked"),
            (&[("content-encoding", "br")], b"\x01\x02".to_vec(), b"\x01\x02", "unknown here"),
        ];
        for (headers, body, want, why) in table {
            let served = message(headers, &body).foreign().unwrap();
            assert_eq!(served.body, want, "{why}");
            let left =
                served.headers.iter().any(|(_, value)| value == "gzip" || value == "chunked");
            assert!(!left, "{why}: the headers describe what is served");
        }
    }

    #[test]
    fn a_bomb_grows_to_little_more_than_a_reply_may_have() {
        let bomb = gzip(&vec![0; 100 << 20]);
        let served = message(&[("content-encoding", "gzip")], &bomb).foreign().unwrap();
        assert_eq!(served.body.len() as u64, MAX_BODY + 1, "which the web then refuses");
    }

    #[test]
    fn heads_are_read_without_their_end_too() {
        let table = [
            ("HTTP/1.1 200 OK\r\nA: 1\r\n\r\nbody", "body"),
            ("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\nA: 1\r\n", ""),
            ("HTTP/1.1 200 OK\r\nA: 1", ""),
        ];
        for (text, body) in table {
            let got = read(&mut text.as_bytes(), 100).unwrap();
            assert_eq!((got.get("a"), &got.body[..]), (Some("1"), body.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn status_lines() {
        let table = [
            ("HTTP/1.1 200 OK", Some(200)),
            ("HTTP/2 404", Some(404)),
            ("HTTP/1.0  302 Found", Some(302)),
            ("HTTP/1.1 99 x", None),
            ("ICY 200 OK", None),
            ("HTTP/1.1", None),
        ];
        for (line, want) in table {
            assert_eq!(status(line), want, "{line}");
        }
    }
}
