//! The figures of a trial. What each means stands at its field in [`Conduct`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wildgym_tasks::scenario_file::{ASK_USER, Flaw, ScenarioFile, pattern};
use wildgym_tasks::world::Code;

use super::evidence::{Evidence, Made};
use super::explain::Context;
use super::known::Misfit;
use super::modes;
use crate::verdict::{Conduct, Parameters, Recovery, Share, Verdict};

/// Failures of one call in a row that are a loop.
const LOOP: usize = 3;

/// Codes of refusals that say that something is not there which the call needs.
const NEEDS: [Code; 6] = [
    Code::NotFound,
    Code::Forbidden,
    Code::Invalid,
    Code::Duplicate,
    Code::Refused,
    Code::Conflict,
];

/// Measures a trial.
pub(super) fn conduct(
    file: &ScenarioFile,
    evidence: &Evidence,
    context: &Context<'_>,
    (verdict, flaws): (Verdict, BTreeSet<Flaw>),
) -> Conduct {
    let passed = matches!(verdict, Verdict::Pass);
    let calls = &evidence.calls;
    let replayed: Vec<&str> = match &file.reference {
        Some(reference) => reference.rounds.iter().flatten().map(|call| &*call.tool).collect(),
        None => required(context).collect(),
    };
    let writes = |tool: &str| context.known.writes(tool);
    let disturbed = evidence.events > 0 || calls.iter().any(|made| made.injected);
    let undoing = context.expected.iter().zip(&context.assignment.of);
    let mut undoing = undoing.filter(|(one, _)| one.compensates.is_some()).peekable();
    let compensated = undoing.peek().is_some().then(|| undoing.all(|(_, place)| place.is_some()));
    Conduct {
        calls: count(calls.len()),
        optimum: count(replayed.len()),
        tools: count(evidence.tools),
        expected: Share::default(),
        assertions: Share::default(),
        selection: selection(context),
        parameters: parameters(context),
        recovery: recovery(evidence, context, passed),
        violations: count(unexpected(context).filter(|made| is_violation(made)).count()),
        redundant: redundant(context),
        steps: count(calls.iter().filter(|made| writes(&made.tool)).count()),
        optimal_steps: count(replayed.iter().filter(|tool| writes(tool)).count()),
        asked: count(calls.iter().filter(|made| made.tool == ASK_USER).count()),
        robust: !disturbed || passed,
        compensated,
        flaws,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the tools of the calls that are required.
fn required<'c>(context: &'c Context<'_>) -> impl Iterator<Item = &'c str> {
    context.expected.iter().filter(|one| !one.optional).map(|one| one.tool.as_str())
}

/// Counts the required calls whose tool was called, each tool at most as often as it was.
fn selection(context: &Context<'_>) -> Share {
    let mut wanted: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in required(context) {
        *wanted.entry(tool).or_default() += 1;
    }
    let made = |tool: &str| context.calls.iter().filter(|made| made.tool == tool).count();
    let right = wanted.iter().map(|(tool, often)| made(tool).min(*often)).sum();
    Share { right: count(right), of: count(wanted.values().sum()) }
}

fn parameters(context: &Context<'_>) -> Parameters {
    let mut found = Parameters::default();
    for (place, made) in context.calls.iter().enumerate() {
        if !context.known.has(&made.tool) || made.tool == ASK_USER {
            continue;
        }
        let class = match context.known.misfit(&made.tool, &made.arguments) {
            _ if made.arguments.is_null() => &mut found.other,
            Some(Misfit::Missing) => &mut found.missing,
            Some(Misfit::WrongType) => &mut found.wrong_type,
            Some(Misfit::BadEnum) => &mut found.bad_enum,
            Some(Misfit::Unknown) => &mut found.unknown,
            None if made.error.as_deref() == Some("bad-arguments") => &mut found.other,
            None if is_off(place, made, context) => &mut found.wrong_value,
            None => &mut found.right,
        };
        *class += 1;
    }
    found
}

/// Returns whether a call has another value than an expected call of its tool that has none.
fn is_off(place: usize, made: &Made, context: &Context<'_>) -> bool {
    if context.assignment.of.contains(&Some(place)) {
        return false;
    }
    let open = context.expected.iter().zip(&context.assignment.of).enumerate();
    let mut open = open.filter(|(_, (one, place))| place.is_none() && one.tool == made.tool);
    open.any(|(index, (one, _))| {
        let differs = pattern::difference(&one.args_match, &made.arguments).is_some();
        differs
            || context.ties[index].iter().any(|tie| {
                let earlier = context.assignment.of[tie.other()].map(|at| &context.calls[at]);
                matches!(tie, super::assign::Tie::Value { .. })
                    && earlier.is_some_and(|earlier| !tie.holds(earlier, made))
            })
    })
}

/// Returns the calls that were not taken for an expected one.
fn unexpected<'c>(context: &'c Context<'_>) -> impl Iterator<Item = &'c Made> {
    let taken = &context.assignment.of;
    let all = context.calls.iter().enumerate();
    all.filter(|(place, _)| !taken.contains(&Some(*place))).map(|(_, made)| made)
}

/// Returns whether a call was refused because what it needs was not there.
fn is_violation(made: &Made) -> bool {
    let kind = made.error.as_deref();
    !made.injected && NEEDS.iter().any(|code| kind == Some(code.name()))
}

/// Counts calls that repeat one that worked: of the same tool with equal arguments, while
/// nothing changed, or a change a second time.
fn redundant(context: &Context<'_>) -> u32 {
    let changes = |made: &Made| made.worked() && context.known.writes(&made.tool);
    let repeats = |(place, made): &(usize, &Made)| {
        let earlier = &context.calls[..*place];
        let same = |other: &&Made| other.worked() && is_same(other, made);
        let last = earlier.iter().rposition(|other| same(&other));
        made.worked()
            && last.is_some_and(|last| changes(made) || !earlier[last..].iter().any(&changes))
    };
    let taken = &context.assignment.of;
    let all = context.calls.iter().enumerate();
    count(all.filter(|(place, _)| !taken.contains(&Some(*place))).filter(repeats).count())
}

fn is_same(a: &Made, b: &Made) -> bool {
    a.tool == b.tool && same_arguments(&a.arguments, &b.arguments)
}

fn same_arguments(a: &Value, b: &Value) -> bool {
    pattern::same(a, b)
}

/// Classes what came after failed calls: the worst of them.
fn recovery(evidence: &Evidence, context: &Context<'_>, passed: bool) -> Option<Recovery> {
    let failed: Vec<&Made> = unexpected(context).filter(|made| !made.worked()).collect();
    if failed.is_empty() {
        return None;
    }
    if modes::is_silent_success(evidence, context) {
        return Some(Recovery::Fabricated);
    }
    let in_a_row =
        |calls: &[Made]| calls.iter().all(|made| !made.worked() && is_same(made, &calls[0]));
    if evidence.calls.windows(LOOP).any(in_a_row) {
        return Some(Recovery::Loop);
    }
    let after = |failed: &Made| {
        let later = evidence.calls.iter().filter(|made| made.number > failed.number);
        let mut later = later.filter(|made| made.worked() && made.tool == failed.tool);
        match later.next() {
            Some(made) if is_same(made, failed) => Recovery::Retried,
            Some(_) => Recovery::Corrected,
            None if passed => Recovery::Alternative,
            None => Recovery::GaveUp,
        }
    };
    failed.into_iter().map(after).min()
}
