//! Acting on results: what the content operators make of a text.
//!
//! A result that is JSON stays JSON, except where breaking it is the fault (OP3, truncated
//! payloads), and field names stay what they are except under schema drift. What is changed in
//! place is changed in place: every other byte stays, so nothing but the fault tells a faulted
//! result from a whole one.

mod drift;
mod invalid;
mod missing;
mod places;
mod values;
mod words;

use wildgym_sandbox::Seed;

use super::Operator;

/// What an operator made of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The new text.
    pub text: String,
    /// What was done, for the transcript: `3 of 41 words`.
    pub what: String,
}

/// Changes a result. `share` is the part of words, values or items that is hit; chances come
/// from `seed` alone. Returns nothing where there is nothing to change: no word in an empty
/// text, no half of one line.
///
/// A text that is returned is never the one that came in.
#[must_use]
pub fn change(operator: Operator, text: &str, share: f64, seed: Seed) -> Option<Changed> {
    let mut rng = seed.rng();
    let changed = match operator {
        Operator::MinorMistake => words::misspell(text, share, &mut rng),
        Operator::IncorrectOutput => values::corrupt(text, share, &mut rng),
        Operator::InvalidOutput => Some(invalid::replace(text, &mut rng)),
        Operator::SchemaDrift => Some(drift::reshape(text, &mut rng)),
        Operator::TruncatedPayload => missing::truncate(text, &mut rng),
        Operator::PartialResult => missing::drop_items(text, share, &mut rng),
        Operator::Null | Operator::ExplicitError | Operator::Delay | Operator::SilentDrop => None,
    };
    changed.filter(|changed| changed.text != text)
}

/// Writes JSON in the manner of `like`: on one line or on many.
fn written(value: &serde_json::Value, like: &str) -> String {
    let pretty = like.trim().contains('\n');
    let text = if pretty { serde_json::to_string_pretty(value) } else { Ok(value.to_string()) };
    text.unwrap_or_else(|_| value.to_string())
}

/// Reads a text as a JSON document with parts: an object or an array.
fn document(text: &str) -> Option<serde_json::Value> {
    let opens = text.trim_start().starts_with(['{', '[']);
    opens.then(|| serde_json::from_str(text).ok()).flatten()
}

#[cfg(test)]
mod tests;
