//! Whether the injector itself moves anything: `null` against `off`.
//!
//! `null` has an injector at the door that does nothing, so whatever differs beyond chance is
//! its doing. An agent without chances of its own must act the same under both, call by call;
//! how many pairs did is told, for a test that finds nothing is no proof of sameness.

use serde::Serialize;

use super::super::figures::number;
use super::super::layout::Page;
use super::super::view::TrialView;
use super::{Arm, Cell, OFF, lost, matched, probability, scored, table};
use crate::metrics::Toll;

/// `null` against `off`, for one arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Unintrusive {
    /// Pairs, judged in both.
    pub(super) pairs: usize,
    /// Those with the same verdict.
    pub(super) same_verdict: usize,
    /// Those with as many rounds and calls.
    pub(super) same_calls: usize,
    /// Those with the same final answer, or none.
    pub(super) same_answer: usize,
    /// Median of the working time that `null` took longer, in milliseconds; none of no pairs.
    pub(super) added_ms: Option<f64>,
    /// What `null` costs: the difference of scores with its interval and its test.
    pub(super) toll: Toll,
}

/// Compares the two conditions of an arm; none where it does not have both.
pub(super) fn of(arm: &Arm<'_>) -> Option<Unintrusive> {
    let off = arm.cells.iter().find(|cell| cell.faults == OFF)?;
    let null = |cell: &&Cell<'_>| cell.is_fault_free() && cell.faults != OFF;
    let null = arm.cells.iter().find(null)?;
    let matched = matched(off.trials.clone(), null.trials.clone());
    let judged = |pair: &&[&TrialView; 2]| pair.iter().all(|trial| trial.state().is_judged());
    let all = matched.contrasts.iter().flat_map(|contrast| &contrast.trials);
    let pairs: Vec<&[&TrialView; 2]> = all.filter(judged).collect();
    let count = |same: fn(&TrialView, &TrialView) -> bool| {
        pairs.iter().filter(|[off, null]| same(off, null)).count()
    };
    Some(Unintrusive {
        pairs: pairs.len(),
        same_verdict: count(|off, null| off.state() == null.state()),
        same_calls: count(|off, null| calls(off) == calls(null)),
        same_answer: count(|off, null| {
            let answer = |trial: &TrialView| trial.attempts.last()?.answer.clone();
            answer(off) == answer(null)
        }),
        added_ms: median(pairs.iter().map(|[off, null]| working(null) - working(off)).collect()),
        toll: Toll::of(&scored(&matched)),
    })
}

fn calls(trial: &TrialView) -> Option<(u32, u32)> {
    trial.attempts.last().map(|last| (last.rounds, last.calls))
}

#[expect(clippy::cast_precision_loss, reason = "no trial takes 2^52 milliseconds")]
fn working(trial: &TrialView) -> f64 {
    trial.attempts.last().map_or(0.0, |last| last.working_ms as f64)
}

/// Returns the median; of an even number the mean of the middle two.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(*values.get(middle.checked_sub(1)?)?, upper))
}

/// Returns the table; empty where no arm has both conditions.
pub(super) fn section(arms: &[Arm<'_>], page: Page) -> String {
    let row = |arm: &Arm<'_>| {
        let found = of(arm)?;
        let mut row = vec![super::one_line(arm.name, 120)];
        let counts = [found.pairs, found.same_verdict, found.same_calls, found.same_answer];
        row.extend(counts.map(number));
        row.push(lost(&found.toll.score.drop));
        row.push(probability(found.toll.test.map(|test| test.p)));
        row.push(found.added_ms.map_or_else(|| "–".to_owned(), |added| format!("{added:.0} ms")));
        Some(row)
    };
    let rows: Vec<Vec<String>> = arms.iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let header =
        ["null against off", "pairs", "same verdict", "calls", "answer", "drop", "p", "added"];
    let mut out = table(&header, rows, page);
    let what = "what an injector that does nothing changes; added: median of the working time";
    out.push_str(&page.note(what));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(Vec::new()), None);
        assert_eq!(median(vec![3.0, -1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }
}
