//! Others' tools read our recordings, and ours reads theirs.
//!
//! The other tool is `warcio` (Python); where it is not installed, that half is left out and
//! says so, and files that it wrote before are read. `wget` 1.21.3 wrote one of them, through
//! a proxy on the same machine.

use std::process::{Command, Output};

use camino::Utf8Path;
use serde_json::Value;

use super::*;

fn folder() -> &'static Utf8Path {
    Utf8Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings"))
}

/// Runs Python; nothing where it or `warcio` is missing.
fn python(arguments: &[&str]) -> Option<Output> {
    let there = Command::new("python3").args(["-c", "import warcio"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        println!("left out: `warcio` is not installed (`pip install warcio`)");
        return None;
    }
    let output = Command::new("python3").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output)
}

/// Asks what `write.py` has written.
fn read_theirs(path: &Utf8Path) {
    let tape = Tape::open(path).unwrap();
    let web = replay(&tape, "c/t/v/1");
    let html = "<html><title>tides</title><p>high water at 09:12</p></html>";
    let json = r#"{ "n": 1, "q": "tide" }"#;
    let table = [
        (get("http://a.test/"), html, "a page"),
        (get("http://a.test/chunked"), html, "its chunks joined"),
        (get("http://a.test/gzip"), "潮汐表：高潮 09:12", "decompressed"),
        (get("http://a.test/again"), html, "a revisit, by URL and date"),
        (post("http://a.test/api?key=K2", "application/json", json), r#"{"hits": 2}"#, "by body"),
        (get("http://a.test/old"), html, "redirected"),
        (get("http://a.test/news"), "first", "the first time"),
        (get("http://a.test/news"), "second", "the second time"),
        (get("http://a.test/news"), "second", "the last known"),
    ];
    for (request, want, why) in table {
        assert_eq!(told(&web, request), want, "{path}: {why}");
    }
    let again = ask(&web, get("http://a.test/again")).unwrap();
    assert_eq!(again.header("x-again"), Some("yes"), "with headers of its own");
    let gzip = ask(&web, get("http://a.test/gzip")).unwrap();
    assert_eq!(gzip.header("content-encoding"), None, "which is no longer so");
    assert_eq!(tape.misses(), 0, "{path}");
    let missed = told(&web, get("http://a.test/api?key=K2"));
    assert!(missed.contains("not in the recording"), "only as a `POST`: {missed}");
    assert!(tape.started("c/t/v/1").is_some(), "the time of the first record");
}

#[test]
fn kept_files_of_warcio_are_read() {
    read_theirs(&folder().join("warcio.warc"));
    read_theirs(&folder().join("warcio.warc.gz"));
}

#[test]
fn fresh_files_of_warcio_are_read() {
    let place = tempfile::tempdir().unwrap();
    let into = Utf8Path::from_path(place.path()).unwrap();
    if python(&[folder().join("write.py").as_str(), into.as_str()]).is_some() {
        read_theirs(&into.join("warcio.warc"));
        read_theirs(&into.join("warcio.warc.gz"));
    }
}

#[test]
fn a_file_of_wget_is_read() {
    let tape = Tape::open(&folder().join("wget.warc.gz")).unwrap();
    let web = replay(&tape, "c/t/v/1");
    let table = [
        ("http://tides.test/", "<p>high water at 09:12</p>"),
        ("http://tides.test/old", "<p>high water at 09:12</p>"),
        ("http://tides.test/chunked", "high water"),
    ];
    for (url, want) in table {
        assert_eq!(told(&web, get(url)), want, "{url}");
    }
    assert_eq!(tape.misses(), 0);
}

/// Records one of each kind.
fn record_all(place: &Place) {
    let web = scripted(|request, _| match request.url.path() {
        "/gone" => Err(WebError::Unreachable("a.test".into())),
        "/chunked" => Ok(Reply::new(200, "text/plain", "chunks")
            .with("transfer-encoding", "chunked")
            .with("content-length", "2")),
        "/empty" => Ok(Reply::new(204, "text/plain", "")),
        _ => Ok(Reply::new(200, "text/plain; charset=utf-8", "high water: 潮汐")),
    });
    let web = web.recorded(place.recorder(), "c/t é/v/1", start());
    for path in ["page", "again", "gone", "chunked", "empty"] {
        told(&web, get(&format!("https://a.test/{path}?key=K1")));
    }
    told(&web, post("https://a.test/form", "application/x-www-form-urlencoded", "a=1&password=K1"));
}

#[test]
fn warcio_reads_our_recordings_and_finds_every_digest_right() {
    let place = Place::new();
    record_all(&place);
    let path = place.path();
    let Some(output) = python(&[folder().join("read.py").as_str(), path.as_str()]) else { return };
    let text = String::from_utf8(output.stdout).unwrap();
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<String> = records
        .iter()
        .map(|it| {
            let body = if it["first"].is_null() { "" } else { it["body"].as_str().unwrap() };
            let first = it["first"].as_str().unwrap_or("-");
            format!("{} {first} {body}", it["type"].as_str().unwrap()).trim_end().to_owned()
        })
        .collect();
    let want = [
        "warcinfo -",
        "metadata -",
        "request GET /page?key=redacted HTTP/1.1",
        "response HTTP/1.1 200 OK high water: 潮汐",
        "request GET /again?key=redacted HTTP/1.1",
        "revisit HTTP/1.1 200 OK",
        "request GET /gone?key=redacted HTTP/1.1",
        "metadata -",
        "request GET /chunked?key=redacted HTTP/1.1",
        "response HTTP/1.1 200 OK chunks",
        "request GET /empty?key=redacted HTTP/1.1",
        "response HTTP/1.1 204 No Content",
        "request POST /form HTTP/1.1 a=1&password=redacted",
        "revisit HTTP/1.1 200 OK",
    ];
    assert_eq!(seen, want);
    for record in &records {
        let unchecked = record["type"] == "revisit" && record["digests"].is_null();
        assert!(unchecked || record["digests"] == true, "{record}");
    }
    assert_eq!(records[3]["attempt"], "c/t%20%C3%A9/v/1");
    python(&["-m", "warcio.cli", "check", path.as_str()]);
    let into = path.with_file_name("again.warc.gz");
    python(&["-m", "warcio.cli", "recompress", path.as_str(), into.as_str()]);
    let tape = Tape::open(&into).unwrap();
    let web = replay(&tape, "c/t é/v/1");
    let rewritten = told(&web, get("https://a.test/again?key=K2"));
    assert_eq!(rewritten, "high water: 潮汐", "what warcio rewrote is read again");
    assert_eq!(
        told(&web, get("https://a.test/gone?key=")),
        "cannot reach `a.test`: the host is unknown"
    );
}
