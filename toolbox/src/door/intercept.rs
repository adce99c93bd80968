//! How floors above watch and change calls.

use std::time::Duration;

use serde_json::Value;
use wildgym_sandbox::Seed;

use super::{Call, Ingress, Reply};

/// A call at the door, before anything happened.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// Its number.
    pub ingress: &'a Ingress,
    /// The call.
    pub call: &'a Call,
    /// The foreign server that the tool belongs to, and its name there, where it is foreign.
    pub origin: Option<(&'a str, &'a str)>,
    /// Where its chances come from.
    pub seed: Seed,
}

/// What happens to a call instead of, or beside, its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: it runs.
    Proceed,
    /// It runs, this much later on the logical clock; dropped where the time limit of calls
    /// is not longer.
    Delay(Duration),
    /// It never answers: the agent reads that its time limit passed.
    Drop,
    /// It is answered at once with this error text and never runs.
    Refuse(String),
}

/// Watches and changes calls. Deciding depends on the call alone and is separate from
/// acting on it; interceptors are asked in order and the first that does not proceed
/// decides.
pub trait Interceptor: Send + Sync {
    /// Decides what happens to a call, and may note why.
    fn before(&self, call: &Incoming<'_>) -> (Decision, Option<Value>);

    /// Changes what came of a call.
    fn after(&self, call: &Incoming<'_>, reply: &mut Reply) {
        let _ = (call, reply);
    }
}
