//! Who came to an answer, and what faults take off the score of those who did.

use super::super::figures::number;
use super::super::layout::Page;
use super::super::paired::percent;
use super::{Contrast, lost, table};
use crate::metrics::{FEWEST_TASKS, Fall};

/// Returns the table of completion; empty where there are too few tasks for rates.
pub(super) fn section(contrasts: &[Contrast<'_>], rates: bool, page: Page) -> String {
    if !rates {
        return String::new();
    }
    let header =
        ["completed", "without", "with", "drop", "pairs both", "score without", "with", "drop"];
    let mut out = table(&header, contrasts.iter().map(row).collect(), page);
    let what = "completed: an answer was given, whatever it says; behind `pairs both`, scores of \
                the pairs that were completed under both conditions";
    out.push_str(&page.note(what));
    out
}

fn row(one: &Contrast<'_>) -> Vec<String> {
    let toll = &one.toll;
    let mut row = vec![one.arm.with(one.cell)];
    row.extend(figures(&toll.completion));
    row.push(number(toll.completed_pairs));
    row.extend(figures(&toll.completed));
    row
}

/// Returns both sides and what is lost between them.
fn figures(fall: &Fall) -> [String; 3] {
    let enough = fall.drop.tasks >= FEWEST_TASKS;
    let side = |value: Option<f64>| percent(value.filter(|_| enough));
    [side(fall.fault_free), side(fall.faulted), lost(&fall.drop)]
}
