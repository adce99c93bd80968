//! The judge of tasks in a world: what the calls of a stored attempt did, against what the
//! task's file expects.
//!
//! All that decides is mechanical, as in the 43-tool harness: expected calls, arguments,
//! order, unexpected changes, the budget, the state at the end, what the final text says.
//! Any of these fails a trial. `degraded` is a trial whose actions are right and whose
//! account of them is not: a check of the final text that says so, or, beside this module, a
//! judge with a model, which can lower a pass and never raise a fail. It reads the store
//! alone. What it cannot read is no verdict.

mod assign;
mod checks;
mod evidence;
mod explain;
mod failure;
mod findings;
mod known;
mod measure;
mod modes;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use wildgym_tasks::scenario_file::{ExpectedCall, Flaw, Ordering, ScenarioFile};

use self::assign::{Assignment, assign, ties};
use self::evidence::Evidence;
use self::explain::Context;
pub use self::failure::speaks_of_failure;
pub use self::findings::{CallFault, Finding, Findings, Owed};
use self::known::Known;
use super::Ruling;
use crate::record::{OutcomeRecord, TrialId};
use crate::store::{Blobs, Store, StoreError, TaskData};
use crate::verdict::{Conduct, Share, Verdict};

/// Something that is wrong, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Complaint {
    flaw: Flaw,
    text: String,
    /// The number of the call that it is about, where it is about one.
    call: Option<usize>,
}

impl Complaint {
    fn new(flaw: Flaw, text: impl Into<String>) -> Self {
        Self { flaw, text: text.into(), call: None }
    }

    /// Says which call it is about.
    fn at(self, made: &evidence::Made) -> Self {
        Self { call: Some(made.number), ..self }
    }
}

/// Judges attempts at one task.
#[derive(Debug)]
pub struct Examiner {
    file: ScenarioFile,
    known: Known,
}

/// What came of an examination.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// The verdict: pass, degraded or fail, or unjudged where a check could not be made.
    pub verdict: Verdict,
    /// Why, for people: the first is the deciding one.
    pub reasons: Vec<String>,
    /// Figures and failure modes.
    pub conduct: Conduct,
    /// The calls as a judge with a model is shown them.
    pub shown: Vec<Value>,
    /// What was found of each call.
    pub findings: Findings,
}

/// A set of calls that is right, with the calls that were taken for them.
struct Way<'a> {
    expected: &'a [ExpectedCall],
    ties: Vec<Vec<assign::Tie>>,
    assignment: Assignment,
    /// Calls by place that changed the world and were not expected.
    extra: Vec<usize>,
}

impl Way<'_> {
    /// Returns the required calls that were not made.
    fn open(&self) -> impl Iterator<Item = usize> {
        let all = self.expected.iter().zip(&self.assignment.of).enumerate();
        all.filter(|(_, (expected, place))| place.is_none() && !expected.optional)
            .map(|(index, _)| index)
    }

    fn context<'c>(&'c self, evidence: &'c Evidence, known: &'c Known) -> Context<'c> {
        Context {
            expected: self.expected,
            ties: &self.ties,
            calls: &evidence.calls,
            assignment: &self.assignment,
            known,
        }
    }
}

impl Examiner {
    /// Returns the judges of those tasks that have a file of expected calls.
    pub fn of_run(
        tasks: &BTreeMap<String, TaskData>,
        blobs: &Blobs,
    ) -> Result<BTreeMap<String, Self>, StoreError> {
        let mut found = BTreeMap::new();
        for (id, task) in tasks {
            let Some(file) = &task.scenario_file else { continue };
            let known = match &task.world {
                Some(world) => Known(world.operations(blobs)?),
                None => Known::default(),
            };
            found.insert(id.clone(), Self { file: (**file).clone(), known });
        }
        Ok(found)
    }

    /// Returns what a judge with a model looks for in a trial that passed.
    #[must_use]
    pub fn rubric(&self) -> Option<&str> {
        self.file.rubric.as_deref()
    }

    /// Judges a stored attempt.
    pub fn examine(
        &self,
        store: &Store,
        trial: &TrialId,
        attempt: u32,
        end: &OutcomeRecord,
    ) -> Result<Examined, StoreError> {
        let records = store.records(trial, attempt)?;
        let blobs = store.blobs();
        let evidence = Evidence::read(&records, end, &self.known, &blobs)?;
        let state = match (&end.state, self.file.final_state_assertions.is_empty()) {
            (_, true) => Ok(Vec::new()),
            (None, false) => Err("the attempt has no state of its world".to_owned()),
            (Some(state), false) => {
                let pair = blobs.states(state, end.clock)?;
                checks::state(&self.file.final_state_assertions, &pair)
            }
        };
        let left = evidence::left(&self.file.file_checks, end, &blobs)?;
        let state = state.and_then(|mut found| {
            found.extend(words::files(&self.file.file_checks, &left)?);
            Ok(found)
        });
        Ok(self.decide(&evidence, &state))
    }

    /// Decides on what an attempt left; `state` is what does not hold of the state, or why
    /// nobody can tell.
    fn decide(&self, evidence: &Evidence, state: &Result<Vec<Complaint>, String>) -> Examined {
        let way = self.best_way(evidence);
        let context = way.context(evidence, &self.known);
        let mut complaints = checks::answered(evidence);
        complaints.extend(way.open().map(|index| context.complaint(index)));
        complaints.extend(way.extra.iter().map(|&place| checks::extra(&evidence.calls[place])));
        complaints.extend(checks::asked(&self.file, evidence, &self.known));
        complaints.extend(checks::refused(&self.file, evidence, &self.known));
        complaints.extend(checks::budget(&self.file, evidence));
        let unclear = match state {
            Ok(found) => {
                complaints.extend(found.iter().cloned());
                None
            }
            Err(why) => Some(why.clone()),
        };
        let (wrong, faulty) = words::said(&self.file, evidence);
        complaints.extend(wrong);
        let is_cut = !way.assignment.is_best
            && way.open().next().is_some()
            && checks::budget(&self.file, evidence).is_none();
        let unclear = unclear.or_else(|| {
            is_cut.then(|| "the calls can be matched in too many ways to try them all".to_owned())
        });
        let (verdict, told) = match (complaints.is_empty(), unclear, faulty.is_empty()) {
            // Where something else is wrong for sure, what nobody can tell changes nothing.
            (false, Some(why), _) if is_cut => (Verdict::Unjudged, vec![why]),
            (false, _, _) => (Verdict::Fail, texts(&complaints)),
            (true, Some(why), _) => (Verdict::Unjudged, vec![why]),
            (true, None, false) => (Verdict::Degraded, texts(&faulty)),
            (true, None, true) => (Verdict::Pass, vec![self.praise(&way)]),
        };
        let mut flaws: BTreeSet<Flaw> =
            complaints.iter().chain(&faulty).map(|complaint| complaint.flaw).collect();
        flaws.extend(modes::values(evidence, &context));
        if way.open().any(|index| context.near_miss(index).is_some()) {
            flaws.insert(Flaw::NearMiss);
        }
        if failure::is_silent_success(evidence, &context) {
            flaws.insert(Flaw::SilentSuccess);
        }
        let conduct = measure::conduct(&self.file, evidence, &context, (verdict, flaws));
        let required = way.expected.iter().filter(|expected| !expected.optional).count();
        let assertions = self.file.final_state_assertions.len();
        let held = state.as_ref().map_or(0, |found| assertions.saturating_sub(found.len()));
        let conduct = Conduct {
            expected: share(required - way.open().count(), required),
            assertions: share(held, assertions),
            ..conduct
        };
        let findings = Findings::of(&self.file, evidence, &context, &complaints);
        Examined { verdict, reasons: told, conduct, shown: shown(evidence), findings }
    }

    fn praise(&self, way: &Way<'_>) -> String {
        let made = way.assignment.of.iter().flatten().count();
        let holds = self.file.final_state_assertions.len();
        match (made, holds) {
            (0, 0) => "nothing was changed, as is right".to_owned(),
            (made, 0) => format!("{made} expected calls were made"),
            (made, holds) => {
                format!("{made} expected calls were made and {holds} assertions hold")
            }
        }
    }

    /// Returns the set of right calls that the attempt comes nearest to: the fewest faults,
    /// of equal ones the first.
    fn best_way<'a>(&'a self, evidence: &Evidence) -> Way<'a> {
        let ways = self.file.ways().map(|(expected, order)| self.way(expected, order, evidence));
        let faults = |way: &Way<'_>| way.open().count() + way.extra.len();
        let best = ways.reduce(|best, way| if faults(&way) < faults(&best) { way } else { best });
        best.unwrap_or_else(|| self.way(&[], Ordering::Any, evidence))
    }

    fn way<'a>(
        &self,
        expected: &'a [ExpectedCall],
        ordering: Ordering,
        evidence: &Evidence,
    ) -> Way<'a> {
        let assignment = assign(expected, ordering, &evidence.calls);
        let is_extra = |place: &usize| {
            let made = &evidence.calls[*place];
            made.worked()
                && self.known.writes(&made.tool)
                && !assignment.of.contains(&Some(*place))
                && !self.file.allowed_writes.contains(&made.tool)
        };
        let extra = (0..evidence.calls.len()).filter(is_extra).collect();
        Way { expected, ties: ties(expected, ordering), assignment, extra }
    }
}

/// Judges the state that an attempt at a task without a file of expected calls left: a ruling
/// where an assertion does not hold or cannot be held against it, none where all hold.
pub fn state_alone(
    store: &Store,
    task: &TaskData,
    end: &OutcomeRecord,
) -> Result<Option<Ruling>, StoreError> {
    let Some(world) = &task.world else { return Ok(None) };
    if world.final_state_assertions.is_empty() {
        return Ok(None);
    }
    let Some(state) = &end.state else {
        let why = "the attempt has no state of its world".to_owned();
        return Ok(Some(Ruling::of((Verdict::Unjudged, vec![why]))));
    };
    let pair = store.blobs().states(state, end.clock)?;
    Ok(match checks::state(&world.final_state_assertions, &pair) {
        Ok(found) if found.is_empty() => None,
        Ok(found) => Some(Ruling::of((Verdict::Fail, texts(&found)))),
        Err(why) => Some(Ruling::of((Verdict::Unjudged, vec![why]))),
    })
}

fn share(right: usize, of: usize) -> Share {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Share { right: count(right), of: count(of) }
}

fn texts(complaints: &[Complaint]) -> Vec<String> {
    let said = |complaint: &Complaint| format!("{}: {}", complaint.flaw.name(), complaint.text);
    complaints.iter().map(said).collect()
}

/// Most characters of an argument or a result that a judge with a model is shown.
const SHOWN: usize = 1_500;

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the calls as a judge with a model is shown them.
fn shown(evidence: &Evidence) -> Vec<Value> {
    let one = |made: &evidence::Made| {
        json!({
            "number": made.number,
            "tool": made.tool,
            "arguments": cut(&made.arguments.to_string()),
            "result": cut(&made.text),
            "failed": !made.worked(),
        })
    };
    evidence.calls.iter().map(one).collect()
}

#[cfg(test)]
mod tests;
