//! Checks `[[route.query]]` and `[[route.form]]`.

use super::routes::{Checked, Place};
use crate::environment::{Field, FieldKind, Given};
use crate::fault::Notes;

/// Names that a form has for itself.
const TOKEN: &str = "csrf_token";

/// Checks the parameters and fields of a route.
pub(super) fn check(checked: &Checked<'_>, place: &Place<'_>, notes: &mut Notes) {
    let mut turning = Vec::new();
    if let Some(list) = &place.route.list {
        turning.extend(list.page_size.map(|_| "page"));
        turning.extend((!list.page_sizes.is_empty()).then_some("page_size"));
        turning.extend((!list.sort.is_empty()).then_some("sort"));
    }
    for (kind, all) in [("query", &place.route.query), ("form", &place.route.form)] {
        for (index, field) in all.iter().enumerate() {
            let at = place.field(&format!("{kind}[{index}]"));
            let mut note = |name: &str, problem: String| {
                checked.source.fault(notes, &format!("{at}.{name}"), problem);
            };
            if all[..index].iter().any(|other| other.name == field.name) {
                note("name", format!("`{}` is declared twice", field.name));
            }
            if field.name == TOKEN {
                note("name", format!("`{TOKEN}` is the token of the session; use `csrf = true`"));
            }
            if kind == "query" && turning.contains(&field.name.as_str()) {
                note("name", format!("`{}` is a parameter of the list already", field.name));
            }
            if kind == "query" && field.kind == FieldKind::File {
                note("type", "a query holds no file".to_owned());
            }
            one(checked, field, &mut note);
        }
    }
}

/// Checks that what a field says of itself goes together.
fn one(checked: &Checked<'_>, field: &Field, note: &mut impl FnMut(&str, String)) {
    let with_choices = matches!(field.kind, FieldKind::Choice | FieldKind::File);
    if field.kind == FieldKind::Choice && field.choices.is_empty() {
        note("choices", "missing; expected the values to choose from".to_owned());
    } else if !with_choices && !field.choices.is_empty() {
        note("choices", "only a `choice` has values, and a `file` endings".to_owned());
    }
    if field.many && matches!(field.kind, FieldKind::Flag | FieldKind::File) {
        note("many", "there is only one of a flag, or of a file".to_owned());
    }
    if field.max_length.is_some() && !matches!(field.kind, FieldKind::Text | FieldKind::File) {
        note("max_length", "only a text or a file has a length".to_owned());
    }
    if field.pattern.is_some() && field.kind != FieldKind::Text {
        note("pattern", "only a text has a pattern".to_owned());
    }
    let mut sound = true;
    for (name, bound) in [("min", &field.min), ("max", &field.max)] {
        if let Some(problem) = bound.as_ref().and_then(|bound| field.misplaced(bound)) {
            note(name, problem.to_owned());
            sound = false;
        }
    }
    // Any day will do: bounds in words are the only ones that move with it.
    let today = jiff::civil::date(2026, 1, 1);
    if sound && let (Some(min), Some(max)) = (&field.min, &field.max) {
        let least = Field { min: None, pattern: None, ..field.clone() };
        let text = min.as_str().map_or_else(|| min.to_string(), ToOwned::to_owned);
        let moves = [min, max].iter().any(|bound| bound.as_str() == Some("today"));
        let given = [Given::Text(text)];
        if !moves && least.wrong(&given, today, checked.site.meta.language).is_some() {
            note("max", format!("nothing is from {min} to {max}"));
        }
    }
    if field.pattern.is_some() && field.example.is_none() {
        note("example", "missing; expected a text that the pattern matches".to_owned());
    }
    if let Some(example) = &field.example
        && field.kind == FieldKind::File
    {
        note("example", format!("a file has no example, found `{example}`"));
    } else if let Some(example) = &field.example {
        let moves = |bound: &Option<serde_json::Value>| {
            bound.as_ref().and_then(serde_json::Value::as_str) == Some("today")
        };
        let still = Field {
            min: field.min.clone().filter(|_| !moves(&field.min)),
            max: field.max.clone().filter(|_| !moves(&field.max)),
            ..field.clone()
        };
        let given = [Given::Text(example.clone())];
        if let Some(problem) = still.wrong(&given, today, checked.site.meta.language) {
            note("example", format!("`{example}` is wrong itself: {problem}"));
        }
    }
}
