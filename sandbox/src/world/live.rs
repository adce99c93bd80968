//! The world of one attempt.
//!
//! An operation runs in one transaction: preconditions, effects, result. Whatever stops it
//! takes back all of it, the ids that it was given included, so a call that failed leaves
//! the bytes as they were.
//!
//! Foreign keys are checked as statements end. A call that fails by one is done again with
//! the check put off to its end: what it leaves is what counts, and only then can be said
//! which row dangles. (To put it off always would cost more than the calls: it makes
//! SQLite compile every statement anew.)

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, Error, ErrorCode, MAIN_DB, StatementStatus, ffi};
use serde_json::{Map, Value};
use wildgym_tasks::world::{Code, Export, Operation, Precondition, Scene, Shape, World};

use super::blueprint::{Blueprint, copy, read};
use super::error::{WorldError, dangling, of_statement};
use super::events::{Armed, Happened};
use super::functions::{Calendar, Moment, clock_text};
use super::guard::{Guard, Mode};
use super::query;
use super::trial::placeholders;
use super::values::{Row, Rows, Scope, bind, is_true, rows, to_json};
use super::views::Views;
use crate::seed::Seed;

/// Bytes of compiled statements that a world keeps, by SQLite's count: those of five to ten
/// operations, and no operation has more. Most calls of an attempt are of few operations, and compiling the statements
/// of one takes four times as long as running them.
const KEPT: usize = 256 << 10;

/// Statements of which that many bytes can consist; more than fit.
const STATEMENTS: usize = 256;

/// One call of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c> {
    /// Name of the operation.
    pub operation: &'c str,
    /// Its arguments, which fit the operation's schema.
    pub arguments: &'c Map<String, Value>,
    /// The round in which it was asked for; calls of one round may conflict. 0: by itself.
    pub round: u64,
    /// Number of the call in the trial, from which its chances are drawn.
    pub number: u64,
    /// The time at which it starts.
    pub now: Timestamp,
}

/// A file that a call asked for. Worlds have no files: who owns the workspace writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where, relative to the workspace, as the caller gave it.
    pub path: String,
    /// The file's whole text.
    pub content: String,
}

/// A call that was done in the current round.
#[derive(Debug)]
struct Done {
    operation: String,
    arguments: Map<String, Value>,
}

/// The private copy of one attempt.
#[derive(Debug)]
pub struct Live {
    pub(super) connection: Connection,
    pub(super) guard: Arc<Guard>,
    pub(super) moment: Moment,
    pub(super) calendar: Calendar,
    pub(super) world: Arc<World>,
    pub(super) scene: Scene,
    pub(super) context: Map<String, Value>,
    pub(super) seed: Seed,
    /// Calls made, failed ones included.
    pub(super) calls: u64,
    pub(super) armed: Vec<Armed>,
    pub(super) happened: Vec<Happened>,
    /// How much of it was taken.
    pub(super) told: usize,
    /// The state at the start, which is read in place until it is to be changed.
    start: &'static [u8],
    /// Whether the state is a copy of its own.
    pub(super) owned: bool,
    round: Option<u64>,
    done: Vec<Done>,
    written: Option<Written>,
    views: Arc<Views>,
    /// The places of the views that were made.
    made: RefCell<BTreeSet<usize>>,
    /// Bytes of compiled statements that are kept.
    kept: Cell<usize>,
    /// Whether a foreign key stopped the last statement.
    dangled: Cell<bool>,
    /// Whether the schema itself puts checks of foreign keys off.
    defers: bool,
    /// Whether foreign keys may still fail at the end of this transaction.
    late: Cell<bool>,
}

impl Live {
    pub(super) fn open(
        blueprint: &Blueprint,
        scene: Scene,
        now: Timestamp,
        seed: Seed,
    ) -> Result<Self, WorldError> {
        // Conditions of events are compiled when they are first looked at.
        if let Some((field, problem)) = scene.misfits(&blueprint.world).into_iter().next() {
            return Err(WorldError::Broken(format!("{field}: {problem}")));
        }
        let moment = Moment::new(now, seed);
        let (connection, guard) = read(blueprint.image, &moment, &blueprint.calendar)
            .map_err(|error| WorldError::broken("image", &error))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let mut context = blueprint.world.meta.context.clone();
        context.extend(scene.context.clone());
        Ok(Self {
            connection,
            guard,
            moment,
            calendar: Arc::clone(&blueprint.calendar),
            world: Arc::clone(&blueprint.world),
            armed: scene.events.iter().map(Armed::new).collect(),
            scene,
            context,
            seed,
            calls: 0,
            happened: Vec::new(),
            told: 0,
            start: blueprint.image,
            owned: false,
            round: None,
            done: Vec::new(),
            written: None,
            views: Arc::clone(&blueprint.views),
            made: RefCell::default(),
            kept: Cell::new(0),
            dangled: Cell::new(false),
            defers: blueprint.world.schema.text.to_ascii_uppercase().contains("DEFERRED"),
            late: Cell::new(false),
        })
    }

    /// Returns the operations that the agent gets, in the order of their names.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.world.operations.values().filter(|operation| self.scene.exposes(&operation.name))
    }

    /// Does an operation and returns what it gives back.
    ///
    /// What is due to happen in the world happens first. The arguments have to fit the
    /// operation's schema; defaults of it are filled in. An operation with an `export`
    /// leaves its file for [`Live::take_written`].
    pub fn call(&mut self, call: &Call<'_>) -> Result<Value, WorldError> {
        self.written = None;
        let mut written = None;
        let value = self.call_keeping(call, &mut |file| {
            written = Some(file.clone());
            Ok(())
        })?;
        self.written = written;
        Ok(value)
    }

    /// Does the same, and gives the file that it asks for to `keep` before anything is
    /// committed: where that cannot keep it, and says why, nothing was done.
    pub fn call_keeping(
        &mut self,
        call: &Call<'_>,
        keep: &mut dyn FnMut(&Written) -> Result<(), String>,
    ) -> Result<Value, WorldError> {
        self.happen(call.now)?;
        self.calls += 1;
        if call.round != 0 && self.round != Some(call.round) {
            self.round = Some(call.round);
            self.done.clear();
        }
        let world = Arc::clone(&self.world);
        let operation = world
            .operations
            .get(call.operation)
            .filter(|operation| self.scene.exposes(&operation.name))
            .ok_or_else(|| self.unknown(call.operation))?;
        let arguments = filled(operation, call.arguments);
        if call.round != 0 {
            self.check_conflicts(operation, &arguments)?;
        }
        if operation.writes() {
            self.own()?;
        }
        self.moment.set(call.now, "call", call.number);
        let value = self.perform(operation, &arguments, keep)?;
        if call.round != 0 {
            self.done.push(Done { operation: operation.name.clone(), arguments });
        }
        Ok(value)
    }

    /// Returns the file that the last call asked for, once.
    pub fn take_written(&mut self) -> Option<Written> {
        self.written.take()
    }

    /// Returns the state at the start as the bytes of a database.
    #[must_use]
    pub fn start(&self) -> &'static [u8] {
        self.start
    }

    /// Returns the state as the bytes of a database.
    pub fn image(&mut self) -> Result<Vec<u8>, WorldError> {
        let bytes = self.connection.serialize(MAIN_DB);
        bytes.map(|bytes| bytes.to_vec()).map_err(|error| WorldError::broken("image", &error))
    }

    /// Makes the state one that can be changed.
    pub(super) fn own(&mut self) -> Result<(), WorldError> {
        if self.owned {
            return Ok(());
        }
        let growth = self.world.meta.limits.growth;
        let (connection, guard) = copy(self.start, &self.moment, &self.calendar, growth)
            .map_err(|error| WorldError::broken("image", &error))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        self.made.borrow_mut().clear();
        self.kept.set(0);
        (self.connection, self.guard, self.owned) = (connection, guard, true);
        Ok(())
    }

    fn unknown(&self, name: &str) -> WorldError {
        let names: Vec<String> =
            self.operations().map(|operation| format!("`{}`", operation.name)).collect();
        let message = format!("there is no operation `{name}`; there are {}", names.join(", "));
        WorldError::refused(Code::NotFound, message)
    }

    /// Refuses an operation that may not come in one round with one that was done in it.
    fn check_conflicts(
        &self,
        operation: &Operation,
        arguments: &Map<String, Value>,
    ) -> Result<(), WorldError> {
        for done in &self.done {
            let other = self.world.operations.get(&done.operation);
            let declared = operation.conflicts.iter().filter(|one| one.with == done.operation);
            let there = other.into_iter().flat_map(|other| &other.conflicts);
            let declared = declared.chain(there.filter(|one| one.with == operation.name));
            for conflict in declared {
                let equal = |name: &String| done.arguments.get(name) == arguments.get(name);
                if conflict.same.iter().all(equal) {
                    return Err(conflicting(operation, &done.operation, &conflict.same));
                }
            }
        }
        Ok(())
    }

    fn perform(
        &self,
        operation: &Operation,
        arguments: &Map<String, Value>,
        keep: &mut dyn FnMut(&Written) -> Result<(), String>,
    ) -> Result<Value, WorldError> {
        self.make_views(self.views.of_operation(&operation.name))?;
        let scope = self.scope(arguments);
        let require = || {
            let mut all = operation.preconditions.iter();
            all.try_for_each(|precondition| self.require(precondition, &scope))
        };
        if let Some(parameter) = &operation.query {
            self.transaction(false, require)?;
            let sql = arguments.get(parameter).and_then(Value::as_str).unwrap_or_default();
            return query::run(self, sql);
        }
        self.transaction(operation.writes(), || {
            require()?;
            for effect in &operation.effects {
                self.execute(effect, &scope)?;
            }
            let mut value = match &operation.result {
                Some(sql) => self.result(sql, operation.shape, &scope)?,
                None => serde_json::json!({"ok": true}),
            };
            if let Some(export) = &operation.export {
                // What would keep the rest from being committed comes before the file.
                if self.late.get() {
                    self.check_references()?;
                }
                let file = written(export, arguments, &mut value);
                keep(&file).map_err(|why| WorldError::refused(Code::Invalid, why))?;
            }
            Ok(value)
        })
    }

    pub(super) fn scope<'s>(&'s self, arguments: &'s Map<String, Value>) -> Scope<'s> {
        Scope { arguments, context: &self.context, now: clock_text(self.moment.now()) }
    }

    /// Makes views that statements need, those that are not there yet.
    pub(super) fn make_views(&self, places: &[usize]) -> Result<(), WorldError> {
        let mut made = self.made.borrow_mut();
        for place in places {
            let Some(view) = self.views.get(*place).filter(|_| !made.contains(place)) else {
                continue;
            };
            self.guard.enter(Mode::Engine);
            let done = self.connection.execute_batch(&view.sql);
            done.map_err(|error| WorldError::broken(&view.name, &error))?;
            made.insert(*place);
        }
        Ok(())
    }

    /// Makes the views that texts name.
    pub(super) fn make_views_of(&self, texts: &[&str]) -> Result<(), WorldError> {
        self.make_views(&self.views.needed(texts))
    }

    /// Does all of `work` or nothing. It may be asked to do it twice.
    pub(super) fn transaction<T>(
        &self,
        writes: bool,
        mut work: impl FnMut() -> Result<T, WorldError>,
    ) -> Result<T, WorldError> {
        self.dangled.set(false);
        self.late.set(self.defers);
        let result = self.all_or_nothing("BEGIN", &mut work);
        if writes && result.is_err() && self.dangled.get() {
            self.late.set(true);
            return self.all_or_nothing("BEGIN; PRAGMA defer_foreign_keys = ON", &mut work);
        }
        result
    }

    fn all_or_nothing<T>(
        &self,
        begin: &str,
        work: &mut impl FnMut() -> Result<T, WorldError>,
    ) -> Result<T, WorldError> {
        // It has the schema read where nothing did so far: that is no step of an operation.
        self.guard.enter(Mode::Engine);
        let known = self.connection.prepare_cached("SELECT 1 FROM main.sqlite_schema");
        drop(known.map_err(|error| WorldError::broken("schema", &error))?);
        self.guard.refill(self.world.meta.limits.steps);
        let given = self.moment.given();
        self.engine(begin).map_err(|error| WorldError::broken("begin", &error))?;
        let result = work().and_then(|value| self.commit().map(|()| value));
        if result.is_err() {
            self.moment.restore(given);
            // A trigger may have taken everything back already.
            if !self.connection.is_autocommit() {
                self.engine("ROLLBACK").map_err(|error| WorldError::broken("rollback", &error))?;
            }
        }
        result
    }

    fn engine(&self, sql: &str) -> rusqlite::Result<()> {
        self.guard.enter(Mode::Engine);
        if sql.contains(';') {
            return self.connection.execute_batch(sql);
        }
        self.connection.prepare_cached(sql)?.raw_execute().map(|_| ())
    }

    fn commit(&self) -> Result<(), WorldError> {
        if self.connection.is_autocommit() {
            return Err(WorldError::refused(Code::Refused, "the change was taken back"));
        }
        let Err(error) = self.engine("COMMIT") else { return Ok(()) };
        if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
            return Err(WorldError::broken("commit", &error));
        }
        self.check_references()?;
        Err(WorldError::broken("commit", &error))
    }

    /// Refuses a row that names one which does not exist.
    fn check_references(&self) -> Result<(), WorldError> {
        self.guard.enter(Mode::Engine);
        let found = self.connection.query_row("PRAGMA foreign_key_check", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(2)?))
        });
        match found {
            Ok((table, parent)) => Err(dangling(&table, &parent)),
            Err(Error::QueryReturnedNoRows) => Ok(()),
            Err(error) => Err(WorldError::broken("references", &error)),
        }
    }

    /// Compiles a statement of the world, or takes one that was kept, and binds its parameters.
    fn prepared(
        &self,
        mode: Mode,
        sql: &str,
        scope: &Scope<'_>,
    ) -> Result<CachedStatement<'_>, WorldError> {
        self.guard.enter(mode);
        let compiled = self.connection.prepare_cached(sql);
        let mut statement = compiled.map_err(|error| WorldError::broken(sql, &error))?;
        if mode == Mode::Read && !statement.readonly() {
            // It was compiled as an effect, with the rights of one.
            return Err(WorldError::Broken(format!("{sql}: a condition changes the state")));
        }
        self.note(&statement, sql);
        bind(&mut statement, scope).map_err(|error| self.stopped(&error))?;
        Ok(statement)
    }

    /// Counts what a new statement takes, and gives up what was kept where it is too much.
    fn note(&self, statement: &CachedStatement<'_>, sql: &str) {
        if statement.get_status(StatementStatus::Run) > 0 {
            return;
        }
        let bytes = statement.get_status(StatementStatus::MemUsed);
        // The text is kept as a key, too.
        let bytes = usize::try_from(bytes).unwrap_or(0) + sql.len();
        let mut kept = self.kept.get() + bytes;
        if kept > KEPT {
            self.connection.flush_prepared_statement_cache();
            kept = bytes;
        }
        self.kept.set(kept);
    }

    fn stopped(&self, error: &Error) -> WorldError {
        if let Error::SqliteFailure(cause, _) = error {
            self.dangled.set(cause.extended_code == ffi::SQLITE_CONSTRAINT_FOREIGNKEY);
        }
        of_statement(error, &self.world.meta, &self.guard)
    }

    pub(super) fn execute(&self, sql: &str, scope: &Scope<'_>) -> Result<(), WorldError> {
        let mut statement = self.prepared(Mode::Write, sql, scope)?;
        statement.raw_execute().map(|_| ()).map_err(|error| self.stopped(&error))
    }

    /// Returns whether the first value of a query is true.
    pub(super) fn holds(&self, sql: &str, scope: &Scope<'_>) -> Result<bool, WorldError> {
        Ok(self.first(sql, scope)?.0)
    }

    /// Returns whether the first value is true, and where it is not, the first row by names.
    fn first(&self, sql: &str, scope: &Scope<'_>) -> Result<(bool, Row), WorldError> {
        let mut statement = self.prepared(Mode::Read, sql, scope)?;
        let count = statement.column_count();
        let mut found = statement.raw_query();
        let Some(row) = found.next().map_err(|error| self.stopped(&error))? else {
            return Ok((false, Row::new()));
        };
        let value = |index: usize| row.get_ref(index).map_err(|error| self.stopped(&error));
        if is_true(value(0)?) {
            return Ok((true, Row::new()));
        }
        let values = (0..count).map(|index| value(index).map(to_json));
        let values = values.collect::<Result<Vec<_>, WorldError>>()?;
        drop(found);
        let names = statement.column_names().map(ToOwned::to_owned);
        Ok((false, names.zip(values).collect()))
    }

    fn require(&self, precondition: &Precondition, scope: &Scope<'_>) -> Result<(), WorldError> {
        let (truth, row) = self.first(&precondition.sql, scope)?;
        if truth {
            return Ok(());
        }
        let mut message = precondition.message.clone();
        for name in placeholders(&precondition.message) {
            let value = scope.arguments.get(name).or_else(|| row.get(name));
            let text = match value {
                Some(Value::String(text)) => text.chars().take(200).collect(),
                Some(value) => value.to_string(),
                None => "none".to_owned(),
            };
            message = message.replacen(&format!("{{{name}}}"), &text, 1);
        }
        Err(WorldError::refused(precondition.code, message))
    }

    fn result(&self, sql: &str, shape: Shape, scope: &Scope<'_>) -> Result<Value, WorldError> {
        let most = self.world.meta.limits.rows;
        let mut statement = self.prepared(Mode::Read, sql, scope)?;
        let found = match rows(&mut statement, most).map_err(|error| self.stopped(&error))? {
            Rows::All(found) => found,
            Rows::TooMany => {
                let message = format!("more than {most} rows fit; narrow it down, or page");
                return Err(WorldError::refused(Code::Limit, message));
            }
        };
        let mut found = found.into_iter().map(Value::Object);
        Ok(match shape {
            Shape::Rows => Value::Array(found.collect()),
            Shape::Row => found.next().unwrap_or_default(),
            Shape::Value => found
                .next()
                .and_then(|row| row.as_object().and_then(|row| row.values().next().cloned()))
                .unwrap_or_default(),
        })
    }
}

/// Takes the file's text out of the result. The loader has shown that the result is a row
/// with this column; where there is no row the file is empty.
fn written(export: &Export, arguments: &Map<String, Value>, value: &mut Value) -> Written {
    let path = arguments.get(&export.path).and_then(Value::as_str).unwrap_or_default();
    let content = value.as_object_mut().and_then(|row| row.remove(&export.content));
    let content = content.as_ref().and_then(Value::as_str).unwrap_or_default();
    Written { path: path.to_owned(), content: content.to_owned() }
}

/// Returns the arguments with the defaults of those that were left out.
fn filled(operation: &Operation, given: &Map<String, Value>) -> Map<String, Value> {
    let mut arguments = given.clone();
    for (name, schema) in operation.properties() {
        if let Some(default) = schema.get("default").filter(|_| !given.contains_key(name)) {
            arguments.insert(name.clone(), default.clone());
        }
    }
    arguments
}

fn conflicting(operation: &Operation, other: &str, same: &[String]) -> WorldError {
    let same: Vec<String> = same.iter().map(|name| format!("`{name}`")).collect();
    let on =
        if same.is_empty() { String::new() } else { format!(" with the same {}", same.join(", ")) };
    let message = format!(
        "`{}` cannot be done in the same round as `{other}`{on}, which was done; \
         look at its result first, then call again",
        operation.name
    );
    WorldError::refused(Code::Conflict, message)
}
