//! Reports as a researcher meets them: how far trials came, what they took and cost, and
//! what is left to say of a damaged run.

mod common;

use std::fs;
use std::time::Duration;

use common::{Place, transcripts};
use serde_json::json;
use wildgym_support::{ScriptedServer, calls, final_answer};

/// A reference solution goes the way that the task's author meant: it reaches every
/// milestone of every task, and finds whatever is to be discovered.
#[test]
fn the_reference_reaches_every_milestone() {
    let place = Place::new();
    let ran = place.wildgym(&["run", "starter", "--agent", "reference", "-k", "1", "--json", "-q"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.err, ran.out);
    let report = ran.json();
    let tasks = report["milestones"]["by_task"].as_object().unwrap();
    // A task for which the machine has no engine is skipped.
    let tried = tasks.len() as u64 + report["trials"]["skipped"].as_u64().unwrap();
    assert_eq!(json!(tried), report["scores"]["overall"]["tasks"], "each task has some");
    for (task, milestones) in tasks {
        for milestone in milestones.as_array().unwrap() {
            assert_eq!(milestone["count"], milestone["of"], "{task}: {milestone}");
        }
    }
    let discovery = &report["discovery"]["overall"];
    assert!(discovery["tasks"].as_u64().unwrap() > 0, "{discovery}");
    assert_eq!(discovery["found"]["value"], 1.0, "{discovery}");
    assert_eq!(discovery["passed_if_not"]["of"], 0, "{discovery}");
}

/// Milestones are decided for attempts that end without an answer, too.
#[test]
fn who_does_nothing_reaches_nothing() {
    let place = Place::new();
    let ran = place.wildgym(&["run", "starter", "--agent", "silent", "-k", "1", "--json", "-q"]);
    let report = ran.json();
    let survival = &report["milestones"]["overall"];
    let trials = &report["trials"]["fail"];
    assert_eq!(
        (&survival["stages"][0]["count"], &survival["stages"][0]["of"]),
        (&json!(0), trials)
    );
    assert_eq!(&survival["failed_after"][0], trials, "all failed before the first");
    assert_eq!(report["discovery"]["overall"]["found"]["count"], 0);
}

/// Working time is split without overlap, and tokens are priced by the user's table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_is_split_and_tokens_are_priced() {
    let model = ScriptedServer::start(|request| {
        let code = json!({"code": "1 + 1"});
        let reply = match request.round {
            1 => calls([("a", "execute_code", code.clone()), ("b", "execute_code", code)]),
            _ => final_answer("done"),
        };
        reply.usage(1_000_000, 500_000).after(Duration::from_millis(20))
    })
    .await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(2);
    let ran = place.wildgym(&Place::asking(&suite, &url, &["-k", "2", "--name", "r", "-q"]));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let prices = "currency = \"EUR\"\n[[model]]\nname = \"m\"\ninput = 2\noutput = 4.0\n";
    fs::write(place.path().join("prices.toml"), prices).unwrap();
    let args = ["report", "runs/r", "--prices", "prices.toml", "--json"];
    let report = place.wildgym(&args).json();
    let usage = &report["usage"];
    let ms = |key: &str| usage[key].as_u64().unwrap();
    assert!(ms("model_ms") >= 4 * 2 * 20, "eight replies of at least 20 ms: {usage}");
    assert!(ms("tools_ms") > 0 && ms("model_ms") + ms("tools_ms") <= ms("working_ms"), "{usage}");
    // Two replies of 2 + 2 EUR in each of four trials, all of which passed.
    assert_eq!(usage["cost"]["agent"], 32.0, "{usage}");
    assert_eq!(usage["cost"]["per_passed_trial"], 8.0, "{usage}");
    assert_eq!(report["points"][3]["cost"], 8.0);
    fs::write(place.path().join("prices.toml"), prices.replace("\"m\"", "\"x\"")).unwrap();
    let mut command = place.command(&["report", "runs/r"]);
    let ran = command.env("WILDGYM_PRICES", "prices.toml").output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(out.contains("cost      unknown · no price for `m`"), "{out}");
}

#[test]
fn a_table_of_prices_that_is_none_is_refused() {
    let place = Place::new();
    fs::write(place.path().join("bad.toml"), "currency = \"EUR\"\n[[model]]\nname = 1\n").unwrap();
    let table: [(&[&str], &[&str]); 3] = [
        (
            &["report", "r", "--prices", "bad.toml"],
            &["`bad.toml` is no table of prices: line 3: ", "hint: its form is in the README"],
        ),
        (&["report", "r", "--prices", "none.toml"], &["cannot read `none.toml`"]),
        (&["report", "r", "--by", "mood"], &["invalid value 'mood'", "scenario"]),
    ];
    for (args, says) in table {
        let ran = place.wildgym(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}");
        for text in says {
            assert!(ran.err.contains(text), "{args:?} must say `{text}`: {}", ran.err);
        }
    }
}

/// One damaged file costs what it held, not the report; what would go on with the run
/// refuses it.
#[test]
fn a_damaged_run_is_reported_and_says_so() {
    let place = Place::new();
    let suite = place.suite(4);
    let args =
        ["run", suite.to_str().unwrap(), "--agent", "reference", "-k", "1", "--name", "r", "-q"];
    assert_eq!(place.wildgym(&args).code, Some(0));
    let run = place.path().join("runs/r");
    let trials = run.join("trials/reference");
    let last = |task: &str| trials.join(task).join("full/1.1.jsonl");
    let text = fs::read_to_string(last("t-000")).unwrap();
    fs::write(last("t-000"), format!("{}\n", &text[..text.len() - 9])).unwrap();
    let verdicts = fs::read_to_string(run.join("verdicts/exact.jsonl")).unwrap();
    let broken = verdicts.lines().map(|line| {
        let damaged = line.contains("t-001");
        if damaged { "{\"format\":1,\n".to_owned() } else { format!("{line}\n") }
    });
    fs::write(run.join("verdicts/exact.jsonl"), broken.collect::<String>()).unwrap();
    fs::remove_dir_all(trials.join("t-002")).unwrap();
    fs::write(trials.join("t-002"), "not a folder").unwrap();
    fs::write(trials.join("notes.txt"), "somebody's").unwrap();
    let before = transcripts(&run);
    let ran = place.wildgym(&["report", "runs/r", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let report = ran.json();
    let trials = &report["trials"];
    let states = ["lost", "unjudged", "pass"].map(|state| trials[state].as_u64().unwrap());
    assert_eq!(states, [1, 1, 1], "one is pending: {trials}");
    assert_eq!(report["label"]["attempts_by_outcome"]["lost:harness"], 1);
    for (name, line) in
        [("t-000/full/1.1.jsonl", " line "), ("exact.jsonl", " line "), ("t-002", "folder")]
    {
        let said = ran.err.lines().any(|text| text.contains(name) && text.contains(line));
        assert!(said, "{name} is named: {}", ran.err);
    }
    assert!(!ran.err.contains("notes.txt"), "what is nobody's trial is no damage: {}", ran.err);
    assert_eq!(report["label"]["damaged"].as_array().unwrap().len(), 3);
    let table = place.wildgym(&["report", "runs/r"]).out;
    assert!(table.contains("damaged   3 stored files cannot be read"), "{table}");
    let resumed = place.wildgym(&["resume", "runs/r", "-q"]);
    assert_eq!(resumed.code, Some(2), "{}", resumed.err);
    assert!(resumed.err.contains("t-000") && resumed.err.contains("hint: move"), "{}", resumed.err);
    assert_eq!(transcripts(&run), before, "nothing was made anew over the damage");
}
