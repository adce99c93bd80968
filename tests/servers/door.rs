//! What agents may rely on at the door, whatever a server does.

use std::fs;
use std::time::Duration;

use camino::Utf8Path;
use serde_json::{Value, json};
use wildgym_tasks::environment::{Reach, Server};
use wildgym_toolbox::foreign::{Spec, offered};

use crate::stage::{
    LONG, Listening, SHORT, Stage, command, hostile, nothing, reached, sleepers, until,
};

/// The tools of a server are called by names that say whose they are, with the schemas that it
/// gives them, and what it returns is read as what it is.
#[tokio::test(flavor = "multi_thread")]
async fn tools_are_called_by_names_that_say_whose_they_are() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&[]), LONG).await;
    let entry = attempt.toolbox.catalog().entry("h__echo").unwrap();
    assert_eq!(entry.tool.category(), "external");
    assert_eq!(entry.parameters["properties"]["text"], json!({"type": "string"}));
    let table = [
        ("h__echo", json!({"text": "hello"}), "hello"),
        ("h__structured", nothing(), r#"{"n":7}"#),
        (
            "h__picture",
            nothing(),
            "a dot\n[image of type `image/png`, 70 bytes: `.results/3-1.png`]",
        ),
        ("h__fails", nothing(), "error: no such order"),
        ("h__error", nothing(), "error: server `h`: out of paper (code -32000)"),
        ("h__stranger", nothing(), "mine"),
        ("h__echo", json!({"text": 7}), "error: `h__echo` rejected its arguments"),
    ];
    for (name, arguments, want) in table {
        let said = attempt.says(name, arguments).await;
        assert!(said.starts_with(want), "{name}: {said}");
    }
    let picture = attempt.workspace.read(Utf8Path::new(".results/3-1.png"), 1000).unwrap();
    assert!(picture.starts_with(b"\x89PNG"), "a file of the workspace, as all others");
    let reply = attempt.call("h__echo", json!({"text": "x"})).await;
    assert_eq!(reply.notes, [json!({"external": "h", "tool": "echo"})], "the record says so");
    attempt.foreign.end().await;
}

/// `inspect_ai` PR#4291: a lost response deadlocked a tool call for hours. PR#3870, #3936: a
/// time-out killed the sample instead of being a tool error.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_is_the_error_of_its_call_and_of_nothing_else() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&[]), SHORT).await;
    let replies = attempt.round(&[("h__lost", nothing()), ("h__look", nothing())]).await;
    assert_eq!(replies[0].error, Some("timed-out"), "{}", replies[0].text);
    assert!(replies[0].text.contains("stopped after its limit of 3 s"), "{}", replies[0].text);
    assert_eq!(attempt.says("h__count", nothing()).await, "1", "it is asked, lives, and goes on");
    attempt.foreign.end().await;
}

/// A server that is stuck for good costs its call and the one that finds out: it is started
/// anew, and said to be.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_server_is_found_out_and_started_anew() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&[]), Duration::from_secs(30)).await;
    assert_eq!(attempt.says("h__count", nothing()).await, "1");
    let stuck = attempt.call("h__wedge", nothing()).await;
    assert_eq!(stuck.error, Some("timed-out"), "{}", stuck.text);
    let next = attempt.call("h__count", nothing()).await;
    assert!(next.text.starts_with("[server `h` had ended and was started anew"), "{}", next.text);
    assert!(next.text.ends_with("\n1"), "what it remembered is gone: {}", next.text);
    assert!(next.notes[0]["restarted"].is_string(), "{:?}", next.notes);
    attempt.foreign.end().await;
}

/// A server that hangs for less than a call may take is waited for, and one that hangs longer,
/// but says that it lives when it is asked, is not started anew: what it remembers stays.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_for_a_while_keeps_what_it_remembers() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&[]), SHORT).await;
    let hang = |ms: u64| ("h__wedge", json!({ "ms": ms }));
    assert_eq!(attempt.says("h__count", nothing()).await, "1");
    let (name, arguments) = hang(300);
    let short = attempt.call(name, arguments).await;
    assert_eq!(short.error, None, "{}", short.text);
    assert_eq!(attempt.says("h__count", nothing()).await, "2", "it is the same one");
    let (name, arguments) = hang(4_500);
    let long = attempt.call(name, arguments).await;
    assert_eq!(long.error, Some("timed-out"), "{}", long.text);
    let mut next = attempt.call("h__count", nothing()).await;
    for _ in 0..9 {
        // Where the machine is slow the hang, or the answer, may take more than one call.
        if next.error.is_none() {
            break;
        }
        next = attempt.call("h__count", nothing()).await;
    }
    let counted: u32 = next.text.parse().unwrap_or_else(|_| panic!("{}", next.text));
    assert!(counted >= 3, "it was asked, waited for, and remembers: {counted}");
    assert!(next.notes[0].get("restarted").is_none(), "{:?}", next.notes);
    attempt.foreign.end().await;
}

/// A server that is stuck for longer than any of its calls may take is found out beside them:
/// neither the question nor the new start is cut short by their limits, and the first call that
/// comes to something says what happened, once.
#[tokio::test(flavor = "multi_thread")]
async fn short_limits_do_not_hide_that_a_server_is_stuck() {
    let stage = Stage::with_path("/nonexistent".into());
    let starts = stage.path().join("starts");
    let attempt = stage.with(hostile(&["--count", starts.as_str()]), SHORT).await;
    assert_eq!(attempt.says("h__count", nothing()).await, "1");
    let stuck = attempt.call("h__wedge", nothing()).await;
    assert_eq!(stuck.error, Some("timed-out"), "{}", stuck.text);
    let mut next = attempt.call("h__count", nothing()).await;
    for _ in 0..9 {
        if next.error.is_none() {
            break;
        }
        assert_eq!(next.error, Some("timed-out"), "{}", next.text);
        next = attempt.call("h__count", nothing()).await;
    }
    assert!(next.text.starts_with("[server `h` had ended and was started anew"), "{}", next.text);
    assert!(next.text.contains("it did not answer any more"), "{}", next.text);
    assert!(next.text.ends_with("\n1") && next.notes[0]["restarted"].is_string(), "{}", next.text);
    assert_eq!(attempt.says("h__count", nothing()).await, "2", "said once");
    let count = fs::read_to_string(&starts).unwrap().lines().count();
    assert_eq!(count, 3, "listed, started, and started anew once");
    attempt.foreign.end().await;
}

/// Output without end and without a line is not read until the call's limit: the server is
/// ended at a bound that is said, and started anew.
#[tokio::test(flavor = "multi_thread")]
async fn output_without_end_ends_the_server_and_is_said() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&[]), LONG).await;
    let gushed = attempt.call("h__gush", nothing()).await;
    assert_eq!(gushed.error, Some("failed"), "{}", gushed.text);
    for said in ["64 MiB without the end of a line", "the next call starts it anew"] {
        assert!(gushed.text.contains(said), "{said}: {}", gushed.text);
    }
    let next = attempt.says("h__echo", json!({ "text": "on" })).await;
    assert!(next.ends_with("\non"), "{next}");
    attempt.foreign.end().await;
}

/// Where a server offers nothing that is of use, the refusal says why of each tool.
#[tokio::test(flavor = "multi_thread")]
async fn why_there_is_no_tool_is_said_of_each() {
    let stage = Stage::new();
    let named = |more: &[&str]| hostile(&[&["--names", "one,two"], more].concat());
    let none = stage.list(named(&["--schema", "7"])).await.unwrap_err().to_string();
    assert_eq!(
        none,
        "server `h`: it offers no tool: `one`, which has no schema; `two`, which has no schema"
    );
    let chosen = |tools: &[&str]| {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let spec = named(&[]);
        Spec { server: Server { tools: Some(tools), ..spec.server.clone() }, ..spec }
    };
    let strange = stage.list(chosen(&["one", "nosuch", "x*"])).await.unwrap_err().to_string();
    let want = "`tools` names `nosuch`; `x*`, and it lists no such tool; it lists `one`; `two`";
    assert!(strange.contains(want), "{strange}");
    let (pinned, _) = stage.list(chosen(&["t*"])).await.unwrap();
    assert_eq!(pinned.tools.len(), 1);
}

/// `inspect_ai` PR#3287: a line of more than 64 KiB, such as a screenshot, ended the session.
#[tokio::test(flavor = "multi_thread")]
async fn lines_have_any_length_up_to_one_that_is_said() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&[]), LONG).await;
    for bytes in [64 << 10, (64 << 10) + 1, 3 << 20, 15 << 20] {
        let reply = attempt.call("h__big", json!({"bytes": bytes})).await;
        assert_eq!(reply.error, None, "{bytes}: {}", reply.text);
        let kept = attempt.workspace.read(Utf8Path::new(&reply.full.unwrap()), 1 << 30).unwrap();
        assert_eq!(kept.len(), bytes, "whole in the workspace");
    }
    let reply = attempt.call("h__big", json!({"bytes": 50 << 20})).await;
    assert_eq!(reply.error, Some("failed"));
    assert!(reply.text.contains("its reply has 50 MiB"), "{}", reply.text);
    assert_eq!(attempt.says("h__echo", json!({"text": "on"})).await, "on", "it goes on");
    attempt.foreign.end().await;
}

/// What is no reply fails the call that it answers, at once and with what is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_reply_fails_its_call_at_once() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&["--noise"]), LONG).await;
    let table = [
        ("h__malformed", "answered with what is no result of a call"),
        ("h__empty", "its reply has neither a result nor an error"),
        ("h__badjson", "its reply is not JSON"),
    ];
    for (name, want) in table {
        let reply = attempt.call(name, nothing()).await;
        assert_eq!(reply.error, Some("failed"), "{name}: {}", reply.text);
        assert!(reply.text.contains(want), "{name}: {}", reply.text);
    }
    assert_eq!(attempt.says("h__chatter", nothing()).await, "said much", "and nobody waits");
    attempt.foreign.end().await;
}

/// A server that ends is started anew once, which is said; calls that fail beside each other
/// share the one new start (kimi-code PR#1991).
#[tokio::test(flavor = "multi_thread")]
async fn a_dying_server_is_started_anew_once_and_said() {
    // Without walls, so that all its starts are counted in one file.
    let stage = Stage::with_path("/nonexistent".into());
    let starts = stage.path().join("starts");
    let attempt = stage.with(hostile(&["--count", starts.as_str()]), LONG).await;
    let count = || fs::read_to_string(&starts).unwrap_or_default().lines().count();
    assert_eq!(count(), 2, "listed, then started");
    let died = attempt.call("h__die", nothing()).await;
    assert_eq!(died.error, Some("failed"));
    for said in ["it ended with status 3", "the disk is on fire", "the next call starts it anew"] {
        assert!(died.text.contains(said), "{said}: {}", died.text);
    }
    let looks = vec![("h__look", nothing()); 6];
    let replies = attempt.round(&looks).await;
    assert!(replies.iter().all(|reply| reply.error.is_none()), "all of them go on");
    assert_eq!(count(), 3, "one new start for all");
    let died = attempt.call("h__die", nothing()).await;
    assert!(died.text.contains("it is not started any more"), "{}", died.text);
    let gone = attempt.call("h__echo", nothing()).await;
    assert_eq!(gone.error, Some("failed"));
    assert!(gone.text.contains("ended again"), "{}", gone.text);
    assert_eq!(count(), 3);
    attempt.foreign.end().await;
}

/// mcp-bench#20: servers connected half of the time; zai-org#551: the tools of a late server
/// never appeared. An attempt waits for all, each at most as long as it may take, and says who
/// did not come.
#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_waits_for_all_its_servers_or_says_who_did_not_come() {
    let stage = Stage::new();
    let named =
        |name: &str, arguments: &[&str]| Spec { name: name.to_owned(), ..hostile(arguments) };
    let mut pinned = Vec::new();
    for (name, late) in [("a", "0"), ("b", "400"), ("c", "1500"), ("d", "0"), ("e", "100")] {
        pinned.push(stage.list(named(name, &["--late-ms", late])).await.unwrap().0);
    }
    let attempt = stage.attempt(&pinned, LONG);
    attempt.foreign.start().await.unwrap();
    for name in ["a", "b", "c", "d", "e"] {
        let said = attempt.says(&format!("{name}__echo"), json!({"text": name})).await;
        assert_eq!(said, name);
    }
    attempt.foreign.end().await;
    let patient =
        |spec: Spec| Spec { server: Server { connect_seconds: Some(2), ..spec.server }, ..spec };
    let mute = stage.list(patient(named("m", &["--mute"]))).await.unwrap_err().to_string();
    assert!(mute.contains("server `m`: it did not list its tools within 2 s"), "{mute}");
    let exits = stage.list(named("x", &["--exit", "7"])).await.unwrap_err().to_string();
    for said in
        ["server `x`: it ended before it answered", "status 7", "cannot go on:", "no licence"]
    {
        assert!(exits.contains(said), "{said}: {exits}");
    }
    assert!(!exits.contains('\u{1b}'), "nothing that a terminal obeys: {exits:?}");
    let missing = stage.list(command("y", &["no-such-program"])).await.unwrap_err().to_string();
    assert!(missing.contains("there is no such program"), "{missing}");
}

/// zai-org#551: an unknown name ran another server's tool. `inspect_ai` PR#1807: the list of one
/// server was taken for that of another.
#[tokio::test(flavor = "multi_thread")]
async fn servers_share_neither_names_nor_lists_nor_memory() {
    let stage = Stage::new();
    let of =
        |name: &str, tools: &str| Spec { name: name.to_owned(), ..hostile(&["--names", tools]) };
    let mut pinned = Vec::new();
    for (name, tools) in [("one", "count,only-one"), ("two", "count,only-two,a.b/c")] {
        pinned.push(stage.list(of(name, tools)).await.unwrap().0);
    }
    let (first, second) = (stage.attempt(&pinned, LONG), stage.attempt(&pinned, LONG));
    let names = first.toolbox.catalog().names();
    assert_eq!(names.len(), 5, "{names:?}");
    let fits = |name: &String| {
        name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    assert!(names.iter().all(fits), "{names:?}");
    for name in ["one__only-two", "two__only-one", "count", "one__count2", "only-one"] {
        let reply = first.call(name, nothing()).await;
        assert_eq!(reply.error, Some("unknown-tool"), "{name}: {}", reply.text);
    }
    assert_eq!(first.says("one__count", nothing()).await, "1");
    assert_eq!(first.says("one__count", nothing()).await, "2");
    assert_eq!(first.says("two__count", nothing()).await, "1", "another server");
    assert_eq!(second.says("one__count", nothing()).await, "1", "another attempt");
    first.foreign.end().await;
    second.foreign.end().await;
}

/// A server that knows only the newest protocol, which has no beginning, is spoken to in that.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_newest_protocol_is_one_too() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&["--modern"]), LONG).await;
    assert_eq!(attempt.says("h__echo", json!({"text": "hi"})).await, "hi");
    attempt.foreign.end().await;
}

/// A list of many pages is read whole, and one without end is given up.
#[tokio::test(flavor = "multi_thread")]
async fn lists_are_read_page_by_page_to_an_end() {
    let stage = Stage::new();
    let (whole, _) = stage.list(hostile(&[])).await.unwrap();
    let (pages, _) = stage.list(hostile(&["--pages"])).await.unwrap();
    assert_eq!(whole.tools, pages.tools);
    let endless = stage.list(hostile(&["--endless"])).await.unwrap_err().to_string();
    assert!(endless.contains("more than 200 pages"), "{endless}");
    let (twice, left_out) = stage.list(hostile(&["--names", "echo,echo"])).await.unwrap();
    assert_eq!((twice.tools.len(), left_out.len()), (1, 1), "{left_out:?}");
}

/// mcpmark#245: a server drifted from 92 tools to 40. What it lists must be what it listed when
/// the run began; a change while it runs is noted and not followed.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_pinned() {
    let stage = Stage::with_path("/nonexistent".into());
    let starts = stage.path().join("starts").into_string();
    let (pinned, _) = stage.list(hostile(&["--count", &starts, "--drift"])).await.unwrap();
    let attempt = stage.attempt(&[pinned], LONG);
    let refused = attempt.foreign.start().await.unwrap_err().to_string();
    assert!(refused.contains("not those that the run began with"), "{refused}");
    assert!(refused.contains("new: `other`"), "{refused}");

    let attempt = stage.with(hostile(&[]), LONG).await;
    let reply = attempt.call("h__change", nothing()).await;
    assert_eq!(reply.text, "changed");
    let next = attempt.call("h__echo", json!({"text": "still"})).await;
    assert_eq!(next.text, "still");
    let noted = [&reply, &next].iter().any(|reply| reply.notes[0]["tools-changed"] == json!(true));
    assert!(noted, "the record says so");
    attempt.foreign.end().await;
}

/// A server that asks for a model, for folders or for a person is refused, and one that asks
/// for a sign of life gets it. One that asks without end harms nobody.
#[tokio::test(flavor = "multi_thread")]
async fn servers_are_answered_what_they_may_ask() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&[]), LONG).await;
    let said = attempt.says("h__ask", nothing()).await;
    let answers: Vec<Value> = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(answers.len(), 5, "{said}");
    for (place, what) in [(0, "a model"), (1, "folders"), (4, "what nobody knows")] {
        assert_eq!(answers[place]["error"]["code"], json!(-32601), "{what}: {said}");
    }
    assert_eq!(answers[2]["result"]["action"], json!("decline"), "{said}");
    assert_eq!(answers[3]["result"], json!({}), "{said}");
    let flood = attempt.call("h__flood", nothing()).await;
    assert_eq!(flood.error, Some("failed"), "{}", flood.text);
    assert!(flood.text.contains("more than 10000 requests"), "{}", flood.text);
    attempt.foreign.end().await;
}

/// Calls that may change something come to a server in the order asked; those that it says
/// change nothing run side by side, and so do different servers.
#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_round_come_in_the_order_asked() {
    let stage = Stage::new();
    let attempt = stage.with(hostile(&[]), LONG).await;
    let order = |text: &str, ms: u64| ("h__order", json!({"text": text, "ms": ms}));
    let replies = attempt.round(&[order("a", 300), order("b", 100), order("c", 0)]).await;
    let texts: Vec<&str> = replies.iter().map(|reply| reply.text.as_str()).collect();
    assert_eq!(texts, ["a", "a,b", "a,b,c"], "the slowest first");
    attempt.foreign.end().await;
}

/// Behind walls a server has of this machine what it was granted: no files of others, no
/// network, no environment, and none of its processes outlives it.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_has_what_it_was_granted() {
    let stage = Stage::new();
    if !stage.host.servers.has_walls() {
        return;
    }
    let secret = stage.path().join("secret.txt");
    fs::write(&secret, "the answer is 42").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let spec = Spec { secrets: vec![("TOKEN".into(), "s3cret".into())], ..hostile(&[]) };
    let plain = stage.with(spec.clone(), LONG).await;
    let path = |path: &str| json!({"path": path});
    for file in [secret.as_str(), "/etc/passwd", "/root", "/proc/1/environ/../../../etc/shadow"] {
        let said = plain.says("h__read", path(file)).await;
        assert!(said.starts_with("refused"), "{file}: {said}");
    }
    let said = plain.says("h__connect", json!({"port": port})).await;
    assert!(said.starts_with("refused"), "{said}");
    let environment = plain.says("h__env", nothing()).await;
    assert!(environment.contains("TOKEN=s3cret"), "what it was given: {environment}");
    for name in ["CARGO", "HOME=/root", "USER="] {
        assert!(!environment.contains(name), "{name}: {environment}");
    }
    let workspace = plain.says("h__write", json!({"path": "/workspace/x", "text": "y"})).await;
    assert!(workspace.starts_with("refused"), "{workspace}");
    plain.says("h__spawn", json!({"seconds": 98_761})).await;
    until("it starts a process", || sleepers(98_761) == 1).await;
    plain.foreign.end().await;
    assert_eq!(sleepers(98_761), 0, "all its processes are gone with it");

    let granted = |reach| Spec {
        server: Server { workspace: reach, network: true, ..spec.server.clone() },
        reads: vec![secret.clone()],
        ..spec.clone()
    };
    let reads = stage.with(granted(Reach::Read), LONG).await;
    reads.workspace.write(Utf8Path::new("a.txt"), b"mine").unwrap();
    assert_eq!(reads.says("h__read", path("/workspace/a.txt")).await, "mine");
    assert_eq!(reads.says("h__read", path(secret.as_str())).await, "the answer is 42");
    let said = reads.says("h__write", json!({"path": "/workspace/a.txt", "text": "y"})).await;
    assert!(said.starts_with("refused"), "{said}");
    assert_eq!(reads.says("h__connect", json!({"port": port})).await, "connected");
    reads.foreign.end().await;
    let writes = stage.with(granted(Reach::Write), LONG).await;
    let file = json!({"path": "/workspace/b.txt", "text": "theirs"});
    assert_eq!(writes.says("h__write", file).await, "written");
    let kept = writes.workspace.read(Utf8Path::new("b.txt"), 100).unwrap();
    assert_eq!(kept, b"theirs", "a file of the workspace, as all others");
    writes.foreign.end().await;
}

/// Without anything that builds walls a server runs as its user, and its keeper still ends all
/// that it started.
#[tokio::test(flavor = "multi_thread")]
async fn without_walls_a_server_still_ends_with_its_attempt() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let bare = tempfile::tempdir().unwrap();
    for name in ["sh", "setsid", "sleep"] {
        let found = std::env::split_paths(&path).map(|folder| folder.join(name));
        let Some(program) = found.into_iter().find(|file| file.is_file()) else { return };
        std::os::unix::fs::symlink(program, bare.path().join(name)).unwrap();
    }
    let stage = Stage::with_path(bare.path().into());
    assert!(!stage.host.servers.has_walls());
    let attempt = stage.with(hostile(&[]), LONG).await;
    attempt.says("h__spawn", json!({"seconds": 98_762})).await;
    until("it starts a process", || sleepers(98_762) == 1).await;
    attempt.foreign.end().await;
    assert_eq!(sleepers(98_762), 0, "even one in a session of its own");
    // An attempt that is dropped, as one that panics is, ends its servers too.
    let attempt = stage.with(hostile(&[]), LONG).await;
    attempt.says("h__spawn", json!({"seconds": 98_763})).await;
    until("it starts a process", || sleepers(98_763) == 1).await;
    drop(attempt);
    until("a server outlives its attempt", || sleepers(98_763) == 0).await;
}

/// The same over HTTP.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_url_is_held_to_the_same() {
    let stage = Stage::new();
    let listening = Listening::start(&[]);
    let attempt = stage.with(reached("h", &listening.url), SHORT).await;
    let table = [
        ("h__echo", json!({"text": "hello"}), None, "hello"),
        ("h__big", json!({"bytes": 3 << 20}), None, "xxx"),
        ("h__big", json!({"bytes": 20 << 20}), Some("failed"), "16777216 bytes"),
        ("h__lost", nothing(), Some("timed-out"), "its limit of 3 s"),
        ("h__malformed", nothing(), Some("failed"), "no result of a call"),
        ("h__badjson", nothing(), Some("failed"), "server `h`"),
        ("h__error", nothing(), Some("failed"), "out of paper"),
        ("h__echo", json!({"text": "on"}), None, "on"),
    ];
    for (name, arguments, error, want) in table {
        let reply = attempt.call(name, arguments).await;
        assert_eq!(reply.error, error, "{name}: {}", reply.text.get(..200).unwrap_or(&reply.text));
        assert!(
            reply.text.contains(want),
            "{name}: {}",
            reply.text.get(..400).unwrap_or(&reply.text)
        );
    }
    attempt.foreign.end().await;
    let attempt = stage.with(reached("h", &listening.url), SHORT).await;
    let died = attempt.call("h__die", nothing()).await;
    assert!(matches!(died.error, Some("failed" | "timed-out")), "{}", died.text);
    let gone = attempt.call("h__echo", nothing()).await;
    assert_eq!(gone.error, Some("failed"), "nobody listens any more: {}", gone.text);
    attempt.foreign.end().await;
    let nobody = stage.list(reached("h", &listening.url)).await.unwrap_err().to_string();
    assert!(nobody.contains("cannot be reached"), "{nobody}");
}

/// What a server lists is told to models as any other tool is, but what cannot be.
#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_offered_is() {
    let stage = Stage::new();
    let spec = hostile(&[]);
    let server = Server { tools: Some(vec!["e*".into(), "look".into()]), ..spec.server.clone() };
    let (pinned, _) = stage.list(Spec { server, ..spec }).await.unwrap();
    let (catalog, bad) = offered(&pinned);
    assert_eq!(catalog.names(), ["h__echo", "h__look", "h__env", "h__empty", "h__error"]);
    assert!(bad.is_empty());
    assert!(pinned.tools.iter().all(|tool| tool.reads_only == (tool.name == "look")));
}
