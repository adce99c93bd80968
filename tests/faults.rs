//! Faults as a user meets them: a run with a profile, what agents read, what is kept, and that
//! the same run meets the same faults again.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;
use std::path::Path;

use common::{Place, timeless, transcripts};
use serde_json::{Value, json};
use wildgym_support::{ScriptedServer, calls, final_answer};

/// Arguments of a run whose trials are those of the agent that calls at random.
fn random<'a>(suite: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let suite = suite.to_str().unwrap();
    [&["run", suite, "--agent", "random", "-q", "--json", "--seed", "5"], more].concat()
}

/// Returns the call records of transcripts, each with its path.
fn calls_of(run: &Path) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (path, text) in transcripts(run) {
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            if record["record"] == "call" {
                found.push((path.clone(), record));
            }
        }
    }
    found
}

#[test]
fn a_run_meets_the_same_faults_at_any_concurrency_and_after_a_break() {
    let place = Place::new();
    let suite = place.suite(12);
    let runs = place.path().join("runs");
    for (name, concurrency) in [("one", "1"), ("many", "32")] {
        let more = ["--faults", "transient-heavy:3", "--concurrency", concurrency, "--name", name];
        let ran = place.wildgym(&random(&suite, &more));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let (one, many) = (transcripts(&runs.join("one")), transcripts(&runs.join("many")));
    assert_eq!(one.len(), 36);
    for (path, text) in &one {
        assert!(path.starts_with("random+transient-heavy-3/"), "{path}");
        assert_eq!(timeless(text), timeless(&many[path]), "{path}");
    }
    let fired: Vec<Value> = calls_of(&runs.join("one"))
        .into_iter()
        .flat_map(|(_, call)| call["notes"].as_array().cloned().unwrap_or_default())
        .collect();
    assert!(fired.len() > 5, "{} faults", fired.len());
    assert!(fired.iter().all(|note| note["fault"]["profile"] == "transient-heavy"), "{fired:?}");

    // What is taken away is made anew, from the run alone, and is what it was.
    let lost = "random+transient-heavy-3/t-004/full/2.1.jsonl";
    fs::remove_file(runs.join("one/trials").join(lost)).unwrap();
    let ran = place.wildgym(&["resume", "runs/one", "-q", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(timeless(&transcripts(&runs.join("one"))[lost]), timeless(&one[lost]));
    let label = &ran.json()["label"]["faults"]["random+transient-heavy-3"];
    assert!(label.as_str().unwrap().starts_with("transient-heavy 1.0.0 ("), "{label}");
    assert!(label.as_str().unwrap().ends_with("), seed 3"), "{label}");
}

/// Under each profile that is named after an operator, every call that can be hit is, and the
/// agent reads what the profile says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_operator_does_what_it_says() {
    let model = ScriptedServer::start(|request| match request.round {
        1 => calls([("a", "extract_document_content", json!({"document_path": "note.txt"}))]),
        _ => final_answer("done"),
    })
    .await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(1);
    // Profile, kind of the error, logical time in ms, whether the agent reads the truth.
    let table: [(&str, Option<&str>, u64, bool); 10] = [
        ("null", None, 2_000, true),
        ("minor-mistake", None, 2_000, false),
        ("incorrect-output", None, 2_000, false),
        ("invalid-output", None, 2_000, false),
        ("explicit-error", Some("failed"), 0, false),
        ("delay", None, 32_000, true),
        ("silent-drop", Some("timed-out"), 180_000, false),
        ("schema-drift", None, 2_000, false),
        ("truncated-payload", None, 2_000, false),
        ("partial-result", None, 2_000, false),
    ];
    let mut truth = None;
    for (profile, error, cost, is_true) in table {
        let more = ["-k", "1", "--faults", profile, "--name", profile, "-q", "--json"];
        let ran = place.wildgym(&Place::asking(&suite, &url, &more));
        assert_eq!(ran.code, Some(0), "{profile}: {}", ran.err);
        let calls = calls_of(&place.path().join("runs").join(profile));
        let (_, call) = &calls[0];
        let result = call["result"].as_str().unwrap().to_owned();
        let truth = truth.get_or_insert_with(|| result.clone());
        assert!(truth.contains("this is t-000"), "{truth}");
        assert_eq!(call["error"].as_str(), error, "{profile}: {result}");
        assert_eq!(call["cost_ms"], cost, "{profile}");
        assert_eq!(result == *truth, is_true, "{profile}: {result}");
        let note = &call["notes"][0];
        if profile == "null" {
            assert!(note.is_null(), "{note}");
        } else {
            assert_eq!(note["fault"]["operator"], profile);
            assert_eq!(note["fault"]["persistence"], "permanent");
            assert_eq!(note["applied"], true, "{note}");
        }
    }
    assert_eq!(model.violations(), Vec::<String>::new());
}

#[test]
fn runs_under_other_faults_are_not_compared_unasked() {
    let place = Place::new();
    let suite = place.suite(2);
    let (off, on): (&[&str], &[&str]) = (&[], &["--faults", "explicit-error"]);
    for (name, more) in [("off", off), ("on", on)] {
        let ran = place.wildgym(&random(&suite, &[&["--name", name], more].concat()));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let ran = place.wildgym(&["compare", "runs/off", "runs/on"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("faults: none in A, explicit-error 1.0.0 ("), "{}", ran.err);
    assert!(ran.err.contains("--allow faults"), "{}", ran.err);
    let ran = place.wildgym(&["compare", "runs/off", "runs/on", "--allow", "faults"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn a_task_has_faults_of_its_own_until_they_are_idealised() {
    let place = Place::new();
    let suite = place.suite(1);
    let file = suite.join("tasks/t-000/task.toml");
    let text = fs::read_to_string(&file).unwrap();
    let own = "factors = [\"faults\"]\n\n[faults]\nprofile = \"explicit-error\"\n\n[answer]";
    fs::write(&file, text.replace("\n[answer]", own)).unwrap();
    let ideal = suite.join("tasks/t-000/ideal/faults");
    fs::create_dir_all(&ideal).unwrap();
    fs::write(ideal.join("overlay.toml"), "").unwrap();
    let suite = suite.to_str().unwrap();
    let ran = place.wildgym(&["ablate", suite, "-k", "1", "--name", "r", "-q", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for (path, call) in calls_of(&place.path().join("runs/r")) {
        let faulted = call["error"] == "failed";
        assert_eq!(faulted, path.contains("/full/"), "{path}: {call}");
    }

    fs::write(&file, fs::read_to_string(&file).unwrap().replace("explicit-error", "bad-luck"))
        .unwrap();
    let ran = place.wildgym(&["run", suite, "-k", "1", "-q"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("task `t-000`: there is no fault profile `bad-luck`"), "{}", ran.err);
    let ran = place.wildgym(&["tasks", "check", suite]);
    assert!(ran.out.contains("tasks/t-000/task.toml: faults.profile: there is no"), "{}", ran.out);
}

#[test]
fn profiles_are_listed_printed_and_checked() {
    let place = Place::new();
    let ran = place.wildgym(&["faults"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 14), "{}", ran.out);
    assert!(ran.out.contains("published          1.0.0  Faults as reported"), "{}", ran.out);
    let lines = place.wildgym(&["faults", "--json"]).out;
    let published = lines.lines().find(|line| line.contains("\"published\"")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(published).unwrap()["entries"], 18);
    let text = place.wildgym(&["faults", "rate-limits"]).out;
    fs::write(place.path().join("mine.toml"), text.replace("weight = 3", "weight = -3")).unwrap();
    let ran = place.wildgym(&["faults", "mine.toml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("entry[0]: `weight`: expected a number ≥ 0, found -3"), "{}", ran.err);
}

#[test]
fn what_is_no_profile_is_refused_before_anything_is_made() {
    let place = Place::new();
    let suite = place.suite(1);
    fs::write(place.path().join("mine.toml"), "format = 1\nname = \"Mine\"\n").unwrap();
    let table = [
        ("pubished", "there is no fault profile `pubished`; built in are `null`"),
        ("published:x", "`x` is no seed"),
        ("mine.toml", "fault profile `mine.toml`"),
    ];
    for (profile, want) in table {
        let ran = place.wildgym(&random(&suite, &["--faults", profile]));
        assert_eq!(ran.code, Some(2), "{profile}");
        assert!(ran.err.contains(want), "{}", ran.err);
    }
    assert!(!place.path().join("runs").exists());
}

/// A tool of a foreign server is matched by that server and its own name, and an operation of a
/// world meets faults like any tool.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_tools_and_operations_of_worlds_meet_faults() {
    let model = ScriptedServer::start(|request| match request.round {
        1 => calls([("a", "mine__echo", json!({"text": "hi"}))]),
        _ => final_answer("done"),
    })
    .await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(1);
    let server = format!("mine={}", env!("CARGO_BIN_EXE_wildgym-hostile-server"));
    for (named, is_hit) in [("mine", true), ("wildgym", false)] {
        let text = format!(
            "format = 1\nname = \"of-one\"\nversion = \"1\"\ndescription = \"for a test\"\n\
             [[entry]]\noperator = \"explicit-error\"\npersistence = \"permanent\"\nweight = 1\n\
             match.server = \"{named}\"\nmatch.tool = \"echo\"\n"
        );
        fs::write(place.path().join("of-one.toml"), text).unwrap();
        let more =
            ["--mcp-server", &server, "-k", "1", "--faults", "of-one.toml", "--name", named, "-q"];
        let ran = place.wildgym(&Place::asking(&suite, &url, &more));
        assert_eq!(ran.code, Some(0), "{named}: {}", ran.err);
        let (_, call) = &calls_of(&place.path().join("runs").join(named))[0];
        assert_eq!(call["error"] == "failed", is_hit, "{named}: {call}");
    }
    let world = ["run", "enterprise", "--tasks", "t1-001", "-k", "1", "--name", "w", "-q"];
    let ran = place.wildgym(&[&world[..], &["--faults", "explicit-error"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (_, call) = &calls_of(&place.path().join("runs/w"))[0];
    assert_eq!(call["notes"][0]["fault"]["operator"], "explicit-error", "{call}");
    assert_eq!(call["error"], "failed", "{call}");
}
