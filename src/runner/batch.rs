//! What a run still lacks, several trials at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use futures::stream;

use super::build::Gym;
use super::event::{Event, Stop, Stopper};
use super::execute::{Attempt, execute};
use super::plan::trials;
use crate::agent::Agent;
use crate::judge;
use crate::record::{Lost, Outcome, OutcomeRecord, Times, TrialId};
use crate::store::{RunConfig, Store, StoreError, TaskData, Verdicts};
use crate::verdict::VerdictRecord;

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
    /// Attempts at once.
    pub concurrency: usize,
    /// Is told what happens.
    pub events: Box<dyn Fn(Event) + Send + Sync>,
}

/// How a batch ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Trials that have no attempt that counts.
    pub lost: usize,
    /// Whether it was asked to stop.
    pub interrupted: bool,
    /// Whether it stopped because the endpoint broke many attempts in a row.
    pub gave_up: bool,
}

/// What the attempts of a batch share.
struct Shared {
    batch: Batch,
    tasks: BTreeMap<String, TaskData>,
    verdicts: Verdicts,
    /// Attempts in a row that the endpoint broke.
    broken: AtomicUsize,
}

/// Runs every trial of the plan that has no attempt that counts, and judges every
/// attempt that has no verdict. What is stored when it returns is complete, unless it
/// was asked to stop.
pub async fn run(batch: Batch, stop: Stop) -> Result<Summary, StoreError> {
    let index = batch.store.index()?;
    let tasks = batch.config.tasks(&batch.store.blobs())?;
    let plan = trials(&batch.config, &tasks);
    let judge = batch.config.judge.name.clone();
    let judged: BTreeSet<(TrialId, u32)> = batch
        .store
        .read_verdicts(&judge)?
        .into_iter()
        .map(|verdict| (verdict.trial, verdict.attempt))
        .collect();
    let (verdicts, broken) = (batch.store.verdicts(&judge)?, AtomicUsize::new(0));
    let shared = Arc::new(Shared { batch, tasks, verdicts, broken });
    let mut left = Vec::new();
    for trial in &plan {
        let known = index.trials.get(trial);
        match known.and_then(|known| known.counted()) {
            None => left.push((trial.clone(), known.map_or(1, crate::store::Trial::next))),
            Some(stored) if judged.contains(&(trial.clone(), stored.attempt)) => {}
            Some(stored) => {
                if let Some(end) = &stored.end {
                    shared.judge(trial, stored.attempt, end)?;
                }
            }
        }
    }
    shared.tell(Event::Planned { trials: plan.len(), finished: plan.len() - left.len() });
    let concurrency = shared.batch.concurrency.max(1);
    let (halt, halted) = Stopper::new();
    let halt = Arc::new(halt);
    let forward = tokio::spawn({
        let (mut stop, halt) = (stop.clone(), Arc::clone(&halt));
        async move {
            stop.asked().await;
            halt.stop();
        }
    });
    let mut running = stream::iter(left)
        .map(|(trial, attempt)| {
            let (shared, halted) = (Arc::clone(&shared), halted.clone());
            async move { shared.settle(trial, attempt, halted).await }
        })
        .buffer_unordered(concurrency);
    let (mut lost, mut failed) = (0, None);
    while let Some(settled) = running.next().await {
        match settled {
            Ok(counts) => lost += usize::from(!counts),
            // What cannot be stored must not go on; what runs is closed as far as it can be.
            Err(error) => {
                halt.stop();
                failed.get_or_insert(error);
            }
        }
    }
    forward.abort();
    if let Some(error) = failed {
        return Err(error);
    }
    Ok(Summary { lost, interrupted: stop.is_asked(), gave_up: shared.gave_up() })
}

impl Shared {
    fn tell(&self, event: Event) {
        (self.batch.events)(event);
    }

    fn gave_up(&self) -> bool {
        // A cassette does not tire: each attempt ends as it was recorded, whatever others do.
        let replayed = self.batch.config.cassette.is_some();
        !replayed && self.broken.load(Ordering::Relaxed) >= GIVE_UP
    }

    /// Attempts a trial until an attempt counts or there were enough; returns whether
    /// one does. What the endpoint broke is not attempted again at once: the client has
    /// tried for long, and `resume` tries later; where that was recorded, it is replayed now.
    async fn settle(
        self: &Arc<Self>,
        trial: TrialId,
        first: u32,
        stop: Stop,
    ) -> Result<bool, StoreError> {
        let tries = self.batch.config.plan.attempts.max(1);
        for attempt in first..first.saturating_add(tries) {
            if stop.is_asked() || self.gave_up() {
                return Ok(false);
            }
            self.tell(Event::Began { trial: trial.clone(), attempt });
            let end = self.attempt(&trial, attempt, stop.clone()).await?;
            let lost = end.outcome.is_lost();
            if !lost {
                self.judge(&trial, attempt, &end)?;
            }
            let recorded = || (self.batch.agents)(&trial, attempt.saturating_add(1)).is_recorded();
            let endpoint = end.outcome == Outcome::Lost(Lost::Model) && !recorded();
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
                return Ok(!lost);
            }
        }
        Ok(false)
    }

    /// Runs one attempt in a task of its own, so that a panic costs only it.
    async fn attempt(
        self: &Arc<Self>,
        trial: &TrialId,
        attempt: u32,
        mut stop: Stop,
    ) -> Result<OutcomeRecord, StoreError> {
        let shared = Arc::clone(self);
        let agent = (self.batch.agents)(trial, attempt);
        let what = Attempt { trial: trial.clone(), attempt };
        let task = tokio::spawn(async move {
            let Batch { gym, store, config, .. } = &shared.batch;
            execute(gym, store, config, agent.as_ref(), &what, &mut stop).await
        });
        match task.await {
            Ok(ended) => ended,
            Err(panic) => Ok(OutcomeRecord {
                outcome: Outcome::Lost(Lost::Harness),
                answer: None,
                detail: Some(format!("the harness failed: {panic}")),
                rounds: 0,
                calls: 0,
                usage: crate::record::Usage::default(),
                clock: jiff::Timestamp::UNIX_EPOCH,
                files: Vec::new(),
                t: Times::default(),
            }),
        }
    }

    /// Judges a stored attempt and keeps the verdict.
    fn judge(&self, trial: &TrialId, attempt: u32, end: &OutcomeRecord) -> Result<(), StoreError> {
        if matches!(end.outcome, Outcome::Skipped(_)) {
            return Ok(());
        }
        let Some(task) = self.tasks.get(&trial.task) else {
            return Ok(());
        };
        let blobs = self.batch.store.blobs();
        let answer = end.answer.as_ref().map(|body| blobs.text(body)).transpose()?;
        let (verdict, reasons) = judge::exact::judge(&task.answer, &end.outcome, answer.as_deref());
        self.verdicts.append(&VerdictRecord {
            format: crate::record::FORMAT,
            trial: trial.clone(),
            attempt,
            verdict,
            reasons,
            milestones: BTreeMap::new(),
            discovered: BTreeMap::new(),
            votes: Vec::new(),
            t: Times::default(),
        })?;
        self.tell(Event::Judged { trial: trial.clone(), verdict });
        Ok(())
    }
}
