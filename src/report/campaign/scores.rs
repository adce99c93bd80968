//! What faults take off the score.

use super::super::figures::{counted, number};
use super::super::layout::Page;
use super::super::paired::{fraction, percent};
use super::{Contrast, METHODS, lost, probability, table};
use crate::metrics::{Estimate, FEWEST_TASKS};

/// Returns the table of scores with its legend.
pub(super) fn section(contrasts: &[Contrast<'_>], rates: bool, page: Page) -> String {
    let header = ["faults", "pairs", "without", "with", "drop", "p", "p Holm", "resilience"];
    let rows = contrasts.iter().map(row).collect();
    let mut out = table(&header, rows, page);
    out.push_str(&page.note(&format!("without: under {}, the same trials", bases(contrasts))));
    out.push_str(&page.note("pairs: one trial under both conditions, judged in both"));
    if rates {
        let what = "rates in percent, drop in points; resilience: the score with faults as a \
                    share of that without";
        out.push_str(&page.note(what));
        out.extend(METHODS.iter().map(|method| page.note(method)));
    }
    let left: Vec<String> = contrasts
        .iter()
        .filter(|one| one.left_out > 0)
        .map(|one| format!("{} {}", one.arm.with(one.cell), counted(one.left_out as u64, "pair")))
        .collect();
    if !left.is_empty() {
        out.push_str(&page.entry("left out", &left));
        out.push_str(&page.entry("", &["no verdict under one of the conditions".to_owned()]));
    }
    out
}

/// Names the conditions that others are compared with.
fn bases(contrasts: &[Contrast<'_>]) -> String {
    let mut names: Vec<&str> = contrasts.iter().map(|one| one.base.faults).collect();
    names.sort_unstable();
    names.dedup();
    format!("`{}`", names.join("`, `"))
}

fn row(one: &Contrast<'_>) -> Vec<String> {
    let toll = &one.toll;
    let mut row = vec![one.arm.with(one.cell), number(one.pairs.total())];
    if toll.tasks < FEWEST_TASKS {
        let (without, with) = one.pairs.passed();
        row.extend([without, with].map(|passed| fraction(passed, one.pairs.total())));
    } else {
        row.extend([toll.score.fault_free, toll.score.faulted].map(percent));
    }
    row.push(lost(&toll.score.drop));
    row.push(probability(toll.test.map(|test| test.p)));
    row.push(probability(one.holm));
    row.push(ratio(&toll.resilience));
    row
}

/// Returns a ratio with its interval: `0.84 [0.71–0.97]`. Below ten tasks there is none.
fn ratio(estimate: &Estimate) -> String {
    let Some(value) = estimate.value.filter(|_| estimate.tasks >= FEWEST_TASKS) else {
        return "–".to_owned();
    };
    match estimate.ci95 {
        Some((low, high)) => format!("{value:.2} [{low:.2}–{high:.2}]"),
        None => format!("{value:.2}"),
    }
}
