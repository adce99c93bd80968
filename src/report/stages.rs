//! How far trials came: milestones and discovery, for people and for programs.
//!
//! What is shown was decided when the attempts were judged; trials that were judged by a
//! version that did not look for milestones are left out, and counted. Where a task was
//! tried in several variants only the full one counts here, since an idealised one gives
//! steps away.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::figures::{counted, number, rate};
use super::groups::{Grouping, grouped};
use super::layout::Page;
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::metrics::{Course, Discovery, FEWEST_TASKS, Grid, Share, State, Survival};

/// Which trials count, for the JSON.
const VARIANTS: &str = "the full variant of each task that was tried in it";

/// Trials that say something about milestones, and those that say something about
/// discovery.
struct Known<'a> {
    /// The scale of the milestones of all tasks; none where there are none.
    grid: Option<Grid>,
    milestones: Vec<&'a TrialView>,
    discovery: Vec<&'a TrialView>,
    /// Judged trials whose milestones nobody looked for.
    without: u64,
}

impl<'a> Known<'a> {
    fn of(view: &'a RunView) -> Self {
        let natural = view.natural();
        let due = |trial: &&&TrialView| {
            let looked = !trial.milestones.is_empty() || !trial.discovered.is_empty();
            let wanted =
                !trial.task.milestones.is_empty() || !trial.task.discovery_hosts.is_empty();
            wanted && !looked && trial.state().is_judged()
        };
        let without = natural.iter().filter(due).count() as u64;
        let with = |has: fn(&TrialView) -> bool| -> Vec<&'a TrialView> {
            natural.iter().copied().filter(|trial| is_over(trial.state()) && has(trial)).collect()
        };
        let milestones = with(|trial| !trial.milestones.is_empty());
        let lengths = natural.iter().map(|trial| trial.task.milestones.len());
        Self {
            grid: Grid::of(lengths).filter(|_| !milestones.is_empty()),
            milestones,
            discovery: with(|trial| !trial.discovered.is_empty()),
            without,
        }
    }
}

/// Returns whether the agent did its part. A trial that was lost since has a verdict that
/// says nothing any more.
fn is_over(state: State) -> bool {
    match state {
        State::Pass | State::Degraded | State::Fail | State::Unjudged => true,
        State::Lost | State::Skipped | State::Pending => false,
    }
}

/// Returns the section on milestones and discovery; empty where no task has either.
pub(super) fn stages(view: &RunView, page: Page) -> String {
    let known = Known::of(view);
    let mut out = String::new();
    if let Some(grid) = known.grid {
        out.push_str(&milestones(view, &known.milestones, grid, page));
    }
    if !known.discovery.is_empty() {
        out.push_str(&discovery(&Discovery::of(&found(&known.discovery)), page));
    }
    if known.without > 0 {
        let text = format!("not looked for in {}", counted(known.without, "judged trial"));
        out.push_str(&page.entry("unknown", &[text]));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn milestones(view: &RunView, trials: &[&TrialView], grid: Grid, page: Page) -> String {
    let mut header = vec![page.bold("milestones")];
    header.extend((1..=grid.stages()).map(|stage| grid.name(stage)));
    header.push("passed".to_owned());
    let mut rows = vec![header];
    let mut stopped = Vec::new();
    let scenarios = grouped(trials, Grouping::Scenario);
    for group in &scenarios {
        let survival = Survival::of(&courses(&group.trials), grid);
        rows.push(row(&group.name, &survival));
        stopped.extend(failed_after(&group.name, &survival, grid));
    }
    let conditions = grouped(trials, Grouping::Condition);
    for group in conditions.iter().filter(|_| conditions.len() > 1) {
        let name = format!("condition {}", one_line(&group.name, 60));
        rows.push(row(&name, &Survival::of(&courses(&group.trials), grid)));
    }
    if rows.len() > 2 {
        rows.push(row("overall", &Survival::of(&courses(trials), grid)));
    }
    let mut out = page.table(&rows).join("\n") + "\n";
    let mut legend = vec!["trials that came so far or farther".to_owned()];
    if grid == Grid::Quarters {
        legend.push("in quarters of their milestones".to_owned());
    }
    if view.groups(|trial| &trial.id.variant).len() > 1 {
        legend.push("full variants".to_owned());
    }
    out.push_str(&page.note(&legend.join("; ")));
    if !stopped.is_empty() {
        out.push_str(&page.entry("failed", &stopped));
    }
    out
}

fn row(name: &str, survival: &Survival) -> Vec<String> {
    let shares = survival.stages.iter().chain([&survival.passed]);
    [name.to_owned()].into_iter().chain(shares.map(short)).collect()
}

/// Returns a share as counts below ten tasks that have one, else in percent.
fn short(share: &Share) -> String {
    match share.share.value {
        Some(value) if share.share.tasks >= FEWEST_TASKS => format!("{:.1} %", value * 100.0),
        Some(_) | None => format!("{}/{}", number(share.count), number(share.of)),
    }
}

/// Says how far the trials of a group came that failed.
fn failed_after(name: &str, survival: &Survival, grid: Grid) -> Option<String> {
    let places = survival.failed_after.iter().enumerate().filter(|(_, count)| **count > 0);
    let parts: Vec<String> = places
        .map(|(stage, count)| match stage {
            0 => format!("{} before the first", number(*count)),
            stage => format!("{} after {}", number(*count), grid.name(stage)),
        })
        .collect();
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join(", ")))
}

fn discovery(discovery: &Discovery, page: Page) -> String {
    let share = |name: &str, share: &Share| {
        let counts = format!("{}/{}", number(share.count), number(share.of));
        if share.share.ci95.is_some() {
            format!("{name} {} % ({counts})", rate(&share.share))
        } else {
            format!("{name} {counts}")
        }
    };
    let parts = [
        share("found", &discovery.found),
        share("passed where found", &discovery.passed_if_found),
        share("passed where not", &discovery.passed_if_not),
    ];
    page.entry("discovery", &parts)
}

/// Returns `milestones` and `discovery` of the JSON; null where no task has any.
pub(super) fn json(view: &RunView) -> (Value, Value) {
    let known = Known::of(view);
    let milestones = known.grid.map(|grid| {
        let names: Vec<String> = (1..=grid.stages()).map(|stage| grid.name(stage)).collect();
        let of = |trials: &[&TrialView]| value(&Survival::of(&courses(trials), grid));
        json!({
            "variants": VARIANTS,
            "stages": names,
            "normalised": grid == Grid::Quarters,
            "judged_without_record": known.without,
            "overall": of(&known.milestones),
            "by_scenario": by(&known.milestones, Grouping::Scenario, &of),
            "by_condition": by(&known.milestones, Grouping::Condition, &of),
            "by_task": by_task(&known.milestones),
        })
    });
    let discovery = (!known.discovery.is_empty()).then(|| {
        let of = |trials: &[&TrialView]| value(&Discovery::of(&found(trials)));
        json!({
            "variants": VARIANTS,
            "judged_without_record": known.without,
            "overall": of(&known.discovery),
            "by_scenario": by(&known.discovery, Grouping::Scenario, &of),
            "by_condition": by(&known.discovery, Grouping::Condition, &of),
        })
    });
    (milestones.unwrap_or_default(), discovery.unwrap_or_default())
}

fn value(sums: &impl serde::Serialize) -> Value {
    // Numbers and nulls serialise into a value in any case.
    serde_json::to_value(sums).unwrap_or(Value::Null)
}

fn by(trials: &[&TrialView], by: Grouping, of: &dyn Fn(&[&TrialView]) -> Value) -> Value {
    let groups = grouped(trials, by).into_iter();
    Value::Object(groups.map(|group| (group.name, of(&group.trials))).collect())
}

/// Returns, for each task, how many of its trials reached each milestone, in order.
fn by_task(trials: &[&TrialView]) -> Value {
    let mut tasks = Map::new();
    for trials in by_id(trials) {
        let Some(first) = trials.first() else { continue };
        let shares = first.task.milestones.iter().enumerate().map(|(index, id)| {
            let reached = trials.iter().filter(|trial| trial.milestones.get(index) == Some(&true));
            json!({"id": id, "count": reached.count(), "of": trials.len()})
        });
        tasks.insert(first.id.task.clone(), Value::Array(shares.collect()));
    }
    Value::Object(tasks)
}

/// Returns how trials went, by task.
fn courses(trials: &[&TrialView]) -> Vec<Vec<Course>> {
    let course =
        |trial: &TrialView| Course { reached: trial.milestones.clone(), state: trial.state() };
    by_id(trials).into_iter().map(|task| task.into_iter().map(course).collect()).collect()
}

/// Returns whether trials found every discovery host, and what became of them, by task.
fn found(trials: &[&TrialView]) -> Vec<Vec<(bool, State)>> {
    let found = |trial: &TrialView| (trial.discovered.iter().all(|found| *found), trial.state());
    by_id(trials).into_iter().map(|task| task.into_iter().map(found).collect()).collect()
}

/// Returns trials by task.
fn by_id<'a>(trials: &[&'a TrialView]) -> Vec<Vec<&'a TrialView>> {
    let mut tasks: BTreeMap<&str, Vec<&TrialView>> = BTreeMap::new();
    for trial in trials {
        tasks.entry(&trial.id.task).or_default().push(trial);
    }
    tasks.into_values().collect()
}
