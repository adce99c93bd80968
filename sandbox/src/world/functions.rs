//! The functions of a world: time that is the logical clock's, ids and chances from the seed.
//!
//! SQLite's own time functions read the machine's clock when they are asked for `now`.
//! Functions of the same names take their place; they ask a connection of their own for
//! the calculation and put the logical time wherever the machine's would be read. So no
//! statement, default value, trigger or agent's query can see the real time. (Rules about what
//! a statement may do would not: they are not asked about default values, nor see `'now'`.)
//!
//! `new_id(prefix)` makes the next id of its kind: the prefix, `-` and eight characters
//! that nobody can guess and that are the same for the same seed and order of calls.
//! `draw(low, high)` is a whole number of the call's own stream of chances.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::Value;
use rusqlite::{Connection, Error, Result, params_from_iter};

use super::search::register_words;
use crate::seed::Seed;

/// Characters of ids: no vowels, so that no words come out, and none that look alike.
const ALPHABET: &[u8; 26] = b"23456789bcdfghjkmnpqrstvwx";

/// Characters of an id after its prefix.
const ID_LENGTH: usize = 8;

/// SQLite's functions that can read the clock, and where among their arguments times stand.
const TIMES: [(&str, &[usize]); 7] = [
    ("date", &[0]),
    ("time", &[0]),
    ("datetime", &[0]),
    ("julianday", &[0]),
    ("unixepoch", &[0]),
    ("strftime", &[1]),
    ("timediff", &[0, 1]),
];

/// A connection that does nothing but calculate times; the worlds of a blueprint share it.
pub(super) type Calendar = Arc<Mutex<Connection>>;

/// Opens a calendar.
pub(super) fn calendar() -> Result<Calendar> {
    Ok(Arc::new(Mutex::new(Connection::open_in_memory()?)))
}

/// Time, ids and chances of one world.
#[derive(Debug, Clone)]
pub(super) struct Moment(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    now: Timestamp,
    seed: Seed,
    chances: ChaCha12Rng,
    ids: BTreeMap<String, u64>,
}

/// How far ids and chances were given out, to go back to.
#[derive(Debug, Clone)]
pub(super) struct Given {
    ids: BTreeMap<String, u64>,
    chances: ChaCha12Rng,
}

impl Moment {
    /// Starts at a time with a seed.
    pub(super) fn new(now: Timestamp, seed: Seed) -> Self {
        let chances = seed.child("start", 0).rng();
        Self(Arc::new(Mutex::new(State { now, seed, chances, ids: BTreeMap::new() })))
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the time, and the stream of chances of what happens next.
    pub(super) fn set(&self, now: Timestamp, stream: &str, number: u64) {
        self.with(|state| {
            state.now = now;
            state.chances = state.seed.child(stream, number).rng();
        });
    }

    /// Returns the time.
    pub(super) fn now(&self) -> Timestamp {
        self.with(|state| state.now)
    }

    /// Returns how far ids and chances were given out.
    pub(super) fn given(&self) -> Given {
        self.with(|state| Given { ids: state.ids.clone(), chances: state.chances.clone() })
    }

    /// Takes back the ids and chances given out since.
    pub(super) fn restore(&self, given: Given) {
        self.with(|state| {
            state.ids = given.ids;
            state.chances = given.chances;
        });
    }

    fn new_id(&self, prefix: &str) -> String {
        self.with(|state| {
            let next = state.ids.entry(prefix.to_owned()).or_insert(0);
            *next += 1;
            let mut chances = state.seed.child(&format!("id:{prefix}"), *next).rng();
            let tail: String = (0..ID_LENGTH)
                .map(|_| char::from(ALPHABET[chances.random_range(0..ALPHABET.len())]))
                .collect();
            format!("{prefix}-{tail}")
        })
    }

    fn draw(&self, low: i64, high: i64) -> Option<i64> {
        self.with(|state| (low <= high).then(|| state.chances.random_range(low..=high)))
    }
}

/// Writes a time as SQLite does: `2026-03-02 09:00:00`, in UTC.
pub(super) fn clock_text(now: Timestamp) -> String {
    now.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Gives a connection all functions.
pub(super) fn register(
    connection: &Connection,
    moment: &Moment,
    calendar: &Calendar,
) -> Result<()> {
    register_times(connection, moment, calendar)?;
    register_words(connection)?;
    register_chances(connection, moment)
}

/// Gives a connection the functions of time, which change nothing.
pub(super) fn register_times(
    connection: &Connection,
    moment: &Moment,
    calendar: &Calendar,
) -> Result<()> {
    let steady = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, places) in TIMES {
        let (moment, calendar) = (moment.clone(), Arc::clone(calendar));
        connection.create_scalar_function(name, -1, steady, move |context| {
            calculate(&calendar, name, places, moment.now(), &arguments(context)?)
        })?;
    }
    let parts: [(&str, &str); 3] =
        [("current_timestamp", "datetime"), ("current_date", "date"), ("current_time", "time")];
    for (name, function) in parts {
        let (moment, calendar) = (moment.clone(), Arc::clone(calendar));
        connection.create_scalar_function(name, 0, steady, move |_| {
            calculate(&calendar, function, &[0], moment.now(), &[])
        })?;
    }
    Ok(())
}

fn register_chances(connection: &Connection, moment: &Moment) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    let ids = moment.clone();
    connection.create_scalar_function("new_id", 1, flags, move |context| {
        Ok(ids.new_id(&context.get::<String>(0)?))
    })?;
    let chances = moment.clone();
    connection.create_scalar_function("draw", 2, flags, move |context| {
        let (low, high) = (context.get::<i64>(0)?, context.get::<i64>(1)?);
        chances
            .draw(low, high)
            .ok_or_else(|| failed(format!("draw({low}, {high}): the first is the larger one")))
    })
}

fn arguments(context: &Context<'_>) -> Result<Vec<Value>> {
    (0..context.len()).map(|index| context.get::<Value>(index)).collect()
}

fn failed(problem: String) -> Error {
    Error::UserFunctionError(problem.into())
}

/// Calculates one of SQLite's time functions with the logical time as `now`.
fn calculate(
    calendar: &Calendar,
    name: &str,
    places: &[usize],
    now: Timestamp,
    given: &[Value],
) -> Result<Value> {
    if let Some(text) = plain(name, now, given) {
        return Ok(Value::Text(text));
    }
    let mut arguments = given.to_vec();
    for &place in places {
        // `now`, or nothing where a time is expected, is the time.
        if arguments.len() == place {
            arguments.push(Value::Text("now".to_owned()));
        }
        if arguments.get(place).is_some_and(reads_clock) {
            arguments[place] = Value::Text(clock_text(now));
        }
    }
    let local = |value: &Value| {
        matches!(value, Value::Text(text)
        if ["localtime", "utc"].contains(&text.trim().to_ascii_lowercase().as_str()))
    };
    if arguments.iter().any(local) {
        return Err(failed(format!("{name}(): all times are UTC; `localtime` has no meaning")));
    }
    let marks = vec!["?"; arguments.len()].join(", ");
    let connection = calendar.lock().unwrap_or_else(PoisonError::into_inner);
    let mut statement = connection.prepare_cached(&format!("SELECT {name}({marks})"))?;
    statement.query_row(params_from_iter(arguments), |row| row.get(0))
}

/// Returns what needs no calculation: the day, the time of day or both, as they are now or
/// as a text says that is written as SQLite writes times. Views ask for it for each row.
fn plain(name: &str, now: Timestamp, given: &[Value]) -> Option<String> {
    let written;
    let text = match given {
        [] => {
            written = clock_text(now);
            &written
        }
        [Value::Text(word)] if word.eq_ignore_ascii_case("now") => {
            written = clock_text(now);
            &written
        }
        [Value::Text(text)] if is_written(text) => text,
        _ => return None,
    };
    let (day, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    match name {
        "date" => Some(day.to_owned()),
        "time" => Some(time.to_owned()),
        "datetime" => Some(format!("{day} {time}")),
        _ => None,
    }
}

/// Returns whether a text is a day, or a day and a time, as SQLite writes them. Days beyond
/// the 28th, which not every month has, are left to be calculated.
fn is_written(text: &str) -> bool {
    let pattern = b"dddd-dd-dd dd:dd:dd";
    let bytes = text.as_bytes();
    if !text.is_ascii() || (bytes.len() != 10 && bytes.len() != pattern.len()) {
        return false;
    }
    let fits = |(byte, want): (&u8, &u8)| match want {
        b'd' => byte.is_ascii_digit(),
        sign => byte == sign,
    };
    let within = |from: usize, low: &str, high: &str| {
        text.get(from..from + 2).is_none_or(|part| (low..=high).contains(&part))
    };
    bytes.iter().zip(pattern).all(fits)
        && within(5, "01", "12")
        && within(8, "01", "28")
        && within(11, "00", "23")
        && within(14, "00", "59")
        && within(17, "00", "59")
}

fn reads_clock(value: &Value) -> bool {
    let words = ["now", "subsec", "subsecond"];
    matches!(value, Value::Text(text) if words.contains(&text.to_ascii_lowercase().as_str()))
}
