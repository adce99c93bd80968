//! How it ends: whoever dies first, no process is left and the others are told.

use std::io::Write;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::common::Place;
use crate::stage::{Proxied, call, lives, wait_until};

/// Returns the process below another one, and the one below that.
fn below(pid: u32) -> Option<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    std::fs::read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
}

/// Starts a proxy, and returns it with the process of its server and of one that the server
/// started and left to itself.
fn started(place: &Place) -> (Proxied, u32, u32) {
    let mut proxy = Proxied::start(place, &[], &[]);
    let reply = proxy.ask(1, "spawn", json!({ "seconds": 500 }));
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    let stray = text.trim().parse().unwrap();
    let server = below(proxy.child.id()).and_then(below).unwrap();
    assert!(lives(server) && lives(stray));
    (proxy, server, stray)
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_proxy_that_is_killed_takes_the_server_and_what_it_left_along() {
    let place = Place::new();
    let (mut proxy, server, stray) = started(&place);
    kill(proxy.child.id());
    wait_until("the end of the server", || !lives(server) && !lives(stray));
    assert_eq!(proxy.rest(), b"", "the client sees the end");
}

#[test]
fn a_server_that_is_killed_ends_the_proxy_with_its_status() {
    let place = Place::new();
    let (mut proxy, server, stray) = started(&place);
    proxy.send(&call(2, "lost", json!({})));
    kill(server);
    assert_eq!(proxy.rest(), b"");
    let (status, said) = proxy.end();
    assert_eq!(status, Some(128 + 9), "{said}");
    assert!(
        said.contains("error: the server `wildgym-hostile-server` ended, with status 137"),
        "{said}"
    );
    wait_until("the end of what it left", || !lives(stray));
}

#[test]
fn a_server_that_gives_up_is_heard_to_its_last_word() {
    let place = Place::new();
    let mut proxy = Proxied::start(&place, &[], &[]);
    proxy.send(&call(1, "die", json!({})));
    let (status, said) = proxy.end();
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("fatal: the disk is on fire"), "standard error is the server's: {said}");
}

/// A client that is killed closes both its pipes, whether its server listens or not.
#[test]
fn a_client_that_is_gone_ends_proxy_and_server() {
    for wedged in [false, true] {
        let place = Place::new();
        let (mut proxy, server, stray) = started(&place);
        if wedged {
            proxy.send(&call(2, "wedge", json!({})));
        }
        let pid = proxy.child.id();
        let mut child = proxy.dissolve();
        wait_until("the end of the proxy", || child.try_wait().unwrap().is_some());
        wait_until("the end of all", || !lives(server) && !lives(stray) && !lives(pid));
    }
}

#[test]
fn what_cannot_be_started_is_told() {
    let place = Place::new();
    let table: [(&[&str], i32, &str); 7] = [
        (&["inject", "--", "no-such-program"], 127, "cannot start `no-such-program`"),
        (&["inject"], 2, "COMMAND"),
        (
            &["inject", "--profile", "bad-luck", "--", "cat"],
            2,
            "there is no fault profile `bad-luck`",
        ),
        (&["inject", "--log", "no/such/folder/log", "--", "cat"], 2, "cannot write the log"),
        (
            &["inject", "--upstream", "x", "--listen", "127.0.0.1:0"],
            2,
            "`x` is no address of a server",
        ),
        (&["inject", "--upstream", "http://127.0.0.1:1/"], 2, "--listen"),
        (
            &["inject", "--upstream", "http://127.0.0.1:1/", "--listen", "0.0.0.0:0"],
            2,
            "can be reached from other machines",
        ),
    ];
    for (args, code, says) in table {
        let ran = place.wildgym(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
}

/// Lines that are in a pipe when a client says its last word are answered.
#[test]
fn what_was_asked_before_the_end_is_answered() {
    let place = Place::new();
    let mut command = place.command(&["inject", "--", crate::stage::SERVER]);
    let pipe = std::process::Stdio::piped;
    let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
    let asked: Vec<String> =
        (0..50).map(|id| call(id, "echo", json!({ "text": "x" })).to_string() + "\n").collect();
    let asked = asked.concat();
    child.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    let answered = String::from_utf8(ran.stdout).unwrap();
    // The server ends at the end of its input, without waiting for its own threads.
    assert!(answered.lines().count() <= 50, "{answered}");
    assert!(ran.status.success());
}
