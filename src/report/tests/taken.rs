//! What trials took and how far they came: groups, milestones, discovery, usage, cost.

use std::collections::BTreeSet;

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json as value};
use wildgym_tasks::{Factor, Scenario, Variant};

use super::run::{attempt, four_tasks, mixed, run, show, trial, twelve};
use crate::metrics::Prices;
use crate::record::{Lost, Outcome, Usage};
use crate::report::{AttemptView, Grouping, ReportOptions, RunView, TrialView, json, terminal};
use crate::verdict::Verdict;

const PRICES: &str = "currency = \"USD\"\n[[model]]\nname = \"qwen*\"\ninput = 1.0\n\
    cached = 0.1\noutput = 4.0\n";

fn priced() -> ReportOptions {
    ReportOptions { prices: Some(Prices::parse(PRICES).unwrap()), ..ReportOptions::default() }
}

fn by(by: &[Grouping]) -> ReportOptions {
    ReportOptions { by: by.to_vec(), ..ReportOptions::default() }
}

/// Sets how far a trial came: `x` is a milestone that was reached.
fn came(trial: &mut TrialView, reached: &str) {
    trial.milestones = reached.chars().map(|mark| mark == 'x').collect();
    trial.task.milestones = (1..=reached.len()).map(|number| format!("step-{number}")).collect();
}

/// A run of tasks with three and with four milestones, two of which have something to
/// discover, and with rounds, tokens and calls of a judge that differ.
fn eventful() -> RunView {
    let mut trials = four_tasks(|task, k| task < 2 || k == 1);
    let far =
        ["xxxx", "xxx.", "xxxx", "xxx", "xx.", ".x.", "xxxx", "x...", "....", "xxxx", "", "x..."];
    for (index, (trial, far)) in trials.iter_mut().zip(far).enumerate() {
        came(trial, far);
        let index = u32::try_from(index).unwrap();
        let last = trial.attempts.last_mut().unwrap();
        last.rounds = 3 + index * 4;
        last.usage.input = 12_000 + 1_000 * u64::from(index);
        trial.judging.verdicts = 1;
        trial.judging.took_ms = 900;
        if trial.task.scenario == Scenario::DeepSearch {
            trial.judging.call("qwen-judge", Usage { input: 800, output: 40, ..Usage::default() });
            trial.task.discovery_hosts = vec!["a.example".into(), "b.example".into()];
            trial.discovered = vec![true, index % 2 == 0];
        }
    }
    trials[5].attempts.insert(0, attempt(Outcome::Lost(Lost::Killed)));
    trials[5].attempts[0].closed = false;
    // Judged by a version that did not look for milestones.
    trials[10].task.milestones = vec!["step-1".into()];
    trials[10].discovered.clear();
    run(3, trials)
}

#[test]
fn how_far_trials_came_and_what_they_took() {
    let view = eventful();
    assert_snapshot!("eventful_run_80", terminal(&view, &priced(), 80, false));
    let mut json = json(&view, &priced());
    let points = json["points"].as_array().cloned().unwrap();
    assert_eq!(points.len(), 12);
    assert_json_snapshot!("eventful_run_point", points[5]);
    let parts: Value = ["milestones", "discovery", "usage"]
        .into_iter()
        .map(|key| (key.to_owned(), json[key].take()))
        .collect();
    assert_json_snapshot!("eventful_run_json", parts);
}

#[test]
fn idealised_variants_are_left_out_of_stages_where_the_full_one_was_tried() {
    let mut trials = four_tasks(|_, _| true);
    for (index, trial) in trials.iter_mut().enumerate() {
        came(trial, "x.");
        if index % 3 == 2 {
            trial.id.variant = Variant::ideal([Factor::DirtyData]);
            came(trial, "xx");
        }
    }
    let view = run(3, trials.clone());
    let stages = &json(&view, &ReportOptions::default())["milestones"]["overall"]["stages"];
    assert_eq!((&stages[0]["of"], &stages[1]["count"]), (&value!(8), &value!(0)));
    trials.retain(|trial| !trial.id.variant.is_full());
    let view = run(3, trials);
    let stages = &json(&view, &ReportOptions::default())["milestones"]["overall"]["stages"];
    assert_eq!((&stages[0]["of"], &stages[1]["count"]), (&value!(4), &value!(4)));
}

#[test]
fn without_milestones_nothing_is_said_of_them() {
    let view = mixed();
    assert!(!show(&view, 80, false).contains("milestones"));
    let json = json(&view, &ReportOptions::default());
    assert_eq!((&json["milestones"], &json["discovery"]), (&Value::Null, &Value::Null));
    assert_eq!(json["usage"]["cost"], Value::Null, "no prices, no cost");
}

#[test]
fn rows_are_grouped_as_asked() {
    let mut trials = four_tasks(|task, _| task > 0);
    for (index, trial) in trials.iter_mut().enumerate() {
        trial.task.subset = (index < 3).then(|| "discovery".to_owned());
        trial.task.domain = if index < 6 { "law\u{1b}[2J" } else { "trade" }.to_owned();
        if index >= 6 {
            trial.task.factors = BTreeSet::from([Factor::Bias, Factor::DirtyData]);
        }
    }
    let view = run(3, trials);
    let options = by(&[Grouping::Factor, Grouping::Subset, Grouping::Domain, Grouping::Language]);
    assert_snapshot!("grouped_80", terminal(&view, &options, 80, false));
    let json = json(&view, &options);
    let tasks = |by: &str, name: &str| json["scores"][by][name]["tasks"].clone();
    assert_eq!(tasks("by_factor", "bias"), 2);
    assert_eq!(tasks("by_factor", "dirty-data"), 4, "a task counts for each of its factors");
    assert_eq!(tasks("by_language", "en"), 4, "asked for, though there is but one");
    assert_eq!(json["scores"]["by_condition"], Value::Null, "not asked for, and but one");
}

#[test]
fn every_k_has_a_row() {
    let options = ReportOptions { all_k: true, ..ReportOptions::default() };
    assert_snapshot!("all_k_100", terminal(&twelve(), &options, 100, false));
    let few = terminal(&mixed(), &options, 80, false);
    assert!(few.contains("below 10 tasks there are counts alone"), "{few}");
}

#[test]
fn a_cost_that_is_unknown_is_never_zero() {
    let known = "12,000 tokens";
    let full = Usage { input: 10_000, output: 2_000, ..Usage::default() };
    let none = Usage::default();
    //         outcome                      rounds tokens model    cost    why
    let table = [
        (Outcome::Answered, 3, full, "qwen3", Some(0.018), known),
        (Outcome::Answered, 3, full, "other", None, "no price"),
        (Outcome::Answered, 3, none, "qwen3", None, "the endpoint counts no tokens"),
        (Outcome::Lost(Lost::Model), 1, none, "other", Some(0.0), "refused before any reply"),
        (Outcome::Lost(Lost::Model), 4, none, "qwen3", None, "three replies nobody counted"),
    ];
    for (outcome, rounds, usage, model, want, why) in table {
        let mut trial = trial("t", Scenario::DeepSearch, 1, Verdict::Pass);
        trial.attempts = vec![attempt(outcome)];
        trial.attempts[0].rounds = rounds;
        trial.attempts[0].usage = usage;
        let mut view = run(1, vec![trial]);
        view.label.models = [("base".to_owned(), model.to_owned())].into();
        let json = json(&view, &priced());
        assert_eq!(json["usage"]["cost"]["agent"].as_f64(), want, "{why}");
        assert_eq!(json["points"][0]["cost"].as_f64(), want, "{why}");
        let text = terminal(&view, &priced(), 200, false);
        assert_eq!(text.contains("cost      unknown"), want.is_none(), "{why}: {text}");
        assert_eq!(text.contains("no price for `other`"), why == "no price", "{text}");
    }
}

#[test]
fn conditions_are_compared_by_what_a_trial_took() {
    let mut trials = four_tasks(|_, _| true);
    let mut cheap = four_tasks(|_, k| k == 1);
    for trial in &mut cheap {
        trial.id.condition = "cheap".into();
        trial.attempts[0].rounds = 30;
        trial.attempts[0].usage.output = 100;
    }
    trials.extend(cheap);
    let mut view = run(3, trials);
    view.label.models.insert("cheap".into(), "qwen-mini".into());
    assert_snapshot!("conditions_100", terminal(&view, &priced(), 100, false));
}

#[test]
fn killed_attempts_are_in_no_mean() {
    let mut trials = four_tasks(|_, _| true);
    for trial in &mut trials[..6] {
        trial.attempts.insert(0, attempt(Outcome::Lost(Lost::Killed)));
        let AttemptView { closed, rounds, calls, usage, working_ms, .. } = &mut trial.attempts[0];
        (*closed, *rounds, *calls, *working_ms) = (false, 0, 0, 0);
        *usage = Usage::default();
    }
    let view = run(3, trials);
    let text = terminal(&view, &priced(), 100, false);
    for part in [
        "7.0 rounds an attempt · 9.0 calls an attempt · without 6 killed attempts",
        "13,500 an attempt",
        "1 min 02 s an attempt",
        "at least 0.00990 a trial · at least 0.00990 a passed trial",
    ] {
        assert!(text.contains(part), "`{part}` in: {text}");
    }
    let usage = &json(&view, &priced())["usage"];
    assert_eq!((&usage["attempts"], &usage["unfinished_attempts"]), (&value!(18), &value!(6)));
}

#[test]
fn verdicts_that_were_replaced_were_paid_for() {
    let mut view = eventful();
    for trial in view.trials.iter_mut().filter(|trial| !trial.judging.calls.is_empty()) {
        trial.judging.verdicts += 1;
        trial.judging.call("qwen-judge", Usage { input: 800, output: 40, ..Usage::default() });
    }
    let text = terminal(&view, &priced(), 200, false);
    assert!(text.contains("judge     12 calls · "), "{text}");
    assert!(text.contains(" · 6 verdicts since replaced included\n"), "{text}");
    let judge = &json(&view, &priced())["usage"]["judge"];
    assert_eq!((&judge["calls"], &judge["replaced"]), (&value!(12), &value!(6)));
}

#[test]
fn every_k_is_for_ten_tasks_or_more() {
    let mut view = twelve();
    for trial in view.trials.iter_mut().filter(|trial| trial.id.task.as_str() < "ds-03") {
        trial.task.scenario = Scenario::DataAnalysis;
    }
    for trial in view.trials.iter_mut().skip(30).filter(|trial| trial.id.k == 3) {
        trial.verdict = None;
    }
    view.trials.extend((0..3).flat_map(|task| {
        let name = format!("ctu-{task}");
        (1..=3).map(move |k| trial(&name, Scenario::DeepSearch, k, Verdict::Pass))
    }));
    let options = ReportOptions { all_k: true, ..ReportOptions::default() };
    let text = terminal(&view, &options, 80, false);
    let (from, to) = (text.find("             ").unwrap(), text.find("\nattempts").unwrap());
    assert_snapshot!("all_k_few_80", &text[from..to]);
}

#[test]
fn damage_is_on_the_label() {
    let mut view = mixed();
    view.damaged = vec!["`runs/try/trials/base/x/full/1.1.jsonl` line 3: EOF".into()];
    let text = show(&view, 80, false);
    assert!(text.contains("damaged   1 stored file cannot be read"), "{text}");
    assert_eq!(json(&view, &ReportOptions::default())["label"]["damaged"][0], view.damaged[0]);
}
