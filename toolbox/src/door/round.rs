//! How calls are taken in and run.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::watch;
use wildgym_sandbox::Seed;
use wildgym_sandbox::web::AccessLog;
use wildgym_sandbox::work::WorkClock;

use super::{Call, Decision, Incoming, Ingress, Reply, SandboxLost, Toolbox, arguments, cap};
use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::{CallContext, Output, Run};

/// A call that was taken in: everything that must not depend on the schedule is settled.
pub(super) struct Taken {
    ingress: Ingress,
    seed: Seed,
    round: u64,
    call: Call,
    footprint: Footprint,
    clock: Timestamp,
    cost: Duration,
    fate: Fate,
    notes: Vec<Value>,
}

/// What is going to happen to it.
enum Fate {
    Run(Run),
    Lose,
    Fail(ToolError),
}

/// What happened to it.
struct Done {
    result: Result<Output, ToolError>,
    context: Arc<CallContext>,
    took: Duration,
}

impl Toolbox {
    /// Makes the calls of one round and returns what came of them in the order asked.
    ///
    /// Calls run side by side unless an earlier one touches what a later one needs;
    /// then the later one waits. Dropping the future stops what still runs.
    pub async fn round(self: &Arc<Self>, calls: Vec<Call>) -> Result<Vec<Reply>, SandboxLost> {
        let round = self.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        let taken: Vec<Taken> = calls
            .into_iter()
            .map(|call| {
                let number = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
                let seed = self.sandbox.seed.child("call", number);
                self.take(Ingress(number.to_string()), seed, round, call)
            })
            .collect();
        let (ends, waits): (Vec<_>, Vec<_>) = taken.iter().map(|_| watch::channel(())).unzip();
        let before: Vec<Vec<watch::Receiver<()>>> = (0..taken.len())
            .map(|later| {
                (0..later)
                    .filter(|&earlier| {
                        taken[earlier].footprint.conflicts_with(&taken[later].footprint)
                    })
                    .map(|earlier| waits[earlier].clone())
                    .collect()
            })
            .collect();
        let running = taken.into_iter().zip(ends).zip(before).map(|((taken, end), before)| {
            async move {
                for mut earlier in before {
                    // The channel closes when the earlier call ends: that is the signal.
                    while earlier.changed().await.is_ok() {}
                }
                let done = self.run(taken).await;
                drop(end);
                done
            }
        });
        // Full texts of cut results are written only now, so no call of the round sees them.
        join_all(running).await.into_iter().map(|(taken, done)| self.finish(taken, done)).collect()
    }

    /// Makes a call on behalf of another one, whose footprint covers it. The child's
    /// number and chances follow from its parent's.
    pub async fn call_child(
        self: &Arc<Self>,
        parent: &CallContext,
        call: Call,
    ) -> Result<Reply, SandboxLost> {
        let number = parent.children.fetch_add(1, Ordering::Relaxed) + 1;
        let ingress = Ingress(format!("{}.{number}", parent.ingress));
        let taken = self.take(ingress, parent.seed.child("child", number), 0, call);
        self.pass(taken).await
    }

    /// Runs a call that waits for no other.
    pub(super) async fn pass(self: &Arc<Self>, taken: Taken) -> Result<Reply, SandboxLost> {
        let (taken, done) = self.run(taken).await;
        self.finish(taken, done)
    }

    /// Takes a call in: looks its tool up, asks the interceptors, reads its arguments
    /// and sets its place on the logical clock.
    pub(super) fn take(&self, ingress: Ingress, seed: Seed, round: u64, call: Call) -> Taken {
        let mut notes = Vec::new();
        let mut cost = Duration::ZERO;
        let mut footprint = Footprint::none();
        let prepared = self.catalog.entry(&call.name).and_then(|entry| {
            let (ingress, call) = (&ingress, &call);
            let incoming = Incoming { ingress, call, origin: entry.tool.origin(), seed };
            match self.decide(&incoming, &mut notes) {
                Decision::Proceed => {}
                // Later than the caller waits is never.
                Decision::Delay(delay) if delay >= self.bounds.time => return Ok(Fate::Lose),
                Decision::Delay(delay) => cost += delay,
                Decision::Drop => return Ok(Fate::Lose),
                Decision::Refuse(text) => return Err(ToolError::Failed(text)),
            }
            let prepared =
                Arc::clone(&entry.tool).prepare(arguments::read(entry, &call.arguments)?)?;
            cost += prepared.cost;
            footprint = prepared.footprint;
            Ok(Fate::Run(prepared.run))
        });
        let fate = prepared.unwrap_or_else(Fate::Fail);
        if matches!(fate, Fate::Lose) {
            cost += self.bounds.time;
        }
        let clock = self.sandbox.clock.take(cost);
        Taken { ingress, seed, round, call, footprint, clock, cost, fate, notes }
    }

    fn decide(&self, incoming: &Incoming<'_>, notes: &mut Vec<Value>) -> Decision {
        for interceptor in &self.interceptors {
            let (decision, note) = interceptor.before(incoming);
            notes.extend(note);
            if decision != Decision::Proceed {
                return decision;
            }
        }
        Decision::Proceed
    }

    /// Runs a call under its time limit, which counts working time only.
    async fn run(self: &Arc<Self>, mut taken: Taken) -> (Taken, Done) {
        let clock = Arc::new(WorkClock::default());
        let context = Arc::new(CallContext {
            sandbox: Arc::clone(&self.sandbox),
            ingress: taken.ingress.clone(),
            now: taken.clock,
            seed: taken.seed,
            round: taken.round,
            limit: self.bounds.time,
            accesses: AccessLog::default(),
            toolbox: Arc::clone(self),
            children: 0.into(),
            made: std::sync::Mutex::default(),
            happened: std::sync::Mutex::default(),
            notes: std::sync::Mutex::default(),
            clocks: [Arc::clone(&self.work), Arc::clone(&clock)],
        });
        let working = (self.work.work(), clock.work());
        let late =
            || ToolError::TimedOut { tool: taken.call.name.clone(), limit: self.bounds.time };
        let result = match std::mem::replace(&mut taken.fate, Fate::Lose) {
            Fate::Fail(error) => Err(error),
            Fate::Lose => Err(late()),
            Fate::Run(run) => tokio::select! {
                biased;
                () = self.until_cancelled(&taken.call.id) => Err(ToolError::Cancelled),
                result = run(Arc::clone(&context)) => result,
                () = clock.reach(self.bounds.time) => Err(late()),
            },
        };
        let took = clock.elapsed();
        drop(working);
        (taken, Done { result, context, took })
    }

    /// Turns what happened into what the agent reads.
    fn finish(&self, taken: Taken, done: Done) -> Result<Reply, SandboxLost> {
        let (text, page, error) = match done.result {
            Ok(Output { text, page }) => (text, page, None),
            Err(error) => match error.lost() {
                Some(part) => return Err(SandboxLost { part, reason: error.to_string() }),
                None => (format!("error: {error}"), None, Some(error.kind())),
            },
        };
        let mut notes = taken.notes;
        notes.extend(done.context.take_notes());
        let mut reply = Reply {
            ingress: taken.ingress.clone(),
            call: taken.call.clone(),
            text,
            page,
            error,
            full: None,
            clock: taken.clock,
            cost: taken.cost,
            accesses: done.context.accesses.take(),
            happened: done.context.take_happened(),
            notes,
            children: done.context.take_children(),
            took: done.took,
        };
        let (ingress, call, seed) = (&taken.ingress, &taken.call, taken.seed);
        let tool = self.catalog.entry(&call.name).ok().map(|entry| &entry.tool);
        let origin = tool.and_then(|tool| tool.origin());
        let incoming = Incoming { ingress, call, origin, seed };
        let whole = reply.page.is_some().then(|| reply.text.clone());
        for interceptor in &self.interceptors {
            interceptor.after(&incoming, &mut reply);
        }
        if whole.is_some_and(|whole| whole != reply.text) {
            reply.page = None;
        }
        let text = std::mem::take(&mut reply.text);
        let capped = cap::apply(text, &taken.ingress, &self.sandbox.workspace, self.bounds);
        reply.text = capped.text;
        reply.full = capped.full;
        Ok(reply)
    }
}
