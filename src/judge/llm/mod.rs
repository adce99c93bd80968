//! The judge with a language model, for answers that the exact judge cannot decide.
//!
//! What can be decided without a model is: an answer that equals the reference passes, one
//! that is empty, too long, a list of candidates, or plainly another number or date fails
//! ([`gate`]). Of the rest a model is asked whether it means the same as the reference. It
//! sees the question, the reference and the answer, as fields of a JSON object, and nothing
//! else. Of a final account of work in a world it is asked whether that keeps to a rubric and
//! agrees with the calls. It replies with one word of two in a strict form. A [`Panel`] asks several times,
//! and several models in turn, and more than half of the votes must agree.
//!
//! Silence is never a verdict: a reply that is missing, refused, cut or in any other form is
//! a vote for nothing, and without a majority the answer is unjudged. Nothing here searches
//! a reply for words.

mod name;
mod panel;
mod preflight;
mod prompt;
mod reply;
pub mod rubric;
mod vote;

use wildgym_tasks::scenario::Language;
use wildgym_tasks::{Answer, Scenario};

use super::exact::{self, Unequal};
use crate::verdict::Verdict;

pub use name::{name, name_of_rubric, prompts};
pub use panel::{Panel, PanelError};
pub use preflight::PreflightError;

/// What is to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The kind of task; each has a prompt of its own.
    pub scenario: Scenario,
    /// Language of question and reference.
    pub language: Language,
    /// What was asked.
    pub question: &'a str,
    /// The right answer.
    pub reference: &'a Answer,
    /// The answer to judge.
    pub answer: &'a str,
}

/// What a final account of work is held against.
#[derive(Debug, Clone, Copy)]
pub struct Account<'a> {
    /// What was asked.
    pub request: &'a str,
    /// What the account has to be like.
    pub rubric: &'a str,
    /// The calls that were made, as JSON objects.
    pub calls: &'a [serde_json::Value],
    /// The account.
    pub answer: &'a str,
}

/// What a model judges.
#[derive(Debug, Clone, Copy)]
enum Matter<'a> {
    /// Whether an answer means the same as the reference.
    Answer(&'a Question<'a>),
    /// Whether an account agrees with what was done.
    Account(&'a Account<'a>),
}

impl Matter<'_> {
    /// Returns the words that somebody else wrote.
    fn answer(&self) -> &str {
        match self {
            Self::Answer(question) => question.answer,
            Self::Account(account) => account.answer,
        }
    }
}

/// Returns the verdict and its reason where no model has to be asked: `None` means that the
/// answer may mean the same as the reference.
#[must_use]
pub fn gate(reference: &Answer, answer: &str) -> Option<(Verdict, Vec<String>)> {
    match exact::compare(reference, answer) {
        Ok(how) => Some((Verdict::Pass, vec![how.to_owned()])),
        Err(Unequal::Wrong(reason)) => Some((Verdict::Fail, vec![reason])),
        Err(Unequal::Unclear(_)) => None,
    }
}

#[cfg(test)]
mod tests;
