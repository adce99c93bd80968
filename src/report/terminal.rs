//! The report for people: `wildgym report RUN`.
//!
//! It makes sense without colour, fits the given width, and never shows a rate where
//! there is too little to estimate one: below ten tasks it shows counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::ReportOptions;
use super::ablation;
use super::campaign;
use super::conduct;
use super::curves;
use super::figures::{counted, number};
use super::layout::Page;
use super::resilience;
use super::rubric;
use super::sanitize::{one_line, visible};
use super::stages::stages;
use super::table::Sheet;
use super::unpassed::not_passed;
use super::usage::usage;
use super::view::{RunView, TrialView};
use crate::judge::exact::NAME as EXACT;
use crate::metrics::State;

/// Most columns that the names of variants take in the title.
const VARIANTS: usize = 100;

/// Returns the report of a run for a terminal of `width` columns; `usize::MAX` is for
/// what is no terminal, where no line is wrapped.
#[must_use]
pub fn terminal(view: &RunView, options: &ReportOptions, width: usize, colour: bool) -> String {
    let page = Page::new(width, colour);
    let mut out = heading(view, page);
    let sheet = Sheet::new(view, options, page);
    out.push_str(&sheet.table());
    out.push_str(&label(view, &sheet, page));
    out.push_str(&usage(view, options.prices.as_ref(), page));
    out.push_str(&ablation::section(view, page));
    out.push_str(&campaign::section(view, page));
    out.push_str(&curves::section(view, page));
    out.push_str(&stages(view, page));
    out.push_str(&conduct::section(view, &options.by, page));
    out.push_str(&resilience::section(view, &options.by, page));
    out.push_str(&rubric::section(view, &options.by, page));
    out.push_str(&not_passed(view, page));
    out.push_str(&next_steps(view, page));
    out
}

/// Says what was run, with which agent, on what.
fn heading(view: &RunView, page: Page) -> String {
    let label = &view.label;
    let model = label.model.as_ref().map(|model| format!(" · model {model}")).unwrap_or_default();
    let others = format!(
        "{}{}",
        others(" · tools ask ", &label.tool_models),
        others(" · user played by ", &label.user_models)
    );
    let replayed = if label.cassette.is_some() { " · models replayed" } else { "" };
    let walls = if label.uncontained { " (uncontained)" } else { "" };
    let faults = match label.faults_line() {
        names if names.is_empty() => names,
        names => format!(" · faults {names}"),
    };
    let digest: String = label.suite.digest.chars().take(12).collect();
    let suite = one_line(&format!("{} {}", label.suite.name, label.suite.version), 200);
    // Room for the rest of what is said about variants.
    let room = page.width().saturating_sub(suite.width() + 20);
    let title = format!("{suite} · {}", variants(&label.variants, room));
    let agent = format!(
        "agent {}{walls}{model}{others} · judge {}{replayed}{faults}",
        label.agent,
        view.judge_line()
    );
    let agent = one_line(&agent, 300);
    format!(
        "{}\n{agent}\nsuite {digest} · seed {} · web {} · {} a task{}\n{}\n\n",
        page.bold(&title),
        label.seed,
        visible(&label.web),
        counted(u64::from(label.k), "trial"),
        if label.variants.len() > 1 { " and variant" } else { "" },
        visible(&label.run),
    )
}

/// Names the models of all conditions, after what they do; nothing where there are none.
fn others(what: &str, models: &BTreeMap<String, String>) -> String {
    let names: BTreeSet<&str> = models.values().map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() { String::new() } else { format!("{what}{}", names.join(", ")) }
}

/// Names the variants, or those first ones of many for which there is room.
fn variants(names: &[String], room: usize) -> String {
    let mut shown = String::from("variants ");
    for (index, name) in names.iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        if index > 0 && shown.len() + comma.len() + name.len() > room.min(VARIANTS) {
            let _ = write!(shown, ", … {} in all", number(names.len()));
            break;
        }
        let _ = write!(shown, "{comma}{name}");
    }
    if names.is_empty() { shown + "none" } else { shown }
}

/// The label of the score: what became of trials and attempts.
fn label(view: &RunView, sheet: &Sheet<'_>, page: Page) -> String {
    let tally = view.tally();
    let mut out = page.entry("trials", &states(view));
    if tally.degraded > 0 {
        out.push_str(&page.entry("", &["degraded counts as not passed".to_owned()]));
    }
    for bound in sheet.bounds() {
        out.push_str(&page.entry("", &bound));
    }
    let outcomes: Vec<String> = view
        .outcomes()
        .into_iter()
        .map(|(outcome, count)| format!("{} {}", number(count), one_line(&outcome, 60)))
        .collect();
    if !outcomes.is_empty() {
        out.push_str(&page.entry("attempts", &outcomes));
    }
    if let Some(line) = view.label.episodes.and_then(|episodes| episodes.line()) {
        out.push_str(&page.entry("episodes", &[line]));
    }
    for (index, line) in view.label.web_lines().into_iter().enumerate() {
        out.push_str(&page.entry(if index == 0 { "web" } else { "" }, &[line]));
    }
    for (index, line) in view.label.servers.iter().enumerate() {
        let line = one_line(line, 300);
        out.push_str(&page.entry(if index == 0 { "servers" } else { "" }, &[line]));
    }
    if !view.damaged.is_empty() {
        let count = counted(view.damaged.len() as u64, "stored file");
        let lines = [format!("{count} cannot be read; what they held is missing here")];
        out.push_str(&page.entry("damaged", &lines));
    }
    out
}

/// Names every state that occurs, and always pass and fail.
fn states(view: &RunView) -> Vec<String> {
    let tally = view.tally();
    let mut parts = Vec::new();
    for state in State::ALL {
        let count = tally.of(state);
        let name = match state {
            State::Pending if view.running => "running or not begun",
            State::Pending => "not begun",
            State::Pass
            | State::Degraded
            | State::Fail
            | State::Unjudged
            | State::Lost
            | State::Skipped => state.name(),
        };
        if count > 0 || matches!(state, State::Pass | State::Fail) {
            parts.push(format!("{} {name}", number(count)));
        }
    }
    if let Some(last) = parts.last_mut() {
        let _ = write!(last, " of {}", counted(u64::from(tally.total()), "trial"));
    }
    parts
}

/// Names the commands that come next.
fn next_steps(view: &RunView, page: Page) -> String {
    let run = visible(&view.label.run);
    let mut out = String::new();
    if let Some(trial) = worth_reading(view) {
        let command = format!("wildgym show {run} {}", visible(&trial.id.to_string()));
        let _ = writeln!(out, "  {}\n    reads its transcript", page.bold(&command));
    }
    let tally = view.tally();
    let other = view.label.other_judge;
    if view.label.held {
        if tally.unjudged > 0 && !other {
            let command = format!("wildgym rejudge {run}");
            let _ = writeln!(out, "  {}\n    judges what is not judged", page.bold(&command));
        }
    } else if tally.lost + tally.pending > 0 || (tally.unjudged > 0 && !other) {
        let command = format!("wildgym resume {run}");
        let what = if other {
            "tries again what was lost or left, with the run's own judge"
        } else {
            "tries again what was lost or left, and judges what is not judged"
        };
        let _ = writeln!(out, "  {}\n    {what}", page.bold(&command));
    }
    if other && tally.unjudged > 0 {
        out.push_str(&ask_again(view, page));
    }
    if out.is_empty() { out } else { format!("\n{}\n{out}", page.bold("next")) }
}

/// Says how another judge than the run's own judges what is left: by the command that it
/// was asked by, for only that has its endpoint.
fn ask_again(view: &RunView, page: Page) -> String {
    let (run, judge) = (visible(&view.label.run), visible(&view.label.judge));
    let flag = if judge == EXACT { "--judge exact" } else { "…" };
    let command = format!("wildgym rejudge {run} {flag}");
    let what = format!("with the flags as before: judge `{judge}` judges what is left");
    format!("  {}\n    {what}\n", page.bold(&command))
}

/// Returns the first trial that failed, else one that did not pass, else any.
fn worth_reading(view: &RunView) -> Option<&TrialView> {
    let tried = || view.trials.iter().filter(|trial| !trial.attempts.is_empty());
    tried()
        .find(|trial| trial.state() == State::Fail)
        .or_else(|| tried().find(|trial| trial.is_wrong()))
        .or_else(|| tried().next())
}
