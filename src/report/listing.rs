//! The list of trials: `wildgym show RUN`.

use super::Resolve;
use super::layout::{Page, cut};
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::record::{Body, TrialId};

/// Most columns of an answer; a narrow page leaves it a quarter.
const ANSWER: usize = 40;

/// Most columns of a reason, however wide the page is.
const REASON: usize = 300;

/// Returns a line for each trial that `wanted` chooses, in the order of the view, under a
/// line of headings: what became of it, which it is, what was answered, and why that
/// counts as it does.
#[must_use]
pub fn listing(
    view: &RunView,
    wanted: impl Fn(&TrialView) -> bool,
    resolve: &Resolve<'_>,
    width: usize,
    colour: bool,
) -> String {
    let page = Page::new(width, colour);
    let several = view.groups(|trial| &trial.id.condition).len() > 1;
    let mut rows = vec![["state", "trial", "answer", "reason"].map(str::to_owned).to_vec()];
    for trial in view.trials.iter().filter(|trial| wanted(trial)) {
        rows.push(vec![
            trial.state().name().to_owned(),
            one_line(&name(&trial.id, several), 160),
            cut(
                &one_line(&trial.answer(resolve).unwrap_or_default(), 400),
                ANSWER.min(page.width() / 4),
            ),
            cut(&one_line(&trial.reason().unwrap_or_default(), usize::MAX), REASON),
        ]);
    }
    let mut lines = page.rows(&rows);
    if let Some(header) = lines.first_mut() {
        *header = page.bold(header);
    }
    lines.join("\n") + "\n"
}

/// Returns the short name of a trial, which the command line takes as well as the whole:
/// without the condition, where a run has but one.
fn name(id: &TrialId, conditions: bool) -> String {
    let condition = if conditions { format!("{}/", id.condition) } else { String::new() };
    format!("{condition}{}/{}/{}", id.task, id.variant, id.k)
}

impl TrialView {
    /// Returns what was answered last, where it was answered and is stored still.
    #[must_use]
    pub fn answer(&self, resolve: &Resolve<'_>) -> Option<String> {
        match self.attempts.last()?.answer.as_ref()? {
            Body::Inline(text) => Some(text.clone()),
            Body::Blob { blob, .. } => {
                resolve(blob).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }
}
