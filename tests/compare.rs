//! `ablate` and `compare` as a user meets them: what is printed, refused and counted.
//!
//! Runs are made by the built-in agents where that will do, and written by hand where a
//! mixture is needed that no agent gives.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;

use camino::Utf8Path;
use common::Place;
use common::written::{Fate, Written, index, passes, tool};
use serde_json::{Value, json};
use wildgym::record::TrialId;

/// Two runs in which everything happened that can.
fn mixed(place: &Place) {
    Written::new(12).write(place, "a", |trial| match (index(trial), trial.k) {
        (3, 2) => Fate::Lost,
        (4, 1) => Fate::Unjudged,
        (task, k) => passes(task < 5 || (task == 5 && k == 1)),
    });
    Written::new(12)
        .with("plan.seed", json!(4))
        .with("plan.k", json!(4))
        .with("conditions.react-m.model.temperature", json!(1.0))
        .write(place, "b", |trial| match (index(trial), trial.k) {
            (0, _) => Fate::Degraded,
            (1, 3) => Fate::Skipped,
            (11, 2) => Fate::Pending,
            (task, _) => passes((2..10).contains(&task)),
        });
}

#[test]
fn two_runs_are_compared_pair_by_pair() {
    let place = Place::new();
    mixed(&place);
    let ran = place.wildgym(&["compare", "runs/a", "runs/b"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "lost, unjudged and not begun");
    insta::assert_snapshot!("two_runs", ran.out);
    let json = place.wildgym(&["compare", "runs/a", "runs/b", "--json"]);
    assert_eq!(json.code, Some(1));
    insta::assert_snapshot!("two_runs_json", serde_json::to_string_pretty(&json.json()).unwrap());
    let back = place.wildgym(&["compare", "runs/b", "runs/a", "--json"]).json();
    let there = json.json();
    let value = |report: &Value| report["difference"]["value"].as_f64().unwrap();
    assert!((value(&there) + value(&back)).abs() < 1e-12, "the sides change the sign");
    let flips = |report: &Value, way: &str| report["flipped"][way].as_array().unwrap().len();
    assert_eq!(flips(&there, "to_pass"), flips(&back, "to_fail"));
    let narrow =
        place.command(&["compare", "runs/a", "runs/b"]).env("COLUMNS", "70").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(narrow.lines().all(|line| line.chars().count() <= 70), "{narrow}");
}

/// Each row changes one thing; the run is refused with what differs, and compared where
/// the user allows it.
#[test]
fn what_cannot_be_compared_is_refused_and_said() {
    let place = Place::new();
    let all = |_: &TrialId| Fate::Pass;
    Written::new(3).write(&place, "base", all);
    let mut changed = Written::new(4).with("suite.digest", json!("fedcba9876543210"));
    changed.answer = "over";
    let mut more = Written::new(3);
    more.tools = json!([tool("scrape", "Read one page."), tool("audio2text", "Listen.")]);
    let table: [(&str, Written, &str, &[&str]); 7] = [
        (
            "suite",
            changed,
            "suite",
            &["tiny 1.0.0 (0123456789ab) in A", "tasks only in B: t-03", "t-00 (answer)"],
        ),
        (
            "files",
            Written::new(3).with("suite.digest", json!("fedc")),
            "suite",
            &["what judges read of the tasks is the same; other files differ"],
        ),
        (
            "judge",
            Written::new(3).with("judge.name", json!("llm-x")),
            "judge",
            &["judge: exact in A, llm-x in B"],
        ),
        (
            "limits",
            Written::new(3).with("limits.rounds", json!(50)),
            "limits",
            &["rounds: 100 in A, 50 in B"],
        ),
        (
            "bounds",
            Written::new(3).with("bounds.bytes", json!(1000)),
            "bounds",
            &["bytes of a result: 32768 in A, 1000 in B"],
        ),
        (
            "tools",
            more,
            "tools",
            &[
                "tools only in A: execute_code",
                "tools only in B: audio2text",
                "tools with another schema: scrape",
            ],
        ),
        ("web", Written::new(3).with("web", json!("live")), "web", &["hermetic in A, live in B"]),
    ];
    for (name, run, what, says) in table {
        run.write(&place, name, all);
        let path = format!("runs/{name}");
        let refused = place.wildgym(&["compare", "runs/base", &path]);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{name}");
        let hint = if what == "judge" {
            "hint: `wildgym rejudge runs/judge --judge exact` and then `--judge exact` compares \
             both by one judge; `--allow judge`"
                .to_owned()
        } else {
            format!("hint: `--allow {what}`")
        };
        for text in says.iter().copied().chain(["cannot be compared", &hint]) {
            assert!(refused.err.contains(text), "{name} must say `{text}`:\n{}", refused.err);
        }
        let allowed = place.wildgym(&["compare", "runs/base", &path, "--allow", what]);
        assert_eq!(allowed.code, Some(0), "{name}: {}", allowed.err);
        for text in says.iter().copied().chain(["allowed ", "9/9", "may explain all"]) {
            assert!(allowed.out.contains(text), "{name} must say `{text}`:\n{}", allowed.out);
        }
    }
    let two = ["compare", "runs/limits", "runs/web", "--allow", "web"];
    let refused = place.wildgym(&two);
    assert!(refused.err.contains("`--allow limits,web`"), "names both: {}", refused.err);
    assert!(!refused.err.contains("live in"), "what is allowed is no reason: {}", refused.err);
    let allowed = place.wildgym(&[&two[..], &["--allow", "limits"]].concat());
    assert_eq!(allowed.code, Some(0), "{}", allowed.err);
}

#[test]
fn nothing_to_compare_is_said() {
    let place = Place::new();
    let all = |_: &TrialId| Fate::Pass;
    Written::new(3).write(&place, "a", all);
    Written::new(3).write(&place, "unjudged", |_| Fate::Unjudged);
    Written::new(3).with("plan.variants", json!(["ideal-bias"])).write(&place, "ideal", all);
    Written::new(3).with("plan.tasks", json!(["t-02"])).write(&place, "few", all);
    Written::new(3)
        .with("conditions", json!({"x": {"agent": "silent"}, "y": {"agent": "random"}}))
        .write(&place, "two", |trial| passes(trial.condition == "x"));
    let table: &[(&[&str], i32, &[&str])] = &[
        (&["runs/a", "nowhere"], 2, &["there is no run in `nowhere`"]),
        (&["runs/a"], 2, &["<RUN_B>"]),
        (
            &["runs/a", "runs/ideal"],
            2,
            &["have no trial in common", "variants planned only in B: ideal-bias", "ablate"],
        ),
        (&["runs/a", "runs/two"], 2, &["`runs/two` has 2 conditions", "`x`, `y`", "--condition-b"]),
        (&["runs/a", "runs/two", "--condition-b", "z"], 2, &["has no condition `z`"]),
        (&["runs/a", "runs/a", "--judge", "llm"], 2, &["`llm` has not judged", "by exact"]),
        (&["runs/a", "runs/a", "--judge", "../run"], 2, &["`../run` has not judged"]),
        (&["runs/a", "runs/a", "--allow", "seed"], 2, &["suite, judge, limits"]),
        (&["runs/a", "./runs/a"], 0, &["A and B are the same run", "9/9"]),
        (&["runs/a", "runs/unjudged"], 1, &["0 pairs at 0 tasks", "9 left out", "0/0"]),
        (&["runs/a", "runs/few"], 0, &["tasks planned only in A: t-00, t-01", "3/3"]),
        (
            &["runs/two", "runs/two", "--condition-a", "x", "--condition-b", "y"],
            0,
            &["condition: x in A, y in B", "agent: silent in A, random in B", "9/9", "0/9"],
        ),
    ];
    for (args, code, says) in table {
        let ran = place.wildgym(&[&["compare"][..], args].concat());
        assert_eq!(ran.code, Some(*code), "{args:?}: {}{}", ran.out, ran.err);
        for text in *says {
            let said = format!("{}{}", ran.out, ran.err);
            assert!(said.contains(text), "{args:?} must say `{text}`:\n{said}");
        }
    }
}

/// Long lists of what differs keep to the page.
#[test]
fn what_only_one_run_planned_is_listed_on_as_many_lines_as_it_takes() {
    let place = Place::new();
    let all = |_: &TrialId| Fate::Pass;
    Written::new(3).write(&place, "base", all);
    let long: Vec<String> =
        (3..12).map(|index| format!("a-task-with-a-long-name-{index}")).collect();
    let planned = ["t-00", "t-01", "t-02"].map(str::to_owned).into_iter().chain(long.clone());
    let many = Written::new(3).with("plan.tasks", json!(planned.collect::<Vec<_>>()));
    many.write(&place, "many", all);
    let wide = place.command(&["compare", "runs/base", "runs/many"]).env("COLUMNS", "80").output();
    let wide = String::from_utf8(wide.unwrap().stdout).unwrap();
    assert!(wide.contains("tasks planned only in B: a-task") && wide.contains(&long[8]), "{wide}");
    assert!(wide.lines().all(|line| line.chars().count() <= 80), "{wide}");
}

/// Runs of different judges are better compared by one that judged both than in spite of it.
#[test]
fn a_judge_in_common_is_offered() {
    let place = Place::new();
    let all = |_: &TrialId| Fate::Pass;
    Written::new(3).write(&place, "base", all);
    Written::new(3).with("judge.name", json!("llm-x")).write(&place, "judge", all);
    Written::new(3).with("judge.name", json!("llm-y")).write(&place, "other", all);
    let neither = place.wildgym(&["compare", "runs/judge", "runs/other"]);
    for run in ["judge", "other"] {
        let command = format!("`wildgym rejudge runs/{run} --judge exact`");
        assert!(neither.err.contains(&command), "{}", neither.err);
    }
    fs::write(place.path().join("runs/base/verdicts/llm-x.jsonl"), "").unwrap();
    let common = place.wildgym(&["compare", "runs/base", "runs/judge"]);
    assert!(
        common.err.contains("hint: `--judge llm-x` compares both by a judge"),
        "{}",
        common.err
    );
    let by_one = place.wildgym(&["compare", "runs/base", "runs/judge", "--judge", "llm-x"]);
    assert_eq!(by_one.code, Some(1), "not all is judged yet: {}", by_one.err);
    let ran = place.wildgym(&["rejudge", "runs/judge", "--judge", "exact", "-q"]);
    assert!(ran.out.contains("judge exact only"), "{}{}", ran.out, ran.err);
    fs::remove_file(place.path().join("runs/base/verdicts/llm-x.jsonl")).unwrap();
    let exact = place.wildgym(&["compare", "runs/base", "runs/judge"]);
    assert!(exact.err.contains("hint: `--judge exact` compares both"), "{}", exact.err);
    let by_one = place.wildgym(&["compare", "runs/base", "runs/judge", "--judge", "exact"]);
    assert_eq!(by_one.code, Some(0), "{}", by_one.err);
}

/// A run that is still written is compared as far as it is judged.
#[test]
fn a_run_that_goes_on_is_compared_so_far() {
    let place = Place::new();
    Written::new(3).write(&place, "a", |_| Fate::Pass);
    let store = Written::new(3).write(&place, "b", |trial| match trial.k {
        1 => Fate::Pass,
        _ => Fate::Pending,
    });
    let lock = store.lock().unwrap();
    let ran = place.wildgym(&["compare", "runs/a", "runs/b"]);
    drop(lock);
    assert_eq!(ran.code, Some(1));
    for text in ["still running", "what is judged so far", "3/3", "6 left out", "not begun"] {
        assert!(ran.out.contains(text), "`{text}` in:\n{}", ran.out);
    }
}

#[test]
fn the_table_of_factors_compares_only_pairs() {
    let place = Place::new();
    let variants = json!(["full", "ideal-bias", "ideal-dirty-data"]);
    // Bias costs tasks 0 to 7; dirty data costs nothing but is lost in one variant.
    let fate = |trial: &TrialId| match (trial.variant.to_string().as_str(), index(trial)) {
        ("full", task) => passes(task >= 8),
        ("ideal-bias", task) => passes(task != 11),
        (_, 0) => Fate::Lost,
        (_, task) => passes(task >= 8),
    };
    Written::new(14).with("plan.variants", variants.clone()).write(&place, "abl", fate);
    let ran = place.wildgym(&["report", "runs/abl"]);
    let from = ran.out.find("factor ").unwrap();
    let to = ran.out.find("\nnot passed").unwrap();
    insta::assert_snapshot!("factors", &ran.out[from..to]);
    let json = place.wildgym(&["report", "runs/abl", "--json"]).json();
    insta::assert_snapshot!(
        "factors_json",
        serde_json::to_string_pretty(&json["ablation"]).unwrap()
    );
    Written::new(11)
        .with("plan.variants", variants)
        .write(&place, "many", |trial| passes(!trial.variant.is_full() || index(trial) > 10));
    let many = place.wildgym(&["report", "runs/many"]).out;
    assert!(many.contains("t-08 · t-09\n") || many.contains("t-09 · … 1 more"), "{many}");
    Written::new(3).write(&place, "plain", |_| Fate::Pass);
    let plain = place.wildgym(&["report", "runs/plain", "--json"]).json();
    assert_eq!(plain["ablation"], Value::Null, "no pairs, no table");
}

/// The reference agent loses nothing to any factor; every variant is tried at the same
/// tasks, and the run goes on where it stopped.
#[test]
fn ablate_runs_every_factor_of_every_task() {
    let place = Place::new();
    let args = ["ablate", "starter", "--agent", "reference", "-k", "1", "--name", "r", "-q"];
    let ran = place.wildgym(&[&args[..], &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    let factors = report["ablation"]["factors"].as_object().unwrap().clone();
    assert!(factors.len() >= 6, "{factors:?}");
    for (name, factor) in &factors {
        assert_eq!(factor["tasks"], factor["pairs"], "{name}: k is 1");
        assert_eq!(factor["both"], factor["pairs"], "{name}: the reference passes all");
        assert_eq!(factor["difference"]["value"], 0.0, "{name}");
    }
    let run = place.path().join("runs/r/trials/reference");
    let lost = walk(&run).into_iter().find(|path| path.contains("ideal-")).unwrap();
    fs::remove_file(&lost).unwrap();
    let resumed = place.wildgym(&["resume", "runs/r", "--json", "-q"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    assert_eq!(resumed.json()["ablation"], report["ablation"]);
    assert!(Utf8Path::new(&lost).exists(), "made again in its variant");
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path) } else { vec![path.to_str().unwrap().to_owned()] }
        })
        .collect()
}

#[test]
fn ablate_takes_the_factors_that_are_named_and_says_what_it_cannot() {
    let place = Place::new();
    let ran = place.wildgym(&[
        "ablate",
        "starter",
        "--agent",
        "silent",
        "--idealise",
        "bias",
        "-k",
        "2",
        "--json",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("no such factor and will not be tried"), "{}", ran.err);
    let report = ran.json();
    assert_eq!(report["label"]["variants"], json!(["full", "ideal-bias"]));
    let factors = report["ablation"]["factors"].as_object().unwrap().clone();
    assert_eq!(factors.keys().collect::<Vec<_>>(), ["bias"]);
    let plain = place.suite(2);
    let table: &[(&[&str], &str)] = &[
        (&["ablate", plain.to_str().unwrap()], "no selected task has a factor to take away"),
        (&["ablate", "starter", "--variants", "all"], "`ablate` chooses the variants itself"),
        (&["ablate", "starter", "--idealise", "haste"], "`haste` is no factor"),
        (&["ablate", "starter", "--idealise", "events"], "no selected task has a factor"),
        (&["ablate", "starter", "--agent", "react"], "agent `react` needs a model"),
    ];
    for (args, says) in table {
        let ran = place.wildgym(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.err.contains(says), "{args:?} must say `{says}`:\n{}", ran.err);
    }
}

/// Whole agents against each other: the reference passes everything, silence nothing.
#[test]
fn the_reference_beats_silence_at_every_task() {
    let place = Place::new();
    for agent in ["reference", "silent"] {
        let ran =
            place.wildgym(&["run", "starter", "--agent", agent, "-k", "1", "--name", agent, "-q"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let ran = place.wildgym(&["compare", "runs/reference", "runs/silent", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    let (tasks, flipped) = (&report["tasks"], report["flipped"]["to_fail"].as_array().unwrap());
    assert_eq!(tasks.as_u64(), Some(flipped.len() as u64), "all flips are listed: {report}");
    assert!(flipped.iter().all(|flip| flip["reason"].as_str().is_some_and(|r| !r.is_empty())));
    assert_eq!((&report["score"]["a"], &report["score"]["b"]), (&json!(1.0), &json!(0.0)));
    assert_eq!(report["flipped"]["to_pass"], json!([]));
}
