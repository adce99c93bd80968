//! What each factor costs: tasks as they are against the same with one factor idealised.
//!
//! `AgentGym2` (its Table 4) sets the score of all tasks with a factor beside that of an
//! idealised set, which need not be the same tasks. Here a factor's row holds only trials
//! that exist in both variants, at the same task, of the same number and so with the same
//! seed, and judged in both. The section stands in every report of a run that has such
//! pairs, however it was started.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use wildgym_tasks::{Factor, Variant};

use super::figures::{counted, number};
use super::layout::Page;
use super::paired::{Matched, fraction, percent, points};
use super::view::{RunView, TrialView};
use crate::metrics::{FEWEST_TASKS, Flip, PAIRED_METHOD};

/// Most flipped tasks that are named, each way.
const NAMED: usize = 10;

/// A factor with the trials of its tasks, full and idealised.
struct Effect<'a> {
    factor: Factor,
    matched: Matched<'a>,
}

/// Returns the factors of which the run has both variants of a trial.
fn effects<'a>(view: &'a RunView) -> Vec<Effect<'a>> {
    let of = |variant: &Variant| -> Vec<&'a TrialView> {
        view.trials.iter().filter(|trial| trial.id.variant == *variant).collect()
    };
    let full = of(&Variant::default());
    let effect = |factor| {
        let ideal = of(&Variant::ideal([factor]));
        if ideal.is_empty() {
            return None;
        }
        let key = |trial: &'a TrialView| (trial.id.condition.as_str(), trial.id.task.as_str());
        let matched = Matched::of([full.clone(), ideal], key);
        (!matched.contrasts.is_empty()).then_some(Effect { factor, matched })
    };
    Factor::ALL.into_iter().filter_map(effect).collect()
}

/// Returns the section of the report for people; empty where the run has no pairs.
pub(super) fn section(view: &RunView, page: Page) -> String {
    let effects = effects(view);
    if effects.is_empty() {
        return String::new();
    }
    let rates = effects.iter().any(|effect| effect.matched.paired().tasks >= FEWEST_TASKS);
    let mut rows = vec![header(rates)];
    rows.extend(effects.iter().map(|effect| row(effect, rates)));
    let mut lines = page.table(&rows);
    if let Some(first) = lines.first_mut() {
        *first = page.bold(first);
    }
    let mut out = format!("\n{}\n", lines.join("\n"));
    for effect in &effects {
        for (way, what) in
            [(Flip::ToPass, "passes only idealised"), (Flip::ToFail, "passes only in full")]
        {
            out.push_str(&flipped(effect, way, what, page));
        }
    }
    out.push_str(&legend(&effects, rates, page));
    out
}

fn header(rates: bool) -> Vec<String> {
    let mut names = vec!["factor", "tasks", "pairs", "in full", "idealised"];
    if rates {
        names.push("difference");
    }
    names.extend(["only in full", "only idealised"]);
    names.into_iter().map(str::to_owned).collect()
}

fn row(effect: &Effect<'_>, rates: bool) -> Vec<String> {
    let (paired, pairs) = (effect.matched.paired(), effect.matched.pairs());
    let (full, ideal) = pairs.passed();
    let total = pairs.total();
    let mut row = vec![effect.factor.to_string(), number(paired.tasks), number(total)];
    if paired.tasks < FEWEST_TASKS {
        row.extend([fraction(full, total), fraction(ideal, total)]);
        row.extend(rates.then(|| "–".to_owned()));
    } else {
        row.extend([percent(paired.first), percent(paired.second), points(&paired)]);
    }
    row.extend([number(pairs.only_first), number(pairs.only_second)]);
    row
}

/// Names the tasks that flipped in one way.
fn flipped(effect: &Effect<'_>, way: Flip, what: &str, page: Page) -> String {
    let flips = effect.matched.flips(way);
    if flips.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> = flips.iter().take(NAMED).map(|flip| flip.task()).collect();
    if flips.len() > NAMED {
        names.push(format!("… {} more", number(flips.len() - NAMED)));
    }
    format!("{}, {what}\n{}", effect.factor, page.entry("", &names))
}

fn legend(effects: &[Effect<'_>], rates: bool, page: Page) -> String {
    let mut out = String::new();
    out.push_str(&page.note("pairs: one trial in both variants, judged in both"));
    out.push_str(&page.note("a task passes where most of its pairs do"));
    if rates {
        let what = "rates in percent; difference: idealised minus full, in points";
        out.push_str(&page.note(what));
        out.push_str(&page.note(PAIRED_METHOD));
    }
    let left: Vec<String> = effects
        .iter()
        .map(|effect| (effect.factor, effect.matched.left_out()))
        .filter(|(_, left)| *left > 0)
        .map(|(factor, left)| format!("{factor} {}", counted(left as u64, "pair")))
        .collect();
    if !left.is_empty() {
        out.push_str(&page.entry("left out", &left));
        out.push_str(&page.entry("", &["no verdict in one of the variants".to_owned()]));
    }
    out
}

/// Returns the section for programs; none where the run has no pairs.
pub(super) fn value(view: &RunView) -> Option<Value> {
    let effects = effects(view);
    if effects.is_empty() {
        return None;
    }
    let factors: BTreeMap<&str, Value> =
        effects.iter().map(|effect| (effect.factor.name(), factor(effect))).collect();
    Some(json!({ "factors": factors, "intervals": PAIRED_METHOD }))
}

fn factor(effect: &Effect<'_>) -> Value {
    let (paired, pairs) = (effect.matched.paired(), effect.matched.pairs());
    let (full, ideal) = pairs.passed();
    let names = |way| -> Vec<String> {
        let flips = effect.matched.flips(way);
        flips.iter().filter_map(|flip| Some(flip.trials.first()?[0].id.task.clone())).collect()
    };
    json!({
        "tasks": paired.tasks,
        "pairs": pairs.total(),
        "full": { "value": paired.first, "passed": full },
        "idealised": { "value": paired.second, "passed": ideal },
        "difference": { "value": paired.difference, "ci95": paired.ci95 },
        "both": pairs.both,
        "only_full": pairs.only_first,
        "only_idealised": pairs.only_second,
        "neither": pairs.neither,
        "left_out": effect.matched.left_out(),
        "flipped": { "to_pass": names(Flip::ToPass), "to_fail": names(Flip::ToFail) },
    })
}
