//! What a client of `wildgym serve mcp` hears where it does not speak the protocol.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::common::Place;
use super::suite;

const BEGIN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;

/// Every line has an answer: what is no JSON, what is no request, what is too long; none of it
/// ends the conversation, and the last line needs no newline.
#[test]
fn every_line_has_an_answer() {
    let place = Place::new();
    let suite = suite::write(place.path());
    let args = ["serve", "mcp", suite.to_str().unwrap(), "--task", "mc-sum", "--name", "r"];
    let mut child = place
        .command(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut lines = output.lines().map(|line| line.unwrap());
    let mut hear = || -> Value { serde_json::from_str(&lines.next().unwrap()).unwrap() };
    let mut say = |line: &str| {
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    };
    say(BEGIN);
    assert_eq!(hear()["id"], 1);
    say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let long = format!(
        r#"{{"method":"tools/call","params":{{"name":"{}"}},"jsonrpc":"2.0","id":4}}"#,
        "x".repeat(17 << 20)
    );
    let table = [
        ("hello", Value::Null, -32700, "not JSON", "no JSON"),
        (
            r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{]}"#,
            json!(2),
            -32700,
            "not JSON",
            "broken",
        ),
        (r#"{"id":"a","method":"ping"}"#, json!("a"), -32600, "no request", "of no version"),
        (&long, json!(4), -32600, "17 MiB, and may have 16", "too long"),
        ("[]", Value::Null, -32600, "nvalid request", "a list of nothing"),
    ];
    for (line, id, code, want, why) in table {
        say(line);
        let heard = hear();
        assert_eq!((&heard["id"], &heard["error"]["code"]), (&id, &json!(code)), "{why}: {heard}");
        assert!(heard["error"]["message"].as_str().unwrap().contains(want), "{why}: {heard}");
    }
    let last = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"submit_answer","arguments":{"answer":"42"}}}"#;
    say(last);
    assert_eq!(hear()["id"], 5, "it goes on");
    input_ends(input, r#"{"jsonrpc":"2.0","id":6,"method":"ping"}"#);
    assert_eq!(hear()["id"], 6, "without a newline, at the end");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let report = place.wildgym(&["report", "runs/r", "--json"]).json();
    assert_eq!(report["trials"]["pass"], 1, "{report}");
}

fn input_ends(mut input: impl Write, last: &str) {
    input.write_all(last.as_bytes()).unwrap();
}

/// A message without end ends the conversation, at a bound and with a word.
#[test]
fn a_message_without_end_ends_the_conversation() {
    let place = Place::new();
    let suite = suite::write(place.path());
    let args = ["serve", "mcp", suite.to_str().unwrap(), "--task", "mc-sum", "--name", "r"];
    let mut child =
        place.command(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{BEGIN}\n").as_bytes()).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let more = vec![b'x'; 1 << 20];
    let sent = (0..200).take_while(|_| input.write_all(&more).is_ok()).count();
    assert!(sent < 200, "it is not read for ever");
    line.clear();
    output.read_line(&mut line).unwrap();
    assert!(line.contains("more than 64 MiB and no end"), "{line}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
