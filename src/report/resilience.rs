//! What agents did about faults and events of worlds: for people and for programs.
//!
//! What is counted, and by which rules, stands in [`crate::metrics::resilience`]; here it is
//! grouped and written down. Trials that no fault acted on are told apart from the others:
//! what they came to says nothing about faults. The section is there where calls were to meet
//! faults or worlds moved, and nowhere else.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::figures::{counted, number};
use super::groups::{Grouping, grouped};
use super::layout::Page;
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::metrics::resilience::{
    Aftermath, Class, EventSum, Felt, Kind, LOOP, Mix, Reaction, Resilience, Standing, Tried,
};
use crate::record::Outcome;

/// Most kinds of faults that a line of a mix names.
const NAMED: usize = 6;

/// What the JSON says about its own rules.
const RULES: &str = "a trial's class is the first that fits: non-completion (no answer), \
    tool-bypass (no call gave a result, and the answer does not say so), recovered (passed, and a \
    faulted call failed or was made again), unaffected (passed), partial-degradation (degraded, \
    or something is right), non-completion (the answer says that something failed), \
    catastrophic-completion";

/// What the last attempt at a trial met, and what its answer says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Faulted {
    /// What it met, and what the agent did.
    pub met: Aftermath,
    /// Whether there is a final answer that is not empty.
    pub answered: bool,
    /// Whether the final answer says that something failed.
    pub admits: bool,
}

impl TrialView {
    /// Returns what is known of the trial beside its calls; none where nobody looked at those.
    fn standing(&self) -> Option<(Standing, &Faulted)> {
        let faulted = self.faulted.as_ref()?;
        let conduct = self.conduct.as_ref();
        let right = conduct.is_some_and(|conduct| conduct.expected.right > 0);
        let last = self.attempts.last().map(|attempt| attempt.outcome.clone());
        let standing = Standing {
            outcome: last.unwrap_or(Outcome::NoAnswer),
            state: self.state(),
            answered: faulted.answered,
            admits: faulted.admits,
            partly: right || self.milestones.contains(&true),
            needs_calls: conduct.is_none_or(|conduct| conduct.optimum > 0),
        };
        Some((standing, faulted))
    }

    /// Returns how the trial ended under faults; none where nobody looked at its calls or there
    /// is no verdict.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        let (standing, faulted) = self.standing()?;
        standing.class(&faulted.met)
    }

    /// Returns the trial for [`Resilience::of`]; none where nobody looked at its calls.
    #[must_use]
    pub fn tried(&self) -> Option<Tried<'_>> {
        let (standing, Faulted { met, .. }) = self.standing()?;
        let (class, fabricated) = (standing.class(met), standing.fabricated(met));
        Some(Tried { state: self.state(), class, fabricated, met })
    }
}

/// Adds up some trials.
fn sum(trials: &[&TrialView]) -> Resilience {
    Resilience::of(trials.iter().filter_map(|trial| trial.tried()))
}

/// Trials whose calls were looked at.
fn known(view: &RunView) -> Vec<&TrialView> {
    view.trials.iter().filter(|trial| trial.faulted.is_some()).collect()
}

/// Returns whether calls met faults, or were to.
fn has_faults(view: &RunView, sum: &Resilience) -> bool {
    !view.specified.is_empty() || sum.dose > 0 || !sum.mix.is_empty()
}

/// Returns the section; empty where no call met a fault and no world moved.
pub(super) fn section(view: &RunView, by: &[Grouping], page: Page) -> String {
    let known = known(view);
    let all = sum(&known);
    let mut out = String::new();
    if has_faults(view, &all) {
        let mut groups = vec![];
        for by in if by.is_empty() { &[Grouping::Condition][..] } else { by } {
            for group in grouped(&known, *by) {
                let name = format!("{} {}", by.name(), one_line(&group.name, 60));
                groups.push((name, sum(&group.trials)));
            }
        }
        if groups.len() != 1 {
            groups.push(("overall".to_owned(), all.clone()));
        }
        out.push_str(&ends(&groups, page));
        out.push_str(&steps(&groups, page));
        out.push_str(&zero(&all, page));
        out.push_str(&mixes(view, &known, page));
    }
    if all.events.happened > 0 {
        out.push_str(&page.entry("events", &events(&all.events)));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// The table of how trials ended that a fault acted on.
fn ends(groups: &[(String, Resilience)], page: Page) -> String {
    let header = [
        "faults",
        "trials",
        "met any",
        "dose",
        "passed",
        "unaffected",
        "recovered",
        "partial",
        "catastrophic",
        "bypass",
        "not done",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows[0][0] = page.bold("faults");
    for (name, sum) in groups {
        let dose = sum.mean_dose().map_or_else(|| "–".to_owned(), |dose| format!("{dose:.1}"));
        let mut row = vec![
            name.clone(),
            number(sum.trials),
            number(sum.dosed()),
            dose,
            format!("{}/{}", sum.passed, sum.dosed()),
        ];
        let of = |class: &Class| number(sum.classes.get(class).copied().unwrap_or_default());
        row.extend(Class::ALL.iter().map(of));
        rows.push(row);
    }
    let note = "dose: calls that faults acted on, a trial that met any; from `passed` on those \
        trials alone; not done: no answer, or one that says that it failed";
    page.table(&rows).join("\n") + "\n" + &page.note(note)
}

/// The table of what came next after faulted calls.
fn steps(groups: &[(String, Resilience)], page: Page) -> String {
    let header = [
        "after a fault",
        "calls",
        "retried",
        "corrected",
        "switched",
        "fell back",
        "looped",
        "longest",
        "fabricated",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows[0][0] = page.bold("after a fault");
    for (name, sum) in groups {
        let all = sum.reactions;
        let share = |reaction: &Reaction| match all.share(all.of(*reaction)) {
            Some(share) => format!("{:.1} %", share * 100.0),
            None => "–".to_owned(),
        };
        let mut row = vec![name.clone(), number(all.total())];
        row.extend(Reaction::ALL.iter().map(share));
        row.extend([number(sum.looped), number(sum.longest_loop), number(sum.fabricated)]);
        rows.push(row);
    }
    let note = format!(
        "the next step after each faulted call; looped: trials with one failing tool {LOOP} rounds \
         in a row or more; fabricated: trials that claim what a failed call did not give"
    );
    page.table(&rows).join("\n") + "\n" + &page.note(&note)
}

/// Says what became of trials that no fault acted on.
fn zero(all: &Resilience, page: Page) -> String {
    if all.zero_dose == 0 {
        return String::new();
    }
    let trials = counted(u64::from(all.zero_dose), "trial");
    let mut parts = vec![format!("{trials}, {} passed", all.zero_dose_passed)];
    parts.extend(
        all.zero_dose_classes
            .iter()
            .map(|(class, count)| format!("{} {}", number(*count), class.name())),
    );
    page.entry("zero dose", &parts)
}

/// Says which faults fired under each condition, beside what its profile says.
fn mixes(view: &RunView, known: &[&TrialView], page: Page) -> String {
    let mut out = String::new();
    for group in grouped(known, Grouping::Condition) {
        let realised = sum(&group.trials).mix;
        let specified = view.specified.get(&group.name);
        if realised.is_empty() && specified.is_none_or(Mix::is_empty) {
            continue;
        }
        let mut parts = vec![format!("{}, realised (specified)", one_line(&group.name, 60))];
        parts.extend(shares(&realised, specified));
        if let Some(apart) = specified.and_then(|specified| realised.distance(specified)) {
            parts.push(format!("{apart:.2} apart"));
        }
        out.push_str(&page.entry(if out.is_empty() { "mix" } else { "" }, &parts));
    }
    out
}

/// Writes the shares of the kinds that fired most, or would.
fn shares(realised: &Mix, specified: Option<&Mix>) -> Vec<String> {
    let share = |mix: &Mix, kind: &Kind| mix.share(kind).unwrap_or_default();
    let mut kinds: BTreeMap<&Kind, (f64, Option<f64>)> = BTreeMap::new();
    for kind in realised.iter().chain(specified.iter().flat_map(|mix| mix.iter())) {
        let kind = kind.0;
        let wanted = specified.map(|mix| share(mix, kind));
        kinds.insert(kind, (share(realised, kind), wanted));
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    let weight = |(realised, wanted): (f64, Option<f64>)| realised.max(wanted.unwrap_or_default());
    kinds.sort_by(|a, b| weight(b.1).total_cmp(&weight(a.1)));
    let rest = kinds.len().saturating_sub(NAMED);
    let written = kinds.iter().take(NAMED).map(|(kind, (realised, wanted))| {
        let wanted = wanted.map(|wanted| format!(" ({:.1})", wanted * 100.0)).unwrap_or_default();
        let name = one_line(&format!("{} {}", kind.operator, kind.persistence), 60);
        format!("{name} {:.1} %{wanted}", realised * 100.0)
    });
    let mut written: Vec<String> = written.collect();
    if rest > 0 {
        written.push(format!("{rest} more"));
    }
    written
}

/// Says how events of worlds went.
fn events(sum: &EventSum) -> Vec<String> {
    let mut parts = vec![format!("{} happened", number(sum.happened))];
    if sum.unfelt > 0 {
        let passed = format!("{} of them in trials that passed", sum.unfelt_passed);
        parts.push(format!("{} made no call fail, {passed}", number(sum.unfelt)));
    }
    if let Some(mean) = sum.mean_steps() {
        let steps = format!("in {mean:.1} calls, {} at most", sum.most_steps);
        parts.push(format!("{} recovered from {steps}", number(sum.recovered)));
    }
    if sum.unrecovered > 0 {
        parts.push(format!("{} not recovered from", number(sum.unrecovered)));
    }
    parts
}

/// Returns what is told of one attempt, a line each; nothing where it met nothing.
pub(super) fn aftermath(met: &Aftermath, class: Option<Class>) -> Vec<String> {
    let mut lines = Vec::new();
    if met.dose > 0 || !met.mix.is_empty() {
        let calls = format!("{} of {} hit", met.dose, counted(u64::from(met.calls), "call"));
        let next = Reaction::ALL.into_iter().filter(|one| met.reactions.of(*one) > 0);
        let next: Vec<String> =
            next.map(|one| format!("{} {}", met.reactions.of(one), one.name())).collect();
        let next =
            if next.is_empty() { String::new() } else { format!("; then {}", next.join(", ")) };
        lines.push(calls + &next);
    }
    if met.loops > 0 {
        let rounds = counted(u64::from(met.longest_loop), "round");
        lines.push(format!("{}, the longest of {rounds}", counted(met.loops.into(), "retry loop")));
    }
    for event in &met.events {
        let steps = |steps: u32| counted(u64::from(steps), "call");
        let came = match event.felt {
            Felt::Not => "no call failed after it".to_owned(),
            Felt::Mended { steps: count } => format!("mended in {}", steps(count)),
            Felt::Open { steps: count } => {
                format!("a call failed, and none of its tool worked in the {} after", steps(count))
            }
        };
        lines.push(format!("event `{}`: {came}", event.event));
    }
    if let (Some(class), false) = (class, lines.is_empty()) {
        lines.push(format!("class {}", class.name()));
    }
    lines
}

/// Writes the note of a fault for people; none where it is another note.
pub(super) fn fault_note(note: &Value) -> Option<String> {
    if let Some(name) = note["injected"].as_str() {
        return Some(format!("fault of the task: {name}"));
    }
    let fault = note["fault"].as_object()?;
    let text = |key: &str| fault.get(key).and_then(Value::as_str).unwrap_or_default();
    let (operator, persistence) = (text("operator"), text("persistence"));
    let mut line = format!("fault: {operator}, {persistence}");
    if !text("since").is_empty() {
        let _ = write!(line, " since call {}", text("since"));
    }
    let what = note["what"].as_str().unwrap_or_default();
    let mark = if note["applied"] == false { "without effect, " } else { "" };
    Some(format!("{line}: {mark}{what}"))
}

/// Returns the same for programs, by condition and by what is asked for; `null` where no call
/// met a fault and no world moved.
pub(super) fn json(view: &RunView, by: &[Grouping]) -> Value {
    let known = known(view);
    let all = sum(&known);
    if !has_faults(view, &all) && all.events.happened == 0 {
        return Value::Null;
    }
    let mut out = Map::new();
    out.insert("rules".to_owned(), json!(RULES));
    out.insert("overall".to_owned(), value(&all, None));
    let condition = [Grouping::Condition];
    let others = by.iter().filter(|by| **by != Grouping::Condition);
    for by in condition.iter().chain(others) {
        let of = |name: &str| match by {
            Grouping::Condition => view.specified.get(name),
            Grouping::Scenario
            | Grouping::Subset
            | Grouping::Domain
            | Grouping::Language
            | Grouping::Factor
            | Grouping::Variant
            | Grouping::Tier
            | Grouping::Type
            | Grouping::Tools
            | Grouping::Offering(_) => None,
        };
        let groups = grouped(&known, *by).into_iter();
        let groups = groups.map(|group| {
            let value = value(&sum(&group.trials), of(&group.name));
            (group.name, value)
        });
        out.insert(format!("by_{}", by.name()), Value::Object(groups.collect()));
    }
    Value::Object(out)
}

/// Returns the figures of some trials, with what follows from them.
fn value(sum: &Resilience, specified: Option<&Mix>) -> Value {
    // Numbers, names and nulls serialise into a value in any case.
    let mut value = serde_json::to_value(sum).unwrap_or_default();
    let reactions = sum.reactions;
    value["mean_dose"] = json!(sum.mean_dose());
    value["completion"] = json!(sum.completion());
    value["reactions"]["calls"] = json!(reactions.total());
    value["reactions"]["retry_share"] = json!(reactions.share(reactions.retries()));
    value["reactions"]["switch_share"] = json!(reactions.share(reactions.switched));
    value["reactions"]["fallback_share"] = json!(reactions.share(reactions.fell_back));
    value["events"]["mean_steps"] = json!(sum.events.mean_steps());
    if let Some(specified) = specified {
        value["specified_mix"] = json!(specified);
        value["mix_distance"] = json!(sum.mix.distance(specified));
    }
    value
}
