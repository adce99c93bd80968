//! SQL that an agent might send to see what the reports leave out.
//!
//! The statements are those of the example world (`sandbox/tests/worlds/hostile.json`) with
//! the names of this one. Users' mail addresses and ids stand in no reporting view.

use serde::Deserialize;
use serde_json::json;
use wildgym_sandbox::world::WorldError;

use super::{Play, scene};

/// A statement and how it has to end: `refused` or `answered`.
#[derive(Debug, Deserialize)]
struct Hostile {
    why: String,
    ends: String,
    sql: String,
}

const NAMES: [(&str, &str); 6] = [
    ("{view}", "rpt_orders"),
    ("{column}", "total"),
    ("{other}", "rpt_stock"),
    ("{table}", "users"),
    ("{TABLE}", "USERS"),
    ("{secret}", "email"),
];

const SECRETS: [&str; 4] = ["@tessel-quay.example", "CREATE TABLE", "USR-", "root:"];

#[test]
fn hostile_sql_sees_nothing_but_the_reports_and_ends() {
    let text = include_str!("../../sandbox/tests/worlds/hostile.json");
    let corpus: Vec<Hostile> = serde_json::from_str(text).unwrap();
    assert!(corpus.len() >= 200, "{}", corpus.len());
    let mut play = Play::new(scene(None));
    let before = play.live.image().unwrap();
    let mut wrong = Vec::new();
    for Hostile { why, ends, sql } in corpus {
        let sql = NAMES.iter().fold(sql, |sql, (name, value)| sql.replace(name, value));
        let (ended, told) = match play.call("data_query", &json!({"sql": sql})) {
            Ok(found) => ("answered", found.to_string()),
            Err(WorldError::Refused(refusal)) => ("refused", refusal.message),
            Err(WorldError::Broken(why)) => panic!("{sql}: {why}"),
        };
        for secret in SECRETS {
            assert!(!told.contains(secret), "{sql} ({why}): {told}");
        }
        if ended != ends {
            wrong.push(format!("{ended}: {sql} ({why})"));
        }
        assert!(play.live.image().unwrap() == before, "{sql}: changed the state");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Operations take hostile text as text.
#[test]
fn no_argument_is_taken_for_sql() {
    let texts =
        ["'; DROP TABLE contacts; --", "x' OR '1'='1", "\" OR 1=1", "(SELECT email FROM users)"];
    let mut play = Play::new(scene(None));
    for text in texts {
        let calls = [
            ("crm_search_contacts", json!({"query": text})),
            ("crm_get_contact", json!({"contact_id": text})),
            ("lookup_record", json!({"id": text})),
            ("erp_search_orders", json!({"reference": text})),
            ("search_messages", json!({"query": text})),
        ];
        for (operation, arguments) in calls {
            match play.call(operation, &arguments) {
                Ok(found) => assert_eq!(found["total"], 0, "{operation} {text}: {found}"),
                Err(WorldError::Refused(_)) => {}
                Err(WorldError::Broken(why)) => panic!("{operation} {text}: {why}"),
            }
        }
    }
    assert!(play.holds("contacts.count == baseline and users.count == baseline"));
}
