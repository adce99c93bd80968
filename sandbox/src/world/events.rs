//! What happens in a world without the agent.
//!
//! Events happen between calls, never during one: before the next call (and once more at
//! the end, when the runner asks) everything that is due happens, what is due at a time
//! first and in the order of times, then the rest in the order of the scene. An event is
//! done whole or not at all, like an operation, and what happened is kept for the record.

use jiff::Timestamp;
use rand::RngExt;
use serde::Serialize;
use wildgym_tasks::world::{Occurrence, Trigger};

use super::error::WorldError;
use super::live::Live;

/// An event that happened, or could not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Happened {
    /// Name of the event.
    pub event: String,
    /// Place of its occurrence in the scene, from 0.
    pub occurrence: usize,
    /// How many calls had been made.
    pub after_calls: u64,
    /// When it happened, in UTC.
    pub at: Timestamp,
    /// Why its effects could not be done, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// What is left of an occurrence.
#[derive(Debug)]
pub(super) struct Armed {
    left: u32,
    /// The number of calls after which it was looked at last: it happens at most once
    /// between two calls.
    last: Option<u64>,
}

impl Armed {
    pub(super) fn new(occurrence: &Occurrence) -> Self {
        let once =
            matches!(occurrence.trigger(), Some(Trigger::At(_) | Trigger::AfterCalls(_)) | None);
        Self { left: if once { 1 } else { occurrence.times.unwrap_or(1) }, last: None }
    }
}

impl Live {
    /// Lets everything happen that is due at this time.
    pub fn happen(&mut self, now: Timestamp) -> Result<(), WorldError> {
        let mut order: Vec<usize> = (0..self.armed.len()).collect();
        order.sort_by_key(|index| self.scene.events[*index].at.unwrap_or(Timestamp::MAX));
        for index in order {
            if let Some(at) = self.due(index, now)? {
                self.let_happen(index, at)?;
            }
        }
        Ok(())
    }

    /// Returns what happened so far, in order.
    #[must_use]
    pub fn happened(&self) -> &[Happened] {
        &self.happened
    }

    /// Returns what happened since it was asked last, in order.
    pub fn take_happened(&mut self) -> Vec<Happened> {
        let new = self.happened.get(self.told..).unwrap_or_default().to_vec();
        self.told = self.happened.len();
        new
    }

    /// Returns the time at which an occurrence happens if it is due.
    fn due(&self, index: usize, now: Timestamp) -> Result<Option<Timestamp>, WorldError> {
        let (armed, occurrence) = (&self.armed[index], &self.scene.events[index]);
        if armed.left == 0 || armed.last == Some(self.calls) {
            return Ok(None);
        }
        let due = match occurrence.trigger() {
            None => false,
            Some(Trigger::At(at)) => return Ok((at <= now).then_some(at)),
            Some(Trigger::AfterCalls(calls)) => self.calls >= calls,
            Some(Trigger::Percent(percent)) => {
                let stream = self.seed.child("event", index as u64);
                stream.child("calls", self.calls).rng().random_range(0..100u8) < percent
            }
            Some(Trigger::When(sql)) => {
                self.moment.set(now, "when", self.calls);
                self.make_views_of(&[sql])?;
                self.transaction(false, || self.holds(sql, &self.scope(&occurrence.arguments)))?
            }
        };
        Ok(due.then_some(now))
    }

    fn let_happen(&mut self, index: usize, at: Timestamp) -> Result<(), WorldError> {
        self.own()?;
        let occurrence = &self.scene.events[index];
        let events = &self.world.meta.events;
        let Some(event) = events.iter().find(|event| event.name == occurrence.event) else {
            return Err(WorldError::Broken(format!("there is no event `{}`", occurrence.event)));
        };
        self.moment.set(at, &format!("event {index}"), self.calls);
        let effects: Vec<&str> = event.effects.iter().map(String::as_str).collect();
        self.make_views_of(&effects)?;
        let done = self.transaction(true, || {
            let scope = self.scope(&occurrence.arguments);
            event.effects.iter().try_for_each(|effect| self.execute(effect, &scope))
        });
        let failed = match done {
            Ok(()) => None,
            Err(WorldError::Refused(refusal)) => Some(refusal.message),
            Err(broken @ WorldError::Broken(_)) => return Err(broken),
        };
        let event = event.name.clone();
        self.armed[index].left -= 1;
        self.armed[index].last = Some(self.calls);
        let after_calls = self.calls;
        self.happened.push(Happened { event, occurrence: index, after_calls, at, failed });
        Ok(())
    }
}
