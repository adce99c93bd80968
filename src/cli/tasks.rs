//! `wildgym tasks`: suites and tasks, for those who write them.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use serde_json::json;
use wildgym_tasks::{Suite, Task, Variant, builtin, check, schema, template};

use super::host::{locate, open_host, open_suite};
use super::{Code, Failure, data, say};

/// List, show, check and begin tasks
#[derive(Debug, Args)]
pub(super) struct TasksArgs {
    #[command(subcommand)]
    command: TasksCommand,
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    /// List the built-in suites, or the tasks of a suite
    List {
        /// Suite, by name or folder
        suite: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a task as an agent meets it
    Show {
        /// Suite, by name or folder
        suite: String,
        /// Id of the task
        task: String,
        /// Variant, such as `full` or `ideal-ambiguity+bias`
        #[arg(long, default_value = "full")]
        variant: Variant,
        /// Show the reference answer too
        #[arg(long)]
        answer: bool,
    },
    /// Check every file of a suite, and that no answer lies in the open
    Check {
        /// Suite, by name or folder
        suite: String,
    },
    /// Begin a new task from a small one that works
    New {
        /// Folder of the suite and id of the task, as in `my-suite/ds-lighthouse`
        path: Utf8PathBuf,
    },
    /// Print the JSON Schemas of the files, for editors
    Schema {
        /// One file's schema, such as `task.toml` [default: all, in one object]
        file: Option<String>,
    },
}

pub(super) fn run(args: TasksArgs) -> Result<Code, Failure> {
    match args.command {
        TasksCommand::List { suite: None, json } => suites(json),
        TasksCommand::List { suite: Some(suite), json } => list(&suite, json),
        TasksCommand::Show { suite, task, variant, answer } => {
            show(&suite, &task, &variant, answer)
        }
        TasksCommand::Check { suite } => checked(&suite),
        TasksCommand::New { path } => new(&path),
        TasksCommand::Schema { file } => schemas(file.as_deref()),
    }
}

fn suites(as_json: bool) -> Result<Code, Failure> {
    for name in builtin::names() {
        let suite = open_suite(name)?.suite;
        if as_json {
            data(&json!({"name": name, "version": suite.meta.version, "tasks": suite.tasks.len(), "description": suite.meta.description}).to_string());
        } else {
            data(&format!(
                "{name} {}  {} tasks  {}",
                suite.meta.version,
                suite.tasks.len(),
                suite.meta.description
            ));
        }
    }
    Ok(Code::Done)
}

fn list(named: &str, as_json: bool) -> Result<Code, Failure> {
    let suite = open_suite(named)?.suite;
    if as_json {
        let all: Vec<_> = suite
            .tasks
            .values()
            .map(|task| {
                json!({
                    "id": task.meta.id,
                    "title": task.meta.title,
                    "scenario": task.meta.scenario,
                    "subset": task.meta.subset,
                    "domain": task.meta.domain,
                    "language": task.meta.language,
                    "factors": task.meta.factors,
                })
            })
            .collect();
        data(&serde_json::to_string_pretty(&all).unwrap_or_default());
        return Ok(Code::Done);
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["task", "scenario", "language", "factors", "title"]);
    for task in suite.tasks.values() {
        let factors: Vec<&str> = task.meta.factors.iter().map(|factor| factor.name()).collect();
        table.add_row([
            task.meta.id.as_str(),
            task.meta.scenario.name(),
            task.meta.language.name(),
            &factors.join(", "),
            &task.meta.title,
        ]);
    }
    data(&table.to_string());
    Ok(Code::Done)
}

/// Finds a task of a suite.
fn find<'a>(suite: &'a Suite, id: &str) -> Result<&'a Task, Failure> {
    suite.tasks.get(id).ok_or_else(|| {
        Failure::usage(format!("suite `{}` has no task `{id}`", suite.meta.name))
            .hint(format!("see them with `wildgym tasks list {}`", suite.meta.name))
    })
}

fn show(named: &str, id: &str, variant: &Variant, answer: bool) -> Result<Code, Failure> {
    let suite = open_suite(named)?.suite;
    let task = find(&suite, id)?;
    let given = task.given(variant).map_err(|error| Failure::usage(error.to_string()))?;
    data(&format!(
        "{id} · {} · {} · {} · starts at {}\n{}\n",
        task.meta.scenario,
        task.meta.domain,
        task.meta.language.name(),
        task.meta.now,
        task.meta.title
    ));
    data(&given.instruction);
    for path in given.files.keys() {
        data(&format!("attachment: {path}"));
    }
    for variant in Variant::all_of(&task.meta.factors) {
        data(&format!("variant: {variant}"));
    }
    if answer {
        data(&format!("answer: {}", serde_json::to_string(&task.meta.answer).unwrap_or_default()));
    }
    Ok(Code::Done)
}

fn checked(named: &str) -> Result<Code, Failure> {
    let (folder, _) = locate(named)?;
    let suite = match Suite::load(&folder) {
        Ok(suite) => suite,
        Err(faults) => {
            data(&faults.to_string());
            return Ok(Code::Incomplete);
        }
    };
    let host = open_host()?;
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let extract = |file: &Utf8Path| {
        let name = file.file_name()?;
        let bytes = std::fs::read(file).ok()?;
        let read = host.workers.document(name, None, bytes);
        runtime.block_on(read).ok().map(|document| document.text)
    };
    let mut found = 0;
    for (id, task) in &suite.tasks {
        for leak in check::leaks(task, check::materials(&suite, task, extract)) {
            data(&format!("tasks/{id}: {leak}"));
            found += 1;
        }
    }
    let counted = format!("{} tasks, {} sites", suite.tasks.len(), suite.sites.len());
    if found > 0 {
        say(&format!("{counted}: {found} faults"));
        return Ok(Code::Incomplete);
    }
    say(&format!("{counted}: no fault, and no answer in the open"));
    Ok(Code::Done)
}

fn new(path: &Utf8Path) -> Result<Code, Failure> {
    let usage = || {
        Failure::usage(format!("`{path}` names no task of a suite"))
            .hint("name the folder of a suite and a new id, as in `my-suite/ds-lighthouse`")
    };
    let (folder, id) = path.parent().zip(path.file_name()).ok_or_else(usage)?;
    if !folder.join("suite.toml").is_file() {
        return Err(usage());
    }
    let written = template::write(folder, id)
        .map_err(|error| Failure::usage(format!("cannot begin task `{id}`: {error}")))?;
    say(&format!("wrote {written}; it works as it is: `wildgym run {folder} --tasks {id}`"));
    Ok(Code::Done)
}

fn schemas(file: Option<&str>) -> Result<Code, Failure> {
    let all = schema::all();
    let Some(file) = file else {
        let object: serde_json::Map<String, serde_json::Value> =
            all.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        data(&serde_json::to_string_pretty(&object).unwrap_or_default());
        return Ok(Code::Done);
    };
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let Some((_, schema)) = all.iter().find(|(name, _)| *name == file) else {
        return Err(Failure::usage(format!("there is no schema for `{file}`"))
            .hint(format!("there are schemas for `{}`", names.join("`, `"))));
    };
    data(&serde_json::to_string_pretty(schema).unwrap_or_default());
    Ok(Code::Done)
}
