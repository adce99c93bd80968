//! The judges there are.

use super::llm::{Panel, Question};
use super::{Ruling, exact};
use crate::record::Outcome;

/// Who judges.
#[derive(Debug)]
pub enum Judge {
    /// Equality alone.
    Exact,
    /// Equality, and where it does not decide the votes of models.
    Llm(Panel),
}

impl Judge {
    /// Judges an attempt that ended with `outcome`; `question.answer` is empty where it gave
    /// no answer. An attempt without an answer is no matter for a model.
    ///
    /// `scope` is the trial and the attempt in whose name models are asked.
    pub async fn judge(
        &self,
        outcome: &Outcome,
        question: &Question<'_>,
        scope: (&str, u32),
    ) -> Ruling {
        match (self, outcome) {
            (Self::Llm(panel), Outcome::Answered) => panel.decide(question, scope).await,
            (Self::Exact | Self::Llm(_), _) => {
                Ruling::of(exact::judge(question.reference, outcome, Some(question.answer)))
            }
        }
    }
}
