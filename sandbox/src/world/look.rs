//! A state to look into: every table, read only, for people and reports.
//!
//! It works on an image alone and changes nothing, neither the image nor any world.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, MAIN_DB};
use serde::Serialize;
use serde_json::Value;

use super::blueprint::{configure, open};
use super::error::WorldError;
use super::functions::{Moment, calendar, register};
use super::guard::{Bounds, Guard, Mode};
use super::query::quoted;
use super::trial::problem;
use super::values::{to_json, to_sql};
use crate::seed::Seed;

/// Steps of one query.
const STEPS: u64 = 500_000_000;

/// A state that is looked into.
#[derive(Debug)]
pub struct Look {
    connection: Connection,
    guard: Arc<Guard>,
}

/// A table or view of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Relation {
    /// Its name.
    pub name: String,
    /// Whether it is a view.
    pub view: bool,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns: name, and type where one was declared.
    pub columns: Vec<(String, String)>,
    /// The statement that made it.
    pub sql: String,
}

/// What a query gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// Whether there were more than were asked for.
    pub more: bool,
}

impl Look {
    /// Opens an image; `now` is the time that queries see.
    pub fn open(image: &[u8], now: Timestamp) -> Result<Self, WorldError> {
        Self::try_open(image, now).map_err(|error| WorldError::broken("image", &error))
    }

    fn try_open(image: &[u8], now: Timestamp) -> rusqlite::Result<Self> {
        let mut connection = open()?;
        connection.deserialize_read_exact(MAIN_DB, image, image.len(), true)?;
        // What is no database is noticed by the first statement.
        connection.query_row("SELECT count(*) FROM main.sqlite_schema", [], |_| Ok(()))?;
        configure(&connection)?;
        register(&connection, &Moment::new(now, Seed::of_run(0)), &calendar()?)?;
        let bounds = Bounds { length: 64 << 20, sql: 1 << 20, steps: STEPS };
        let guard = Guard::install(&mut connection, bounds)?;
        Ok(Self { connection, guard })
    }

    /// Returns the tables, then the views, in the order of their names.
    pub fn relations(&self) -> Result<Vec<Relation>, WorldError> {
        self.guard.enter(Mode::Engine);
        self.try_relations().map_err(|error| WorldError::broken("image", &error))
    }

    fn try_relations(&self) -> rusqlite::Result<Vec<Relation>> {
        let mut statement = self.connection.prepare(
            "SELECT name, type = 'view', sql FROM main.sqlite_schema \
             WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
             ORDER BY type, name",
        )?;
        let named = statement.query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?, row.get::<_, String>(2)?))
        })?;
        let relation = |found: rusqlite::Result<(String, bool, String)>| {
            let (name, view, sql) = found?;
            let count = format!("SELECT count(*) FROM main.{}", quoted(&name));
            let rows = self.connection.query_row(&count, [], |row| row.get::<_, i64>(0))?;
            let rows = u64::try_from(rows).unwrap_or(0);
            let mut columns =
                self.connection.prepare("SELECT name, type FROM pragma_table_info(?1)")?;
            let columns = columns.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Relation {
                view,
                rows,
                columns: columns.collect::<rusqlite::Result<_>>()?,
                name,
                sql,
            })
        };
        named.map(relation).collect()
    }

    /// Returns the tables that have a row with this `id`.
    pub fn with_id(&self, id: &Value) -> Result<Vec<String>, WorldError> {
        self.guard.enter(Mode::Engine);
        let has = |name: &str| {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM main.{} WHERE id = ?1)", quoted(name));
            self.connection.query_row(&sql, [to_sql(id)], |row| row.get::<_, bool>(0))
        };
        let mut found = Vec::new();
        for table in self.relations()?.into_iter().filter(|one| !one.view) {
            let keyed = table.columns.iter().any(|(name, _)| name == "id");
            if keyed && has(&table.name).map_err(|error| WorldError::broken("image", &error))? {
                found.push(table.name);
            }
        }
        Ok(found)
    }

    /// Runs one query and returns at most `most` rows of what it gives, or says why not.
    pub fn query(&self, sql: &str, most: usize) -> Result<Answered, String> {
        self.guard.refill(STEPS);
        self.guard.enter(Mode::Read);
        let found = self.rows(sql, most);
        self.guard.enter(Mode::Engine);
        found
    }

    fn rows(&self, sql: &str, most: usize) -> Result<Answered, String> {
        let wrong = |error: rusqlite::Error| {
            if self.guard.was_stopped() {
                return format!("it takes more than {STEPS} steps");
            }
            problem(&error, &self.guard)
        };
        let mut statement = self.connection.prepare(sql).map_err(wrong)?;
        if statement.column_count() == 0 {
            return Err("it gives no rows; the state can be read only".to_owned());
        }
        let columns: Vec<String> = statement.column_names().map(ToOwned::to_owned).collect();
        let mut answered = Answered { columns, rows: Vec::new(), more: false };
        let mut found = statement.raw_query();
        while let Some(row) = found.next().map_err(wrong)? {
            if answered.rows.len() == most {
                answered.more = true;
                break;
            }
            let values = (0..answered.columns.len()).map(|index| row.get_ref(index).map(to_json));
            answered.rows.push(values.collect::<rusqlite::Result<_>>().map_err(wrong)?);
        }
        Ok(answered)
    }

    /// Returns a table or view by its name as a query that gives its first rows.
    #[must_use]
    pub fn first_rows(name: &str) -> String {
        format!("SELECT * FROM {}", quoted(name))
    }
}
