//! A world made ready: filled once, tried, and kept as one image.
//!
//! Filling runs the author's scripts under rules of their own; what comes out is bytes.
//! Attempts read these bytes, which nobody can change, and get a copy of them before they
//! write, so attempts share no state and none can see how long another one has lived.

use std::sync::Arc;

use camino::Utf8Path;
use jiff::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, MAIN_DB, OpenFlags, Result};
use wildgym_tasks::world::{Code, Fault, Faults, Scene, Script, World};

use super::error::WorldError;
use super::functions::{Calendar, Moment, calendar, register};
use super::guard::{Bounds, Guard, Mode};
use super::image::keep;
use super::live::Live;
use super::query::quoted;
use super::script::{Piece, pieces};
use super::trial::{Trial, problem};
use super::views::Views;
use crate::seed::Seed;

/// Steps that filling a world may take.
const BUILD_STEPS: u64 = 200_000_000;

/// Size of a page of the database, in bytes.
pub(super) const PAGE: u64 = 4096;

/// A world from which attempts get their copies.
#[derive(Debug, Clone)]
pub struct Blueprint {
    pub(super) world: Arc<World>,
    pub(super) image: &'static [u8],
    pub(super) calendar: Calendar,
    pub(super) views: Arc<Views>,
}

impl Blueprint {
    /// Fills the world's tables, with chances drawn from `seed`, and tries all statements.
    ///
    /// Returns every fault that could be found: of scripts the first one, since what
    /// follows would only be its consequence.
    pub fn build(world: impl Into<Arc<World>>, seed: u64) -> Result<Self, Faults> {
        let world: Arc<World> = world.into();
        let calendar = calendar().map_err(|error| whole(&world, &error))?;
        let chances = Seed::of_run(seed).child(&format!("world:{}", world.meta.name), 0);
        let moment = Moment::new(world.meta.now, chances);
        let (mut connection, guard) =
            empty(&moment, &calendar).map_err(|error| whole(&world, &error))?;
        fill(&connection, &guard, &world)?;
        let views = Views::read(&world).map_err(|fault| Faults(vec![fault]))?;
        make_views(&connection, &guard, &world, &views)?;
        let trial = Trial { connection: &connection, guard: &guard, world: &world };
        let mut faults = trial.faults();
        faults.extend(unordered(&connection, &world).map_err(|error| whole(&world, &error))?);
        if !faults.is_empty() {
            faults.sort();
            return Err(Faults(faults));
        }
        let image = match connection.serialize(MAIN_DB) {
            Ok(bytes) => keep(&bytes),
            Err(error) => return Err(whole(&world, &error)),
        };
        Ok(Self { world, image, calendar, views: Arc::new(views) })
    }

    /// Returns the world.
    #[must_use]
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Returns the state at the start, as the bytes of a database.
    #[must_use]
    pub fn image(&self) -> &'static [u8] {
        self.image
    }

    /// Returns the same world with another state, such as one that an attempt left; it must
    /// have the same tables.
    pub fn from_state(&self, image: &[u8]) -> std::result::Result<Self, WorldError> {
        let tables = |image: &[u8]| -> Result<Vec<(String, String)>> {
            let mut connection = open()?;
            connection.deserialize_read_exact(MAIN_DB, image, image.len(), true)?;
            let sql = "SELECT name, coalesce(sql, '') FROM main.sqlite_schema ORDER BY name";
            let mut statement = connection.prepare(sql)?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let wrong = |error: Error| WorldError::broken("state", &error);
        if tables(image).map_err(wrong)? != tables(self.image).map_err(wrong)? {
            let name = &self.world.meta.name;
            let message =
                format!("it is a state of another world, or of another version of `{name}`");
            return Err(WorldError::refused(Code::Invalid, message));
        }
        Ok(Self { image: keep(image), ..self.clone() })
    }

    /// Opens a private copy for one attempt.
    ///
    /// `now` is where its clock starts, `seed` where its ids, chances and events come
    /// from. A scene that does not fit the world is a broken one.
    pub fn open(&self, scene: Scene, now: Timestamp, seed: Seed) -> Result<Live, WorldError> {
        Live::open(self, scene, now, seed)
    }

    /// Returns what in a scene does not fit the world, as pairs of field and problem.
    #[must_use]
    pub fn misfits(&self, scene: &Scene) -> Vec<(String, String)> {
        let mut found = scene.misfits(&self.world);
        let whens = scene
            .events
            .iter()
            .enumerate()
            .filter_map(|(index, occurrence)| occurrence.when.as_ref().map(|sql| (index, sql)));
        let mut whens = whens.peekable();
        if whens.peek().is_none() {
            return found;
        }
        let moment = Moment::new(self.world.meta.now, Seed::of_run(0));
        match read(self.image, &moment, &self.calendar) {
            Err(error) => found.push(("name".to_owned(), error.to_string())),
            Ok((connection, guard)) => {
                if let Err(error) = self.views.make_all(&connection) {
                    found.push(("name".to_owned(), error.to_string()));
                }
                let trial = Trial { connection: &connection, guard: &guard, world: &self.world };
                for (index, sql) in whens {
                    if let Err(problem) = trial.compile(Mode::Read, sql, &[]) {
                        found.push((format!("event[{index}].when"), problem));
                    }
                }
            }
        }
        found
    }
}

fn whole(world: &World, error: &Error) -> Faults {
    Faults(vec![world.fault("name", format!("the database failed: {error}"))])
}

/// Opens an empty database under rules.
pub(super) fn empty(moment: &Moment, calendar: &Calendar) -> Result<(Connection, Arc<Guard>)> {
    let mut connection = open()?;
    configure(&connection)?;
    register(&connection, moment, calendar)?;
    let bounds = Bounds { length: 1_000_000, sql: 1 << 20, steps: BUILD_STEPS };
    let guard = Guard::install(&mut connection, bounds)?;
    Ok((connection, guard))
}

/// Opens an image under rules, to be read where it lies. The schema is read by the first
/// statement, and not at all where that is one that wants a copy.
pub(super) fn read(
    image: &'static [u8],
    moment: &Moment,
    calendar: &Calendar,
) -> Result<(Connection, Arc<Guard>)> {
    let mut connection = open()?;
    connection.deserialize_bytes(MAIN_DB, image)?;
    connection.execute_batch(&format!("PRAGMA mmap_size = {}", image.len()))?;
    strict(&connection)?;
    ruled(connection, moment, calendar)
}

/// Opens a copy of an image under rules, which may grow by `growth` bytes.
pub(super) fn copy(
    image: &[u8],
    moment: &Moment,
    calendar: &Calendar,
    growth: u64,
) -> Result<(Connection, Arc<Guard>)> {
    let mut connection = open()?;
    connection.deserialize_read_exact(MAIN_DB, image, image.len(), false)?;
    let pages = (image.len() as u64).saturating_add(growth).div_ceil(PAGE).clamp(1, 1 << 30);
    connection.execute_batch(&format!("PRAGMA max_page_count = {pages}"))?;
    configure(&connection)?;
    ruled(connection, moment, calendar)
}

fn ruled(
    mut connection: Connection,
    moment: &Moment,
    calendar: &Calendar,
) -> Result<(Connection, Arc<Guard>)> {
    register(&connection, moment, calendar)?;
    // The schema may be read as late as by the first statement, so it must not be refused.
    let bounds = Bounds { length: 1_000_000, sql: 1 << 20, steps: BUILD_STEPS };
    let guard = Guard::install(&mut connection, bounds)?;
    Ok((connection, guard))
}

/// Opens a connection that no other thread uses at the same time and that reads no names
/// as URIs.
pub(super) fn open() -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_in_memory_with_flags(flags)
}

/// Keeps everything in memory, and in little of it: 16 pages of a state are kept beside it
/// (64 make operations no faster than measured to 5 µs).
pub(super) fn configure(connection: &Connection) -> Result<()> {
    strict(connection)?;
    connection.execute_batch("PRAGMA cache_size = -64; PRAGMA secure_delete = ON")
}

/// Keeps what queries set aside in memory; a misspelt column in quotes is an error and not a
/// text.
fn strict(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // Plans do not depend on what is bound, or whatever was compiled would be compiled anew.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch("PRAGMA temp_store = MEMORY")
}

fn fill(connection: &Connection, guard: &Guard, world: &World) -> Result<(), Faults> {
    let engine = |sql: &str| connection.execute_batch(sql).map_err(|error| whole(world, &error));
    engine("BEGIN; PRAGMA defer_foreign_keys = ON")?;
    for script in [&world.schema, &world.seed] {
        run_script(connection, guard, Mode::Build, script).map_err(|fault| Faults(vec![fault]))?;
    }
    let dangling = dangling(connection).map_err(|error| whole(world, &error))?;
    if !dangling.is_empty() {
        let file = world.seed.file.clone();
        let fault = |problem| Fault { file: file.clone(), line: None, field: None, problem };
        return Err(Faults(dangling.into_iter().map(fault).collect()));
    }
    engine("COMMIT")
}

/// Makes the views that are no part of the state, and tries each.
fn make_views(
    connection: &Connection,
    guard: &Guard,
    world: &World,
    views: &Views,
) -> Result<(), Faults> {
    let Some(script) = &world.views else { return Ok(()) };
    run_script(connection, guard, Mode::Views, script).map_err(|fault| Faults(vec![fault]))?;
    let known = "SELECT count(*) FROM main.sqlite_schema WHERE name = ?1";
    let trial = Trial { connection, guard, world };
    let mut found = Vec::new();
    for view in views.iter() {
        let sql = format!("SELECT * FROM temp.{}", quoted(&view.name));
        let count = connection.query_row(known, [&view.name], |row| row.get::<_, i64>(0));
        let problem = match count.map_err(|error| whole(world, &error))? {
            0 => trial.compile(Mode::Read, &sql, &[]).err(),
            _ => Some("schema.sql has something of that name".to_owned()),
        };
        found.extend(problem.map(|problem| Fault {
            file: script.file.clone(),
            line: Some(view.line),
            field: None,
            problem: format!("`{}`: {problem}", view.name),
        }));
    }
    if found.is_empty() { Ok(()) } else { Err(Faults(found)) }
}

fn run_script(
    connection: &Connection,
    guard: &Guard,
    mode: Mode,
    script: &Script,
) -> Result<(), Fault> {
    for (index, piece) in pieces(&script.text).iter().enumerate() {
        guard.refill(BUILD_STEPS);
        guard.enter(mode);
        let result = run_piece(connection, piece);
        guard.enter(Mode::Engine);
        if let Err(error) = result {
            let line = if let Error::SqlInputError { offset, .. } = &error {
                piece.line_at(usize::try_from(*offset).unwrap_or(0))
            } else {
                piece.line
            };
            let why = if guard.was_stopped() {
                format!("it takes more than {BUILD_STEPS} steps")
            } else {
                problem(&error, guard)
            };
            return Err(Fault {
                file: script.file.clone(),
                line: Some(line),
                field: None,
                problem: format!("statement {} (`{}`): {why}", index + 1, piece.beginning()),
            });
        }
    }
    Ok(())
}

fn run_piece(connection: &Connection, piece: &Piece<'_>) -> Result<()> {
    let mut statement = connection.prepare(piece.text)?;
    if statement.parameter_count() > 0 {
        let name = statement.parameter_name(1).unwrap_or("?").to_owned();
        return Err(Error::InvalidParameterName(name));
    }
    statement.raw_execute().map(|_| ())
}

/// Words rows whose foreign keys name nothing.
fn dangling(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let found = statement.query_map([], |row| {
        let (table, row_id, parent): (String, Option<i64>, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let row_id = row_id.unwrap_or_default();
        Ok(format!("row {row_id} of `{table}` names a row of `{parent}` that does not exist"))
    })?;
    found.take(20).collect()
}

/// Names the tables of a database in the order of their names.
pub(super) fn tables(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT name FROM main.sqlite_schema \
         WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Returns faults of tables whose rows have no order of insertion.
fn unordered(connection: &Connection, world: &World) -> Result<Vec<Fault>> {
    let file = Utf8Path::new("schema.sql");
    let mut found = Vec::new();
    for table in tables(connection)? {
        let sql = format!("SELECT rowid FROM {}", quoted(&table));
        if connection.prepare(&sql).is_err() {
            let line = world.schema.text.lines().position(|line| line.contains(&table));
            found.push(Fault {
                file: file.to_owned(),
                line: line.map(|line| line + 1),
                field: None,
                problem: format!(
                    "`{table}` is WITHOUT ROWID; its rows would have no order of insertion, \
                     on which `{table}[-1]` depends"
                ),
            });
        }
    }
    Ok(found)
}
