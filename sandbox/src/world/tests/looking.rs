//! What lies around calls: files that are kept, states that go on, states that are read.

use super::*;
use crate::world::Look;

/// An operation that writes a file and notes that it did, in the example world.
fn with_export() -> Blueprint {
    let mut world = World::load(&folder()).unwrap_or_else(|faults| panic!("{faults}"));
    let operation = json!({
        "name": "save",
        "category": "data",
        "description": "Save the stock.",
        "effects": ["INSERT INTO stock_moves (product_id, delta, reason) VALUES (:product, 0, 'saved')"],
        "result": "SELECT 'stock.txt' AS path, group_concat(stock) AS content FROM products",
        "shape": "row",
        "export": {"path": "path", "content": "content"},
        "parameters": {"properties": {"path": {"type": "string"}, "product": {"type": "integer"}}},
    });
    world.operations.insert("save".to_owned(), serde_json::from_value(operation).unwrap());
    Blueprint::build(world, 0).unwrap_or_else(|faults| panic!("{faults}"))
}

/// A file is kept before anything is committed: where it cannot be, nothing was done, and
/// where nothing can be done, no file is kept.
#[test]
fn a_file_and_its_operation_are_one() {
    let blueprint = with_export();
    let mut live = blueprint.open(scene(), start(), Seed::of_run(1)).unwrap();
    let mut kept = Vec::new();
    let mut save = |product: u64, room: bool| {
        let given = json!({"path": "a/stock.txt", "product": product});
        let arguments = given.as_object().unwrap();
        let call = Call { operation: "save", arguments, round: 0, number: 1, now: start() };
        let done = live.call_keeping(&call, &mut |file| {
            kept.push(file.path.clone());
            if room { Ok(()) } else { Err("there is no room for it".to_owned()) }
        });
        (done.map_err(|error| error.to_string()), live.image().unwrap() == blueprint.image())
    };
    let refused = Err("there is no room for it (invalid)".to_owned());
    assert_eq!(save(1, false), (refused, true), "a file that cannot be kept takes all back");
    let (missing, unchanged) = save(99, true);
    assert!(missing.unwrap_err().contains("does not exist") && unchanged, "there is no product 99");
    assert_eq!(save(1, true), (Ok(json!({"path": "stock.txt"})), false));
    assert_eq!(kept, ["a/stock.txt", "a/stock.txt"], "none of an operation that cannot be done");
}

/// Calls of one round may conflict; one that stands by itself conflicts with none.
#[test]
fn a_call_by_itself_conflicts_with_nothing() {
    let mut play = Play::new();
    let order = json!({"order_id": "ORD-old00002"});
    play.round = 5;
    play.beside("ship_order", &order).unwrap();
    play.round = 0;
    let refusal = play.beside("cancel_order", &order).unwrap_err().to_string();
    assert!(refusal.contains("its state is final"), "not the conflict: {refusal}");
    play.round = 5;
    let refusal = play.beside("cancel_order", &order).unwrap_err().to_string();
    assert!(refusal.contains("(conflict)"), "the round goes on: {refusal}");
}

/// What happened is told once, and all of it stays to be read.
#[test]
fn what_happened_is_taken_once() {
    let occurrence = |calls| Occurrence {
        event: "hold".to_owned(),
        after_calls: Some(calls),
        ..Occurrence::default()
    };
    let mut play = Play::with(Scene { events: vec![occurrence(0), occurrence(1)], ..scene() });
    for _ in 0..2 {
        play.call("find_products", &json!({})).unwrap();
        assert_eq!(play.live.take_happened().len(), 1);
    }
    assert_eq!((play.live.take_happened().len(), play.live.happened().len()), (0, 2));
}

#[test]
fn a_state_goes_on_in_its_own_world_only() {
    let mut play = Play::new();
    play.call("create_contact", &json!({"name": "Ada Stone"})).unwrap();
    let end = play.live.image().unwrap();
    let on = play.blueprint.from_state(&end).unwrap();
    let mut live = on.open(scene(), start(), Seed::of_run(2)).unwrap();
    let image = live.image().unwrap();
    assert_eq!((live.start(), &image), (&end[..], &end));
    let mut other = World::load(&folder()).unwrap();
    other.schema.text.push_str("CREATE TABLE more (x TEXT) STRICT;");
    let other = Blueprint::build(other, 0).unwrap();
    let error = other.from_state(&end).unwrap_err().to_string();
    assert!(error.contains("another version of `depot`"), "{error}");
    let error = other.from_state(b"SQLite format 3\0 and no more").unwrap_err();
    assert!(matches!(error, WorldError::Broken(_)), "{error}");
}

#[test]
fn a_state_is_read_and_never_changed() {
    let blueprint = blueprint();
    let look = Look::open(blueprint.image(), start()).unwrap();
    let relations = look.relations().unwrap();
    let of = |name: &str| relations.iter().find(|one| one.name == name).unwrap();
    assert_eq!((of("users").rows, of("users").view), (2, false));
    assert_eq!((of("stock_report").rows, of("stock_report").view), (4, true));
    assert_eq!(of("users").columns[0], ("id".to_owned(), "INTEGER".to_owned()));
    let asked = look.query("SELECT id FROM products ORDER BY id", 3).unwrap();
    assert_eq!((asked.rows.len(), asked.more), (3, true));
    assert_eq!(look.query("SELECT datetime('now')", 1).unwrap().rows[0][0], "2026-03-02 09:00:00");
    for (sql, says) in [
        ("DELETE FROM users", "not allowed"),
        ("UPDATE users SET role = 'clerk' RETURNING id", "not allowed"),
        ("CREATE TABLE x (y)", "not allowed"),
        ("ATTACH 'other' AS o", "not allowed"),
        ("PRAGMA user_version = 3", "not allowed"),
        ("BEGIN", "not allowed"),
        ("SELECT load_extension('x')", "not"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("", "no statement"),
        ("SELECT nowhere", "no such column"),
    ] {
        let error = look.query(sql, 1).unwrap_err();
        assert!(error.contains(says), "{sql}: {error}");
    }
    assert!(Look::open(b"no database", start()).is_err());
}
