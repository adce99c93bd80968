//! Schema drift: the same content in another form, as after an update of a server.
//!
//! Nothing that was said is lost or changed; a caller that reads carefully loses nothing.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use serde_json::{Map, Value, json};

use super::{Changed, document, written};

/// Writes a result in another form.
pub(super) fn reshape(text: &str, rng: &mut ChaCha12Rng) -> Changed {
    let Some(value) = document(text) else {
        // Prose becomes a document.
        let value = if rng.random() {
            json!({"result": text})
        } else {
            json!({"content": text.lines().collect::<Vec<_>>(), "format": "lines"})
        };
        return Changed { text: value.to_string(), what: "text as JSON".to_owned() };
    };
    let (drifted, what) = match rng.random_range(0..3_u8) {
        0 => (renamed(value.clone()), "fields renamed"),
        1 => (retyped(value.clone()), "numbers as text"),
        _ => (value.clone(), ""),
    };
    let (drifted, what) = if drifted == value {
        (json!({"data": value, "meta": {"api_version": "2"}}), "wrapped")
    } else {
        (drifted, what)
    };
    Changed { text: written(&drifted, text), what: what.to_owned() }
}

/// Writes every field name in another manner.
fn renamed(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(renamed).collect(),
        Value::Object(fields) => {
            let mut out = Map::new();
            for (name, value) in &fields {
                let new = other_manner(name);
                // A name that is taken would cost a field.
                let taken = fields.contains_key(&new) || out.contains_key(&new);
                out.insert(if taken { name.clone() } else { new }, renamed(value.clone()));
            }
            Value::Object(out)
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

/// Writes `release_date` as `releaseDate`, `releaseDate` as `release_date`, `name` as `Name`.
fn other_manner(name: &str) -> String {
    if name.trim_matches('_').contains('_') {
        let mut parts = name.split('_').filter(|part| !part.is_empty());
        let first = parts.next().unwrap_or_default().to_owned();
        return parts.fold(first, |all, part| all + &capitalised(part));
    }
    if name.chars().skip(1).any(char::is_uppercase) {
        let mut out = String::new();
        for letter in name.chars() {
            if letter.is_uppercase() && !out.is_empty() {
                out.push('_');
            }
            out.extend(letter.to_lowercase());
        }
        return out;
    }
    capitalised(name)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Writes numbers and truth values as texts.
fn retyped(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(retyped).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, retyped(value))).collect()
        }
        Value::Number(number) => Value::String(number.to_string()),
        Value::Bool(flag) => Value::String(flag.to_string()),
        plain @ (Value::Null | Value::String(_)) => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_their_manner_and_no_field_is_lost() {
        let table = [
            (json!({"release_date": 1}), json!({"releaseDate": 1}), "snake case"),
            (json!({"releaseDate": 1}), json!({"release_date": 1}), "camel case"),
            (json!({"name": 1}), json!({"Name": 1}), "one word"),
            (json!({"a_b": 1, "aB": 2}), json!({"a_b": 1, "aB": 2}), "no name is taken"),
            (json!([{"x": {"y_z": null}}]), json!([{"X": {"yZ": null}}]), "all levels"),
        ];
        for (from, want, why) in table {
            assert_eq!(renamed(from), want, "{why}");
        }
    }
}
