//! Reads `worlds/<name>/`.
//!
//! What is checked here is the shape of the files and what their parts say about each
//! other. That the statements fit the tables is checked where worlds run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::document::{self, Source};
use super::text;
use super::tree::Tree;
use crate::fault::{Faults, Notes};
use crate::world::{Operation, OperationsFile, Script, Shape, World, WorldMeta};

/// The worlds of a suite.
#[derive(Debug, Default)]
pub(crate) struct Worlds {
    /// Those without a fault.
    pub(crate) by_name: BTreeMap<String, Arc<World>>,
    /// The names of all that have a folder.
    pub(crate) names: BTreeSet<String>,
}

/// Reads all worlds of a suite.
pub(crate) fn read_all(tree: &Tree, notes: &mut Notes) -> Worlds {
    let root = Utf8Path::new("worlds");
    let mut worlds = Worlds::default();
    for name in tree.names_in(root) {
        let folder = root.join(name);
        if !tree.has_folder(&folder) {
            if name != "README.md" {
                notes.of_file(&folder, "expected a folder per world");
            }
            continue;
        }
        worlds.names.insert(name.to_owned());
        match World::load(&tree.absolute(&folder)) {
            Ok(world) => {
                worlds.by_name.insert(name.to_owned(), Arc::new(world));
            }
            Err(faults) => faults.below(&folder).0.into_iter().for_each(|fault| notes.push(fault)),
        }
    }
    worlds
}

impl World {
    /// Loads the world in `folder`, or returns all that is wrong with its files.
    pub fn load(folder: &Utf8Path) -> Result<Self, Faults> {
        let mut notes = Notes::default();
        if !folder.join("world.toml").exists() {
            let problem = "no world: expected a folder with `world.toml`";
            notes.of_file(Utf8Path::new(""), problem);
            return Err(notes.finish().unwrap_or(Faults(Vec::new())));
        }
        let tree = Tree::scan(folder, &mut notes);
        let world = read(&tree, folder, &mut notes);
        match (notes.finish(), world) {
            (None, Some(world)) => Ok(world),
            (faults, _) => Err(faults.unwrap_or(Faults(Vec::new()))),
        }
    }
}

fn read(tree: &Tree, folder: &Utf8Path, notes: &mut Notes) -> Option<World> {
    let expected = ["world.toml", "schema.sql", "seed.sql", "views.sql", "operations"];
    tree.only(Utf8Path::new(""), &expected, notes);
    let file = Utf8Path::new("world.toml");
    let text = tree.text(file, notes);
    let meta = text.and_then(|text| document::read::<WorldMeta>(file, &text, 1, notes));
    let schema = script(tree, "schema.sql", notes);
    let seed = script(tree, "seed.sql", notes);
    let views = "views.sql";
    let views = tree.has_file(Utf8Path::new(views)).then(|| script(tree, views, notes)).flatten();
    let more = operations_files(tree, notes);
    let digest = tree.digest(notes);
    let (mut meta, source) = meta?;
    if folder.file_name().is_some_and(|name| name != meta.name) {
        let name = folder.file_name().unwrap_or_default();
        source.fault(notes, "name", format!("expected the folder's name, `{name}`"));
    }
    check_meta(&meta, &source, notes);
    let mut world = World {
        schema: schema?,
        seed: seed?,
        views,
        operations: BTreeMap::new(),
        digest,
        sources: BTreeMap::new(),
        places: BTreeMap::new(),
        meta: meta.clone(),
    };
    let own = std::mem::take(&mut meta.operations);
    world.meta.operations.clear();
    for (file, operations, source) in std::iter::once((file.to_owned(), own, source)).chain(more) {
        for (index, operation) in operations.into_iter().enumerate() {
            add(&mut world, &source, index, operation, notes);
        }
        world.sources.insert(file, source);
    }
    check_operations(&world, notes);
    Some(world)
}

fn script(tree: &Tree, name: &str, notes: &mut Notes) -> Option<Script> {
    let file = Utf8PathBuf::from(name);
    let text = tree.text(&file, notes)?;
    Some(Script { file, text })
}

type Read = (Utf8PathBuf, Vec<Operation>, Source);

fn operations_files(tree: &Tree, notes: &mut Notes) -> Vec<Read> {
    let root = Utf8Path::new("operations");
    let files: Vec<_> = tree.below(root).map(|(_, file)| file.to_owned()).collect();
    let mut read = Vec::new();
    for file in files {
        if file.file_name() == Some("README.md") {
            continue;
        }
        if file.extension() != Some("toml") || file.parent() != Some(root) {
            notes.of_file(&file, "expected a file `operations/<category>.toml`");
            continue;
        }
        let Some(text) = tree.text(&file, notes) else { continue };
        if let Some((contents, source)) = document::read::<OperationsFile>(&file, &text, 1, notes) {
            read.push((file, contents.operations, source));
        }
    }
    read
}

fn add(world: &mut World, source: &Source, index: usize, operation: Operation, notes: &mut Notes) {
    let field = format!("operation[{index}]");
    if let Some((file, _)) = world.places.get(&operation.name) {
        let problem = format!("`{}` is there already, in {file}", operation.name);
        return source.fault(notes, &format!("{field}.name"), problem);
    }
    world.places.insert(operation.name.clone(), (source.file.clone(), field));
    world.operations.insert(operation.name.clone(), operation);
}

fn check_meta(meta: &WorldMeta, source: &Source, notes: &mut Notes) {
    for (name, value) in &meta.context {
        let field = format!("context.{name}");
        if !is_parameter(name) {
            source.fault(notes, &field, "expected a name of small letters, digits and `_`");
        } else if !(value.is_string() || value.is_i64() || value.is_boolean()) {
            source.fault(notes, &field, "expected a text, a whole number, true or false");
        }
    }
    let mut seen = BTreeSet::new();
    for (index, event) in meta.events.iter().enumerate() {
        if !seen.insert(event.name.as_str()) {
            let field = format!("event[{index}].name");
            source.fault(notes, &field, format!("`{}` is there already", event.name));
        }
        if event.effects.is_empty() {
            let field = format!("event[{index}].effects");
            source.fault(notes, &field, "expected at least one statement");
        }
    }
}

fn check_operations(world: &World, notes: &mut Notes) {
    for operation in world.operations.values() {
        let mut problems = parameter_problems(operation);
        problems.extend(body_problems(operation));
        problems.extend(conflict_problems(world, operation));
        for (field, problem) in problems {
            let fault = world.fault_of(&operation.name, &field, problem);
            let source = world.sources.get(&fault.file);
            let field = fault.field.clone().unwrap_or_default();
            if source.is_none_or(|source| !source.is_faulty(&field)) {
                notes.push(fault);
            }
        }
    }
}

type Problems = Vec<(String, String)>;

fn parameter_problems(operation: &Operation) -> Problems {
    let mut found = Problems::new();
    let mut note = |field: &str, problem: String| found.push((field.to_owned(), problem));
    let parameters = &operation.parameters;
    if parameters.get("type").is_some_and(|kind| kind != "object") {
        note("parameters.type", "expected \"object\", or nothing".to_owned());
    }
    if parameters.get("properties").is_some_and(|properties| !properties.is_object()) {
        note("parameters.properties", "expected a table".to_owned());
    }
    for (name, schema) in operation.properties() {
        let field = format!("parameters.properties.{name}");
        if !is_parameter(name) {
            note(&field, "expected a name of small letters, digits and `_`".to_owned());
        } else if !schema.is_object() {
            note(&field, "expected a JSON Schema, a table".to_owned());
        }
    }
    let required = parameters.get("required");
    if required.is_some_and(|names| !names.is_array()) {
        note("parameters.required", "expected an array of names".to_owned());
    }
    for (index, name) in required.and_then(Value::as_array).into_iter().flatten().enumerate() {
        if !name.as_str().is_some_and(|name| operation.has_parameter(name)) {
            let problem = format!("{name} is no property");
            note(&format!("parameters.required[{index}]"), problem);
        }
    }
    found
}

fn body_problems(operation: &Operation) -> Problems {
    let mut found = Problems::new();
    let mut note = |field: &str, problem: String| found.push((field.to_owned(), problem));
    let acts = operation.writes() || operation.result.is_some();
    match &operation.query {
        Some(_) if acts => {
            note("query", "an operation has either `query` or effects and a result".to_owned());
        }
        Some(name) if !operation.has_parameter(name) => {
            note("query", format!("`{name}` is no property of its parameters"));
        }
        None if !acts => {
            note("name", "it does nothing: expected `effects`, `result` or `query`".to_owned());
        }
        Some(_) | None => {}
    }
    if let Some(export) = &operation.export {
        if !operation.has_parameter(&export.path) {
            note("export.path", format!("`{}` is no property of its parameters", export.path));
        }
        if operation.result.is_none() || operation.shape != Shape::Row {
            note("export", "expected a `result` of the shape `row`".to_owned());
        }
    }
    found
}

fn conflict_problems(world: &World, operation: &Operation) -> Problems {
    let mut found = Problems::new();
    for (index, conflict) in operation.conflicts.iter().enumerate() {
        let field = format!("conflict[{index}]");
        let Some(other) = world.operations.get(&conflict.with) else {
            let names: Vec<_> = world.operations.keys().collect();
            let unknown = text::unknown("operation", &conflict.with, &names);
            found.push((format!("{field}.with"), format!("`{}`: {unknown}", conflict.with)));
            continue;
        };
        for name in &conflict.same {
            if !operation.has_parameter(name) || !other.has_parameter(name) {
                let problem = format!("`{name}` is not a parameter of both operations");
                found.push((format!("{field}.same"), problem));
            }
        }
    }
    found
}

/// Returns whether the text can name a parameter: `[a-z][a-z0-9_]*`.
fn is_parameter(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
