//! The walls of the house, kept by reading the sources.
//!
//! An import goes down, never up: between crates, and between the modules of `src/`.
//! Cargo keeps the first only as long as nobody adds a dependency; nothing keeps the
//! second but this test.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of `src/` by floor, lowest first. A module may use those of lower floors and
/// its own.
const FLOORS: &[&[&str]] = &[
    &["record", "verdict", "metrics"],
    &["model", "store", "fault"],
    &["agent", "annotate", "inject", "judge", "mcp"],
    &["runner"],
    &["report", "api"],
    &["cli"],
];

/// Most lines of a source file, tests in it included.
const LONGEST: usize = 800;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every Rust file below a folder with its text.
fn sources(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path, text);
            }
        }
    }
    assert!(!found.is_empty(), "no sources");
    found
}

/// Returns the lines of code, without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn crates_import_downwards() {
    let table: &[(&str, &[&str])] = &[
        ("pictures/src", &["wildgym_"]),
        ("sheets/src", &["wildgym_"]),
        ("tasks/src", &["wildgym_sandbox", "wildgym_toolbox", "wildgym::"]),
        ("sandbox/src", &["wildgym_toolbox", "wildgym::"]),
        ("toolbox/src", &["wildgym::"]),
    ];
    for (folder, forbidden) in table {
        for (path, text) in sources(&root().join(folder)) {
            for (number, line) in code(&text) {
                for name in *forbidden {
                    let climbs = line.contains(name);
                    assert!(!climbs, "{}:{number} climbs to `{name}`: {line}", path.display());
                }
            }
        }
    }
}

#[test]
fn the_sandbox_uses_only_plain_data_of_tasks() {
    for (path, text) in sources(&root().join("sandbox/src")) {
        for (number, line) in code(&text) {
            let Some((_, rest)) = line.split_once("wildgym_tasks::") else { continue };
            let plain = ["environment", "scenario::Language", "world::"]
                .iter()
                .any(|module| rest.starts_with(module));
            assert!(plain, "{}:{number} uses more than environments: {line}", path.display());
        }
    }
}

#[test]
fn modules_of_the_gym_import_downwards() {
    let floor = |module: &str| FLOORS.iter().position(|floor| floor.contains(&module));
    for (path, text) in sources(&root().join("src")) {
        let relative = path.strip_prefix(root().join("src")).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = first.trim_end_matches(".rs");
        if ["lib", "main", "bin"].contains(&module) {
            continue;
        }
        let own = floor(module)
            .unwrap_or_else(|| panic!("module `{module}` stands on no floor of this test"));
        for (number, line) in code(&text) {
            for used in line.split("crate::").skip(1) {
                let name: String =
                    used.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                let Some(other) = floor(&name) else { continue };
                let down = other <= own;
                assert!(down, "{}:{number} climbs to `{name}`: {line}", path.display());
            }
        }
    }
}

#[test]
fn only_the_command_line_prints_exits_and_reads_the_environment() {
    let words =
        ["println!", "eprintln!", "print!(", "std::env::var", "process::exit", "std::io::stdout"];
    for folder in ["src", "tasks/src", "toolbox/src", "sandbox/src", "sheets/src", "pictures/src"] {
        for (path, text) in sources(&root().join(folder)) {
            let is_test = path.ends_with("tests.rs") || path.iter().any(|part| part == "tests");
            if path.starts_with(root().join("src/cli")) || is_test {
                continue;
            }
            let product = text.split("#[cfg(test)]").next().unwrap();
            for (number, line) in code(product) {
                for word in words {
                    let found = line.contains(word);
                    assert!(!found, "{}:{number} has `{word}`: {line}", path.display());
                }
            }
        }
    }
}

#[test]
fn files_are_headed_and_can_be_seen_whole() {
    for folder in
        ["src", "tasks/src", "toolbox/src", "sandbox/src", "sheets/src", "pictures/src", "tests"]
    {
        for (path, text) in sources(&root().join(folder)) {
            let lines = text.lines().count();
            assert!(lines <= LONGEST, "{} has {lines} lines", path.display());
            assert!(text.starts_with("//!"), "{} says not what it is for", path.display());
        }
    }
}

/// Compiled code is loaded from disk in one place, and that is the one use of `unsafe`.
#[test]
fn one_expression_is_unsafe() {
    let mut found = Vec::new();
    for folder in
        ["src", "tasks/src", "toolbox/src", "sandbox/src", "sheets/src", "pictures/src", "tests"]
    {
        for (path, text) in sources(&root().join(folder)) {
            let uses = code(&text).filter(|(_, line)| line.contains(concat!("uns", "afe {")));
            found.extend(uses.map(|(number, _)| format!("{}:{number}", path.display())));
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
}
