//! What faults take off the score, by domain.

use std::collections::BTreeSet;

use super::super::figures::number;
use super::super::layout::Page;
use super::super::paired::{fraction, percent};
use super::super::sanitize::one_line;
use super::{Contrast, lost, matched, scored, table};
use crate::metrics::{FEWEST_TASKS, Pairs, Toll};

/// A contrast within one domain.
pub(super) struct Domain<'a> {
    pub(super) name: &'a str,
    pub(super) pairs: Pairs,
    pub(super) toll: Toll,
}

/// Returns a contrast by domain; empty where all tasks are of one.
pub(super) fn of<'a>(one: &Contrast<'a>) -> Vec<Domain<'a>> {
    let trials = || one.base.trials.iter().chain(&one.cell.trials).copied();
    let names: BTreeSet<&'a str> = trials().map(|trial| trial.task.domain.as_str()).collect();
    if names.len() < 2 {
        return Vec::new();
    }
    let domain = |name: &'a str| {
        let [base, cell] = [one.base, one.cell].map(|cell| {
            cell.trials.iter().copied().filter(|trial| trial.task.domain == name).collect()
        });
        let matched = matched(base, cell);
        Domain { name, pairs: matched.pairs(), toll: Toll::of(&scored(&matched)) }
    };
    names.into_iter().map(domain).collect()
}

/// Returns the table; empty where all tasks are of one domain.
pub(super) fn section(contrasts: &[Contrast<'_>], page: Page) -> String {
    let mut rows = Vec::new();
    for one in contrasts.iter().filter(|one| !one.cell.is_fault_free()) {
        let name = one.arm.with(one.cell);
        rows.extend(of(one).iter().map(|domain| row(&name, domain)));
    }
    if rows.is_empty() {
        return String::new();
    }
    table(&["by domain", "tasks", "pairs", "without", "with", "drop"], rows, page)
}

fn row(name: &str, domain: &Domain<'_>) -> Vec<String> {
    let Domain { pairs, toll, .. } = domain;
    let mut row = vec![
        format!("{name} · {}", one_line(domain.name, 40)),
        number(toll.tasks),
        number(pairs.total()),
    ];
    if toll.tasks < FEWEST_TASKS {
        let (without, with) = pairs.passed();
        row.extend([without, with].map(|passed| fraction(passed, pairs.total())));
    } else {
        row.extend([toll.score.fault_free, toll.score.faulted].map(percent));
    }
    row.push(lost(&toll.score.drop));
    row
}
