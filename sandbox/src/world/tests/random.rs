//! Whatever is called in whatever order: no invariant breaks, and nothing is half done.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::{Value, json};

use super::{Play, WorldError};

/// What must hold at all times: every stock is the sum of its moves, and is not negative;
/// every row that is named exists.
const INVARIANTS: [&str; 4] = [
    "SELECT NOT EXISTS (SELECT 1 FROM products AS p WHERE p.stock != \
     (SELECT sum(delta) FROM stock_moves AS m WHERE m.product_id = p.id))",
    "products[stock < 0].count == 0",
    "SELECT NOT EXISTS (SELECT 1 FROM orders WHERE id NOT IN (SELECT order_id FROM order_lines))",
    "SELECT NOT EXISTS (SELECT 1 FROM activities WHERE contact_id NOT IN (SELECT id FROM contacts))",
];

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("CON-acme0001")),
        Just(json!("ORD-old00001")),
        Just(json!("ORD-old00002")),
        Just(json!("call")),
        Just(json!("'; DROP TABLE orders; --")),
        Just(Value::Null),
        "\\PC{0,8}".prop_map(Value::from),
    ]
}

fn call() -> impl Strategy<Value = (bool, String, Value)> {
    let line = (0i64..6, -1i64..60)
        .prop_map(|(product, quantity)| json!({"product_id": product, "quantity": quantity}));
    let operation = prop_oneof![
        (text(), text())
            .prop_map(|(name, email)| ("create_contact", json!({"name": name, "email": email}))),
        (text(), text())
            .prop_map(|(id, kind)| ("log_activity", json!({"contact_id": id, "type": kind}))),
        prop::collection::vec(line, 1..4).prop_map(|lines| (
            "place_order",
            json!({"contact_id": "CON-lund0001", "lines": lines})
        )),
        text().prop_map(|id| ("cancel_order", json!({"order_id": id}))),
        text().prop_map(|id| ("ship_order", json!({"order_id": id}))),
        text().prop_map(|id| ("delete_contact", json!({"contact_id": id}))),
        text().prop_map(|text| ("find_contacts", json!({"text": text, "limit": text}))),
        text().prop_map(|sql| ("query_reports", json!({"sql": sql}))),
    ];
    (any::<bool>(), operation)
        .prop_map(|(beside, (name, arguments))| (beside, name.to_owned(), arguments))
}

/// A call: whether it comes in the round of the one before, its operation, its arguments.
type Step = (bool, String, Value);

/// How many sequences are tried; with `WILDGYM_BARS` as many as the bar asks for.
fn sequences() -> u32 {
    if std::env::var_os("WILDGYM_BARS").is_some() { 10_000 } else { 100 }
}

/// Plays a sequence, and shows that a call that was refused left nothing.
fn play(steps: &[Step]) -> Result<Play, TestCaseError> {
    let mut play = Play::new();
    let mut before = play.live.image().unwrap();
    for (beside, operation, arguments) in steps {
        let result = if *beside {
            play.beside(operation, arguments)
        } else {
            play.call(operation, arguments)
        };
        let after = play.live.image().unwrap();
        match result {
            Ok(_) => {}
            Err(WorldError::Refused(_)) => {
                prop_assert!(after == before, "{operation} left something");
            }
            Err(WorldError::Broken(why)) => {
                prop_assert!(false, "{operation} {arguments}: {why}");
            }
        }
        before = after;
    }
    Ok(play)
}

#[test]
fn no_sequence_breaks_an_invariant() {
    let (cases, calls) = (sequences(), Cell::new(0));
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let sequence = prop::collection::vec(call(), 1..12);
    let result = TestRunner::new(config).run(&sequence, |steps| {
        let mut first = play(&steps)?;
        calls.set(calls.get() + steps.len());
        let pair = first.pair();
        for invariant in INVARIANTS {
            let finding = pair.check(invariant).unwrap();
            prop_assert!(finding.holds, "{finding:?}");
        }
        let again = play(&steps)?.live.image().unwrap();
        prop_assert!(first.live.image().unwrap() == again, "one seed, other bytes");
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    println!("depot: {cases} sequences of {} calls, each twice, keep the invariants", calls.get());
}
