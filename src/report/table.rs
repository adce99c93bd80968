//! The table of scores, and what has to be known to read it.
//!
//! Rates stand only where there are tasks enough to estimate one. Below ten tasks a row
//! shows counts, and where every row does, its headings are plain words.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::ReportOptions;
use super::figures::{counted, number, rate};
use super::groups::Grouping;
use super::layout::Page;
use super::sanitize::one_line;
use super::view::{RunView, TrialView, cells};
use crate::metrics::{Cell, FEWEST_TASKS, METHOD};

/// The scores of groups, and overall.
pub(super) fn table(view: &RunView, options: &ReportOptions, page: Page) -> String {
    let mut rows = vec![header(view, options)];
    let mut few = false;
    for by in groupings(view, options) {
        for group in view.grouped(by) {
            let name = match by {
                Grouping::Scenario => group.name,
                Grouping::Subset
                | Grouping::Domain
                | Grouping::Language
                | Grouping::Factor
                | Grouping::Variant
                | Grouping::Condition => format!("{} {}", by.name(), one_line(&group.name, 120)),
            };
            few |= push(&mut rows, view, options, &name, &group.trials);
        }
    }
    let all: Vec<&TrialView> = view.trials.iter().collect();
    push(&mut rows, view, options, &format!("overall{}", unit(view)), &all);
    let mut lines = page.table(&rows);
    let rule = "─".repeat(lines.first().map_or(0, |line| line.width()));
    lines.insert(1, rule.clone());
    // The last row is set apart from those that it sums up.
    if let Some(last) = lines.iter().position(|line| line.starts_with("overall")) {
        lines.insert(last, rule);
    }
    format!("{}\n{}\n", lines.join("\n"), legend(view, options, few))
}

/// Returns what the rows are grouped by: as asked, else by scenario, and by variant and
/// condition where there are several.
fn groupings(view: &RunView, options: &ReportOptions) -> Vec<Grouping> {
    if !options.by.is_empty() {
        return options.by.clone();
    }
    let mut by = vec![Grouping::Scenario];
    if view.groups(|trial| &trial.id.variant).len() > 1 {
        by.push(Grouping::Variant);
    }
    if view.groups(|trial| &trial.id.condition).len() > 1 {
        by.push(Grouping::Condition);
    }
    by
}

/// Returns whether the whole run has too few tasks for rates.
pub(super) fn is_small(view: &RunView) -> bool {
    view.groups(|trial| &trial.id.task).len() < FEWEST_TASKS
}

fn header(view: &RunView, options: &ReportOptions) -> Vec<String> {
    let mut header = vec![String::new(), "tasks".to_owned()];
    if by_k(view, options) {
        header.extend(["k", "avg@k", "pass@k", "pass^k"].map(str::to_owned));
    } else {
        header.extend(headings(view));
    }
    header
}

/// Returns whether every number of trials has a line of its own.
fn by_k(view: &RunView, options: &ReportOptions) -> bool {
    options.all_k && !is_small(view)
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

/// Adds the rows of a group: one, or one for each number of trials. Returns whether it has
/// too few tasks for rates.
fn push(
    rows: &mut Vec<Vec<String>>,
    view: &RunView,
    options: &ReportOptions,
    name: &str,
    trials: &[&TrialView],
) -> bool {
    let scores = view.scores_of(trials.iter().copied());
    let by_k = by_k(view, options);
    let few = scores.tasks < FEWEST_TASKS;
    let (mut name, mut tasks) = (name.to_owned(), number(scores.tasks));
    let at = if few || !by_k { vec![scores.at_k()] } else { scores.by_k };
    for at in at {
        let mut row = vec![std::mem::take(&mut name), std::mem::take(&mut tasks)];
        if by_k {
            row.push(at.k.to_string());
        }
        if few {
            row.extend(counts(&flat(trials.iter().copied(), false), view.label.k));
        } else {
            row.extend([at.avg_at_k, at.pass_at_k, at.pass_hat_k].map(|score| rate(&score)));
        }
        rows.push(row);
    }
    few
}

fn flat<'a>(trials: impl IntoIterator<Item = &'a TrialView>, lost_fails: bool) -> Vec<Cell> {
    cells(trials, lost_fails).into_iter().flat_map(|task| task.0).collect()
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
        return counts(&flat(&view.trials, true), view.label.k);
    }
    let at = view.scores_had_lost_failed().at_k();
    [at.avg_at_k, at.pass_at_k, at.pass_hat_k].map(|estimate| {
        let value = estimate.value.map(|value| format!("{:.1} %", value * 100.0));
        value.unwrap_or_else(|| "–".to_owned())
    })
}

/// Explains what the table shows and what it leaves out.
fn legend(view: &RunView, options: &ReportOptions, few: bool) -> String {
    let mut out = String::new();
    if is_small(view) {
        let unit = unit(view).trim_start_matches(", each task");
        let _ = writeln!(out, "passed: trials of those judged; at least once, always: tasks{unit}");
        if options.all_k {
            let _ = writeln!(
                out,
                "below {FEWEST_TASKS} tasks there are counts alone; `--json` has every k"
            );
        }
    } else {
        let _ = writeln!(out, "rates in percent; {METHOD}");
        if few {
            let _ = writeln!(
                out,
                "rows of fewer than {FEWEST_TASKS} tasks: trials passed; tasks passed at least \
                 once; tasks always passed"
            );
        }
    }
    if options.by.contains(&Grouping::Factor) {
        let _ = writeln!(out, "factor rows: tasks that have it, in their full variant where tried");
    }
    let k = view.label.k;
    let short = flat(&view.trials, false).iter().filter(|cell| cell.judged < k).count() as u64;
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
