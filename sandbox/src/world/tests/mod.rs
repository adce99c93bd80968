//! What a user of a world relies on, shown on the example world `tests/worlds/depot/`.

mod broken;
mod hostile;
mod looking;
mod random;

use camino::Utf8PathBuf;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use wildgym_tasks::world::{Occurrence, Scene, World};

use super::{Blueprint, Call, Live, Pair, WorldError};
use crate::seed::Seed;

fn folder() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/worlds/depot")
}

fn blueprint() -> Blueprint {
    let world = World::load(&folder()).unwrap_or_else(|faults| panic!("{faults}"));
    Blueprint::build(world, 0).unwrap_or_else(|faults| panic!("{faults}"))
}

fn start() -> Timestamp {
    "2026-03-02T09:00:00Z".parse().unwrap()
}

fn scene() -> Scene {
    Scene { name: "depot".to_owned(), ..Scene::default() }
}

/// A world with the number of the next call and its round.
struct Play {
    blueprint: Blueprint,
    live: Live,
    number: u64,
    round: u64,
}

impl Play {
    fn with(scene: Scene) -> Self {
        let blueprint = blueprint();
        let live = blueprint.open(scene, start(), Seed::of_run(1)).unwrap();
        Self { blueprint, live, number: 0, round: 0 }
    }

    fn new() -> Self {
        Self::with(scene())
    }

    /// Calls in the same round as the call before.
    fn beside(&mut self, operation: &str, arguments: &Value) -> Result<Value, WorldError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        self.number += 1;
        let now = start() + SignedDuration::from_mins(i64::try_from(self.number).unwrap());
        let (number, round) = (self.number, self.round);
        self.live.call(&Call { operation, arguments: &arguments, round, number, now })
    }

    fn call(&mut self, operation: &str, arguments: &Value) -> Result<Value, WorldError> {
        self.round += 1;
        self.beside(operation, arguments)
    }

    fn refusal(&mut self, operation: &str, arguments: &Value) -> String {
        match self.call(operation, arguments) {
            Err(WorldError::Refused(refusal)) => refusal.to_string(),
            other => panic!("{operation} {arguments}: {other:?}"),
        }
    }

    fn pair(&mut self) -> Pair {
        let end = self.live.image().unwrap();
        Pair::open(self.blueprint.image(), &end, start()).unwrap()
    }
}

/// The scenario that seed suites are written in: create, then log with the real id.
#[test]
fn a_contact_is_created_and_a_call_is_logged() {
    let mut play = Play::new();
    let contact =
        play.call("create_contact", &json!({"name": "John Smith", "company": "Acme"})).unwrap();
    assert_eq!(contact["created_at"], "2026-03-02 09:01:00", "the logical clock is read");
    assert_eq!(contact["email"], Value::Null);
    let activity = json!({"contact_id": contact["id"], "type": "call", "note": "renewal pricing"});
    play.call("log_activity", &activity).unwrap();
    let pair = play.pair();
    let table = [
        ("contacts.count == baseline + 1", None),
        ("activities[-1].contact_id == contacts[-1].id", None),
        ("activities.count == baseline + 1 and orders.count == baseline", None),
        ("contacts[name == \"John Smith\"].count == 3", None),
        ("contacts[-1].company in [\"Acme\", \"ACME\"]", None),
        ("products.sum(stock) == baseline", None),
        ("not contacts[-1].email != null", None),
        ("SELECT count(*) = (SELECT count(*) FROM start.contacts) + 1 FROM contacts", None),
        (
            "contacts.count == baseline + 2",
            Some("`contacts.count` is 24, expected == 25 (`(baseline + 2)`)"),
        ),
        ("activities[5].type == \"call\"", Some("`activities[5].type`: there is no such row")),
        (
            "activities[-1].type == baseline",
            Some("at the start, `activities[-1].type`: there is no such row"),
        ),
        (
            "activities[-1].type == \"mail\"",
            Some("`activities[-1].type` is \"call\", expected == \"mail\""),
        ),
        ("SELECT count(*) FROM contacts WHERE name = 'x'", Some("it gives 0")),
    ];
    for (assertion, want) in table {
        let finding = pair.check(assertion).unwrap();
        assert_eq!(
            (finding.holds, finding.reason.as_deref()),
            (want.is_none(), want),
            "{assertion}"
        );
    }
    let wrong = pair.check("contacts[-1].nmae == 1").unwrap_err();
    assert!(wrong.contains("nmae"), "{wrong}");
    assert!(pair.check("DELETE FROM contacts").is_err(), "no assertion can change a state");
    assert!(pair.check("WITH x AS (SELECT 1) DELETE FROM contacts").is_err());
}

#[test]
fn a_refusal_says_what_to_do_and_leaves_every_byte() {
    let mut play = Play::new();
    let line = |product: i64, quantity: i64| json!([{"product_id": product, "quantity": quantity}]);
    let order = |lines: Value| json!({"contact_id": "CON-acme0001", "lines": lines});
    let table = [
        (
            "place_order",
            json!({"contact_id": "contact_12345", "lines": line(1, 1)}),
            "there is no contact `contact_12345`; look for it with `find_contacts` (not-found)",
        ),
        ("place_order", order(line(77, 1)), "there is no product 77 (not-found)"),
        (
            "place_order",
            order(line(3, 4)),
            "there is not enough in stock; look at `find_products` (refused)",
        ),
        (
            "place_order",
            order(line(1, 0)),
            "the state would break the rule `at_least_one` (refused)",
        ),
        (
            "place_order",
            order(json!([{"product_id": 1, "quantity": 1}, {"product_id": 1, "quantity": 2}])),
            "there is already a row of `order_lines` with the same `order_id` and `product_id`; \
          look it up, or use another value (duplicate)",
        ),
        (
            "create_contact",
            json!({"name": "J", "email": "john@acme.example"}),
            "there is already a row of `contacts` with the same `email`; look it up, or use another \
          value (duplicate)",
        ),
        ("create_contact", json!({}), "`name` of `contacts` must be given (invalid)"),
        (
            "log_activity",
            json!({"contact_id": "CON-nobody", "type": "call"}),
            "a row of `activities` would name a row of `contacts` that does not exist; look up the id \
          in `contacts`, or deal with the rows of `activities` first (not-found)",
        ),
        (
            "delete_contact",
            json!({"contact_id": "CON-acme0001"}),
            "Tarik Bello may not delete contacts; a manager may (forbidden)",
        ),
        (
            "cancel_order",
            json!({"order_id": "ORD-old00001"}),
            "the order was shipped; its state is final (refused)",
        ),
    ];
    let before = play.live.image().unwrap();
    for (operation, arguments, want) in table {
        assert_eq!(play.refusal(operation, &arguments), want);
        assert!(play.live.image().unwrap() == before, "{operation} {arguments} left something");
    }
    assert!(play.refusal("create_contract", &json!({})).contains("`create_contact`"));
}

#[test]
fn results_are_json() {
    let mut play = Play::new();
    let lines = json!([{"product_id": 2, "quantity": 3}, {"product_id": 1, "quantity": 1}]);
    let order =
        play.call("place_order", &json!({"contact_id": "CON-lund0001", "lines": lines})).unwrap();
    assert_eq!(order["lines"].as_array().map(Vec::len), Some(2));
    assert_eq!(order["state"], "open");
    let found = play.call("find_contacts", &json!({"text": "lund"})).unwrap();
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found[0]["reachable"], false);
    let first = play.call("find_contacts", &json!({"text": "person"})).unwrap();
    assert_eq!(first.as_array().map(Vec::len), Some(10), "the default limit is filled in");
    assert_eq!(play.call("ship_order", &json!({"order_id": order["id"]})).unwrap(), "shipped");
}

#[test]
fn a_manager_of_the_scene_may_delete_what_nothing_refers_to() {
    let context: Map<String, Value> = [("user_id".to_owned(), json!(1))].into_iter().collect();
    let mut play = Play::with(Scene { context, ..scene() });
    let refused = play.refusal("delete_contact", &json!({"contact_id": "CON-acme0001"}));
    assert!(refused.starts_with("a row of `orders` would name a row of `contacts`"), "{refused}");
    play.call("delete_contact", &json!({"contact_id": "CON-acme0002"})).unwrap();
    let shown = play.pair().difference().unwrap().to_string();
    let want = "contacts: 0 added, 1 removed, 0 changed\n  - id \"CON-acme0002\", \
                name \"John Smith\", company \"Acme Robotics\", email \"smith@robotics.example\", \
                created_at \"2026-03-02 08:00:00\"";
    assert_eq!(shown, want);
}

#[test]
fn a_difference_names_rows_and_columns() {
    let mut play = Play::new();
    assert_eq!(play.pair().difference().unwrap().to_string(), "nothing differs");
    play.call("cancel_order", &json!({"order_id": "ORD-old00002"})).unwrap();
    let shown = play.pair().difference().unwrap().to_string();
    let want = "orders: 0 added, 0 removed, 1 changed\n  ~ id \"ORD-old00002\": state \"open\" → \
                \"cancelled\";\nproducts: 0 added, 0 removed, 1 changed\n  ~ id 3: stock 3 → 4;\n\
                stock_moves: 1 added, 0 removed, 0 changed\n  + id 5, product_id 3, delta 1, \
                reason \"cancelled\"";
    assert_eq!(shown, want);
}

#[test]
fn one_seed_and_one_sequence_give_one_state() {
    let run = |seed: u64| {
        let mut live = blueprint().open(scene(), start(), Seed::of_run(seed)).unwrap();
        let arguments = json!({"name": "Ada"}).as_object().cloned().unwrap();
        let ids: Vec<Value> = (1..4)
            .map(|number| {
                let operation = "create_contact";
                let call =
                    Call { operation, arguments: &arguments, round: number, number, now: start() };
                live.call(&call).unwrap()["id"].clone()
            })
            .collect();
        (ids, live.image().unwrap())
    };
    let (ids, image) = run(7);
    assert!(run(7) == (ids.clone(), image), "the same to the byte");
    assert_ne!(run(8).0, ids, "another seed gives other ids");
    let text = ids[0].as_str().unwrap();
    assert!(text.starts_with("CON-") && text.len() == 12, "{text}");
    assert!(blueprint().image() == blueprint().image(), "filling is the same to the byte");
}

/// Two operations that exclude each other come in one round: the second is told so, and
/// may be called again in the next.
#[test]
fn conflicting_calls_of_one_round_are_told_so() {
    let mut play = Play::new();
    let order = json!({"order_id": "ORD-old00002"});
    play.call("cancel_order", &order).unwrap();
    let Err(WorldError::Refused(refusal)) = play.beside("ship_order", &order) else {
        panic!("it was done");
    };
    let want = "`ship_order` cannot be done in the same round as `cancel_order` with the same \
                `order_id`, which was done; look at its result first, then call again (conflict)";
    assert_eq!(refusal.to_string(), want);
    let next = play.refusal("ship_order", &order);
    assert_eq!(next, "the order is cancelled, and only an open one is shipped (refused)");
    let mut play = Play::new();
    play.call("ship_order", &order).unwrap();
    let other = play.beside("cancel_order", &json!({"order_id": "ORD-old00001"}));
    let Err(WorldError::Refused(refusal)) = other else { panic!("it was done") };
    assert!(!refusal.to_string().contains("round"), "another order is no conflict: {refusal}");
}

fn occurrence(event: &str) -> Occurrence {
    Occurrence { event: event.to_owned(), ..Occurrence::default() }
}

#[test]
fn events_happen_between_calls_and_are_recorded() {
    let delivered = json!({"product_id": 4, "quantity": 10}).as_object().cloned().unwrap();
    let at = start() + SignedDuration::from_secs(90);
    let events = vec![
        Occurrence { after_calls: Some(3), ..occurrence("theft") },
        Occurrence {
            when: Some("SELECT count(*) > 0 FROM activities".to_owned()),
            ..occurrence("hold")
        },
        Occurrence { at: Some(at), arguments: delivered, ..occurrence("delivery") },
        Occurrence { percent: Some(100), times: Some(2), ..occurrence("hold") },
    ];
    let mut play = Play::with(Scene { events, ..scene() });
    let stock = |found: &Value| found[3]["stock"].clone();
    assert_eq!(stock(&play.call("find_products", &json!({})).unwrap()), 0);
    assert_eq!(stock(&play.call("find_products", &json!({})).unwrap()), 10, "90 s have passed");
    let activity = json!({"contact_id": "CON-acme0001", "type": "call"});
    play.call("log_activity", &activity).unwrap();
    play.live.happen(start() + SignedDuration::from_hours(1)).unwrap();
    play.live.happen(start() + SignedDuration::from_hours(1)).unwrap();
    let happened: Vec<_> = play
        .live
        .happened()
        .iter()
        .map(|one| (one.event.as_str(), one.occurrence, one.after_calls, one.failed.is_some()))
        .collect();
    let want = [
        ("hold", 3, 0, false),
        ("delivery", 2, 1, false),
        ("hold", 3, 1, false),
        ("theft", 0, 3, true),
        ("hold", 1, 3, false),
    ];
    assert_eq!(happened, want);
    assert_eq!(play.live.happened()[1].at, at, "at its own time");
    let pair = play.pair();
    assert!(pair.check("stock_moves[reason == 'theft'].count == 0").unwrap().holds, "taken back");
    assert!(pair.check("orders[state == 'open'].count == 0").unwrap().holds);
}

#[test]
fn chances_of_events_come_from_the_seed() {
    let run = |seed: u64| {
        let events = vec![Occurrence { percent: Some(30), times: Some(9), ..occurrence("hold") }];
        let scene = Scene { events, ..scene() };
        let mut live = blueprint().open(scene, start(), Seed::of_run(seed)).unwrap();
        let arguments = Map::new();
        for number in 0..40 {
            let call = Call {
                operation: "find_products",
                arguments: &arguments,
                round: number,
                number,
                now: start(),
            };
            live.call(&call).unwrap();
        }
        live.happened().iter().map(|one| one.after_calls).collect::<Vec<_>>()
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
    assert!((2..=9).contains(&run(3).len()), "{:?}", run(3));
}

#[test]
fn a_scene_gives_some_operations_and_is_checked() {
    let operations = Some(vec!["find_*".to_owned()]);
    let play = Play::with(Scene { operations, ..scene() });
    let names: Vec<_> = play.live.operations().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names, ["find_contacts", "find_products"]);
    let scene = Scene {
        name: "depott".to_owned(),
        operations: Some(vec!["place_oder".to_owned()]),
        context: json!({"user": 1}).as_object().cloned().unwrap(),
        events: vec![
            Occurrence { percent: Some(0), ..occurrence("delivry") },
            Occurrence { when: Some("SELECT stok FROM products".to_owned()), ..occurrence("hold") },
            occurrence("hold"),
        ],
        ..Scene::default()
    };
    let found: Vec<String> = play
        .blueprint
        .misfits(&scene)
        .into_iter()
        .map(|(at, why)| format!("{at}: {why}"))
        .collect();
    let want = [
        "name: expected `depot`, found `depott`",
        "context.user: unknown value of the context; expected one of `user_id`",
        "operations[0]: `place_oder`: unknown operation; did you mean `place_order`?",
        "event[0].event: `delivry`: unknown event; did you mean `delivery`?",
        "event[0].percent: expected a whole number from 1 to 100",
        "event[2].event: expected exactly one of `at`, `after_calls`, `when`, `percent`",
        "event[1].when: no such column: stok",
    ];
    assert_eq!(found, want);
}

/// Hundreds of attempts at once see nothing of each other.
#[test]
fn worlds_live_side_by_side() {
    fn is_send<T: Send>(_: &T) {}
    let blueprint = blueprint();
    let mut worlds: Vec<Live> = (0..200)
        .map(|seed| blueprint.open(scene(), start(), Seed::of_run(seed)).unwrap())
        .collect();
    let arguments = json!({"name": "Ada", "email": "ada@example.org"});
    let arguments = arguments.as_object().unwrap();
    for live in &mut worlds {
        let operation = "create_contact";
        let call = Call { operation, arguments, round: 1, number: 1, now: start() };
        live.call(&call).unwrap();
    }
    is_send(&worlds);
}

/// An attempt that only looks reads the image that all share; one that may change something
/// has a copy from then on, and goes on as if it had had it from the start.
#[test]
fn a_state_is_copied_before_it_is_changed() {
    let mut play = Play::new();
    let other = play.blueprint.open(scene(), start(), Seed::of_run(2)).unwrap();
    let list = json!({});
    let before = play.call("find_products", &list).unwrap();
    assert!(!play.live.owned, "to look takes no copy");
    assert!(std::ptr::eq(play.live.start(), play.blueprint.image()), "it lies elsewhere");
    play.call("create_contact", &json!({"name": "Ada Stone"})).unwrap();
    assert!(play.live.owned);
    assert_eq!(play.call("find_products", &list).unwrap(), before);
    let difference = play.pair().difference().unwrap();
    assert!(difference.to_string().contains("Ada Stone"), "{difference}");
    let mut worlds = [other, play.blueprint.open(scene(), start(), Seed::of_run(3)).unwrap()];
    for live in &mut worlds {
        assert!(live.image().unwrap() == play.blueprint.image(), "one attempt saw another");
    }
}

/// What an operation that was called before costs is running its statements: none of them is
/// compiled anew, whatever is bound.
#[test]
fn statements_are_compiled_once() {
    let mut play = Play::new();
    let order = |quantity: i64| json!({"contact_id": "CON-acme0001", "lines": [{"product_id": 1, "quantity": quantity}]});
    for quantity in 1..6 {
        play.call("place_order", &order(quantity)).unwrap();
    }
    let operation = &play.blueprint.world().operations["place_order"];
    let conditions = operation.preconditions.iter().map(|condition| &condition.sql);
    for sql in conditions.chain(&operation.effects).chain(&operation.result) {
        let statement = play.live.connection.prepare_cached(sql).unwrap();
        let status = |status| statement.get_status(status);
        assert_eq!(status(rusqlite::StatementStatus::RePrepare), 0, "{sql}");
        assert!(status(rusqlite::StatementStatus::Run) >= 5, "{sql}: it was not kept");
    }
}

/// A row that names nothing for a while is no fault: what an operation leaves counts.
#[test]
fn references_are_checked_as_operations_end() {
    let mut world = World::load(&folder()).unwrap();
    let operation = world.operations.get_mut("log_activity").unwrap();
    operation.effects.push(
        "INSERT OR IGNORE INTO contacts (id, name) VALUES (:contact_id, new_id('X'))".to_owned(),
    );
    let blueprint = Blueprint::build(world, 0).unwrap();
    let live = blueprint.open(scene(), start(), Seed::of_run(1)).unwrap();
    let mut play = Play { blueprint, live, number: 0, round: 0 };
    let activity = json!({"contact_id": "CON-later001", "type": "call"});
    play.call("log_activity", &activity).unwrap();
    let pair = play.pair();
    for assertion in ["contacts.count == baseline + 1", "contacts[-1].id == \"CON-later001\""] {
        assert!(pair.check(assertion).unwrap().holds, "{assertion}");
    }
}

/// Views of `views.sql` can be read by operations and agents, and are no part of the state.
#[test]
fn views_beside_the_state_are_made_when_they_are_named() {
    let mut world = World::load(&folder()).unwrap();
    world.views = Some(wildgym_tasks::world::Script {
        file: "views.sql".into(),
        text: "-- Two.\nCREATE TEMP VIEW low AS SELECT * FROM base WHERE stock < 50;\n\
               CREATE TEMP VIEW base AS SELECT name, stock FROM products;\n"
            .to_owned(),
    });
    world.meta.views.push("low".to_owned());
    let operation = world.operations.get_mut("create_contact").unwrap();
    operation.result = Some("SELECT count(*) AS low FROM low".to_owned());
    let blueprint = Blueprint::build(world.clone(), 0).unwrap_or_else(|faults| panic!("{faults}"));
    let live = blueprint.open(scene(), start(), Seed::of_run(1)).unwrap();
    let mut play = Play { blueprint, live, number: 0, round: 0 };
    let rows = play.call("query_reports", &json!({"sql": "SELECT count(*) FROM low"})).unwrap();
    assert_eq!(rows["rows"], json!([[3]]));
    assert_eq!(play.call("create_contact", &json!({"name": "A"})).unwrap()["low"], 3);
    let image = play.live.image().unwrap();
    let look = super::Look::open(&image, start()).unwrap();
    let names: Vec<_> = look.relations().unwrap().into_iter().map(|one| one.name).collect();
    assert!(!names.contains(&"low".to_owned()), "{names:?}");
    let table = [
        ("CREATE VIEW low AS SELECT 1", "expected `CREATE TEMP VIEW name AS SELECT …`"),
        ("CREATE TEMP VIEW low AS SELECT nmae FROM products", "`low`: no such column: nmae"),
        ("CREATE TEMP VIEW orders AS SELECT 1", "`orders`: schema.sql has something of that name"),
        ("CREATE TEMP VIEW low AS SELECT random()", "the function `random` is not allowed here"),
    ];
    for (text, want) in table {
        text.clone_into(&mut world.views.as_mut().unwrap().text);
        let faults = Blueprint::build(world.clone(), 0).unwrap_err().to_string();
        assert!(faults.contains(want) && faults.contains("views.sql"), "{text}: {faults}");
    }
}
