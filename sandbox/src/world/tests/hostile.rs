//! SQL that an agent might send to see what it must not, or to keep the machine busy.

use serde_json::{Value, json};

use super::{Play, WorldError};

/// Statements, each of which has to be refused or to show nothing but the views.
const CORPUS: &[&str] = &[
    "SELECT password FROM users",
    "SELECT * FROM main.users",
    "SELECT * FROM temp.users",
    "SELECT * FROM users, order_report",
    "SELECT * FROM order_report UNION SELECT id, name, role, password, 1 FROM users",
    "SELECT * FROM order_report UNION ALL SELECT 1, 2, 3, 4, password FROM users",
    "WITH order_report AS (SELECT password FROM users) SELECT * FROM order_report",
    "WITH order_report (p) AS (SELECT password FROM main.users) SELECT p FROM order_report",
    "SELECT (SELECT password FROM users LIMIT 1) FROM order_report",
    "SELECT * FROM order_report WHERE EXISTS (SELECT 1 FROM users WHERE password LIKE 's%')",
    "SELECT * FROM order_report ORDER BY (SELECT password FROM users)",
    "SELECT * FROM order_report JOIN users ON 1",
    "SELECT * FROM order_report AS users",
    "SELECT max(password) FROM (SELECT * FROM users)",
    "SELECT * FROM contacts",
    "SELECT * FROM orders",
    "SELECT * FROM \"users\"",
    "SELECT * FROM [users]",
    "SELECT * FROM `users`",
    "SELECT * FROM 'users'",
    "SELECT sql FROM sqlite_master",
    "SELECT sql FROM sqlite_schema",
    "SELECT * FROM sqlite_temp_master",
    "SELECT * FROM sqlite_temp_schema",
    "SELECT * FROM sqlite_sequence",
    "SELECT * FROM sqlite_stat1",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_stmt",
    "SELECT * FROM bytecode('SELECT 1')",
    "SELECT * FROM tables_used('SELECT 1')",
    "SELECT * FROM pragma_table_info('users')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_table_list",
    "SELECT * FROM pragma_function_list",
    "SELECT * FROM pragma_compile_options",
    "SELECT * FROM pragma_module_list",
    "PRAGMA table_info(users)",
    "PRAGMA database_list",
    "PRAGMA journal_mode = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA query_only = OFF",
    "PRAGMA temp_store_directory = '/tmp'",
    "PRAGMA hard_heap_limit = 1",
    "PRAGMA trusted_schema = ON",
    "ATTACH '/etc/passwd' AS p",
    "ATTACH DATABASE ':memory:' AS m",
    "ATTACH 'file:/etc/passwd?mode=ro' AS p",
    "DETACH main",
    "SELECT load_extension('libm.so')",
    "SELECT load_extension('/lib/x86_64-linux-gnu/libm.so.6', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('/tmp/x', 'y')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts3_tokenizer('simple', x'00')",
    "SELECT sqlite_version()",
    "SELECT sqlite_source_id()",
    "SELECT sqlite_compileoption_get(0)",
    "SELECT sqlite_log(1, 'x')",
    "SELECT random()",
    "SELECT hex(randomblob(16))",
    "SELECT RANDOM()",
    "INSERT INTO order_report VALUES (1, 2, 3, 4, 5)",
    "INSERT INTO users VALUES (9, 'x', 'manager', 'y')",
    "UPDATE users SET role = 'manager'",
    "UPDATE stock_report SET stock = 9",
    "DELETE FROM stock_report",
    "DELETE FROM users",
    "REPLACE INTO users VALUES (1, 'x', 'manager', 'y')",
    "WITH x AS (SELECT 1) DELETE FROM stock_report",
    "WITH x AS (SELECT 1) INSERT INTO stock_report SELECT 1, 2, 3",
    "DROP TABLE users",
    "DROP TABLE stock_report",
    "DROP VIEW order_report",
    "ALTER TABLE stock_report RENAME TO x",
    "ALTER TABLE users ADD COLUMN x",
    "CREATE TABLE x (y)",
    "CREATE TEMP TABLE x (y)",
    "CREATE TABLE x AS SELECT * FROM users",
    "CREATE VIEW x AS SELECT * FROM users",
    "CREATE TEMP VIEW order_report AS SELECT * FROM users",
    "CREATE TRIGGER t AFTER INSERT ON stock_report BEGIN SELECT 1; END",
    "CREATE TEMP TRIGGER t AFTER INSERT ON stock_report BEGIN SELECT 1; END",
    "CREATE INDEX i ON stock_report (stock)",
    "CREATE VIRTUAL TABLE x USING fts5(y)",
    "CREATE VIRTUAL TABLE x USING rtree(a, b, c)",
    "CREATE VIRTUAL TABLE x USING dbstat",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT x",
    "RELEASE x",
    "VACUUM",
    "VACUUM INTO '/tmp/stolen.db'",
    "ANALYZE",
    "REINDEX",
    "EXPLAIN SELECT * FROM order_report",
    "EXPLAIN QUERY PLAN SELECT * FROM users",
    "SELECT 1; SELECT password FROM users",
    "SELECT 1; DROP TABLE users",
    "SELECT 1 /* ; */; ATTACH 'x' AS y",
    "SELECT * FROM order_report; --",
    "SELECT ?1",
    "SELECT :sql, @user_id, $now",
    "SELECT * FROM json_each((SELECT json_group_array(password) FROM users))",
    "SELECT * FROM json_tree((SELECT json_group_object(name, password) FROM users))",
    "SELECT new_id('ORD'), draw(1, 6)",
    "SELECT datetime('now', 'localtime')",
    "SELECT * FROM fts3tokenize",
    "SELECT * FROM generate_series(1, 10)",
    "SELECT * FROM carray(1, 2)",
    "VALUES ((SELECT password FROM users))",
    "",
    ";",
    "--",
    "SELECT",
    "SELECT * FROM",
    "\0SELECT 1",
    "SELECT '\u{202e}password' FROM users",
];

/// Statements that would run for ever, or fill the memory.
const GREEDY: &[&str] = &[
    "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "WITH RECURSIVE c (x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT x FROM c ORDER BY x DESC",
    "WITH RECURSIVE c (x, s) AS (SELECT 1, zeroblob(16000) UNION ALL SELECT x + 1, s FROM c) \
     SELECT * FROM c ORDER BY s, x",
    "WITH RECURSIVE c (x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT length(x) FROM c",
    "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
    "SELECT zeroblob(2000000000)",
    "SELECT printf('%2000000000d', 1)",
    "SELECT replace(hex(zeroblob(8000)), '0', hex(zeroblob(8000)))",
    "SELECT count(*) FROM stock_report a, stock_report b, stock_report c, stock_report d, \
     stock_report e, stock_report f, stock_report g, stock_report h, stock_report i, \
     stock_report j, stock_report k, stock_report l",
    "WITH a AS (SELECT 1 UNION ALL SELECT 2), b AS (SELECT 1 FROM a, a x, a y, a z), \
     c AS (SELECT 1 FROM b, b x, b y, b z), d AS (SELECT 1 FROM c, c x, c y, c z) \
     SELECT count(*) FROM d",
    "SELECT group_concat(hex(zeroblob(8000))) FROM stock_report a, stock_report b",
];

#[test]
fn hostile_sql_sees_nothing_but_the_views() {
    assert!(CORPUS.len() >= 100);
    let mut play = Play::new();
    let before = play.live.image().unwrap();
    for sql in CORPUS {
        match play.call("query_reports", &json!({"sql": sql})) {
            Ok(found) => {
                let text = found.to_string();
                for secret in ["sesame", "Moreau", "CREATE TABLE", "acme.example", "root:"] {
                    assert!(!text.contains(secret), "{sql}: {text}");
                }
            }
            Err(WorldError::Refused(_)) => {}
            Err(WorldError::Broken(why)) => panic!("{sql}: {why}"),
        }
        assert!(play.live.image().unwrap() == before, "{sql}: changed the state");
    }
}

#[test]
fn greedy_sql_ends() {
    let mut play = Play::new();
    for sql in GREEDY {
        match play.call("query_reports", &json!({"sql": sql})) {
            Err(WorldError::Refused(_)) => {}
            other => panic!("{sql}: {other:?}"),
        }
    }
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
