//! Finding worlds, and states of them.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use jiff::Timestamp;
use serde_json::{Map, Value};
use wildgym_sandbox::Seed;
use wildgym_sandbox::world::{Blueprint, Live, Look};
use wildgym_tasks::world::{Occurrence, Scene};
use wildgym_tasks::{World, builtin};

use super::super::host::locate as locate_suite;
use super::super::{Failure, say, show};
use crate::record::StateRecord;
use crate::store::Store;

/// The first bytes of every state.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// What a copy of a world starts from.
#[derive(Debug, Args)]
#[command(next_help_heading = "World")]
pub(in crate::cli) struct StateArgs {
    /// Number from which the chances of the world's `seed.sql` are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0", requires = "world")]
    pub(in crate::cli) world_seed: u64,

    /// Value of the world's context, such as `user_id=USR-3`; may be given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "world")]
    context: Vec<String>,

    /// Event that happens before the first call, as `NAME` or `NAME=JSON` with its
    /// arguments; may be given several times
    #[arg(long, value_name = "EVENT", requires = "world")]
    event: Vec<String>,

    /// File with the state to start from, as `--save` writes it [default: the world's own]
    #[arg(long, value_name = "FILE", requires = "world")]
    state: Option<Utf8PathBuf>,

    /// File to write the state to in the end, an SQLite database
    #[arg(long, value_name = "FILE", requires = "world")]
    save: Option<Utf8PathBuf>,
}

impl StateArgs {
    /// Opens a copy of the world; `seed` is that of an attempt, `now` its time.
    pub(in crate::cli) fn open(
        &self,
        blueprint: &Blueprint,
        now: Timestamp,
        seed: u64,
    ) -> Result<Live, Failure> {
        let mut scene = Scene {
            name: blueprint.world().meta.name.clone(),
            seed: self.world_seed,
            ..Scene::default()
        };
        for pair in &self.context {
            let (name, value) = pair.split_once('=').ok_or_else(|| {
                Failure::usage(format!("`--context {pair}` is no pair `NAME=VALUE`"))
            })?;
            scene.context.insert(name.to_owned(), context_value(blueprint, name, value));
        }
        for event in &self.event {
            scene.events.push(occurrence(event, now)?);
        }
        if let Some((field, problem)) = blueprint.misfits(&scene).into_iter().next() {
            return Err(Failure::usage(format!("{field}: {problem}")));
        }
        let seed = Seed::of_run(seed);
        let broken = |error: wildgym_sandbox::world::WorldError| Failure::usage(error.to_string());
        let given = scene.context.clone();
        let Some(file) = &self.state else {
            let live = blueprint.open(scene, now, seed).map_err(broken)?;
            tell_nobody(blueprint, &given, live.start(), now);
            return Ok(live);
        };
        let image = read_state(file)?;
        // Ids that were given out before the state was saved must not be given out again.
        let start = blake3::hash(&image);
        let seed = seed.child(&format!("state:{}", start.to_hex()), 0);
        let from = blueprint
            .from_state(&image)
            .map_err(|error| Failure::usage(format!("cannot start from `{file}`: {error}")))?;
        let live = from.open(scene, now, seed).map_err(broken)?;
        tell_nobody(blueprint, &given, live.start(), now);
        Ok(live)
    }

    /// Writes the state where it is to be kept.
    pub(in crate::cli) fn keep(&self, image: &[u8]) -> Result<(), Failure> {
        let Some(file) = &self.save else { return Ok(()) };
        std::fs::write(file, image)
            .map_err(|error| Failure::usage(format!("cannot write the state to `{file}`: {error}")))
    }
}

/// Reads a value of the context as what the world's own is, where it can be that.
fn context_value(blueprint: &Blueprint, name: &str, text: &str) -> Value {
    let own = blueprint.world().meta.context.get(name);
    if own.is_some_and(Value::is_string) {
        return Value::from(text);
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Says which values of the context name nobody, where the world's own name a row by its `id`:
/// what operations say then is about somebody who is not there.
fn tell_nobody(blueprint: &Blueprint, given: &Map<String, Value>, image: &[u8], now: Timestamp) {
    let Ok(look) = Look::open(image, now) else { return };
    let tables = |id: &Value| look.with_id(id).unwrap_or_default();
    let bare = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for (name, value) in given {
        let Some(own) = blueprint.world().meta.context.get(name) else { continue };
        let (mut known, found) = (tables(own), tables(value));
        // Numbers are the ids of many things; the name tells which of them is meant.
        let stem = name.trim_end_matches("_id");
        if known.iter().any(|table| table.starts_with(stem)) {
            known.retain(|table| table.starts_with(stem));
        }
        if !known.is_empty() && !known.iter().any(|table| found.contains(table)) {
            let (known, value, own) = (known.join("`, `"), bare(value), bare(own));
            say(&format!(
                "note: `{name}` is `{value}`, and no row of `{known}` has that `id`; the world's own \
                 is `{own}`"
            ));
        }
    }
}

fn occurrence(text: &str, now: Timestamp) -> Result<Occurrence, Failure> {
    let (name, arguments) = match text.split_once('=') {
        None => (text, Map::new()),
        Some((name, json)) => {
            let arguments = serde_json::from_str(json).map_err(|error| {
                Failure::usage(format!(
                    "`--event {name}`: its arguments are no JSON object: {error}"
                ))
            })?;
            (name, arguments)
        }
    };
    Ok(Occurrence { event: name.to_owned(), arguments, at: Some(now), ..Occurrence::default() })
}

/// Returns the folder of a world.
pub(super) fn locate(named: &str) -> Result<Utf8PathBuf, Failure> {
    let path = Utf8Path::new(named);
    if path.join("world.toml").is_file() {
        return path
            .canonicalize_utf8()
            .map_err(|error| Failure::usage(format!("cannot open `{named}`: {error}")));
    }
    if let Some((suite, name)) = named.trim_end_matches('/').rsplit_once('/')
        && let Ok((folder, _)) = locate_suite(suite)
    {
        let world = folder.join("worlds").join(name);
        if world.is_dir() {
            return Ok(world);
        }
    }
    let mut known = Vec::new();
    for suite in builtin::names() {
        let worlds = locate_suite(suite)?.0.join("worlds");
        for entry in worlds.read_dir_utf8().into_iter().flatten().flatten() {
            if entry.file_name() == named {
                return Ok(entry.into_path());
            }
            known.push(format!("`{}`", entry.file_name()));
        }
    }
    Err(Failure::usage(format!("there is no world `{named}`")).hint(format!(
        "built-in worlds are {}; others are named as `SUITE/WORLD`, or by their folder, which has a \
         `world.toml`",
        known.join(", ")
    )))
}

/// Loads a world by its name or folder.
pub(in crate::cli) fn load(named: &str) -> Result<Arc<World>, Failure> {
    let folder = locate(named)?;
    World::load(&folder).map(Arc::new).map_err(|faults| faulty(named, &faults.to_string()))
}

/// Loads a world and makes it ready.
pub(in crate::cli) fn make(named: &str, seed: u64) -> Result<Blueprint, Failure> {
    Blueprint::build(load(named)?, seed).map_err(|faults| faulty(named, &faults.to_string()))
}

fn faulty(named: &str, faults: &str) -> Failure {
    Failure::usage(format!("world `{named}` has faults:\n{faults}"))
        .hint(format!("check again with `wildgym world check {named}`"))
}

/// Reads the file of a state.
pub(super) fn read_state(file: &Utf8Path) -> Result<Vec<u8>, Failure> {
    let bytes = std::fs::read(file)
        .map_err(|error| Failure::usage(format!("cannot read the state `{file}`: {error}")))?;
    if bytes.starts_with(MAGIC) {
        return Ok(bytes);
    }
    Err(Failure::usage(format!("`{file}` is no state: it is no SQLite database"))
        .hint("states are written by `wildgym world call … --save FILE`, and kept by runs"))
}

/// Returns the state in a file, or the one in which a world starts, with its time.
pub(super) fn state_of(named: &str, seed: u64) -> Result<(Vec<u8>, Timestamp), Failure> {
    let file = Utf8Path::new(named);
    if file.is_file() {
        return Ok((read_state(file)?, Timestamp::UNIX_EPOCH));
    }
    let made = make(named, seed)?;
    Ok((made.image().to_vec(), made.world().meta.now))
}

/// The states that an attempt left.
pub(super) struct Left {
    /// The run.
    pub(super) store: Store,
    /// Its states.
    pub(super) state: StateRecord,
    /// The time at which it ended.
    pub(super) now: Timestamp,
    /// The attempt, in words.
    pub(super) named: String,
}

/// Finds what an attempt at a trial left: the one that counts, else the last.
pub(super) fn left(run: &Utf8Path, trial: &str, attempt: Option<u32>) -> Result<Left, Failure> {
    let store = Store::open(run)?;
    let (id, attempt) = show::attempt_of(&store, trial, attempt)?;
    let index = store.survey()?;
    let stored = index.trials.get(&id).into_iter().flat_map(|trial| &trial.attempts);
    let end =
        stored.filter(|stored| stored.attempt == attempt).find_map(|stored| stored.end.clone());
    let named = format!("attempt {attempt} at `{id}`");
    let end = end.ok_or_else(|| {
        Failure::usage(format!("{named} has not ended, so it left no state"))
            .hint(format!("go on with `wildgym resume {run}`"))
    })?;
    let state = end.state.ok_or_else(|| {
        Failure::usage(format!(
            "{named} left no state: its task has no world, or it was never built"
        ))
    })?;
    Ok(Left { store, state, now: end.clock, named })
}
