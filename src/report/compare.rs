//! Two runs side by side: `wildgym compare`.
//!
//! Scores and their difference come from pairs alone: trials at the same task, in the
//! same variant, of the same number, with a verdict in both runs. What has no counterpart
//! or no verdict is counted and left out. The difference is B minus A.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::comparable::Difference;
use super::figures::{counted, duration, each, mean, number};
use super::layout::{Page, cut};
use super::paired::{Contrast, Matched, fraction, percent, points};
use super::sanitize::{one_line, visible};
use super::view::{RunLabel, RunView, TrialView, work_of};
use crate::metrics::{FEWEST_TASKS, Flip, PAIRED_METHOD, State, Tally, Work};

/// Most columns of a reason, however wide the page is.
const REASON: usize = 300;

/// Two runs to compare, each under one condition.
#[derive(Debug)]
pub struct Comparison {
    /// The first run.
    pub a: RunView,
    /// The second run.
    pub b: RunView,
    /// In what they differ: all that forbids a comparison was allowed.
    pub differences: Vec<Difference>,
    /// Whether both are one directory.
    pub same_run: bool,
}

impl Comparison {
    fn matched(&self) -> Matched<'_> {
        let sides = [&self.a, &self.b].map(|view| view.trials.iter().collect());
        Matched::of(sides, |trial| (trial.id.task.as_str(), &trial.id.variant))
    }

    /// Returns whether the runs have a trial in common.
    #[must_use]
    pub fn has_common_trials(&self) -> bool {
        !self.matched().contrasts.is_empty()
    }

    /// Returns whether there is a pair, and each trial in common has a verdict in both runs
    /// or was skipped.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let matched = self.matched();
        let complete = |side| tally(&matched, side).is_complete();
        matched.pairs().total() > 0 && complete(0) && complete(1)
    }
}

fn tally(matched: &Matched<'_>, side: usize) -> Tally {
    matched.side(side).map(TrialView::state).collect()
}

/// Returns the comparison for a terminal of `width` columns; `usize::MAX` is for what is
/// no terminal.
#[must_use]
pub fn comparison_terminal(comparison: &Comparison, width: usize, colour: bool) -> String {
    let page = Page::new(width, colour);
    let matched = comparison.matched();
    let mut out = heading(comparison, page);
    out.push_str(&differing(comparison, page));
    out.push_str(&figures(comparison, &matched, page));
    out.push_str(&flips(&matched, Flip::ToFail, "passes mostly in A, not in B", page));
    out.push_str(&flips(&matched, Flip::ToPass, "passes mostly in B, not in A", page));
    out
}

/// Names the runs and what they have in common.
fn heading(comparison: &Comparison, page: Page) -> String {
    let mut out = String::new();
    for (name, view) in [("A", &comparison.a), ("B", &comparison.b)] {
        let RunLabel { run, agent, model, .. } = &view.label;
        let model = model.as_ref().map(|model| format!(" · model {model}")).unwrap_or_default();
        let running = if view.running { " · still running" } else { "" };
        let line = one_line(&format!("{name}  {run} · agent {agent}{model}{running}"), 300);
        let _ = writeln!(out, "{}", page.bold(&line));
    }
    let label = &comparison.a.label;
    let differs = |what: &str| comparison.differences.iter().any(|found| found.what == what);
    let mut parts = Vec::new();
    if !differs("suite") {
        let digest: String = label.suite.digest.chars().take(12).collect();
        parts.push(format!("{} {} ({digest})", label.suite.name, label.suite.version));
    }
    if !differs("judge") {
        parts.push(format!("judge {}", comparison.a.judge_line()));
    }
    if !differs("web") {
        parts.push(format!("web {}", label.web));
    }
    let parts: Vec<String> = parts.iter().map(|part| one_line(part, 200)).collect();
    if !parts.is_empty() {
        out.push_str(&page.entry("both", &parts));
    }
    let (of_a, of_b) = (label.web_lines(), comparison.b.label.web_lines());
    let sides =
        if of_a == of_b { vec![("web", of_a)] } else { vec![("web A", of_a), ("web B", of_b)] };
    for (name, lines) in sides {
        for (index, line) in lines.into_iter().enumerate() {
            out.push_str(&page.entry(if index == 0 { name } else { "" }, &[line]));
        }
    }
    if comparison.same_run && !differs("condition") {
        out.push_str(&page.entry("note", &["A and B are the same run".to_owned()]));
    }
    out
}

/// Lists in what the runs differ, what was allowed first.
fn differing(comparison: &Comparison, page: Page) -> String {
    let mut out = String::new();
    for (fatal, name) in [(true, "allowed"), (false, "differs")] {
        let found = comparison.differences.iter().filter(|found| found.is_fatal() == fatal);
        let mut lines: Vec<&str> =
            found.flat_map(|found| &found.lines).map(String::as_str).collect();
        if fatal && !lines.is_empty() {
            lines.push("what was allowed to differ may explain all of the difference");
        }
        for (index, line) in lines.into_iter().enumerate() {
            out.push_str(&page.entry(if index == 0 { name } else { "" }, &[line.to_owned()]));
        }
    }
    out.push('\n');
    out
}

/// The table: scores over pairs, what was left out, and what the attempts took.
fn figures(comparison: &Comparison, matched: &Matched<'_>, page: Page) -> String {
    let (paired, pairs) = (matched.paired(), matched.pairs());
    let (in_a, in_b) = pairs.passed();
    let total = pairs.total();
    let row = |name: &str, [a, b]: [String; 2]| vec![name.to_owned(), a, b];
    let mut rows = vec![row("", ["A", "B"].map(str::to_owned))];
    if paired.tasks >= FEWEST_TASKS {
        let mut scores = row("score, %", [percent(paired.first), percent(paired.second)]);
        scores.push(points(&paired));
        rows.push(scores);
        rows[0].push("B - A".to_owned());
    }
    rows.push(row("passed", [fraction(in_a, total), fraction(in_b, total)]));
    rows.push(row("passed only here", [pairs.only_first, pairs.only_second].map(number)));
    for state in [State::Degraded, State::Unjudged, State::Lost, State::Skipped, State::Pending] {
        let counts = [0, 1].map(|side| tally(matched, side).of(state));
        let name = if state == State::Pending { "not begun" } else { state.name() };
        if counts != [0, 0] {
            rows.push(row(name, counts.map(number)));
        }
    }
    if matched.alone != [0, 0] {
        rows.push(row("not in the other", matched.alone.map(number)));
    }
    rows.extend(usage(matched).into_iter().map(|(name, sides)| row(name, sides)));
    // Columns that not every row has are empty there.
    let columns = rows[0].len();
    for row in &mut rows {
        row.resize(columns, String::new());
    }
    let mut lines: Vec<String> =
        page.table(&rows).iter().map(|line| line.trim_end().to_owned()).collect();
    if let Some(first) = lines.first_mut() {
        *first = page.bold(first);
    }
    format!("{}\n{}", lines.join("\n"), legend(comparison, matched, page))
}

/// What the attempts at the trials in common took, per attempt.
fn usage(matched: &Matched<'_>) -> Vec<(&'static str, [String; 2])> {
    let totals = [0, 1].map(|side| work_of(matched.side(side)));
    if totals.iter().all(|totals| totals.attempts == 0) {
        return Vec::new();
    }
    // Means are over the attempts of which it is known what they took.
    let means = |name, of: &dyn Fn(&Work) -> String| {
        let none = |totals: &Work| totals.finished() == 0;
        (name, totals.map(|totals| if none(&totals) { "–".to_owned() } else { of(&totals) }))
    };
    let mut rows = vec![("attempts", totals.map(|totals| number(totals.attempts)))];
    if totals.iter().any(|totals| totals.unfinished > 0) {
        rows.push(("killed, in no mean", totals.map(|totals| number(totals.unfinished))));
    }
    rows.push(means("rounds an attempt", &|t| mean(t.rounds, t.finished())));
    rows.push(means("calls an attempt", &|t| mean(t.calls, t.finished())));
    if totals.iter().any(|totals| totals.usage.total() > 0) {
        let tokens = |count: u64, totals: &Work| number(each(count, totals.finished()));
        rows.push(means("tokens in an attempt", &|t| tokens(t.usage.input, t)));
        rows.push(means("tokens out an attempt", &|t| tokens(t.usage.output, t)));
    }
    rows.push(means("work an attempt", &|t| duration(each(t.working_ms, t.finished()))));
    rows
}

fn legend(comparison: &Comparison, matched: &Matched<'_>, page: Page) -> String {
    let (paired, pairs) = (matched.paired(), matched.pairs());
    let mut out = String::new();
    let tasks = counted(paired.tasks as u64, "task");
    let same = [
        format!("{} at {tasks}", counted(u64::from(pairs.total()), "pair")),
        format!("{} passed in both", number(pairs.both)),
        format!("{} in neither", number(pairs.neither)),
    ];
    out.push_str(&page.entry("pairs", &same));
    let what = "a pair is one trial judged in both runs: same task, variant and number";
    out.push_str(&page.entry("", &[what.to_owned()]));
    let mostly = "a task passes where most of its pairs do";
    out.push_str(&page.entry("", &[mostly.to_owned()]));
    if paired.tasks >= FEWEST_TASKS {
        out.push_str(&page.entry("", &[PAIRED_METHOD.to_owned()]));
    } else {
        let few = format!("fewer than {FEWEST_TASKS} tasks: counts only");
        out.push_str(&page.entry("", &[few]));
    }
    let left = matched.left_out();
    if left > 0 {
        let line = format!("{} left out for want of a verdict in one of the runs", number(left));
        out.push_str(&page.entry("", &[line]));
    }
    if comparison.a.running || comparison.b.running {
        let line = "a run is still being written; this is what is judged so far";
        out.push_str(&page.entry("", &[line.to_owned()]));
    }
    out
}

/// Lists every task that changed in one way, each in each of its variants, with why it
/// did not pass.
fn flips(matched: &Matched<'_>, way: Flip, title: &str, page: Page) -> String {
    let flips = matched.flips(way);
    if flips.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = flips
        .iter()
        .map(|flip| {
            let total = flip.pairs.total();
            let (in_a, in_b) = flip.pairs.passed();
            vec![
                one_line(&name(flip), 120),
                format!("A {}", fraction(in_a, total)),
                format!("B {}", fraction(in_b, total)),
                cut(&one_line(&reason(flip, way).unwrap_or_default(), usize::MAX), REASON),
            ]
        })
        .collect();
    let title = format!("{title} ({})", number(flips.len()));
    format!("\n{}\n{}\n", page.bold(&title), page.rows(&rows).join("\n"))
}

/// Returns the task with its variant.
fn name(flip: &Contrast<'_>) -> String {
    let first = flip.trials.first();
    first.map(|[trial, _]| format!("{}/{}", trial.id.task, trial.id.variant)).unwrap_or_default()
}

/// Returns why the first trial of the failing side that is a pair did not pass.
fn reason(flip: &Contrast<'_>, way: Flip) -> Option<String> {
    let side = match way {
        Flip::ToPass => 0,
        Flip::ToFail => 1,
    };
    let judged = flip.trials.iter().filter(|trials| trials.iter().all(|t| t.state().is_judged()));
    let mut failed = judged.map(|trials| trials[side]).filter(|t| t.state() != State::Pass);
    failed.next()?.reason()
}

/// Returns the comparison for programs. Fractions lie in `0..=1`, times are in milliseconds.
#[must_use]
pub fn comparison_json(comparison: &Comparison) -> Value {
    let matched = comparison.matched();
    let (paired, pairs) = (matched.paired(), matched.pairs());
    let flipped = |way| -> Vec<Value> {
        let flips = matched.flips(way);
        let value = |flip: &&Contrast<'_>| {
            let (in_a, in_b) = flip.pairs.passed();
            json!({
                "task": flip.trials.first().map(|[trial, _]| &trial.id.task),
                "variant": flip.trials.first().map(|[trial, _]| &trial.id.variant),
                "pairs": flip.pairs.total(),
                "a": in_a,
                "b": in_b,
                "reason": reason(flip, way),
            })
        };
        flips.iter().map(value).collect()
    };
    let differences: Vec<Value> = comparison
        .differences
        .iter()
        .map(|found| json!({ "what": found.what, "allowed": found.is_fatal(), "how": found.lines }))
        .collect();
    json!({
        "a": side(&comparison.a, &matched, 0),
        "b": side(&comparison.b, &matched, 1),
        "differences": differences,
        "tasks": paired.tasks,
        "pairs": {
            "total": pairs.total(),
            "both": pairs.both,
            "only_a": pairs.only_first,
            "only_b": pairs.only_second,
            "neither": pairs.neither,
        },
        "left_out": matched.left_out(),
        "score": { "a": paired.first, "b": paired.second },
        "difference": { "value": paired.difference, "ci95": paired.ci95 },
        "intervals": PAIRED_METHOD,
        "flipped": { "to_pass": flipped(Flip::ToPass), "to_fail": flipped(Flip::ToFail) },
    })
}

fn side(view: &RunView, matched: &Matched<'_>, side: usize) -> Value {
    let label = &view.label;
    let totals = work_of(matched.side(side));
    json!({
        "run": visible(&label.run),
        "agent": label.agent,
        "model": label.model,
        "judge": label.judge,
        "running": view.running,
        "trials": tally(matched, side),
        "pending": tally(matched, side).pending,
        "not_in_the_other": matched.alone[side],
        "usage": {
            "attempts": totals.attempts,
            "unfinished_attempts": totals.unfinished,
            "rounds": totals.rounds,
            "calls": totals.calls,
            "tokens": totals.usage,
            "working_ms": totals.working_ms,
        },
    })
}
