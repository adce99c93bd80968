//! What a suite says about foreign servers, against its folders and tasks.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::document::Source;
use super::text;
use super::tree::Tree;
use super::world::Worlds;
use crate::environment::Server;
use crate::environment::server::FOLDER;
use crate::fault::Notes;
use crate::suite::SuiteMeta;

/// Notes servers that cannot be, and folders below `servers/` that are nobody's.
pub(super) fn check(meta: &SuiteMeta, source: &Source, tree: &Tree, notes: &mut Notes) {
    let folder = Utf8Path::new("servers");
    for (name, server) in &meta.servers {
        for (field, problem) in server.misfits(name) {
            let dot = if field.is_empty() { "" } else { "." };
            source.fault(notes, &format!("servers.{name}{dot}{field}"), problem);
        }
        if let Some(world) = &server.world
            && !tree.has_folder(&Utf8Path::new("worlds").join(world))
        {
            let problem = format!("there is no world `{world}`: expected `worlds/{world}/`");
            source.fault(notes, &format!("servers.{name}.world"), problem);
        }
        let used = server.command.iter().any(|part| part.contains(FOLDER));
        if used && !tree.has_folder(&folder.join(name)) {
            let problem = format!("`{FOLDER}` stands for `servers/{name}/`, which is not there");
            source.fault(notes, &format!("servers.{name}.command"), problem);
        }
    }
    for name in tree.names_in(folder) {
        if name != "README.md" && !meta.servers.contains_key(name) {
            let problem =
                format!("no server of `suite.toml` has this name; add `[servers.{name}]`");
            notes.of_file(&folder.join(name), problem);
        }
    }
}

/// Notes tools that a server of a world is to offer and whose world has no such operation:
/// what it lists is known without starting it.
pub(super) fn check_tools(meta: &SuiteMeta, source: &Source, worlds: &Worlds, notes: &mut Notes) {
    for (name, server) in &meta.servers {
        let world = server.world.as_ref().and_then(|world| worlds.by_name.get(world));
        let Some(world) = world else { continue };
        let listed: Vec<&str> = world.operations.keys().map(String::as_str).collect();
        for (index, pattern) in server.strangers(&listed) {
            let problem = format!("`{pattern}`: {}", text::unknown("operation", pattern, &listed));
            source.fault(notes, &format!("servers.{name}.tools[{index}]"), problem);
        }
    }
}

/// Notes what a task names and the suite does not have.
pub(super) fn check_task(
    named: &BTreeSet<String>,
    known: &BTreeMap<String, Server>,
    source: &Source,
    notes: &mut Notes,
) {
    let all: Vec<&String> = known.keys().collect();
    for name in named.iter().filter(|name| !known.contains_key(*name)) {
        let problem = if all.is_empty() {
            "the suite has no servers; add `[servers.NAME]` to `suite.toml`".to_owned()
        } else {
            text::unknown("server", name, &all)
        };
        source.fault(notes, "environment.servers", format!("`{name}`: {problem}"));
    }
}
