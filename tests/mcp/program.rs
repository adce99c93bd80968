//! `wildgym run --agent-cmd`: programs as agents.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use wildgym_support::{ScriptedServer, calls, says};

use super::common::{Place, transcripts};
use super::peers::Peers;
use super::prisoner::processes;
use super::suite;

/// Returns whether programs can be contained here, or says that a story is skipped.
pub(crate) fn contains() -> bool {
    match wildgym_sandbox::guest::bubblewrap() {
        Ok(_) => true,
        Err(why) => {
            eprintln!("skipped: {why}");
            false
        }
    }
}

/// Returns the system's Python: what else is found may be a script around one.
pub(crate) fn python() -> &'static str {
    let own = "/usr/bin/python3";
    if Path::new(own).exists() { own } else { "python3" }
}

/// Returns the last record of the only transcript of a run.
pub(crate) fn outcome(place: &Place, run: &str) -> Value {
    let all = transcripts(&place.path().join("runs").join(run));
    assert_eq!(all.len(), 1, "{:?}", all.keys());
    let text = all.into_values().next().unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// Writes a program and returns the command that runs it.
fn script(place: &Place, name: &str, text: &str) -> String {
    let folder = place.path().join("agent");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
    let program = if Path::new(name).extension() == Some("py".as_ref()) { python() } else { "sh" };
    format!("{program} agent/{name}")
}

/// The answer is what is handed in, else a file, else standard output; how a program ends
/// without one is said.
#[test]
fn an_answer_can_be_given_in_three_ways() {
    if !contains() {
        return;
    }
    let table = [
        ("file.sh", "echo noise; echo 42 > \"$WILDGYM_ANSWER_FILE\"", "answered", "42", "a file"),
        ("out.sh", "echo 42", "answered", "42", "standard output"),
        (
            "tags.sh",
            "echo thinking; echo '<final_answer>42</final_answer>'",
            "answered",
            "42",
            "tags",
        ),
        (
            "task.sh",
            "cmp - \"$WILDGYM_TASK_FILE\" && echo same",
            "answered",
            "same",
            "one task in both",
        ),
        ("cwd.sh", "cut -d, -f1 data.csv | tr -d '\\n'", "answered", "n1725", "in the workspace"),
        ("keep.sh", "echo out > new.txt; echo kept", "answered", "kept", "files are kept"),
        ("nothing.sh", "true", "no-answer", "ended without an answer", "nothing"),
        ("fails.sh", "echo 42; echo oh no >&2; exit 3", "no-answer", "status 3", "a failure"),
        ("link.sh", "ln -s /etc/hosts \"$WILDGYM_ANSWER_FILE\"", "no-answer", "without", "a link"),
        ("killed.sh", "kill -9 $$", "no-answer", "status 137", "a signal"),
        ("lacks.sh", "no-such-program", "no-answer", "status 127", "it ran, and missed another"),
        ("fifo.sh", "mkfifo \"$WILDGYM_ANSWER_FILE\"", "no-answer", "without", "a pipe"),
        ("folder.sh", "mkdir \"$WILDGYM_ANSWER_FILE\"", "no-answer", "without", "a folder"),
        (
            "long.sh",
            "head -c 300000 /dev/zero | tr '\\0' 4 > \"$WILDGYM_ANSWER_FILE\"",
            "no-answer",
            "wrote 300000 bytes",
            "a long answer is not cut to another one",
        ),
        (
            "links.sh",
            "rm data.csv; ln -s /etc/passwd stolen; ln -s / root; mkfifo pipe; echo 42",
            "answered",
            "42",
            "links lead nowhere",
        ),
    ];
    let place = Place::new();
    suite::write(place.path());
    for (name, text, expected, words, why) in table {
        let (run, command) = (name.replace('.', "-"), script(&place, name, text));
        let args = ["run", "suite", "--agent-cmd", &command, "--name", &run, "-k", "1", "--quiet"];
        let ran = place.wildgym(&args);
        assert_eq!(ran.code, Some(0), "{why}: {}", ran.err);
        let end = outcome(&place, &run);
        assert_eq!(end["outcome"], expected, "{why}: {end}");
        let said = if expected == "answered" { &end["answer"] } else { &end["detail"] };
        assert!(said.as_str().unwrap().contains(words), "{why}: {end}");
        if name == "keep.sh" {
            assert!(end["files"].to_string().contains("new.txt"), "{end}");
        }
        if name == "links.sh" {
            assert_eq!(end["files"].as_array().map_or(0, Vec::len), 0, "{end}");
        }
    }
}

#[test]
fn what_cannot_be_run_is_said() {
    let place = Place::new();
    suite::write(place.path());
    std::fs::write(place.path().join("suite/tasks/mc-sum/files/agent.sh"), "true").unwrap();
    let write = |name: &str, text: &str, mode: u32| {
        let file = place.path().join("agent").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("closed.sh", "#!/bin/sh\n", 0o644);
    write("gone.py", "#!/opt/no/python3\n", 0o755);
    write("named.js", "#!/usr/bin/env no-such-node\n", 0o755);
    write("text.txt", "hello", 0o755);
    let table: &[(&[&str], &str)] = &[
        (&["--agent-cmd", "agent/closed.sh"], "may not be executed"),
        (&["--agent-cmd", "agent/gone.py"], "`/opt/no/python3`, which is not there"),
        (&["--agent-cmd", "agent/named.js"], "`no-such-node`, which is in none of"),
        (&["--agent-cmd", "agent/text.txt"], "neither a program nor a script"),
        (&["--agent-cmd", "no-such-program x"], "there is no program `no-such-program`"),
        (&["--agent-cmd", "'sh"], "never closed"),
        (&["--agent-cmd", "sh", "--agent-mount", "nowhere"], "there is no such path"),
        (&["--agent-cmd", "sh", "--agent-env", "NAME"], "no pair"),
        (&["--agent-cmd", "sh", "--agent", "silent"], "cannot be used with"),
        (&["--agent-cmd", "sh suite/tasks/mc-sum/files/agent.sh"], "must not see"),
        (&["--agent-cmd", "sh", "--agent-mount", "/"], "holds more than the program"),
        (&["--uncontained"], "required"),
    ];
    for (more, expected) in table {
        let all: Vec<&str> = ["run", "suite"].iter().chain(*more).copied().collect();
        let ran = place.wildgym(&all);
        let skipped = ran.err.contains("cannot be contained");
        assert!(ran.err.contains(expected) || skipped, "{more:?}: {}", ran.err);
        assert_eq!(ran.code, Some(2), "{more:?}: {}", ran.err);
    }
}

/// A program that cannot be started once the run goes on is lost, and not one that has no
/// answer: with walls, where the relay says so, and without, where the keeper does.
#[test]
fn no_score_is_made_of_a_program_that_is_gone() {
    if !contains() {
        return;
    }
    for walls in [&[][..], &["--uncontained"]] {
        let place = Place::new();
        suite::write(place.path());
        let folder = place.path().join("agent");
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("once.sh");
        let nap = format!("0.05{}", std::process::id());
        let text =
            format!("#!/bin/sh\nwhile [ ! -e \"${{0%/*}}/go\" ]; do sleep {nap}; done\necho 42\n");
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut args = vec!["run", "suite", "--agent-cmd", "agent/once.sh", "--name", "gone"];
        args.extend(["-k", "2", "--concurrency", "1", "--quiet"]);
        args.extend(walls);
        let mut gym = place.start(&args);
        // Once it sleeps, the shell has read it.
        while processes(&format!("sleep\0{nap}")) == 0 {
            assert!(gym.try_wait().unwrap().is_none(), "the program does not start");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        std::fs::remove_file(&file).unwrap();
        std::fs::write(folder.join("go"), "").unwrap();
        gym.wait().unwrap();
        let ends: Vec<Value> = transcripts(&place.path().join("runs/gone"))
            .into_values()
            .map(|text| serde_json::from_str(text.lines().last().unwrap()).unwrap())
            .collect();
        assert_eq!(ends[0]["answer"], "42", "{ends:?}");
        assert!(ends.len() > 1, "{ends:?}");
        for end in &ends[1..] {
            assert_eq!(end["outcome"], "lost:harness", "{end}");
            let detail = end["detail"].as_str().unwrap();
            assert!(detail.contains("could not be started"), "{end}");
            assert!(detail.contains("once.sh"), "{end}");
        }
    }
}

/// Scripts the model of three tasks of the suite `enterprise`: a call, and an account of what
/// it gave back.
fn model(request: &wildgym_support::Request) -> wildgym_support::Response {
    let results = request.results();
    let Some(result) = results.first() else {
        return match request.key.as_str() {
            key if key.contains("Priya Raman") => {
                calls([("c1", "crm_search_contacts", json!({ "query": "Priya Raman" }))])
            }
            key if key.contains("Dana Whitlock") => calls([(
                "c1",
                "convert_time_zone",
                json!({
                    "time": "2026-03-26T09:30",
                    "from_zone": "America/New_York",
                    "to_zone": "Europe/Berlin"
                }),
            )]),
            _ => calls([("c1", "data_list_views", json!({ "view": "rpt_invoices" }))]),
        };
    };
    let given: Value = serde_json::from_str(result).unwrap_or_default();
    if let Some(person) = given["items"].get(0) {
        return says(&format!("Priya Raman: {}, {}.", person["email"], person["phone"]));
    }
    if let Some(hours) = given["hours_ahead"].as_f64() {
        let minutes = 9.5f64.mul_add(60.0, hours * 60.0).round();
        let (hour, minute) = (minutes / 60.0, minutes % 60.0);
        return says(&format!("不来梅时间 {}:{minute:02}。", hour.floor()));
    }
    let columns = given[0]["columns"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = columns.iter().filter_map(|column| column["name"].as_str()).collect();
    says(&format!("{}; still to be paid: outstanding", names.join(", ")))
}

/// A whole agent in forty lines of Python passes tasks of a world, and what it asked its model
/// and the tools is counted and kept as for a built-in agent.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_passes_tasks_of_a_world() {
    let Some(peers) = Peers::find().filter(|_| contains()) else { return };
    let server = ScriptedServer::serve(0, true, model).await.unwrap();
    let place = Place::new();
    let folder = place.path().join("agent");
    std::fs::create_dir(&folder).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/agent.py");
    std::fs::copy(script, folder.join("agent.py")).unwrap();
    let (python, url) = (peers.python(), server.base_url());
    let command = format!("{} agent/agent.py", python.display());
    let args = [
        "run",
        "enterprise",
        "--tasks",
        "t1-00[123]",
        "--agent-cmd",
        &command,
        "--model",
        "scripted",
        "--base-url",
        &url,
        "--name",
        "played",
        "-k",
        "1",
        "--judge",
        "exact",
    ];
    let ran = place.wildgym(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = place.wildgym(&["report", "runs/played", "--json"]).json();
    let points = report["points"].as_array().unwrap();
    let details: Vec<String> = transcripts(&place.path().join("runs/played"))
        .into_values()
        .map(|text| text.lines().last().unwrap().to_owned())
        .collect();
    assert_eq!(points.len(), 3);
    for point in points {
        assert_eq!(point["state"], "pass", "{point} {details:?}");
        assert_eq!((&point["rounds"], &point["calls"]), (&json!(2), &json!(1)), "{point}");
        assert_eq!(point["tokens"], 30, "{point}");
    }
    assert_eq!(server.requests().len(), 6);
    assert!(server.violations().is_empty(), "{:?}", server.violations());
}

/// A program that streams, lists models, uses another key or asks for too much meets the
/// endpoint that it knows.
#[tokio::test(flavor = "multi_thread")]
async fn the_model_of_a_program_is_limited() {
    const TEXT: &str = r#"
import json, os, urllib.error, urllib.request
base, key, model = (os.environ[n] for n in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"))
def send(path, body=None, key=key):
    data = json.dumps(body).encode() if body else None
    head = {"Content-Type": "application/json", "Authorization": "Bearer " + key}
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, data, head)) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
ask = {"model": "whatever", "messages": [{"role": "user", "content": "hi"}]}
said = [model]
said += [send("/models")[1].count("scripted") > 0, send("/chat/completions", ask, key="x")[0]]
said += [send("/responses", ask)[0], send("/chat/completions", {"model": "m"})[0]]
said += [send("/chat/completions", {**ask, "n": 2})[0]]
status, text = send("/chat/completions", {**ask, "stream": True, "stream_options": {"include_usage": True}})
said += [status, text.count("data: "), "hello" in text, "[DONE]" in text]
open(os.environ["WILDGYM_ANSWER_FILE"], "w").write(json.dumps(said))
for _ in range(9):
    said = send("/chat/completions", ask)
"#;
    if !contains() {
        return;
    }
    let server = ScriptedServer::serve(0, true, |_| says("hello")).await.unwrap();
    let place = Place::new();
    suite::write(place.path());
    let (url, command) = (server.base_url(), script(&place, "ask.py", TEXT));
    let run = |name: &'static str, limit: [&str; 2]| {
        let all =
            ["run", "suite", "--agent-cmd", &command, "--model", "scripted", "--base-url", &url];
        let more = ["--name", name, "-k", "1", "--quiet", limit[0], limit[1]];
        let ran = place.wildgym(&all.iter().chain(&more).copied().collect::<Vec<_>>());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        outcome(&place, name)
    };
    let end = run("rounds", ["--rounds", "3"]);
    assert_eq!((&end["outcome"], &end["rounds"]), (&json!("limit:rounds"), &json!(3)), "{end}");
    let end = run("tokens", ["--tokens", "31"]);
    assert_eq!((&end["outcome"], &end["rounds"]), (&json!("limit:tokens"), &json!(3)), "{end}");
    let end = run("all", ["--rounds", "100"]);
    assert_eq!((&end["outcome"], &end["rounds"]), (&json!("answered"), &json!(10)), "{end}");
    let said: Value = serde_json::from_str(end["answer"].as_str().unwrap()).unwrap();
    let expected = json!(["scripted", true, 401, 404, 400, 400, 200, 4, true, true]);
    assert_eq!(said, expected);
    let sent = server.requests();
    assert!(sent.iter().all(|request| request.body["model"] == "scripted"), "the run's model");
}
