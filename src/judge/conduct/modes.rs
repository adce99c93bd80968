//! The five failure modes that the 43-tool harness names, as far as calls show them.
//!
//! | mode | sign |
//! |---|---|
//! | confident hallucinated id | an argument named `id`, `…_id` or `…_ids` has a value that stood nowhere in what the agent had been told before, the schemas included |
//! | silent success | a call that was needed failed for good, be it that it was to be expected, and the final text has no word of failure (`failure`) |
//! | eager guesser | a question was required, and what only its reply settles was done before one was asked |
//! | near miss | a needed tool was never called, and one that is easily taken for it was |
//! | parameter drift | a value that was told once comes back changed: an id or date one or two signs off, or the value of another field of the same result |
//!
//! They are signs: they name what to look at, and decide nothing by themselves. Where a
//! judge is sure the same is found by a check.

use std::collections::BTreeSet;

use serde_json::Value;
use wildgym_tasks::scenario_file::Flaw;

use super::assign::{Tie, sources};
use super::evidence::{Evidence, Made};
use super::explain::Context;
use super::known::Known;

/// Most signs by which a drifted value differs.
const DRIFT: usize = 2;

/// Finds the signs of invented and drifted values in the calls.
pub(super) fn values(evidence: &Evidence, context: &Context<'_>) -> BTreeSet<Flaw> {
    let of_calls = evidence.calls.iter().flat_map(|made| untold(made, evidence, context.known));
    let mut found: BTreeSet<Flaw> = of_calls.map(|(flaw, _)| flaw).collect();
    found.extend(prior(context));
    found
}

/// Returns the ids in a call's arguments that nobody had told, each with what it is a sign of.
pub(super) fn untold(made: &Made, evidence: &Evidence, known: &Known) -> Vec<(Flaw, String)> {
    let sign = |id: String| {
        let drifted = is_drifted(&id, made, evidence);
        (if drifted { Flaw::ParameterDrift } else { Flaw::HallucinatedId }, id)
    };
    let is_told =
        |id: &String| is_key(id) || was_told(id, made, evidence) || known.tells(&id.to_lowercase());
    ids(&made.arguments).into_iter().filter(|id| !is_told(id)).map(sign).collect()
}

/// Returns the values of arguments that are named as ids, at any depth.
fn ids(arguments: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(arguments, "", &mut found);
    found
}

fn collect(value: &Value, name: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect(value, name, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, name, found)),
        Value::String(text) => {
            let is_id = name == "id" || name.ends_with("_id") || name.ends_with("_ids");
            if is_id && !text.trim().is_empty() {
                found.push(text.trim().to_owned());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns whether an id is a name made of words, such as the key of a setting: who knows
/// what it stands for can spell it, and invents nothing.
fn is_key(id: &str) -> bool {
    let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
    id.contains('.') && id.split(['.', '_']).all(word)
}

/// Returns whether a text stood in what the agent had been told before a call.
fn was_told(text: &str, made: &Made, evidence: &Evidence) -> bool {
    let earlier = evidence.calls.iter().filter(|other| other.round < made.round);
    let mut told = std::iter::once(evidence.told.as_str()).chain(earlier.map(|one| &*one.text));
    let text = text.to_lowercase();
    told.any(|said| said.to_lowercase().contains(&text))
}

/// Returns whether a value is nearly one that was told, be it a text of its own or a word
/// of a sentence.
fn is_drifted(text: &str, made: &Made, evidence: &Evidence) -> bool {
    let earlier = evidence.calls.iter().filter(|other| other.round < made.round);
    let told = earlier.flat_map(|one| strings(&one.result)).chain([evidence.told.clone()]);
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    let mut words = told.flat_map(|said| {
        let words = said.split(|c| !is_word(c)).map(|word| word.trim_matches('.').to_owned());
        let words: Vec<String> = words.collect();
        words.into_iter().chain([said])
    });
    words.any(|word| is_near(&word, text))
}

/// Returns all texts in a value.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Looks at arguments that should have come from an earlier result and did not.
fn prior(context: &Context<'_>) -> BTreeSet<Flaw> {
    let mut found = BTreeSet::new();
    let open = context.assignment.of.iter().enumerate().filter(|(_, place)| place.is_none());
    for (index, _) in open {
        for tie in &context.ties[index] {
            let Tie::Value { to, from } = tie else { continue };
            let Some(place) = context.assignment.of[from.call] else { continue };
            let earlier = &context.calls[place];
            let right = sources(from, earlier);
            let own = &context.expected[index].tool;
            for made in context.calls.iter().filter(|made| made.tool == *own) {
                if tie.holds(earlier, made) {
                    continue;
                }
                let values: Vec<String> =
                    to.find(&made.arguments).into_iter().flat_map(strings).collect();
                let near = |value: &String| {
                    right
                        .iter()
                        .flat_map(|right| strings(right))
                        .any(|right| is_near(&right, value))
                };
                let swapped = |value: &String| strings(&earlier.result).contains(value);
                if values.iter().any(|value| near(value) || swapped(value)) {
                    found.insert(Flaw::ParameterDrift);
                }
            }
        }
    }
    found
}

/// Returns whether two different texts of some length differ by little.
fn is_near(a: &str, b: &str) -> bool {
    let (long, other) = (a.chars().count(), b.chars().count());
    let fits = a != b && (6..=64).contains(&long) && long.abs_diff(other) <= DRIFT;
    fits && strsim::levenshtein(a, b) <= DRIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_values_are_those_that_drift() {
        let table = [
            ("2026-03-16", "2026-03-17", true, "a day off"),
            ("CON-9kxt4wmb", "CON-9kxt4wbm", true, "swapped signs"),
            ("CON-9kxt4wmb", "CON-9kxt4wmb", false, "the same"),
            ("CON-9kxt4wmb", "contact_12345", false, "invented"),
            ("A-1", "A-2", false, "too short to tell"),
        ];
        for (a, b, want, why) in table {
            assert_eq!(is_near(a, b), want, "{why}");
        }
    }
}
