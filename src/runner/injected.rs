//! Calls that a task makes fail: the failures of `fault_injection` in its file.
//!
//! What is failed follows from the order in which calls are asked for and from nothing
//! else. A call that is failed does not reach the world.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use wildgym_tasks::scenario_file::InjectedFault;
use wildgym_toolbox::{Decision, Incoming, Interceptor};

/// The faults of one attempt.
#[derive(Debug)]
pub(super) struct Injected(Vec<(InjectedFault, AtomicU32)>);

impl Injected {
    /// Makes the faults of an attempt, of which no call was seen yet.
    pub(super) fn of(faults: &[InjectedFault]) -> Self {
        Self(faults.iter().map(|fault| (fault.clone(), AtomicU32::new(0))).collect())
    }
}

impl Interceptor for Injected {
    fn before(&self, incoming: &Incoming<'_>) -> (Decision, Option<Value>) {
        let mut decision = (Decision::Proceed, None);
        for (fault, seen) in &self.0 {
            if fault.tool != incoming.call.name {
                continue;
            }
            let number = seen.fetch_add(1, Ordering::Relaxed);
            let fires = number >= fault.skip && number - fault.skip < fault.times;
            if fires && decision.0 == Decision::Proceed {
                let note = json!({ "injected": fault.fault.name() });
                decision = (Decision::Refuse(fault.fault.text().to_owned()), Some(note));
            }
        }
        decision
    }
}
