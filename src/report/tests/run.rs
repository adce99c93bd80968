//! Whole reports of runs, as snapshots.

use std::collections::BTreeSet;
use std::sync::Arc;

use insta::{assert_json_snapshot, assert_snapshot};
use unicode_width::UnicodeWidthStr;
use wildgym_tasks::scenario::Language;
use wildgym_tasks::{Factor, Scenario, Variant};

use crate::metrics::{Judging, State};
use crate::record::{Body, Limit, Lost, Outcome, TrialId, Usage};
use crate::report::{
    AttemptView, ReportOptions, RunLabel, RunView, SuiteLabel, TaskLabel, TrialView, json, listing,
    terminal,
};
use crate::verdict::Verdict;

/// The report for people, with the usual groups and without prices.
pub(super) fn show(view: &RunView, width: usize, colour: bool) -> String {
    terminal(view, &ReportOptions::default(), width, colour)
}

pub(super) fn run(k: u32, trials: Vec<TrialView>) -> RunView {
    let suite = SuiteLabel {
        name: "starter".into(),
        version: "0.1.0".into(),
        digest: "0123456789abcdef".repeat(4),
    };
    let variants: BTreeSet<&Variant> = trials.iter().map(|trial| &trial.id.variant).collect();
    let label = RunLabel {
        run: "runs/try".into(),
        suite,
        variants: variants.into_iter().map(Variant::to_string).collect(),
        agent: "react".into(),
        model: Some("qwen3-32b".into()),
        models: [("base".to_owned(), "qwen3-32b".to_owned())].into(),
        uncontained: false,
        held: false,
        episodes: None,
        tool_models: std::collections::BTreeMap::new(),
        user_models: std::collections::BTreeMap::new(),
        judge: "exact".into(),
        other_judge: false,
        k,
        seed: 7,
        web: "hermetic".into(),
        web_notes: Vec::new(),
        web_misses: None,
        faults: [].into(),
        conditions: [].into(),
        cassette: None,
        servers: Vec::new(),
    };
    RunView { label, trials, running: false, damaged: Vec::new(), specified: [].into() }
}

pub(super) fn attempt(outcome: Outcome) -> AttemptView {
    let usage = Usage { input: 12_000, output: 1_500, cached: 9_000, reasoning: 700 };
    AttemptView {
        outcome,
        closed: true,
        detail: None,
        answer: None,
        rounds: 7,
        calls: 9,
        clock: None,
        usage,
        tool_usage: Usage::default(),
        user_usage: Usage::default(),
        working_ms: 61_500,
        model_ms: 50_000,
        tools_ms: 9_000,
    }
}

pub(super) fn trial(task: &str, scenario: Scenario, k: u32, verdict: Verdict) -> TrialView {
    let id =
        TrialId { condition: "base".into(), task: task.into(), variant: Variant::default(), k };
    let label = TaskLabel {
        title: format!("The title of {task}"),
        scenario,
        subset: None,
        domain: "transport".into(),
        language: Language::En,
        factors: BTreeSet::from([Factor::DirtyData]),
        tier: None,
        kind: None,
        milestones: Vec::new(),
        discovery_hosts: Vec::new(),
    };
    let reasons = match verdict {
        Verdict::Pass => vec!["the same number".to_owned()],
        Verdict::Degraded => vec!["guessed a parameter".to_owned()],
        Verdict::Fail => vec!["1481.5 is another number, or outside of the tolerance".to_owned()],
        Verdict::Unjudged => Vec::new(),
    };
    let mut attempts = vec![attempt(Outcome::Answered)];
    attempts[0].answer = Some(Body::Inline("1482,\nincluding the ferry\u{1b}[2J".into()));
    TrialView {
        id,
        task: label,
        offering: Arc::default(),
        attempts,
        verdict: Some(verdict),
        reasons,
        milestones: Vec::new(),
        discovered: Vec::new(),
        conduct: None,
        faulted: None,
        rubric: None,
        judging: Judging::default(),
    }
}

pub(super) fn four_tasks(passes: impl Fn(usize, u32) -> bool) -> Vec<TrialView> {
    let tasks = [
        ("ctu-tariff", Scenario::ComplexToolUse),
        ("da-invoices", Scenario::DataAnalysis),
        ("ds-founder", Scenario::DeepSearch),
        ("ds-ferry", Scenario::DeepSearch),
    ];
    let mut trials = Vec::new();
    for (index, (task, scenario)) in tasks.into_iter().enumerate() {
        for k in 1..=3 {
            let verdict = if passes(index, k) { Verdict::Pass } else { Verdict::Fail };
            trials.push(trial(task, scenario, k, verdict));
        }
    }
    trials
}

/// A run in which everything happened that can.
pub(super) fn mixed() -> RunView {
    let mut trials = four_tasks(|task, k| task < 2 || k == 1);
    trials[1].verdict = Some(Verdict::Degraded);
    trials[1].reasons = vec!["guessed a parameter".into()];
    trials[4].verdict = None;
    trials[4].reasons.clear();
    trials[5].attempts =
        vec![attempt(Outcome::Lost(Lost::Sandbox)), attempt(Outcome::Lost(Lost::Model))];
    trials[5].attempts[1].detail = Some("503 from the endpoint\u{1b}[31m after 5 tries".into());
    trials[5].verdict = None;
    trials[7].attempts = vec![attempt(Outcome::Limit(Limit::Rounds))];
    trials[7].reasons = vec!["no answer within the limit on rounds".into()];
    trials[8].attempts = vec![attempt(Outcome::Skipped("no speech engine".into()))];
    trials[8].verdict = None;
    trials[6].attempts = vec![attempt(Outcome::NoAnswer)];
    trials[6].attempts[0].detail =
        Some("`answer` cannot be computed: unknown filter `roundup` in line 1".into());
    trials[6].verdict = Some(Verdict::Fail);
    trials[6].reasons = vec!["no answer".into()];
    trials[11].attempts.clear();
    trials[11].verdict = None;
    run(3, trials)
}

pub(super) fn twelve() -> RunView {
    let trials = (0u32..12).flat_map(|task| {
        (1..=3).map(move |k| {
            let verdict = if task % 4 < k { Verdict::Pass } else { Verdict::Fail };
            trial(&format!("ds-{task:02}"), Scenario::DeepSearch, k, verdict)
        })
    });
    run(3, trials.collect())
}

#[test]
fn all_passed() {
    assert_snapshot!(show(&run(3, four_tasks(|_, _| true)), 80, false));
}

#[test]
fn everything_happened() {
    let view = mixed();
    assert_snapshot!("everything_happened_80", show(&view, 80, false));
    assert_snapshot!("everything_happened_120", show(&view, 120, false));
    assert_snapshot!("everything_happened_piped", show(&view, usize::MAX, false));
    assert_json_snapshot!("everything_happened_json", json(&view, &ReportOptions::default()));
}

#[test]
fn trials_are_listed_with_answer_and_reason() {
    let view = mixed();
    let none = |_: &str| None;
    assert_snapshot!("listing_80", listing(&view, |_| true, &none, 80, false));
    assert_snapshot!("listing_piped", listing(&view, |_| true, &none, usize::MAX, false));
    let failed = listing(&view, |trial| trial.state() == State::Fail, &none, 80, false);
    assert_eq!(failed.lines().count(), 1 + view.tally().fail as usize, "{failed}");
}

#[test]
fn an_answer_in_a_blob_is_looked_up() {
    let mut view = run(1, four_tasks(|_, _| true));
    view.trials.truncate(2);
    let blob = |name: &str| Some(Body::Blob { blob: name.into(), bytes: 9 });
    view.trials[0].attempts[0].answer = blob("known");
    view.trials[1].attempts[0].answer = blob("gone");
    let resolve = |digest: &str| (digest == "known").then(|| "一家四口的往返费用".into());
    let text = listing(&view, |_| true, &resolve, 80, false);
    assert!(text.lines().nth(1).is_some_and(|line| line.contains("一家四口的往返费用")), "{text}");
    assert!(!text.contains("gone"), "a missing blob leaves its place empty: {text}");
}

#[test]
fn a_run_that_goes_on_shows_what_is_judged_so_far() {
    let mut view = run(3, four_tasks(|task, k| task == 0 && k == 1));
    for trial in view.trials.iter_mut().filter(|trial| trial.id.k == 3) {
        trial.attempts.clear();
        trial.verdict = None;
    }
    view.running = true;
    let text = show(&view, 80, false);
    assert!(text.contains("4 running or not begun of 12 trials"), "{text}");
    assert!(text.contains("ctu-tariff/full   1/2 of 3  fail"), "{text}");
    view.running = false;
    assert!(show(&view, 80, false).contains("4 not begun of 12 trials"));
}

#[test]
fn an_idealised_run_says_so() {
    let mut trials = four_tasks(|_, _| true);
    for trial in &mut trials {
        trial.id.variant = Variant::ideal([Factor::Bias]);
    }
    let view = run(3, trials);
    let text = show(&view, 80, false);
    assert_eq!(text.lines().next(), Some("starter 0.1.0 · variants ideal-bias"));
    let json = json(&view, &ReportOptions::default());
    assert_eq!(json["label"]["variants"], serde_json::json!(["ideal-bias"]));
    assert_eq!(json["scores"]["by_variant"]["ideal-bias"]["avg_at_k"]["value"], 1.0);
}

#[test]
fn many_variants_keep_to_the_page() {
    let factors = BTreeSet::from(Factor::ALL);
    let trials = Variant::all_of(&factors).into_iter().map(|variant| {
        let mut trial = trial("ds-ferry", Scenario::DeepSearch, 1, Verdict::Fail);
        trial.id.variant = variant;
        trial
    });
    let text = show(&run(1, trials.collect()), 100, false);
    let first = text.lines().next().unwrap();
    assert!(first.ends_with(", … 256 in all") && first.width() <= 100, "{first}");
    let lines = text.lines().skip(1).filter(|line| !line.starts_with("variant"));
    for line in lines {
        assert!(line.width() <= 100, "{line}");
    }
}

#[test]
fn reasons_explain_what_the_state_does_not() {
    let lost = "503 from the endpoint";
    let table = [
        (
            Outcome::Answered,
            Some("x"),
            vec!["another number"],
            Some(Verdict::Fail),
            "another number",
        ),
        (Outcome::Answered, None, vec![], None, "answered, not judged yet"),
        (Outcome::Answered, None, vec!["judge down"], Some(Verdict::Unjudged), "judge down"),
        (
            Outcome::NoAnswer,
            Some("stuck"),
            vec!["no answer"],
            Some(Verdict::Fail),
            "no answer: stuck",
        ),
        (Outcome::NoAnswer, None, vec![], None, "no answer"),
        (Outcome::Limit(Limit::Time), None, vec![], None, "limit on time"),
        (Outcome::Lost(Lost::Model), Some(lost), vec![], None, "model: 503 from the endpoint"),
        (Outcome::Lost(Lost::Killed), None, vec![], None, "killed"),
        (Outcome::Skipped("no speech".into()), Some("no speech"), vec![], None, "no speech"),
    ];
    for (outcome, detail, reasons, verdict, want) in table {
        let mut trial = trial("t", Scenario::DeepSearch, 1, Verdict::Pass);
        trial.attempts = vec![attempt(outcome)];
        trial.attempts[0].detail = detail.map(str::to_owned);
        trial.reasons = reasons.into_iter().map(str::to_owned).collect();
        trial.verdict = verdict;
        assert_eq!(trial.reason().as_deref(), Some(want), "{:?}", trial.attempts);
    }
}

#[test]
fn no_trials() {
    let view = run(3, Vec::new());
    assert_snapshot!("no_trials", show(&view, 80, false));
    assert_json_snapshot!("no_trials_json", json(&view, &ReportOptions::default()));
}

#[test]
fn twelve_tasks_have_intervals() {
    assert_snapshot!("twelve_tasks", show(&twelve(), 80, false));
    let json = json(&twelve(), &ReportOptions::default());
    assert_json_snapshot!("twelve_tasks_json", json["scores"]["overall"]);
}

/// Twelve tasks, three trials each, of which those that `judged` chooses have a verdict.
fn partly(judged: impl Fn(usize, u32) -> bool) -> RunView {
    let mut view = twelve();
    for (index, trial) in view.trials.iter_mut().enumerate() {
        if !judged(index / 3, trial.id.k) {
            trial.verdict = Some(Verdict::Unjudged);
            trial.reasons = vec!["the judge was down".into()];
        }
    }
    view
}

#[test]
fn rates_need_ten_tasks_that_have_one() {
    //   judged                                        row                 why
    type Judged = fn(usize, u32) -> bool;
    let table: [(Judged, &[&str], &[&str], &str); 4] = [
        (
            |task, k| task < 2 && k == 1,
            &["tasks", "passed", "at least once"],
            &["12", "1/2", "0/0", "0/0"],
            "two trials of twelve tasks are no score",
        ),
        (|task, _| task < 9, &["tasks", "passed"], &["12", "15/27", "7/9", "3/9"], "nine tasks"),
        (
            |task, k| task < 9 || k == 1,
            &["tasks", "avg@3", "pass@3"],
            &["12", "41.7", "7/9", "3/9"],
            "all tasks have a share, and nine all of their trials",
        ),
        (
            |task, _| task < 10,
            &["tasks", "avg@3", "pass@3"],
            &["12", "56.7", "80.0", "30.0"],
            "ten tasks are enough",
        ),
    ];
    for (judged, head, row, why) in table {
        let view = partly(judged);
        let text = show(&view, 80, false);
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
        let words = line("overall").split_whitespace().filter(|word| !word.contains('–'));
        assert_eq!(words.skip(1).collect::<Vec<_>>(), row, "{why}: {text}");
        let words = line("             tasks");
        assert!(head.iter().all(|name| words.contains(name)), "{why}: {text}");
        for bound in ["had unjudged failed: ", "had unjudged passed: "] {
            assert!(text.contains(bound), "{why}: {text}");
        }
        assert!(text.lines().all(|line| line.width() <= 80), "{why}: {text}");
        let json = json(&view, &ReportOptions::default());
        let scored = &json["scores"]["overall"]["avg_at_k"]["tasks_scored"];
        let want = (0..12).filter(|task| (1..=3).any(|k| judged(*task, k))).count();
        assert_eq!((scored, &json["scores"]["overall"]["tasks"]), (&want.into(), &12.into()));
    }
    let all = show(&twelve(), 80, false);
    assert!(!all.contains("had unjudged"), "nothing is unjudged: {all}");
}

#[test]
fn what_is_unjudged_bounds_the_score() {
    let view = partly(|task, _| task < 10);
    assert_snapshot!("partly_judged_80", show(&view, 80, false));
    let json = json(&view, &ReportOptions::default());
    let value = |key: &str| json["label"][key]["avg_at_k"]["value"].as_f64().unwrap();
    let (low, high) = (value("had_unjudged_been_fails"), value("had_unjudged_been_passes"));
    assert!((low - 17.0 / 36.0).abs() < 1e-12, "{low}");
    assert!((high - 23.0 / 36.0).abs() < 1e-12, "{high}");
    let lost = value("had_lost_been_fails");
    assert_eq!(Some(lost), json["scores"]["overall"]["avg_at_k"]["value"].as_f64());
}

#[test]
fn who_judges_what_is_left_is_named() {
    let mut view = partly(|task, _| task < 10);
    let own = show(&view, 80, false);
    assert!(own.contains("wildgym resume runs/try\n"), "{own}");
    view.label.other_judge = true;
    let exact = show(&view, 80, false);
    assert!(exact.contains("wildgym rejudge runs/try --judge exact\n"), "{exact}");
    view.label.judge = "llm-j-v1-0123".into();
    let model = show(&view, 80, false);
    assert!(model.contains("wildgym rejudge runs/try …\n"), "{model}");
    assert!(model.contains("judge `llm-j-v1-0123` judges what is left"), "{model}");
    assert!(!model.contains("resume"), "the run's own judge is not meant: {model}");
    view.trials[35].attempts.clear();
    let text = show(&view, 80, false);
    assert!(text.contains("lost or left, with the run's own judge"), "{text}");
}

#[test]
fn the_full_variant_is_the_headline() {
    let mut trials = twelve().trials;
    let mut ideal = twelve().trials;
    ideal.truncate(12);
    for trial in &mut ideal {
        trial.id.variant = Variant::ideal([Factor::DirtyData]);
        trial.verdict = Some(Verdict::Pass);
    }
    trials.extend(ideal);
    let view = run(3, trials);
    let text = show(&view, 80, false);
    let table = text.find("             ").unwrap();
    assert_snapshot!("full_is_the_headline", &text[table..text.find("\nattempts").unwrap()]);
    let options =
        ReportOptions { by: vec![crate::report::Grouping::Domain], ..ReportOptions::default() };
    let text = terminal(&view, &options, 80, false);
    assert!(text.contains("variant full") && !text.contains("variant ideal"), "{text}");
    assert!(!text.contains("overall"), "{text}");
    let scores = json(&view, &ReportOptions::default())["scores"].clone();
    let value = |scores: &serde_json::Value| scores["avg_at_k"]["value"].as_f64().unwrap();
    assert!((value(&scores["by_variant"]["full"]) - 0.5).abs() < 1e-12);
    assert!(value(&scores["overall"]) > 0.5, "in JSON, tasks as means over variants");
}

/// Where each task is tried in one variant, `overall` is what was measured.
#[test]
fn an_idealised_suite_has_one_score() {
    let mut trials = four_tasks(|_, _| true);
    for trial in trials.iter_mut().take(6) {
        trial.id.variant = Variant::ideal([Factor::Bias]);
    }
    let text = show(&run(3, trials), 80, false);
    let overall = text.lines().find(|line| line.starts_with("overall")).unwrap();
    assert_eq!(overall.split_whitespace().nth(2), Some("12/12"), "{text}");
}

#[test]
fn variants_and_conditions_have_rows_of_their_own() {
    let mut trials = four_tasks(|task, _| task > 0);
    let mut ideal = four_tasks(|_, _| true);
    for trial in &mut ideal {
        trial.id.variant = Variant::ideal([Factor::DirtyData, Factor::ToolDiscovery]);
    }
    let mut faulty = four_tasks(|_, k| k == 2);
    for trial in &mut faulty {
        trial.id.condition = "faulty".into();
    }
    trials.extend(ideal);
    trials.extend(faulty);
    let view = run(3, trials);
    assert_snapshot!("variants", show(&view, 100, false));
    let scores = json(&view, &ReportOptions::default())["scores"].clone();
    assert_eq!(scores["by_variant"]["full"]["avg_at_k"]["value"], 13.0 / 24.0);
    assert_eq!(scores["by_condition"]["faulty"]["pass_hat_k"]["value"], 0.0);
    assert_eq!(scores["by_variant"]["ideal-tool-discovery+dirty-data"]["pass_hat_k"]["value"], 1.0);
}

#[test]
fn wide_characters_keep_the_columns() {
    let mut trials = four_tasks(|_, k| k < 3);
    for (index, trial) in trials.iter_mut().enumerate() {
        trial.id.task = format!("zh-组合-{index}");
        trial.task.title = "从渡轮时刻表与票价公告中计算一家四口的往返费用并说明依据".into();
        trial.task.language = Language::Zh;
        trial.reasons = vec!["答案与参考不同：列出了两个候选，其中一个可能是正确的".into()];
    }
    let text = show(&run(1, trials), 80, false);
    assert_snapshot!(text);
}

#[test]
fn colour_only_adds_escapes() {
    let view = mixed();
    let coloured = show(&view, 80, true);
    let plain = coloured.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    assert_ne!(coloured, plain);
    assert_eq!(plain, show(&view, 80, false));
    let foreign = plain.chars().filter(|letter| letter.is_control() && *letter != '\n').count();
    assert_eq!(foreign, 0, "no escape of a task or an endpoint gets through");
}

#[test]
fn no_width_makes_it_fail() {
    for width in [0, 1, 59, 60, 1000, usize::MAX] {
        assert!(show(&mixed(), width, false).contains("overall"), "{width}");
        let text = show(&partly(|task, k| task < 9 || k == 1), width, false);
        let notes = text.lines().filter(|line| line.contains('`') && !line.contains("──"));
        assert!(notes.clone().count() > 1, "{text}");
        for line in notes {
            assert!(line.width() <= width.max(60), "{line}");
        }
    }
}
