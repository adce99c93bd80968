//! SQL that an agent might send to see what it must not, or to keep the machine busy.
//!
//! The statements stand in `tests/worlds/hostile.json`, each with how it has to end and why
//! it is there; names of the world stand in braces. Those that are too long to be written
//! down are made here.

use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Play, WorldError};

/// A statement and how it has to end: `refused` or `answered`.
#[derive(Debug, Deserialize)]
struct Case {
    why: String,
    ends: String,
    sql: String,
}

/// What the names in braces are in the example world.
const NAMES: [(&str, &str); 6] = [
    ("{view}", "stock_report"),
    ("{column}", "stock"),
    ("{other}", "order_report"),
    ("{table}", "users"),
    ("{TABLE}", "USERS"),
    ("{secret}", "password"),
];

/// What stands in the tables and not in the views, or outside of the database.
const SECRETS: [&str; 5] = ["sesame", "Moreau", "CREATE TABLE", "acme.example", "root:"];

/// Most memory that a query may take for a while, in KiB.
const MEMORY: u64 = 128 << 10;

fn corpus() -> Vec<Case> {
    let text = include_str!("../../../tests/worlds/hostile.json");
    let mut cases: Vec<Case> = serde_json::from_str(text).unwrap();
    for case in &mut cases {
        for (name, value) in NAMES {
            case.sql = case.sql.replace(name, value);
        }
    }
    let made = deep().into_iter().chain(busy()).map(|(sql, ends, why)| {
        let (ends, why) = (ends.to_owned(), why.to_owned());
        Case { why, ends, sql }
    });
    cases.extend(made);
    cases
}

/// A statement that is made, how it has to end, and why it is there.
type Made = (String, &'static str, &'static str);

fn select(expression: impl std::fmt::Display) -> String {
    format!("SELECT {expression}")
}

fn nested(open: &str, core: &str, close: &str, times: usize) -> String {
    format!("{}{core}{}", open.repeat(times), close.repeat(times))
}

/// Makes those that are deep or long.
fn deep() -> Vec<Made> {
    let unions = vec!["SELECT 1"; 300].join(" UNION ");
    vec![
        (select(nested("(", "1", ")", 10_000)), "refused", "parentheses 10,000 deep"),
        (select(nested("(", "1", ")", 4_000)), "refused", "parentheses 4,000 deep"),
        (select(nested("-(", "1", ")", 3_000)), "refused", "signs 3,000 deep"),
        (select(nested("NOT ", "1", "", 2_000)), "refused", "negations 2,000 deep"),
        (select(nested("abs(", "1", ")", 1_500)), "refused", "calls 1,500 deep"),
        (select(nested("CASE WHEN ", "1", " THEN 1 END", 300)), "refused", "branches 300 deep"),
        (nested("SELECT * FROM (", "SELECT 1", ")", 600), "refused", "subqueries 600 deep"),
        (select(nested("(SELECT ", "1", ")", 900)), "refused", "scalar subqueries 900 deep"),
        (select(vec!["1"; 3_000].join(" OR ")), "refused", "3,000 alternatives"),
        (select(vec!["1"; 4_000].join("||")), "refused", "4,000 parts of a text"),
        (select(vec!["1"; 2_500].join(", ")), "refused", "2,500 columns"),
        (select(format!("1 IN ({})", vec!["1"; 3_000].join(", "))), "answered", "a long list"),
        (select("1".repeat(20_000)), "refused", "a number of 20,000 digits"),
        (select(format!("\"{}\"", "x".repeat(9_000))), "refused", "a name of 9,000 letters"),
        (select(format!("length('{}')", "x".repeat(9_000))), "refused", "a text of 9,000 letters"),
        (select(format!("1 {}", "/* x */ ".repeat(1_000))), "answered", "a thousand comments"),
        (unions.clone(), "refused", "300 halves of a union"),
        (format!("SELECT count(*) FROM ({unions})"), "refused", "the same inside"),
        (
            select(format!("json_extract('{}', '$')", nested("[", "", "]", 4_000))),
            "refused",
            "JSON 4,000 deep",
        ),
        (
            select(format!("count(*) FROM json_tree('{}')", nested("[", "", "]", 900))),
            "answered",
            "JSON 900 deep",
        ),
    ]
}

/// Makes those that keep the machine busy.
fn busy() -> Vec<Made> {
    let doubling: Vec<String> = (1..40)
        .map(|level| format!("c{level} AS (SELECT 1 FROM c{0} a, c{0} b)", level - 1))
        .collect();
    let joins = |count: usize| {
        let tables: Vec<String> =
            (0..count).map(|index| format!("stock_report t{index}")).collect();
        format!("SELECT count(*) FROM {}", tables.join(", "))
    };
    let (percent, star) = ("%a".repeat(40), "*a".repeat(40));
    let long = "replace(hex(zeroblob(2000)), '0', 'a')";
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000) \
                SELECT count(*) FROM n";
    let list = "1,".repeat(900);
    let needle = "0".repeat(1_000);
    vec![
        (
            format!("WITH c0 AS (SELECT 1), {} SELECT count(*) FROM c39", doubling.join(", ")),
            "refused",
            "39 doublings, each named twice by the next",
        ),
        (joins(64), "refused", "64 tables beside each other"),
        (joins(65), "refused", "one more than the engine can join"),
        (
            select(format!("{long} LIKE '{percent}b'")),
            "answered",
            "a pattern that looks back often",
        ),
        (select(format!("{long} GLOB '{star}b'")), "answered", "the same with other signs"),
        (
            select(format!("'a' LIKE '{}'", "%a".repeat(2_000))),
            "refused",
            "a pattern of 4,000 signs",
        ),
        (
            format!("{many} WHERE {long} || i LIKE '{percent}b'"),
            "refused",
            "9,000 times a pattern that looks back",
        ),
        (format!("{many}, json_each('[{list}1]')"), "refused", "9,000 times a list of 900"),
        (
            format!("{many} WHERE instr({long}, i || '{needle}')"),
            "refused",
            "9,000 searches in long texts",
        ),
    ]
}

/// Asks, and says how it ended; whatever is told holds no secret.
fn ask(play: &mut Play, case: &Case) -> &'static str {
    let short: String = case.sql.chars().take(200).collect();
    let (ended, told) = match play.call("query_reports", &json!({"sql": case.sql})) {
        Ok(found) => ("answered", found.to_string()),
        Err(WorldError::Refused(refusal)) => ("refused", refusal.message),
        Err(WorldError::Broken(why)) => panic!("{short} ({}): {why}", case.why),
    };
    for secret in SECRETS {
        assert!(!told.contains(secret), "{short} ({}): {told}", case.why);
    }
    assert!(told.len() < 400 << 10 && !told.is_empty(), "{short}: {} bytes", told.len());
    ended
}

#[test]
fn hostile_sql_sees_nothing_but_the_views_and_ends() {
    let corpus = corpus();
    assert!(corpus.len() >= 250, "{}", corpus.len());
    let mut play = Play::new();
    let before = play.live.image().unwrap();
    let mut wrong = Vec::new();
    for case in &corpus {
        let ended = ask(&mut play, case);
        if ended != case.ends {
            let short: String = case.sql.chars().take(120).collect();
            wrong.push(format!("{ended}: {short} ({})", case.why));
        }
        assert!(play.live.image().unwrap() == before, "{}: changed the state", case.sql);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// It is asked in a process of its own, whose memory is nobody else's.
#[test]
fn no_query_takes_much_memory() {
    let name = "world::tests::hostile::no_query_takes_much_memory";
    if std::env::var_os("WILDGYM_TEST_ASKS").is_some() {
        let corpus = corpus();
        let mut play = Play::new();
        let before = peak();
        for case in &corpus {
            ask(&mut play, case);
        }
        println!("grew by {} KiB", peak() - before);
        return;
    }
    let asked = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env("WILDGYM_TEST_ASKS", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&asked.stdout);
    let grown = text.lines().find_map(|line| line.split_once("grew by ")?.1.strip_suffix(" KiB"));
    let grown: u64 = grown.unwrap_or_else(|| panic!("{asked:?}")).parse().unwrap();
    assert!(grown < MEMORY, "{grown} KiB");
}

/// Returns the most memory that this process ever held, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn honest_sql_is_answered() {
    let mut play = Play::new();
    let mut ask = |sql: &str| play.call("query_reports", &json!({"sql": sql}));
    let sums = ask(
        "SELECT state, sum(total_cents) AS total FROM order_report GROUP BY state ORDER BY state",
    );
    let want =
        json!({"columns": ["state", "total"], "rows": [["open", 189_900], ["shipped", 1100]]});
    assert_eq!(sums.unwrap(), want);
    let now = ask("SELECT datetime('now'), date(), CURRENT_TIMESTAMP, strftime('%Y')").unwrap();
    let row: Vec<&str> =
        now["rows"][0].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(row, ["2026-03-02 09:02:00", "2026-03-02", "2026-03-02 09:02:00", "2026"]);
    let few =
        ask("WITH low AS (SELECT * FROM stock_report WHERE stock < '50') SELECT count(*) FROM low");
    assert_eq!(few.unwrap()["rows"], json!([[3]]), "texts compare with numbers as in a table");
    let json = ask("SELECT value FROM json_each('[1, 2]')").unwrap();
    assert_eq!(json["rows"], json!([[1], [2]]));
    let Err(WorldError::Refused(refusal)) = ask("SELECT * FROM user") else { panic!("answered") };
    let want = "no such table: user; what can be read is `order_report`, `stock_report` (invalid)";
    assert_eq!(refusal.to_string(), want);
}

/// What is too much is said with the number that helps.
#[test]
fn limits_are_told() {
    let mut play = Play::new();
    let count = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 90)";
    let table = [
        (
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n",
            "the query takes more than 100000 steps; ask for less (limit)",
        ),
        ("SELECT zeroblob(5000)", "a text or a row has more than 4096 bytes (limit)"),
        (
            &format!("{count} SELECT i FROM n, stock_report"),
            "more than 100 rows; add LIMIT, or sum up in the query (limit)",
        ),
        (
            &format!("{count} SELECT hex(zeroblob(2000)) AS a, hex(zeroblob(2001)) AS b FROM n"),
            "the result has more than 256 KiB (limit)",
        ),
    ];
    for (sql, want) in table {
        assert_eq!(play.refusal("query_reports", &json!({"sql": sql})), want, "{sql}");
    }
}
