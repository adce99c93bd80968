//! What a run still lacks, several trials at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use futures::future::ready;
use futures::stream;
use wildgym_toolbox::Ask;

use super::build::Gym;
use super::event::{Event, Stop, Stopper};
use super::execute::{Attempt, execute};
use super::judging::{Case, Cases, Judged, Judging, Left};
use crate::agent::Agent;
use crate::judge::Judge;
use crate::record::{Lost, Outcome, OutcomeRecord, TrialId};
use crate::store::{RunConfig, Store, StoreError};

/// Attempts in a row that a model's endpoint may break before the run gives up: what
/// is left would be lost too, and slowly.
const GIVE_UP: usize = 10;

/// Makes the agent of an attempt.
pub type MakeAgent = dyn Fn(&TrialId, u32) -> Arc<dyn Agent> + Send + Sync;

/// A run with what it needs to go on.
pub struct Batch {
    /// The suite with its sandboxes.
    pub gym: Arc<Gym>,
    /// Where the run is kept.
    pub store: Store,
    /// The run's configuration.
    pub config: Arc<RunConfig>,
    /// The agents.
    pub agents: Box<MakeAgent>,
    /// The judge that the configuration names.
    pub judge: Judge,
    /// Attempts at once.
    pub concurrency: usize,
    /// Is told what happens.
    pub events: Arc<dyn Fn(Event) + Send + Sync>,
}

/// How a batch ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Trials that have no attempt that counts.
    pub lost: usize,
    /// Attempts that were to be judged and have no verdict.
    pub unjudged: usize,
    /// Why the first of them has none.
    pub judge_failure: Option<String>,
    /// Whether it was asked to stop.
    pub interrupted: bool,
    /// Whether it stopped because the endpoint broke many attempts in a row.
    pub gave_up: bool,
}

/// What the attempts of a batch share.
struct Shared {
    gym: Arc<Gym>,
    store: Store,
    config: Arc<RunConfig>,
    agents: Box<MakeAgent>,
    events: Arc<dyn Fn(Event) + Send + Sync>,
    /// Attempts in a row that the endpoint broke.
    broken: AtomicUsize,
}

/// Runs every trial of the plan that has no attempt that counts, or was skipped for want of
/// what is there now, and has every attempt
/// judged that has no verdict. Judging goes on beside the trials and holds none of them up;
/// a judge that fails leaves attempts without a verdict, and nothing else.
pub async fn run(batch: Batch, stop: Stop) -> Result<Summary, StoreError> {
    let Batch { gym, store, config, agents, judge, concurrency, events } = batch;
    let name = &config.judge.name;
    let mut left = Left::find(&store, &config, name)?;
    let judging = Arc::new(Judging::open(&store, &config, judge, name, Arc::clone(&events))?);
    let broken = AtomicUsize::new(0);
    let shared = Arc::new(Shared { gym, store, config, agents, events, broken });
    let able = |(place, attempt): &(usize, u32)| {
        left.plan.get(*place).is_some_and(|trial| shared.is_able(&trial, *attempt))
    };
    let again: Vec<_> = left.skipped.iter().filter(|one| able(one)).copied().collect();
    left.to_try.extend(again);
    let finished = left.plan.len() - left.to_try.len();
    shared.tell(Event::Planned { trials: left.plan.len(), finished });
    let (halt, halted, forward) = halting(&stop);
    let (mut cases, mut judged) = (Cases::new(), Judged::default());
    for case in left.to_judge {
        judging.begin(&mut cases, case, halted.clone());
    }
    let plan = left.plan;
    let mut running = stream::iter(left.to_try)
        .filter_map(|(place, attempt)| ready(plan.get(place).map(|trial| (trial, attempt))))
        .map(|(trial, attempt)| {
            let (shared, halted) = (Arc::clone(&shared), halted.clone());
            async move { shared.settle(trial, attempt, halted).await }
        })
        .buffer_unordered(concurrency.max(1));
    let (mut lost, mut failed) = (0, None);
    loop {
        tokio::select! {
            Some(settled) = running.next() => match settled {
                Ok(Some(case)) => judging.begin(&mut cases, case, halted.clone()),
                Ok(None) => lost += 1,
                // What cannot be stored must not go on; what runs is closed as far as it can be.
                Err(error) => {
                    halt.stop();
                    failed.get_or_insert(error);
                }
            },
            Some(done) = cases.join_next() => if !judged.add(done) {
                halt.stop();
            },
            else => break,
        }
    }
    forward.abort();
    if let Some(error) = failed.or(judged.failed) {
        return Err(error);
    }
    Ok(Summary {
        lost,
        unjudged: judged.open,
        judge_failure: judged.why,
        interrupted: stop.is_asked(),
        gave_up: shared.gave_up(),
    })
}

/// Returns a stop of the batch's own, which follows the user's.
fn halting(stop: &Stop) -> (Arc<Stopper>, Stop, tokio::task::JoinHandle<()>) {
    let (halt, halted) = Stopper::new();
    let halt = Arc::new(halt);
    let forward = tokio::spawn({
        let (mut stop, halt) = (stop.clone(), Arc::clone(&halt));
        async move {
            stop.asked().await;
            halt.stop();
        }
    });
    (halt, halted, forward)
}

impl Shared {
    fn tell(&self, event: Event) {
        (self.events)(event);
    }

    /// Returns whether what a trial's task needs is there.
    fn is_able(&self, trial: &TrialId, attempt: u32) -> bool {
        let answers = (self.agents)(trial, attempt).answers();
        let answers = answers.map(|answers| answers as Arc<dyn Ask>);
        self.gym.lacks(&trial.task, answers.as_deref()).is_none()
    }

    fn gave_up(&self) -> bool {
        // A cassette does not tire: each attempt ends as it was recorded, whatever others do.
        let replayed = self.config.cassette.is_some();
        !replayed && self.broken.load(Ordering::Relaxed) >= GIVE_UP
    }

    /// Attempts a trial until an attempt counts or there were enough; returns the one that
    /// does. What the endpoint broke is not attempted again at once: the client has
    /// tried for long, and `resume` tries later; where that was recorded, it is replayed now.
    async fn settle(
        self: &Arc<Self>,
        trial: TrialId,
        first: u32,
        stop: Stop,
    ) -> Result<Option<Case>, StoreError> {
        let tries = self.config.plan.attempts.max(1);
        for attempt in first..first.saturating_add(tries) {
            if stop.is_asked() || self.gave_up() {
                return Ok(None);
            }
            self.tell(Event::Began { trial: trial.clone(), attempt });
            let end = self.attempt(&trial, attempt, stop.clone()).await?;
            let lost = end.outcome.is_lost();
            let recorded = || (self.agents)(&trial, attempt.saturating_add(1)).is_recorded();
            let endpoint = matches!(end.outcome, Outcome::Lost(Lost::Model | Lost::User));
            let endpoint = endpoint && !recorded();
            if endpoint {
                self.broken.fetch_add(1, Ordering::Relaxed);
            } else if !self.gave_up() {
                self.broken.store(0, Ordering::Relaxed);
            }
            let left = attempt + 1 < first.saturating_add(tries);
            let again = lost && !endpoint && left && !stop.is_asked();
            self.tell(Event::Ended {
                trial: trial.clone(),
                attempt,
                outcome: end.outcome.clone(),
                detail: end.detail.clone(),
                usage: end.usage,
                again,
            });
            if !again {
                return Ok((!lost).then_some(Case { trial, attempt, end }));
            }
        }
        Ok(None)
    }

    /// Runs one attempt in a task of its own, so that a panic costs only it.
    async fn attempt(
        self: &Arc<Self>,
        trial: &TrialId,
        attempt: u32,
        mut stop: Stop,
    ) -> Result<OutcomeRecord, StoreError> {
        let shared = Arc::clone(self);
        let agent = (self.agents)(trial, attempt);
        let what = Attempt { trial: trial.clone(), attempt };
        let task = tokio::spawn(async move {
            let Shared { gym, store, config, .. } = shared.as_ref();
            execute(gym, store, config, agent.as_ref(), &what, &mut stop).await
        });
        match task.await {
            Ok(ended) => ended,
            Err(panic) => Ok(OutcomeRecord::unbegun(
                Outcome::Lost(Lost::Harness),
                format!("the harness failed: {panic}"),
            )),
        }
    }
}
