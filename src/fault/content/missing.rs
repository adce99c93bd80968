//! Results of which something is missing: cut in the middle, or with parts left out.
//!
//! A truncated payload shows that it is one, if only by its end. A partial result does not: what
//! is left is whole, and JSON stays JSON.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use serde_json::Value;

use super::{Changed, document, written};

/// Cuts a text after 20 to 80 percent of its characters.
pub(super) fn truncate(text: &str, rng: &mut ChaCha12Rng) -> Option<Changed> {
    let characters = text.chars().count();
    if characters < 2 {
        return None;
    }
    let percent: usize = rng.random_range(20..=80);
    let keep = (characters.saturating_mul(percent) / 100).max(1);
    let text: String = text.chars().take(keep).collect();
    Some(Changed { text, what: format!("cut after {keep} of {characters} characters") })
}

/// Leaves out about `share` of the items, at least one and never all.
pub(super) fn drop_items(text: &str, share: f64, rng: &mut ChaCha12Rng) -> Option<Changed> {
    if let Some(mut value) = document(text) {
        let what = thin(&mut value, share, rng)?;
        return Some(Changed { text: written(&value, text), what });
    }
    // Of prose, paragraphs; of one paragraph, lines; of one line, sentences.
    for (mark, name) in [("\n\n", "paragraphs"), ("\n", "lines"), (". ", "sentences")] {
        let parts: Vec<&str> = text.split(mark).collect();
        let Some(kept) = kept(parts.len(), share, rng) else { continue };
        let what = format!("{} of {} {name} left out", parts.len() - kept.len(), parts.len());
        let left: Vec<&str> = kept.into_iter().map(|index| parts[index]).collect();
        return Some(Changed { text: left.join(mark), what });
    }
    None
}

/// Chooses what is kept of `count` items, in order; none where nothing can be left out.
fn kept(count: usize, share: f64, rng: &mut ChaCha12Rng) -> Option<Vec<usize>> {
    if count < 2 {
        return None;
    }
    let must_go = rng.random_range(0..count);
    // Another one than that which must go.
    let must_stay = (must_go + rng.random_range(1..count)) % count;
    let stays =
        |index: usize, chance: f64| index == must_stay || (index != must_go && chance >= share);
    let chances: Vec<f64> = (0..count).map(|_| rng.random()).collect();
    Some((0..count).filter(|index| stays(*index, chances[*index])).collect())
}

/// Thins out the longest array of a document, or else its object with most fields.
fn thin(value: &mut Value, share: f64, rng: &mut ChaCha12Rng) -> Option<String> {
    let most = longest(value, true);
    if most > 1 {
        let items = find(value, true, most)?.as_array_mut()?;
        let kept = kept(items.len(), share, rng)?;
        let all = std::mem::take(items);
        let count = all.len();
        let left = all.into_iter().enumerate().filter(|(index, _)| kept.contains(index));
        items.extend(left.map(|(_, item)| item));
        return Some(format!("{} of {count} items left out", count - kept.len()));
    }
    let most = longest(value, false);
    let fields = find(value, false, most)?.as_object_mut()?;
    let kept = kept(fields.len(), share, rng)?;
    let count = fields.len();
    let all = std::mem::take(fields);
    let left = all.into_iter().enumerate().filter(|(index, _)| kept.contains(index));
    fields.extend(left.map(|(_, field)| field));
    Some(format!("{} of {count} fields left out", count - kept.len()))
}

/// Returns the length of the longest array, or of the largest object.
fn longest(value: &Value, array: bool) -> usize {
    match value {
        Value::Array(items) => {
            let below = items.iter().map(|item| longest(item, array)).max().unwrap_or(0);
            if array { below.max(items.len()) } else { below }
        }
        Value::Object(fields) => {
            let below = fields.values().map(|item| longest(item, array)).max().unwrap_or(0);
            if array { below } else { below.max(fields.len()) }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Finds the first array, or object, of that length.
fn find(value: &mut Value, array: bool, length: usize) -> Option<&mut Value> {
    let own = match value {
        Value::Array(items) => array && items.len() == length,
        Value::Object(fields) => !array && fields.len() == length,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if own {
        return Some(value);
    }
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| find(item, array, length)),
        Value::Object(fields) => fields.values_mut().find_map(|item| find(item, array, length)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
