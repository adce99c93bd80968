//! What authors of scenarios rely on: the published format, paths, patterns, replies.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The example of the 43-tool harness's description, byte for byte.
pub(super) const PUBLISHED: &str = include_str!("published.json");

#[test]
fn the_published_example_is_read_as_it_stands() {
    let mut value: Value = serde_json::from_str(PUBLISHED).unwrap();
    assert_eq!(value["fault_injection"], Value::Null, "which the loader takes away");
    value.as_object_mut().unwrap().remove("fault_injection");
    let file: ScenarioFile = serde_json::from_value(value).unwrap();
    assert_eq!((file.id.as_str(), file.tier, file.max_calls), ("T2-007", 2, 4));
    assert_eq!(file.kind, ScenarioType::MultiStep);
    assert_eq!(file.ordering, Ordering::Strict);
    assert_eq!(file.task_id(), "t2-007");
    let [create, log] = file.expected_calls.as_slice() else { panic!("two calls") };
    assert_eq!(create.args_forbid, ["email"]);
    assert_eq!(log.args_from_prior["contact_id"], "$.calls[0].result.id");
    let again: ScenarioFile = serde_json::from_str(&serde_json::to_string(&file).unwrap()).unwrap();
    assert_eq!(again, file, "it is kept in runs");
}

#[test]
fn paths_find_values() {
    let value = json!({"items": [{"id": 1}, {"id": 2, "unit price": 3}], "total": 2});
    let table: [(&str, Vec<Value>); 9] = [
        ("total", vec![json!(2)]),
        ("items[0].id", vec![json!(1)]),
        ("items[-1].id", vec![json!(2)]),
        ("items[*].id", vec![json!(1), json!(2)]),
        ("items[1][\"unit price\"]", vec![json!(3)]),
        ("items[2].id", vec![]),
        ("items[-3].id", vec![]),
        ("items.id", vec![]),
        ("nothing", vec![]),
    ];
    for (text, want) in table {
        let path = Locator::parse(text).unwrap();
        assert_eq!(path.find(&value), want.iter().collect::<Vec<_>>(), "{text}");
        assert_eq!(path.to_string(), text, "it is written as it is read");
    }
    for text in ["", "a.", "a[", "a[x]", "a b", "$.calls[0]", "a..b", "[\"x]"] {
        assert!(Locator::parse(text).is_err(), "{text}");
    }
}

#[test]
fn sources_name_a_call_and_a_value() {
    let source = Source::parse("$.calls[3].result.items[0].id").unwrap();
    assert_eq!((source.call, source.of_arguments), (3, false));
    assert_eq!(source.path.to_string(), "items[0].id");
    assert!(Source::parse("$.calls[0].args.contact_id").unwrap().of_arguments);
    assert!(Source::parse("$.calls[0].result").unwrap().path.0.is_empty());
    for text in ["$.calls[].result", "$.calls[-1].result.id", "$.calls[0].results.id", "calls[0]"] {
        assert!(Source::parse(text).is_err(), "{text}");
    }
}

#[test]
fn patterns_fit_what_they_say() {
    let given = json!({
        "name": "John  Smith", "amount": {"value": 5, "currency": "EUR"}, "tags": ["b", "a"],
        "lines": [{"sku": "P-1", "quantity": 2}], "email": null,
    });
    let table = [
        (json!({"amount": {"value": 5.0}}), true, "of an object the fields that are named"),
        (json!({"amount": {"value": 6}}), false, "another number"),
        (json!({"lines": [{"sku": "P-1"}]}), true, "items are partial too"),
        (json!({"lines": []}), false, "a list has as many items"),
        (json!({"tags": ["a", "b"]}), false, "the order of a list counts"),
        (json!({"tags": {"$items": ["a", "b"]}}), true, "unless it does not"),
        (json!({"tags": {"$items": ["a", "a"]}}), false, "each item serves once"),
        (json!({"tags": {"$has": "a"}}), true, "one item"),
        (json!({"name": "john smith"}), false, "to the letter"),
        (json!({"name": {"$text": "john smith"}}), true, "apart from case and spaces"),
        (json!({"name": {"$contains": "SMITH"}}), true, "a part"),
        (json!({"name": {"$regex": "^John"}}), true, "an expression"),
        (json!({"name": {"$any": ["x", {"$contains": "john"}]}}), true, "one of several"),
        (json!({"name": {"$not": "x"}}), true, "anything else"),
        (json!({"phone": {"$not": "x"}}), true, "also nothing"),
        (json!({"phone": {"$present": false}}), true, "absent"),
        (json!({"email": {"$present": false}}), true, "null is absent"),
        (json!({"email": null}), true, "null as it stands"),
        (json!({"amount": {"value": {"$number": 5.2, "$tolerance": 0.25}}}), true, "near"),
        (json!({"amount": {"value": {"$number": 5.2}}}), false, "not near"),
        (json!({"phone": "1"}), false, "missing"),
        (
            json!({"name": {"$all": [{"$contains": "smith"}, {"$not": {"$contains": "jane"}}]}}),
            true,
            "a part, and not another one",
        ),
        (
            json!({"name": {"$all": [{"$contains": "smith"}, {"$not": {"$contains": "john"}}]}}),
            false,
            "the other one is there",
        ),
        (json!({"$any": [{"phone": "1"}, {"tags": {"$has": "a"}}]}), true, "one of two arguments"),
        (json!({"$any": [{"phone": "1"}, {"tags": {"$has": "c"}}]}), false, "none of the two"),
        (
            json!({"name": {"$contains": "john"}, "$any": [{"phone": "1"}, {"email": null}]}),
            true,
            "beside a field",
        ),
        (
            json!({"name": {"$contains": "jane"}, "$any": [{"phone": "1"}, {"email": null}]}),
            false,
            "the field counts too",
        ),
        (json!({"$not": {"tags": {"$has": "a"}}}), false, "not with this argument"),
        (json!({"amount": {"currency": "EUR", "$not": {"value": 5}}}), false, "at any depth"),
    ];
    for (wanted, want, why) in table {
        let wanted = wanted.as_object().unwrap().clone();
        let difference = pattern::difference(&wanted, &given);
        assert_eq!(difference.is_none(), want, "{why}: {difference:?}");
    }
    let wanted = json!({"amount": {"value": 5, "currency": "GBP"}});
    let said = pattern::difference(wanted.as_object().unwrap(), &given).unwrap();
    assert_eq!(said, "`amount.currency` is \"EUR\", expected \"GBP\"");
    let wanted = json!({"$any": [{"phone": "1"}]});
    let said = pattern::difference(wanted.as_object().unwrap(), &json!({"name": "J"})).unwrap();
    assert_eq!(said, "`the call` is {\"name\":\"J\"}, expected {\"$any\":[{\"phone\":\"1\"}]}");
}

#[test]
fn operators_that_make_no_sense_are_told() {
    let table = [
        (json!({"$regex": "("}), "expected a regular expression"),
        (json!({"$contain": "x"}), "did you mean `$contains`?"),
        (json!({"$any": "x"}), "expected a list of patterns"),
        (json!({"$number": 1, "$tolerance": -1}), "`$tolerance` ≥ 0"),
        (json!({"$tolerance": 1}), "belongs to `$number`"),
        (json!({"$text": "a", "x": 1}), "stand alone"),
        (json!({"$all": {"x": 1}}), "expected a list of patterns"),
        (json!({"x": 1, "$any": [{"y": {"$regex": "("}}]}), "expected a regular expression"),
        (json!([{"$not": {"$regex": "["}}]), "expected a regular expression"),
    ];
    for (pattern, part) in table {
        let found = pattern::misuses(&pattern, "args_match.x");
        assert!(found.iter().any(|(_, problem)| problem.contains(part)), "{pattern}: {found:?}");
    }
    assert_eq!(pattern::misuses(&json!({"a": [{"$any": ["x", 1]}]}), ""), vec![]);
}

#[test]
fn an_end_names_who_failed_the_call() {
    let table = [
        ("ok", [true, false, false, false]),
        ("error", [false, true, true, true]),
        ("any", [true, true, true, true]),
        ("injected", [false, true, false, false]),
        ("refused", [false, false, true, false]),
        ("not-found", [false, false, false, true]),
        ("limit", [false, false, false, false]),
    ];
    let ends = [(None, false), (Some("failed"), true), (Some("refused"), false)];
    for (name, want) in table {
        let outcome: CallEnd = serde_json::from_value(json!(name)).unwrap();
        let got: Vec<bool> = ends
            .iter()
            .chain([&(Some("not-found"), false)])
            .map(|(error, injected)| outcome.admits(*error, *injected))
            .collect();
        assert_eq!(got, want, "{name}: works, injected, refused, not found");
        assert!(!name.contains('-') || outcome.code().is_some_and(|code| code.name() == name));
    }
    let faked = CallEnd::NotFound.admits(Some("not-found"), true);
    assert!(!faked, "an injected 404 is not the world's word");
}

#[test]
fn the_first_rule_that_fits_replies() {
    let asking: AskUser = serde_json::from_value(json!({
        "rules": [
            {"pattern": "which john|john (smith|doe)", "reply": "Smith"},
            {"pattern": "report", "reply": "The one of March"},
        ],
    }))
    .unwrap();
    assert_eq!(asking.reply("Which JOHN, and which report?"), (Some(0), "Smith"));
    assert_eq!(asking.reply("What report?"), (Some(1), "The one of March"));
    assert_eq!(asking.reply("What?"), (None, NO_REPLY));
}

#[test]
fn solutions_read_what_calls_returned() {
    use crate::solution::Results;
    let replayed: Replayed = serde_json::from_value(json!({
        "rounds": [
            [{"tool": "search", "args": {"query": "x"}}],
            [{"tool": "log", "args": {
                "id": "$.calls[0].result.items[0].id",
                "notes": "for {{ $.calls[0].result.items[0].name }}, twice {{ $.calls[0].result.total * 2 }}",
                "deep": [{"whole": "$.calls[0].result"}],
            }}],
        ],
        "answer": "Logged \"{{ $.calls[1].result.id }}\".",
    }))
    .unwrap();
    let solution = solution(&replayed).unwrap();
    let mut results = Results::default();
    let found = r#"{"total": 2, "items": [{"id": "C-1", "name": "O'Hara"}]}"#;
    results.succeeded("c0", found);
    let arguments =
        solution.rounds[1].calls[0].arguments(&results, camino::Utf8Path::new("")).unwrap();
    let want = json!({"id": "C-1", "notes": "for O'Hara, twice 4", "deep": [{"whole": found}]});
    assert_eq!(Value::Object(arguments), want);
    results.succeeded("c1", r#"{"id": "A-7"}"#);
    assert_eq!(solution.answer.evaluate(&results).unwrap(), "Logged \"A-7\".");
    results.failed("c1");
    assert!(solution.answer.evaluate(&results).is_err(), "a call that failed returned nothing");
}

#[test]
fn solutions_that_cannot_work_are_told() {
    let one = |args: Value, answer: &str| {
        let rounds = json!([[{"tool": "a"}], [{"tool": "b", "args": args}]]);
        let replayed = json!({"rounds": rounds, "answer": answer});
        solution(&serde_json::from_value(replayed).unwrap())
    };
    let table = [
        (json!({"x": "$.calls[1].result.id"}), "done", "earlier round"),
        (json!({"x": "see $.calls[0].result.id"}), "done", "stands in `{{ … }}`"),
        (json!({"x": "$.calls[0].result.items[*].id"}), "done", "names no one value"),
        (json!({"x": "{{ $.calls[0].result.id"}), "done", "has no `}}`"),
        (json!({"x": {"$expr": "c0"}}), "done", "has no meaning"),
        (json!({}), "{{ $.calls[5].result.id }}", "earlier round"),
        (json!({}), "{{ $.calls[0].result.id | | }}", ""),
    ];
    for (args, answer, part) in table {
        let faults = one(args.clone(), answer).unwrap_err();
        assert!(faults.iter().any(|(_, problem)| problem.contains(part)), "{args}: {faults:?}");
    }
    assert!(one(json!({"x": "plain"}), "It's {plain} text with 100 %").is_ok());
}

/// JSON values of some depth.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_i64..9).prop_map(Value::from),
        "[a-c]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_fits_itself_and_the_difference_agrees(a in value(), b in value()) {
        prop_assert!(pattern::fits(&a, Some(&a)));
        let wanted: Map<String, Value> = [("x".to_owned(), a.clone())].into_iter().collect();
        let said = pattern::difference(&wanted, &json!({"x": b}));
        prop_assert_eq!(said.is_none(), pattern::fits(&a, Some(&b)));
    }

    #[test]
    fn no_text_breaks_the_readers(text in "[$.a-z0-9\\[\\]{}\"*-]{0,20}") {
        let _ = Locator::parse(&text);
        let _ = Source::parse(&text);
        let replayed = Replayed { rounds: vec![], answer: text };
        let _ = solution(&replayed);
    }
}
