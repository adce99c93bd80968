//! What faults cost: agents and models under each condition against themselves without faults.
//!
//! Conditions of a run that differ in nothing but their faults are an *arm*: one agent with
//! one model. Within an arm each condition is set against the one without faults, `off` where
//! it was tried and else `null`, in pairs: one trial in both, at the same task, with the same
//! seed, judged in both. Arms are never pooled. The sections stand in every report of a run
//! that has such pairs, however it was started; a run without any has none of them.

mod completion;
mod csv;
mod domains;
mod latency;
mod rubric;
mod scores;
mod unintrusive;
mod value;

use std::collections::BTreeMap;

use wildgym_tasks::Variant;

use super::layout::Page;
use super::paired::Matched;
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::metrics::{
    BOOTSTRAP_METHOD, Estimate, FEWEST_TASKS, Pairs, SIGNED_RANK_METHOD, Scored, ScoredPair, State,
    Toll, holm,
};
use crate::record::Outcome;

pub use self::csv::{cells as cells_csv, trials as trials_csv};

pub(super) use self::value::value;

/// The condition without an injector.
pub const OFF: &str = "off";

/// The condition with an injector that does nothing.
const NULL: &str = "null";

/// An agent with its model, under several conditions.
struct Arm<'a> {
    name: &'a str,
    agent: &'a str,
    model: Option<&'a str>,
    /// What it was tried under; those without faults first.
    cells: Vec<Cell<'a>>,
}

/// One condition of an arm.
struct Cell<'a> {
    /// Name of the condition in the run.
    condition: &'a str,
    /// Its faults.
    faults: &'a str,
    trials: Vec<&'a TrialView>,
}

/// A condition against the one without faults.
struct Contrast<'a> {
    arm: &'a Arm<'a>,
    base: &'a Cell<'a>,
    cell: &'a Cell<'a>,
    /// Its pairs by what passed.
    pairs: Pairs,
    /// Matched trials that lack a verdict on a side.
    left_out: usize,
    toll: Toll,
    /// The test's probability, corrected; none where there is no test, and for `null`, which
    /// is no fault and in no family of tests.
    holm: Option<f64>,
}

impl Cell<'_> {
    /// Returns whether nothing acts on calls.
    fn is_fault_free(&self) -> bool {
        is_fault_free(self.faults)
    }
}

fn is_fault_free(faults: &str) -> bool {
    let profile = faults.split(':').next().unwrap_or(faults);
    [OFF, NULL].contains(&profile)
}

impl Arm<'_> {
    /// Returns the condition that others are compared with.
    fn base(&self) -> Option<&Cell<'_>> {
        self.cells.first().filter(|cell| cell.is_fault_free())
    }

    /// Returns its name, safe to print, with that of one of its conditions.
    fn with(&self, cell: &Cell<'_>) -> String {
        one_line(&format!("{} · {}", self.name, cell.faults), 120)
    }
}

/// Returns where faults stand in lists: `off`, `null`, then by name.
fn place(faults: &str) -> (u8, &str) {
    match faults {
        OFF => (0, faults),
        _ if is_fault_free(faults) => (1, faults),
        _ => (2, faults),
    }
}

/// Returns the arms of a run of which some condition has one to be compared with; none where
/// there is no such.
fn arms(view: &RunView) -> Vec<Arm<'_>> {
    let mut arms: BTreeMap<&str, Arm<'_>> = BTreeMap::new();
    for (condition, label) in &view.label.conditions {
        let arm = arms.entry(&label.arm).or_insert_with(|| Arm {
            name: &label.arm,
            agent: &label.agent,
            model: label.model.as_deref(),
            cells: Vec::new(),
        });
        let trials = view.trials.iter().filter(|trial| trial.id.condition == *condition).collect();
        arm.cells.push(Cell { condition, faults: &label.faults, trials });
    }
    for arm in arms.values_mut() {
        arm.cells.sort_by(|a, b| place(a.faults).cmp(&place(b.faults)));
    }
    let compared = |arm: &Arm<'_>| arm.cells.len() > 1 && arm.base().is_some();
    if arms.values().any(compared) { arms.into_values().collect() } else { Vec::new() }
}

/// Returns each condition against the one without faults.
fn contrasts<'a>(arms: &'a [Arm<'a>]) -> Vec<Contrast<'a>> {
    let mut all: Vec<Contrast<'a>> = Vec::new();
    for arm in arms {
        let Some(base) = arm.base() else { continue };
        for cell in arm.cells.iter().skip(1) {
            let matched = matched(base.trials.clone(), cell.trials.clone());
            let (pairs, left_out) = (matched.pairs(), matched.left_out());
            let toll = Toll::of(&scored(&matched));
            all.push(Contrast { arm, base, cell, pairs, left_out, toll, holm: None });
        }
    }
    let tested = |one: &Contrast<'_>| one.toll.test.filter(|_| !one.cell.is_fault_free());
    let corrected: Vec<f64> = all.iter().filter_map(tested).map(|test| test.p).collect();
    let mut corrected = holm(&corrected).into_iter();
    for one in &mut all {
        one.holm = tested(one).and_then(|_| corrected.next());
    }
    all
}

/// Matches trials without faults with those that have some.
fn matched<'a>(base: Vec<&'a TrialView>, cell: Vec<&'a TrialView>) -> Matched<'a> {
    let key =
        |trial: &'a TrialView| -> (&'a str, &'a Variant) { (&trial.id.task, &trial.id.variant) };
    Matched::of([base, cell], key)
}

/// Returns the judged pairs by task.
fn scored(matched: &Matched<'_>) -> Vec<Vec<ScoredPair>> {
    scored_by(matched, |trial| Some(score(trial)))
}

/// The same by another score; pairs that have none on a side are left out.
fn scored_by(
    matched: &Matched<'_>,
    score: impl Fn(&TrialView) -> Option<Scored>,
) -> Vec<Vec<ScoredPair>> {
    let mut tasks: BTreeMap<&str, Vec<ScoredPair>> = BTreeMap::new();
    let score = |trial: &TrialView| score(trial).filter(|_| trial.state().is_judged());
    for [base, cell] in matched.contrasts.iter().flat_map(|contrast| &contrast.trials) {
        if let (Some(without), Some(with)) = (score(base), score(cell)) {
            tasks.entry(&base.id.task).or_default().push([without, with]);
        }
    }
    tasks.into_values().collect()
}

/// Returns the score of a judged trial: passed or not.
fn score(trial: &TrialView) -> Scored {
    let passed = trial.state() == State::Pass;
    Scored { score: f64::from(u8::from(passed)), completed: is_completed(trial) }
}

/// Returns whether a trial came to an answer, whatever that says.
fn is_completed(trial: &TrialView) -> bool {
    trial.attempts.last().is_some_and(|last| last.outcome == Outcome::Answered)
}

/// Returns the sections of the report for people; empty where the run has no pairs.
pub(super) fn section(view: &RunView, page: Page) -> String {
    let arms = arms(view);
    let contrasts = contrasts(&arms);
    if contrasts.is_empty() {
        return String::new();
    }
    let rates = contrasts.iter().any(|one| one.toll.tasks >= FEWEST_TASKS);
    let mut out = scores::section(&contrasts, rates, page);
    out.push_str(&completion::section(&contrasts, rates, page));
    out.push_str(&rubric::section(&contrasts, rates, page));
    out.push_str(&domains::section(&contrasts, page));
    out.push_str(&unintrusive::section(&arms, page));
    out.push_str(&latency::section(&arms, &contrasts, page));
    out
}

/// Sets rows under a header in bold, behind an empty line.
fn table(header: &[&str], rows: Vec<Vec<String>>, page: Page) -> String {
    let mut all = vec![header.iter().map(|&name| name.to_owned()).collect()];
    all.extend(rows);
    let mut lines = page.table(&all);
    if let Some(first) = lines.first_mut() {
        *first = page.bold(first);
    }
    format!("\n{}\n", lines.join("\n"))
}

/// Returns what is lost in percentage points with its interval: `17.1 [3.2 to 31.0]`. Below ten
/// tasks there is no rate.
fn lost(drop: &Estimate) -> String {
    let Some(value) = drop.value.filter(|_| drop.tasks >= FEWEST_TASKS) else {
        return "–".to_owned();
    };
    let points = |value: f64| {
        let rounded = (value * 1000.0).round() / 10.0;
        // Zero has no sign.
        format!("{:.1}", rounded + 0.0)
    };
    match drop.ci95 {
        Some((low, high)) => format!("{} [{} to {}]", points(value), points(low), points(high)),
        None => points(value),
    }
}

/// Returns a probability as people read it.
fn probability(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// What a report says of the methods.
const METHODS: [&str; 2] = [BOOTSTRAP_METHOD, SIGNED_RANK_METHOD];
