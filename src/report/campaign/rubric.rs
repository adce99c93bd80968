//! What faults take off the scores of a rubric judge, where one gave any.
//!
//! These are the scores of MCP-Injector. A trial that came to no answer has 0 in each.

use std::collections::BTreeMap;

use super::super::figures::number;
use super::super::layout::Page;
use super::super::view::TrialView;
use super::{Contrast, matched, probability, scored_by, table};
use crate::metrics::{Estimate, FEWEST_TASKS, Scored, Toll};
use crate::verdict::{HIGHEST, Scores};

/// The scores of the table: a heading, and the place in [`Scores::NAMES`].
const COLUMNS: [(&str, usize); 4] =
    [("completion", 6), ("selection", 7), ("planning", 8), ("grounded", 9)];

/// Returns what each score of a rubric judge loses, by its name; scores are shares of the
/// highest. Empty where no pair has any.
pub(super) fn tolls(one: &Contrast<'_>) -> BTreeMap<&'static str, Toll> {
    let matched = matched(one.base.trials.clone(), one.cell.trials.clone());
    let toll = |(at, name): (usize, &&'static str)| {
        let score = |trial: &TrialView| {
            let rubric = trial.rubric?;
            Some(Scored { score: rubric.all()[at] / HIGHEST, completed: rubric.completed })
        };
        let toll = Toll::of(&scored_by(&matched, score));
        (toll.pairs > 0).then_some((*name, toll))
    };
    Scores::NAMES.iter().enumerate().filter_map(toll).collect()
}

/// Returns the table; empty where no rubric judge gave scores, or there are too few tasks.
pub(super) fn section(contrasts: &[Contrast<'_>], rates: bool, page: Page) -> String {
    let row = |one: &Contrast<'_>| {
        let tolls = tolls(one);
        let completion = tolls.get(Scores::NAMES[6])?;
        let mut row = vec![one.arm.with(one.cell), number(completion.pairs)];
        let drops = COLUMNS.iter().map(|(_, at)| {
            let toll = tolls.get(Scores::NAMES[*at]);
            toll.map_or_else(|| "–".to_owned(), |toll| lost(&toll.score.drop))
        });
        row.extend(drops);
        row.push(probability(completion.test.map(|test| test.p)));
        Some(row)
    };
    let rows: Vec<Vec<String>> = contrasts.iter().filter(|_| rates).filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut header = vec!["drop by rubric", "pairs"];
    header.extend(COLUMNS.iter().map(|(name, _)| *name));
    header.push("p completion");
    let mut out = table(&header, rows, page);
    out.push_str(&page.note("scores from 0 to 10, 0 without an answer; p is not corrected"));
    out
}

/// Returns what is lost of a score: `2.1 [1.0 to 3.3]`. Below ten tasks there is no mean.
fn lost(drop: &Estimate) -> String {
    let Some(value) = drop.value.filter(|_| drop.tasks >= FEWEST_TASKS) else {
        return "–".to_owned();
    };
    // Zero has no sign.
    let points = |value: f64| format!("{:.1}", (value * HIGHEST * 10.0).round() / 10.0 + 0.0);
    match drop.ci95 {
        Some((low, high)) => format!("{} [{} to {}]", points(value), points(low), points(high)),
        None => points(value),
    }
}
