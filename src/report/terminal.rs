//! The report for people: `wildgym report RUN`.
//!
//! It makes sense without colour, fits the given width, and never shows a rate where
//! there is too little to estimate one: below ten tasks it shows counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::figures::{counted, duration, mean, number, rate};
use super::sanitize::{one_line, visible};
use super::view::{RunView, TrialView};
use crate::metrics::{Cell, FEWEST_TASKS, METHOD, Scores, State, Tally};

/// Most tasks that are listed as not passed.
const LISTED: usize = 10;

/// Columns in front of what is said about a name.
const MARGIN: usize = 10;

/// Most characters of a reason in the list of what did not pass.
const REASON: usize = 160;

/// Returns the report of a run for a terminal of `width` columns.
#[must_use]
pub fn terminal(view: &RunView, width: usize, colour: bool) -> String {
    let page = Page { width: width.clamp(60, 200), colour };
    let mut out = heading(view, page);
    out.push_str(&table(view, page));
    out.push_str(&label(view, page));
    out.push_str(&usage(view, page));
    out.push_str(&not_passed(view, page));
    out.push_str(&next_steps(view, page));
    out
}

/// How the page looks.
#[derive(Debug, Clone, Copy)]
struct Page {
    width: usize,
    colour: bool,
}

impl Page {
    fn bold(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Sets rows into columns; the first `left` of them to the left, the rest to the right.
    fn columns(self, rows: Vec<Vec<String>>, left: usize) -> Vec<String> {
        let mut table = Table::new();
        table
            .load_style(NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(self.width).unwrap_or(u16::MAX));
        table.add_rows(rows);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if index >= left {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Writes a name and its parts, on as many lines as they need.
    fn entry(self, name: &str, parts: &[String]) -> String {
        let mut out = format!("{name:<MARGIN$}");
        let mut used = MARGIN;
        for (index, part) in parts.iter().enumerate() {
            let long = part.chars().count();
            if index > 0 && used + 3 + long > self.width {
                let _ = write!(out, "\n{:MARGIN$}{part}", "");
                used = MARGIN + long;
            } else {
                let dot = if index > 0 { " · " } else { "" };
                let _ = write!(out, "{dot}{part}");
                used += dot.chars().count() + long;
            }
        }
        out.push('\n');
        out
    }
}

/// Says what was run, with which agent, on what.
fn heading(view: &RunView, page: Page) -> String {
    let label = &view.label;
    let model = label.model.as_ref().map(|model| format!(" · model {model}")).unwrap_or_default();
    let digest: String = label.suite.digest.chars().take(12).collect();
    let title = one_line(&format!("{} {}", label.suite.name, label.suite.version), 200);
    let agent =
        one_line(&format!("agent {}{model} · judge {}", label.agent, label.judge_line()), 200);
    format!(
        "{}\n{agent}\nsuite {digest} · seed {} · web {} · {} a task\n{}\n\n",
        page.bold(&title),
        label.seed,
        visible(&label.web),
        counted(u64::from(label.k), "trial"),
        visible(&label.run),
    )
}

/// The scores: by scenario, by variant and condition where there are several, overall.
fn table(view: &RunView, page: Page) -> String {
    let k = view.label.k;
    let mut rows = Vec::new();
    for scenario in view.groups(|trial| trial.task.scenario) {
        rows.push(row(view, scenario.name(), |trial| trial.task.scenario == scenario));
    }
    let variants = view.groups(|trial| trial.id.variant.clone());
    for variant in variants.iter().filter(|_| variants.len() > 1) {
        rows.push(row(view, &format!("variant {variant}"), |trial| trial.id.variant == *variant));
    }
    let conditions = view.groups(|trial| trial.id.condition.clone());
    for condition in conditions.iter().filter(|_| conditions.len() > 1) {
        let name = format!("condition {}", one_line(condition, 60));
        rows.push(row(view, &name, |trial| trial.id.condition == *condition));
    }
    rows.push(row(view, "overall", |_| true));
    let header = ["", "tasks", &format!("avg@{k}"), &format!("pass@{k}"), &format!("pass^{k}")];
    rows.insert(0, header.map(str::to_owned).to_vec());
    let mut lines = page.columns(rows, 1);
    let rule = "─".repeat(lines.first().map_or(0, |line| line.chars().count()));
    lines.insert(1, rule.clone());
    // The last row is set apart from those that it sums up.
    if let Some(last) = lines.iter().rposition(|line| line.starts_with("overall")) {
        lines.insert(last, rule);
    }
    format!("{}\n{}\n", lines.join("\n"), legend(view))
}

fn row(view: &RunView, name: &str, wanted: impl Fn(&TrialView) -> bool + Copy) -> Vec<String> {
    let scores = view.scores(wanted);
    let mut row = vec![name.to_owned(), number(scores.tasks)];
    if scores.tasks < FEWEST_TASKS {
        row.extend(counts(&cells(view, wanted), view.label.k));
    } else {
        let at = scores.at_k();
        row.extend([at.avg_at_k, at.pass_at_k, at.pass_hat_k].map(|estimate| rate(&estimate)));
    }
    row
}

fn cells(view: &RunView, wanted: impl Fn(&TrialView) -> bool) -> Vec<Cell> {
    view.cells(wanted, false).into_iter().flat_map(|task| task.0).collect()
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

/// Explains what the table shows and what it leaves out.
fn legend(view: &RunView) -> String {
    let scores = view.scores(|_| true);
    let k = view.label.k;
    let mut out = String::new();
    let few = |scores: &Scores| scores.tasks < FEWEST_TASKS;
    let scenarios = view.groups(|trial| trial.task.scenario);
    let parts = scenarios.iter().map(|one| view.scores(|trial| trial.task.scenario == *one));
    if few(&scores) || parts.into_iter().any(|scores| few(&scores)) {
        let _ = writeln!(
            out,
            "below ten tasks counts, no rates: trials passed; tasks passed once, and always"
        );
    }
    if !few(&scores) {
        let _ = writeln!(out, "rates in percent; {METHOD}");
    }
    let all = cells(view, |_| true);
    let short = all.iter().filter(|cell| cell.judged < k).count() as u64;
    if short > 0 {
        let _ = writeln!(
            out,
            "{} with fewer than {k} judged trials left out of pass@{k} and pass^{k}",
            counted(short, "task")
        );
    }
    out
}

/// The label of the score: what became of trials and attempts.
fn label(view: &RunView, page: Page) -> String {
    let tally = view.tally();
    let mut out = page.entry("trials", &states(&tally));
    let outcomes: Vec<String> = view
        .outcomes()
        .into_iter()
        .map(|(outcome, count)| format!("{} {}", number(count), one_line(&outcome, 60)))
        .collect();
    if !outcomes.is_empty() {
        out.push_str(&page.entry("attempts", &outcomes));
    }
    if tally.degraded > 0 {
        out.push_str(&page.entry("", &["degraded counts as not passed".to_owned()]));
    }
    if tally.lost > 0 {
        let at = view.scores_had_lost_failed().at_k();
        let k = view.label.k;
        let named = [("avg@", at.avg_at_k), ("pass@", at.pass_at_k), ("pass^", at.pass_hat_k)];
        let parts = named.map(|(name, estimate)| {
            let value = estimate.value.map(|value| format!("{:.1} %", value * 100.0));
            format!("{name}{k} {}", value.unwrap_or_else(|| "–".to_owned()))
        });
        out.push_str(&page.entry("", &[format!("had lost been fails: {}", parts.join(", "))]));
    }
    out
}

/// Names every state that occurs, and always pass and fail.
fn states(tally: &Tally) -> Vec<String> {
    let all = [
        (tally.pass, State::Pass),
        (tally.degraded, State::Degraded),
        (tally.fail, State::Fail),
        (tally.unjudged, State::Unjudged),
        (tally.lost, State::Lost),
        (tally.skipped, State::Skipped),
        (tally.pending, State::Pending),
    ];
    let named = all
        .into_iter()
        .filter(|(count, state)| *count > 0 || matches!(state, State::Pass | State::Fail));
    let mut parts: Vec<String> =
        named.map(|(count, state)| format!("{} {}", number(count), state.name())).collect();
    if let Some(last) = parts.last_mut() {
        let _ = write!(last, " of {}", counted(u64::from(tally.total()), "trial"));
    }
    parts
}

/// What the attempts took.
fn usage(view: &RunView, page: Page) -> String {
    let totals = view.totals();
    let (attempts, tokens) = (totals.attempts, totals.usage);
    if attempts == 0 {
        return String::new();
    }
    let rounds = format!("{} rounds an attempt", mean(totals.rounds, attempts));
    let calls = format!("{} calls an attempt", mean(totals.calls, attempts));
    let mut out = page.entry("work", &[rounds, calls]);
    if tokens.total() > 0 {
        let parts = [
            format!("{} in ({} cached)", number(tokens.input), number(tokens.cached)),
            format!("{} out ({} reasoning)", number(tokens.output), number(tokens.reasoning)),
            format!("{} an attempt", number(tokens.total() / attempts)),
        ];
        out.push_str(&page.entry("tokens", &parts));
    }
    let all = format!("{} of work", duration(totals.working_ms));
    let each = format!("{} an attempt", duration(totals.working_ms / attempts));
    out.push_str(&page.entry("time", &[all, each]));
    out
}

/// Lists tasks of which a trial did not pass, with the deciding reason of the first.
fn not_passed(view: &RunView, page: Page) -> String {
    let mut tasks: BTreeMap<String, Vec<&TrialView>> = BTreeMap::new();
    for trial in &view.trials {
        let id = &trial.id;
        let name = format!("{}/{}/{}", id.condition, id.task, id.variant);
        tasks.entry(name).or_default().push(trial);
    }
    tasks.retain(|_, trials| trials.iter().any(|trial| is_wrong(trial)));
    if tasks.is_empty() {
        return String::new();
    }
    let rows = tasks.iter().take(LISTED).map(|(name, trials)| failed(name, trials)).collect();
    let mut out = format!("\n{}\n{}\n", page.bold("not passed"), page.columns(rows, 4).join("\n"));
    if tasks.len() > LISTED {
        let _ = writeln!(out, "… {} more", number(tasks.len() - LISTED));
    }
    out
}

/// Returns a row: the task, how many of its trials passed, how one did not, and why.
fn failed(name: &str, trials: &[&TrialView]) -> Vec<String> {
    let passed = trials.iter().filter(|trial| trial.state() == State::Pass).count();
    let title = trials.first().map_or("", |trial| &trial.task.title);
    let wrong = trials.iter().find(|trial| is_wrong(trial));
    vec![
        format!("{}\n  {}", one_line(name, 120), one_line(title, 60)),
        format!("{passed}/{}", trials.len()),
        wrong.map_or("", |trial| trial.state().name()).to_owned(),
        wrong.map(|trial| reason(trial)).unwrap_or_default(),
    ]
}

fn is_wrong(trial: &TrialView) -> bool {
    match trial.state() {
        State::Pass | State::Pending => false,
        State::Degraded | State::Fail | State::Unjudged | State::Lost | State::Skipped => true,
    }
}

/// Returns why a trial did not pass: the verdict's first reason, or how it ended.
fn reason(trial: &TrialView) -> String {
    let judged = trial.reasons.first().filter(|_| trial.state().is_judged());
    let ended = || {
        let last = trial.attempts.last()?;
        let detail = last.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
        Some(format!("{}{detail}", last.outcome))
    };
    one_line(&judged.cloned().or_else(ended).unwrap_or_default(), REASON)
}

/// Names the commands that come next.
fn next_steps(view: &RunView, page: Page) -> String {
    let run = visible(&view.label.run);
    let tried = || view.trials.iter().filter(|trial| !trial.attempts.is_empty());
    let mut out = String::new();
    if let Some(trial) = tried().find(|trial| is_wrong(trial)).or_else(|| tried().next()) {
        let command = format!("wildgym show {run} {}", visible(&trial.id.to_string()));
        let _ = writeln!(out, "  {}\n    reads its transcript", page.bold(&command));
    }
    if !view.tally().is_complete() {
        let command = format!("wildgym resume {run}");
        let what = "tries again what was lost or left, and judges what is not judged";
        let _ = writeln!(out, "  {}\n    {what}", page.bold(&command));
    }
    if out.is_empty() { out } else { format!("\n{}\n{out}", page.bold("next")) }
}
