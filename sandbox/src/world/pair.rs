//! Two states of a world beside each other: what differs, and whether assertions hold.
//!
//! It works on images alone, so a verdict can be given, and given again, long after the
//! world is gone. The final state is the database `main`, the one at the start `start`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, MAIN_DB};
use serde::Serialize;
use serde_json::{Map, Value};
use wildgym_tasks::world::assertion::{Assertion, Term, Truth};

use super::blueprint::{configure, open, tables};
use super::error::WorldError;
use super::functions::{Moment, calendar, register};
use super::guard::{Bounds, Guard, Mode};
use super::query::quoted;
use super::short;
use super::trial::problem;
use super::values::{Row, Rows, is_true, rows, to_json};
use crate::seed::Seed;

/// Steps of one assertion.
const STEPS: u64 = 50_000_000;

/// Two states of one world.
#[derive(Debug)]
pub struct Pair {
    connection: Connection,
    guard: Arc<Guard>,
}

/// What became of an assertion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The assertion as written.
    pub assertion: String,
    /// Whether it holds.
    pub holds: bool,
    /// Where it does not: what was found instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Pair {
    /// Opens two images; `now` is the time that assertions see.
    pub fn open(start: &[u8], end: &[u8], now: Timestamp) -> Result<Self, WorldError> {
        Self::try_open(start, end, now).map_err(|error| WorldError::broken("images", &error))
    }

    fn try_open(start: &[u8], end: &[u8], now: Timestamp) -> rusqlite::Result<Self> {
        let mut connection = open()?;
        connection.deserialize_read_exact(MAIN_DB, end, end.len(), true)?;
        connection.execute_batch("ATTACH ':memory:' AS start")?;
        connection.deserialize_read_exact("start", start, start.len(), true)?;
        configure(&connection)?;
        register(&connection, &Moment::new(now, Seed::of_run(0)), &calendar()?)?;
        let bounds = Bounds { length: 16 << 20, sql: 100_000, steps: STEPS };
        let guard = Guard::install(&mut connection, bounds)?;
        Ok(Self { connection, guard })
    }

    /// Says whether an assertion holds.
    ///
    /// An assertion that cannot be read, or that does not fit the tables, is an error of
    /// its author and no finding.
    pub fn check(&self, text: &str) -> Result<Finding, String> {
        let wrong = |problem: String| format!("assertion `{text}`: {problem}");
        let assertion = Assertion::parse(text).map_err(|error| wrong(error.to_string()))?;
        let reason = match &assertion {
            Assertion::Sql(sql) => self.failure_of_sql(sql),
            Assertion::Short(truth) => self.failure_of_short(truth),
        };
        let reason = reason.map_err(wrong)?;
        Ok(Finding { assertion: text.to_owned(), holds: reason.is_none(), reason })
    }

    fn failure_of_sql(&self, sql: &str) -> Result<Option<String>, String> {
        match self.first(sql)? {
            Some((true, _)) => Ok(None),
            Some((false, value)) => Ok(Some(format!("it gives {value}"))),
            None => Ok(Some("it gives no row".to_owned())),
        }
    }

    fn failure_of_short(&self, truth: &Truth) -> Result<Option<String>, String> {
        for (sql, row) in short::needed(truth) {
            if self.first(&sql)?.is_none() {
                return Ok(Some(format!("{row}: there is no such row")));
            }
        }
        if self.holds(truth)? {
            return Ok(None);
        }
        self.explain(truth).map(Some)
    }

    fn holds(&self, truth: &Truth) -> Result<bool, String> {
        let sql = format!("SELECT {}", short::truth(truth));
        Ok(self.first(&sql)?.is_some_and(|(holds, _)| holds))
    }

    /// Says what was found where a condition does not hold.
    fn explain(&self, truth: &Truth) -> Result<String, String> {
        match truth {
            Truth::Compare(left, comparison, right) => {
                let (found, wanted) = short::sides(left, right);
                let (found, wanted) = (self.value(&found)?, self.value(&wanted)?);
                let right = match right {
                    Term::Literal(_) => String::new(),
                    other @ (Term::Baseline
                    | Term::Column(_)
                    | Term::Path(_)
                    | Term::Negative(_)
                    | Term::Calculation(..)) => format!(" (`{other}`)"),
                };
                Ok(format!("`{left}` is {found}, expected {} {wanted}{right}", comparison.sign()))
            }
            Truth::OneOf(left, _) => {
                let (found, _) = short::sides(left, left);
                Ok(format!("`{left}` is {}", self.value(&found)?))
            }
            Truth::All(parts) => {
                for part in parts {
                    if !self.holds(part)? {
                        return self.explain(part);
                    }
                }
                Ok(format!("`{truth}` does not hold"))
            }
            Truth::Any(_) | Truth::Not(_) => Ok(format!("`{truth}` does not hold")),
        }
    }

    fn value(&self, expression: &str) -> Result<Value, String> {
        let first = self.first(&format!("SELECT {expression}"))?;
        Ok(first.map(|(_, value)| value).unwrap_or_default())
    }

    /// Returns whether the first value of a query is true, and that value.
    fn first(&self, sql: &str) -> Result<Option<(bool, Value)>, String> {
        self.guard.refill(STEPS);
        self.guard.enter(Mode::Read);
        let statement = self.connection.prepare(sql);
        self.guard.enter(Mode::Engine);
        let mut statement = statement.map_err(|error| problem(&error, &self.guard))?;
        if statement.parameter_count() > 0 {
            return Err("an assertion has no parameters".to_owned());
        }
        self.guard.enter(Mode::Read);
        let mut found = statement.raw_query();
        let row = found.next().map_err(|error| {
            if self.guard.was_stopped() {
                return format!("it takes more than {STEPS} steps");
            }
            problem(&error, &self.guard)
        })?;
        let Some(row) = row else { return Ok(None) };
        let value = row.get_ref(0).map_err(|error| error.to_string())?;
        Ok(Some((is_true(value), to_json(value))))
    }

    /// Returns what differs between the states.
    pub fn difference(&self) -> Result<Difference, WorldError> {
        self.guard.enter(Mode::Engine);
        self.differences().map_err(|error| WorldError::broken("images", &error))
    }

    fn differences(&self) -> rusqlite::Result<Difference> {
        let mut found = Vec::new();
        for table in tables(&self.connection)? {
            let keys = self.keys(&table)?;
            let before = self.rows("start", &table, &keys)?;
            let after = self.rows("main", &table, &keys)?;
            let difference = compare(table, &keys, &before, &after);
            if !difference.is_empty() {
                found.push(difference);
            }
        }
        Ok(Difference { tables: found })
    }

    /// Returns the columns of the primary key; nothing where there is none.
    fn keys(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let sql = format!(
            "SELECT name FROM pragma_table_info({}) WHERE pk > 0 ORDER BY pk",
            text_literal(table)
        );
        let mut statement = self.connection.prepare(&sql)?;
        statement.query_map([], |row| row.get(0))?.collect()
    }

    /// Returns the rows of a table with what each is known by, in the order of insertion.
    fn rows(
        &self,
        database: &str,
        table: &str,
        keys: &[String],
    ) -> rusqlite::Result<Vec<(String, Row)>> {
        let order = if keys.is_empty() { "rowid AS \"rowid\", *" } else { "*" };
        let sql = format!("SELECT {order} FROM {database}.{} ORDER BY rowid", quoted(table));
        let mut statement = self.connection.prepare(&sql)?;
        let found = match rows(&mut statement, u64::MAX)? {
            Rows::All(found) => found,
            Rows::TooMany => Vec::new(),
        };
        Ok(found.into_iter().map(|row| (key(&row, keys).to_string(), row)).collect())
    }
}

fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn key(row: &Row, keys: &[String]) -> Value {
    let own = ["rowid".to_owned()];
    let keys = if keys.is_empty() { &own[..] } else { keys };
    keys.iter().map(|name| row.get(name).cloned().unwrap_or_default()).collect()
}

fn compare(
    table: String,
    keys: &[String],
    before: &[(String, Row)],
    after: &[(String, Row)],
) -> TableDifference {
    let old: BTreeMap<&str, &Row> = before.iter().map(|(key, row)| (key.as_str(), row)).collect();
    let new: BTreeMap<&str, &Row> = after.iter().map(|(key, row)| (key.as_str(), row)).collect();
    let only = |rows: &[(String, Row)], others: &BTreeMap<&str, &Row>| -> Vec<Row> {
        let missing = rows.iter().filter(|(key, _)| !others.contains_key(key.as_str()));
        missing.map(|(_, row)| row.clone()).collect()
    };
    let changed = before.iter().filter_map(|(key, row)| {
        let now = new.get(key.as_str())?;
        let columns: Vec<Changed> = row
            .iter()
            .filter_map(|(column, before)| {
                let after = now.get(column).cloned().unwrap_or_default();
                (*before != after).then(|| Changed {
                    column: column.clone(),
                    before: before.clone(),
                    after,
                })
            })
            .collect();
        (!columns.is_empty()).then(|| Change { row: named(row, keys), columns })
    });
    TableDifference {
        table,
        added: only(after, &old),
        removed: only(before, &new),
        changed: changed.collect(),
    }
}

fn named(row: &Row, keys: &[String]) -> Row {
    let own = ["rowid".to_owned()];
    let keys = if keys.is_empty() { &own[..] } else { keys };
    let field = |name: &String| (name.clone(), row.get(name).cloned().unwrap_or_default());
    keys.iter().map(field).collect()
}

/// What differs between two states.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The tables that differ, in the order of their names.
    pub tables: Vec<TableDifference>,
}

/// What differs in a table. Rows are the same when their primary keys are, or their
/// places where there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableDifference {
    /// The table.
    pub table: String,
    /// Rows that are new.
    pub added: Vec<Map<String, Value>>,
    /// Rows that are gone.
    pub removed: Vec<Map<String, Value>>,
    /// Rows that are not as they were.
    pub changed: Vec<Change>,
}

/// A row that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What it is known by.
    pub row: Map<String, Value>,
    /// Its columns that differ.
    pub columns: Vec<Changed>,
}

/// A value that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// The column.
    pub column: String,
    /// What it was.
    pub before: Value,
    /// What it is.
    pub after: Value,
}

impl TableDifference {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tables.is_empty() {
            return f.write_str("nothing differs");
        }
        for (index, table) in self.tables.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{table}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TableDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (added, removed, changed) = (self.added.len(), self.removed.len(), self.changed.len());
        write!(f, "{}: {added} added, {removed} removed, {changed} changed", self.table)?;
        for row in &self.added {
            write!(f, "\n  + {}", fields(row))?;
        }
        for row in &self.removed {
            write!(f, "\n  - {}", fields(row))?;
        }
        for change in &self.changed {
            write!(f, "\n  ~ {}:", fields(&change.row))?;
            for changed in &change.columns {
                write!(f, " {} {} → {};", changed.column, changed.before, changed.after)?;
            }
        }
        Ok(())
    }
}

fn fields(row: &Map<String, Value>) -> String {
    let fields: Vec<String> = row.iter().map(|(name, value)| format!("{name} {value}")).collect();
    fields.join(", ")
}
