//! Tasks that work in a world: from the calls of an agent to the states that a run keeps.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{Place, Ran, is_finished, timeless, transcripts};
use serde_json::{Value, json};
use wildgym_support::{ScriptedServer, calls, final_answer};

/// What tasks of the suite have in common; `MORE` is the rest.
const TASK: &str = r#"format = 1
id = "ID"
title = "Work in the depot"
scenario = "operations"
domain = "trade"
language = "en"
now = "2026-03-02T09:00:00Z"
MORE
[answer]
kind = "text"
value = "Acme"
"#;

/// A contact is made and called; on the way a delivery comes.
const LOG: &str = r#"final_state_assertions = [
    "contacts.count == baseline + 1",
    "activities[-1].contact_id == contacts[-1].id",
    "SELECT (SELECT stock FROM main.products WHERE id = 4) = (SELECT stock FROM start.products WHERE id = 4) + 7",
]

[environment.world]
name = "depot"
context = { user_id = 1 }

[[environment.world.event]]
event = "delivery"
arguments = { product_id = 4, quantity = 7 }
after_calls = 1

[[environment.world.event]]
event = "theft"
at = 2026-03-02T09:00:02Z
"#;

const LOG_SOLUTION: &str = r#"format = 1

[[round]]
[[round.call]]
name = "made"
tool = "create_contact"
arguments = { name = "John Smith", company = { "$expr" = "'Ac' ~ 'me'" } }

[[round]]
[[round.call]]
name = "logged"
tool = "log_activity"
arguments = { contact_id = { "$expr" = "(made | fromjson).id" }, type = "call" }

[answer]
expression = "(made | fromjson).company"
"#;

/// Code is offered beside some operations of the world.
const CODE: &str = r#"
[environment]
tools = ["execute_code"]

[environment.world]
name = "depot"
operations = ["find_*", "save_stock"]
"#;

const CODE_SOLUTION: &str = r#"format = 1

[[round]]
[[round.call]]
name = "saved"
tool = "save_stock"
arguments = { path = "out/stock.json" }
[[round.call]]
name = "read"
tool = "execute_code"
[round.call.arguments]
code = """
import json
from host import tools
print(open('out/stock.json').read())
print(json.loads(tools.call('find_contacts', text='john'))[0]['company'])
"""

[answer]
expression = "read | lines | last"
"#;

/// An operation that writes a file, and notes that it did.
const SAVE: &str = r#"[[operation]]
name = "save_stock"
category = "data"
description = "Save the stock as JSON."
effects = ["INSERT INTO stock_moves (product_id, delta, reason) VALUES (1, 0, :path)"]
result = "SELECT :path AS path, (SELECT json_group_array(json_object('name', name, 'stock', stock)) FROM products) AS content"
shape = "row"
export = { path = "path", content = "content" }
parameters = { required = ["path"], properties = { path = { type = "string" } } }
"#;

struct Suite(PathBuf);

impl Suite {
    /// Writes a suite over the world of the engine's tests.
    fn new(place: &Place) -> Self {
        let suite = Self(place.path().join("trade"));
        suite.write(
            "suite.toml",
            "format = 1\nname = \"trade\"\nversion = \"1\"\ndescription = \"For a story\"\n",
        );
        let depot = Path::new(env!("CARGO_MANIFEST_DIR")).join("sandbox/tests/worlds/depot");
        for file in
            ["world.toml", "schema.sql", "seed.sql", "operations/crm.toml", "operations/erp.toml"]
        {
            let text = fs::read_to_string(depot.join(file)).unwrap();
            suite.write(&format!("worlds/depot/{file}"), &text);
        }
        suite.write("worlds/depot/operations/data.toml", SAVE);
        suite.task("log-a-call", LOG, LOG_SOLUTION);
        suite.task("with-code", CODE, CODE_SOLUTION);
        suite
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn task(&self, id: &str, more: &str, solution: &str) {
        self.write(&format!("tasks/{id}/task.toml"), &TASK.replace("ID", id).replace("MORE", more));
        self.write(&format!("tasks/{id}/instruction.md"), "Do what has to be done.\n");
        self.write(&format!("tasks/{id}/reference/solution.toml"), solution);
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

/// Returns the records of one kind.
fn records(transcript: &str, kind: &str) -> Vec<Value> {
    let all = transcript.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|record| record["record"] == kind).collect()
}

fn done(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

/// The reference solves the tasks; the run keeps what happened and both states, and people
/// can look into them.
#[test]
fn a_run_keeps_what_happened_and_the_states() {
    let place = Place::new();
    let suite = Suite::new(&place);
    done(&place.wildgym(&["tasks", "check", suite.path()]));
    let ran = place.wildgym(&["run", suite.path(), "-k", "2", "--name", "r", "--json", "-q"]);
    done(&ran);
    let run = place.path().join("runs/r");
    let all = transcripts(&run);
    let logged = &all["reference/log-a-call/full/1.1.jsonl"];
    let attempt = &records(logged, "attempt")[0];
    let offered = attempt["tools"].as_array().unwrap();
    assert!(offered.contains(&json!("create_contact")) && !offered.contains(&json!("scrape")));
    let events: Vec<_> = records(logged, "event")
        .iter()
        .map(|event| (event["event"].clone(), event["before"].clone(), event["failed"].is_string()))
        .collect();
    let want = [(json!("delivery"), json!("2"), false), (json!("theft"), json!(null), true)];
    assert_eq!(events, want, "one between the calls, one at the end, which could not be done");
    let states: BTreeMap<_, _> = all
        .iter()
        .map(|(path, text)| (path.clone(), records(text, "outcome")[0]["state"].clone()))
        .collect();
    let starts: BTreeSet<_> = states.values().map(|state| state["start"].to_string()).collect();
    assert_eq!(starts.len(), 1, "all start from one state: {states:?}");
    let ends: BTreeSet<_> = states.values().map(|state| state["end"].to_string()).collect();
    assert_eq!(ends.len(), 3, "each k makes ids of its own, where it makes any: {states:?}");
    for state in states.values().flat_map(|state| [&state["start"], &state["end"]]) {
        let blob = fs::read(run.join("blobs").join(state.as_str().unwrap())).unwrap();
        assert!(blob.starts_with(b"SQLite format 3\0"));
    }
    let checked = |text: &str| {
        place.wildgym(&[
            "world",
            "diff",
            "log-a-call/1",
            "--run",
            "runs/r",
            "--check",
            text,
            "--json",
        ])
    };
    for text in ["contacts.count == baseline + 1", "activities[-1].contact_id == contacts[-1].id"] {
        done(&checked(text));
    }
    let false_one = checked("contacts.count == baseline");
    assert_eq!(false_one.code, Some(1), "{}", false_one.err);
    assert_eq!(
        false_one.json()["assertions"][0]["reason"],
        "`contacts.count` is 24, expected == 23 (`baseline`)"
    );
    let difference = place.wildgym(&["world", "diff", "log-a-call/1", "--run", "runs/r"]);
    assert!(
        difference.out.contains("activities: 1 added, 0 removed, 0 changed"),
        "{}",
        difference.out
    );
    assert!(difference.out.contains("stock 0 → 7"), "{}", difference.out);
    let asked = place.wildgym(&[
        "world",
        "shell",
        "log-a-call/2",
        "--run",
        "runs/r",
        "--json",
        "-c",
        "SELECT count(*) AS n FROM activities",
    ]);
    assert_eq!(asked.json(), json!({"columns": ["n"], "rows": [[1]], "more": false}));
    let shown = place.wildgym(&["show", "runs/r", "log-a-call/1"]);
    assert!(
        shown.out.contains("world: `delivery` happened at 2026-03-02T09:00:01Z"),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("without effect: there is not enough in stock"), "{}", shown.out);
}

/// Code reads the file of an export of its own round, and calls what the task offers beside
/// it; other tools of the program are not there.
#[test]
fn code_and_operations_work_together() {
    let place = Place::new();
    let suite = Suite::new(&place);
    done(&place.wildgym(&[
        "run",
        suite.path(),
        "--tasks",
        "with-code",
        "-k",
        "1",
        "--name",
        "r",
        "-q",
    ]));
    let all = transcripts(&place.path().join("runs/r"));
    let code = &all["reference/with-code/full/1.1.jsonl"];
    assert_eq!(
        records(code, "attempt")[0]["tools"],
        json!(["execute_code", "find_contacts", "find_products", "save_stock"])
    );
    let tools: Vec<_> = records(code, "call").iter().map(|call| call["tool"].clone()).collect();
    assert_eq!(tools, ["save_stock", "find_contacts", "execute_code"]);
}

/// A model whose calls of one round touch each other's rows, break rules, and guess.
async fn model(wait: Duration) -> ScriptedServer {
    ScriptedServer::start(move |request| {
        let order = json!({"order_id": "ORD-old00002"});
        let reply = match request.round {
            1 => calls([
                ("a", "create_contact", json!({"name": "Ada Stone", "email": "ada@stone.example"})),
                ("b", "find_contacts", json!({"text": "ada"})),
                ("c", "cancel_order", order.clone()),
                ("d", "ship_order", order),
                ("e", "place_order", json!({"contact_id": "CON-acme0001", "lines": [{"product_id": 3, "quantity": 99}]})),
                ("f", "log_activity", json!({"contact_id": "contact_12345", "type": "call"})),
                ("g", "create_contact", json!({"name": "A", "email": "john@acme.example"})),
                ("h", "log_activity", json!({"contact_id": "CON-acme0001", "type": "visit"})),
            ]),
            2 => calls([("i", "query_stock", json!({})), ("j", "find_products", json!({}))]),
            _ => final_answer("Acme"),
        };
        reply.after(wait)
    })
    .await
}

/// Calls of one round come to the world in the order asked; what is refused says why in
/// words and by a code, and never in SQL.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_a_round_commit_in_the_order_asked() {
    let place = Place::new();
    let suite = Suite::new(&place);
    let model = model(Duration::ZERO).await;
    let url = model.base_url();
    let more = ["--tasks", "log-a-call", "-k", "1", "--name", "r", "-q"];
    done(&place.wildgym(&Place::asking(&suite.0, &url, &more)));
    assert_eq!(model.violations(), Vec::<String>::new());
    let all = transcripts(&place.path().join("runs/r"));
    let made = records(all.values().next().unwrap(), "call");
    let table = [
        ("a", None, "\"name\":\"Ada Stone\""),
        ("b", None, "Ada Stone"),
        ("c", None, "ok"),
        (
            "d",
            Some("conflict"),
            "`ship_order` cannot be done in the same round as `cancel_order` with the same `order_id`",
        ),
        ("e", Some("refused"), "there is not enough in stock"),
        ("f", Some("not-found"), "look up the id in `contacts`"),
        ("g", Some("duplicate"), "a row of `contacts` with the same `email`"),
        ("h", Some("bad-arguments"), "`type`"),
        ("i", Some("unknown-tool"), "there is no tool `query_stock`"),
        ("j", None, "hoist"),
    ];
    assert_eq!(made.len(), table.len());
    for ((id, error, says), call) in table.into_iter().zip(&made) {
        let result = call["result"].as_str().unwrap();
        assert_eq!((call["id"].as_str(), call["error"].as_str()), (Some(id), error), "{result}");
        assert!(result.contains(says), "{id}: {result}");
        for sql in ["SELECT", "INSERT", "constraint failed", "SQLITE", "sqlite"] {
            assert!(!result.contains(sql), "{id} shows SQL: {result}");
        }
    }
    // The clock takes each call in, refused ones too; `place_order` takes five seconds.
    let clocks: Vec<_> =
        made.iter().map(|call| call["clock"].as_str().unwrap().to_owned()).collect();
    assert_eq!(clocks[5], "2026-03-02T09:00:09Z");
    let stock: Value = serde_json::from_str(made[9]["result"].as_str().unwrap()).unwrap();
    assert_eq!(stock[2]["stock"], 4, "the cancelled hoist went back, and none was sold");
}

/// One seed and the same replies give the same bytes of state, whatever runs beside; no
/// attempt sees what another one did.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn states_are_equal_at_any_concurrency() {
    let place = Place::new();
    let suite = Suite::new(&place);
    let model = model(Duration::ZERO).await;
    let url = model.base_url();
    let mut runs = Vec::new();
    for concurrency in ["1", "64"] {
        let more = [
            "--tasks",
            "log-a-call",
            "-k",
            "40",
            "--seed",
            "7",
            "--concurrency",
            concurrency,
            "--requests",
            "64",
            "--name",
            concurrency,
            "-q",
        ];
        done(&place.wildgym(&Place::asking(&suite.0, &url, &more)));
        runs.push(transcripts(&place.path().join("runs").join(concurrency)));
    }
    assert_eq!(runs[0].len(), 40);
    for (path, text) in &runs[0] {
        assert_eq!(timeless(text), timeless(&runs[1][path]), "{path}");
    }
    let ends: BTreeSet<_> = runs[0]
        .values()
        .map(|text| records(text, "outcome")[0]["state"]["end"].to_string())
        .collect();
    assert_eq!(ends.len(), 40, "each has ids of its own");
    for trial in ["log-a-call/full/1", "log-a-call/full/40"] {
        done(&place.wildgym(&[
            "world",
            "diff",
            trial,
            "--run",
            "runs/64",
            "--check",
            "contacts.count == baseline + 1",
            "--check",
            "orders.count == baseline",
        ]));
    }
}

/// A run that is killed goes on, and ends with the states of one that was not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_loses_no_state() {
    let place = Place::new();
    let suite = Suite::new(&place);
    let model = model(Duration::from_millis(20)).await;
    let url = model.base_url();
    let arguments = |name| {
        [
            "--tasks",
            "log-a-call",
            "-k",
            "24",
            "--seed",
            "7",
            "--concurrency",
            "4",
            "--name",
            name,
            "-q",
        ]
    };
    let mut child = place.start(&Place::asking(&suite.0, &url, &arguments("killed")));
    let run = place.path().join("runs/killed");
    let began = Instant::now();
    let finished = || transcripts(&run).values().filter(|text| is_finished(text)).count();
    while finished() < 8 && began.elapsed() < Duration::from_mins(2) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    done(&place.wildgym(&["resume", "runs/killed", "-q"]));
    done(&place.wildgym(&Place::asking(&suite.0, &url, &arguments("whole"))));
    let ends = |name: &str| -> BTreeSet<String> {
        let all = transcripts(&place.path().join("runs").join(name));
        let whole = all.values().filter(|text| is_finished(text));
        whole.map(|text| records(text, "outcome")[0]["state"]["end"].to_string()).collect()
    };
    assert_eq!(ends("killed").len(), 24);
    assert_eq!(ends("killed"), ends("whole"));
    for blob in fs::read_dir(run.join("blobs")).unwrap() {
        let path = blob.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.len() == 64 {
            assert_eq!(blake3::hash(&fs::read(&path).unwrap()).to_hex().as_str(), name);
        }
    }
}

/// Mistakes: a file, what stands in it, what stands there in its place, and what is told.
const MISTAKES: &[(&str, &str, &str, &[&str])] = &[
    (
        "worlds/depot/operations/crm.toml",
        "INSERT INTO contacts (id",
        "INSERT INTO contact (id",
        &["worlds/depot/operations/crm.toml:", "operation[0].effects[0]", "contact"],
    ),
    (
        "worlds/depot/operations/crm.toml",
        "category = \"crm\"\n",
        "",
        &["worlds/depot/operations/crm.toml:", "operation[0].category: missing"],
    ),
    (
        "worlds/depot/seed.sql",
        "'clerk'",
        "'pirate'",
        &["worlds/depot/seed.sql:1: statement 1", "CHECK"],
    ),
    (
        "worlds/depot/seed.sql",
        "'CON-lund0001', 'open'",
        "'CON-nobody', 'open'",
        &["worlds/depot/seed.sql: row 2 of `orders` names a row of `contacts` that does not exist"],
    ),
    (
        "worlds/depot/world.toml",
        "steps = 200000",
        "steps = 0",
        &["worlds/depot/world.toml:", "limits.steps: expected a whole number"],
    ),
    (
        "tasks/log-a-call/task.toml",
        "name = \"depot\"",
        "name = \"depo\"",
        &["tasks/log-a-call/task.toml:", "environment.world.name", "did you mean `depot`"],
    ),
    (
        "tasks/log-a-call/task.toml",
        "event = \"theft\"",
        "event = \"fire\"",
        &["tasks/log-a-call/task.toml:", "environment.world.event[1].event"],
    ),
    (
        "tasks/log-a-call/task.toml",
        "user_id = 1",
        "user = 1",
        &["tasks/log-a-call/task.toml:", "environment.world.context.user"],
    ),
    (
        "tasks/log-a-call/task.toml",
        "at = 2026",
        "when = \"SELECT x FROM y\"\n# 2026",
        &["tasks/log-a-call: environment.world.event[1].when", "no such table: y"],
    ),
    (
        "tasks/log-a-call/task.toml",
        "contacts.count == baseline + 1",
        "contacts.count =",
        &["tasks/log-a-call/task.toml:", "final_state_assertions[0]"],
    ),
    (
        "tasks/log-a-call/task.toml",
        "contacts.count == baseline + 1",
        "contract.count == baseline",
        &["tasks/log-a-call: final_state_assertions[0]", "contract"],
    ),
    (
        "tasks/log-a-call/task.toml",
        "now = \"2026-03-02T09",
        "now = \"2026-03-01T09",
        &["tasks/log-a-call/task.toml:7: now: the task begins before the state of its world"],
    ),
    (
        "suite.toml",
        "description = \"For a story\"\n",
        "description = \"For a story\"\n[servers.own]\nworld = \"depot\"\n\
         tools = [\"find_*\", \"seek_*\"]\n",
        &["suite.toml:7: servers.own.tools[1]: `seek_*`: unknown operation"],
    ),
    (
        "tasks/with-code/task.toml",
        "\"find_*\"",
        "\"seek_*\"",
        &["tasks/with-code/task.toml:", "environment.world.operations[0]"],
    ),
    (
        "tasks/with-code/task.toml",
        "\"execute_code\"",
        "\"execute_coed\"",
        &[
            "tasks/with-code/task.toml: environment.tools[0]: there is no tool `execute_coed`; the nearest",
        ],
    ),
    (
        "tasks/with-code/reference/solution.toml",
        "save_stock",
        "create_contact",
        &[
            "tasks/with-code/reference/solution.toml: round[0].call[0].tool: there is no tool `create_contact`",
        ],
    ),
];

/// What is wrong with a world, or with what a task says about it, is told with file and
/// line before anything runs.
#[test]
fn what_does_not_fit_is_told_with_its_place() {
    for (file, old, new, says) in MISTAKES {
        let place = Place::new();
        let suite = Suite::new(&place);
        let text = fs::read_to_string(suite.0.join(file)).unwrap();
        assert!(text.contains(old), "{file} has `{old}`");
        suite.write(file, &text.replacen(old, new, 1));
        let ran = place.wildgym(&["tasks", "check", suite.path()]);
        assert_eq!(ran.code, Some(1), "{old} → {new}: {}{}", ran.out, ran.err);
        let told = says.iter().all(|part| ran.out.contains(part));
        assert!(told, "{old} → {new} must say {says:?}:\n{}{}", ran.out, ran.err);
    }
}

/// Commands, in which `WORLD` is the world of the suite, their exit codes, and what they say.
const BY_HAND: &[(&[&str], i32, &[&str])] = &[
    (&["world", "check", "nowhere"], 2, &["there is no world `nowhere`", "`enterprise`"]),
    (&["world", "check", "WORLD"], 0, &["depot 1: no fault; 10 operations, 3 events"]),
    (&["world", "show", "WORLD", "--table", "order_report"], 0, &["Astrid Lund"]),
    (&["world", "show", "WORLD", "--table", "order"], 2, &["no table `order`", "`orders`"]),
    (
        &["world", "show", "WORLD", "--operation", "ship_order"],
        0,
        &["not in one round", "example:"],
    ),
    (&["world", "call", "WORLD", "crate_contact"], 2, &["the nearest", "`create_contact`"]),
    (&["world", "call", "WORLD", "create_contact", "{}"], 1, &["\"name\" is a required property"]),
    (
        &[
            "world",
            "call",
            "WORLD",
            "find_contacts",
            r#"{"text": "lund"}"#,
            "--context",
            "user_id=9",
            "--event",
            "hold",
        ],
        0,
        &["CON-lund0001", "`hold` happened before call 1", "no row of `users` has that `id`"],
    ),
    (
        &["world", "call", "WORLD", "find_products", "--event", "fire"],
        2,
        &["event[0].event", "`fire`"],
    ),
    (
        &[
            "world",
            "call",
            "WORLD",
            "cancel_order",
            r#"{"order_id": "ORD-old00002"}"#,
            "ship_order",
            r#"{"order_id": "ORD-old00002"}"#,
            "--parallel",
        ],
        1,
        &["(conflict)"],
    ),
    (
        &["world", "call", "WORLD", "save_stock", r#"{"path": "../x"}"#, "--diff"],
        1,
        &["error:", "nothing differs"],
    ),
    (
        &["world", "call", "WORLD", "save_stock", r#"{"path": "a/b.json"}"#],
        0,
        &["`a/b.json` was written"],
    ),
    (
        &["world", "call", "WORLD", "find_products", "--state", "nothing"],
        2,
        &["cannot read the state `nothing`"],
    ),
    (
        &["world", "call", "WORLD", "find_products", "--state", "trade/suite.toml"],
        2,
        &["no SQLite database"],
    ),
    (&["world", "diff", "WORLD"], 2, &["--run RUN"]),
    (&["world", "shell", "WORLD", "-c", "SELECT password FROM users WHERE id = 1"], 0, &["sesame"]),
    (
        &["world", "shell", "WORLD", "-c", "UPDATE users SET role = 'manager'"],
        2,
        &["is not allowed here"],
    ),
    (&["world", "shell", "WORLD", "-c", "PRAGMA table_list"], 2, &["is not allowed here"]),
    (
        &["tools", "call", "create_contact", r#"{"name": "Ada"}"#, "--world", "WORLD"],
        0,
        &["\"name\":\"Ada\""],
    ),
    (
        &["tools", "call", "create_contact", "{}", "--seed", "1"],
        2,
        &["there is no tool `create_contact`"],
    ),
    (&["tools", "call", "scrape", "{}", "--save", "x"], 2, &["--world <WORLD>"]),
    (&["tools", "list", "--world", "WORLD"], 0, &["create_contact", "crm"]),
    (&["tools", "show", "place_order", "--world", "WORLD"], 0, &["wildgym tools call place_order"]),
];

/// Worlds by hand: mistakes get an answer that helps, and a state goes on where it was saved.
#[test]
fn worlds_are_tried_by_hand() {
    let place = Place::new();
    let suite = Suite::new(&place);
    let world = format!("{}/depot", suite.path());
    let world = world.as_str();
    for (arguments, code, says) in BY_HAND {
        let given = |word: &&'static str| if *word == "WORLD" { world } else { *word };
        let arguments: Vec<&str> = arguments.iter().map(given).collect();
        let ran = place.wildgym(&arguments);
        let all = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(*code), "{arguments:?}: {all}");
        assert!(
            says.iter().all(|part| all.contains(part)),
            "{arguments:?} must say {says:?}: {all}"
        );
    }
    let ada = r#"{"name": "Ada Stone"}"#;
    done(&place.wildgym(&["world", "call", world, "create_contact", ada, "--save", "one"]));
    done(&place.wildgym(&[
        "world",
        "call",
        world,
        "create_contact",
        ada,
        "--state",
        "one",
        "--save",
        "two",
    ]));
    done(&place.wildgym(&[
        "world",
        "diff",
        world,
        "two",
        "--check",
        "contacts[name == \"Ada Stone\"].count == 2",
    ]));
    let json = place
        .wildgym(&[
            "world",
            "call",
            world,
            "create_contact",
            ada,
            "find_products",
            "--json",
            "--diff",
        ])
        .json();
    assert_eq!(json["calls"][0]["result"]["name"], "Ada Stone");
    assert_eq!(json["difference"]["tables"][0]["table"], "contacts");
}

/// The catalogs of the built-in world are as published: 43 operations by category, each
/// with an example that fits its schema.
#[test]
fn the_catalog_of_a_world_is_listed() {
    let place = Place::new();
    let all = place.wildgym(&["tools", "list", "--world", "enterprise", "--json"]).json();
    let all = all.as_array().unwrap();
    let mut categories: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in all {
        *categories.entry(tool["category"].as_str().unwrap()).or_default() += 1;
        let validator = jsonschema::validator_for(&tool["parameters"]).unwrap();
        assert!(validator.is_valid(&tool["example"]), "{}: {}", tool["name"], tool["example"]);
    }
    let want =
        [("admin", 7), ("communication", 6), ("crm", 8), ("data", 8), ("erp", 7), ("utility", 7)];
    assert_eq!(categories.into_iter().collect::<Vec<_>>(), want);
}
