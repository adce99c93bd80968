//! Deciding about calls, acting on their replies, and telling the log.
//!
//! One desk serves one proxy for its whole life: what is held is held for all calls that pass,
//! whoever makes them, as it would be if the server itself were broken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use wildgym_sandbox::Seed;

use super::json::{Object, edited, items};
use super::log::Log;
use super::message::{Call, answered};
use super::reply;
use crate::fault::{Fault, Observed, Operator, Profile, Schedule};

/// Decides about the calls that pass a proxy.
#[derive(Debug)]
pub struct Desk {
    server: String,
    /// Whether results that a fault made or changed say so.
    marks: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    schedule: Schedule,
    /// Calls that have arrived.
    arrived: u64,
    log: Option<Log>,
}

/// A call whose reply a fault acts on, once it comes.
#[derive(Debug)]
pub(super) struct Pending {
    arrival: u64,
    fault: Fault,
    /// Whether the log was told what came of it. A reply may come twice, where a client takes
    /// up a stream again.
    told: AtomicBool,
}

/// What is done with a call.
#[derive(Debug)]
pub(super) struct Ruling {
    /// The fault that hits it, where one does.
    pub(super) fault: Option<Fault>,
    /// What happens.
    pub(super) course: Course,
}

/// What happens to a call.
#[derive(Debug)]
pub(super) enum Course {
    /// It goes to the server, and its reply back.
    Pass,
    /// It goes to the server, and something is done to its reply.
    Watch(Pending),
    /// It is answered with this, and the server never sees it.
    Answer(String),
    /// It is never answered, and the server never sees it.
    Lose,
}

/// What is done with a message of a server.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// The new message; none where it stays as it is.
    pub(super) text: Option<String>,
    /// How much later it comes.
    pub(super) delay: Duration,
}

impl Desk {
    /// Opens a desk before a server; `server` is what profiles match it by, and all chances
    /// come from `root`.
    #[must_use]
    pub fn new(server: String, profile: Arc<Profile>, root: Seed) -> Self {
        let schedule = Schedule::new(profile, root);
        let state = State { schedule, arrived: 0, log: None };
        Self { server, marks: true, state: Mutex::new(state) }
    }

    /// Writes decisions to a log.
    #[must_use]
    pub fn logged_to(self, log: Log) -> Self {
        self.state().log = Some(log);
        self
    }

    /// Leaves no mark in results that a fault made or changed.
    #[must_use]
    pub fn unmarked(self) -> Self {
        Self { marks: false, ..self }
    }

    /// Returns how many calls have arrived.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.state().arrived
    }

    /// Says why the log ends before its time, where it does.
    #[must_use]
    pub fn log_failure(&self) -> Option<String> {
        self.state().log.as_ref().and_then(Log::failure).map(str::to_owned)
    }

    /// Returns whether results say so where a fault acted on them.
    pub(super) fn marks(&self) -> bool {
        self.marks
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides about a call that arrives. Numbers, decisions and the lines of the log have one
    /// order.
    pub(super) fn rule(&self, call: &Call<'_>) -> Ruling {
        let mut state = self.state();
        state.arrived += 1;
        let (arrival, ingress) = (state.arrived, state.arrived.to_string());
        let fault = state.schedule.decide(&Observed {
            ingress: &ingress,
            server: &self.server,
            tool: &call.tool,
            arguments: call.arguments,
        });
        // It makes no calls itself.
        state.schedule.ended(&ingress);
        if let Some(log) = &mut state.log {
            log.decision((arrival, &self.server), call, fault.as_ref());
        }
        let Some(fault) = fault.filter(|fault| fault.fired) else {
            return Ruling { fault: None, course: Course::Pass };
        };
        let mark = self.marks.then(|| mark(&fault, arrival));
        let course = match fault.operator {
            Operator::Null => Course::Pass,
            Operator::ExplicitError => {
                let what = fault.error.map_or("", crate::fault::ErrorShape::name);
                effect(&mut state, arrival, true, what);
                Course::Answer(reply::refusal(call, &fault, mark.as_ref()))
            }
            Operator::SilentDrop => {
                effect(&mut state, arrival, true, "no reply");
                Course::Lose
            }
            Operator::Delay
            | Operator::MinorMistake
            | Operator::IncorrectOutput
            | Operator::InvalidOutput
            | Operator::SchemaDrift
            | Operator::TruncatedPayload
            | Operator::PartialResult => {
                Course::Watch(Pending { arrival, fault: fault.clone(), told: false.into() })
            }
        };
        Ruling { fault: Some(fault), course }
    }

    /// Does what is to be done with a message of a server; `find` knows the calls whose replies
    /// are waited for, by the keys of their ids.
    pub(super) fn settle(
        &self,
        message: &str,
        find: &mut dyn FnMut(&str) -> Option<Arc<Pending>>,
    ) -> Settled {
        let trimmed = message.trim_start_matches('\u{feff}').trim();
        if !trimmed.starts_with('[') {
            return self.settle_one(trimmed, find).in_place_of(message, trimmed);
        }
        let mut edits = Vec::new();
        let mut delay = Duration::ZERO;
        for place in items(trimmed).unwrap_or_default() {
            let Some(part) = trimmed.get(place.clone()) else { continue };
            let settled = self.settle_one(part, find);
            delay = delay.max(settled.delay);
            edits.extend(settled.text.map(|text| (place, text)));
        }
        let text = (!edits.is_empty()).then(|| edited(trimmed, edits));
        Settled { text, delay }.in_place_of(message, trimmed)
    }

    fn settle_one(
        &self,
        message: &str,
        find: &mut dyn FnMut(&str) -> Option<Arc<Pending>>,
    ) -> Settled {
        let found = || {
            let object = Object::read(message)?;
            let pending = find(&answered(&object, message)?)?;
            Some((object, pending))
        };
        let Some((object, pending)) = { found }() else { return Settled::default() };
        let Pending { arrival, fault, told } = &*pending;
        let (settled, applied, what) = if fault.operator == Operator::Delay {
            let seconds = fault.seconds.unwrap_or_default();
            let delay = Duration::from_secs(seconds);
            (Settled { text: None, delay }, true, format!("{seconds} s late"))
        } else {
            let mark = self.marks.then(|| mark(fault, *arrival));
            let spoilt = reply::spoil(message, &object, fault, mark.as_ref());
            let applied = spoilt.reply.is_some();
            (Settled { text: spoilt.reply, delay: Duration::ZERO }, applied, spoilt.what)
        };
        if !told.swap(true, Ordering::Relaxed) {
            effect(&mut self.state(), *arrival, applied, &what);
        }
        settled
    }
}

impl Settled {
    /// Puts what was made of a part of a message into the whole of it.
    fn in_place_of(self, message: &str, part: &str) -> Self {
        let start = part.as_ptr().addr() - message.as_ptr().addr();
        let place = start..start + part.len();
        Self { text: self.text.map(|text| edited(message, vec![(place, text)])), ..self }
    }
}

fn effect(state: &mut State, arrival: u64, applied: bool, what: &str) {
    if let Some(log) = &mut state.log {
        log.effect(arrival, applied, what);
    }
}

/// Says which fault acted on a result.
fn mark(fault: &Fault, arrival: u64) -> Value {
    json!({
        "profile": fault.profile, "operator": fault.operator, "persistence": fault.persistence,
        "arrival": arrival,
    })
}
