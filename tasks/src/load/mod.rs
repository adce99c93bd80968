//! Reads a suite and reports every fault of every file in one go.
//!
//! Nothing is returned of a suite that has a fault: what runs is what was checked.

pub(crate) mod document;
mod json;
mod pictures;
mod scenario;
mod scene;
mod server;
mod shape;
mod site;
mod solution;
mod task;
pub(crate) mod text;
mod tree;
mod world;

use std::collections::BTreeMap;

use camino::Utf8Path;

use crate::environment::HostMap;
use crate::fault::{Faults, Notes};
use crate::suite::{Suite, SuiteMeta};
use crate::task::Task;

impl Suite {
    /// Loads the suite in `folder`, or returns all that is wrong with it.
    pub fn load(folder: &Utf8Path) -> Result<Self, Faults> {
        let mut notes = Notes::default();
        if !folder.is_dir() {
            notes.of_file(folder, "there is no such folder");
        } else if !folder.join("suite.toml").exists() {
            notes.of_file(folder, "no suite: expected a folder with `suite.toml`");
        }
        if let Some(faults) = std::mem::take(&mut notes).finish() {
            return Err(faults);
        }
        let tree = tree::Tree::scan(folder, &mut notes);
        tree.only(
            Utf8Path::new(""),
            &["suite.toml", "tasks", "scenarios", "servers", "sites", "worlds"],
            &mut notes,
        );
        let file = Utf8Path::new("suite.toml");
        let text = tree.text(file, &mut notes);
        let meta = text.and_then(|text| document::read::<SuiteMeta>(file, &text, 1, &mut notes));
        if let Some((meta, source)) = &meta {
            check_map(meta, source, &mut notes);
            server::check(meta, source, &tree, &mut notes);
        }
        let sites = site::read_all(&tree, &mut notes);
        let worlds = world::read_all(&tree, &mut notes);
        let servers = meta.as_ref().map(|(meta, _)| &meta.servers);
        let mut tasks = task::read_all(&tree, (&sites, &worlds, servers), &mut notes);
        for (id, task) in scenario::read_all(&tree, &worlds, &mut notes) {
            if tasks.insert(id.clone(), task).is_some() {
                notes.of_file(Utf8Path::new("scenarios"), format!("two tasks are named `{id}`"));
            }
        }
        if let Some((meta, source)) = &meta {
            check_subsets(meta, source, &tasks, &mut notes);
            server::check_tools(meta, source, &worlds, &mut notes);
        }
        let digest = tree.digest(&mut notes);
        match (notes.finish(), meta) {
            (None, Some((meta, _))) => Ok(Self {
                meta,
                folder: folder.to_owned(),
                tasks,
                sites: sites.by_host,
                worlds: worlds.by_name,
                digest,
            }),
            (faults, _) => Err(faults.unwrap_or(Faults(Vec::new()))),
        }
    }
}

/// Notes what subsets name and the suite does not have. Tasks with faults of their own are
/// not known yet, so nothing is said where there are others.
fn check_subsets(
    meta: &SuiteMeta,
    source: &document::Source,
    tasks: &BTreeMap<String, Task>,
    notes: &mut Notes,
) {
    if !notes.is_empty() {
        return;
    }
    for (name, subset) in &meta.subsets {
        let named = |one: &str| tasks.values().any(|task| task.meta.subset.as_deref() == Some(one));
        if named(name) {
            let field = format!("subsets.{name}");
            source.fault(notes, &field, format!("tasks call their own subset `{name}`"));
        }
        for one in subset.subsets.iter().filter(|one| !named(one)) {
            let field = format!("subsets.{name}.subsets");
            source.fault(notes, &field, format!("no task is of subset `{one}`"));
        }
        for id in subset.tasks.iter().filter(|id| !tasks.contains_key(*id)) {
            let field = format!("subsets.{name}.tasks");
            source.fault(notes, &field, format!("there is no task `{id}`"));
        }
    }
}

/// Notes entries of `[web.live] map` that are none.
fn check_map(meta: &SuiteMeta, source: &document::Source, notes: &mut Notes) {
    for (host, to) in &meta.web.live.map {
        if let Err(problem) = HostMap::default().insert(host, to) {
            source.fault(notes, "web.live.map", problem);
        }
    }
}
