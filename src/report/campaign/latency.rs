//! How long trials take: the agent, the evaluation, and both.
//!
//! Real time is what the machine took. Faults that delay take none of it: they pass on the
//! task's own clock, which is what an agent sees, so what they add there is told beside.

use serde::Serialize;

use super::super::figures::duration;
use super::super::layout::Page;
use super::super::view::TrialView;
use super::unintrusive::median;
use super::{Arm, Cell, Contrast, matched, table};

/// How long the trials of a condition took, in milliseconds; figures are of trials whose last
/// attempt was closed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Latency {
    /// Trials that have a time.
    pub(super) trials: usize,
    /// The agent's working time and the judge's.
    pub(super) end_to_end: Times,
    /// The agent's working time, waiting for its model and its calls included.
    pub(super) agent: Times,
    /// What judging took.
    pub(super) evaluation: Times,
}

/// Times of trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Times {
    /// Mean; none without trials.
    pub(super) mean_ms: Option<f64>,
    /// Median.
    pub(super) median_ms: Option<f64>,
}

impl Times {
    #[expect(clippy::cast_precision_loss, reason = "no run has so many trials or milliseconds")]
    fn of(times: impl Iterator<Item = u64>) -> Self {
        let times: Vec<f64> = times.map(|ms| ms as f64).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        Self { mean_ms: (!times.is_empty()).then_some(mean), median_ms: median(times) }
    }
}

/// Returns how long the trials of a condition took.
pub(super) fn of(cell: &Cell<'_>) -> Latency {
    let last = |trial: &&TrialView| {
        let last = trial.attempts.last().filter(|last| last.closed)?;
        Some((last.working_ms, trial.judging.took_ms))
    };
    let times: Vec<(u64, u64)> = cell.trials.iter().filter_map(last).collect();
    Latency {
        trials: times.len(),
        end_to_end: Times::of(times.iter().map(|(agent, judge)| agent.saturating_add(*judge))),
        agent: Times::of(times.iter().map(|(agent, _)| *agent)),
        evaluation: Times::of(times.iter().map(|(_, judge)| *judge)),
    }
}

/// Returns the mean of what a condition adds on the tasks' clocks, in milliseconds, over the
/// pairs; none where no pair has both times.
#[expect(clippy::cast_precision_loss, reason = "no clock runs for 2^52 milliseconds")]
pub(super) fn added_on_clock(one: &Contrast<'_>) -> Option<f64> {
    let matched = matched(one.base.trials.clone(), one.cell.trials.clone());
    let added = |[base, cell]: &[&TrialView; 2]| {
        let clock = |trial: &TrialView| trial.attempts.last()?.clock;
        Some(clock(cell)?.as_millisecond() - clock(base)?.as_millisecond())
    };
    let all = matched.contrasts.iter().flat_map(|contrast| &contrast.trials);
    let added: Vec<i64> = all.filter_map(added).collect();
    (!added.is_empty()).then(|| added.iter().sum::<i64>() as f64 / added.len() as f64)
}

/// Returns the table of times.
pub(super) fn section(arms: &[Arm<'_>], contrasts: &[Contrast<'_>], page: Page) -> String {
    let mut rows = Vec::new();
    for (arm, cell) in arms.iter().flat_map(|arm| arm.cells.iter().map(move |cell| (arm, cell))) {
        let Latency { end_to_end, agent, evaluation, .. } = of(cell);
        let mut row = vec![arm.with(cell)];
        row.extend([end_to_end, agent, evaluation].map(|times| shown(times.mean_ms)));
        let own = contrasts.iter().find(|one| one.cell.condition == cell.condition);
        row.push(own.and_then(added_on_clock).map_or_else(|| "–".to_owned(), signed));
        rows.push(row);
    }
    let header = ["time of a trial", "end to end", "agent", "evaluation", "added by the clock"];
    let mut out = table(&header, rows, page);
    let what = "means in real time; delays of faults take none and pass on the task's clock: what \
                faults add there, as a mean over pairs";
    out.push_str(&page.note(what));
    out
}

/// Returns a time, rounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float saturates where an integer ends"
)]
fn shown(ms: Option<f64>) -> String {
    ms.map_or_else(|| "–".to_owned(), |ms| duration(ms.round() as u64))
}

/// The same with a sign.
fn signed(ms: f64) -> String {
    let sign = if ms.round() < 0.0 { "−" } else { "" };
    format!("{sign}{}", shown(Some(ms.abs())))
}
