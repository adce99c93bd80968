//! SQL of an agent, over the views that a world publishes.
//!
//! It runs in a database of its own that holds nothing but copies of the views it names,
//! so there is nothing else to be read, whatever the statement says. (Rules about which
//! view a column is read through would not do: a `WITH` clause can take a view's name.)
//! It is one query without parameters.
//!
//! SQLite can limit memory only for a whole process, so a query's is limited by what fills
//! it: the steps that it may take, times the longest row that it may make (a row that is
//! sorted or kept takes four steps or more), and the size of its result. Some 100 MiB for a
//! moment is the most that one can reach.

use std::sync::Arc;

use rusqlite::limits::Limit;
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, Statement, params_from_iter};
use serde_json::{Value, json};
use wildgym_tasks::world::Code;

use super::blueprint::{configure, open};
use super::error::WorldError;
use super::functions::register_times;
use super::guard::{Bounds, Guard, Mode};
use super::live::Live;
use super::trial::problem;
use super::values::to_json;

/// Most steps of an agent's query, whatever the world allows its own operations.
const STEPS: u64 = 100_000;
/// Longest text or row that an agent's query can make, in bytes, unless the views have
/// longer ones.
const LENGTH: usize = 4 << 10;
/// Longest query, in bytes.
const SQL: usize = 10_000;
/// Most columns of a result, or of anything in between.
const COLUMNS: i32 = 200;
/// Largest result, in bytes of JSON without its punctuation.
const RESULT: usize = 256 << 10;

/// Writes a name so that it can be nothing else than a name.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Runs a query and returns its columns and rows.
pub(super) fn run(live: &Live, sql: &str) -> Result<Value, WorldError> {
    if sql.contains('\0') {
        return Err(invalid("the query holds a NUL character".to_owned()));
    }
    if sql.len() > SQL {
        return Err(limit(format!("the query has more than {SQL} bytes")));
    }
    let views: Vec<&str> = named(live, sql);
    live.make_views_of(&views)?;
    let copy = copies(live, &views).map_err(|error| WorldError::broken("views", &error))?;
    copy.guard.allow(views.iter().map(|view| (*view).to_owned()).collect());
    copy.guard.refill(live.world.meta.limits.steps.min(STEPS));
    copy.guard.enter(Mode::Agent);
    let mut statement = match copy.connection.prepare(sql) {
        Ok(statement) => statement,
        Err(_) if copy.guard.was_stopped() => return Err(copy.stopped()),
        Err(error) => {
            let why = problem(&error, &copy.guard);
            return Err(invalid(format!("{why}; {}", offered(live))));
        }
    };
    if statement.is_explain() != 0 || !statement.readonly() || statement.column_count() == 0 {
        return Err(invalid(format!("expected one SELECT; {}", offered(live))));
    }
    if statement.parameter_count() > 0 {
        return Err(invalid("write values into the query; it has no parameters".to_owned()));
    }
    // The query itself may be longer than what it makes.
    let bound = i32::try_from(copy.length).unwrap_or(i32::MAX);
    let set = copy.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bound);
    set.map_err(|error| WorldError::broken("limits", &error))?;
    copy.rows(&mut statement, live.world.meta.limits.rows)
}

fn invalid(message: String) -> WorldError {
    WorldError::refused(Code::Invalid, message)
}

fn limit(message: String) -> WorldError {
    WorldError::refused(Code::Limit, message)
}

/// Returns about how many bytes a value has in JSON.
fn weight(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 8,
        ValueRef::Text(text) => text.len() + 2,
        ValueRef::Blob(bytes) => 2 * bytes.len() + 2,
    }
}

/// Returns the views whose names stand anywhere in the text.
fn named<'l>(live: &'l Live, sql: &str) -> Vec<&'l str> {
    let text = sql.to_ascii_lowercase();
    let views = live.world.meta.views.iter();
    views.map(String::as_str).filter(|view| text.contains(&view.to_ascii_lowercase())).collect()
}

fn offered(live: &Live) -> String {
    let views: Vec<String> = live.world.meta.views.iter().map(|view| format!("`{view}`")).collect();
    format!("what can be read is {}", views.join(", "))
}

/// A database that holds nothing but copies of views.
struct Copied {
    connection: Connection,
    guard: Arc<Guard>,
    /// The longest text or row that a query can make of them, in bytes.
    length: usize,
}

impl Copied {
    /// Runs a query and reads its rows, `most` at the most.
    fn rows(&self, statement: &mut Statement<'_>, most: u64) -> Result<Value, WorldError> {
        let columns: Vec<String> = statement.column_names().map(ToOwned::to_owned).collect();
        let mut rows = statement.raw_query();
        let mut found: Vec<Value> = Vec::new();
        let mut size = 0;
        while let Some(row) = rows.next().map_err(|error| self.failed(&error))? {
            if found.len() as u64 == most {
                let message = format!("more than {most} rows; add LIMIT, or sum up in the query");
                return Err(limit(message));
            }
            let mut values = Vec::with_capacity(columns.len());
            for index in 0..columns.len() {
                let value = row.get_ref(index).map_err(|error| self.failed(&error))?;
                size += weight(value);
                if size > RESULT {
                    return Err(limit(format!("the result has more than {} KiB", RESULT >> 10)));
                }
                values.push(to_json(value));
            }
            found.push(Value::Array(values));
        }
        Ok(json!({"columns": columns, "rows": found}))
    }

    fn stopped(&self) -> WorldError {
        let steps = self.guard.steps();
        limit(format!("the query takes more than {steps} steps; ask for less"))
    }

    /// Words why a query did not come to its end.
    fn failed(&self, error: &Error) -> WorldError {
        if self.guard.was_stopped() {
            return self.stopped();
        }
        if error.sqlite_error_code() == Some(ErrorCode::TooBig) {
            return limit(format!("a text or a row has more than {} bytes", self.length));
        }
        invalid(problem(error, &self.guard))
    }
}

fn copies(live: &Live, views: &[&str]) -> rusqlite::Result<Copied> {
    let mut connection = open()?;
    configure(&connection)?;
    register_times(&connection, &live.moment, &live.calendar)?;
    live.guard.enter(Mode::Engine);
    let mut length = LENGTH;
    for view in views {
        // A query can put a row of two views together.
        length = length.max(2 * copy(&live.connection, &connection, view)?);
    }
    let bound = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
    let bounds = Bounds { length: bound(length.max(SQL + 1)), sql: bound(SQL), steps: STEPS };
    let guard = Guard::install(&mut connection, bounds)?;
    connection.set_limit(Limit::SQLITE_LIMIT_COLUMN, COLUMNS)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    Ok(Copied { connection, guard, length })
}

/// Copies a view as a table and returns the length of its longest row, in bytes.
fn copy(from: &Connection, to: &Connection, view: &str) -> rusqlite::Result<usize> {
    let mut source = from.prepare(&format!("SELECT * FROM {}", quoted(view)))?;
    let names: Vec<String> = source.column_names().map(quoted).collect();
    let mut all = Vec::new();
    let mut rows = source.raw_query();
    while let Some(row) = rows.next()? {
        let values = (0..names.len()).map(|index| row.get::<_, Sql>(index));
        all.push(values.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    let columns: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(index, name)| format!("{name} {}", affinity(&all, index)))
        .collect();
    to.execute_batch(&format!("CREATE TABLE {} ({})", quoted(view), columns.join(", ")))?;
    let marks = vec!["?"; names.len()].join(", ");
    let mut insert = to.prepare(&format!("INSERT INTO {} VALUES ({marks})", quoted(view)))?;
    to.execute_batch("BEGIN")?;
    let mut longest = 0;
    for row in all {
        longest = longest.max(row.iter().map(|value| weight(ValueRef::from(value))).sum());
        insert.execute(params_from_iter(row))?;
    }
    to.execute_batch("COMMIT")?;
    Ok(longest)
}

/// Returns the type of a column by what stands in it, so that `amount > '100'` compares
/// numbers as it would in a table.
fn affinity(rows: &[Vec<Sql>], column: usize) -> &'static str {
    let values = || rows.iter().filter_map(|row| row.get(column));
    let all = |fits: fn(&Sql) -> bool| values().all(fits);
    if all(|value| matches!(value, Sql::Null)) {
        "BLOB"
    } else if all(|value| matches!(value, Sql::Null | Sql::Integer(_) | Sql::Real(_))) {
        "NUMERIC"
    } else if all(|value| matches!(value, Sql::Null | Sql::Text(_))) {
        "TEXT"
    } else {
        "BLOB"
    }
}
