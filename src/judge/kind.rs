//! The judges there are.

use super::llm::{Account, Panel, Question};
use super::{Ruling, exact};
use crate::record::Outcome;
use crate::verdict::Verdict;

/// Who judges.
#[derive(Debug)]
pub enum Judge {
    /// Equality alone.
    Exact,
    /// Equality, and where it does not decide the votes of models.
    Llm(Panel),
}

impl Judge {
    /// Has an account of right actions judged; none where no model can be asked. The ruling
    /// is a pass, or `degraded`: this judge can lower a verdict and never raise one.
    pub async fn review(&self, account: &Account<'_>, scope: (&str, u32)) -> Option<Ruling> {
        let Self::Llm(panel) = self else { return None };
        let mut ruling = panel.review(account, scope).await;
        if ruling.verdict == Verdict::Fail {
            ruling.verdict = Verdict::Degraded;
        }
        Some(ruling)
    }

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
