//! Scenarios as authors write them: the published example loads, and every slip is told with
//! its file, line and path.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use wildgym_tasks::scenario_file::ScenarioType;
use wildgym_tasks::{Scenario, Suite};

const PUBLISHED: &str = include_str!("../src/scenario_file/published.json");

const WORLD: &str = r#"format = 1
name = "crm"
version = "1"
description = "Contacts"
now = 2026-03-02T09:00:00Z
context = { user_id = "USR-1" }

[[operation]]
name = "crm_create_contact"
category = "crm"
description = "Creates a contact"
effects = ["INSERT INTO contacts (id, name) VALUES (new_id('CON'), :name)"]
result = "SELECT id FROM contacts ORDER BY rowid DESC LIMIT 1"
[operation.parameters.properties]
name = { type = "string" }
company = { type = "string" }
email = { type = "string" }

[[operation]]
name = "crm_log_activity"
category = "crm"
description = "Logs an activity"
effects = ["INSERT INTO activities (id, contact_id) VALUES (new_id('ACT'), :contact_id)"]
result = "SELECT id FROM activities ORDER BY rowid DESC LIMIT 1"
[operation.parameters.properties]
contact_id = { type = "string" }
type = { type = "string" }

[[operation]]
name = "crm_search_contacts"
category = "crm"
description = "Searches contacts"
result = "SELECT id FROM contacts WHERE name = :query"
[operation.parameters.properties]
query = { type = "string" }
"#;

/// Writes a suite with a world and one scenario; returns its folder.
fn suite(folder: &Utf8Path, name: &str, text: &str) -> Utf8PathBuf {
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let meta = "format = 1\nname = \"s\"\nversion = \"1\"\ndescription = \"d\"\n";
    put("suite.toml", meta);
    put("worlds/crm/world.toml", WORLD);
    put("worlds/crm/schema.sql", "CREATE TABLE contacts (id TEXT PRIMARY KEY, name TEXT);\n");
    put("worlds/crm/seed.sql", "");
    put(&format!("scenarios/{name}.json"), text);
    folder.to_owned()
}

fn load(name: &str, text: &str) -> Result<Suite, String> {
    let folder = tempfile::tempdir().unwrap();
    let folder = suite(Utf8Path::from_path(folder.path()).unwrap(), name, text);
    Suite::load(&folder).map_err(|faults| faults.to_string())
}

#[test]
fn the_published_scenario_loads_byte_for_byte() {
    let suite = load("T2-007", PUBLISHED).unwrap();
    let task = &suite.tasks["t2-007"];
    let file = task.scenario_file.as_ref().unwrap();
    assert_eq!((file.tier, file.kind), (2, ScenarioType::MultiStep));
    assert_eq!(task.meta.scenario, Scenario::Operations);
    assert_eq!(task.meta.final_state_assertions.len(), 2);
    let scene = task.meta.environment.world.as_ref().unwrap();
    assert_eq!(scene.name, "crm", "the suite's only world");
    assert_eq!(task.meta.now.to_string(), "2026-03-02T09:00:00Z", "the world's time");
    assert!(task.instruction.starts_with("Create a contact for John Smith"));
}

fn edit(from: &str, to: &str) -> String {
    PUBLISHED.replacen(from, to, 1)
}

fn more(text: &str) -> String {
    edit("\"max_calls\": 4,", &format!("\"max_calls\": 4,\n  {text},"))
}

/// Slips in the published keys, each with what is said of it.
fn slips() -> Vec<(String, &'static str)> {
    vec![
        (edit("\"tier\": 2", "\"tier\": 3"), "T2-007.json:3: tier: expected the tier of `T2-007`"),
        (edit("\"tier\": 2", "\"tier\": 7"), "T2-007.json:3: tier: expected a whole number from 1"),
        (edit("multi_step", "many_steps"), "T2-007.json:4: type: expected one of `single_call`"),
        (
            edit("\"id\": \"T2-007\"", "\"id\": \"T2-008\""),
            ":2: id: expected the file's name, `T2-007`",
        ),
        (
            edit("crm_log_activity", "crm_log_activty"),
            ":14: expected_calls[1].tool: `crm_log_activty`: unknown operation; did you mean `crm_log_activity`?",
        ),
        (
            edit("\"type\": \"call\"", "\"typ\": \"call\""),
            "args_match.typ: `typ`: unknown parameter of `crm_log_activity`; did you mean `type`?",
        ),
        (
            edit("\"call\" }", "{\"$regx\": \"c\"} }"),
            ":15: expected_calls[1].args_match.type: `$regx`: unknown operator; did you mean `$regex`?",
        ),
        (edit("[\"email\"]", "[\"e mail\"]"), "args_forbid[0]: expected a path"),
        (
            edit("$.calls[0].result.id", "$.calls[1].result.id"),
            "args_from_prior.contact_id: expected one of the calls before this one",
        ),
        (
            edit("$.calls[0].result.id", "$.calls.0.id"),
            "expected a path such as `$.calls[0].result.id`",
        ),
        (
            edit("\"strict\"", "\"loose\""),
            ":19: ordering: expected one of `strict`, `any`, `partial`",
        ),
        (edit("\"max_calls\": 4", "\"max_calls\": 1"), ":20: max_calls: 2 calls are expected"),
        (edit("\"max_calls\": 4,", ""), "max_calls: missing"),
        (
            edit("null", "{\"tool\": \"crm_log_activity\", \"fault\": \"boom\"}"),
            ":21: fault_injection[0].fault: expected one of `server_error`",
        ),
        (edit("baseline + 1", "baseline +"), ":23: final_state_assertions[0]: "),
        (edit("\"prompt\"", "\"promt\""), "promt: unknown field; did you mean `prompt`?"),
        (
            edit("\"tier\": 2,", "\"tier\": 2,\n  \"tier\": 2,"),
            ":4: tier: `tier` stands here twice",
        ),
        (edit("\"tier\": 2,", "\"tier\": 2"), "T2-007.json:4: not JSON: "),
    ]
}

/// Slips in what is added.
fn slips_in_additions() -> Vec<(String, &'static str)> {
    vec![
        (
            more("\"ask_user\": {\"guarded\": [{\"tool\": \"crm_log_activity\"}]}"),
            "ask_user.required: `guarded` and `before` say when",
        ),
        (
            more(
                "\"ask_user\": {\"required\": true, \"rules\": [{\"pattern\": \"a\", \"reply\": \"b\"}], \"guarded\": [{\"tool\": \"crm_log_activity\", \"args_match\": {\"typ\": 1}}]}",
            ),
            "ask_user.guarded[0].args_match.typ: `typ`: unknown parameter",
        ),
        (
            more("\"answer_checks\": [{\"number\": 1, \"not_of\": [\"Leeds\"]}]"),
            "answer_checks[0].not_of: belongs to `of`",
        ),
        (
            more("\"answer_checks\": [{\"none\": [\"x\"], \"of\": [\"Leeds\"]}]"),
            "answer_checks[0].of: belongs to `all`, `any` or `number`",
        ),
        (
            more("\"file_checks\": [{\"path\": \"../a.csv\"}]"),
            "file_checks[0].path: expected a path below the workspace",
        ),
        (
            edit("\"type\": \"call\" }", "\"$any\": [{\"typ\": \"call\"}] }"),
            "args_match.$any[0].typ: `typ`: unknown parameter of `crm_log_activity`",
        ),
        (
            more("\"refuse\": true"),
            "refuse: it is right to change nothing, but `crm_create_contact` is expected",
        ),
        (more("\"ask_user\": {\"required\": true}"), "ask_user.rules: a question is required"),
        (
            more("\"ask_user\": {\"rules\": [{\"pattern\": \"(\", \"reply\": \"x\"}]}"),
            "ask_user.rules[0].pattern: expected a regular expression",
        ),
        (
            more("\"answer_checks\": [{}]"),
            "answer_checks[0]: expected `all`, `any`, `none` or `number`",
        ),
        (more("\"tools\": [\"crm_search*\"]"), "`crm_create_contact` is not among the `tools`"),
        (more("\"world\": \"erp\""), "world: `erp`: unknown world"),
        (
            more("\"context\": {\"user\": 1}"),
            "context.user: unknown value of the context; expected one of `user_id`",
        ),
        (
            more("\"events\": [{\"event\": \"flood\", \"after_calls\": 1}]"),
            "events[0].event: `flood`: unknown event",
        ),
        (
            more(
                "\"reference\": {\"rounds\": [[{\"tool\": \"crm_log_activity\", \"args\": {\"contact_id\": \"$.calls[0].result.id\"}}]], \"answer\": \"x\"}",
            ),
            "reference.rounds[0][0].args.contact_id: call 0 is not made in an earlier round",
        ),
        (
            more("\"wrong\": [{\"name\": \"a\", \"reason\": \"bad luck\", \"answer\": \"x\"}]"),
            "wrong[0].reason: expected one of `no-answer`",
        ),
    ]
}

#[test]
fn every_slip_is_told_with_its_line_and_path() {
    let mut missed = Vec::new();
    for (text, part) in slips().into_iter().chain(slips_in_additions()) {
        let faults = load("T2-007", &text).map(drop).expect_err(part);
        if !faults.contains(part) {
            missed.push(format!("{part}\n--- found:\n{faults}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
    let faults = load("T2-007", "[]").unwrap_err();
    assert!(faults.contains("expected a table"), "{faults}");
    let nothing = "{\"id\": \"T1-001\", \"tier\": 1, \"type\": \"single_call\", \"prompt\": \"x\", \"max_calls\": 1}";
    let faults = load("T1-001", nothing).unwrap_err();
    assert!(faults.contains("nothing is expected, so every trial would pass"), "{faults}");
}
