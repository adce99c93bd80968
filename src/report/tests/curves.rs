//! The curves of a run that varies what tools are offered.

use std::sync::Arc;

use insta::assert_snapshot;
use wildgym_tasks::Scenario;

use super::run::{run, show, trial};
use crate::report::{ReportOptions, RunView, TrialView, curves_svg, json};
use crate::store::{Distractors, Offering, ToolOrder, ToolText};
use crate::verdict::{Conduct, Share, Verdict};

/// A trial whose tool was selected or not under a condition.
fn under(task: u32, k: u32, offering: &Offering, passed: bool, tools: u32) -> TrialView {
    let verdict = if passed { Verdict::Pass } else { Verdict::Fail };
    let mut one = trial(&format!("t1-{task:03}"), Scenario::Operations, k, verdict);
    one.id.condition = offering.name("react-m");
    one.offering = Arc::new(offering.clone());
    let selection = Share { right: u32::from(passed || task.is_multiple_of(2)), of: 1 };
    one.conduct = Some(Conduct { tools, selection, ..Conduct::default() });
    one
}

/// Twelve tasks, twice each: with 0 distractors all pass, with 10 the first eleven, with
/// all 40 the first three, in both wordings.
fn varied(tasks: u32, texts: &[&str]) -> RunView {
    let mut trials = Vec::new();
    let numbers =
        [(Distractors::All, 40), (Distractors::Number(0), 0), (Distractors::Number(10), 10)];
    for (distractors, more) in numbers {
        for text in texts {
            let replaced = (*text != "original").then(|| "ab".repeat(32));
            let offering = Offering {
                distractors: Some(distractors),
                tool_text: Some(ToolText { name: (*text).to_owned(), texts: replaced }),
                ..Offering::default()
            };
            for task in 0..tasks {
                let passes = match more {
                    0 => true,
                    10 => task < 11,
                    _ => task < 3,
                };
                for k in 1..=2 {
                    trials.push(under(task, k, &offering, passes, 3 + more));
                }
            }
        }
    }
    run(2, trials)
}

#[test]
fn scores_stand_against_the_number_of_tools() {
    let view = varied(12, &["original"]);
    assert_snapshot!(show(&view, 100, false));
    let report = json(&view, &ReportOptions::default());
    let curve = &report["offered_tools"]["distractors"];
    let at = |index: usize, pointer: &str| curve[index].pointer(pointer).cloned().unwrap();
    assert_eq!([at(0, "/value"), at(1, "/value"), at(2, "/value")], ["0", "10", "all"]);
    assert_eq!([at(0, "/tools"), at(2, "/tools")], [3.0, 43.0]);
    let near = |value: &serde_json::Value, want: f64| {
        assert!((value.as_f64().unwrap() - want).abs() < 1e-9, "{value} is not {want}");
    };
    near(&at(1, "/passed/value"), 11.0 / 12.0);
    near(&at(2, "/against_first/passed/difference"), -0.75);
    // Of the nine tasks that fail with all tools, 3 to 11, four have an even number.
    near(&at(2, "/selection/value"), 7.0 / 12.0);
    near(&at(2, "/against_first/selection/difference"), -5.0 / 12.0);
    assert_eq!(at(2, "/against_first/only_first"), 18);
    assert!(at(2, "/against_first/passed/ci95")[1].as_f64().unwrap() < 0.0, "beyond chance");
    assert!(report["offered_tools"].get("tool_text").is_none(), "one value is no curve");
}

/// Pairs differ in one thing alone, however many are varied.
#[test]
fn what_else_is_varied_is_pooled_and_kept_apart_in_pairs() {
    let view = varied(12, &["original", "terse"]);
    let report = json(&view, &ReportOptions::default());
    let curves = &report["offered_tools"];
    let [all, terse] = [&curves["distractors"][2], &curves["tool_text"][1]];
    assert_eq!(
        (&all["trials"]["judged"], &all["against_first"]["pairs"]),
        (&48.into(), &48.into())
    );
    assert_eq!(terse["value"], "terse");
    let against = &terse["against_first"];
    assert_eq!((&against["pairs"], &against["only_first"]), (&72.into(), &0.into()));
    assert_eq!(against["passed"]["difference"], 0.0);
    let text = show(&view, 100, false);
    assert!(text.contains("each row pools the values of what else is varied"), "{text}");
}

#[test]
fn few_tasks_are_counted() {
    let view = varied(3, &["original"]);
    let text = show(&view, 100, false);
    assert!(text.contains("all           43.0      3     6/6"), "{text}");
    assert!(!curves_svg(&view).unwrap().contains("NaN"));
}

#[test]
fn nothing_varied_is_no_section() {
    let offering = Offering { tool_order: Some(ToolOrder::Seed(7)), ..Offering::default() };
    let view = run(1, vec![under(0, 1, &offering, true, 3)]);
    assert!(curves_svg(&view).is_none());
    assert!(!show(&view, 100, false).contains("against"));
}

/// Names of runs come from users, and those of wordings from files.
#[test]
fn the_picture_is_harmless() {
    let mut view = varied(12, &["original", "<b>"]);
    view.label.run = "runs/<script>&".to_owned();
    let picture = curves_svg(&view).unwrap();
    assert!(picture.contains("runs/&lt;script&gt;&amp;") && !picture.contains("<b>"), "{picture}");
    assert_eq!(picture.matches("<g ").count(), 2, "a chart for each");
    assert_eq!(picture.matches("<circle").count(), 2 * (3 + 2));
}
