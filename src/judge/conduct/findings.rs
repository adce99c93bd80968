//! What was found of single calls, for those who look at a trial call by call.
//!
//! Nothing is decided here: it is the same matching and the same signs that the verdict and
//! its figures rest on, each at the call that it is about.

use std::collections::BTreeMap;

use wildgym_tasks::scenario_file::{Flaw, ScenarioFile};

use super::Complaint;
use super::assign::Tie;
use super::evidence::{Evidence, Made};
use super::explain::Context;
use super::known::Misfit;
use super::{measure, modes};

/// What was found of the calls of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// One for each call, in the order of their records.
    pub calls: Vec<Finding>,
    /// The required calls that none was taken for: the number from 0, and the tool.
    pub open: Vec<(usize, String)>,
    /// Values that a call should have had from an earlier one.
    pub owed: Vec<Owed>,
}

/// What was found of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finding {
    /// The expected call that it was taken for, from 0.
    pub expected: Option<usize>,
    /// Whether its tool can change the world.
    pub writes: bool,
    /// Whether its tool is an operation of the world, or asks the user.
    pub known: bool,
    /// What is wrong with it, each with a sentence for people.
    pub faults: BTreeMap<CallFault, String>,
}

/// Something that is wrong with a call. Of a passed trial too calls may have one: a fault is
/// what to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallFault {
    /// It was refused, because what it needs was not there.
    Dependency,
    /// It repeats an earlier one while nothing changed.
    Redundant,
    /// Its arguments do not fit the schema.
    Arguments,
    /// What a verdict names.
    Flaw(Flaw),
}

/// A value that a call should have had from an earlier one, and has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owed {
    /// Place of the earlier call, from 0.
    pub from: usize,
    /// Place of the later one.
    pub to: usize,
    /// Where the value stands in the earlier call, such as `id`.
    pub source: String,
    /// The argument, such as `contact_id`.
    pub argument: String,
}

impl Findings {
    /// Collects what was found of each call; `complaints` are those of the verdict.
    pub(super) fn of(
        file: &ScenarioFile,
        evidence: &Evidence,
        context: &Context<'_>,
        complaints: &[Complaint],
    ) -> Self {
        let mut found = Self {
            calls: (0..context.calls.len()).map(|place| plain(place, context)).collect(),
            ..Self::default()
        };
        for made in context.calls {
            found.single(file, made, (evidence, context));
        }
        for place in measure::redundant(evidence, context) {
            found.note(place + 1, CallFault::Redundant, "it repeats an earlier call".to_owned());
        }
        for place in measure::violations(evidence, context) {
            let kind = context.calls[place].error.as_deref().unwrap_or_default();
            found.note(place + 1, CallFault::Dependency, format!("refused: {kind}"));
        }
        for complaint in complaints {
            if let Some(number) = complaint.call {
                found.note(number, CallFault::Flaw(complaint.flaw), complaint.text.clone());
            }
        }
        let open = context.assignment.of.iter().zip(context.expected).enumerate();
        for (index, (_, one)) in open.filter(|(_, (at, one))| at.is_none() && !one.optional) {
            found.open.push((index, one.tool.clone()));
            found.missed(index, context);
        }
        found
    }

    fn note(&mut self, number: usize, fault: CallFault, text: String) {
        if let Some(finding) = number.checked_sub(1).and_then(|place| self.calls.get_mut(place)) {
            finding.faults.entry(fault).or_insert(text);
        }
    }

    /// Looks at a call by itself.
    fn single(
        &mut self,
        file: &ScenarioFile,
        made: &Made,
        (evidence, context): (&Evidence, &Context<'_>),
    ) {
        let most = file.max_calls as usize;
        if made.number > most {
            let text = format!("{most} calls are allowed");
            self.note(made.number, CallFault::Flaw(Flaw::TooManyCalls), text);
        }
        if let Some(text) = misfit(made, context) {
            self.note(made.number, CallFault::Arguments, text);
        }
        for (flaw, id) in modes::untold(made, evidence, context.known) {
            let text = format!("nobody had told `{}`", super::explain::short(&id));
            self.note(made.number, CallFault::Flaw(flaw), text);
        }
    }

    /// Looks at what was made in the place of an expected call.
    fn missed(&mut self, index: usize, context: &Context<'_>) {
        if let Some(near) = context.near_miss(index) {
            let text = format!("`{}` was expected", context.expected[index].tool);
            self.note(near.number, CallFault::Flaw(Flaw::NearMiss), text);
        }
        let complaint = context.complaint(index);
        let Some(number) = complaint.call.filter(|_| complaint.flaw == Flaw::NotFromPrior) else {
            return;
        };
        let Some(made) = context.calls.get(number - 1) else { return };
        for tie in &context.ties[index] {
            let Tie::Value { to, from } = tie else { continue };
            let Some(place) = context.assignment.of[from.call] else { continue };
            if !tie.holds(&context.calls[place], made) {
                self.owed.push(Owed {
                    from: place,
                    to: number - 1,
                    source: from.path.to_string(),
                    argument: to.to_string(),
                });
            }
        }
    }
}

/// Returns what a call is, before anything is found wrong.
fn plain(place: usize, context: &Context<'_>) -> Finding {
    let tool = &context.calls[place].tool;
    Finding {
        expected: context.assignment.of.iter().position(|at| *at == Some(place)),
        writes: context.known.writes(tool),
        known: context.known.has(tool),
        faults: BTreeMap::new(),
    }
}

/// Says what of a call's arguments does not fit the schema.
fn misfit(made: &Made, context: &Context<'_>) -> Option<String> {
    let text = match context.known.misfit(&made.tool, &made.arguments) {
        _ if made.arguments.is_null() => "the arguments are not JSON",
        Some(Misfit::Missing) => "a required argument is missing",
        Some(Misfit::WrongType) => "an argument has the wrong type",
        Some(Misfit::BadEnum) => "an argument is none of its choices",
        Some(Misfit::Unknown) => "an argument does not exist",
        None if made.error.as_deref() == Some("bad-arguments") => "an argument does not fit",
        None => return None,
    };
    Some(text.to_owned())
}
