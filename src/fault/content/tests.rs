//! What content operators promise, over texts of all kinds.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const CONTENT: [Operator; 6] = [
    Operator::MinorMistake,
    Operator::IncorrectOutput,
    Operator::InvalidOutput,
    Operator::SchemaDrift,
    Operator::TruncatedPayload,
    Operator::PartialResult,
];

/// Operators after which JSON is JSON.
const KEEPING: [Operator; 4] = [
    Operator::MinorMistake,
    Operator::IncorrectOutput,
    Operator::SchemaDrift,
    Operator::PartialResult,
];

fn changed(operator: Operator, text: &str, number: u64) -> Option<Changed> {
    change(operator, text, operator.default_share().unwrap_or(1.0), Seed::of_run(number))
}

/// Returns the field names of a document with how often each occurs.
fn names(value: &Value, found: &mut BTreeMap<String, usize>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                *found.entry(name.clone()).or_default() += 1;
                names(value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// JSON documents: nested, with all kinds of values, names that need escapes.
fn document_of_any_kind() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        "[a-zA-Z0-9 .,:-]{0,40}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("2026-03-01 9:05, see https://a.example/7?x=1")),
    ];
    let inner = leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-z_\"\\\\é]{0,8}", inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop_oneof![
        prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
        prop::collection::btree_map("[a-z_]{1,8}", inner, 0..6)
            .prop_map(|fields| Value::Object(fields.into_iter().collect())),
    ]
}

proptest! {
    #[test]
    fn json_stays_json(
        value in document_of_any_kind(),
        pretty in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        for operator in KEEPING {
            let Some(changed) = changed(operator, &text, seed) else { continue };
            let after: Result<Value, _> = serde_json::from_str(&changed.text);
            prop_assert!(after.is_ok(), "{operator} made {:?} of {text}", changed.text);
            if operator == Operator::MinorMistake || operator == Operator::IncorrectOutput {
                let (mut before, mut left) = (BTreeMap::new(), BTreeMap::new());
                names(&value, &mut before);
                names(&after.unwrap(), &mut left);
                prop_assert_eq!(before, left, "{} changed a name", operator);
            }
        }
    }

    #[test]
    fn any_text_is_changed_the_same_way_each_time(text in any::<String>(), seed in any::<u64>()) {
        for operator in CONTENT {
            let one = changed(operator, &text, seed);
            prop_assert_eq!(&one, &changed(operator, &text, seed));
            prop_assert!(one.is_none_or(|changed| changed.text != text && !changed.what.is_empty()));
        }
    }

    #[test]
    fn a_partial_result_holds_nothing_new(lines in prop::collection::vec("[a-z]{1,9}", 2..20), seed in any::<u64>()) {
        let text = lines.join("\n");
        let changed = changed(Operator::PartialResult, &text, seed).unwrap();
        let left: Vec<&str> = changed.text.lines().collect();
        prop_assert!(!left.is_empty() && left.len() < lines.len());
        let mut rest = lines.iter();
        prop_assert!(left.iter().all(|line| rest.any(|known| known == line)), "{}", changed.text);
    }

    #[test]
    fn a_truncated_payload_is_a_beginning(text in ".{2,200}", seed in any::<u64>()) {
        let changed = changed(Operator::TruncatedPayload, &text, seed).unwrap();
        prop_assert!(text.starts_with(&changed.text) && !changed.text.is_empty());
    }
}

#[test]
fn shares_are_met_over_long_results() {
    let words = "harbour ".repeat(20_000);
    let slips = changed(Operator::MinorMistake, &words, 1).unwrap();
    let whole = slips.text.split(' ').filter(|word| *word == "harbour").count();
    assert!((18_800..19_200).contains(&whole), "5 % sparse slips, {whole} words whole");
    let numbers: Vec<String> = (10_000..30_000).map(|number| number.to_string()).collect();
    let text = numbers.join(" ");
    let wrong = changed(Operator::IncorrectOutput, &text, 1).unwrap();
    let same = wrong.text.split(' ').zip(&numbers).filter(|(now, was)| now == was).count();
    assert!((13_000..13_700).contains(&same), "one third wrong, {same} of 20000 are right");
}

#[test]
fn what_has_no_part_is_left_alone() {
    for (operator, text, why) in [
        (Operator::MinorMistake, "", "no word"),
        (Operator::MinorMistake, "1 2 3", "no word"),
        (Operator::IncorrectOutput, "ok", "no value, no two words"),
        (Operator::TruncatedPayload, "x", "nothing to cut"),
        (Operator::PartialResult, "one line", "nothing to leave out"),
        (Operator::PartialResult, "{\"a\":1}", "one field"),
        (Operator::Delay, "text", "a delay changes nothing"),
    ] {
        assert_eq!(changed(operator, text, 3), None, "{operator}: {why}");
    }
}

#[test]
fn only_the_faulted_values_differ() {
    let text = "{\n  \"rows\": [ {\"km\": 12.50, \"when\": \"2026-03-01\"} ],\n  \"big\": 1e400\n}";
    let changed = change(Operator::IncorrectOutput, text, 1.0, Seed::of_run(5)).map(|it| it.text);
    // A document that serde_json cannot hold exactly is text like any other, and is changed in
    // place all the same.
    let changed = changed.unwrap();
    assert!(changed.starts_with("{\n  \"rows\": [ {\"km\": "), "{changed}");
    assert!(!changed.contains("2026-03-01"), "{changed}");
}

#[test]
fn an_invalid_result_is_another_each_time() {
    let texts: std::collections::BTreeSet<String> = (0..200)
        .filter_map(|seed| changed(Operator::InvalidOutput, "{\"a\": \"é\"}", seed))
        .map(|changed| changed.text)
        .collect();
    assert_eq!(texts.len(), 9, "eight strays and the true one emptied: {texts:?}");
}
