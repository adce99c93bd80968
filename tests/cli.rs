//! The command line as a user meets it: whole outputs, exit codes, bad input.

mod common;

use std::fmt::Write as _;

use common::{Place, transcripts};
use serde_json::{Value, json};
use wildgym_support::{ScriptedServer, calls, final_answer, says, status};

/// Each row is a mistake, the exit code, and what the answer must say.
#[test]
fn mistakes_get_an_answer_that_helps() {
    let place = Place::new();
    let suite = place.suite(2);
    let suite = suite.to_str().unwrap();
    let table: &[(&[&str], &[&str])] = &[
        (
            &["run", "nowhere"],
            &[
                "error: there is no suite `nowhere`",
                "hint: built-in suites are `enterprise`, `faults25`, `starter`",
            ],
        ),
        (
            &["run", suite, "--tasks", "x-*"],
            &["no task of suite `tiny` is selected", "wildgym tasks list tiny"],
        ),
        (&["run", suite, "--tasks", "{"], &["`--tasks {`"]),
        (&["run", suite, "--agent", "react"], &["agent `react` needs a model", "--model NAME"]),
        (&["run", suite, "--agent", "silent", "--model", "m"], &["agent `silent` uses no model"]),
        (&["run", suite, "--model", "m"], &["`OPENAI_API_KEY` is not set", "--api-key-env"]),
        (&["run", suite, "--model", "m", "--base-url", "ftp://x"], &["`ftp://x`"]),
        (
            &["run", suite, "--idealise", "haste"],
            &["`haste` is no factor; expected one of hidden-information"],
        ),
        (&["run", suite, "--name", "../x"], &["`../x` cannot name a run"]),
        (&["run", suite, "-k", "0"], &["invalid value '0'", "1..=100000"]),
        (
            &["run", suite, "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--extra", "[]"],
            &["`--extra` is not a JSON object"],
        ),
        (
            &["run", suite, "--model", "m", "--base-url", "http://127.0.0.1:9/v1"],
            &["nobody listens at `http://127.0.0.1:9/v1`", "--base-url"],
        ),
        (&["run", suite, "--base-url", "http://127.0.0.1:9/v1"], &["--model <NAME>"]),
        (&["resume", "nowhere"], &["there is no run in `nowhere`", "hint:"]),
        (&["report", "."], &["there is no run in `.`"]),
        (&["show", "nowhere", "x"], &["there is no run in `nowhere`"]),
        (&["tools", "show", "scrap"], &["there is no tool `scrap`; the nearest is `scrape`"]),
        (&["tasks", "show", suite, "t-009"], &["suite `tiny` has no task `t-009`"]),
        (&["tasks", "new", suite], &["error:"]),
        (&["frobnicate"], &["unrecognized subcommand 'frobnicate'"]),
    ];
    for (args, says) in table {
        let ran = place.wildgym(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out, "", "{args:?}: data where there is none");
        for text in *says {
            assert!(ran.err.contains(text), "{args:?} must say `{text}`:\n{}", ran.err);
        }
    }
    assert!(!place.path().join("runs").exists(), "a mistake leaves nothing behind");
}

/// A run under a model, from the first command to the export: what a researcher sees.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_a_model_is_recorded_shown_and_exported() {
    let model = ScriptedServer::start(|request| match request.round {
        1 => calls([
            ("c1", "execute_code", json!({"code": "1 + 1"})),
            ("c2", "no_such_tool", json!({"x": 1})),
        ]),
        2 => says("I think I am done."),
        _ => final_answer("Done"),
    })
    .await;
    let place = Place::new();
    let (suite, url) = (place.suite(2), model.base_url());
    let ran = place.wildgym(&[
        "run",
        suite.to_str().unwrap(),
        "--model",
        "m/1",
        "--base-url",
        &url,
        "-k",
        "2",
        "--name",
        "r",
        "--json",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    assert_eq!(report["trials"]["pass"], 4);
    assert_eq!(report["scores"]["overall"]["tasks"], 2);
    assert_eq!(report["scores"]["overall"]["k"], 2);
    assert_eq!(report["scores"]["by_scenario"]["data-analysis"]["pass_hat_k"]["value"], 1.0);
    assert_eq!(report["scores"]["overall"]["avg_at_k"]["ci95"], Value::Null, "below ten tasks");
    assert!(ran.err.contains("4/4 trials"), "{}", ran.err);
    let all = transcripts(&place.path().join("runs/r"));
    assert!(all.contains_key("react-m-1/t-001/full/2.1.jsonl"), "{:?}", all.keys());

    let again = place.wildgym(&["report", "runs/r", "--json"]);
    assert_eq!(again.json()["trials"], report["trials"], "the report follows from the store");

    let shown = place.wildgym(&["show", "runs/r", "t-001/2"]);
    for text in
        ["t-001", "execute_code", "no_such_tool", "the tools are", "I think I am done", "answered"]
    {
        assert!(shown.out.contains(text), "`{text}` in:\n{}", shown.out);
    }
    let list = place.wildgym(&["show", "runs/r", "--state", "pass", "--state", "lost"]);
    assert_eq!(list.out.lines().count(), 1 + 4, "headings and four that passed:\n{}", list.out);
    let none = place.wildgym(&["show", "runs/r", "--state", "fail"]);
    assert_eq!((none.out.as_str(), none.err.trim()), ("", "no trial is fail"));
    let fourth = place.wildgym(&["show", "runs/r", "t-001/2", "--attempt", "4"]);
    assert!(fourth.err.contains("t-001/full/2` has 1 attempt\n"), "{}", fourth.err);
    let exported = place.wildgym(&["export", "runs/r", "--format", "messages"]);
    let lines: Vec<Value> =
        exported.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    let roles: Vec<&str> = lines[0]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    let want = ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant"];
    assert_eq!(roles, want);
    assert_eq!(model.violations(), Vec::<String>::new(), "a strict endpoint has no complaint");
}

/// An endpoint that refuses every request: the trials are lost, said so, and counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusing_endpoint_loses_trials_and_no_run() {
    let model = ScriptedServer::start(|_| status(401)).await;
    let place = Place::new();
    let (suite, url) = (place.suite(1), model.base_url());
    let ran = place.wildgym(&Place::asking(&suite, &url, &["-k", "1", "--name", "r", "--json"]));
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(ran.json()["trials"]["lost"], 1);
    assert!(ran.err.contains("lost:model") && ran.err.contains("401"), "{}", ran.err);
}

/// An endpoint that fails every attempt stops the run instead of eating it up; once it
/// is mended, `resume` goes on, even at another address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_endpoint_stops_the_run_and_resume_may_move_it() {
    let dead = ScriptedServer::start(|_| status(404)).await;
    let place = Place::new();
    let (suite, url) = (place.suite(30), dead.base_url());
    let ran = place.wildgym(&Place::asking(
        &suite,
        &url,
        &["-k", "1", "--concurrency", "1", "--name", "r"],
    ));
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(dead.requests().len(), 10, "the run gives up after ten in a row");
    assert!(ran.err.contains("wildgym resume runs/r"), "{}", ran.err);
    let mended = ScriptedServer::start(|_| final_answer("done")).await;
    let url = mended.base_url();
    let resumed = place.wildgym(&["resume", "runs/r", "--base-url", &url, "--json", "-q"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    assert_eq!(resumed.json()["trials"]["pass"], 30, "{}", resumed.out);
}

/// Runs that begin in the same second get names of their own.
#[test]
fn default_names_never_collide() {
    let place = Place::new();
    let suite = place.suite(1);
    let args = ["run", suite.to_str().unwrap(), "--agent", "silent", "-k", "1", "-q"];
    let mut all: Vec<_> = (0..3).map(|_| place.start(&args)).collect();
    assert!(all.iter_mut().all(|child| child.wait().unwrap().code() == Some(0)));
    assert_eq!(std::fs::read_dir(place.path().join("runs")).unwrap().count(), 3);
}

/// A second writer is told who holds the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_writer_at_a_time() {
    let model = ScriptedServer::start(|_| wildgym_support::hang()).await;
    let place = Place::new();
    let (suite, url) = (place.suite(1), model.base_url());
    let mut first = place.start(&Place::asking(&suite, &url, &["--name", "r", "-q"]));
    while model.in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    let second = place.wildgym(&["resume", "runs/r"]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(second.code, Some(2));
    let holder = format!("`runs/r` is being written by process {}", first.id());
    assert!(second.err.contains(&holder), "{}", second.err);
}

/// Limits are outcomes of their own and count as fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_end_attempts_each_under_its_name() {
    let model = ScriptedServer::start(|_| {
        calls([("c1", "execute_code", json!({"code": "while True: pass"}))]).usage(600, 400)
    })
    .await;
    let place = Place::new();
    let (suite, url) = (place.suite(1), model.base_url());
    let table: &[(&str, &[&str])] = &[
        ("limit:rounds", &["--rounds", "2", "--call-seconds", "1"]),
        ("limit:tokens", &["--tokens", "1500", "--call-seconds", "1"]),
        ("limit:time", &["--seconds", "1"]),
    ];
    for (outcome, limits) in table {
        let name = outcome.replace(':', "-");
        let mut args = Place::asking(&suite, &url, &["-k", "1", "--name", &name, "--json", "-q"]);
        args.extend_from_slice(limits);
        let ran = place.wildgym(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.json()["trials"]["fail"], 1, "{outcome}");
        let all = transcripts(&place.path().join("runs").join(name));
        let text = all.values().next().unwrap();
        assert!(text.contains(&format!("\"outcome\":\"{outcome}\"")), "{outcome}: {text}");
    }
}

/// Ctrl-C closes what runs; the rest waits for `resume`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_run_is_closed_and_resumed() {
    let answer = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let model = ScriptedServer::start({
        let answer = answer.clone();
        move |_| {
            let hangs = !answer.load(std::sync::atomic::Ordering::SeqCst);
            if hangs { wildgym_support::hang() } else { final_answer("done") }
        }
    })
    .await;
    let place = Place::new();
    let (suite, url) = (place.suite(3), model.base_url());
    let mut child = place.start(&Place::asking(
        &suite,
        &url,
        &["-k", "1", "--name", "r", "--concurrency", "2", "-q"],
    ));
    while model.in_flight() < 2 {
        tokio::task::yield_now().await;
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let all = transcripts(&place.path().join("runs/r"));
    assert_eq!(all.len(), 2);
    assert!(all.values().all(|text| text.contains("\"outcome\":\"lost:interrupted\"")));
    answer.store(true, std::sync::atomic::Ordering::SeqCst);
    let resumed = place.wildgym(&["resume", "runs/r", "--json"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    assert_eq!(resumed.json()["trials"]["pass"], 3, "{}", resumed.out);
}

/// A PDF of one page that says `text`.
fn pdf(text: &str) -> Vec<u8> {
    let content = format!("BT /F 20 Tf 50 700 Td ({text}) Tj ET");
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>\
         /Contents 5 0 R>>"
            .to_owned(),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
        format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()),
    ];
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", out.len());
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).as_bytes());
    }
    let start = out.len();
    let size = objects.len() + 1;
    let end = format!("trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n");
    out.extend(format!("{table}{end}").as_bytes());
    out
}

/// A forerunner poured a PDF's bytes out as text; a paper found is a paper read.
#[test]
fn a_paper_is_found_and_its_pdf_is_read() {
    let place = Place::new();
    let suite = place.suite(1);
    let journal = suite.join("sites/journal.example");
    std::fs::create_dir_all(journal.join("pages")).unwrap();
    std::fs::write(journal.join("site.toml"), "title = \"Letters\"\nlanguage = \"en\"\n").unwrap();
    let page = "<meta name=citation_title content='Seiches'><meta name=citation_pdf_url \
                content=/seiches.pdf><h1>Seiches</h1><p>Abstract.";
    std::fs::write(journal.join("pages/seiches.html"), page).unwrap();
    std::fs::write(journal.join("pages/seiches.pdf"), pdf("Waves of 4.2 minutes")).unwrap();
    let call = |tool: &str, arguments: Value| {
        let arguments = arguments.to_string();
        place.wildgym(&["tools", "call", tool, &arguments, "--suite", suite.to_str().unwrap()])
    };
    let found = call("google_scholar", json!({"query": ["seiches"]}));
    assert!(found.out.contains("PDF: https://journal.example/seiches.pdf"), "{}", found.out);
    let read = call("scrape", json!({"url": "https://journal.example/seiches.pdf"}));
    let want = ["URL: https://journal.example/seiches.pdf\nThis is a PDF", "Waves of 4.2 minutes"];
    assert!(want.iter().all(|want| read.out.contains(want)), "{}{}", read.out, read.err);
}
