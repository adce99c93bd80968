//! Whole runs with foreign servers: who may start them, what is kept of them, and their end.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wildgym_support::{ScriptedServer, calls, final_answer};

use crate::common::{Place, Ran, transcripts};
use crate::stage::{HOSTILE, Listening, sleepers};

/// A model that calls a tool and then answers.
async fn model(tool: &'static str, arguments: Value) -> ScriptedServer {
    ScriptedServer::start(move |request| match request.round {
        1 => calls([("c1", tool, arguments.clone())]),
        _ => final_answer("done"),
    })
    .await
}

/// Lets the tasks of a suite offer the hostile server as `mine`.
fn with_server(suite: &Path, more: &str) {
    let file = suite.join("suite.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n[servers.mine]\ncommand = [{HOSTILE:?}]\n{more}")).unwrap();
    for task in fs::read_dir(suite.join("tasks")).unwrap().flatten() {
        let file = task.path().join("task.toml");
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("[answer]", "[environment]\nservers = [\"mine\"]\n\n[answer]");
        fs::write(&file, text).unwrap();
    }
}

fn records(place: &Place, run: &str) -> Vec<Value> {
    let found = transcripts(&place.path().join("runs").join(run));
    let lines = found.values().flat_map(|text| text.lines());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn passed(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}{}", ran.err, ran.out);
    ran.json()["trials"]["pass"].clone()
}

/// What the command line names is offered in every task, called through the one door, kept in
/// the record and said on the label.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_command_line_is_offered_recorded_and_labelled() {
    let place = Place::new();
    let suite = place.suite(2);
    let model = model("mine__echo", json!({"text": "from afar"})).await;
    let listening = Listening::start(&["--names", "count"]);
    let (here, there) = (format!("mine={HOSTILE} --noise"), format!("far={}", listening.url));
    let more = ["--mcp-server", &here, "--mcp-url", &there, "-k", "2", "--name", "r", "--json"];
    let url = model.base_url();
    let ran = place.wildgym(&Place::asking(&suite, &url, &more));
    assert_eq!(passed(&ran), json!(4));
    let label = ran.json()["label"]["servers"].to_string();
    assert!(label.contains("server `mine` is external (26 tools)"), "{label}");
    assert!(label.contains("reached at http://127.0.0.1"), "{label}");
    let records = records(&place, "r");
    let called: Vec<&Value> = records.iter().filter(|one| one["record"] == "call").collect();
    assert_eq!(called.len(), 4);
    for call in called {
        assert_eq!((&call["tool"], &call["result"]), (&json!("mine__echo"), &json!("from afar")));
        assert_eq!(call["notes"][0]["external"], json!("mine"));
    }
    let first = records.iter().find(|one| one["record"] == "attempt").unwrap();
    assert!(first["tools"].as_array().unwrap().contains(&json!("far__count")), "{first}");
    let offered = model.requests()[0].body["tools"].to_string();
    assert!(
        offered.contains("far__count") && offered.contains("execute_code"),
        "beside all others"
    );
    let table = place.wildgym(&["report", "runs/r"]);
    assert!(table.out.contains("servers") && table.out.contains("external"), "{}", table.out);
    assert_eq!(model.violations(), Vec::<String>::new());
}

/// A suite starts nothing that the user has not allowed, for exactly the files that name it.
#[tokio::test(flavor = "multi_thread")]
async fn a_suite_starts_commands_only_where_the_user_allows_its_digest() {
    let place = Place::new();
    let suite = place.suite(1);
    let starts = place.path().join("starts");
    with_server(&suite, "");
    let model = model("mine__echo", json!({"text": "x"})).await;
    let url = model.base_url();
    let run = |more: &[&str]| place.wildgym(&Place::asking(&suite, &url, more));
    let refused = run(&["--name", "r"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("mine: ") && refused.err.contains(HOSTILE), "{}", refused.err);
    assert!(!starts.exists() && !place.path().join("runs/r").exists(), "nothing began");
    let (_, after) = refused.err.split_once("--allow-commands ").unwrap();
    let digest: String = after.chars().take_while(char::is_ascii_hexdigit).collect();
    let wrong = run(&["--name", "r", "--allow-commands", "000000000000"]);
    assert!(wrong.err.contains("is for other files"), "{}", wrong.err);
    let short = run(&["--name", "r", "--allow-commands", &digest[..6]]);
    assert_eq!(short.code, Some(2), "too short to be the digest's: {}", short.err);
    let allowed = run(&["--name", "r", "-k", "1", "--allow-commands", &digest, "--json"]);
    assert_eq!(passed(&allowed), json!(1));

    // A stored run may come from somebody else.
    let file = place.path().join("runs/r/run.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\nk = 1\n", "\nk = 2\n")).unwrap();
    let refused = place.wildgym(&["resume", "runs/r"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("run `runs/r` has foreign servers"), "{}", refused.err);
    let resumed = place.wildgym(&["resume", "runs/r", "--allow-commands", &digest, "--json"]);
    assert_eq!(passed(&resumed), json!(2));

    // What it would start changed since.
    with_server_changed(&suite);
    let changed = run(&["--name", "s", "--allow-commands", &digest]);
    assert!(changed.err.contains("is for other files"), "{}", changed.err);
}

fn with_server_changed(suite: &Path) {
    let file = suite.join("suite.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("command = [", "command = [\"sh\", ")).unwrap();
}

/// A server that does not come costs its attempts, which are lost and not failed.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_come_loses_the_attempt() {
    let place = Place::new();
    let suite = place.suite(1);
    let model = model("mine__echo", json!({"text": "x"})).await;
    let url = model.base_url();
    let folder = place.path().to_str().unwrap();
    let starts = place.path().join("starts");
    let server = format!("mine={HOSTILE} --count {} --once", starts.display());
    let read = format!("mine={folder}");
    // Without walls, so that the second start is seen to be the second.
    let more =
        ["--mcp-server", &server, "--mcp-read", &read, "-k", "1", "--attempts", "2", "--json"];
    let args = Place::asking(&suite, &url, &more);
    let output = place.command(&args).env("PATH", "/nonexistent").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["trials"]["lost"], json!(1), "{report}");
    assert!(report["label"]["servers"].to_string().contains("not contained"), "{report}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("server `mine`") && said.contains("no licence"), "{said}");
    assert_eq!(model.requests().len(), 0, "no model was asked");
    let shapeless = format!("a={HOSTILE} --names one,two --schema '{{\"type\": 7}}'");
    let none = place.wildgym(&Place::asking(&suite, &url, &["--mcp-server", &shapeless]));
    assert_eq!(none.code, Some(2), "{}", none.err);
    for said in ["none of its tools can be offered", "a__one", "a__two"] {
        assert!(none.err.contains(said), "{said}: {}", none.err);
    }
    let never = place.wildgym(&Place::asking(&suite, &url, &["--mcp-server", "a=no-such-program"]));
    assert_eq!(never.code, Some(2), "{}", never.err);
    assert!(never.err.contains("there is no such program"), "{}", never.err);
}

/// Nothing that a server started outlives the gym, however that ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_gym_leaves_no_process() {
    let place = Place::new();
    let suite = place.suite(1);
    let seconds = 98_771;
    let model = ScriptedServer::start(move |request| match request.round {
        1 => calls([("c1", "mine__spawn", json!({"seconds": seconds}))]),
        _ => calls([("c2", "mine__wedge", json!({}))]),
    })
    .await;
    let url = model.base_url();
    let server = format!("mine={HOSTILE}");
    let args = Place::asking(&suite, &url, &["--mcp-server", &server, "-k", "1"]);
    let mut gym = place.start(&args);
    wait("the server starts its process", || sleepers(seconds) == 1);
    gym.kill().unwrap();
    gym.wait().unwrap();
    wait("everything ends", || sleepers(seconds) == 0);
}

fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_mins(2), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A suite's server has its own folder, the workspace as far as it was granted, and what the
/// suite says wrongly is told before anything runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_suite_brings_its_server_along() {
    let place = Place::new();
    let suite = place.suite(1);
    with_server(&suite, "");
    let folder = suite.join("servers/mine");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("data.txt"), "the tide is high\n").unwrap();
    let file = suite.join("suite.toml");
    let plain = fs::read_to_string(&file).unwrap();
    let check = |text: String| {
        fs::write(&file, text).unwrap();
        place.wildgym(&["tasks", "check", suite.to_str().unwrap()])
    };
    let table = [
        (
            plain.replace("[servers.mine]", "[servers.other]"),
            "t-000/task.toml:10: environment.servers: `mine`: unknown server",
        ),
        (format!("{plain}url = \"http://h.example/\"\n"), "one of `command`, `url` and `world`"),
        (plain.replace("command = [", "command = [\"{workspace}/x\", "), "needs `workspace"),
        (format!("{plain}surprise = 1\n"), "surprise"),
        (format!("{plain}connect_seconds = 0\n"), "connect_seconds"),
    ];
    for (text, want) in table {
        let said = check(text);
        let all = said.out + &said.err;
        assert!(all.contains(want), "{want}: {all}");
    }
    let granted = format!("{plain}workspace = \"write\"\n").replace(
        &format!("command = [{HOSTILE:?}]"),
        &format!("command = [{HOSTILE:?}, \"--count\", \"{{workspace}}/started.txt\"]"),
    );
    check(granted);
    let task = suite.join("tasks/t-000/task.toml");
    let text = fs::read_to_string(&task).unwrap();
    for (tool, known) in [("mine__anything", true), ("yours__anything", false)] {
        let step = format!("\n[[milestone]]\nid = \"asked\"\ncall = {{ tool = \"{tool}\" }}\n");
        fs::write(&task, text.clone() + &step).unwrap();
        let said = place.wildgym(&["tasks", "check", suite.to_str().unwrap()]);
        assert_eq!(!said.out.contains("there is no tool"), known, "{tool}: {}", said.out);
    }
    fs::write(&task, text).unwrap();
    let path =
        if place.wildgym(&["doctor"]).out.contains("bwrap") { "/server/data.txt" } else { "" };
    let model = model("mine__read", json!({"path": path})).await;
    let url = model.base_url();
    let refused = place.wildgym(&Place::asking(&suite, &url, &["--name", "r"]));
    let (_, after) = refused.err.split_once("--allow-commands ").unwrap();
    let digest: String = after.chars().take_while(char::is_ascii_hexdigit).collect();
    let more = ["--name", "r", "-k", "1", "--allow-commands", &digest, "--json"];
    let ran = place.wildgym(&Place::asking(&suite, &url, &more));
    assert_eq!(passed(&ran), json!(1));
    let records = records(&place, "r");
    let call = records.iter().find(|one| one["record"] == "call").unwrap();
    let label = ran.json()["label"]["servers"].to_string();
    if label.contains(", contained") {
        assert_eq!(call["result"], json!("the tide is high\n"), "its own folder");
    }
    let end = records.iter().find(|one| one["record"] == "outcome").unwrap();
    assert!(end["files"].to_string().contains("started.txt"), "what it wrote is kept: {end}");

    // What it lists is known once it runs: before anything else does.
    fs::write(&file, format!("{plain}tools = [\"echo\", \"nosuch\"]\n")).unwrap();
    let refused = place.wildgym(&Place::asking(&suite, &url, &["--name", "s"]));
    let (_, after) = refused.err.split_once("--allow-commands ").unwrap();
    let digest: String = after.chars().take_while(char::is_ascii_hexdigit).collect();
    let more = ["--name", "s", "--allow-commands", &digest];
    let strange = place.wildgym(&Place::asking(&suite, &url, &more));
    assert_eq!(strange.code, Some(2), "{}", strange.err);
    let want = "server `mine`: `tools` names `nosuch`, and it lists no such tool; it lists `echo`";
    assert!(strange.err.contains(want), "{}", strange.err);
    assert!(!place.path().join("runs/s").exists(), "nothing began");
}
