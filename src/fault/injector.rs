//! Faults at the door of a toolbox.
//!
//! One injector serves one attempt: it holds what is held. It never sees a sandbox, a file or
//! the network; it answers in place of a call, makes it late, or changes what came of it, and
//! notes each fault that fires in the call's record.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use wildgym_sandbox::Seed;
use wildgym_toolbox::{Decision, Incoming, Interceptor, Reply};

use super::content::{self, Changed};
use super::{Fault, Observed, Operator, Profile, Schedule};

/// The server of the tools that the program has itself.
const SERVER: &str = "wildgym";

/// Decides about the calls of one attempt and acts on them.
#[derive(Debug)]
pub struct Injector(Mutex<State>);

#[derive(Debug)]
struct State {
    schedule: Schedule,
    /// Faults that act on replies that are still to come, by ingress number.
    pending: BTreeMap<String, Fault>,
}

impl Injector {
    /// Makes the injector of an attempt. `root` is where its chances come from: the same for
    /// every attempt at a trial, so a lost attempt is followed by one that meets the same faults.
    #[must_use]
    pub fn new(profile: Arc<Profile>, root: Seed) -> Self {
        let schedule = Schedule::new(profile, root);
        Self(Mutex::new(State { schedule, pending: BTreeMap::new() }))
    }

    /// Decides about a call that is taken in; acting on it is another matter.
    pub(crate) fn decide(&self, call: &Incoming<'_>) -> Option<Fault> {
        let (server, tool) = named(call);
        let (ingress, arguments) = (call.ingress.to_string(), &call.call.arguments);
        self.state().schedule.decide(&Observed { ingress: &ingress, server, tool, arguments })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the server of a call's tool, and the tool's name there.
fn named<'a>(call: &'a Incoming<'_>) -> (&'a str, &'a str) {
    call.origin.unwrap_or((SERVER, &call.call.name))
}

/// Writes the note of a fault: the decision, and what it did.
fn note(fault: &Fault, applied: bool, what: &str) -> Value {
    json!({"fault": fault, "applied": applied, "what": what})
}

impl Interceptor for Injector {
    fn before(&self, call: &Incoming<'_>) -> (Decision, Option<Value>) {
        let Some(fault) = self.decide(call).filter(|fault| fault.fired) else {
            return (Decision::Proceed, None);
        };
        match fault.operator {
            Operator::Null => (Decision::Proceed, None),
            Operator::ExplicitError => {
                let (_, tool) = named(call);
                let text = fault.error.map(|shape| shape.text(tool, fault.held));
                let text = text.unwrap_or_default();
                let what = fault.error.map_or("", super::ErrorShape::name);
                let note = note(&fault, true, what);
                (Decision::Refuse(text), Some(note))
            }
            Operator::Delay => {
                let seconds = fault.seconds.unwrap_or_default();
                let note = note(&fault, true, &format!("{seconds} s late"));
                (Decision::Delay(Duration::from_secs(seconds)), Some(note))
            }
            Operator::SilentDrop => (Decision::Drop, Some(note(&fault, true, "no reply"))),
            Operator::MinorMistake
            | Operator::IncorrectOutput
            | Operator::InvalidOutput
            | Operator::SchemaDrift
            | Operator::TruncatedPayload
            | Operator::PartialResult => {
                self.state().pending.insert(call.ingress.to_string(), fault);
                (Decision::Proceed, None)
            }
        }
    }

    fn after(&self, call: &Incoming<'_>, reply: &mut Reply) {
        let ingress = call.ingress.to_string();
        let mut state = self.state();
        state.schedule.ended(&ingress);
        let Some(fault) = state.pending.remove(&ingress) else { return };
        drop(state);
        // An error is no result that could be wrong: it stays what it is.
        let changed = match reply.error {
            Some(_) => None,
            None => content::change(fault.operator, &reply.text, fault.share, fault.acting),
        };
        reply.notes.push(match (&changed, reply.error) {
            (Some(Changed { what, .. }), _) => note(&fault, true, what),
            (None, Some(_)) => note(&fault, false, "the call failed by itself"),
            (None, None) => note(&fault, false, "the result has nothing to change"),
        });
        if let Some(Changed { text, .. }) = changed {
            reply.text = text;
        }
    }
}
