//! What an argument must be: a value as it stands, or an operator.
//!
//! The harness publishes values only, as a partial match: of an object, the fields that
//! are named. Numbers are equal by value (`5` and `5.0`), lists item by item, texts to the
//! letter. An object with one field that begins with `$` is an operator:
//!
//! | operator | fits |
//! |---|---|
//! | `{"$any": […]}` | what fits one of the patterns |
//! | `{"$all": […]}` | what fits each of the patterns |
//! | `{"$not": …}` | what does not fit the pattern, or is absent |
//! | `{"$regex": "…"}` | a text in which the expression matches somewhere |
//! | `{"$text": "…"}` | a text that is equal apart from case and runs of spaces |
//! | `{"$contains": "…"}` | a text that holds the other one, apart from case |
//! | `{"$number": 5, "$tolerance": 0.01}` | a number so near |
//! | `{"$items": […]}` | a list of that many items, in any order, each fitting one of the patterns |
//! | `{"$has": …}` | a list with an item that fits the pattern |
//! | `{"$present": true}` | anything; `false`: nothing, or `null` |
//!
//! `$any`, `$all` and `$not` may also stand beside fields: they are then about the whole
//! object. `{"status": "open", "$any": [{"id": "A-1"}, {"query": "Acme"}]}` wants the one
//! field and one of two others; `{"$all": [{"$contains": "Acme"}, {"$not": {"$contains":
//! "Interiors"}}]}` is a text with the one part and without the other.

use regex::Regex;
use serde_json::{Map, Value};

/// The operators.
const OPERATORS: [&str; 10] = [
    "$any",
    "$all",
    "$not",
    "$regex",
    "$text",
    "$contains",
    "$number",
    "$items",
    "$has",
    "$present",
];

/// Those that may stand beside fields.
const LOGIC: [&str; 3] = ["$any", "$all", "$not"];

/// Returns whether a name is an operator that may stand beside the fields of an object.
#[must_use]
pub fn is_logic(name: &str) -> bool {
    LOGIC.contains(&name)
}

/// Returns whether a value, or its absence, fits a pattern. An operator that makes no sense
/// fits nothing.
#[must_use]
pub fn fits(pattern: &Value, value: Option<&Value>) -> bool {
    if let Some((name, operand)) = operator(pattern) {
        return fits_operator(name, operand, pattern, value);
    }
    let Some(value) = value else { return false };
    match (pattern, value) {
        (Value::Object(wanted), Value::Object(given)) => {
            wanted.iter().all(|(name, inner)| fits_field(name, inner, pattern, given, value))
        }
        (Value::Array(wanted), Value::Array(given)) => {
            wanted.len() == given.len()
                && wanted.iter().zip(given).all(|(pattern, item)| fits(pattern, Some(item)))
        }
        (a, b) => same(a, b),
    }
}

/// Returns whether a field of a pattern fits, which may be an operator about the whole.
fn fits_field(
    name: &str,
    inner: &Value,
    pattern: &Value,
    given: &Map<String, Value>,
    whole: &Value,
) -> bool {
    if is_logic(name) {
        fits_operator(name, inner, pattern, Some(whole))
    } else {
        fits(inner, given.get(name))
    }
}

/// Returns whether two values are equal; numbers are by value.
#[must_use]
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| (a - b).abs() < f64::EPSILON)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Returns the operator of an object that is one and no more, and what stands after it.
fn operator(pattern: &Value) -> Option<(&str, &Value)> {
    let fields = pattern.as_object()?;
    let rest = usize::from(fields.contains_key("$tolerance"));
    if fields.len() != 1 + rest {
        return None;
    }
    let (name, operand) = fields.iter().find(|(name, _)| OPERATORS.contains(&name.as_str()))?;
    Some((name, operand))
}

fn fits_operator(name: &str, operand: &Value, pattern: &Value, value: Option<&Value>) -> bool {
    let text = || value.and_then(Value::as_str);
    let list = || value.and_then(Value::as_array);
    match name {
        "$any" => operand.as_array().is_some_and(|all| all.iter().any(|one| fits(one, value))),
        "$all" => operand.as_array().is_some_and(|all| all.iter().all(|one| fits(one, value))),
        "$not" => !fits(operand, value),
        "$regex" => {
            let regex = operand.as_str().and_then(|source| Regex::new(source).ok());
            regex.zip(text()).is_some_and(|(regex, text)| regex.is_match(text))
        }
        "$text" => operand
            .as_str()
            .zip(text())
            .is_some_and(|(wanted, text)| folded(wanted) == folded(text)),
        "$contains" => operand
            .as_str()
            .zip(text())
            .is_some_and(|(part, text)| folded(text).contains(&folded(part))),
        "$number" => {
            let tolerance = pattern["$tolerance"].as_f64().unwrap_or(0.0);
            let number = value.and_then(Value::as_f64);
            operand.as_f64().zip(number).is_some_and(|(wanted, number)| {
                (wanted - number).abs() <= tolerance + f64::EPSILON * wanted.abs()
            })
        }
        "$items" => operand
            .as_array()
            .zip(list())
            .is_some_and(|(wanted, given)| wanted.len() == given.len() && assigned(wanted, given)),
        "$has" => list().is_some_and(|items| items.iter().any(|item| fits(operand, Some(item)))),
        "$present" => {
            let is_there = value.is_some_and(|value| !value.is_null());
            operand.as_bool() == Some(is_there)
        }
        _ => false,
    }
}

/// Folds case and runs of spaces.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns whether each item can be given to a pattern of its own: augmenting paths, as in
/// a bipartite matching.
fn assigned(patterns: &[Value], items: &[Value]) -> bool {
    let mut of_item: Vec<Option<usize>> = vec![None; items.len()];
    (0..patterns.len()).all(|pattern| {
        augment(pattern, patterns, items, &mut of_item, &mut vec![false; items.len()])
    })
}

fn augment(
    pattern: usize,
    patterns: &[Value],
    items: &[Value],
    of_item: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for item in 0..items.len() {
        if seen[item] || !fits(&patterns[pattern], Some(&items[item])) {
            continue;
        }
        seen[item] = true;
        let free = match of_item[item] {
            None => true,
            Some(other) => augment(other, patterns, items, of_item, seen),
        };
        if free {
            of_item[item] = Some(pattern);
            return true;
        }
    }
    false
}

/// Says where and how arguments do not fit: the first difference, with its place.
#[must_use]
pub fn difference(wanted: &Map<String, Value>, given: &Value) -> Option<String> {
    first_difference(&Value::Object(wanted.clone()), Some(given), "")
}

fn first_difference(pattern: &Value, value: Option<&Value>, place: &str) -> Option<String> {
    if fits(pattern, value) {
        return None;
    }
    if operator(pattern).is_none() {
        let join = |name: &str| match place {
            "" => name.to_owned(),
            _ => format!("{place}.{name}"),
        };
        match (pattern, value) {
            (Value::Object(wanted), Some(Value::Object(given))) => {
                let broken = wanted.iter().find(|(name, inner)| {
                    is_logic(name) && !fits_operator(name, inner, pattern, value)
                });
                let fields = wanted.iter().filter(|(name, _)| !is_logic(name));
                let field = fields.into_iter().find_map(|(name, inner)| {
                    first_difference(inner, given.get(name), &join(name))
                });
                return field.or_else(|| {
                    let (name, inner) = broken?;
                    let what = if place.is_empty() { "the call" } else { place };
                    let given = Value::Object(given.clone());
                    Some(format!("`{what}` is {given}, expected {{\"{name}\":{inner}}}"))
                });
            }
            (Value::Array(wanted), Some(Value::Array(given))) if wanted.len() == given.len() => {
                return wanted.iter().zip(given).enumerate().find_map(
                    |(index, (pattern, item))| {
                        first_difference(pattern, Some(item), &format!("{place}[{index}]"))
                    },
                );
            }
            (_, _) => {}
        }
    }
    let found = value.map_or_else(|| "absent".to_owned(), ToString::to_string);
    let place = if place.is_empty() { "the call" } else { place };
    Some(format!("`{place}` is {found}, expected {pattern}"))
}

/// Returns what is wrong with the operators of a pattern, as pairs of place and problem.
#[must_use]
pub fn misuses(pattern: &Value, place: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(pattern, place, &mut found);
    found
}

fn collect(pattern: &Value, place: &str, found: &mut Vec<(String, String)>) {
    match pattern {
        Value::Object(fields) => {
            if let Some(problem) = misuse(fields) {
                found.push((place.to_owned(), problem));
            }
            for (name, inner) in fields {
                collect(inner, &format!("{place}.{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, &format!("{place}[{index}]"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn misuse(fields: &Map<String, Value>) -> Option<String> {
    let marked: Vec<&String> = fields.keys().filter(|name| name.starts_with('$')).collect();
    for name in &marked {
        if !OPERATORS.contains(&name.as_str()) && *name != "$tolerance" {
            let problem = crate::load::text::unknown("operator", name, &OPERATORS);
            return Some(format!("`{name}`: {problem}"));
        }
    }
    if fields.contains_key("$tolerance") && !fields.contains_key("$number") {
        return Some("`$tolerance` belongs to `$number`".to_owned());
    }
    let alone = marked.iter().find(|name| !is_logic(name) && **name != "$tolerance");
    let beside = fields.keys().any(|name| Some(&name) != alone && name != "$tolerance");
    if let Some(name) = alone.filter(|_| beside) {
        return Some(format!("expected `{name}` to stand alone in its object"));
    }
    let tolerance = fields.get("$tolerance");
    marked.into_iter().find_map(|name| bad_operand(name, &fields[name], tolerance))
}

/// Says what is wrong with what stands after an operator.
fn bad_operand(name: &str, operand: &Value, tolerance: Option<&Value>) -> Option<String> {
    let (right, wanted) = match name {
        "$any" | "$all" | "$items" => (operand.is_array(), "a list of patterns"),
        "$regex" => {
            let valid = operand.as_str().is_some_and(|source| Regex::new(source).is_ok());
            (valid, "a regular expression")
        }
        "$text" | "$contains" => (operand.as_str().is_some_and(|t| !t.trim().is_empty()), "a text"),
        "$number" => {
            let near = tolerance.is_none_or(|t| t.as_f64().is_some_and(|t| t >= 0.0));
            (operand.is_number() && near, "a number, with a `$tolerance` ≥ 0")
        }
        "$present" => (operand.is_boolean(), "true or false"),
        _ => (true, ""),
    };
    (!right).then(|| format!("expected {wanted} after `{name}`, found {operand}"))
}
