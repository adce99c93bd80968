//! The next step after a faulted call.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::steps::Step;

/// Rounds in a row that make a retry loop (MCP-Injector: three or more consecutive calls of
/// the same failing tool).
pub const LOOP: u32 = 3;

/// What came next after a faulted call.
///
/// MCP-Injector: "retry" is the same tool again, "switch" a different tool, "fallback" leaves
/// the loop of tools. It does not say whether changed arguments are a retry; here they are one,
/// and are counted apart. The next step is the next round that has calls, with what code called
/// in it: what was asked for beside the faulted call was asked for before anybody saw its
/// result. Of several calls in that round the nearest to the faulted one counts. After a call
/// that code made, the next step is the next call of the same code, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// The same tool with the same arguments.
    Retried,
    /// The same tool with other arguments.
    Corrected,
    /// Another tool.
    Switched,
    /// No call at all any more.
    FellBack,
}

impl Reaction {
    /// All of them, the nearest to the faulted call first.
    pub const ALL: [Self; 4] = [Self::Retried, Self::Corrected, Self::Switched, Self::FellBack];

    /// Returns the name used in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Retried => "retried",
            Self::Corrected => "corrected",
            Self::Switched => "switched",
            Self::FellBack => "fell-back",
        }
    }
}

/// Faulted calls by what came next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reactions {
    /// See [`Reaction::Retried`].
    pub retried: u32,
    /// See [`Reaction::Corrected`].
    pub corrected: u32,
    /// See [`Reaction::Switched`].
    pub switched: u32,
    /// See [`Reaction::FellBack`].
    pub fell_back: u32,
}

impl Reactions {
    /// Counts one faulted call.
    pub fn add(&mut self, reaction: Reaction) {
        *match reaction {
            Reaction::Retried => &mut self.retried,
            Reaction::Corrected => &mut self.corrected,
            Reaction::Switched => &mut self.switched,
            Reaction::FellBack => &mut self.fell_back,
        } += 1;
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.retried += other.retried;
        self.corrected += other.corrected;
        self.switched += other.switched;
        self.fell_back += other.fell_back;
    }

    /// Returns the number of a reaction.
    #[must_use]
    pub fn of(&self, reaction: Reaction) -> u32 {
        match reaction {
            Reaction::Retried => self.retried,
            Reaction::Corrected => self.corrected,
            Reaction::Switched => self.switched,
            Reaction::FellBack => self.fell_back,
        }
    }

    /// Returns the retries as the paper counts them: with the same arguments or others.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retried + self.corrected
    }

    /// Returns the number of faulted calls.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.retries() + self.switched + self.fell_back
    }

    /// Returns a number of faulted calls as a share in `0..=1` of all; none of none.
    #[must_use]
    pub fn share(&self, count: u32) -> Option<f64> {
        (self.total() > 0).then(|| f64::from(count) / f64::from(self.total()))
    }
}

/// Returns what came next after a faulted call; `steps` are all calls of the attempt.
pub(super) fn reaction(faulted: &Step, steps: &[Step]) -> Reaction {
    let is_sibling = |step: &&Step| step.parent == faulted.parent && step.number > faulted.number;
    let sibling = steps.iter().filter(is_sibling).min_by_key(|step| step.number);
    if let Some(next) = sibling.filter(|_| !faulted.is_own()) {
        return nearness(faulted, next);
    }
    let later = steps.iter().filter(|step| step.round > faulted.round);
    let Some(round) = later.map(|step| step.round).min() else { return Reaction::FellBack };
    let next = steps.iter().filter(|step| step.round == round);
    next.map(|step| nearness(faulted, step)).min().unwrap_or(Reaction::FellBack)
}

fn nearness(faulted: &Step, next: &Step) -> Reaction {
    match (next.tool == faulted.tool, next.arguments == faulted.arguments) {
        (true, true) => Reaction::Retried,
        (true, false) => Reaction::Corrected,
        (false, _) => Reaction::Switched,
    }
}

/// Returns how many rounds each retry loop has: rounds with calls that follow each other, in
/// each of which the agent called one tool and every such call plainly failed, at least one of
/// them by a fault. Loops are those of [`LOOP`] rounds and more.
pub(super) fn loops(steps: &[Step]) -> Vec<u32> {
    // By round: of each tool whether all its calls failed, and whether a fault hit one.
    let mut rounds: BTreeMap<u32, BTreeMap<&str, (bool, bool)>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.is_own()) {
        let tools = rounds.entry(step.round).or_default();
        let (failed, hit) = tools.entry(&step.tool).or_insert((true, false));
        *failed &= step.failed();
        *hit |= step.is_hit();
    }
    let mut found = Vec::new();
    let mut running: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
    let mut end = |(length, hit): (u32, bool)| {
        if length >= LOOP && hit {
            found.push(length);
        }
    };
    for tools in rounds.values() {
        let mut next = BTreeMap::new();
        for (tool, (_, now)) in tools.iter().filter(|(_, (failed, _))| *failed) {
            let (length, hit) = running.remove(tool).unwrap_or_default();
            next.insert(*tool, (length + 1, hit | now));
        }
        std::mem::replace(&mut running, next).into_values().for_each(&mut end);
    }
    running.into_values().for_each(&mut end);
    found
}
