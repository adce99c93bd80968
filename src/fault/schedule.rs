//! Deciding: which calls are hit, by which entry of a profile.
//!
//! A decision is a function of the profile, the seed and the ingress numbers taken in so far.
//! Each ingress number has a random stream of its own, so one call more or less moves the
//! chances of no other. What came of a call does not enter.
//!
//! Held entries (MCP-Injector, appendix A, as far as it is told): a call for which nothing is
//! held draws an entry. A permanent one is held for good and fires on every call that it
//! fits. A transient one fires once and is released; the next call draws again. An intermittent
//! one fires with its activation on each call while it is held; after each held call but the one
//! that drew it, it is released with probability d. So it is held 1 + 1/d calls in the mean: 4.33
//! for the published d = 0.3, and not the 3.33 of a chain that may leave at once.
//!
//! Calls that a call makes itself (`7.1`, `7.2`) begin with what was held when their parent was
//! taken in, and continue among themselves; what they draw is held for the calls after their
//! parent has ended. Parents that run side by side therefore cannot move each other's faults.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::RngExt;
use serde::Serialize;
use wildgym_sandbox::Seed;

use super::matcher::Observed;
use super::profile::{Entry, Profile, Scope};
use super::{ErrorShape, Operator, Persistence};

/// An entry that is held, as it bears on one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fault {
    /// Name of the profile.
    pub profile: String,
    /// Place of the entry in the profile, from 0.
    pub entry: usize,
    /// What it does.
    pub operator: Operator,
    /// How long it lasts.
    pub persistence: Persistence,
    /// Ingress number of the call that drew it.
    pub since: String,
    /// Which of the calls that it was held for and fits, from 1.
    pub nth: u32,
    /// Whether it does anything to this call.
    #[serde(skip)]
    pub fired: bool,
    /// Of OP4: how the error looks; the same as long as the entry is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorShape>,
    /// Of OP5: how late the result comes, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Of content operators: the part of words, values or items that is hit.
    #[serde(skip)]
    pub share: f64,
    /// Where chances of acting on this call come from.
    #[serde(skip)]
    pub acting: Seed,
    /// Where chances come from that are the same as long as the entry is held.
    #[serde(skip)]
    pub held: Seed,
}

/// Decides about the calls of one attempt, in the order of their ingress numbers.
#[derive(Debug)]
pub struct Schedule {
    profile: Arc<Profile>,
    root: Seed,
    /// What is held, by the call on behalf of which calls are made; the empty one for the
    /// agent's own.
    held: BTreeMap<String, Holds>,
}

/// Held entries by the server and tool that they are held for; the empty name is for all.
type Holds = BTreeMap<String, Held>;

#[derive(Debug, Clone)]
struct Held {
    entry: usize,
    since: String,
    calls: u32,
    seed: Seed,
}

/// The chances of one ingress number; all are drawn, whether they are needed or not.
struct Chances {
    arrival: f64,
    choice: f64,
    activation: f64,
    release: f64,
    share: f64,
    stream: Seed,
}

impl Chances {
    fn of(root: Seed, ingress: &str) -> Self {
        let stream = root.child(&format!("call:{ingress}"), 0);
        let mut rng = stream.child("decide", 0).rng();
        Self {
            arrival: rng.random(),
            choice: rng.random(),
            activation: rng.random(),
            release: rng.random(),
            share: rng.random(),
            stream,
        }
    }
}

/// Returns the call on behalf of which a call is made; the empty one for the agent's own.
fn parent(ingress: &str) -> &str {
    ingress.rsplit_once('.').map_or("", |(parent, _)| parent)
}

impl Schedule {
    /// Begins a schedule with nothing held.
    #[must_use]
    pub fn new(profile: Arc<Profile>, root: Seed) -> Self {
        Self { profile, root, held: BTreeMap::new() }
    }

    /// Decides about the next call. Returns the entry that is held for it, which may or may
    /// not fire; none where nothing is held that fits.
    pub fn decide(&mut self, call: &Observed<'_>) -> Option<Fault> {
        let chances = Chances::of(self.root, call.ingress);
        let profile = Arc::clone(&self.profile);
        let holds = self.held.entry(parent(call.ingress).to_owned()).or_default();
        let fault = step(&profile, holds, call, &chances);
        let after = holds.clone();
        if !after.is_empty() {
            self.held.insert(call.ingress.to_owned(), after);
        }
        fault
    }

    /// Takes note that a call has ended, in the order in which calls were taken in: what the
    /// calls that it made drew is held from now on where nothing else is.
    pub fn ended(&mut self, ingress: &str) {
        let Some(own) = self.held.remove(ingress) else { return };
        let below = format!("{ingress}.");
        let holds = self.held.entry(parent(ingress).to_owned()).or_default();
        for (slot, held) in own {
            if held.since.starts_with(&below) {
                holds.entry(slot).or_insert(held);
            }
        }
    }
}

/// Moves what is held by one call.
fn step(
    profile: &Profile,
    holds: &mut Holds,
    call: &Observed<'_>,
    chances: &Chances,
) -> Option<Fault> {
    let slot = match profile.scope() {
        Scope::Attempt => String::new(),
        Scope::Tool => format!("{}/{}", call.server, call.tool),
    };
    let mut held = match holds.get(&slot) {
        Some(held) => held.clone(),
        None if chances.arrival >= profile.rate() => return None,
        None => Held {
            entry: profile.draw(call, chances.choice)?,
            since: call.ingress.to_owned(),
            calls: 0,
            seed: chances.stream.child("hold", 0),
        },
    };
    if !profile.fits(held.entry, call) {
        return None;
    }
    let entry = profile.entry(held.entry)?;
    held.calls = held.calls.saturating_add(1);
    let fired = entry.operator != Operator::Null
        && chances.activation < entry.activation()
        && chances.share < entry.calls();
    let released = match entry.persistence {
        Persistence::Permanent => false,
        Persistence::Transient => fired || entry.operator == Operator::Null,
        Persistence::Intermittent => held.calls > 1 && chances.release < entry.release(),
    };
    let fault = fault(profile, entry, &held, fired, chances);
    if released {
        holds.remove(&slot);
    } else {
        holds.insert(slot, held);
    }
    Some(fault)
}

fn fault(profile: &Profile, entry: &Entry, held: &Held, fired: bool, chances: &Chances) -> Fault {
    let errors = entry.errors();
    let shape = || errors.get(held.seed.rng().random_range(0..errors.len())).copied();
    let explicit = entry.operator == Operator::ExplicitError && !errors.is_empty();
    Fault {
        profile: profile.name().to_owned(),
        entry: held.entry,
        operator: entry.operator,
        persistence: entry.persistence,
        since: held.since.clone(),
        nth: held.calls,
        fired,
        error: if explicit { shape() } else { None },
        seconds: (entry.operator == Operator::Delay).then(|| entry.seconds()),
        share: entry.share(),
        acting: chances.stream.child("act", 0),
        held: held.seed.child("act", 0),
    }
}

#[cfg(test)]
mod tests;
