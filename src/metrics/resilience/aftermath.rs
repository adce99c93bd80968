//! What one attempt met of faults and events, and what its agent did.

use serde::Serialize;

use super::events::{Met, felt};
use super::mix::Mix;
use super::reaction::{Reaction, Reactions, loops, reaction};
use super::steps::Step;
use crate::record::Record;

/// What an attempt met of faults and events, and what its agent did about them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Aftermath {
    /// Calls, those that code made included.
    pub calls: u32,
    /// Those of them that gave a result; one that a content fault changed is one, unless it
    /// has a form that no caller expects.
    pub usable: u32,
    /// The dose: calls that a fault acted on. A fault that fired and found nothing to change
    /// is in the mix and not in the dose.
    pub dose: u32,
    /// Those of them that plainly failed.
    pub failed: u32,
    /// What came next after each of them.
    pub reactions: Reactions,
    /// Retry loops.
    pub loops: u32,
    /// Rounds of the longest retry loop; 0 without any.
    pub longest_loop: u32,
    /// Whether a faulted call plainly failed and no later call of its tool gave a result.
    pub open: bool,
    /// Faults of profiles that fired, by kind; those of a task's own `fault_injection` are in
    /// the dose alone.
    pub mix: Mix,
    /// The events that had an effect, in the order in which they happened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Met>,
}

impl Aftermath {
    /// Reads the records of an attempt.
    #[must_use]
    pub fn of(records: &[Record]) -> Self {
        let mut steps = Vec::new();
        // Each event, and how many calls of the agent itself had been made before.
        let mut events = Vec::new();
        let mut own = 0;
        for record in records {
            match record {
                Record::Call(call) => {
                    let step = Step::of(call);
                    own += usize::from(step.is_own());
                    steps.push(step);
                }
                Record::Event(event) if event.failed.is_none() => events.push((event, own)),
                Record::Event(_)
                | Record::Attempt(_)
                | Record::Message(_)
                | Record::Model(_)
                | Record::Outcome(_) => {}
            }
        }
        let mut met = Self::of_steps(&steps);
        let own: Vec<&Step> = steps.iter().filter(|step| step.is_own()).collect();
        let came = |(event, from): (&crate::record::EventRecord, usize)| Met {
            event: event.event.clone(),
            occurrence: event.occurrence,
            felt: felt(&own, from),
        };
        met.events = events.into_iter().map(came).collect();
        met
    }

    fn of_steps(steps: &[Step]) -> Self {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut met = Self { calls: count(steps.len()), ..Self::default() };
        for (place, step) in steps.iter().enumerate() {
            met.usable += u32::from(!step.failed());
            for fault in step.faults.iter().filter(|fault| fault.of_profile) {
                met.mix.add(&fault.operator, &fault.persistence, 1.0);
            }
            if step.is_hit() {
                met.dose += 1;
                met.reactions.add(reaction(step, steps));
                met.failed += u32::from(step.failed());
                let mends = |later: &Step| later.tool == step.tool && !later.failed();
                met.open |= step.failed() && !steps[place + 1..].iter().any(mends);
            }
        }
        let loops = loops(steps);
        met.loops = count(loops.len());
        met.longest_loop = loops.into_iter().max().unwrap_or_default();
        met
    }

    /// Returns whether there was something to overcome: a faulted call plainly failed, or was
    /// made again.
    #[must_use]
    pub fn was_overcome(&self) -> bool {
        self.failed > 0 || self.reactions.of(Reaction::Retried) > 0 || self.reactions.corrected > 0
    }

    /// Returns whether no fault acted on any call.
    #[must_use]
    pub fn is_zero_dose(&self) -> bool {
        self.dose == 0
    }
}
