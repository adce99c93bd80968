//! What the gate blocks, what it compares, and how it says so.

use jiff::Timestamp;

use super::*;
use crate::metrics::State;

/// A run of tasks: name, subset, passed, judged.
fn run(name: &str, day: i8, tasks: &[(&str, &str, u32, u32)]) -> SeriesLine {
    let task = |&(name, subset, passed, judged): &(&str, &str, u32, u32)| {
        let subset = (!subset.is_empty()).then(|| subset.to_owned());
        (name.to_owned(), SeriesTask { subset, judged, passed })
    };
    SeriesLine {
        run: name.to_owned(),
        created: format!("2026-03-{day:02}T02:00:00Z").parse::<Timestamp>().unwrap(),
        agent: "react".to_owned(),
        tasks: tasks.iter().map(task).collect(),
        ..SeriesLine::default()
    }
}

fn view(run: SeriesLine, baseline: Vec<SeriesLine>) -> GateView {
    GateView {
        run,
        tally: [State::Pass].into_iter().collect(),
        baseline,
        source: "series.jsonl".to_owned(),
        tolerance: 3.0,
        strict: vec!["tier-5".to_owned()],
        only: None,
        notes: Vec::new(),
    }
}

/// Twelve tasks that always passed, one that passes now and then, and one of tier 5.
fn before(day: i8) -> SeriesLine {
    let mut tasks: Vec<(String, &str, u32, u32)> =
        (0..12).map(|n| (format!("t1-{n:02}"), "tier-1", 3, 3)).collect();
    tasks.push(("t2-flaky|<x>".to_owned(), "tier-2", 2, 3));
    tasks.push(("t5-delete".to_owned(), "tier-5", 3, 3));
    let tasks: Vec<_> = tasks.iter().map(|t| (t.0.as_str(), t.1, t.2, t.3)).collect();
    run(&format!("night-{day}"), day, &tasks)
}

/// Tonight's run: what `change` makes of it.
fn tonight(change: impl Fn(&str) -> Option<u32>) -> SeriesLine {
    let mut run = SeriesLine { run: "tonight".to_owned(), ..before(8) };
    for (name, task) in &mut run.tasks {
        task.passed = change(name).unwrap_or(task.passed);
    }
    run
}

fn reasons(view: &GateView) -> String {
    view.gate().reasons.join(" | ")
}

#[test]
fn what_blocks_and_what_does_not() {
    let baseline = || vec![before(1), before(3)];
    let judge = |change: &dyn Fn(&str) -> Option<u32>| reasons(&view(tonight(change), baseline()));
    assert_eq!(judge(&|_| None), "", "as before");
    assert_eq!(judge(&|name| name.contains("flaky").then_some(1)), "", "a flaky task");
    let saved = |name: &str| (name == "t1-00").then_some(1);
    let saved = view(tonight(saved), baseline()).gate();
    assert!(!saved.is_blocked(), "{saved:?}");
    assert!(saved.remarks[0].starts_with("4.8 points less than the baseline, but 1."), "{saved:?}");
    let one = judge(&|name| (name == "t5-delete").then_some(2));
    assert_eq!(one, "`t5-delete` failed 1 of 3, and never before (tier-5 tolerates none)");
    let many = judge(&|name| ["t1-00", "t1-01", "t1-02"].contains(&name).then_some(0));
    assert!(many.starts_with("21.4 points less than the baseline, 3 tolerated, and 4."), "{many}");
    let mut lost = view(tonight(|_| None), baseline());
    lost.tally = [State::Pass, State::Lost].into_iter().collect();
    assert_eq!(reasons(&lost), "the run is not complete: 1 of its trials have no verdict");
    let other = run("tonight", 8, &[("else", "", 1, 1)]);
    assert_eq!(reasons(&view(other, baseline())), "no task has judged trials on both sides");
}

#[test]
fn a_subset_and_a_part_of_the_tasks_are_compared_as_far_as_they_go() {
    let mut part = view(tonight(|_| None), vec![before(1)]);
    part.run.tasks.retain(|name, _| name != "t1-03");
    part.run.tasks.insert("t9-new".into(), SeriesTask { subset: None, judged: 3, passed: 0 });
    let gated = part.gate();
    assert!(!gated.is_blocked() && gated.overall.unwrap().tasks == 13, "{gated:?}");
    assert_eq!(gated.alone, [vec!["t1-03".to_owned()], vec!["t9-new".to_owned()]]);
    part.only = Some(("smoke".into(), ["t1-00", "t5-delete"].map(str::to_owned).into()));
    assert_eq!(part.gate().overall.unwrap().tasks, 2);
    let few = part.gate().remarks.join(" | ");
    assert!(few.starts_with("only 2 tasks are compared"), "{few}");
}

#[test]
fn the_three_forms_tell_the_same() {
    let change = |name: &str| match name {
        "t5-delete" => Some(1),
        "t1-04" => Some(2),
        _ => None,
    };
    let mut gate = view(tonight(change), vec![before(1), before(3)]);
    gate.notes = vec!["agent: react with a in the run, react with b in the baseline".to_owned()];
    insta::assert_snapshot!("gate_terminal", terminal(&gate, usize::MAX, false));
    insta::assert_snapshot!("gate_markdown", markdown(&gate));
    insta::assert_snapshot!("gate_junit", junit(&gate));
    insta::assert_snapshot!("gate_json", serde_json::to_string_pretty(&gate_json(&gate)).unwrap());
}

#[test]
fn the_xml_is_whole_whatever_tasks_are_called() {
    let odd = "a\"<&>\u{1}\n";
    let gate = view(run("r&d", 8, &[(odd, "<i>", 0, 1)]), vec![run("b", 1, &[(odd, "<i>", 1, 1)])]);
    let text = junit(&gate);
    assert!(text.contains("name=\"a&quot;&lt;&amp;&gt;\u{fffd} \""), "{text}");
    assert!(!text.contains('\u{1}') && text.matches("<testcase").count() == 2, "{text}");
}
