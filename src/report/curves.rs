//! How scores move with the tools that are offered: their number, their words, their order.
//!
//! These are the curves of findings 1 and 4 of the 43-tool harness: success and tool
//! selection against the number of tools, and by how tools are described. A section stands in
//! every report of a run that has more than one value of what is varied. Scores are means
//! over tasks; differences are taken over pairs, one trial under the first value and one under
//! another, at the same task, of the same number and with the same seed, and all else alike.
//! Where more than one thing is varied, a row pools the values of the others.

mod svg;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wildgym_tasks::Variant;

use super::figures::{number, rate};
use super::groups::{Grouping, grouped};
use super::layout::Page;
use super::paired::{Matched, fraction, points};
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::metrics::{Estimate, FEWEST_TASKS, METHOD, PAIRED_METHOD, Paired, State};
use crate::store::{Axis, Offering, Setting};

pub use svg::svg;

/// What a trial has in common with one under another value of an axis.
type Alike<'a> = (&'a str, Vec<Setting>, &'a str, &'a Variant);

/// One value of what is varied, with its trials.
struct Step<'a> {
    /// The value, safe to print.
    name: String,
    trials: Vec<&'a TrialView>,
    /// They and those under the first value, in pairs; none of the first itself.
    against: Option<Matched<'a>>,
}

/// Values of what is varied, the usual order of reports.
struct Curve<'a> {
    axis: Axis,
    steps: Vec<Step<'a>>,
}

/// Returns a curve for each thing of which the run has more than one value. Of tasks in
/// several variants the full one counts.
fn curves(view: &RunView) -> Vec<Curve<'_>> {
    let trials = if view.mixes_variants() { view.natural() } else { view.trials.iter().collect() };
    let curve = |axis| {
        let groups = grouped(&trials, Grouping::Offering(axis));
        let first = groups.first().filter(|_| groups.len() > 1)?.trials.clone();
        let steps = groups.into_iter().enumerate().map(|(index, group)| {
            let pairs = || Matched::of([first.clone(), group.trials.clone()], |t| alike(t, axis));
            let against = (index > 0).then(pairs);
            Step { name: one_line(&group.name, 80), against, trials: group.trials }
        });
        Some(Curve { axis, steps: steps.collect() })
    };
    Axis::ALL.into_iter().filter_map(curve).collect()
}

fn alike(trial: &TrialView, axis: Axis) -> Alike<'_> {
    let others = Axis::ALL.into_iter().filter(|other| *other != axis);
    let settings = others.map(|other| trial.offering.setting(other)).collect();
    (Offering::base(&trial.id.condition), settings, &trial.id.task, &trial.id.variant)
}

/// Returns the share of the expected calls of a trial whose tool was called.
fn selected(trial: &TrialView) -> Option<f64> {
    trial.conduct.as_ref().filter(|_| trial.state().is_judged())?.selection.value()
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.iter().sum::<f64>() / f64::from(count))
}

impl Step<'_> {
    /// Returns how many tools were offered, as a mean over the trials that tell.
    fn tools(&self) -> Option<f64> {
        let tools = |trial: &&TrialView| Some(f64::from(trial.conduct.as_ref()?.tools));
        mean(&self.trials.iter().filter_map(tools).collect::<Vec<_>>())
    }

    /// Returns passed and judged trials.
    fn counts(&self) -> (u32, u32) {
        let states = || self.trials.iter().map(|trial| trial.state());
        let count =
            |wanted: &dyn Fn(State) -> bool| states().filter(|state| wanted(*state)).count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        (number(count(&|state| state == State::Pass)), number(count(&State::is_judged)))
    }

    fn passed(&self, view: &RunView) -> Estimate {
        view.scores_of(self.trials.iter().copied()).at_k().avg_at_k
    }

    /// Returns the accuracy of selection: per task, and then over tasks.
    fn selection(&self) -> Estimate {
        let mut tasks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for trial in &self.trials {
            if let Some(share) = selected(trial) {
                tasks.entry(&trial.id.task).or_default().push(share);
            }
        }
        let most = tasks.values().map(Vec::len).max().unwrap_or(1);
        let values: Vec<f64> = tasks.values().filter_map(|shares| mean(shares)).collect();
        Estimate::of(&values, u32::try_from(most).unwrap_or(u32::MAX))
    }
}

/// Returns how selection differs over pairs of which both have an accuracy.
fn selection_pairs(matched: &Matched<'_>) -> Paired {
    let mut tasks: BTreeMap<&str, [Vec<f64>; 2]> = BTreeMap::new();
    for [first, second] in matched.contrasts.iter().flat_map(|contrast| &contrast.trials) {
        if let (Some(one), Some(other)) = (selected(first), selected(second)) {
            let sides = tasks.entry(&first.id.task).or_default();
            sides[0].push(one);
            sides[1].push(other);
        }
    }
    let means = tasks.values().filter_map(|[first, second]| Some((mean(first)?, mean(second)?)));
    Paired::of_shares(&means.collect::<Vec<_>>())
}

/// Returns the section of the report for people; empty where nothing is varied.
pub(super) fn section(view: &RunView, page: Page) -> String {
    let curves = curves(view);
    let mut out = String::new();
    for curve in &curves {
        out.push_str(&curve.table(view, page));
    }
    if curves.is_empty() {
        return out;
    }
    let mut notes = vec![
        "tools: offered to a task, on average; selection: of the expected calls those whose tool was \
         called, per task and then over tasks",
        "against: pairs of a trial under the first value and one under the row's, judged in both",
    ];
    if curves.len() > 1 {
        notes.push("each row pools the values of what else is varied");
    }
    if curves.iter().any(|curve| curve.has_rates(view)) {
        notes.extend(["rates in percent, differences in points", METHOD, PAIRED_METHOD]);
    }
    for note in notes {
        out.push_str(&page.note(note));
    }
    out
}

impl Curve<'_> {
    fn has_rates(&self, view: &RunView) -> bool {
        self.steps.iter().any(|step| step.passed(view).tasks >= FEWEST_TASKS)
    }

    /// Returns the scores, and below them the differences to those of the first value.
    fn table(&self, view: &RunView, page: Page) -> String {
        let name = self.axis.name();
        let header = [name, "tools", "tasks", "passed", "selection"].map(str::to_owned);
        let mut scores = vec![header.to_vec()];
        let first = self.steps.first().map(|step| step.name.clone()).unwrap_or_default();
        let rates = self.has_rates(view);
        let mut differences = vec![vec![format!("against {first}"), "pairs".to_owned()]];
        let names: &[&str] = if rates { &["passed"] } else { &["only first", "only here"] };
        differences[0].extend(names.iter().chain(&["selection"]).map(|name| (*name).to_owned()));
        for step in &self.steps {
            let (passed, selection, (count, judged)) =
                (step.passed(view), step.selection(), step.counts());
            let few = passed.tasks < FEWEST_TASKS;
            scores.push(vec![
                step.name.clone(),
                step.tools().map_or_else(|| "–".to_owned(), |tools| format!("{tools:.1}")),
                number(passed.tasks),
                if few { fraction(count, judged) } else { rate(&passed) },
                rate(&selection),
            ]);
            let Some(matched) = &step.against else { continue };
            let (paired, pairs) = (matched.paired(), matched.pairs());
            let mut row = vec![step.name.clone(), number(pairs.total())];
            if !rates {
                row.extend([pairs.only_first, pairs.only_second].map(number));
            } else if paired.tasks < FEWEST_TASKS {
                row.push("–".to_owned());
            } else {
                row.push(points(&paired));
            }
            row.push(points(&selection_pairs(matched)));
            differences.push(row);
        }
        let mut out = String::new();
        for rows in [scores, differences] {
            let mut lines = page.table(&rows);
            if let Some(first) = lines.first_mut() {
                *first = page.bold(first);
            }
            out.push('\n');
            out.push_str(&lines.join("\n"));
            out.push('\n');
        }
        out
    }

    fn json(&self, view: &RunView) -> Value {
        let value = |step: &Step<'_>| {
            let mut value = json!({
                "value": step.name,
                "tools": step.tools(),
                "trials": { "passed": step.counts().0, "judged": step.counts().1 },
                "passed": step.passed(view),
                "selection": step.selection(),
            });
            if let Some(matched) = &step.against {
                let pairs = matched.pairs();
                value["against_first"] = json!({
                    "pairs": pairs.total(),
                    "left_out": matched.left_out(),
                    "passed": matched.paired(),
                    "selection": selection_pairs(matched),
                    "only_first": pairs.only_first,
                    "only_here": pairs.only_second,
                });
            }
            value
        };
        self.steps.iter().map(value).collect()
    }
}

/// Returns the section for programs; none where nothing is varied.
pub(super) fn value(view: &RunView) -> Option<Value> {
    let curves = curves(view);
    if curves.is_empty() {
        return None;
    }
    let mut all: Map<String, Value> = curves
        .iter()
        .map(|curve| (curve.axis.name().replace('-', "_"), curve.json(view)))
        .collect();
    all.insert("intervals".to_owned(), METHOD.into());
    all.insert("intervals_of_differences".to_owned(), PAIRED_METHOD.into());
    Some(Value::Object(all))
}
