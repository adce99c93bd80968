//! What a rubric judge gave: means overall, by condition and by domain, or by what is asked
//! for.
//!
//! A trial that ended without an answer counts with 0 in every score; beside that stand the
//! means of those that answered. Trials that are lost or not judged are in neither.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::groups::{Grouping, grouped};
use super::layout::Page;
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::metrics::{MeanScore, RubricMeans};
use crate::verdict::{Rubric, Scores};

/// What is told where nothing else is asked for.
const USUAL: [Grouping; 2] = [Grouping::Condition, Grouping::Domain];

/// The columns of the table: a heading, and the place in [`Scores::NAMES`].
const COLUMNS: [(&str, usize); 10] = [
    ("completion", 6),
    ("selection", 7),
    ("planning", 8),
    ("fulfilment", 0),
    ("grounded", 9),
    ("grounding", 1),
    ("tools", 2),
    ("parameters", 3),
    ("dependencies", 4),
    ("efficiency", 5),
];

/// Trials that have scores.
fn known(view: &RunView) -> Vec<&TrialView> {
    let is_known = |trial: &&TrialView| trial.rubric.is_some() && trial.state().is_judged();
    view.trials.iter().filter(is_known).collect()
}

/// Takes the means of trials. A task counts once a condition and variant, as elsewhere.
fn means(trials: &[&TrialView]) -> RubricMeans {
    let mut tasks: BTreeMap<&str, Vec<Rubric>> = BTreeMap::new();
    for trial in trials {
        tasks.entry(&trial.id.task).or_default().extend(trial.rubric);
    }
    let tasks: Vec<Vec<Rubric>> = tasks.into_values().collect();
    RubricMeans::of(&tasks)
}

/// Returns the section on the scores; empty where no rubric judge gave any.
pub(super) fn section(view: &RunView, by: &[Grouping], page: Page) -> String {
    let known = known(view);
    if known.is_empty() {
        return String::new();
    }
    let mut header = vec![page.bold("rubric"), "trials".to_owned(), "answered".to_owned()];
    header.extend(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    let mut rows = vec![header];
    for by in if by.is_empty() { &USUAL[..] } else { by } {
        let groups = grouped(&known, *by);
        if groups.len() < 2 {
            continue;
        }
        for group in groups {
            let name = format!("{} {}", by.name(), one_line(&group.name, 60));
            rows.push(row(&name, &means(&group.trials)));
        }
    }
    let all = means(&known);
    rows.push(row("overall", &all));
    if all.completed < all.trials {
        rows.push(row_of("answered alone", (all.completed, all.completed), &all.completed_only));
    }
    let mut out = format!("\n{}\n", page.table(&rows).join("\n"));
    out.push_str(&page.note(
        "means over tasks of scores from 0 to 10, 0 without an answer; grounded: fulfilment where \
         the tools were appropriate (2 or more), else 0",
    ));
    out
}

fn row(name: &str, means: &RubricMeans) -> Vec<String> {
    row_of(name, (means.trials, means.completed), &means.all)
}

fn row_of(name: &str, (trials, answered): (usize, usize), scores: &[MeanScore]) -> Vec<String> {
    let mut row = vec![name.to_owned(), trials.to_string(), answered.to_string()];
    row.extend(COLUMNS.iter().map(|(_, at)| {
        let value = scores.get(*at).and_then(|score| score.value);
        value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
    }));
    row
}

/// Returns the same for programs, by condition, domain and what is asked for; `null` where no
/// rubric judge gave scores.
pub(super) fn json(view: &RunView, by: &[Grouping]) -> Value {
    let known = known(view);
    if known.is_empty() {
        return Value::Null;
    }
    let mut all = Map::new();
    all.insert("overall".to_owned(), value(&means(&known)));
    for by in USUAL.iter().chain(by) {
        let groups = grouped(&known, *by).into_iter();
        let groups = groups.map(|group| (group.name, value(&means(&group.trials))));
        all.insert(format!("by_{}", by.name().replace('-', "_")), Value::Object(groups.collect()));
    }
    Value::Object(all)
}

fn value(means: &RubricMeans) -> Value {
    let named = |scores: &[MeanScore]| -> Map<String, Value> {
        let names = Scores::NAMES.iter().zip(scores);
        names.map(|(name, score)| ((*name).to_owned(), json!(score))).collect()
    };
    json!({
        "trials": means.trials,
        "completed": means.completed,
        "tasks": means.tasks,
        "scores": named(&means.all),
        "completed_only": named(&means.completed_only),
    })
}
