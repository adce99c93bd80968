//! Files as other programs write them, and files that no program should have written.

use std::fs::File;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::scan::{Damage, scan};
use super::{Index, Key};

/// A plain record.
fn record(fields: &str, block: &str) -> String {
    format!("WARC/1.0\r\n{fields}Content-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

fn response(url: &str, block: &str) -> String {
    let id = format!("WARC-Record-ID: <urn:x:{url}>\r\n");
    let fields = format!("WARC-Type: response\r\nWARC-Target-URI: {url}\r\n{id}");
    record(&(fields + "Content-Type: application/http; msgtype=response\r\n"), block)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Returns what a file answers to a `GET`, or the words of its error.
fn served(bytes: &[u8], url: &str) -> Result<String, String> {
    let file = file(bytes);
    let (index, _) = Index::read(&file).map_err(|damage| damage.into_io().to_string())?;
    let entry = index.find(Key::new("GET", url, None, &[]), None, 1);
    let entry = entry.ok_or("not there")?;
    let reply = index.load(&file, entry).map_err(|error| error.to_string())?;
    reply
        .map(|reply| format!("{} {}", reply.status, String::from_utf8_lossy(&reply.body)))
        .map_err(|error| error.to_string())
}

#[test]
fn files_of_other_programs_are_read() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello";
    let one = response("http://a.test/", ok);
    let other = response("http://b.test/", ok);
    let info = record("WARC-Type: warcinfo\r\n", "software: x\r\n");
    let unknown = record("WARC-Type: novelty\r\nWARC-Target-URI: http://a.test/\r\n", "x");
    let dns = record(
        "WARC-Type: response\r\nWARC-Target-URI: dns:a.test\r\nContent-Type: text/dns\r\n",
        "20260301\r\na.test. 1 IN A 192.0.2.1\r\n",
    );
    let resource = record(
        "WARC-Type: resource\r\nWARC-Target-URI: http://a.test/\r\nContent-Type: text/css\r\n",
        "hello",
    );
    let revisit = record(
        "WARC-Type: revisit\r\nWARC-Target-URI: http://a.test/\r\nWARC-Refers-To: \
         <urn:x:http://b.test/>\r\nWARC-Profile: http://netpreserve.org/warc/1.0/revisit/\
         identical-payload-digest\r\n",
        "HTTP/1.1 203 Mine\r\n\r\n",
    );
    let headless = revisit.replace("HTTP/1.1 203 Mine\r\n\r\n", "").replace(": 21", ": 0");
    let lost = revisit.replace("b.test", "c.test");
    let length = |length: usize| format!("Content-Length: {length}");
    let short = one.replace(&length(ok.len()), &length(ok.len() - 1));
    let bare = one.replace("\r\n", "\n").replace("WARC/1.0", "WARC/1.1");
    let bare =
        bare.replace(&format!(": {}", ok.len()), &format!(": {}", ok.replace("\r\n", "\n").len()));
    let later = "WARC/1.1\r\nWARC-Type: request\r\nWARC-Target-URI: http://a.test/\r\n\
         WARC-Concurrent-To: <urn:x:http://a.test/>\r\nWARC-Record-ID: <urn:x:q>\r\n\
         Content-Length: 18\r\n\r\nPUT / HTTP/1.1\r\n\r\n\r\n\r\n";
    let want = Ok("200 hello".to_owned());
    let none = Err("not there".to_owned());
    let join = |parts: &[&str]| parts.concat().into_bytes();
    let zipped = |parts: &[&str]| parts.iter().flat_map(|part| gzip(part)).collect::<Vec<u8>>();
    let table: Vec<(Vec<u8>, Result<String, String>, &str)> = vec![
        (join(&[&info, &one]), want.clone(), "plain"),
        (zipped(&[&info, &one]), want.clone(), "a member a record"),
        (gzip(&[&*info, &*other, &*one].concat()), want.clone(), "one member for all"),
        (zipped(&[&info, "", "\r\n", &one]), want.clone(), "empty members between"),
        (
            [gzip(&info), b"\r\n".to_vec(), gzip(&one)].concat(),
            want.clone(),
            "lines between members",
        ),
        (bare.into_bytes(), want.clone(), "bare line feeds"),
        (join(&[&one.replace("http://a.test/\r", "<http://a.test/>\r")]), want.clone(), "brackets"),
        (
            join(&[&one.replace("http://a.test/\r", "HTTP://A.test:80/#f\r")]),
            want.clone(),
            "spelling",
        ),
        (zipped(&[&short]), Ok("200 hell".to_owned()), "one byte too few, as wget counted once"),
        (join(&[&unknown, &dns, &one]), want.clone(), "unknown kinds are passed over"),
        (join(&[&resource]), want.clone(), "a body alone"),
        (join(&[&other, &revisit]), Ok("203 hello".to_owned()), "a revisit"),
        (join(&[&other, &headless]), want, "a revisit without headers"),
        (join(&[&lost]), none.clone(), "a revisit of what is elsewhere"),
        (join(&[&one, later]), none.clone(), "the answer to a `PUT`, told behind it"),
        (join(&[&one.replace("HTTP/1.1", "ICYP/1.1")]), none.clone(), "no HTTP"),
        (join(&[&one.replace("WARC-Type", "WARC-Segment-Number: 1\r\nWARC-Type")]), none, "a part"),
    ];
    for (bytes, want, why) in table {
        assert_eq!(served(&bytes, "http://a.test/"), want, "{why}");
    }
}

#[test]
fn damage_has_an_offset() {
    let one = response("http://a.test/", "HTTP/1.1 200 OK\r\n\r\nhello");
    let at = one.len();
    let digest = one.replace("WARC-Type", "WARC-Block-Digest: sha256:AAAA\r\nWARC-Type");
    let wrong = one.replace(
        "WARC-Type",
        &format!("WARC-Block-Digest: sha256:{}\r\nWARC-Type", "0".repeat(64)),
    );
    let head = format!("WARC/1.0\r\nx: {}\r\n", "y".repeat(1 << 20));
    let table: Vec<(String, Option<&str>, &str)> = vec![
        (one.clone() + &digest, None, "a digest that cannot be read is not checked"),
        (one.clone() + "junk", Some("no WARC record"), "junk behind"),
        (one.clone() + &wrong, Some("not what its digest says"), "another block"),
        (
            one.clone() + "WARC/1.0\r\nContent-Length: x\r\n\r\n",
            Some("Content-Length"),
            "no number",
        ),
        (
            one.clone() + "WARC/1.0\r\nContent-Length: -1\r\n\r\n",
            Some("Content-Length"),
            "negative",
        ),
        (one.clone() + &head, Some("too long"), "an endless head"),
        (one.clone() + "WARC/1.0\r\nContent-Length: 99\r\n\r\nx", None, "cut off"),
        (one.clone() + "WARC/1.0\r\nContent-Le", None, "cut off in its head"),
        (one.clone() + "WA", None, "cut off in its first word"),
    ];
    for (text, want, why) in table {
        let read = Index::read(&file(text.as_bytes()));
        match (read, want) {
            (Ok((index, _)), None) => assert!(!index.entries.is_empty(), "{why}"),
            (Err(Damage::At { offset, reason }), Some(want)) => {
                assert_eq!(offset, at as u64, "{why}");
                assert!(reason.contains(want), "{why}: {reason}");
            }
            (read, _) => panic!("{why}: {read:?}"),
        }
    }
}

/// A file with all kinds of records, compressed or not.
fn sample(compressed: bool) -> Vec<u8> {
    let parts = [
        record("WARC-Type: warcinfo\r\n", "software: x\r\nwildgym-recording: 1\r\n"),
        record(
            "WARC-Type: metadata\r\nWARC-Wildgym-Attempt: c/t/v/1\r\nWARC-Wildgym-Session: 1\r\n",
            "started: 2026-03-01T09:00:00Z\r\n",
        ),
        response(
            "http://a.test/",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n\
             5\r\nhello\r\n0\r\n\r\n",
        ),
        record(
            "WARC-Type: revisit\r\nWARC-Target-URI: http://a.test/\r\nWARC-Refers-To: \
             <urn:x:http://a.test/>\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
        ),
        record(
            "WARC-Type: metadata\r\nWARC-Target-URI: http://a.test/\r\nWARC-Wildgym-Attempt: \
             c/t/v/1\r\nWARC-Wildgym-Session: 1\r\nWARC-Wildgym-Nth: 1\r\n",
            r#"{"message":"gone","error":{"unreachable":"a.test"}}"#,
        ),
    ];
    parts
        .iter()
        .flat_map(|it| if compressed { gzip(it) } else { it.clone().into_bytes() })
        .collect()
}

/// Reads everything that can be read.
fn exhaust(bytes: &[u8]) {
    let file = file(bytes);
    let Ok((index, _)) = Index::read(&file) else { return };
    for entry in &index.entries {
        let _ = index.load(&file, entry);
    }
}

/// How many files are tried.
fn cases() -> ProptestConfig {
    let bars = std::env::var_os("WILDGYM_BARS").is_some();
    ProptestConfig::with_cases(if bars { 50_000 } else { 400 })
}

#[test]
fn the_sample_is_read_whole() {
    for compressed in [false, true] {
        let scanned = scan(&file(&sample(compressed))).unwrap();
        assert_eq!(scanned.items.len(), 5, "so that what is changed below matters");
    }
}

proptest! {
    #![proptest_config(cases())]
    #[test]
    fn no_bytes_make_the_reader_fail_otherwise_than_with_an_error(
        compressed: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..8),
    ) {
        let mut bytes = sample(compressed);
        for (place, byte, how) in changes {
            let place = place.index(bytes.len());
            match how {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                2 if bytes.len() > 1 => { bytes.remove(place); }
                _ => bytes.truncate(place.max(1)),
            }
        }
        exhaust(&bytes);
    }

    #[test]
    fn a_changed_record_inside_of_a_whole_member_is_no_harm_either(
        place: prop::sample::Index,
        with in "[ -~\r\n]{0,6}",
    ) {
        let mut text = String::from_utf8(sample(false)).unwrap();
        let place = place.index(text.len());
        text.replace_range(place..=place, &with);
        exhaust(&gzip(&text));
        exhaust(text.as_bytes());
    }
}
