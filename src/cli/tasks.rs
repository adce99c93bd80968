//! `wildgym tasks`: suites and tasks, for those who write them.

mod check;
mod rehearse;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use serde_json::json;
use wildgym_tasks::{Suite, Task, Variant, builtin, schema, template};

use super::host::open_suite;
use super::run::subset;
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
        /// List only the tasks of a subset of the suite, such as `smoke`
        #[arg(long, value_name = "NAME", requires = "suite")]
        subset: Option<String>,
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
        variant: String,
        /// Show the reference answer too
        #[arg(long)]
        answer: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check every file of a suite, and that no answer lies in the open
    Check {
        /// Suite, by name or folder
        suite: String,
        /// Try every solution of the suite's scenarios too: each reference must pass, each
        /// wrong solution fail for the reason that it names
        #[arg(long)]
        run: bool,
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
        TasksCommand::List { suite: None, json, .. } => suites(json),
        TasksCommand::List { suite: Some(suite), subset, json } => {
            list(&suite, subset.as_deref(), json)
        }
        TasksCommand::Show { suite, task, variant, answer, json } => {
            show(&suite, &task, &variant, (answer, json))
        }
        TasksCommand::Check { suite, run } => {
            let code = check::check(&suite)?;
            if run && code == Code::Done { rehearse::rehearse(&suite) } else { Ok(code) }
        }
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
                "{name} {}  {}  {}",
                suite.meta.version,
                counted(suite.tasks.len(), "task"),
                suite.meta.description
            ));
        }
    }
    Ok(Code::Done)
}

fn list(named: &str, part: Option<&str>, as_json: bool) -> Result<Code, Failure> {
    let suite = open_suite(named)?.suite;
    let only = part.map(|name| subset(&suite, name)).transpose()?;
    let is_listed = |task: &&Task| only.as_ref().is_none_or(|ids| ids.contains(&*task.meta.id));
    if as_json {
        let all: Vec<_> = suite.tasks.values().filter(is_listed).map(described).collect();
        data(&serde_json::to_string_pretty(&all).unwrap_or_default());
        return Ok(Code::Done);
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["task", "scenario", "language", "factors", "title"]);
    for task in suite.tasks.values().filter(is_listed) {
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

/// Describes a task to programs.
fn described(task: &Task) -> serde_json::Value {
    json!({
        "id": task.meta.id,
        "title": task.meta.title,
        "scenario": task.meta.scenario,
        "subset": task.meta.subset,
        "tier": task.scenario_file.as_ref().map(|file| file.tier),
        "type": task.scenario_file.as_ref().map(|file| file.kind),
        "domain": task.meta.domain,
        "language": task.meta.language,
        "factors": task.meta.factors,
        "needs": task.meta.environment.needs,
    })
}

/// Finds a task of a suite.
fn find<'a>(suite: &'a Suite, id: &str) -> Result<&'a Task, Failure> {
    suite.tasks.get(id).ok_or_else(|| {
        Failure::usage(format!("suite `{}` has no task `{id}`", suite.meta.name))
            .hint(format!("see them with `wildgym tasks list {}`", suite.meta.name))
    })
}

/// Reads the name of a variant of a task.
fn variant_of(task: &Task, name: &str) -> Result<Variant, Failure> {
    let variants = task.variants();
    let refuse = |problem: String| {
        let names: Vec<String> = variants.iter().map(ToString::to_string).collect();
        let wanted = format!("ideal-{name}");
        let near = if names.contains(&wanted) {
            format!("did you mean `{wanted}`? ")
        } else {
            String::new()
        };
        Failure::usage(problem).hint(format!(
            "{near}the variants of `{}` are {}",
            task.meta.id,
            names.join(", ")
        ))
    };
    let variant: Variant = name
        .parse()
        .map_err(|error: wildgym_tasks::variant::UnknownVariant| refuse(error.to_string()))?;
    let strange = variant.factors().find(|factor| !task.meta.factors.contains(factor));
    match strange {
        Some(factor) => Err(refuse(format!(
            "`{variant}` is no variant of `{}`, which has no factor `{factor}`",
            task.meta.id
        ))),
        None => Ok(variant),
    }
}

fn show(
    named: &str,
    id: &str,
    variant: &str,
    (answer, as_json): (bool, bool),
) -> Result<Code, Failure> {
    let suite = open_suite(named)?.suite;
    let task = find(&suite, id)?;
    let variant = variant_of(task, variant)?;
    let given = task.given(&variant).map_err(|error| Failure::usage(error.to_string()))?;
    let attachments: Vec<String> = given.files.keys().map(ToString::to_string).collect();
    let pictures: Vec<String> = given.pictures.iter().map(ToString::to_string).collect();
    let instruction = crate::agent::announced(&given.instruction, &attachments, &pictures, false);
    if as_json {
        let mut object = described(task);
        object["now"] = json!(task.meta.now);
        object["variant"] = json!(variant);
        object["variants"] = json!(task.variants());
        object["instruction"] = json!(instruction.trim_end());
        object["attachments"] = json!(attachments);
        if answer {
            object["answer"] = json!(task.meta.answer);
        }
        data(&serde_json::to_string_pretty(&object).unwrap_or_default());
        return Ok(Code::Done);
    }
    data(&format!(
        "{id} · {variant} · {} · {} · {} · starts at {}\n{}\n",
        task.meta.scenario,
        task.meta.domain,
        task.meta.language.name(),
        task.meta.now,
        task.meta.title
    ));
    data(instruction.trim_end());
    data("");
    let needs: Vec<&str> = task.meta.environment.needs.iter().map(|need| need.name()).collect();
    if !needs.is_empty() {
        data(&format!("needs: {}", needs.join(", ")));
    }
    for other in task.variants() {
        let mark = if other == variant { " (shown)" } else { "" };
        data(&format!("variant: {other}{mark}"));
    }
    if answer {
        data(&format!("answer: {}", serde_json::to_string(&task.meta.answer).unwrap_or_default()));
    }
    Ok(Code::Done)
}

/// Counts things in words: `1 task`, `2 tasks`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

fn new(path: &Utf8Path) -> Result<Code, Failure> {
    let usage = || {
        Failure::usage(format!("`{path}` names no task of a suite")).hint(
            "name the folder of a suite, old or new, and a new id, as in `my-suite/ds-lighthouse`",
        )
    };
    if path.join("suite.toml").is_file() {
        return Err(usage());
    }
    let (folder, id) = path.parent().zip(path.file_name()).ok_or_else(usage)?;
    if folder.as_str().is_empty() && !Utf8Path::new("suite.toml").is_file() {
        return Err(usage());
    }
    let folder = if folder.as_str().is_empty() { Utf8Path::new(".") } else { folder };
    let begun = !folder.join("suite.toml").is_file();
    let written = template::write(folder, id)
        .map_err(|error| Failure::usage(format!("cannot begin task `{id}`: {error}")))?;
    if begun {
        say(&format!("wrote {folder}/suite.toml; change its description"));
    }
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
