//! The gate: a run against its baseline, and whether it blocks.
//!
//! The arithmetic is that of [`Drop`] and [`Sides`]; here it is decided what is compared
//! with what, and said. Only tasks that both sides have judged trials of count; what a side
//! lacks is told and blocks nothing, but a run that is not complete does not pass. Texts of
//! three forms come from one [`Verdict`]: tables, Markdown, and `JUnit` XML (`junit`).

mod junit;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::figures::counted;
use crate::metrics::{Cell, Drop, FEWEST_TASKS, SURE, Sides, Tally};
use crate::store::{SeriesLine, SeriesTask};

pub use junit::junit;
pub use tables::{markdown, terminal};

/// What is compared, and how strictly.
#[derive(Debug, Clone)]
pub struct GateView {
    /// The run.
    pub run: SeriesLine,
    /// What became of its trials.
    pub tally: Tally,
    /// The runs it is compared with, the oldest first.
    pub baseline: Vec<SeriesLine>,
    /// Where they come from, as the user typed it.
    pub source: String,
    /// Percentage points that the score may drop.
    pub tolerance: f64,
    /// Subsets of which nothing is tolerated.
    pub strict: Vec<String>,
    /// The subset that the comparison is limited to, with its tasks.
    pub only: Option<(String, BTreeSet<String>)>,
    /// What differs between the run and its baseline and was allowed, or is told.
    pub notes: Vec<String>,
}

/// A task on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Its name in the series.
    pub task: String,
    /// Its subset.
    pub subset: Option<String>,
    /// Its trials.
    pub sides: Sides,
    /// Whether it blocks by itself.
    pub blocks: bool,
}

/// What came of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Gated {
    /// All tasks that were compared, by name.
    pub tasks: Vec<Compared>,
    /// The drop over all of them; none without tasks.
    pub overall: Option<Drop>,
    /// The drop by subset.
    pub subsets: BTreeMap<String, Drop>,
    /// Why it blocks, a sentence each; empty where it does not.
    pub reasons: Vec<String>,
    /// What must be known of a comparison that does not block, a sentence each.
    pub remarks: Vec<String>,
    /// Tasks of the baseline that the run did not try, and the other way round.
    pub alone: [Vec<String>; 2],
}

impl Gated {
    /// Returns whether the run is blocked.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        !self.reasons.is_empty()
    }

    /// Returns the tasks whose trials disagreed in the baseline, the least decided first.
    #[must_use]
    pub fn flaky(&self) -> Vec<&Compared> {
        let mut flaky: Vec<&Compared> =
            self.tasks.iter().filter(|task| task.sides.is_flaky()).collect();
        let decided = |task: &Compared| {
            task.sides.shares().map_or(0.5, |(baseline, _)| (baseline - 0.5).abs())
        };
        flaky.sort_by(|a, b| decided(a).total_cmp(&decided(b)));
        flaky
    }

    /// Returns the tasks that passed always in the baseline and now fail a trial.
    #[must_use]
    pub fn newly_failing(&self) -> Vec<&Compared> {
        self.tasks.iter().filter(|task| task.sides.fails_newly()).collect()
    }
}

impl GateView {
    /// Compares the run with its baseline.
    #[must_use]
    pub fn gate(&self) -> Gated {
        let mut pooled: BTreeMap<&String, Cell> = BTreeMap::new();
        for (name, task) in self.baseline.iter().flat_map(|line| &line.tasks) {
            let cell = pooled.entry(name).or_default();
            cell.judged += task.judged;
            cell.passed += task.passed;
        }
        pooled.retain(|name, cell| cell.judged > 0 && self.counts(name));
        let tried: BTreeMap<&String, &SeriesTask> = self
            .run
            .tasks
            .iter()
            .filter(|(name, task)| task.judged > 0 && self.counts(name))
            .collect();
        let compared = |(name, task): (&&String, &&SeriesTask)| {
            let baseline = *pooled.get(*name)?;
            let run = Cell { judged: task.judged, passed: task.passed };
            let sides = Sides { baseline, run };
            let strict = task.subset.as_ref().is_some_and(|subset| self.strict.contains(subset));
            let blocks = strict && sides.fails_newly();
            Some(Compared { task: (*name).clone(), subset: task.subset.clone(), sides, blocks })
        };
        let tasks: Vec<Compared> = tried.iter().filter_map(compared).collect();
        let lacking = |names: Vec<&&String>, there: &dyn Fn(&String) -> bool| {
            names.into_iter().filter(|name| !there(name)).map(|name| (*name).clone()).collect()
        };
        let alone = [
            lacking(pooled.keys().collect(), &|name| tried.contains_key(name)),
            lacking(tried.keys().collect(), &|name| pooled.contains_key(name)),
        ];
        self.decide(tasks, alone)
    }

    /// Whether a task takes part. A subset names tasks, and a series the variants of tasks.
    fn counts(&self, name: &str) -> bool {
        let task = name.split('/').next().unwrap_or(name);
        self.only.as_ref().is_none_or(|(_, tasks)| tasks.contains(task))
    }

    fn decide(&self, tasks: Vec<Compared>, alone: [Vec<String>; 2]) -> Gated {
        let sides = |tasks: &[&Compared]| -> Vec<Sides> { tasks.iter().map(|t| t.sides).collect() };
        let overall = Drop::of(&sides(&tasks.iter().collect::<Vec<_>>()));
        let mut groups: BTreeMap<&String, Vec<&Compared>> = BTreeMap::new();
        for task in &tasks {
            if let Some(subset) = &task.subset {
                groups.entry(subset).or_default().push(task);
            }
        }
        let subsets: BTreeMap<String, Drop> = groups
            .into_iter()
            .filter_map(|(name, tasks)| Some((name.clone(), Drop::of(&sides(&tasks))?)))
            .collect();
        let mut reasons = Vec::new();
        match overall {
            None => reasons.push("no task has judged trials on both sides".to_owned()),
            Some(drop) if drop.exceeds(self.tolerance / 100.0) => reasons.push(format!(
                "{:.1} points less than the baseline, {} tolerated, and {:.1} standard errors, \
                 which chance does not explain",
                drop.size() * 100.0,
                self.tolerance,
                drop.errors
            )),
            Some(_) => {}
        }
        for task in tasks.iter().filter(|task| task.blocks) {
            let Cell { judged, passed } = task.sides.run;
            let subset = task.subset.as_deref().unwrap_or_default();
            reasons.push(format!(
                "`{}` failed {} of {judged}, and never before ({subset} tolerates none)",
                task.task,
                judged - passed
            ));
        }
        for subset in &self.strict {
            if subsets.get(subset).is_some_and(|drop| drop.exceeds(0.0)) {
                let points = subsets[subset].size() * 100.0;
                reasons.push(format!("{subset} passes {points:.1} points less; it tolerates none"));
            }
        }
        let open = self.tally.unjudged + self.tally.lost + self.tally.pending;
        if open > 0 {
            reasons.push(format!("the run is not complete: {open} of its trials have no verdict"));
        }
        let remarks = self.remarks(overall.as_ref());
        Gated { tasks, overall, subsets, reasons, remarks, alone }
    }

    /// Says where a comparison can hardly block, and where chance is what saved a run.
    fn remarks(&self, overall: Option<&Drop>) -> Vec<String> {
        let Some(drop) = overall else { return Vec::new() };
        let mut remarks = Vec::new();
        if drop.tasks < FEWEST_TASKS {
            remarks.push(format!(
                "only {} are compared: of so few a drop can hardly be told from chance",
                counted(drop.tasks as u64, "task")
            ));
        }
        if drop.size() * 100.0 > self.tolerance && !drop.exceeds(self.tolerance / 100.0) {
            remarks.push(format!(
                "{:.1} points less than the baseline, but {:.2} standard errors, and from {SURE:.2} \
                 on chance does not explain it",
                drop.size() * 100.0,
                drop.errors
            ));
        }
        remarks
    }
}

/// Returns the comparison for programs: scores are fractions, drops percentage points.
#[must_use]
pub fn gate_json(view: &GateView) -> Value {
    let gated = view.gate();
    let drop = |drop: &Drop| {
        json!({
            "tasks": drop.tasks, "baseline": drop.baseline, "run": drop.run,
            "drop_points": drop.size() * 100.0, "standard_errors": drop.errors,
        })
    };
    let task = |task: &&Compared| {
        json!({
            "task": task.task, "subset": task.subset,
            "baseline": cell(task.sides.baseline), "run": cell(task.sides.run),
        })
    };
    let list = |tasks: Vec<&Compared>| tasks.iter().map(task).collect::<Vec<_>>();
    json!({
        "format": 1,
        "blocked": gated.is_blocked(),
        "reasons": gated.reasons,
        "remarks": gated.remarks,
        "run": view.run.run,
        "baseline": {
            "source": view.source,
            "runs": view.baseline.iter().map(|line| &line.run).collect::<Vec<_>>(),
        },
        "tolerance_points": view.tolerance,
        "no_tolerance": view.strict,
        "blocks_from_standard_errors": SURE,
        "only": view.only.as_ref().map(|(name, _)| name),
        "trials": view.tally,
        "overall": gated.overall.as_ref().map(drop),
        "subsets": gated.subsets.iter().map(|(name, of)| (name.clone(), drop(of)))
            .collect::<serde_json::Map<_, _>>(),
        "newly_failing": list(gated.newly_failing()),
        "flaky": list(gated.flaky()),
        "only_in_baseline": gated.alone[0],
        "only_in_run": gated.alone[1],
        "notes": view.notes,
    })
}

/// Passed and judged trials.
#[derive(Serialize)]
struct Counts {
    passed: u32,
    judged: u32,
}

fn cell(cell: Cell) -> Counts {
    Counts { passed: cell.passed, judged: cell.judged }
}

#[cfg(test)]
mod tests;
