//! What a statement may do, and how long.
//!
//! SQLite asks before it compiles each part of a statement whether that is allowed; the
//! answer depends on whose statement it is. It counts its steps while it runs, and a
//! statement that takes too many is stopped. Both are set once for a connection and
//! cannot be taken off by SQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Result};

/// Whose statement is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The engine's own.
    Engine = 0,
    /// `schema.sql` and `seed.sql`.
    Build = 1,
    /// The effects of an operation or an event.
    Write = 2,
    /// A precondition, a result, a condition, an assertion.
    Read = 3,
    /// `views.sql`.
    Views = 4,
    /// SQL that an agent wrote.
    Agent = 5,
}

impl Mode {
    fn of(number: u8) -> Self {
        [Self::Engine, Self::Build, Self::Write, Self::Read, Self::Views]
            .into_iter()
            .find(|mode| *mode as u8 == number)
            .unwrap_or(Self::Agent)
    }
}

/// Virtual machine steps between two looks at the count.
const STRIDE: u64 = 100;

/// Functions that show the machine, reach out of the database or are not the same twice.
const FUNCTIONS: [&str; 12] = [
    "load_extension",
    "random",
    "randomblob",
    "fts3_tokenizer",
    "sqlite_compileoption_get",
    "sqlite_compileoption_used",
    "sqlite_log",
    "sqlite_offset",
    "sqlite_source_id",
    "sqlite_version",
    "readfile",
    "writefile",
];

/// Table-valued functions that an agent's SQL may use beside the views.
const TABLE_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];

/// Limits of one connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Longest text, blob or row, in bytes.
    pub(super) length: i32,
    /// Longest statement, in bytes.
    pub(super) sql: i32,
    /// Steps of one operation.
    pub(super) steps: u64,
}

/// The rules of one connection.
#[derive(Debug)]
pub(super) struct Guard {
    mode: AtomicU8,
    spent: AtomicU64,
    steps: AtomicU64,
    stopped: AtomicBool,
    refused: Mutex<Option<String>>,
    /// Tables that agents' SQL may read; what is created while building is not in it.
    readable: Mutex<Vec<String>>,
}

impl Guard {
    /// Puts a connection under rules. It starts in the engine's mode.
    pub(super) fn install(connection: &mut Connection, bounds: Bounds) -> Result<Arc<Self>> {
        let guard = Arc::new(Self {
            mode: AtomicU8::new(Mode::Engine as u8),
            spent: AtomicU64::new(0),
            steps: AtomicU64::new(bounds.steps),
            stopped: AtomicBool::new(false),
            refused: Mutex::new(None),
            readable: Mutex::new(Vec::new()),
        });
        let limits = [
            (Limit::SQLITE_LIMIT_LENGTH, bounds.length),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, bounds.sql),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
            (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
            (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ];
        for (limit, value) in limits {
            connection.set_limit(limit, value)?;
        }
        let rules = Arc::clone(&guard);
        connection.authorizer(Some(move |context: AuthContext<'_>| rules.decide(&context)))?;
        let counter = Arc::clone(&guard);
        let stride = i32::try_from(STRIDE).unwrap_or(i32::MAX);
        connection.progress_handler(stride, Some(move || counter.is_spent()))?;
        Ok(guard)
    }

    /// Says whose statements are compiled from now on.
    pub(super) fn enter(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::Relaxed);
    }

    /// Names the tables that an agent's SQL may read.
    pub(super) fn allow(&self, tables: Vec<String>) {
        *self.readable.lock().unwrap_or_else(PoisonError::into_inner) = tables;
    }

    /// Gives the next operation its own count of steps.
    pub(super) fn refill(&self, steps: u64) {
        self.steps.store(steps, Ordering::Relaxed);
        self.spent.store(0, Ordering::Relaxed);
        self.stopped.store(false, Ordering::Relaxed);
        self.take_refused();
    }

    /// Returns how many steps an operation has.
    pub(super) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Returns whether a statement was stopped since the last refill.
    pub(super) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns what was refused last, once.
    pub(super) fn take_refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_spent(&self) -> bool {
        let mode = Mode::of(self.mode.load(Ordering::Relaxed));
        let spent = self.spent.fetch_add(STRIDE, Ordering::Relaxed) + STRIDE;
        let stop = mode != Mode::Engine && spent > self.steps.load(Ordering::Relaxed);
        if stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stop
    }

    fn decide(&self, context: &AuthContext<'_>) -> Authorization {
        let mode = Mode::of(self.mode.load(Ordering::Relaxed));
        match self.refusal(mode, context) {
            None => Authorization::Allow,
            Some(what) => {
                *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
                Authorization::Deny
            }
        }
    }

    /// Returns what of it is refused.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what SQLite may learn to do is refused")]
    fn refusal(&self, mode: Mode, context: &AuthContext<'_>) -> Option<String> {
        if mode == Mode::Engine {
            return None;
        }
        let writes = matches!(mode, Mode::Build | Mode::Write);
        match context.action {
            AuthAction::Select | AuthAction::Recursive => None,
            AuthAction::Function { function_name } => function_refusal(function_name),
            AuthAction::Read { table_name, column_name } if mode == Mode::Agent => {
                self.agent_refusal(table_name, column_name)
            }
            AuthAction::Read { .. } => None,
            AuthAction::Insert { table_name } | AuthAction::Delete { table_name } => {
                write_refusal(mode, writes, table_name)
            }
            AuthAction::Update { table_name, .. } => write_refusal(mode, writes, table_name),
            AuthAction::CreateTable { .. }
            | AuthAction::CreateIndex { .. }
            | AuthAction::CreateView { .. }
            | AuthAction::CreateTrigger { .. }
            | AuthAction::Reindex { .. }
                if mode == Mode::Build =>
            {
                None
            }
            AuthAction::CreateTempView { .. } if mode == Mode::Views => None,
            other => Some(format!("{} is not allowed here", name_of(&other))),
        }
    }

    /// A table of which no column is read may be a `WITH` of the query itself. As there are
    /// no tables but the copies, only those that the engine brings along are left to refuse.
    fn agent_refusal(&self, table: &str, column: &str) -> Option<String> {
        if column.is_empty() && !is_of_engine(table) {
            return None;
        }
        let readable = self.readable.lock().unwrap_or_else(PoisonError::into_inner);
        let known = readable.iter().any(|name| name.eq_ignore_ascii_case(table));
        let allowed = known || TABLE_FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(table));
        (!allowed).then(|| format!("reading `{table}` is not allowed here"))
    }
}

/// Returns whether a name is that of a table or module which SQLite has by itself.
fn is_of_engine(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let starts = ["sqlite_", "pragma_", "fts", "rtree", "geopoly"];
    starts.iter().any(|start| name.starts_with(start))
        || ["bytecode", "dbstat", "tables_used"].contains(&name.as_str())
}

fn function_refusal(name: &str) -> Option<String> {
    let hit = FUNCTIONS.iter().any(|function| function.eq_ignore_ascii_case(name));
    hit.then(|| format!("the function `{name}` is not allowed here"))
}

/// The schema table is written when something is created, and never otherwise.
fn write_refusal(mode: Mode, writes: bool, table: &str) -> Option<String> {
    let schema = ["sqlite_master", "sqlite_temp_master", "sqlite_schema"];
    let allowed = match mode {
        Mode::Build => table != "sqlite_temp_master",
        Mode::Views => table == "sqlite_temp_master",
        Mode::Engine | Mode::Write | Mode::Read | Mode::Agent => writes && !schema.contains(&table),
    };
    (!allowed).then(|| format!("changing `{table}` is not allowed here"))
}

/// Names an action for a message.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other names need no rewording")]
fn name_of(action: &AuthAction<'_>) -> String {
    let written = format!("{action:?}");
    let name: String = written.chars().take_while(char::is_ascii_alphanumeric).collect();
    match action {
        AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
        AuthAction::Attach { .. } => "ATTACH".to_owned(),
        AuthAction::Detach { .. } => "DETACH".to_owned(),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => {
            "a transaction of its own".to_owned()
        }
        _ => format!("`{name}`"),
    }
}
