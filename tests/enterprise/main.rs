//! The world `enterprise`: what whoever writes scenarios over it relies on.
//!
//! `good.json` and `refused.json` hold calls on the state at the start: what each
//! operation gives back, and in which words it refuses. A row of `refused.json` needs a
//! part of the message only.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod hostile;
mod random;
mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use camino::Utf8PathBuf;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wildgym_sandbox::Seed;
use wildgym_sandbox::world::{Blueprint, Call, Live, Pair, Refusal, WorldError};
use wildgym_tasks::World;
use wildgym_tasks::world::{Code, Occurrence, Scene};

/// What holds whatever is done.
const INVARIANTS: [&str; 16] = [
    "stock[on_hand < 0 or reserved < 0 or reserved > on_hand].count == 0",
    "SELECT NOT EXISTS (SELECT 1 FROM stock AS s WHERE s.on_hand != (SELECT sum(m.delta) FROM \
     stock_moves AS m WHERE m.product_id = s.product_id AND m.warehouse = s.warehouse))",
    "SELECT NOT EXISTS (SELECT 1 FROM stock AS s WHERE s.reserved != (SELECT \
     coalesce(sum(l.quantity - l.shipped), 0) FROM order_lines AS l JOIN orders AS o ON o.id = \
     l.order_id WHERE l.product_id = s.product_id AND o.warehouse = s.warehouse AND o.status IN \
     ('confirmed', 'on_hold', 'part_shipped')))",
    "SELECT NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.total_cents IS NOT (SELECT \
     sum(l.total_cents) FROM order_lines AS l WHERE l.order_id = o.id))",
    "SELECT NOT EXISTS (SELECT 1 FROM purchase_orders AS o WHERE o.total_cents IS NOT (SELECT \
     sum(l.total_cents) FROM purchase_lines AS l WHERE l.purchase_id = o.id))",
    "SELECT NOT EXISTS (SELECT 1 FROM orders AS o WHERE (o.status = 'shipped') != NOT EXISTS \
     (SELECT 1 FROM order_lines AS l WHERE l.order_id = o.id AND l.shipped < l.quantity))",
    "SELECT NOT EXISTS (SELECT 1 FROM order_lines AS l JOIN orders AS o ON o.id = l.order_id \
     WHERE l.shipped > 0 AND o.status NOT IN ('shipped', 'part_shipped'))",
    "SELECT NOT EXISTS (SELECT 1 FROM ledger_entries GROUP BY source_id HAVING \
     sum(debit_cents) != sum(credit_cents))",
    "SELECT NOT EXISTS (SELECT 1 FROM invoices AS i WHERE i.paid_cents != (SELECT \
     coalesce(sum(p.amount_cents), 0) FROM payments AS p WHERE p.invoice_id = i.id AND \
     p.status = 'posted') OR (i.status = 'paid') != (i.paid_cents = i.total_cents))",
    "SELECT (SELECT sum(debit_cents - credit_cents) FROM ledger_entries WHERE account = \
     '1200 receivables') = (SELECT sum(total_eur_cents) FROM invoices) - (SELECT \
     sum(amount_eur_cents) FROM payments WHERE status = 'posted')",
    "SELECT NOT EXISTS (SELECT 1 FROM invoices AS i WHERE i.status = 'paid' AND \
     i.total_eur_cents != (SELECT sum(p.amount_eur_cents) FROM payments AS p WHERE \
     p.invoice_id = i.id AND p.status = 'posted'))",
    "SELECT NOT EXISTS (SELECT 1 FROM invoices GROUP BY order_id HAVING count(*) > 1)",
    "SELECT NOT EXISTS (SELECT 1 FROM approvals WHERE decided_by = requested_by)",
    "SELECT NOT EXISTS (SELECT 1 FROM approvals AS a JOIN orders AS o ON o.id = a.entity_id \
     WHERE (a.status = 'pending') != (o.status = 'pending_approval'))",
    "SELECT NOT EXISTS (SELECT 1 FROM deals WHERE (stage IN ('won', 'lost')) != (closed_at IS \
     NOT NULL))",
    "SELECT count(*) > 0 FROM users WHERE role = 'admin' AND active",
];

/// A call on the state at the start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    call: String,
    user: Option<String>,
    arguments: Value,
    /// Values of the result by JSON pointer; `null` also where there is nothing.
    #[serde(default)]
    gives: BTreeMap<String, Value>,
    /// A part of the refusal.
    #[serde(default)]
    says: String,
    why: String,
    /// What is done before.
    #[serde(default)]
    before: Vec<Before>,
}

/// A call that prepares another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Before {
    call: String,
    user: Option<String>,
    arguments: Value,
}

fn cases(text: &str) -> Vec<Case> {
    serde_json::from_str(text).unwrap()
}

static GOOD: LazyLock<Vec<Case>> = LazyLock::new(|| cases(include_str!("good.json")));
static REFUSED: LazyLock<Vec<Case>> = LazyLock::new(|| cases(include_str!("refused.json")));
static BLUEPRINT: LazyLock<Blueprint> = LazyLock::new(|| build(0));

fn folder() -> Utf8PathBuf {
    let root = Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tasks/suites/enterprise/worlds/enterprise")
}

fn build(seed: u64) -> Blueprint {
    let world = World::load(&folder()).unwrap_or_else(|faults| panic!("{faults}"));
    Blueprint::build(world, seed).unwrap_or_else(|faults| panic!("{faults}"))
}

fn now() -> Timestamp {
    "2026-03-16T08:30:00Z".parse().unwrap()
}

fn scene(user: Option<&str>) -> Scene {
    let context = user.map(|user| ("user_id".to_owned(), json!(user))).into_iter().collect();
    Scene { name: "enterprise".to_owned(), context, ..Scene::default() }
}

/// A copy of the state in which calls follow each other.
struct Play {
    live: Live,
    number: u64,
    round: u64,
}

impl Play {
    fn new(scene: Scene) -> Self {
        let live = BLUEPRINT.open(scene, now(), Seed::of_run(1)).unwrap();
        Self { live, number: 0, round: 0 }
    }

    /// Calls in the same round as the call before.
    fn beside(&mut self, operation: &str, arguments: &Value) -> Result<Value, WorldError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        self.number += 1;
        let (number, round) = (self.number, self.round);
        let now = now() + SignedDuration::from_mins(i64::try_from(number).unwrap());
        self.live.call(&Call { operation, arguments: &arguments, round, number, now })
    }

    fn call(&mut self, operation: &str, arguments: &Value) -> Result<Value, WorldError> {
        self.round += 1;
        self.beside(operation, arguments)
    }

    fn refusal(&mut self, operation: &str, arguments: &Value) -> Refusal {
        match self.call(operation, arguments) {
            Err(WorldError::Refused(refusal)) => refusal,
            other => panic!("{operation} {arguments}: {other:?}"),
        }
    }

    fn pair(&mut self) -> Pair {
        let end = self.live.image().unwrap();
        Pair::open(BLUEPRINT.image(), &end, now()).unwrap()
    }

    fn holds(&mut self, assertion: &str) -> bool {
        self.pair().check(assertion).unwrap().holds
    }
}

/// Plays a case up to its own call; everything of it is done by one user.
fn prepared(case: &Case) -> Play {
    let mut play = Play::new(scene(case.user.as_deref()));
    for before in &case.before {
        assert_eq!(before.user, case.user, "{}: the user before is another one", case.call);
        play.call(&before.call, &before.arguments).unwrap();
    }
    play
}

#[test]
fn there_are_43_operations_in_the_categories_of_the_seed() {
    let world = BLUEPRINT.world();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for operation in world.operations.values() {
        *counts.entry(&operation.category).or_default() += 1;
        assert!(operation.description.len() > 60, "{} is described thinly", operation.name);
        let schema = Value::Object(operation.schema());
        jsonschema::validator_for(&schema).unwrap_or_else(|error| {
            panic!("{}: {error}", operation.name);
        });
    }
    let want = [("admin", 7), ("communication", 6), ("crm", 8), ("data", 8), ("erp", 7)];
    let want: BTreeMap<&str, usize> = want.into_iter().chain([("utility", 7)]).collect();
    assert_eq!(counts, want);
}

#[test]
fn every_operation_works_and_says_what_it_did() {
    for case in GOOD.iter() {
        let operation = &BLUEPRINT.world().operations[&case.call];
        let schema = Value::Object(operation.schema());
        let validator = jsonschema::validator_for(&schema).unwrap();
        if let Err(error) = validator.validate(&case.arguments) {
            panic!("{} {}: {error}", case.call, case.arguments);
        }
        let mut play = prepared(case);
        let result = play.call(&case.call, &case.arguments);
        let result = result.unwrap_or_else(|error| panic!("{} {}: {error}", case.call, case.why));
        for (pointer, want) in &case.gives {
            let got = result.pointer(pointer).unwrap_or(&Value::Null);
            assert_eq!(got, want, "{} {pointer} ({}): {result}", case.call, case.why);
        }
        let trial = case.call == "data_bulk_update" && case.arguments["dry_run"] != json!(false);
        if operation.writes() && !trial {
            assert!(play.holds("audit_log.count > baseline"), "{} left no trace", case.call);
        } else {
            assert!(play.live.image().unwrap() == BLUEPRINT.image(), "{} wrote", case.call);
        }
    }
}

#[test]
fn every_operation_refuses_in_words_that_help() {
    for case in REFUSED.iter() {
        let mut play = prepared(case);
        let before = play.live.image().unwrap();
        let refusal = play.refusal(&case.call, &case.arguments);
        let message = &refusal.message;
        assert!(message.contains(&case.says), "{} ({}): {message}", case.call, case.why);
        assert!(play.live.image().unwrap() == before, "{}: it left something", case.call);
        for word in ["SELECT", "constraint", "failed:", "NULL"] {
            let sql = case.call == "data_query" && word == "SELECT";
            assert!(sql || !message.contains(word), "{}: {message}", case.call);
        }
    }
}

#[test]
fn no_operation_is_missing_in_the_tables() {
    for name in BLUEPRINT.world().operations.keys() {
        let count = |cases: &[Case]| cases.iter().filter(|case| case.call == *name).count();
        assert!(count(&GOOD) >= 1, "{name}: no call that works");
        assert!(count(&REFUSED) >= 2, "{name}: {} calls that are refused", count(&REFUSED));
    }
}

/// The scenario that the seed suite publishes.
#[test]
fn a_contact_is_created_and_a_call_is_logged() {
    let mut play = Play::new(scene(None));
    let contact =
        play.call("crm_create_contact", &json!({"name": "John Smith", "company": "Acme"})).unwrap();
    let activity = json!({"contact_id": contact["id"], "type": "call", "notes": "renewal pricing"});
    play.call("crm_log_activity", &activity).unwrap();
    assert!(play.holds("contacts.count == baseline + 1"));
    assert!(play.holds("activities[-1].contact_id == contacts[-1].id"));
    assert_eq!(contact["same_name"].as_array().map(Vec::len), Some(2), "{contact}");
    let made_up =
        play.refusal("crm_log_activity", &json!({"contact_id": "contact_12345", "type": "call"}));
    assert_eq!(made_up.code, Code::NotFound);
}

#[test]
fn every_seed_gives_a_company_that_hangs_together() {
    let core = |blueprint: &Blueprint| -> Vec<Value> {
        let mut live = blueprint.open(scene(None), now(), Seed::of_run(1)).unwrap();
        ["CON-h4kw8xtm", "ORD-8hvd3nrp", "INV-8kxw4thq", "DEA-6ktw3xhn", "TIC-7hkx3wvd"]
            .iter()
            .map(|id| {
                let arguments = json!({"id": id}).as_object().cloned().unwrap();
                let operation = "lookup_record";
                let call =
                    Call { operation, arguments: &arguments, round: 1, number: 1, now: now() };
                live.call(&call).unwrap()
            })
            .collect()
    };
    let want = core(&BLUEPRINT);
    for seed in 1..=20 {
        let blueprint = build(seed);
        let size = blueprint.image().len();
        assert!((900 << 10..1100 << 10).contains(&size), "seed {seed}: {size} bytes");
        let pair = Pair::open(blueprint.image(), blueprint.image(), now()).unwrap();
        for invariant in INVARIANTS {
            let finding = pair.check(invariant).unwrap();
            assert!(finding.holds, "seed {seed}: {finding:?}");
        }
        assert_eq!(core(&blueprint), want, "seed {seed}: the core is the same");
        assert!(blueprint.image() != BLUEPRINT.image(), "seed {seed}: nothing was drawn");
    }
    assert!(build(3).image() == build(3).image(), "one seed, the same bytes");
}

#[test]
fn the_views_have_the_columns_that_are_told() {
    let mut play = Play::new(scene(None));
    let told = play.call("data_list_views", &json!({})).unwrap();
    let told = told.as_array().unwrap();
    let names: BTreeSet<&str> = told.iter().filter_map(|view| view["view"].as_str()).collect();
    let published = BLUEPRINT.world().meta.views.iter().map(String::as_str).collect();
    assert_eq!(names, published);
    for view in told {
        let name = view["view"].as_str().unwrap();
        let sql = format!("SELECT * FROM {name} LIMIT 1");
        let read = play.call("data_query", &json!({"sql": sql})).unwrap();
        assert_eq!(read["columns"], view["columns"], "{name}");
        let path = format!("{name}.json");
        let export = json!({"source": name, "format": "json", "path": path, "limit": 1});
        let exported = play.call("data_export", &export).unwrap();
        assert_eq!(exported["columns"], view["columns"], "{name}");
    }
}

#[test]
fn an_export_leaves_a_file_once() {
    let mut play = Play::new(scene(None));
    let rows = json!([{"name": "a \"b\", c", "n": 1.5}, {"name": null, "n": 2}]);
    let export = |format: &str, path: &str| json!({"source": "rows", "rows": rows, "format": format, "path": path});
    let table = [
        ("csv", "out/a.csv", "name,n\n\"a \"\"b\"\", c\",1.5\n,2\n"),
        ("markdown", "a.md", "| name | n |\n|---|---|\n| a \"b\", c | 1.5 |\n|  | 2 |\n"),
        ("json", "a.json", "[{\"name\":\"a \\\"b\\\", c\",\"n\":1.5},\n{\"name\":null,\"n\":2}]\n"),
    ];
    for (format, path, want) in table {
        let result = play.call("data_export", &export(format, path)).unwrap();
        assert_eq!(result.get("content"), None, "the caller gets no text");
        let file = play.live.take_written().unwrap();
        assert_eq!((file.path.as_str(), file.content.as_str()), (path, want));
        assert_eq!(play.live.take_written(), None);
    }
    play.call("data_export", &export("csv", "a.csv")).unwrap();
    play.refusal("data_export", &export("csv", "../a.csv"));
    assert_eq!(play.live.take_written(), None, "a refused call leaves no file");
}

#[test]
fn what_waits_for_an_approval_is_decided_by_somebody_else() {
    let approver = json!({"approval_id": "APR-m2vg6dnr", "decision": "approve"});
    let mut play = Play::new(scene(Some("USR-x4mb9rvq")));
    play.call("admin_decide_approval", &approver).unwrap();
    assert!(play.holds("orders[id == 'ORD-w7qb4mgt' and status == 'confirmed'].count == 1"));
    assert!(play.holds("stock.sum(reserved) == baseline + 15"), "5 pumps and 10 boxes");
    let order = json!({"company_id": "CMP-4kx9wq2t", "warehouse": "BRE", "discount_percent": 20,
        "lines": [{"sku": "PMP-CR40", "quantity": 1}]});
    let order = play.call("erp_create_order", &order).unwrap();
    let own = json!({"approval_id": order["approval_id"], "decision": "approve"});
    let refusal = play.refusal("admin_decide_approval", &own);
    assert_eq!(refusal.code, Code::Forbidden);
    assert!(refusal.message.starts_with("you asked for this approval"), "{refusal}");
}

#[test]
fn calls_of_one_round_that_exclude_each_other_are_told_so() {
    let mut play = Play::new(scene(None));
    let ship = json!({"order_id": "ORD-4xkt9wqm", "action": "ship"});
    play.call("erp_update_order", &ship).unwrap();
    let cancel = json!({"order_id": "ORD-4xkt9wqm", "action": "cancel", "reason": "mistake"});
    let Err(WorldError::Refused(refusal)) = play.beside("erp_update_order", &cancel) else {
        panic!("it was done");
    };
    assert_eq!(refusal.code, Code::Conflict);
    assert_eq!(play.refusal("erp_update_order", &cancel).code, Code::Refused);
}

#[test]
fn everything_that_may_happen_keeps_the_books() {
    let table = [
        (
            "stock_arrives",
            json!({"sku": "PMP-CR40", "warehouse": "BRE", "quantity": 40, "reference": "PUR-6tkw4xhd"}),
            "stock.sum(on_hand) == baseline + 40 and purchase_orders[id == 'PUR-6tkw4xhd' and status == 'received'].count == 1",
        ),
        (
            "stock_lost",
            json!({"sku": "SEAL-KIT", "warehouse": "LDS", "quantity": 5}),
            "stock.sum(on_hand) == baseline - 5",
        ),
        (
            "price_changes",
            json!({"sku": "PMP-CR40", "price_eur": 519.5}),
            "products[sku == 'PMP-CR40' and price_cents == 51950].count == 1",
        ),
        (
            "user_deactivated",
            json!({"user_id": "USR-3hvd7qrn"}),
            "users[active == 1].count == baseline - 1",
        ),
        (
            "contact_merged",
            json!({"from_id": "CON-q7rd2npv", "into_id": "CON-h4kw8xtm"}),
            "contacts[id == 'CON-q7rd2npv' and status == 'merged'].count == 1",
        ),
        (
            "contact_opts_out",
            json!({"contact_id": "CON-k8vf5ctd"}),
            "contacts[id == 'CON-k8vf5ctd' and status == 'do_not_contact'].count == 1",
        ),
        (
            "invoice_paid",
            json!({"invoice_id": "INV-3vgd7mnb"}),
            "invoices[id == 'INV-3vgd7mnb' and status == 'paid'].count == 1",
        ),
        (
            "rate_changes",
            json!({"currency": "CHF", "per_eur": 0.95}),
            "exchange_rates.count == baseline + 1",
        ),
        (
            "ticket_escalated",
            json!({"ticket_id": "TIC-7hkx3wvd"}),
            "tickets[id == 'TIC-7hkx3wvd' and level == 1].count == 1",
        ),
        (
            "order_cancelled",
            json!({"order_id": "ORD-4xkt9wqm"}),
            "orders[id == 'ORD-4xkt9wqm' and status == 'cancelled'].count == 1",
        ),
        (
            "period_closed",
            json!({"period": "2026-02"}),
            "accounting_periods[status == 'open'].count == baseline - 1",
        ),
        (
            "email_arrives",
            json!({"contact_id": "CON-k8vf5ctd", "user_id": "USR-9kxt4wmb", "subject": "Hello", "body": "Call me."}),
            "emails[-1].subject == 'Hello'",
        ),
    ];
    let known: BTreeSet<_> =
        BLUEPRINT.world().meta.events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(table.iter().map(|row| row.0).collect::<BTreeSet<_>>(), known);
    for (event, arguments, assertion) in table {
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
        let event = event.to_owned();
        let occurrence =
            Occurrence { event, arguments, after_calls: Some(0), ..Occurrence::default() };
        let mut play = Play::new(Scene { events: vec![occurrence], ..scene(None) });
        play.live.happen(now()).unwrap();
        assert_eq!(play.live.happened()[0].failed, None, "{assertion}");
        let pair = play.pair();
        for check in INVARIANTS.into_iter().chain([assertion]) {
            let finding = pair.check(check).unwrap();
            assert!(finding.holds, "{assertion}: {finding:?}");
        }
    }
}
