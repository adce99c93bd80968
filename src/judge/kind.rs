//! The judges there are.

use super::llm::rubric::{Rated, Raters, Work};
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
    /// The same, and models that rate how an attempt was done.
    Rubric(Panel, Raters),
}

impl Judge {
    /// Has an account of right actions judged; none where no model can be asked. The ruling
    /// is a pass, or `degraded`: this judge can lower a verdict and never raise one.
    pub async fn review(&self, account: &Account<'_>, scope: (&str, u32)) -> Option<Ruling> {
        let panel = match self {
            Self::Exact => return None,
            Self::Llm(panel) | Self::Rubric(panel, _) => panel,
        };
        let mut ruling = panel.review(account, scope).await;
        if ruling.verdict == Verdict::Fail {
            ruling.verdict = Verdict::Degraded;
        }
        Some(ruling)
    }

    /// Returns whether it rates how attempts were done.
    #[must_use]
    pub fn rates(&self) -> bool {
        matches!(self, Self::Rubric(..))
    }

    /// Has an attempt rated that ended with an answer; none where the judge does not rate.
    pub async fn rate(&self, work: &Work<'_>, scope: (&str, u32)) -> Option<Rated> {
        match self {
            Self::Rubric(_, raters) => Some(raters.rate(work, scope).await),
            Self::Exact | Self::Llm(_) => None,
        }
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
            (Self::Llm(panel) | Self::Rubric(panel, _), Outcome::Answered) => {
                panel.decide(question, scope).await
            }
            (Self::Exact | Self::Llm(_) | Self::Rubric(..), _) => {
                Ruling::of(exact::judge(question.reference, outcome, Some(question.answer)))
            }
        }
    }
}
