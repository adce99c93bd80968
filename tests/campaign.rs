//! Campaigns: agents, models and faults crossed as one run, and what its report says of them.
//!
//! The agents are scripted, so what faults must cost them follows from what they do. The small
//! form runs always; with `WILDGYM_BARS` set it is all tasks of `faults25`, three times each.
#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use common::{Place, is_finished, transcripts};
use serde_json::{Value, json};
use wildgym_support::{ScriptedServer, calls, final_answer};

/// A profile under which every third call fails once.
const FLAPS: &str = r#"
format = 1
name = "flaps"
version = "1"
description = "every third call fails once"
rate = 0.3

[[entry]]
operator = "explicit-error"
persistence = "transient"
errors = ["unavailable"]
weight = 1
"#;

/// Writes a campaign of an agent that retries until it works and one that gives up at once.
fn campaign(place: &Place, suite: &str, conditions: &str, run: &str) {
    fs::write(place.path().join("flaps.toml"), FLAPS).unwrap();
    let text = format!(
        "format = 1\nsuite = \"{suite}\"\nagents = [\n  {{ name = \"retry\", agent = \
         \"scripted:retry:40\" }},\n  {{ name = \"give-up\", agent = \"scripted:give-up\" }},\n]\n\
         conditions = [{conditions}]\nseeds = 3\n\n[run]\nseed = 11\n{run}\n"
    );
    fs::write(place.path().join("campaign.toml"), text).unwrap();
}

/// Returns what the report says of a condition of an arm.
fn cell<'a>(report: &'a Value, arm: &str, faults: &str) -> &'a Value {
    let arms = report["campaign"]["arms"].as_array().unwrap();
    let arm = arms.iter().find(|one| one["name"] == arm).unwrap();
    let cells = arm["conditions"].as_array().unwrap();
    cells.iter().find(|one| one["faults"] == faults).unwrap()
}

/// The agent that retries loses nothing; the one that gives up loses exactly the trials in which
/// a fault met it, and those are as many as the profile and the lengths of solutions say.
#[test]
fn a_report_separates_agents_by_what_they_do_about_faults() {
    let place = Place::new();
    let bars = std::env::var_os("WILDGYM_BARS").is_some();
    let more = if bars { "" } else { "limit = 10" };
    campaign(&place, "faults25", r#""off", "null", "flaps.toml""#, more);
    let ran = place.wildgym(&["campaign", "campaign.toml", "--name", "c", "--json", "-q"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    for arm in ["retry", "give-up"] {
        for faults in ["off", "null"] {
            let trials = &cell(&report, arm, faults)["trials"];
            assert_eq!(trials["fail"], json!(0), "{arm} {faults}");
        }
        let null = &report["campaign"]["arms"].as_array().unwrap().iter();
        let null = null.clone().find(|one| one["name"] == arm).unwrap();
        let null = &null["null_against_off"];
        for same in ["same_verdict", "same_calls", "same_answer"] {
            assert_eq!(null[same], null["pairs"], "{arm}: an injector that does nothing");
        }
    }
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let retried = &cell(&report, "retry", "flaps")["against_base"];
    assert!(number(&retried["score"]["drop"]["value"]).abs() < 1e-9, "{retried}");
    let gave_up = cell(&report, "give-up", "flaps");
    let met = &report["resilience"]["by_condition"]["give-up+flaps"];
    assert_eq!(gave_up["trials"]["pass"], met["zero_dose"], "passes what no fault met");
    let (passed, planned) = (number(&gave_up["trials"]["pass"]), number(&met["trials"]));
    let (want, spread) = unmet(&place, "give-up");
    assert!((passed - want).abs() < 4.0 * spread + 1.0, "{passed} of {planned}, not {want}");
    let drop = number(&gave_up["against_base"]["score"]["drop"]["value"]);
    assert!((drop - (1.0 - passed / planned)).abs() < 1e-9, "as many trials each: {drop}");
    println!("give-up passed {passed} of {planned} under faults, {want:.1} ± {spread:.1} follow");
    let p = &gave_up["against_base"]["p_holm"];
    assert!(number(p) < 0.05, "{p}");
    let next = &report["resilience"]["by_condition"]["retry+flaps"]["reactions"];
    assert!(number(&next["retry_share"]) > 0.99, "{next}");
    let text = place.wildgym(&["report", "runs/c", "--csv", "c.csv", "--trials-csv", "t.csv"]);
    assert_eq!(text.code, Some(0), "{}", text.err);
    assert!(text.out.contains("null against off"), "{}", text.out);
    let lines = |file: &str| fs::read_to_string(place.path().join(file)).unwrap().lines().count();
    assert_eq!(lines("t.csv"), 1 + transcripts(&place.path().join("runs/c")).len());
    assert!(lines("c.csv") >= 7);
}

/// Returns how many trials under `flaps` meet no fault in the mean, and the standard deviation:
/// each of the n calls that a trial makes without faults is spared with probability 0.7.
fn unmet(place: &Place, arm: &str) -> (f64, f64) {
    let spared =
        transcripts(&place.path().join("runs/c")).into_iter().filter_map(|(path, text)| {
            let calls =
                text.lines().filter(|line| line.starts_with("{\"record\":\"call\"")).count();
            let own = path.starts_with(&format!("{arm}/"));
            own.then(|| 0.7_f64.powi(i32::try_from(calls).unwrap()))
        });
    let spared: Vec<f64> = spared.collect();
    assert!(!spared.is_empty());
    let variance: f64 = spared.iter().map(|p| p * (1.0 - p)).sum();
    (spared.iter().sum(), variance.sqrt())
}

/// Killed in the middle and resumed, a campaign comes to what it had come to without.
#[test]
fn a_killed_campaign_resumes_to_the_same_report() {
    let place = Place::new();
    campaign(&place, "enterprise", r#""off", "flaps.toml""#, "tasks = \"t1-00[1-6]\"");
    let begin = |name| ["campaign", "campaign.toml", "--name", name, "-q", "--concurrency", "2"];
    let mut child = place.start(&begin("killed"));
    let run = place.path().join("runs/killed");
    let patience = Instant::now() + Duration::from_mins(5);
    let finished = || -> BTreeMap<String, String> {
        transcripts(&run).into_iter().filter(|(_, text)| is_finished(text)).collect()
    };
    while finished().len() < 10 && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < patience, "the campaign got nowhere");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = finished();
    let resumed = place.wildgym(&["resume", "runs/killed", "-q", "--json"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    let after = finished();
    assert!(before.iter().all(|(path, text)| after[path] == *text), "finished stays finished");
    let whole = place.wildgym(&begin("whole"));
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let whole = place.wildgym(&["report", "runs/whole", "--json"]).json();
    for faults in ["off", "flaps"] {
        for arm in ["retry", "give-up"] {
            let of = |report: &Value| {
                let cell = cell(report, arm, faults);
                (cell["trials"].clone(), cell["against_base"]["score"].clone())
            };
            assert_eq!(of(&resumed.json()), of(&whole), "{arm} {faults}");
        }
    }
}

/// Agents that ask a model are crossed with all models, others stand alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_are_crossed_with_models() {
    let model = ScriptedServer::start(|request| match request.round {
        1 => calls([("c1", "execute_code", json!({"code": "print('done')"}))]),
        _ => final_answer("done"),
    })
    .await;
    let place = Place::new();
    let suite = place.suite(2);
    let text = format!(
        "format = 1\nsuite = {:?}\nagents = [\"react\", \"reference\"]\nmodels = [\n  {{ name = \
         \"small\", model = \"m/1\", base-url = {url:?} }},\n  {{ model = \"m/2\", base-url = \
         {url:?}, extra = {{ top_k = 1 }} }},\n]\nconditions = [\"off\", \"explicit-error\"]\n\
         seeds = 1\n",
        suite.to_str().unwrap(),
        url = model.base_url(),
    );
    fs::write(place.path().join("c.toml"), text).unwrap();
    let check = place.wildgym(&["campaign", "c.toml", "--check"]);
    assert_eq!(check.code, Some(0), "{}", check.err);
    let want = "react-m-2\nreact-m-2+explicit-error\nreact-small\nreact-small+explicit-error\n\
                reference\nreference+explicit-error\n6 conditions × 2 tasks × 1 seed: 12 trials\n";
    assert_eq!(check.out, want);
    let ran = place.wildgym(&["campaign", "c.toml", "--json", "-q"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    let arms = report["campaign"]["arms"].as_array().unwrap();
    let named = |arm: &Value| (arm["name"].clone(), arm["model"].clone());
    let want = [
        (json!("react-m-2"), json!("m/2")),
        (json!("react-small"), json!("m/1")),
        (json!("reference"), Value::Null),
    ];
    assert_eq!(arms.iter().map(named).collect::<Vec<_>>(), want);
    for arm in arms {
        assert_eq!(arm["conditions"][0]["trials"]["pass"], json!(2), "{arm}");
    }
}

/// What cannot be run is refused before anything is made.
#[test]
fn bad_files_are_refused_with_what_helps() {
    let place = Place::new();
    let table = [
        ("suite = \"starter\"", "suite = \"nowhere\"", "there is no suite `nowhere`"),
        ("\"off\"", "\"off\", \"gone\"", "condition `gone`: there is no fault profile `gone`"),
        ("\"off\"", "\"null:x\"", "condition `null:x`: `x` is no seed"),
        ("\"reference\"", "\"react\"", "agent `react` needs a model"),
        ("\"reference\"", "\"nobody\"", "invalid value 'nobody' for '--agent"),
        ("[run]", "models = [\"m\"]\n[run]", "no agent of the campaign asks a model"),
        ("[run]", "[run]\ntasks = \"zz-*\"", "no task of suite `starter` is selected"),
        ("\"reference\"", "\"reference\", \"reference\"", "two conditions are named `reference`"),
        ("suite = \"starter\"", "suite = ", "is no campaign: line 2"),
    ];
    for (old, new, want) in table {
        let text = "format = 1\nsuite = \"starter\"\nagents = [\"reference\"]\nconditions = \
                    [\"off\"]\n[run]\n";
        fs::write(place.path().join("c.toml"), text.replace(old, new)).unwrap();
        let ran = place.wildgym(&["campaign", "c.toml"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{new}: {}", ran.err);
        assert!(ran.err.contains(want), "{want}: {}", ran.err);
        assert!(ran.err.contains("hint: "), "{}", ran.err);
        assert!(!place.path().join("runs").exists(), "{new}: nothing is made");
    }
    for (file, want) in [
        ("gone.toml", "cannot read `gone.toml`"),
        ("/dev/zero", "cannot read `/dev/zero`: it has more than 1048576 bytes"),
        (".", "cannot read `.`"),
    ] {
        let ran = place.wildgym(&["campaign", file]);
        assert_eq!(ran.code, Some(2), "{file}");
        assert!(ran.err.contains(want), "{want}: {}", ran.err);
    }
}

/// The example that the program prints is one that it takes.
#[test]
fn the_example_is_a_campaign() {
    let place = Place::new();
    let example = place.wildgym(&["campaign", "--example"]);
    assert_eq!(example.code, Some(0), "{}", example.err);
    fs::write(place.path().join("example.toml"), &example.out).unwrap();
    let check = place.wildgym(&["campaign", "example.toml", "--check"]);
    assert_eq!(check.code, Some(0), "{}", check.err);
    assert!(check.out.contains("react-large+published\n"), "{}", check.out);
}
