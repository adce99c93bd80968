//! Whatever is called in whatever order and by whom: the books stay whole.
//!
//! Half of the calls are those of the tables, with ids of the same kind put in that earlier
//! calls made; the arguments of the others are made from the schemas. One of the users may
//! do everything, so that long ways (order, shipment, invoice, payment, approval) are gone.
//! With `WILDGYM_BARS` 10,000 sequences are tried, without it 400; each is played twice and
//! has to leave the same bytes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestCaseResult, TestRunner};
use serde_json::{Map, Value, json};
use wildgym_sandbox::Seed;
use wildgym_sandbox::world::{Blueprint, Pair, WorldError};
use wildgym_tasks::World;

use super::{BLUEPRINT, Case, GOOD, INVARIANTS, Play, REFUSED, folder, now, scene};

/// A company in which Ines Calloway may do everything.
static OPEN: LazyLock<Blueprint> = LazyLock::new(|| {
    let mut world = World::load(&folder()).unwrap_or_else(|faults| panic!("{faults}"));
    world.seed.text.push_str(
        "INSERT INTO user_grants (user_id, permission, granted_by, granted_at) \
         SELECT DISTINCT 'USR-9kxt4wmb', permission, 'USR-d8pc5wrh', '2026-03-01 09:00:00' \
         FROM role_permissions WHERE permission NOT IN \
         (SELECT permission FROM permitted WHERE user_id = 'USR-9kxt4wmb');\n",
    );
    Blueprint::build(world, 0).unwrap_or_else(|faults| panic!("{faults}"))
});

const USERS: [&str; 8] = [
    "USR-9kxt4wmb",
    "USR-x4mb9rvq",
    "USR-3hvd7qrn",
    "USR-t7gq3xnf",
    "USR-5rvh8cmk",
    "USR-m3kf7hgj",
    "USR-d8pc5wrh",
    "USR-w5hj3qdn",
];

/// Values that fit a parameter by its name.
fn known(name: &str) -> &'static [&'static str] {
    match name {
        "contact_id" => {
            &["CON-k8vf5ctd", "CON-h4kw8xtm", "CON-c8xv2mrf", "CON-v2cx6bmn", "CON-g7kt3xwr"]
        }
        "id" => &["R-2026-9001", "PMP-CR40", "CON-k8vf5ctd", "DEA-12345678"],
        "confirm_name" => &["Test Person", "Helen Okafor"],
        "company_id" => &["CMP-4kx9wq2t", "CMP-v9hd4pkr", "CMP-c3fj8mqn", "CMP-j2nq7gvb"],
        "deal_id" => &["DEA-6ktw3xhn", "DEA-4hxg8pkf", "DEA-r3nb7wcj", "DEA-k5fq9tmx"],
        "order_id" => &[
            "ORD-4xkt9wqm",
            "ORD-8hvd3nrp",
            "ORD-c9pf7kjd",
            "ORD-2rnx5hvk",
            "ORD-w7qb4mgt",
            "ORD-x3jh8dfc",
        ],
        "invoice_id" => &["INV-8kxw4thq", "INV-3vgd7mnb"],
        "ticket_id" => &["TIC-7hkx3wvd", "TIC-4gnt8mqb", "TIC-b6vj5hkw"],
        "approval_id" => &["APR-5xwk8tqh", "APR-m2vg6dnr"],
        "supplier_id" => &["SUP-7kdx3wtm", "SUP-m8tk4hdw", "SUP-w9bj2grp"],
        "sku" => &["PMP-CR40", "PMP-CR45", "SEAL-KIT", "HOS-25", "CTRL-100"],
        "owner_id" | "user_id" | "user_ids" | "assignee_id" | "reassign_to" | "manager_id"
        | "attendees" => &USERS,
        "key" => &["approval.purchase_limit_eur", "bulk.max_records", "security.mfa_required"],
        "view" | "source" => &["rpt_orders", "rpt_stock"],
        "to" | "email" => &["priya.raman@acme-corp.example", "new@tessel-quay.example", "x"],
        "grant" | "revoke" => &["order.cancel", "report.export", "crm.delete", "user.write"],
        "sql" => {
            &["SELECT count(*) FROM rpt_orders", "DELETE FROM rpt_orders", "SELECT * FROM users"]
        }
        "expression" => &["1 + 2 * (3 - 4)", "1 / 0", "((1"],
        "zone" | "time_zone" | "from_zone" | "to_zone" => &["Europe/London", "Mars"],
        "template" => &["payment_reminder", "nothing"],
        "path" => &["a.csv", "b/c.json", "../d.md"],
        "country" => &["DE", "GB"],
        "field" | "to_field" | "column" => &["a", "status"],
        "period" | "baseline" => &["2026-Q1", "2025", "2026-02"],
        "from" => &["EUR", "kg", "2026-01-01"],
        _ => &["active", "acme", "x", "'; DROP TABLE orders; --"],
    }
}

/// Chances of one call; the numbers of a sequence decide everything.
struct Dice(u64);

impl Dice {
    /// The generator of Steele, Lea and Flood 2014, `SplitMix64`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides.max(1)
    }

    fn pick<'p, T>(&mut self, among: &'p [T]) -> Option<&'p T> {
        let index = usize::try_from(self.roll(among.len() as u64)).unwrap_or_default();
        among.get(index)
    }

    fn text(&mut self, name: &str, schema: &Value, made: &[String]) -> Value {
        match schema["format"].as_str() {
            Some("date") => {
                return json!(format!("2026-0{}-1{}", 2 + self.roll(3), self.roll(10)));
            }
            Some("date-time") => {
                return json!(format!("2026-03-1{}T0{}:00:00Z", self.roll(10), self.roll(10)));
            }
            _ => {}
        }
        if name.ends_with("_id")
            && self.roll(3) == 0
            && let Some(id) = self.pick(made)
        {
            return json!(id);
        }
        if name == "start" || name == "time" {
            return json!(format!("2026-03-{}T1{}:00", 16 + self.roll(14), self.roll(8)));
        }
        json!(self.pick(known(name)))
    }

    fn number(&mut self, schema: &Value) -> Value {
        let low = schema["minimum"].as_i64().unwrap_or(0).max(-3);
        let high = schema["maximum"].as_i64().unwrap_or(12).min(low + 12);
        let span = u64::try_from(high - low + 1).unwrap_or(1);
        let whole = low + i64::try_from(self.roll(span)).unwrap_or_default();
        if schema["type"] == "number" && self.roll(2) == 0 {
            let half = i32::try_from(whole).map(|whole| f64::from(whole) + 0.5);
            return half.map_or(Value::Null, |half| json!(half));
        }
        json!(whole)
    }

    /// Makes a value of a schema.
    fn value(&mut self, name: &str, schema: &Value, made: &[String]) -> Value {
        if let Some(choices) = schema["enum"].as_array() {
            return self.pick(choices).cloned().unwrap_or_default();
        }
        let kinds = schema["type"].as_array().map(Vec::as_slice).unwrap_or_default();
        let kind = self.pick(kinds).unwrap_or(&schema["type"]).as_str().unwrap_or("string");
        match kind {
            "object" => Value::Object(self.object(schema, made)),
            "array" => {
                let least = schema["minItems"].as_u64().unwrap_or(0);
                let count = least + self.roll(3);
                (0..count).map(|_| self.value(name, &schema["items"], made)).collect()
            }
            "integer" | "number" => self.number(schema),
            "boolean" => json!(self.roll(2) == 1),
            "null" => Value::Null,
            _ => self.text(name, schema, made),
        }
    }

    /// Puts ids of the same kind that earlier calls made in place of some.
    fn replace(&mut self, value: &mut Value, made: &[String]) {
        match value {
            Value::String(text) if text.get(3..4) == Some("-") && self.roll(2) == 0 => {
                let kin: Vec<_> = made.iter().filter(|id| id[..4] == text[..4]).collect();
                if let Some(id) = self.pick(&kin) {
                    text.clone_from(id);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item, made)),
            Value::Object(fields) => fields.values_mut().for_each(|one| self.replace(one, made)),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Makes a call: one of the tables, or one that only fits the schema.
    fn call(&mut self, choice: usize, made: &[String]) -> (String, Value) {
        if self.roll(2) == 0 {
            let cases: Vec<&Case> = GOOD.iter().chain(GOOD.iter()).chain(REFUSED.iter()).collect();
            let case = cases[choice % cases.len()];
            let mut arguments = case.arguments.clone();
            self.replace(&mut arguments, made);
            return (case.call.clone(), arguments);
        }
        let operations = &BLUEPRINT.world().operations;
        let names: Vec<&String> = operations.keys().collect();
        let name = names[choice % names.len()];
        let schema = Value::Object(operations[name].schema());
        (name.clone(), Value::Object(self.object(&schema, made)))
    }

    fn object(&mut self, schema: &Value, made: &[String]) -> Map<String, Value> {
        let required = schema["required"].as_array();
        let mut fields = Map::new();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let must = required.is_some_and(|names| names.contains(&json!(name)));
            if must || self.roll(4) == 0 {
                fields.insert(name.clone(), self.value(name, schema, made));
            }
        }
        if schema.get("properties").is_none() {
            fields.insert("a".to_owned(), json!(self.roll(100)));
        }
        fields
    }
}

/// Calls by operation that were done and that were refused.
type Tally = BTreeMap<String, (u32, u32)>;

fn sequences() -> u32 {
    if std::env::var_os("WILDGYM_BARS").is_some() { 10_000 } else { 400 }
}

/// Plays a sequence, and shows that a call that was refused left nothing. Returns the state
/// at its end.
fn play(
    user: usize,
    steps: &[(usize, u64, bool)],
    tally: &mut Tally,
) -> Result<Vec<u8>, TestCaseError> {
    let user = USERS.get(user).copied();
    let live = OPEN.open(scene(user), now(), Seed::of_run(1)).unwrap();
    let mut play = Play { live, number: 0, round: 0 };
    let mut made = Vec::new();
    let mut before = play.live.image().unwrap();
    for (choice, seed, beside) in steps {
        let (name, arguments) = Dice(*seed).call(*choice, &made);
        let name = &name;
        let result =
            if *beside { play.beside(name, &arguments) } else { play.call(name, &arguments) };
        let after = play.live.image().unwrap();
        let entry = tally.entry(name.clone()).or_default();
        match result {
            Ok(result) => {
                entry.0 += 1;
                let ids = ["id", "approval_id", "shipment_id"]
                    .iter()
                    .filter_map(|key| result[*key].as_str());
                made.extend(ids.map(ToOwned::to_owned));
            }
            Err(WorldError::Refused(_)) => {
                entry.1 += 1;
                prop_assert!(after == before, "{name} {arguments} left something");
            }
            Err(WorldError::Broken(why)) => {
                prop_assert!(false, "{name} {arguments}: {why}");
            }
        }
        before = after;
    }
    Ok(before)
}

fn holds(end: &[u8]) -> TestCaseResult {
    let pair = Pair::open(OPEN.image(), end, now()).unwrap();
    for invariant in INVARIANTS {
        let finding = pair.check(invariant).unwrap();
        prop_assert!(finding.holds, "{finding:?}");
    }
    Ok(())
}

#[test]
fn no_sequence_breaks_the_books() {
    let cases = ProptestConfig {
        cases: sequences(),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let tally = RefCell::new(Tally::new());
    let step = (any::<usize>(), any::<u64>(), prop::bool::weighted(0.3));
    // Every second sequence is played by the one who may do everything.
    let user = prop_oneof![Just(0), 0..USERS.len()];
    let sequence = (user, prop::collection::vec(step, 1..14));
    let result = TestRunner::new(cases).run(&sequence, |(user, steps)| {
        let end = play(user, &steps, &mut tally.borrow_mut())?;
        holds(&end)?;
        let again = play(user, &steps, &mut Tally::new())?;
        prop_assert!(end == again, "one seed, other bytes");
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let tally = tally.into_inner();
    let done: u32 = tally.values().map(|(done, _)| done).sum();
    let refused: u32 = tally.values().map(|(_, refused)| refused).sum();
    assert!(done * 2 > refused, "too few calls are done to show anything: {tally:#?}");
    let never = tally.values().filter(|(done, _)| *done == 0).count();
    assert!(never <= 6, "too many operations are never done: {tally:#?}");
    let cases = sequences();
    println!(
        "enterprise: {cases} sequences of {} calls ({refused} refused), each twice, keep the books",
        done + refused
    );
}
