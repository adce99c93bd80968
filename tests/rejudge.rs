//! Judges with models as a user meets them: runs, kills, and judging from the store alone.
#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{Place, transcripts};
use serde_json::{Value, json};
use wildgym_support::{Request, Response, ScriptedServer, final_answer, hang, says, status};

/// The agent's answers: odd tasks are done, even ones are not; in sentences, so that a
/// model has to judge.
fn agent(request: &Request) -> Response {
    let odd = ["t-001", "t-003", "t-005", "t-007"];
    let done = odd.iter().any(|id| request.key.contains(id));
    final_answer(if done { "It is done, I think" } else { "It is far from over" })
}

fn is_judge(request: &Request) -> bool {
    request.headers["x-wildgym-role"].starts_with("judge")
}

/// A judge that reads: right is what names the reference.
fn judge(request: &Request) -> Response {
    let sent: Value = serde_json::from_str(&request.key).unwrap_or_default();
    let value = sent["reference"]["value"].as_str().unwrap_or("?");
    let right = sent["answer"].as_str().is_some_and(|answer| answer.contains(value));
    let verdict = if right { "correct" } else { "incorrect" };
    says(&json!({ "reason": "It says so.", "verdict": verdict }).to_string()).usage(200, 20)
}

fn both(request: &Request) -> Response {
    if is_judge(request) { judge(request) } else { agent(request) }
}

/// Returns the lines of each file of verdicts, by the judge's name.
fn verdicts(run: &Path) -> Vec<(String, Vec<Value>)> {
    let mut found: Vec<(String, Vec<Value>)> = fs::read_dir(run.join("verdicts"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), lines)
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn of_role(server: &ScriptedServer, judges: bool) -> usize {
    server.requests().iter().filter(|request| is_judge(request) == judges).count()
}

/// A run with a judge: what it costs, what is kept, what is shown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_judged_by_a_model() {
    let server = ScriptedServer::start(both).await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(4);
    let more = ["--judge-model", "org/j", "--judge-votes", "3", "-k", "2", "--name", "r", "--json"];
    let ran = place.wildgym(&Place::asking(&suite, &url, &more));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    assert_eq!((&report["trials"]["pass"], &report["trials"]["fail"]), (&json!(4), &json!(4)));
    let name = report["label"]["judge"].as_str().unwrap().to_owned();
    assert!(name.starts_with("llm-org-j-v3-"), "{name}");
    assert_ne!(report["label"]["judge_note"], "exact only: lower bound");
    assert!(ran.err.contains(&format!("judge {name}")), "{}", ran.err);
    assert_eq!(of_role(&server, false), 8, "one round a trial");
    assert_eq!(of_role(&server, true), 3 + 8 * 2, "three first questions, two votes that agree");
    assert_eq!(server.violations(), Vec::<String>::new());

    let run = place.path().join("runs/r");
    let stored = verdicts(&run);
    assert_eq!((stored.len(), stored[0].0.as_str()), (1, name.as_str()));
    assert_eq!(stored[0].1.len(), 8);
    for line in &stored[0].1 {
        let votes = line["votes"].as_array().unwrap();
        assert_eq!(votes.len(), 2);
        for (index, vote) in votes.iter().enumerate() {
            assert_eq!(vote["number"], index + 1);
            assert_eq!((&vote["model"], &vote["usage"]["input"]), (&json!("org/j"), &json!(200)));
            let blob = vote["request"]["blob"].as_str().expect("a request is longer than 4 KiB");
            let bytes = fs::read(run.join("blobs").join(blob)).unwrap();
            assert_eq!(vote["digest"], blake3::hash(&bytes).to_hex().to_string());
            assert!(vote["reply"].as_str().unwrap().contains("It says so."), "{vote}");
        }
    }
    let shown = place.wildgym(&["show", "runs/r", "t-001/1"]);
    for text in [
        "verdict of llm-org-j",
        "judged correct: It says so.",
        "2 of 3 votes cast, 2 agree",
        "vote 2 · org/j · 200 + 20 tokens · correct",
    ] {
        assert!(shown.out.contains(text), "`{text}` in:\n{}", shown.out);
    }
    let table = place.wildgym(&["report", "runs/r"]);
    assert!(table.out.contains(&format!("judge {name}")), "{}", table.out);
    let nothing =
        place.wildgym(&["rejudge", "runs/r", "-q", "--judge-base-url", "http://127.0.0.1:9/v1"]);
    assert_eq!(nothing.code, Some(0), "nothing is left, nobody is asked: {}", nothing.err);
    let resumed = place.wildgym(&["resume", "runs/r", "-q"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    assert_eq!(of_role(&server, true), 3 + 8 * 2);
}

/// The judge's endpoint dies in the middle of a run: every outcome is kept, and judging it
/// later asks no agent and nothing twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_judge_loses_no_outcome() {
    let acting = ScriptedServer::start(agent).await;
    // Three first questions and two verdicts, then silence.
    let script = |r: &Request| if r.number <= 5 { judge(r) } else { hang() };
    // A runtime of its own, so that its connections die with it as those of a process do.
    let life = tokio::runtime::Runtime::new().unwrap();
    let dying = life.spawn(ScriptedServer::start(script)).await.unwrap();
    let (place, url, judge_url) = (Place::new(), acting.base_url(), dying.base_url());
    let suite = place.suite(8);
    let more = ["--judge-model", "j", "--judge-base-url", &judge_url, "-k", "2", "--name", "r"];
    let mut child = place.start(&Place::asking(&suite, &url, &more));
    while of_role(&dying, true) < 7 || of_role(&acting, false) < 16 {
        assert!(child.try_wait().unwrap().is_none(), "the run waits for its judge");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(dying);
    life.shutdown_background();
    let code = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    assert_eq!(code.code(), Some(1), "some trials are unjudged");

    let run = place.path().join("runs/r");
    let (before, config) = (transcripts(&run), fs::read(run.join("run.toml")).unwrap());
    assert_eq!(before.len(), 16);
    assert!(before.values().all(|text| common::is_finished(text)), "no outcome is lost");
    let kept = verdicts(&run)[0].1.clone();
    let decided = kept.iter().filter(|line| line["verdict"] != "unjudged").count();
    assert_eq!(decided, 2, "{kept:#?}");
    let failed = kept.iter().find(|line| line["verdict"] == "unjudged").unwrap();
    assert!(failed["votes"][0]["reason"].as_str().unwrap().contains("tries"), "{failed}");
    let report = place.wildgym(&["report", "runs/r", "--json"]);
    assert_eq!((report.code, &report.json()["trials"]["unjudged"]), (Some(1), &json!(14)));

    let still = place.wildgym(&["rejudge", "runs/r"]);
    assert_eq!(still.code, Some(2), "{}", still.err);
    assert!(still.err.contains("nobody listens at") && still.err.contains("--judge-base-url"));
    assert_eq!(verdicts(&run)[0].1, kept, "a judge that is down adds nothing");

    let mended = ScriptedServer::start(judge).await;
    let done =
        place.wildgym(&["rejudge", "runs/r", "--judge-base-url", &mended.base_url(), "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let trials = &done.json()["trials"];
    assert_eq!((&trials["pass"], &trials["fail"]), (&json!(8), &json!(8)), "{trials}");
    assert_eq!(of_role(&mended, true), 3 + 14, "what had a verdict is not asked again");
    assert_eq!(of_role(&mended, false), 0, "no agent is called");
    assert_eq!(of_role(&acting, false), 16, "no agent is called");
    assert_eq!(transcripts(&run), before, "no transcript is touched");
    assert_eq!(fs::read(run.join("run.toml")).unwrap(), config);
    assert_eq!(verdicts(&run)[0].1[..kept.len()], kept[..], "appended only");
}

/// Another judge writes a file of its own; a report chooses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_judge_judges_the_same_run() {
    let server = ScriptedServer::start(both).await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(4);
    let ran = place.wildgym(&Place::asking(&suite, &url, &["-k", "1", "--name", "r", "--json"]));
    assert_eq!(ran.json()["trials"]["fail"], 4, "sentences are not equal to the reference");
    assert_eq!(ran.json()["label"]["judge_note"], "exact only: lower bound");
    assert!(ran.err.contains("judge exact (no judge model: a lower bound)"), "{}", ran.err);

    let by = ["rejudge", "runs/r", "--judge-model", "j", "--judge-base-url", &url, "--json"];
    let judged = place.wildgym(&by);
    assert_eq!(judged.code, Some(0), "{}", judged.err);
    assert_eq!(judged.json()["trials"]["pass"], 2);
    let name = judged.json()["label"]["judge"].as_str().unwrap().to_owned();
    assert_eq!((of_role(&server, true), of_role(&server, false)), (3 + 4, 4));
    let again = place.wildgym(&by);
    assert_eq!(again.json(), judged.json());
    assert!(again.err.contains("has a verdict on every answer"), "{}", again.err);
    assert_eq!(of_role(&server, true), 3 + 4, "what it has judged is not asked again");
    let anew = place.wildgym(&[&by[..], &["--all"]].concat());
    for what in ["trials", "scores"] {
        assert_eq!(anew.json()[what], judged.json()[what]);
    }
    assert_eq!(of_role(&server, true), 2 * (3 + 4));

    let run = place.path().join("runs/r");
    let stored: Vec<(String, usize)> =
        verdicts(&run).into_iter().map(|(name, lines)| (name, lines.len())).collect();
    assert_eq!(stored, [("exact".to_owned(), 4), (name.clone(), 8)]);
    let pass = |args: &[&str]| place.wildgym(args).json()["trials"]["pass"].clone();
    assert_eq!(pass(&["report", "runs/r", "--json"]), 0, "by default the run's own judge");
    assert_eq!(pass(&["report", "runs/r", "--json", "--judge", &name]), 2);
    for strange in ["llm-x", "../../run", ""] {
        let ran = place.wildgym(&["report", "runs/r", "--judge", strange]);
        assert_eq!(ran.code, Some(2), "{}", ran.out);
        assert!(ran.err.contains(&format!("there are `exact`, `{name}`")), "{}", ran.err);
    }
    let listed = |more: &[&str]| {
        let args = [&["show", "runs/r", "--state", "pass", "--json"], more].concat();
        place.wildgym(&args).out.lines().count()
    };
    assert_eq!((listed(&[]), listed(&["--judge", &name])), (0, 2));
    let exported = place.wildgym(&["export", "runs/r", "--judge", &name]).out;
    assert_eq!(exported.matches("\"verdict\":\"pass\"").count(), 2);
    let json = place.wildgym(&["show", "runs/r", "t-001", "--judge", &name, "--json"]).out;
    let verdict: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!((&verdict["record"], &verdict["judge"]), (&json!("verdict"), &json!(name)));
    assert_eq!(verdict["votes"][0]["verdict"], "pass", "{verdict}");
    let shown = place.wildgym(&["show", "runs/r", "t-001"]).out;
    let (own, other) = (shown.find("verdict of exact: fail"), shown.find("verdict of llm-j"));
    assert!(own.is_some() && own < other, "both are shown, the run's first:\n{shown}");
}

/// A kill while a model judges: no verdict is lost or doubled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_while_a_model_judges_loses_no_verdict() {
    let server = ScriptedServer::start(both).await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(8);
    let ran = place.wildgym(&Place::asking(&suite, &url, &["-k", "4", "--name", "r", "-q"]));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let run = place.path().join("runs/r");
    let by = [
        "rejudge",
        "runs/r",
        "--judge-model",
        "j",
        "--judge-base-url",
        &url,
        "--judge-requests",
        "1",
        "-q",
        "--json",
    ];
    let judged = || -> Vec<Value> {
        let file = fs::read_dir(run.join("verdicts")).unwrap().map(|entry| entry.unwrap().path());
        let file = file.into_iter().find(|path| path.to_str().unwrap().contains("llm-"));
        let text = file.map(|path| fs::read_to_string(path).unwrap()).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for wanted in [3, 11, 20] {
        let mut child = place.start(&by);
        while judged().len() < wanted && child.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let kept = judged();
    let done = place.wildgym(&by);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let lines = judged();
    assert_eq!(lines[..kept.len()], kept[..], "kept as they were");
    let distinct: BTreeSet<String> = lines.iter().map(|line| line["trial"].to_string()).collect();
    assert_eq!((lines.len(), distinct.len()), (32, 32), "one verdict a trial");
}

/// Another judge than the run's that fails half-way is the one to be asked again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_judge_left_is_judged_by_it() {
    // It knows the answers to the first questions, and then says nothing of use.
    let server = ScriptedServer::start(|request| {
        let real = is_judge(request) && request.headers["x-wildgym-trial"] != "preflight";
        if real { says("?") } else { both(request) }
    })
    .await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(2);
    let more = ["-k", "1", "--name", "r", "-q", "--judge", "exact"];
    assert_eq!(place.wildgym(&Place::asking(&suite, &url, &more)).code, Some(0));
    let by = ["rejudge", "runs/r", "--judge-model", "j", "--judge-base-url", &url, "-q"];
    let ran = place.wildgym(&by);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let name = verdicts(&place.path().join("runs/r")).pop().unwrap().0;
    let again = format!("the same `wildgym rejudge` command, with judge `{name}`, judges what");
    assert!(ran.err.contains(&again), "{}", ran.err);
    for out in [ran.out, place.wildgym(&["report", "runs/r", "--judge", &name]).out] {
        assert!(out.contains("wildgym rejudge runs/r …\n"), "{out}");
        assert!(!out.contains("wildgym resume"), "that asks another judge: {out}");
    }
}

/// Each row is a mistake and what the answer must say; nothing is made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mistakes_are_found_before_anything_is_made() {
    let yes = r#"{"reason":"","verdict":"correct"}"#;
    let server = ScriptedServer::start(move |request| match request.body["model"].as_str() {
        Some("yes-man") => says(yes),
        Some("locked") => status(401),
        _ => both(request),
    })
    .await;
    let place = Place::new();
    let (suite, url) = (place.suite(1), server.base_url());
    let suite = suite.to_str().unwrap();
    let table: &[(&[&str], &[&str])] = &[
        (&["--judge", "llm"], &["`--judge llm` needs a model", "--judge-model NAME"]),
        (&["--judge", "exact", "--judge-model", "j"], &["judge `exact` takes no `--judge-model`"]),
        (&["--judge-votes", "3"], &["judge `exact` takes no `--judge-votes`", "--judge-model"]),
        (&["--judge-base-url", &url], &["judge `exact` takes no `--judge-base-url`"]),
        (&["--judge-model", "j", "--judge-votes", "2"], &["2 votes cannot decide", "odd"]),
        (&["--judge-model", "j", "--judge-votes", "0"], &["0 votes cannot decide"]),
        (
            &["--judge-model", "a", "--judge-model", "b", "--judge-votes", "1"],
            &["1 votes are too few for 2 models"],
        ),
        (&["--judge-model", ""], &["no model's name"]),
        (&["--judge-model", "j", "--judge-extra", "[]"], &["`--judge-extra` is not a JSON object"]),
        (&["--judge-model", "j", "--judge-requests", "0"], &["--judge-requests"]),
        (&["--judge-model", "j"], &["`OPENAI_API_KEY` is not set", "--judge-api-key-env"]),
        (
            &["--judge-model", "j", "--judge-base-url", "http://127.0.0.1:9/v1"],
            &["nobody listens at `http://127.0.0.1:9/v1`", "--judge-base-url"],
        ),
        (
            &["--judge-model", "yes-man", "--judge-base-url", &url],
            &["judge model `yes-man` called a wrong answer correct", "--judge exact"],
        ),
        (&["--judge-model", "locked", "--judge-base-url", &url], &["`locked`", "401"]),
        (&["--judge", "sometimes"], &["possible values: exact, llm, rubric, auto"]),
    ];
    for (args, says) in table {
        let args = [&["run", suite][..], args].concat();
        let ran = place.wildgym(&args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}{}", ran.out, ran.err);
        for text in *says {
            assert!(ran.err.contains(text), "{args:?} must say `{text}`:\n{}", ran.err);
        }
    }
    assert!(!place.path().join("runs").exists(), "a mistake leaves nothing behind");
}

/// `auto` takes the model of the environment; `exact` asks nobody all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_environment_may_name_the_judge() {
    let server = ScriptedServer::start(both).await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(2);
    for (args, judge, asked) in [
        (&["--name", "a", "-q", "--json"][..], "llm-env-judge-v1-", 3 + 2),
        (&["--name", "b", "-q", "--json", "--judge", "auto"], "llm-env-judge-v1-", 3 + 2),
        (&["--name", "c", "-q", "--json", "--judge-model", "own"], "llm-own-v1-", 3 + 2),
        (&["--name", "d", "-q", "--json", "--judge", "exact"], "exact", 0),
    ] {
        let before = of_role(&server, true);
        let args = Place::asking(&suite, &url, &[args, &["-k", "1"]].concat());
        let output = place.command(&args).env("WILDGYM_JUDGE_MODEL", "env-judge").output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report["label"]["judge"].as_str().unwrap().starts_with(judge), "{report}");
        assert_eq!(of_role(&server, true) - before, asked, "{args:?}");
    }
    let mut own = place.command(&["rejudge", "runs/d", "-q", "--json"]);
    let output = own.env("WILDGYM_JUDGE_MODEL", "env-judge").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["label"]["judge"], "exact", "a run keeps its judge until another is named");
}

/// The run, flags, the judge's name, who is asked, and why.
type Row<'a> = (&'a str, &'a [&'a str], &'a str, Option<&'a ScriptedServer>, &'a str);

/// What is not said is the run's: its judge's endpoint, else its agent's, and its models; the
/// address is told before anything is sent there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_said_is_the_runs() {
    let (acting, judging) =
        (ScriptedServer::start(agent).await, ScriptedServer::start(judge).await);
    let both = ScriptedServer::start(both).await;
    let place = Place::new();
    let suite = place.suite(2);
    let judge_url = judging.base_url();
    let with_judge = ["-k", "1", "--judge-model", "j", "--judge-base-url", &judge_url, "-q"];
    for (name, url, more) in [
        ("exact", both.base_url(), &["-k", "1", "-q"][..]),
        ("llm", acting.base_url(), &with_judge),
    ] {
        let ran = place.wildgym(&Place::asking(&suite, &url, &[more, &["--name", name]].concat()));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let table: [Row<'_>; 8] = [
        ("exact", &["--judge-model", "k"], "llm-k-v1-", Some(&both), "the agent's endpoint"),
        ("exact", &["--judge", "llm"], "llm-env-judge-v1-", Some(&both), "`llm` needs a name"),
        ("exact", &[], "exact", None, "the run's judge, whatever the environment names"),
        ("llm", &["--judge-model", "k"], "llm-k-v1-", Some(&judging), "the judge's endpoint"),
        (
            "llm",
            &["--judge-votes", "3"],
            "llm-j-v3-",
            Some(&judging),
            "the run's model, more votes",
        ),
        ("llm", &["--judge-extra", "{\"a\":1}"], "llm-j-v1-", Some(&judging), "other settings"),
        ("llm", &["--judge", "exact"], "exact", None, "nobody is asked"),
        ("llm", &["--judge", "llm", "--all"], "llm-j-v1-", Some(&judging), "the run's judge"),
    ];
    for (run, args, judge, asked, why) in table {
        let of = |server: &ScriptedServer| of_role(server, true);
        let before = of(&both) + of(&judging);
        let this_before = asked.map_or(0, of);
        let run = format!("runs/{run}");
        let args = [&["rejudge", &run, "--json"], args].concat();
        let mut command = place.command(&args);
        command.env("WILDGYM_JUDGE_MODEL", "env-judge").env("OPENAI_API_KEY", "sk-none");
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{why}: {err}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let name = report["label"]["judge"].as_str().unwrap();
        assert!(name.starts_with(judge), "{why}: {name}");
        let sent = of(&both) + of(&judging) - before;
        // Three first questions, and of three votes two that agree.
        let each = if judge.contains("-v3-") { 2 } else { 1 };
        assert_eq!(sent, if asked.is_some() { 3 + 2 * each } else { 0 }, "{why}");
        if let Some(server) = asked {
            assert_eq!(of(server) - this_before, sent, "{why}");
            let url = server.base_url();
            let host = url.split('/').nth(2).unwrap();
            let first = format!("judge {name} at {host} · 2 answers\n");
            assert!(err.starts_with(&first), "{why}: {err}");
        }
    }
    for args in [&["--judge-votes", "3"][..], &["--judge-extra", "{}"]] {
        let ran = place.wildgym(&[&["rejudge", "runs/exact"], args].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        let wanted = format!("the run's judge is `exact`, which takes no `{}`", args[0]);
        assert!(
            ran.err.contains(&wanted) && ran.err.contains("`--judge-model NAME`"),
            "{}",
            ran.err
        );
    }
}

/// A bad line of verdicts costs its verdict, a bad transcript its attempt; the rest is
/// judged, exported and annotated, and what is left out is named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_damaged_costs_only_itself() {
    let annotating = |request: &Request| {
        let evidence = "It is far from over";
        let said = json!({ "reason": "r", "evidence": evidence, "error_type": "others" });
        let annotates = request.headers["x-wildgym-role"].starts_with("annotate");
        if annotates { says(&said.to_string()) } else { both(request) }
    };
    let server = ScriptedServer::start(annotating).await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(6);
    let more = ["-k", "1", "--judge-model", "j", "--name", "r", "-q"];
    assert_eq!(place.wildgym(&Place::asking(&suite, &url, &more)).code, Some(0));
    let run = place.path().join("runs/r");
    let file = run.join("verdicts").join(format!("{}.jsonl", verdicts(&run)[0].0));
    let lines: Vec<String> = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| if line.contains("t-003") { "{\"format\":1,".into() } else { line.to_owned() })
        .collect();
    let bad = lines.iter().position(|line| !line.contains("t-00")).unwrap() + 1;
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let named = format!("jsonl` line {bad}: EOF while parsing");
    let asked = of_role(&server, true);
    for again in ["rejudge", "resume"] {
        let ran = place.wildgym(&[again, "runs/r", "-q"]);
        assert!(ran.err.contains(&named) && ran.err.contains("no verdict"), "{}", ran.err);
        assert_eq!(of_role(&server, true), asked + 4, "three first questions and one answer");
    }

    let transcript = |task: &str| run.join(format!("trials/react-m/{task}/full/1.1.jsonl"));
    let broken = |path: &Path, line: usize| {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().enumerate();
        let lines = lines.map(|(at, text)| if at == line { "{\"record\":" } else { text });
        fs::write(path, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    };
    let last = fs::read_to_string(transcript("t-002")).unwrap().lines().count() - 1;
    broken(&transcript("t-002"), last);
    broken(&transcript("t-004"), 1);
    // The end is noticed by all, the middle by what reads it.
    let table: [(&[&str], &[&str]); 5] = [
        (&["export", "runs/r"], &["t-002", "t-004", "verdicts"]),
        (&["annotate", "runs/r", "--model", "m", "--base-url", &url], &["t-002", "t-004"]),
        (&["rejudge", "runs/r", "--judge", "exact"], &["t-002", "left out"]),
        (&["show", "runs/r", "t-004"], &["t-004", "line 2"]),
        (&["agreement", "runs/r", "--template"], &["t-002", "left out"]),
    ];
    for (args, names) in table {
        let ran = place.wildgym(args);
        for name in names {
            assert!(ran.err.contains(name), "{args:?} must name {name}: {}", ran.err);
        }
        let code = match args[0] {
            "show" => 2,
            "agreement" => 0,
            _ => 1,
        };
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
        if args[0] == "export" {
            assert_eq!(ran.out.lines().count(), 4, "the rest is exported");
        }
    }
    let again = ["annotate", "runs/r", "--model", "m", "--base-url", &url, "--json"];
    let annotated = place.wildgym(&again);
    let report = annotated.json();
    assert_eq!((&report["overall"]["trials"], &report["unannotated"]), (&json!(2), &json!(1)));
    let shown = place.wildgym(&["show", "runs/r", "t-000"]);
    assert_eq!(shown.code, Some(0), "damage elsewhere hides no transcript: {}", shown.err);
}

/// A cassette holds what one judge was asked; another one is not in it, and no endpoint is to
/// blame.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replayed_judge_is_the_recorded_one() {
    let server = ScriptedServer::start(both).await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(1);
    let of = |more: &[&'static str]| {
        let suite = suite.to_str().unwrap();
        let args = [&["run", suite, "--agent", "reference", "-k", "1", "-q"], more].concat();
        place.wildgym(&args)
    };
    let recorded = Place::asking(&suite, &url, &["--judge-model", "j", "-k", "1", "-q"]);
    let recorded = place.wildgym(&[&recorded[..], &["--record-models", "tape"]].concat());
    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    let same = of(&["--judge-model", "j", "--replay-models", "tape"]);
    assert_eq!(same.code, Some(0), "a judge alone is enough of a model: {}", same.err);
    for judge in
        [&["--judge-model", "k"][..], &["--judge-model", "j", "--judge-extra", "{\"a\":1}"]]
    {
        let ran = of(&[judge, &["--replay-models", "tape"]].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(
            ran.err.contains("is not asked what the cassette holds: diverged at"),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("key") && !ran.err.contains("http"), "{}", ran.err);
    }
}
