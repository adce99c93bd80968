//! What a suite says about foreign servers, against its folders and tasks.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::document::Source;
use super::text;
use super::tree::Tree;
use crate::environment::server::FOLDER;
use crate::fault::Notes;
use crate::suite::SuiteMeta;
use crate::task::Task;

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

/// Notes what tasks name and the suite does not have.
pub(super) fn check_tasks(
    meta: &SuiteMeta,
    tasks: &BTreeMap<String, Task>,
    tree: &Tree,
    notes: &mut Notes,
) {
    let known: Vec<&String> = meta.servers.keys().collect();
    for task in tasks.values() {
        for name in &task.meta.environment.servers {
            if meta.servers.contains_key(name) {
                continue;
            }
            let problem = if known.is_empty() {
                "the suite has no servers; add `[servers.NAME]` to `suite.toml`".to_owned()
            } else {
                text::unknown("server", name, &known)
            };
            let file = tree.relative(&task.folder).join("task.toml");
            notes.of_file(&file, format!("`environment.servers`: `{name}`: {problem}"));
        }
    }
}
