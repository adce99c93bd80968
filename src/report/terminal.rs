//! The report for people: `wildgym report RUN`.
//!
//! It makes sense without colour, fits the given width, and never shows a rate where
//! there is too little to estimate one: below ten tasks it shows counts.

use std::fmt::Write as _;

use comfy_table::presets::{NOTHING, UTF8_HORIZONTAL_ONLY};
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::figures::{counted, duration, mean, number, percent};
use super::sanitize::{one_line, visible};
use super::view::{RunView, TrialView};
use crate::metrics::{Cell, FEWEST_TASKS, METHOD, Scores, State, Tally};

/// Most trials that are listed as not passed.
const LISTED: usize = 10;

/// Most characters of a reason in that list.
const REASON: usize = 160;

/// Returns the report of a run for a terminal of `width` columns.
#[must_use]
pub fn terminal(view: &RunView, width: usize, colour: bool) -> String {
    let page = Page { width: width.clamp(60, 200), colour };
    let mut out = heading(view, &page);
    out.push_str(&table(view, &page));
    out.push_str(&label(view));
    out.push_str(&usage(view));
    out.push_str(&not_passed(view, &page));
    out.push_str(&next_steps(view, &page));
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
    fn columns(self, header: Option<Vec<String>>, rows: Vec<Vec<String>>, left: usize) -> String {
        let mut table = Table::new();
        table
            .load_style(if header.is_some() { UTF8_HORIZONTAL_ONLY } else { NOTHING })
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(self.width).unwrap_or(u16::MAX));
        let titled = header.is_some();
        if let Some(header) = header {
            table.set_header(header);
        }
        table.add_rows(rows);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((u16::from(titled), 1));
            if index >= left {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut out = String::new();
        for line in table.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Says what was run, with which agent, on what.
fn heading(view: &RunView, page: &Page) -> String {
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
fn table(view: &RunView, page: &Page) -> String {
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
    let out = page.columns(Some(header.map(str::to_owned).to_vec()), rows, 1);
    format!("{out}{}\n", legend(view))
}

fn row(view: &RunView, name: &str, wanted: impl Fn(&TrialView) -> bool + Copy) -> Vec<String> {
    let scores = view.scores(wanted);
    let mut row = vec![name.to_owned(), number(scores.tasks)];
    if scores.tasks < FEWEST_TASKS {
        row.extend(counts(&cells(view, wanted), view.label.k));
    } else {
        let at = scores.at_k();
        row.extend([at.avg_at_k, at.pass_at_k, at.pass_hat_k].map(|estimate| percent(&estimate)));
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
        let _ = writeln!(out, "{METHOD}");
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
fn label(view: &RunView) -> String {
    let tally = view.tally();
    let mut out = format!("trials    {}\n", states(&tally));
    let outcomes: Vec<String> = view
        .outcomes()
        .into_iter()
        .map(|(outcome, count)| format!("{} {}", number(count), one_line(&outcome, 60)))
        .collect();
    if !outcomes.is_empty() {
        let _ = writeln!(out, "attempts  {}", outcomes.join(" · "));
    }
    if tally.degraded > 0 {
        let _ = writeln!(out, "          degraded counts as not passed");
    }
    if tally.lost > 0 {
        let at = view.scores_had_lost_failed().at_k();
        let rates = [at.avg_at_k, at.pass_at_k, at.pass_hat_k].map(|estimate| {
            estimate.value.map_or_else(|| "–".to_owned(), |value| format!("{:.1} %", value * 100.0))
        });
        let k = view.label.k;
        let _ = writeln!(
            out,
            "          had lost been fails: avg@{k} {}, pass@{k} {}, pass^{k} {}",
            rates[0], rates[1], rates[2],
        );
    }
    out
}

/// Names every state that occurs, and always pass and fail.
fn states(tally: &Tally) -> String {
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
    let parts: Vec<String> =
        named.map(|(count, state)| format!("{} {}", number(count), state.name())).collect();
    format!("{} of {}", parts.join(" · "), counted(u64::from(tally.total()), "trial"))
}

/// What the attempts took.
fn usage(view: &RunView) -> String {
    let totals = view.totals();
    let (attempts, tokens) = (totals.attempts, totals.usage);
    if attempts == 0 {
        return String::new();
    }
    let mut out = format!(
        "work      {} rounds and {} calls an attempt\n",
        mean(totals.rounds, attempts),
        mean(totals.calls, attempts),
    );
    if tokens.total() > 0 {
        let _ = writeln!(
            out,
            "tokens    {} in ({} cached) · {} out ({} reasoning) · {} an attempt",
            number(tokens.input),
            number(tokens.cached),
            number(tokens.output),
            number(tokens.reasoning),
            number(tokens.total() / attempts),
        );
    }
    let each = duration(totals.working_ms / attempts);
    let _ = writeln!(out, "time      {} of work · {each} an attempt", duration(totals.working_ms));
    out
}

/// Lists trials that did not pass, with the deciding reason.
fn not_passed(view: &RunView, page: &Page) -> String {
    let wrong: Vec<&TrialView> = view.trials.iter().filter(|trial| is_wrong(trial)).collect();
    if wrong.is_empty() {
        return String::new();
    }
    let rows = wrong
        .iter()
        .take(LISTED)
        .map(|trial| {
            let what = format!(
                "{}\n{}",
                one_line(&trial.id.to_string(), 120),
                one_line(&trial.task.title, 60)
            );
            vec![String::new(), what, trial.state().name().to_owned(), reason(trial)]
        })
        .collect();
    let mut out = format!("\n{}\n{}", page.bold("not passed"), page.columns(None, rows, 4));
    if wrong.len() > LISTED {
        let _ = writeln!(out, " … {} more", number(wrong.len() - LISTED));
    }
    out
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
fn next_steps(view: &RunView, page: &Page) -> String {
    let run = visible(&view.label.run);
    let tally = view.tally();
    let mut steps = Vec::new();
    if let Some(trial) =
        view.trials.iter().find(|trial| is_wrong(trial) && !trial.attempts.is_empty())
    {
        steps.push((
            format!("wildgym show {run} {}", visible(&trial.id.to_string())),
            "reads its transcript",
        ));
    } else if let Some(trial) = view.trials.iter().find(|trial| !trial.attempts.is_empty()) {
        steps.push((
            format!("wildgym show {run} {}", visible(&trial.id.to_string())),
            "reads a transcript",
        ));
    }
    if !tally.is_complete() {
        steps.push((
            format!("wildgym resume {run}"),
            "tries what was lost or left, and judges what is not",
        ));
    }
    let mut out = String::new();
    for (command, what) in steps {
        let _ = write!(out, "\n  {}   {what}", page.bold(&command));
    }
    if out.is_empty() { out } else { format!("\n{}{out}\n", page.bold("next")) }
}
