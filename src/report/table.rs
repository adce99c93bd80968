//! The table of scores, and what has to be known to read it.
//!
//! Rates stand only where there are tasks enough to estimate one. Below ten tasks a row
//! shows counts, and where every row does, its headings are plain words.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::figures::{counted, number, rate};
use super::layout::Page;
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::metrics::{Cell, FEWEST_TASKS, METHOD};

/// The scores: by scenario, by variant and condition where there are several, overall.
pub(super) fn table(view: &RunView, page: Page) -> String {
    let mut rows = vec![header(view)];
    for scenario in view.groups(|trial| trial.task.scenario) {
        rows.push(row(view, scenario.name(), |trial| trial.task.scenario == scenario));
    }
    let variants = view.groups(|trial| trial.id.variant.clone());
    for variant in variants.iter().filter(|_| variants.len() > 1) {
        rows.push(row(view, &format!("variant {variant}"), |trial| trial.id.variant == *variant));
    }
    let conditions = view.groups(|trial| trial.id.condition.clone());
    for condition in conditions.iter().filter(|_| conditions.len() > 1) {
        let name = format!("condition {}", one_line(condition, 60));
        rows.push(row(view, &name, |trial| trial.id.condition == *condition));
    }
    rows.push(row(view, &format!("overall{}", unit(view)), |_| true));
    let mut lines = page.table(&rows);
    let rule = "─".repeat(lines.first().map_or(0, |line| line.width()));
    lines.insert(1, rule.clone());
    // The last row is set apart from those that it sums up.
    if let Some(last) = lines.iter().rposition(|line| line.starts_with("overall")) {
        lines.insert(last, rule);
    }
    format!("{}\n{}\n", lines.join("\n"), legend(view))
}

/// Returns whether the whole run has too few tasks for rates.
pub(super) fn is_small(view: &RunView) -> bool {
    view.groups(|trial| &trial.id.task).len() < FEWEST_TASKS
}

fn header(view: &RunView) -> Vec<String> {
    let mut header = vec![String::new(), "tasks".to_owned()];
    header.extend(headings(view));
    header
}

/// Returns the names of the three scores.
pub(super) fn headings(view: &RunView) -> [String; 3] {
    let k = view.label.k;
    if is_small(view) {
        ["passed", "at least once", "always"].map(str::to_owned)
    } else {
        [format!("avg@{k}"), format!("pass@{k}"), format!("pass^{k}")]
    }
}

/// Says what the last row counts or averages, where tasks occur more than once.
fn unit(view: &RunView) -> &'static str {
    let several = [
        view.groups(|trial| &trial.id.variant).len() > 1,
        view.groups(|trial| &trial.id.condition).len() > 1,
    ];
    match (is_small(view), several) {
        (_, [false, false]) => "",
        (true, [true, false]) => ", each task in each variant",
        (true, [false, true]) => ", each task under each condition",
        (true, [true, true]) => ", each task in each variant and condition",
        (false, [true, false]) => ", tasks as means over variants",
        (false, [false, true]) => ", tasks as means over conditions",
        (false, [true, true]) => ", tasks as means over variants and conditions",
    }
}

fn row(view: &RunView, name: &str, wanted: impl Fn(&TrialView) -> bool + Copy) -> Vec<String> {
    let scores = view.scores(wanted);
    let mut row = vec![name.to_owned(), number(scores.tasks)];
    if scores.tasks < FEWEST_TASKS {
        row.extend(counts(&cells(view, wanted, false), view.label.k));
    } else {
        let at = scores.at_k();
        row.extend([at.avg_at_k, at.pass_at_k, at.pass_hat_k].map(|estimate| rate(&estimate)));
    }
    row
}

fn cells(view: &RunView, wanted: impl Fn(&TrialView) -> bool, lost_fails: bool) -> Vec<Cell> {
    view.cells(wanted, lost_fails).into_iter().flat_map(|task| task.0).collect()
}

/// Returns passed trials of judged ones, and tasks that passed at least once, and every
/// time, of those with all `k` trials judged.
fn counts(cells: &[Cell], k: u32) -> [String; 3] {
    let judged: u32 = cells.iter().map(|cell| cell.judged).sum();
    let passed: u32 = cells.iter().map(|cell| cell.passed).sum();
    let whole: Vec<&Cell> = cells.iter().filter(|cell| k > 0 && cell.judged >= k).collect();
    let once = whole.iter().filter(|cell| cell.passed > 0).count();
    let always = whole.iter().filter(|cell| cell.passed >= k).count();
    let all = whole.len();
    [format!("{passed}/{judged}"), format!("{once}/{all}"), format!("{always}/{all}")]
}

/// Returns the three scores of the run, had every lost trial been a fail.
pub(super) fn had_lost_failed(view: &RunView) -> [String; 3] {
    if is_small(view) {
        return counts(&cells(view, |_| true, true), view.label.k);
    }
    let at = view.scores_had_lost_failed().at_k();
    [at.avg_at_k, at.pass_at_k, at.pass_hat_k].map(|estimate| {
        let value = estimate.value.map(|value| format!("{:.1} %", value * 100.0));
        value.unwrap_or_else(|| "–".to_owned())
    })
}

/// Explains what the table shows and what it leaves out.
fn legend(view: &RunView) -> String {
    let mut out = String::new();
    let scenarios = view.groups(|trial| trial.task.scenario);
    let few = |scenario| view.scores(|trial| trial.task.scenario == scenario).tasks < FEWEST_TASKS;
    if is_small(view) {
        let unit = unit(view).trim_start_matches(", each task");
        let _ = writeln!(out, "passed: trials of those judged; at least once, always: tasks{unit}");
    } else {
        let _ = writeln!(out, "rates in percent; {METHOD}");
        if scenarios.into_iter().any(few) {
            let _ = writeln!(
                out,
                "rows of fewer than {FEWEST_TASKS} tasks: trials passed; tasks passed at least \
                 once; tasks always passed"
            );
        }
    }
    let k = view.label.k;
    let short = cells(view, |_| true, false).iter().filter(|cell| cell.judged < k).count() as u64;
    if short > 0 {
        let [_, once, always] = headings(view);
        let several = view.groups(|trial| &trial.id.variant).len() > 1;
        let _ = writeln!(
            out,
            "`{once}` and `{always}` leave out {} with fewer than {}",
            counted(short, if several { "task variant" } else { "task" }),
            counted(u64::from(k), "judged trial"),
        );
    }
    out
}
