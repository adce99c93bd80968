//! What faults cost, arm by arm.

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use wildgym_tasks::Scenario;

use super::run::{run, trial};
use crate::record::{Limit, Outcome};
use crate::report::campaign::section;
use crate::report::layout::Page;
use crate::report::{
    ConditionLabel, ReportOptions, RunView, TrialView, cells_csv, json, trials_csv,
};
use crate::verdict::Verdict;

/// How a trial ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Pass,
    Fail,
    /// A limit stopped it.
    Stopped,
}

/// A trial of an arm, `late` seconds later on the task's clock.
fn under(arm: &str, faults: &str, (task, k): (u32, u32), end: End, late: i64) -> TrialView {
    let verdict = if end == End::Pass { Verdict::Pass } else { Verdict::Fail };
    let mut one = trial(&format!("t-{task:02}"), Scenario::Operations, k, verdict);
    let domains = ["travel", "stocks"];
    domains[usize::from(!task.is_multiple_of(4))].clone_into(&mut one.task.domain);
    one.id.condition = if faults == "off" { arm.to_owned() } else { format!("{arm}+{faults}") };
    let last = &mut one.attempts[0];
    if end == End::Stopped {
        (last.outcome, last.answer) = (Outcome::Limit(Limit::Rounds), None);
    }
    last.clock = Some(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(60 + late));
    last.working_ms += u64::from(task) * 10;
    one.judging.took_ms = 400;
    one
}

/// Two arms with `tasks` tasks twice each. Without faults all pass. Under `published` the arm
/// that retries fails the second trial of every third task, and the other one does of every
/// third task what `worse` says.
fn compared(tasks: u32, worse: End) -> RunView {
    let mut trials = Vec::new();
    let arms = [("retry", End::Fail), ("give-up", worse)];
    for ((arm, end), faults) in
        arms.into_iter().flat_map(|arm| ["off", "null", "published"].map(|faults| (arm, faults)))
    {
        for (task, k) in (0..tasks).flat_map(|task| [(task, 1), (task, 2)]) {
            let hit = faults == "published" && task.is_multiple_of(3);
            let hit = hit && (arm == "give-up" || k == 2);
            let late = if hit { 30 } else { 0 };
            trials.push(under(arm, faults, (task, k), if hit { end } else { End::Pass }, late));
        }
    }
    let mut view = run(2, trials);
    view.label.conditions = arms
        .into_iter()
        .flat_map(|(arm, _)| {
            ["off", "null", "published"].map(|faults| {
                let name = if faults == "off" { arm.to_owned() } else { format!("{arm}+{faults}") };
                let label = ConditionLabel {
                    arm: arm.to_owned(),
                    agent: format!("scripted:{arm}"),
                    model: None,
                    faults: faults.to_owned(),
                };
                (name, label)
            })
        })
        .collect();
    view
}

fn shown(view: &RunView) -> String {
    section(view, Page::new(140, false))
}

#[test]
fn each_arm_is_set_against_itself_without_faults() {
    let view = compared(24, End::Stopped);
    assert_snapshot!(shown(&view));
    let report = json(&view, &ReportOptions::default());
    let arms = report["campaign"]["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 2);
    let against = |arm: usize| &arms[arm]["conditions"][2]["against_base"];
    // Eight of 24 tasks: both trials of the one arm, one of two of the other.
    let value = |arm: usize, pointer: &str| against(arm).pointer(pointer).unwrap().as_f64();
    let near = |arm: usize, pointer: &str, want: f64| {
        let got = value(arm, pointer).unwrap();
        assert!((got - want).abs() < 1e-9, "{pointer}: {got}");
    };
    near(0, "/score/drop/value", 1.0 / 3.0);
    near(1, "/score/drop/value", 1.0 / 6.0);
    near(0, "/resilience/value", 2.0 / 3.0);
    near(0, "/completed/drop/value", 0.0);
    near(1, "/completed/drop/value", 1.0 / 6.0);
    // All eight that differ are above zero: 2 / 2^8, and of two tests the smaller twice.
    near(0, "/test/p", 2.0 / 256.0);
    near(0, "/p_holm", 4.0 / 256.0);
    near(0, "/added_on_clock_ms", 10_000.0);
    let null = &arms[0]["null_against_off"];
    assert_eq!((&null["pairs"], &null["same_answer"]), (&json!(48), &json!(48)));
    assert_eq!(against(0)["by_domain"]["travel"]["tasks"], json!(6));
}

#[test]
fn few_tasks_are_counted() {
    let text = shown(&compared(6, End::Fail));
    assert_snapshot!(text);
    assert!(!text.contains("rates in percent"), "{text}");
}

#[test]
fn without_a_condition_to_compare_with_there_is_no_section() {
    let mut view = compared(12, End::Fail);
    view.label.conditions.retain(|_, label| label.faults == "published");
    view.trials.retain(|trial| trial.id.condition.ends_with("published"));
    assert_eq!(shown(&view), "");
    assert_eq!((cells_csv(&view), trials_csv(&view)), (None, None));
    assert!(json(&view, &ReportOptions::default()).get("campaign").is_none());
}

#[test]
fn null_stands_in_where_off_was_not_tried() {
    let mut view = compared(12, End::Fail);
    view.label.conditions.retain(|_, label| label.faults != "off");
    view.trials.retain(|trial| trial.id.condition.contains('+'));
    let text = shown(&view);
    assert!(text.contains("without: under `null`"), "{text}");
    assert!(!text.contains("null against off"), "{text}");
}

#[test]
fn tables_are_files_too() {
    let view = compared(12, End::Stopped);
    let cells = cells_csv(&view).unwrap();
    assert_snapshot!("campaign_cells", cells);
    let trials = trials_csv(&view).unwrap();
    assert_eq!(trials.lines().count(), 1 + 2 * 3 * 12 * 2);
    let first: Vec<&str> = trials.lines().take(2).collect();
    assert_snapshot!("campaign_trials", first.join("\n"));
}
