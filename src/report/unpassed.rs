//! The list of what did not pass.

use std::fmt::Write as _;

use wildgym_tasks::Variant;

use super::figures::number;
use super::layout::{Page, cut};
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::metrics::{State, Tally};
use crate::record::TrialId;

/// Most tasks that are listed.
const LISTED: usize = 10;

/// Most columns of a reason, however wide the page is.
const REASON: usize = 300;

/// Lists tasks of which a trial did not pass, each in each of its variants, with the
/// deciding reason of the first such trial.
pub(super) fn not_passed(view: &RunView, page: Page) -> String {
    let several = view.groups(|trial| &trial.id.condition).len() > 1;
    let mut trials: Vec<&TrialView> = view.trials.iter().collect();
    trials.sort_by_key(|trial| &trial.id);
    let wrong: Vec<&[&TrialView]> = trials
        .chunk_by(|a, b| group(&a.id) == group(&b.id))
        .filter(|trials| trials.iter().any(|trial| trial.is_wrong()))
        .collect();
    if wrong.is_empty() {
        return String::new();
    }
    let listed = wrong.iter().take(LISTED);
    let rows: Vec<Vec<String>> = listed.clone().map(|trials| row(trials, several)).collect();
    let mut out = format!("\n{}\n", page.bold("not passed"));
    for (line, trials) in page.rows(&rows).iter().zip(listed) {
        let title = trials.first().map_or("", |trial| &trial.task.title);
        let title = page.line(&format!("  {}", one_line(title, usize::MAX)));
        let _ = writeln!(out, "{line}\n{title}");
    }
    if wrong.len() > LISTED {
        let _ = writeln!(out, "… {} more", number(wrong.len() - LISTED));
    }
    out
}

/// Returns what the k trials at a task have in common.
fn group(id: &TrialId) -> (&str, &str, &Variant) {
    (&id.condition, &id.task, &id.variant)
}

/// Returns a row: the task, how many of its trials passed, how one did not, and why.
fn row(trials: &[&TrialView], conditions: bool) -> Vec<String> {
    let Some(wrong) = trials.iter().find(|trial| trial.is_wrong()) else { return Vec::new() };
    let id = &wrong.id;
    let condition = if conditions { format!("{}/", id.condition) } else { String::new() };
    let reason = one_line(&wrong.reason().unwrap_or_default(), usize::MAX);
    vec![
        one_line(&format!("{condition}{}/{}", id.task, id.variant), 120),
        passed(&trials.iter().map(|trial| trial.state()).collect()),
        wrong.state().name().to_owned(),
        cut(&reason, REASON),
    ]
}

/// Returns how many passed of those judged, and of how many that is, where some are not.
fn passed(tally: &Tally) -> String {
    let (passed, judged, total) = (tally.pass, tally.judged(), tally.total());
    let of = if judged < total { format!(" of {}", number(total)) } else { String::new() };
    format!("{}/{}{of}", number(passed), number(judged))
}

impl TrialView {
    /// Returns whether the trial is over and did not pass.
    pub(super) fn is_wrong(&self) -> bool {
        match self.state() {
            State::Pass | State::Pending => false,
            State::Degraded | State::Fail | State::Unjudged | State::Lost | State::Skipped => true,
        }
    }
}
