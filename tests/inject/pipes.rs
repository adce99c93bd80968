//! Before a program, over its standard input and output.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Place;
use crate::stage::{Proxied, SAID, call, decided, log, profile, wait_until};

fn echo() -> Value {
    json!({ "text": SAID })
}

/// What a client says that is no call, and calls of every strange form, come through as they
/// are, and so does what the server says.
#[test]
fn without_faults_every_byte_passes_in_both_directions() {
    let place = Place::new();
    let said: &[&[u8]] = &[
        b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r\n",
        b"{ \"id\" : \"\\u0041\", \"method\":\"tools\\/call\",  \"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"\\u00e9\"}}}\n",
        b"{\"id\":12345678901234567890,\"method\":\"ping\"}\n",
        b"{\"id\":-1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n",
        b"{\"id\":2,\"method\":\"tools/call\"}\n",
        b"{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"badjson\"}}\n",
        b"{\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"empty\"}}\n",
        b"{\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"big\",\"arguments\":{\"bytes\":3000000}}}\n",
        b"{\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":\"error\"}}\n",
        b"this is no message\n\n",
        b"{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":6}}\n",
    ];
    let spoken = |mut server: Proxied| {
        let mut heard = vec![server.line(), server.line()];
        for message in said {
            server.say(message);
            let answered = message.windows(5).any(|part| part == b"\"id\":" || part == b"\"id\" ");
            if answered {
                heard.push(server.line());
            }
        }
        server.hush();
        heard.push(String::from_utf8(server.rest()).unwrap());
        (heard, server.end())
    };
    let (direct, ended) = spoken(Proxied::direct(&["--noise"]));
    let (proxied, proxy) = spoken(Proxied::start(&place, &[], &["--noise"]));
    assert_eq!(direct, proxied);
    assert_eq!((ended.0, proxy.0), (Some(0), Some(0)), "{}", proxy.1);
    assert!(proxy.1.contains("for staging only"), "{}", proxy.1);
}

/// Each operator does to a call over pipes what it does in process, as often as its persistence
/// says, and the log tells of each.
#[test]
fn each_operator_and_persistence_does_what_it_says() {
    let place = Place::new();
    // Operator, more of the entry, whether the truth comes, whether anything comes.
    let table = [
        ("minor-mistake", "", false, true),
        ("incorrect-output", "", false, true),
        ("invalid-output", "", false, true),
        ("explicit-error", "", false, true),
        ("delay", "seconds = 1", true, true),
        ("silent-drop", "", false, false),
        ("schema-drift", "", false, true),
        ("truncated-payload", "", false, true),
        ("partial-result", "", false, true),
    ];
    for (operator, more, is_true, comes) in table {
        for persistence in ["permanent", "transient", "intermittent"] {
            let name = format!("{operator}-{persistence}");
            let chance = if persistence == "intermittent" { "activation = 0.5" } else { "" };
            let entry = format!(
                "operator = \"{operator}\"\npersistence = \"{persistence}\"\n{more}\n{chance}"
            );
            let path = profile(&place, &name, &entry, "rate = 0.7");
            let file = place.path().join(format!("{name}.jsonl"));
            let flags = ["--profile", &path, "--seed", "9", "--log", file.to_str().unwrap()];
            let mut proxy = Proxied::start(&place, &flags, &[]);
            let echo = echo();
            let calls = [("echo", &echo); 6];
            let want = decided(&path, 9, &calls);
            assert!(want.iter().flatten().any(|fault| fault.fired), "{name} hits none of six");
            for (id, fault) in want.iter().enumerate() {
                let hit = fault.as_ref().is_some_and(|fault| fault.fired);
                let begun = Instant::now();
                proxy.send(&call(id, "echo", echo.clone()));
                // What never comes is passed by what is asked after it.
                proxy.send(&json!({ "jsonrpc": "2.0", "id": "after", "method": "ping" }));
                let mut replies = vec![proxy.next()];
                if !hit || comes {
                    replies.push(proxy.next());
                }
                let took = begun.elapsed();
                let reply = replies.iter().find(|reply| reply["id"] == id);
                let told = |reply: &Value| reply["result"]["content"][0]["text"] == SAID;
                assert_eq!(reply.is_some(), !hit || comes, "{name} {id}: {replies:?}");
                let marked = |reply: &Value| !reply["result"]["_meta"]["wildgym/fault"].is_null();
                if let Some(reply) = reply {
                    assert_eq!(told(reply), !hit || is_true, "{name} {id}: {reply}");
                    assert_eq!(marked(reply), hit && operator != "delay", "{name} {id}: {reply}");
                    let error = reply["result"]["isError"] == true;
                    assert_eq!(error, hit && operator == "explicit-error", "{name} {id}: {reply}");
                }
                let late = took >= Duration::from_secs(1);
                assert!(late || !hit || operator != "delay", "{name} {id}: after {took:?}");
            }
            proxy.hush();
            assert_eq!(proxy.end().0, Some(0));
            let log = log(&file);
            let of = |kind: &str| log.iter().filter(|line| line["record"] == kind).count();
            let hits = want.iter().flatten().filter(|fault| fault.fired).count();
            assert_eq!((of("decision"), of("effect")), (6, hits), "{name}: {log:?}");
            assert!(log.iter().all(|line| line["applied"] != false), "{name}: {log:?}");
            let fired: Vec<bool> = log
                .iter()
                .filter(|line| line["record"] == "decision")
                .map(|line| line["fired"] == true)
                .collect();
            let want: Vec<bool> =
                want.iter().map(|it| it.as_ref().is_some_and(|fault| fault.fired)).collect();
            assert_eq!(fired, want, "{name}");
        }
    }
}

/// Decisions follow from the order of arrival and from what is asked, bad arguments included,
/// and are those of a run in process with the same chances.
#[test]
fn a_mixed_profile_decides_as_in_process() {
    let place = Place::new();
    let arguments =
        [echo(), json!({}), json!([1]), json!("text"), json!({ "text": 7 }), json!(null)];
    let tools = ["echo", "look", "echo", "fails", "structured"];
    for (name, seed) in [("published", 3), ("transient-heavy", 1), ("flaky-network", 5)] {
        let calls: Vec<(&str, &Value)> =
            (0..40).map(|at| (tools[at % tools.len()], &arguments[at % arguments.len()])).collect();
        let file = place.path().join(format!("{name}.jsonl"));
        let number = seed.to_string();
        let flags = ["--profile", name, "--seed", &number, "--log", file.to_str().unwrap()];
        let mut proxy = Proxied::start(&place, &flags, &[]);
        for (id, (tool, arguments)) in calls.iter().enumerate() {
            proxy.send(&call(id, tool, (*arguments).clone()));
        }
        proxy.send(&json!({ "jsonrpc": "2.0", "id": "last", "method": "ping" }));
        while proxy.next()["id"] != "last" {}
        let said: Vec<Value> =
            log(&file).into_iter().filter(|line| line["record"] == "decision").collect();
        let want = decided(name, seed, &calls);
        assert_eq!(said.len(), want.len());
        for (number, (line, fault)) in said.iter().zip(&want).enumerate() {
            assert_eq!(line["arrival"], number + 1);
            assert_eq!(line["id"], number, "the order of the log is that of the calls");
            assert_eq!(line["fault"], serde_json::to_value(fault).unwrap(), "{name} {number}");
            let fired = fault.as_ref().is_some_and(|fault| fault.fired);
            assert_eq!(line["fired"], fired, "{name} {number}");
        }
    }
}

/// While one call is late, others, pings and notifications overtake it; a call that is taken
/// back reaches the server as such.
#[test]
fn a_late_reply_holds_nothing_else_up() {
    let place = Place::new();
    let entry =
        "operator = \"delay\"\npersistence = \"permanent\"\nseconds = 2\nmatch.tool = \"echo\"";
    let path = profile(&place, "late", entry, "");
    let file = place.path().join("log.jsonl");
    let flags = ["--profile", &path, "--log", file.to_str().unwrap()];
    let mut proxy = Proxied::start(&place, &flags, &[]);
    proxy.send(&call("slow", "echo", echo()));
    proxy.send(&call("quick", "look", json!({})));
    proxy.send(&json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" }));
    let first = [proxy.next()["id"].clone(), proxy.next()["id"].clone()];
    assert!(!first.contains(&json!("slow")), "{first:?}");
    let late = proxy.next();
    assert_eq!(
        (&late["id"], &late["result"]["content"][0]["text"]),
        (&json!("slow"), &json!(SAID))
    );
    // A client that says no more still hears what is late, even from a server that is gone.
    proxy.send(&call("last", "echo", echo()));
    let heard = |line: &&Value| line["record"] == "effect";
    wait_until("the server's reply", || log(&file).iter().filter(heard).count() == 2);
    proxy.hush();
    assert_eq!(proxy.next()["id"], "last");
    assert_eq!(proxy.rest(), b"");
    assert_eq!(proxy.end().0, Some(0));
}

#[test]
fn of_a_batch_only_what_is_hit_is_taken_out() {
    let place = Place::new();
    let entry = "operator = \"explicit-error\"\npersistence = \"permanent\"\nmatch.tool = \"echo\"";
    let path = profile(&place, "batch", entry, "");
    // A server that gives back what it hears.
    let mut command = place.command(&["inject", "--profile", &path, "--", "cat"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (one, two) = (call(1, "echo", json!({})), call(2, "look", json!({})));
    let ping = "{\"id\": 3,  \"method\":\"ping\"}";
    let input = format!("[{one}, {two} ,{ping}]\n[{one}]\n[{two},{ping} ]\n");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let (own, passed): (Vec<&str>, Vec<&str>) =
        out.lines().partition(|line| line.contains("isError"));
    assert_eq!(own.len(), 2, "{out}");
    assert_eq!(passed, [format!("[{two},{ping}]"), format!("[{two},{ping} ]")], "{out}");
}
