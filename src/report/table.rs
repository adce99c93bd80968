//! The table of scores, and what has to be known to read it.
//!
//! A rate stands only where there are tasks enough that have one. Where fewer than ten
//! tasks could be scored a cell shows counts, and where that is so for every row, the
//! headings are plain words. Variants of a task measure different things and are never
//! pooled: where tasks were tried in several, rows count the full one, and each variant
//! has a row of its own.

use unicode_width::UnicodeWidthStr;

use super::ReportOptions;
use super::figures::{counted, number, rate};
use super::groups::{Group, Grouping, grouped};
use super::layout::Page;
use super::sanitize::one_line;
use super::view::{Had, RunView, TrialView, cells};
use crate::metrics::{ByK, Cell, Estimate, FEWEST_TASKS, METHOD, Tally};

/// The scores of a run, and how they are shown.
pub(super) struct Sheet<'a> {
    view: &'a RunView,
    options: &'a ReportOptions,
    page: Page,
    /// What all rows count but those of variants.
    trials: Vec<&'a TrialView>,
    /// Whether tasks were tried in several variants.
    mixed: bool,
    /// Whether the whole run has too few judged tasks for rates.
    small: bool,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(view: &'a RunView, options: &'a ReportOptions, page: Page) -> Self {
        let mixed = view.mixes_variants();
        let trials = if mixed { view.natural() } else { view.trials.iter().collect() };
        let judged = view.trials.iter().filter(|trial| trial.state().is_judged());
        let judged: std::collections::BTreeSet<&str> =
            judged.map(|trial| trial.id.task.as_str()).collect();
        Self { view, options, page, trials, mixed, small: judged.len() < FEWEST_TASKS }
    }

    /// Returns the scores of groups and, set apart, of the whole.
    pub(super) fn table(&self) -> String {
        let mut rows = vec![self.header()];
        let mut few = false;
        for by in self.groupings() {
            let groups = if by == Grouping::Factor {
                self.view.grouped(by)
            } else {
                grouped(&self.trials, by)
            };
            for group in groups {
                let name = match by {
                    Grouping::Scenario => group.name,
                    Grouping::Subset
                    | Grouping::Domain
                    | Grouping::Language
                    | Grouping::Factor
                    | Grouping::Variant
                    | Grouping::Condition
                    | Grouping::Tier
                    | Grouping::Type
                    | Grouping::Tools
                    | Grouping::Offering(_) => {
                        format!("{} {}", by.name(), one_line(&group.name, 120))
                    }
                };
                few |= self.push(&mut rows, &name, &group.trials);
            }
        }
        let whole = self.whole();
        for group in &whole {
            few |= self.push(&mut rows, &group.name, &group.trials);
        }
        let mut lines = self.page.table(&rows);
        let rule = "─".repeat(lines.first().map_or(0, |line| line.width()));
        lines.insert(1, rule.clone());
        let first = whole.first().map_or("", |group| &group.name);
        if let Some(place) = lines.iter().position(|line| line.starts_with(first)) {
            lines.insert(place, rule);
        }
        format!("{}\n{}\n", lines.join("\n"), self.legend(few))
    }

    /// Returns the last rows, which are set apart: all trials, or each variant by itself.
    fn whole(&self) -> Vec<Group<'a>> {
        if !self.mixed {
            let name = format!("overall{}", self.unit());
            return vec![Group { name, trials: self.trials.clone() }];
        }
        let asked = self.options.by.is_empty() || self.options.by.contains(&Grouping::Variant);
        let trials = if asked { self.view.trials.iter().collect() } else { self.trials.clone() };
        let mut groups = grouped(&trials, Grouping::Variant);
        for group in &mut groups {
            group.name = format!("variant {}", group.name);
        }
        groups
    }

    /// Returns what the rows are grouped by: as asked, else by scenario, and by variant and
    /// condition where there are several. Variants that are set apart are not among them.
    fn groupings(&self) -> Vec<Grouping> {
        let mut by = self.options.by.clone();
        if by.is_empty() {
            by.push(Grouping::Scenario);
            if self.view.groups(|trial| &trial.id.variant).len() > 1 {
                by.push(Grouping::Variant);
            }
            if self.several_conditions() {
                by.push(Grouping::Condition);
            }
        }
        by.retain(|by| !(self.mixed && *by == Grouping::Variant));
        by
    }

    fn several_conditions(&self) -> bool {
        self.view.groups(|trial| &trial.id.condition).len() > 1
    }

    fn header(&self) -> Vec<String> {
        let mut header = vec![String::new(), "tasks".to_owned()];
        if self.by_k() {
            header.extend(["k", "avg@k", "pass@k", "pass^k"].map(str::to_owned));
        } else {
            header.extend(self.headings());
        }
        header
    }

    /// Returns whether every number of trials has a line of its own.
    fn by_k(&self) -> bool {
        self.options.all_k && !self.small
    }

    /// Returns the names of the three scores.
    fn headings(&self) -> [String; 3] {
        let k = self.view.label.k;
        if self.small {
            ["passed", "at least once", "always"].map(str::to_owned)
        } else {
            [format!("avg@{k}"), format!("pass@{k}"), format!("pass^{k}")]
        }
    }

    /// Says what a row counts or averages, where tasks occur in it more than once.
    fn unit(&self) -> &'static str {
        match (self.small, self.several_conditions()) {
            (_, false) => "",
            (true, true) => ", each task under each condition",
            (false, true) => ", tasks as means over conditions",
        }
    }

    /// Adds the rows of a group: one, or one for each number of trials. Returns whether a
    /// cell has too few tasks for a rate.
    fn push(&self, rows: &mut Vec<Vec<String>>, name: &str, trials: &[&TrialView]) -> bool {
        let scores = self.view.scores_of(trials.iter().copied());
        let (mut name, mut tasks) = (name.to_owned(), number(scores.tasks));
        let (last, by_k) = (scores.at_k(), self.by_k());
        let none = last.avg_at_k.tasks < FEWEST_TASKS;
        let at = if none || !by_k { vec![last] } else { scores.by_k };
        let counts = counts(&flat(trials.iter().copied(), Had::AsJudged), self.view.label.k);
        let mut few = false;
        for at in at {
            let mut row = vec![std::mem::take(&mut name), std::mem::take(&mut tasks)];
            if by_k {
                row.push(at.k.to_string());
            }
            few |= three(at).iter().any(|score| score.tasks < FEWEST_TASKS);
            // Counts are of all `k` trials, and say nothing about fewer.
            let counts =
                if at.k == last.k { counts.clone() } else { [(); 3].map(|()| "–".to_owned()) };
            row.extend(self.cells(at, counts, rate));
            rows.push(row);
        }
        few
    }

    /// Returns each score as `rate` writes it, or the count in its place.
    fn cells(
        &self,
        at: ByK,
        counts: [String; 3],
        rate: impl Fn(&Estimate) -> String,
    ) -> impl Iterator<Item = String> {
        three(at).into_iter().zip(counts).map(move |(score, count)| {
            if self.small || score.tasks < FEWEST_TASKS { count } else { rate(&score) }
        })
    }

    /// Returns what the scores had been, where trials without a verdict stand in the way:
    /// each time a name and the parts of a line.
    pub(super) fn bounds(&self) -> Vec<Vec<String>> {
        let tally: Tally = self.trials.iter().map(|trial| trial.state()).collect();
        let mut lines = Vec::new();
        let mut add = |what: &str, had| lines.push(self.had(what, had));
        if tally.lost > 0 {
            add("lost failed", Had::LostFailed);
        }
        if tally.unjudged > 0 {
            add("unjudged failed", Had::UnjudgedFailed);
            add("unjudged passed", Had::UnjudgedPassed);
        }
        lines
    }

    /// Returns the parts of a line on the scores as they had been.
    fn had(&self, what: &str, had: Had) -> Vec<String> {
        let trials = || self.trials.iter().copied();
        let at = self.view.scores_had(trials(), had).at_k();
        let counts = counts(&flat(trials(), had), self.view.label.k);
        let rate = |score: &Estimate| {
            let value = score.value.map(|value| format!("{:.1} %", value * 100.0));
            value.unwrap_or_else(|| "–".to_owned())
        };
        let scores = self.headings().into_iter().zip(self.cells(at, counts, rate));
        let mut parts: Vec<String> =
            scores.map(|(name, score)| format!("{name} {score}")).collect();
        if let Some(first) = parts.first_mut() {
            let variant = if self.mixed { ", full variant" } else { "" };
            *first = format!("had {what}{variant}: {first}");
        }
        parts
    }

    /// Explains what the table shows and what it leaves out.
    fn legend(&self, few: bool) -> String {
        let (k, page) = (self.view.label.k, self.page);
        let mut lines = if self.small { self.words() } else { self.rates(few) };
        if self.mixed {
            lines.push("rows but those of variants: the full variant of each task".to_owned());
        }
        if self.options.by.contains(&Grouping::Factor) {
            let what = "factor rows: tasks that have it, in their full variant where tried";
            lines.push(what.to_owned());
        }
        let noun = if self.mixed { "task variant" } else { "task" };
        let cells = flat(&self.view.trials, Had::AsJudged);
        let left = |judged: u32| cells.iter().filter(|cell| cell.judged < judged).count() as u64;
        let [every, once, always] = self.headings();
        if left(1) > 0 && !self.small {
            let left = counted(left(1), noun);
            lines.push(format!("`{every}` leaves out {left} without a judged trial"));
        }
        if left(k) > 0 {
            let (left, of) = (counted(left(k), noun), counted(u64::from(k), "judged trial"));
            lines.push(format!("`{once}` and `{always}` leave out {left} with fewer than {of}"));
        }
        lines.iter().map(|line| page.note(line)).collect()
    }

    /// Explains the words of a run that is too small for rates.
    fn words(&self) -> Vec<String> {
        let unit = self.unit().trim_start_matches(", each task");
        let mut lines =
            vec![format!("passed: trials of those judged; at least once, always: tasks{unit}")];
        if self.view.groups(|trial| &trial.id.task).len() >= FEWEST_TASKS {
            lines
                .push(format!("fewer than {FEWEST_TASKS} tasks have a judged trial: counts alone"));
        }
        if self.options.all_k {
            let what = "there are counts alone; `--json` has every k";
            lines.push(format!("below {FEWEST_TASKS} tasks {what}"));
        }
        lines
    }

    /// Explains rates, and the counts among them.
    fn rates(&self, few: bool) -> Vec<String> {
        let mut lines = vec!["rates in percent".to_owned(), METHOD.to_owned()];
        if self.mixed && self.several_conditions() {
            lines.push(self.unit().trim_start_matches(", ").to_owned());
        }
        if few {
            let [every, once, always] = self.headings();
            let all = counted(u64::from(self.view.label.k), "trial");
            let condition = if self.several_conditions() { " under each condition" } else { "" };
            lines.push(format!(
                "counts where fewer than {FEWEST_TASKS} tasks can be scored: `{every}` trials \
                 passed of those judged; `{once}` and `{always}` tasks{condition} that passed at \
                 least once and every time, of those with {all} judged"
            ));
            if self.by_k() {
                let k = self.view.label.k;
                lines.push(format!("counts stand at k = {k} alone; `--json` has every k"));
            }
        }
        lines
    }
}

fn three(at: ByK) -> [Estimate; 3] {
    [at.avg_at_k, at.pass_at_k, at.pass_hat_k]
}

fn flat<'a>(trials: impl IntoIterator<Item = &'a TrialView>, had: Had) -> Vec<Cell> {
    cells(trials, had).into_iter().flat_map(|task| task.0).collect()
}

/// Returns passed trials of judged ones, and tasks that passed at least once, and every
/// time, of those with all `k` trials judged.
fn counts(cells: &[Cell], k: u32) -> [String; 3] {
    let judged: u32 = cells.iter().map(|cell| cell.judged).sum();
    let passed: u32 = cells.iter().map(|cell| cell.passed).sum();
    let whole: Vec<&Cell> = cells.iter().filter(|cell| k > 0 && cell.judged >= k).collect();
    let once = whole.iter().filter(|cell| cell.passed > 0).count();
    let always = whole.iter().filter(|cell| cell.passed >= k).count();
    let all = whole.len();
    [format!("{passed}/{judged}"), format!("{once}/{all}"), format!("{always}/{all}")]
}
