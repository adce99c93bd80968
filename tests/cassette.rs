//! Cassettes: what was recorded replays without an endpoint, to the byte; what differs is
//! named; what is damaged is an error and never a wrong reply.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use camino::Utf8Path;
use common::{Place, timeless, transcripts, verdicts};
use serde_json::{Value, json};
use wildgym::model::{
    Cassette, CassetteError, Endpoint, Exchange, Message, Model, ModelError, Offered, Retrying,
    Secret, Settings,
};
use wildgym_support::{
    Request, Response, ScriptedServer, calls, final_answer, hang, json as body, raw, says, status,
};

/// Every way for an attempt to go: k = 1 passes through several rounds with parallel calls
/// and errors, 2 meets a passing error of the endpoint, 3 overflows its context, 4 is lost
/// and attempted again.
fn everything(request: &Request) -> Response {
    let trial = &request.headers["x-wildgym-trial"];
    let first = request.headers["x-wildgym-attempt"] == "1";
    let k = trial.rsplit('/').next().unwrap();
    match (k, request.round) {
        (_, 1) => calls([
            ("a", "execute_code", json!({"code": "import random\nprint(random.random())"})),
            ("b", "search_serper", json!({"query": "high water"})),
            ("c", "no_such_tool", json!({})),
        ]),
        ("2", 2) => says("").edit(|body| body["choices"] = json!([])),
        ("3", 2) => {
            status(400).edit(|body| body["error"]["message"] = "maximum context length".into())
        }
        ("4", 2) if first => status(422).edit(|body| body["error"]["message"] = "not today".into()),
        (_, 2) => {
            raw(r#"{"choices":[{"message":{"content":"half \ud83d"},"finish_reason":"stop"}]}"#
                .as_bytes())
        }
        (_, 3) => says(r#"{"name": "execute_code", "arguments": {"code": "print(6 * 7)"}}"#),
        _ => final_answer(trial),
    }
}

/// Returns transcripts without what depends on the machine or the hour, by path.
fn comparable(run: &Path) -> BTreeMap<String, String> {
    transcripts(run).into_iter().map(|(path, text)| (path, timeless(&text))).collect()
}

/// Returns verdicts without times, in a fixed order.
fn judged(run: &Path) -> Vec<String> {
    let mut all: Vec<String> = verdicts(run)
        .into_iter()
        .map(|mut verdict| {
            verdict.as_object_mut().unwrap().remove("t");
            verdict.to_string()
        })
        .collect();
    all.sort();
    all
}

/// Returns the files of a cassette's exchanges.
fn reels(cassette: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![cassette.join("trials")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorded_run_replays_without_an_endpoint_at_any_concurrency() {
    let model = ScriptedServer::start(everything).await;
    let (place, url) = (Place::new(), model.base_url());
    let run = |name: &str, more: &[&str]| {
        let common =
            ["run", "starter", "--limit", "4", "--model", "m", "-k", "4", "--name", name, "--json"];
        place.wildgym(&[&common, more].concat())
    };
    let recorded = run("recorded", &["--base-url", &url, "--record-models", "tape"]);
    assert_eq!(recorded.code, Some(1), "k = 4 is lost: {}", recorded.err);
    let resumed = place.wildgym(&["resume", "runs/recorded", "--record-models", "tape", "--json"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    assert_eq!(model.violations(), Vec::<String>::new());
    drop(model);
    let before = comparable(&place.path().join("runs/recorded"));
    let text: String = before.values().cloned().collect();
    for part in ["limit:context", "lost:model", "not today", "no-choices", "mended-text", "bare-"] {
        assert!(text.contains(part), "the recorded run has `{part}`");
    }
    for concurrency in ["1", "8"] {
        let replay = ["--replay-models", "tape"];
        let again = run(concurrency, &[&replay[..], &["--concurrency", concurrency]].concat());
        assert_eq!(again.code, Some(0), "{}", again.err);
        assert!(again.err.contains("models replayed"), "{}", again.err);
        assert_eq!(again.json()["scores"], resumed.json()["scores"]);
        assert_eq!(again.json()["trials"], resumed.json()["trials"]);
        assert_eq!(again.json()["label"]["models_replayed"].as_str().unwrap().len(), 64);
        let folder = format!("runs/{concurrency}");
        let after = comparable(&place.path().join(&folder));
        assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        for (path, text) in &before {
            assert_eq!(&after[path], text, "{path}");
        }
        assert_eq!(
            judged(&place.path().join(&folder)),
            judged(&place.path().join("runs/recorded"))
        );
    }
    let report = place.wildgym(&["report", "runs/8"]);
    assert!(report.out.contains("model m · judge exact only: lower bound · models replayed"));
}

/// A limit on time that struck while the model was silent strikes again, without the wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_limit_is_replayed_and_takes_no_time() {
    let model = ScriptedServer::start(|_| hang()).await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(1);
    let limits = ["-k", "1", "-q", "--name"];
    let more = [&limits[..], &["a", "--seconds", "1", "--record-models", "tape"]].concat();
    assert_eq!(place.wildgym(&Place::asking(&suite, &url, &more)).code, Some(0));
    drop(model);
    let more = [&limits[..], &["b", "--seconds", "3600", "--replay-models", "tape"]].concat();
    assert_eq!(place.wildgym(&Place::asking(&suite, &url, &more)).code, Some(0));
    let (a, b) =
        (comparable(&place.path().join("runs/a")), comparable(&place.path().join("runs/b")));
    assert!(a.values().all(|text| text.contains("limit:time")));
    assert_eq!(a, b);
}

/// Records a small run and returns its place: one task whose model calls once.
async fn recorded() -> (Place, PathBuf) {
    let model = ScriptedServer::start(|request| match request.round {
        1 => {
            calls([("a", "execute_code", json!({"code": "import random\nprint(random.random())"}))])
        }
        _ => final_answer("done"),
    })
    .await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(1);
    let more = ["-k", "1", "-q", "--name", "recorded", "--record-models", "tape"];
    let ran = place.wildgym(&Place::asking(&suite, &url, &more));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    (place, suite)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_stops_the_attempt_and_is_named() {
    let (place, suite) = recorded().await;
    let replay = |name: &str, more: &[&str]| {
        let suite = suite.to_str().unwrap();
        let common = ["run", suite, "--model", "m", "-k", "1", "--replay-models", "tape"];
        place.wildgym(&[&common[..], &["--name", name], more].concat())
    };
    let table: &[(&str, &[&str], &str)] = &[
        (
            "warm",
            &["--temperature", "0.7"],
            "diverged at round 1 of `react-m/t-000/full/1` attempt 1, role `agent`: setting `temperature` was `0.6` and is `0.7`",
        ),
        (
            "seed",
            &["--seed", "1"],
            "diverged at round 2 of `react-m/t-000/full/1` attempt 1, role `agent`: message 4 (tool) was `0.",
        ),
        ("extra", &["--extra", r#"{"top_p":1}"#], "setting `top_p` is new"),
    ];
    for (name, more, said) in table {
        let ran = replay(name, more);
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.err);
        assert!(ran.err.contains(said), "{name} must say `{said}`:\n{}", ran.err);
        assert!(ran.err.contains("1 attempt diverged from the cassette"), "{}", ran.err);
    }
    fs::write(suite.join("tasks/t-000/instruction.md"), "Say that t-000 is under way.\n").unwrap();
    let ran = replay("words", &[]);
    let said = "message 2 (user) was `Say that t-000 is over.";
    assert!(
        ran.err.contains(said) && ran.err.contains("is `Say that t-000 is under way."),
        "{}",
        ran.err
    );
}

/// Damages a cassette at a path, or the one file of exchanges in it.
type Damage = fn(&Path, &Path);

/// Why, how, the exit code, and what must be said.
type Row = (&'static str, Damage, i32, &'static str);

fn lost_ends() -> Vec<Row> {
    vec![
        (
            "torn last line: as if it had not been recorded",
            |_, reel| {
                let text = fs::read_to_string(reel).unwrap();
                fs::write(reel, &text[..text.len() - 9]).unwrap();
            },
            1,
            "no exchange recorded for round 2 of `react-m/t-000/full/1`",
        ),
        (
            "missing file",
            |_, reel| fs::remove_file(reel).unwrap(),
            1,
            "no exchange recorded for round 1 of",
        ),
        (
            "empty file",
            |_, reel| fs::write(reel, "").unwrap(),
            1,
            "no exchange recorded for round 1",
        ),
    ]
}

fn garbage() -> Vec<Row> {
    vec![
        (
            "garbage in a line",
            |_, reel| {
                let text = fs::read_to_string(reel).unwrap();
                fs::write(reel, text.replacen("\"keep\"", "keep", 1)).unwrap();
            },
            1,
            "1.1.agent.jsonl` line 2:",
        ),
        ("binary garbage", |_, reel| fs::write(reel, [0xff, 0, b'\n']).unwrap(), 1, "line 1:"),
        (
            "a line taken out",
            |_, reel| {
                let text = fs::read_to_string(reel).unwrap();
                let mut lines: Vec<&str> = text.lines().collect();
                lines.remove(1);
                fs::write(reel, lines.join("\n") + "\n").unwrap();
            },
            1,
            "line 2: it repeats messages that are not there",
        ),
    ]
}

fn foreign() -> Vec<Row> {
    vec![
        (
            "another scope's file",
            |_, reel| {
                let text = fs::read_to_string(reel).unwrap();
                fs::write(reel, text.replacen("full/1", "full/2", 1)).unwrap();
            },
            1,
            "line 1: it says that it is of `react-m/t-000/full/2`",
        ),
        (
            "newer file",
            |_, reel| {
                let text = fs::read_to_string(reel).unwrap();
                fs::write(reel, text.replacen("\"format\":1", "\"format\":9", 1)).unwrap();
            },
            1,
            "has format 9, and this program reads format 1",
        ),
        (
            "a folder for a file",
            |_, reel| {
                fs::remove_file(reel).unwrap();
                fs::create_dir(reel).unwrap();
            },
            1,
            "line 1: it is no regular file",
        ),
        (
            "another reply",
            |_, reel| {
                let text = fs::read_to_string(reel).unwrap();
                fs::write(reel, text.replacen("\\\"choices\\\"", "\\\"choice\\\"", 1)).unwrap();
            },
            1,
            "the recorded reply cannot be read",
        ),
    ]
}

fn marks() -> Vec<Row> {
    vec![
        (
            "newer cassette",
            |tape, _| fs::write(tape.join("cassette.toml"), "format = 2\n").unwrap(),
            2,
            "cassette.toml` has format 2",
        ),
        (
            "damaged mark",
            |tape, _| fs::write(tape.join("cassette.toml"), "x").unwrap(),
            2,
            "cassette.toml` line 1:",
        ),
        (
            "no mark",
            |tape, _| fs::remove_file(tape.join("cassette.toml")).unwrap(),
            2,
            "there is no cassette in `tape`",
        ),
        (
            "no directory",
            |tape, _| fs::remove_dir_all(tape).unwrap(),
            2,
            "there is no cassette in `tape`",
        ),
    ]
}

/// Each row damages a cassette; the replay must say what is wrong and judge nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_is_an_error_and_never_a_reply() {
    let table = [lost_ends(), garbage(), foreign(), marks()].concat();
    let (place, suite) = recorded().await;
    let (tape, kept) = (place.path().join("tape"), place.path().join("kept"));
    fs::rename(&tape, &kept).unwrap();
    let name = reels(&kept)[0].strip_prefix(&kept).unwrap().to_owned();
    for (number, (why, damage, code, said)) in table.iter().enumerate() {
        copy(&kept, &tape);
        damage(&tape, &tape.join(&name));
        let number = number.to_string();
        let more = ["-k", "1", "--json", "--name", &number, "--replay-models", "tape"];
        let ran = place.wildgym(&Place::asking(&suite, "http://127.0.0.1:9/v1", &more));
        assert_eq!(ran.code, Some(*code), "{why}: {}", ran.err);
        assert!(ran.err.contains(said), "{why} must say `{said}`:\n{}", ran.err);
        if *code == 1 {
            assert_eq!(ran.json()["trials"]["lost"], 1, "{why}");
        }
        drop(fs::remove_dir_all(&tape));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { assert!(fs::copy(&path, &target).is_ok()) }
    }
}

/// Runs and cassettes that do not belong together are refused before anything happens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_belong_together_is_refused() {
    let (place, suite) = recorded().await;
    let suite = suite.to_str().unwrap();
    fs::create_dir(place.path().join("full")).unwrap();
    fs::write(place.path().join("full/x"), "x").unwrap();
    copy(&place.path().join("tape"), &place.path().join("other"));
    fs::remove_file(&reels(&place.path().join("other"))[0]).unwrap();
    let run = ["run", suite, "--model", "m", "-k", "1", "-q"];
    let replayed = place.wildgym(&[&run[..], &["--name", "r", "--replay-models", "tape"]].concat());
    assert_eq!(replayed.code, Some(0), "{}", replayed.err);
    let local = ["--base-url", "http://127.0.0.1:9/v1"];
    let with = |base: &[&'static str], more: &[&'static str]| [base, more].concat();
    let run_with = |more: &[&'static str]| {
        let all = [&run[..], &local, more].concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let owned = |all: Vec<&'static str>| all.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let table: Vec<(Vec<String>, &str)> = vec![
        (
            run_with(&["--record-models", "tape"]),
            "`tape/trials/react-m/t-000` holds other exchanges",
        ),
        (
            owned(vec!["run", "starter", "--agent", "reference", "--record-models", "empty"]),
            "agent `reference` uses no model, nor does judge `exact`",
        ),
        (run_with(&["--record-models", "full"]), "`full` is not empty and holds no cassette"),
        (run_with(&["--record-models", "full/x"]), "cannot access `full/x`"),
        (run_with(&["--replay-models", "full"]), "there is no cassette in `full`"),
        (run_with(&["--replay-models", "tape", "--record-models", "b"]), "cannot be used with"),
        (
            owned(with(&["resume", "runs/recorded"], &["--replay-models", "tape"])),
            "`runs/recorded` asks its models and replays none",
        ),
        (owned(vec!["resume", "runs/r"]), "`runs/r` replays its models"),
        (
            owned(with(&["resume", "runs/r"], &["--replay-models", "other"])),
            "`runs/r` began with another cassette",
        ),
    ];
    for (args, said) in table {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = place.wildgym(&args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{args:?} must say `{said}`:\n{}", ran.err);
    }
    assert!(!place.path().join("empty").exists(), "no cassette that nothing can be in");
}

// What follows speaks to the library.

fn tools(description: &str) -> Offered {
    let function = json!({ "name": "scrape", "description": description });
    Offered::new(&[json!({ "type": "function", "function": function })])
}

fn model(url: &str, cassette: &Arc<Cassette>) -> Model {
    let (base, cap) = (Duration::from_millis(1), Duration::from_millis(2));
    let retrying = Retrying { tries: 2, format_tries: 2, base, cap };
    let key = Secret::new("TEST_KEY", "sk-test-key");
    let endpoint = Endpoint::new(url, "m", Some(key), 8).unwrap();
    let model = Model::new(endpoint, Settings { retrying, ..Settings::default() }).unwrap();
    model.with_cassette(Arc::clone(cassette))
}

const NOWHERE: &str = "http://127.0.0.1:9/v1";

fn recording(folder: &Path, run: &str) -> Arc<Cassette> {
    let cassette = Cassette::record(Utf8Path::from_path(folder).unwrap()).unwrap();
    cassette.claim(run);
    Arc::new(cassette)
}

fn replaying(folder: &Path) -> Arc<Cassette> {
    Arc::new(Cassette::replay(Utf8Path::from_path(folder).unwrap()).unwrap())
}

async fn ask(model: &Model, text: &str) -> Result<Exchange, ModelError> {
    model.chat(1, &[Message::user(text)], &tools("d"), None).await
}

/// Takes out what depends on the hour.
fn still(ended: Result<Exchange, ModelError>) -> Result<Exchange, String> {
    let zero = Duration::ZERO;
    ended
        .map(|exchange| Exchange { retries: Vec::new(), took: zero, waited: zero, ..exchange })
        .map_err(|error| {
            format!(
                "{error} {:?} {}",
                error.failure().map(|f| &f.body),
                matches!(error, ModelError::Gone(_))
            )
        })
}

#[tokio::test]
async fn every_end_of_an_exchange_comes_back_as_it_was() {
    let error = |code: u16, said: &'static str| {
        status(code).edit(move |body| body["error"]["message"] = said.into())
    };
    let table = [
        ("reply", says("hi")),
        ("refused, with a hint", status(401)),
        ("overflow", error(400, "maximum context length is 4096")),
        ("gone, in two tries", status(500)),
        ("filtered", error(400, "content_filter")),
        ("unreadable output", error(500, "does not match the expected format")),
        ("no choices", body(json!({"choices": []}))),
        ("the key repeated", says("you sent sk-test-key")),
        ("the key in an error", error(401, "bad key sk-test-key")),
        (
            "bytes that are no text",
            raw(b"{\"choices\":[{\"message\":{\"content\":\"\xe9\"}}]}".to_vec()),
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let responses = table.clone();
    let server = ScriptedServer::start(move |request| {
        responses[request.key.parse::<usize>().unwrap()].1.clone()
    })
    .await;
    let live = model(&server.base_url(), &recording(folder.path(), "r")).scoped("t/1", 1, "agent");
    let mut ended = Vec::new();
    for number in 0..table.len() {
        ended.push(still(ask(&live, &number.to_string()).await));
    }
    let asked = server.requests().len();
    let again = model(&server.base_url(), &replaying(folder.path())).scoped("t/1", 1, "agent");
    for (number, (why, _)) in table.iter().enumerate() {
        assert_eq!(still(ask(&again, &number.to_string()).await), ended[number], "{why}");
    }
    assert_eq!(server.requests().len(), asked, "a replay asks nobody");
    let kept = fs::read_to_string(&reels(folder.path())[0]).unwrap();
    assert!(!kept.contains("sk-test-key") && kept.contains("[key]"), "no key is ever kept");
    let error = ask(&again, "more").await.unwrap_err().to_string();
    assert_eq!(error, "no exchange recorded for round 11 of `t/1` attempt 1, role `agent`");
    let unscoped = ask(&model(NOWHERE, &replaying(folder.path())), "0").await.unwrap_err();
    assert_eq!(unscoped, ModelError::Cassette(Box::new(CassetteError::Unscoped)));
}

#[tokio::test]
async fn other_tools_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|_| says("hi")).await;
    let live = model(&server.base_url(), &recording(folder.path(), "r")).scoped("t", 1, "agent");
    ask(&live, "x").await.unwrap();
    let again = model(NOWHERE, &replaying(folder.path())).scoped("t", 1, "agent");
    let ended = again.chat(1, &[Message::user("x")], &tools("another"), None).await;
    let error = ended.unwrap_err().to_string();
    let said = "diverged at round 1 of `t` attempt 1, role `agent`: tool `scrape` was described as";
    assert!(error.starts_with(said) && error.contains("another"), "{error}");
}

/// Roles that ask at the same time do not disturb each other's order, and who takes a
/// scope a second time counts on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_have_numbers_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|request| {
        let wait = Duration::from_millis((request.number % 5) as u64);
        says(&request.key).after(wait)
    })
    .await;
    let vote = |model: Model| async move {
        let roles = (1..=5).map(|number| {
            let model = model.clone();
            async move {
                let role = format!("judge-{number}");
                for round in 1..=3 {
                    let scoped = model.scoped("t/full/1", 1, &role);
                    let text = format!("{role} asks {round}");
                    let got = ask(&scoped, &text).await.unwrap();
                    assert_eq!(got.reply.content.as_deref(), Some(text.as_str()));
                }
            }
        });
        futures::future::join_all(roles).await;
    };
    vote(model(&server.base_url(), &recording(folder.path(), "r"))).await;
    assert_eq!(reels(folder.path()).len(), 5);
    drop(server);
    let again = replaying(folder.path());
    vote(model(NOWHERE, &again)).await;
    assert_eq!(again.met().served, 15);
}

/// While recording, everything is asked: what is recorded may be a failure that is mended.
/// A replay serves the last session that the endpoint did not break. Another run never gets
/// at it.
#[tokio::test]
async fn recording_asks_again_for_the_same_run_only() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|request| match request.number {
        // Of the last session the endpoint breaks the end.
        5.. => status(403),
        number => says(&number.to_string()),
    })
    .await;
    let begin =
        |run: &str| model(&server.base_url(), &recording(folder.path(), run)).scoped("c/t", 1, "j");
    let said = |ended: Result<Exchange, ModelError>| ended.unwrap().reply.content.unwrap();
    let first = begin("one");
    let asked = said(ask(&first, "a").await);
    drop(first);
    let reel = &reels(folder.path())[0];
    let torn = fs::read_to_string(reel).unwrap() + "{\"n\":2,\"requ";
    fs::write(reel, torn).unwrap();
    let second = begin("one");
    let (a, b) = (said(ask(&second, "a").await), said(ask(&second, "b").await));
    assert_ne!(asked, a, "asked again");
    drop(second);
    assert!(ask(&begin("one"), "other words").await.is_ok(), "as another judge may ask");
    let broken = begin("one");
    assert!(ask(&broken, "a").await.is_err());
    for run in ["two", ""] {
        let error = ask(&begin(run), "a").await.unwrap_err().to_string();
        assert!(error.contains("holds other exchanges; record into another"), "{run}: {error}");
    }
    assert_eq!(server.requests().len(), 5);
    let again = model(NOWHERE, &replaying(folder.path())).scoped("c/t", 1, "j");
    assert_eq!(said(ask(&again, "a").await), a);
    assert_eq!(said(ask(&again, "b").await), b);
}

/// Answers as agent and as judge; `state` says how the judge is.
fn with_judge(request: &Request, state: u8) -> Response {
    if request.headers["x-wildgym-role"] == "agent" {
        return final_answer("It is done, I think");
    }
    let first = request.headers["x-wildgym-trial"] == "preflight";
    let right = !request.key.contains("Dunmere");
    let verdict = if right { "correct" } else { "incorrect" };
    match (state, first) {
        (DOWN, _) | (TIRED, false) => status(403),
        (BABBLING, false) => says("hmm"),
        // A right answer is called wrong, which the first questions find out.
        (WRONG, _) => says(r#"{"reason":"r","verdict":"incorrect"}"#),
        _ => says(&json!({ "reason": "r", "verdict": verdict }).to_string()),
    }
}

/// The judge gives no reply at all, or only to the first questions, or no verdicts, or wrong
/// ones, or it is well.
const DOWN: u8 = 0;
const TIRED: u8 = 1;
const BABBLING: u8 = 2;
const WRONG: u8 = 3;
const WELL: u8 = 4;

/// What broke while a tape was recorded is on it no more when it is mended, whichever
/// command goes on, and the tape replays to the mended verdicts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tape_keeps_no_failure_that_was_mended() {
    let state = Arc::new(AtomicU8::new(WELL));
    let server = {
        let state = Arc::clone(&state);
        ScriptedServer::start(move |request| with_judge(request, state.load(Ordering::SeqCst)))
            .await
    };
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(2);
    let run = |name: &str, more: &[&str]| {
        let common = ["-k", "2", "--judge-model", "j", "--json", "--name", name];
        place.wildgym(&Place::asking(&suite, &url, &[&common, more].concat()))
    };
    let table: &[(&str, &[u8], &[&str])] = &[
        ("tired", &[TIRED], &["resume"]),
        ("babbling", &[BABBLING], &["rejudge"]),
        ("refused-at-first", &[DOWN, WRONG, TIRED], &["resume"]),
    ];
    for (name, before, command) in table {
        let tape = format!("tape-{name}");
        let mut code = None;
        for &broken in *before {
            state.store(broken, Ordering::SeqCst);
            code = run(name, &["--record-models", &tape]).code;
        }
        assert_eq!(code, Some(1), "{name}: unjudged");
        let runs = format!("runs/{name}");
        let go_on = [command[0], &runs, "--record-models", &tape, "--json"];
        // Whether the judge is well is asked, not looked up, and a failure is not kept.
        state.store(WRONG, Ordering::SeqCst);
        let failed = place.wildgym(&go_on);
        assert_eq!(failed.code, Some(2), "{name}: {}", failed.err);
        assert!(failed.err.contains("called a right answer incorrect"), "{}", failed.err);
        state.store(WELL, Ordering::SeqCst);
        let mended = place.wildgym(&go_on);
        assert_eq!(mended.code, Some(0), "{name}: {}", mended.err);
        assert_eq!(mended.json()["trials"]["pass"], 4, "{name}");
        state.store(DOWN, Ordering::SeqCst);
        let again = run(&format!("{name}-again"), &["--replay-models", &tape]);
        assert_eq!(again.code, Some(0), "{name}: {}", again.err);
        assert_eq!(again.json()["scores"], mended.json()["scores"], "{name}");
    }
}

/// A second judge is recorded beside the first, and each replays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn judges_share_a_tape() {
    let server = ScriptedServer::start(|request| {
        let first = request.headers.get("x-wildgym-trial").is_some_and(|name| name == "preflight");
        with_judge(request, if request.body["model"] == "sour" && !first { WRONG } else { WELL })
    })
    .await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(1);
    let base = ["-k", "1", "--judge-model", "kind", "--json", "--name"];
    let more = [&base[..], &["r", "--record-models", "tape"]].concat();
    assert_eq!(place.wildgym(&Place::asking(&suite, &url, &more)).json()["trials"]["pass"], 1);
    let sour = ["rejudge", "runs/r", "--json", "--judge-model", "sour"];
    let place_of = ["--judge-base-url", &url, "--record-models", "tape"];
    let recorded = place.wildgym(&[&sour[..], &place_of].concat());
    assert_eq!(recorded.json()["trials"]["fail"], 1, "{}", recorded.err);
    drop(server);
    let more = [&base[..], &["again", "--replay-models", "tape"]].concat();
    assert_eq!(place.wildgym(&Place::asking(&suite, &url, &more)).json()["trials"]["pass"], 1);
    let sour = ["rejudge", "runs/again", "--json", "--judge-model", "sour"];
    let again = place.wildgym(&[&sour[..], &["--replay-models", "tape"]].concat());
    assert_eq!(again.json()["trials"]["fail"], 1, "{}", again.err);
}

/// What a digest would pass over is never served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_are_refused_and_other_models_named() {
    let (place, suite) = recorded().await;
    let replay = |model: &str, flag: &str| {
        let suite = suite.to_str().unwrap();
        place.wildgym(&["run", suite, "--model", model, "-k", "1", "--name", "x", flag, "tape"])
    };
    let other = replay("other", "--replay-models");
    assert_eq!(other.code, Some(2));
    let said = "no exchange recorded for `react-other`: the cassette holds `react-m`";
    assert!(other.err.contains(said), "{}", other.err);
    let tape = place.path().join("tape");
    fs::rename(tape.join("trials/react-m"), place.path().join("react-m")).unwrap();
    std::os::unix::fs::symlink("../../react-m", tape.join("trials/react-m")).unwrap();
    for flag in ["--replay-models", "--record-models"] {
        let ran = replay("m", flag);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("`tape/trials/react-m` is neither a file nor"), "{}", ran.err);
    }
}

/// A file grows with its conversation, not with the square of it.
#[tokio::test]
async fn sixty_rounds_take_little_more_than_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|request| {
        says(&format!("{} {}", request.round, "word ".repeat(200)))
    })
    .await;
    let talk = |model: Model| async move {
        let mut messages = vec![Message::system("s"), Message::user("begin")];
        for _ in 0..60 {
            let got = model.chat(1, &messages, &tools("d"), None).await.unwrap();
            messages.push(got.echo);
            messages.push(Message::user(&"more ".repeat(200)));
        }
        messages.iter().map(|message| message.as_json().len()).sum::<usize>()
    };
    let said =
        talk(model(&server.base_url(), &recording(folder.path(), "r")).scoped("t", 1, "a")).await;
    let kept = fs::metadata(&reels(folder.path())[0]).unwrap().len();
    let kept = usize::try_from(kept).unwrap();
    assert!(kept < said * 2, "{kept} bytes keep {said} of conversation");
    drop(server);
    talk(model(NOWHERE, &replaying(folder.path())).scoped("t", 1, "a")).await;
    let lines = fs::read_to_string(&reels(folder.path())[0]).unwrap();
    let line: Value = serde_json::from_str(lines.lines().nth(60).unwrap()).unwrap();
    assert_eq!(line["n"], 60);
    assert_eq!(line["request"]["keep"], 118, "what the requests before it hold is not repeated");
}
