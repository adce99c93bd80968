//! The exact judge: equality by the answer's kind, without a model.
//!
//! It passes an answer that *is* the reference in a common spelling, and fails the rest,
//! sentences around the right value included: the score it leads to is a lower bound.
//! What may stand around a value is little and fixed: outer quotes and punctuation, and
//! a lead-in such as `answer:`; around a number its unit.
//!
//! An answer is data. It is bounded in length, its control and invisible characters are
//! taken out before anything is compared, and no string makes this module panic.

mod candidates;
mod date;
mod list;
mod number;
mod places;
mod text;

use wildgym_tasks::{Answer, AnswerKind};

use crate::record::Outcome;
use crate::verdict::Verdict;

pub use candidates::lists_candidates;
pub(super) use text::shown;

/// Name of this judge in `verdicts/<judge>.jsonl` and on labels.
pub const NAME: &str = "exact";

/// Most characters an answer may have, unless the reference itself is longer.
pub const LONGEST: usize = 2000;

/// Judges an attempt that ended with `outcome` and, where there is one, an answer.
///
/// Returns the verdict and its reasons, the deciding one first; a pass has one as well,
/// which says what was compared. A lost or skipped attempt is [`Verdict::Unjudged`]. The
/// reasons do not quote the reference, so they can stand beside an exported transcript.
#[must_use]
pub fn judge(answer: &Answer, outcome: &Outcome, text: Option<&str>) -> (Verdict, Vec<String>) {
    match outcome {
        Outcome::Answered => match compare(answer, text.unwrap_or_default()) {
            Ok(how) => (Verdict::Pass, vec![how.to_owned()]),
            Err(Unequal::Wrong(reason) | Unequal::Unclear(reason)) => (Verdict::Fail, vec![reason]),
        },
        Outcome::NoAnswer => (Verdict::Fail, vec!["no answer".to_owned()]),
        Outcome::Limit(limit) => {
            (Verdict::Fail, vec![format!("no answer within the limit on {}", limit.name())])
        }
        Outcome::Lost(_) | Outcome::Skipped(_) => {
            (Verdict::Unjudged, vec![format!("an attempt that ended `{outcome}` has no verdict")])
        }
    }
}

/// Why an answer does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unequal {
    /// It is wrong, whoever judges.
    Wrong(String),
    /// It is not in a form that can be compared; what it means may be right.
    Unclear(String),
}

/// Returns what was equal, or why the answer does not pass.
pub(super) fn compare(answer: &Answer, given: &str) -> Result<&'static str, Unequal> {
    let forms = forms(answer);
    let longest = forms.iter().map(|form| form.chars().count()).max().unwrap_or(0).max(LONGEST);
    if given.chars().nth(longest).is_some() {
        return Err(Unequal::Wrong(format!("the answer has more than {longest} characters")));
    }
    let key = text::key(given);
    if key.is_empty() {
        return Err(Unequal::Wrong("the answer is empty".to_owned()));
    }
    let doubt = text::doubt(given);
    let equal = forms.iter().filter(|form| text::key(form) == key);
    match (equal.map(|form| text::doubt(form)).collect::<Vec<_>>().as_slice(), doubt) {
        ([], _) => {}
        (of_forms, doubt) if doubt.is_none() || of_forms.contains(&doubt) => {
            return Ok("equals the reference or an accepted form");
        }
        (_, doubt) => return Err(Unequal::Unclear(doubt.unwrap_or_default().to_owned())),
    }
    if let Some(reason) = lists_candidates(answer, given) {
        return Err(Unequal::Wrong(reason));
    }
    let compared = match &answer.kind {
        AnswerKind::Text { .. } => {
            Err(Unequal::Unclear("differs from the reference and all accepted forms".into()))
        }
        AnswerKind::Number { value, tolerance, unit } => {
            number::compare(given, *value, *tolerance, unit.as_deref())
        }
        AnswerKind::Date { value } => date::compare(given, *value),
        AnswerKind::List { value, ordered } => list::compare(given, value, *ordered),
    };
    match (compared, doubt) {
        (Ok(_) | Err(Unequal::Wrong(_)), Some(doubt)) => Err(Unequal::Unclear(doubt.to_owned())),
        (compared, _) => compared,
    }
}

/// Returns the reference as text, and the accepted forms.
fn forms(answer: &Answer) -> Vec<String> {
    let value = match &answer.kind {
        AnswerKind::Text { value } => value.clone(),
        AnswerKind::Number { value, unit: None, .. } => value.to_string(),
        AnswerKind::Number { value, unit: Some(unit), .. } => format!("{value} {unit}"),
        AnswerKind::Date { value } => value.to_string(),
        AnswerKind::List { value, .. } => value.join(", "),
    };
    std::iter::once(value).chain(answer.accept.iter().cloned()).collect()
}

#[cfg(test)]
mod tests;
