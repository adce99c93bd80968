//! What an episode is worth: judged once, from what was stored.

use std::sync::Arc;

use super::super::Problem;
use super::super::seat::Occupied;
use super::super::types::{Evaluation, Figures, Parts};
use super::Desk;
use super::work::{ended, episode, finished, seen};
use crate::agent::Ending;
use crate::record::{Outcome, OutcomeRecord};
use crate::runner::{Case, Session};
use crate::store::{Store, StoreError};
use crate::verdict::{Share, Verdict, VerdictRecord};

impl Desk {
    /// Says what the episode of a session is worth. One that goes on ends here, as it
    /// stands. Once there is a verdict it is not asked for again.
    pub async fn evaluate(self: &Arc<Self>, id: &str) -> Result<Arc<Evaluation>, Problem> {
        let held = self.seat(id)?.occupy()?;
        if held.seat.look().evaluation.is_some() {
            return Err(Problem::evaluated());
        }
        if held.session.is_none() {
            return Err(Problem::no_episode());
        }
        let ticket = self.line.enter()?;
        let desk = Arc::clone(self);
        finished(tokio::spawn(async move {
            let _turn = ticket.turn().await?;
            desk.weigh(held).await
        }))
        .await
    }

    async fn weigh(self: &Arc<Self>, mut held: Occupied) -> Result<Arc<Evaluation>, Problem> {
        if held.session.as_ref().is_some_and(|session| session.over().is_none()) {
            let ending = Ending::without(Outcome::NoAnswer, "evaluated before it was answered");
            held = self.heavily(held, move |session| session.close(ending).map(drop)).await?;
            let mut inner = held.seat.look();
            let step = inner.shown.step;
            if let Some(session) = &held.session {
                inner.shown = Arc::new(seen(&held.seat.id, session, step));
            }
        }
        let case = held.session.as_ref().and_then(Session::case).ok_or_else(Problem::no_episode)?;
        let store = held.session.as_ref().map_or(&self.store, Session::store).clone();
        let judged = self.judge(store, case.clone()).await?;
        let mut inner = held.seat.look();
        let is_lost = case.end.outcome.is_lost();
        let evaluation = Arc::new(evaluation(&held.seat.id, &case, judged, inner.failed));
        // A judge that could not be asked may be asked again; what is lost stays lost.
        if evaluation.reward.is_some() || is_lost {
            inner.evaluation = Some(Arc::clone(&evaluation));
        }
        Ok(evaluation)
    }

    /// Judges a stored attempt. The judge reads files and works out differences of states;
    /// only one with models waits for somebody.
    async fn judge(
        self: &Arc<Self>,
        store: Store,
        case: Case,
    ) -> Result<Result<VerdictRecord, String>, Problem> {
        let unread = |error: StoreError| Problem::broken(error.to_string());
        let stop = self.stop.1.clone();
        if !self.config.judge.models.is_empty() {
            return self.referee.judge(&store, &case, stop).await.map_err(unread);
        }
        let desk = Arc::clone(self);
        let runtime = tokio::runtime::Handle::current();
        let judge = move || runtime.block_on(desk.referee.judge(&store, &case, stop));
        let judged = self.aside(judge).await?;
        judged.map_err(unread)
    }
}

/// Returns what is told of a verdict.
fn evaluation(
    id: &str,
    case: &Case,
    judged: Result<VerdictRecord, String>,
    failed: u32,
) -> Evaluation {
    let (terminated, truncated) = ended(&case.end);
    let (record, why) = match judged {
        Ok(record) => (Some(record), None),
        Err(why) => (None, Some(why)),
    };
    let verdict = record.as_ref().map_or(Verdict::Unjudged, |record| record.verdict);
    let (reward, name) = match verdict {
        Verdict::Pass => (Some(1.0), "pass"),
        Verdict::Degraded => (Some(0.0), "degraded"),
        Verdict::Fail => (Some(0.0), "fail"),
        Verdict::Unjudged => (None, "unjudged"),
    };
    let attempt = crate::runner::Attempt { trial: case.trial.clone(), attempt: case.attempt };
    Evaluation {
        session: id.to_owned(),
        episode: episode(&attempt),
        reward,
        verdict: name.to_owned(),
        reasons: record
            .as_ref()
            .map_or_else(|| why.into_iter().collect(), |record| record.reasons.clone()),
        terminated,
        truncated,
        outcome: case.end.outcome.to_string(),
        parts: parts(&case.end, record, verdict, failed),
    }
}

fn parts(
    end: &OutcomeRecord,
    record: Option<VerdictRecord>,
    verdict: Verdict,
    failed_calls: u32,
) -> Parts {
    let one = |truth: bool| if truth { 1.0 } else { 0.0 };
    let share = |found: &std::collections::BTreeMap<String, bool>| {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let right = found.values().filter(|reached| **reached).count();
        Share { right: count(right), of: count(found.len()) }
    };
    let (milestones, discovered, conduct) = match record {
        Some(record) => (share(&record.milestones), share(&record.discovered), record.conduct),
        None => (Share::default(), Share::default(), None),
    };
    let expected = conduct.as_ref().map(|conduct| conduct.expected).unwrap_or_default();
    let assertions = conduct.as_ref().map(|conduct| conduct.assertions).unwrap_or_default();
    let mut checks = Share::default();
    for share in [expected, assertions, milestones, discovered] {
        checks.add(share);
    }
    let passed = verdict == Verdict::Pass;
    Parts {
        passed: one(passed),
        degraded: one(verdict == Verdict::Degraded),
        answered: one(end.outcome == Outcome::Answered),
        checks: Figures::from(checks),
        expected_calls: expected.into(),
        assertions: assertions.into(),
        milestones: milestones.into(),
        discovered: discovered.into(),
        steps: end.rounds,
        calls: end.calls,
        failed_calls,
        tool_tokens: end.tool_usage.total(),
        composite: conduct.as_ref().map(|conduct| conduct.composite(passed)),
        conduct,
    }
}
