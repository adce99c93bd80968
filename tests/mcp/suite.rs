//! A suite for these stories: one task, whose reference holds a secret.

use std::fs;
use std::path::{Path, PathBuf};

/// A secret that stands in the reference of a task, and nowhere else.
pub(crate) const SECRET: &str = "quartz-and-feathers-7731";

/// Writes the suite and returns its folder.
pub(crate) fn write(place: &Path) -> PathBuf {
    let suite = place.join("suite");
    fs::create_dir_all(suite.join("tasks/mc-sum/files")).unwrap();
    fs::create_dir_all(suite.join("tasks/mc-sum/reference")).unwrap();
    fs::write(
        suite.join("suite.toml"),
        "format = 1\nname = \"mcp-stories\"\nversion = \"1\"\ndescription = \"For a story\"\n",
    )
    .unwrap();
    fs::write(suite.join("tasks/mc-sum/task.toml"), TASK).unwrap();
    fs::write(suite.join("tasks/mc-sum/instruction.md"), "Add up the column `n` of `data.csv`.\n")
        .unwrap();
    fs::write(suite.join("tasks/mc-sum/files/data.csv"), "n\n17\n25\n").unwrap();
    let solution = format!("# {SECRET}\n{SOLUTION}");
    fs::write(suite.join("tasks/mc-sum/reference/solution.toml"), solution).unwrap();
    suite
}

/// Makes the data of the task dirty, and the factor one that can be taken away.
pub(crate) fn make_dirty(suite: &Path) {
    let task = suite.join("tasks/mc-sum");
    fs::write(task.join("files/data.csv"), "n\n17\n-\n25\n").unwrap();
    let text = TASK.replace("now = ", "factors = [\"dirty-data\"]\nnow = ");
    fs::write(task.join("task.toml"), text).unwrap();
    let ideal = task.join("ideal/dirty-data");
    fs::create_dir_all(ideal.join("files")).unwrap();
    fs::write(ideal.join("files/data.csv"), "n\n17\n25\n").unwrap();
    fs::write(ideal.join("overlay.toml"), "append = \"There every row is a number.\"\n").unwrap();
    let solution = SOLUTION.replace(".split()[1:]", ".replace('-', '').split()[1:]");
    fs::write(task.join("reference/solution.toml"), solution).unwrap();
}

const TASK: &str = r#"format = 1
id = "mc-sum"
title = "Add up a column"
scenario = "data-analysis"
domain = "trade"
language = "en"
now = "2026-03-02T09:00:00Z"

[answer]
kind = "number"
value = 42
"#;

const SOLUTION: &str = r#"format = 1

[[round]]
[[round.call]]
name = "code"
tool = "execute_code"
arguments = { code = "print(sum(map(int, open('data.csv').read().split()[1:])))" }

[answer]
expression = "code | regex('[0-9]+')"
"#;
