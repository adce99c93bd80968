//! `wildgym world show`: what a world holds and lets a caller do.

use camino::Utf8PathBuf;
use clap::Args;
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};
use wildgym_sandbox::world::{Answered, Look, Relation};
use wildgym_tasks::World;
use wildgym_tasks::world::Operation;
use wildgym_toolbox::Catalog;
use wildgym_toolbox::catalog::Entry;

use super::super::{Code, Failure, data, say, terminal};
use super::open::{make, read_state};

/// Show a world: its tables and views, operations and events
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// World, by name, as SUITE/WORLD, or by folder
    world: String,

    /// Show the first rows of this table or view
    #[arg(long, value_name = "NAME", conflicts_with = "operation")]
    table: Option<String>,

    /// Most rows that are shown
    #[arg(long, value_name = "COUNT", default_value = "20")]
    rows: usize,

    /// Show this operation whole: what an agent is told, and what is done
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,

    /// File with a state to show in place of the one at the start
    #[arg(long, value_name = "FILE")]
    state: Option<Utf8PathBuf>,

    /// Number from which the chances of `seed.sql` are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ShowArgs) -> Result<Code, Failure> {
    let made = make(&args.world, args.seed)?;
    let world = made.world();
    if let Some(name) = &args.operation {
        return operation(args, world, name);
    }
    let image = args.state.as_deref().map(read_state).transpose()?;
    let image = image.as_deref().unwrap_or(made.image());
    let look = Look::open(image, world.meta.now);
    let look = look.map_err(|error| Failure::usage(error.to_string()))?;
    let relations = look.relations().map_err(|error| Failure::usage(error.to_string()))?;
    match &args.table {
        Some(name) => rows(args, &look, &relations, name),
        None => whole(args, world, &relations, image.len()),
    }
}

fn whole(
    args: &ShowArgs,
    world: &World,
    relations: &[Relation],
    bytes: usize,
) -> Result<Code, Failure> {
    let catalog = Catalog::of_world(world).map_err(|error| Failure::usage(error.to_string()))?;
    let signature = |name: &str| catalog.entry(name).map(Entry::signature).unwrap_or_default();
    if args.json {
        let operations: Vec<Value> = by_category(world)
            .into_iter()
            .map(|one| json!({"name": one.name, "category": one.category, "writes": one.writes(), "description": one.description}))
            .collect();
        data(&pretty(&json!({
            "name": world.meta.name, "version": world.meta.version, "description": world.meta.description,
            "now": world.meta.now, "context": world.meta.context, "digest": world.digest, "bytes": bytes,
            "relations": relations, "published": world.meta.views,
            "operations": operations, "events": world.meta.events,
        })));
        return Ok(Code::Done);
    }
    let meta = &world.meta;
    data(&format!(
        "{} {} · {} · a state of {} KiB",
        meta.name,
        meta.version,
        meta.now,
        bytes >> 10
    ));
    data(&format!("{}\n", meta.description));
    let mut table = plain();
    table.set_header(["table", "rows", "columns"]);
    for relation in relations {
        let published = meta.views.contains(&relation.name);
        let kind = match (relation.view, published) {
            (true, true) => " (view, published)",
            (true, false) => " (view)",
            (false, _) => "",
        };
        let columns: Vec<&str> = relation.columns.iter().map(|(name, _)| name.as_str()).collect();
        let name = format!("{}{kind}", relation.name);
        table.add_row([name, relation.rows.to_string(), columns.join(", ")]);
    }
    data(&table.to_string());
    let mut table = plain();
    table.set_header(["category", "operation", "", "parameters"]);
    for operation in by_category(world) {
        let writes = if operation.writes() { "writes" } else { "reads" };
        let (name, parameters) = (&operation.name, signature(&operation.name));
        table.add_row([operation.category.as_str(), name, writes, &parameters]);
    }
    data(&format!("\n{table}"));
    if !meta.events.is_empty() {
        let mut table = plain();
        table.set_header(["event", "arguments", "what happens"]);
        for event in &meta.events {
            table.add_row([&event.name, &event.arguments.join(", "), &event.description]);
        }
        data(&format!("\n{table}"));
    }
    say(
        "see one whole with `--operation NAME`, rows with `--table NAME`, any of it with `wildgym world shell`",
    );
    Ok(Code::Done)
}

/// Returns the operations in the order of their categories.
fn by_category(world: &World) -> Vec<&Operation> {
    let mut all: Vec<&Operation> = world.operations.values().collect();
    all.sort_by_key(|operation| (&operation.category, &operation.name));
    all
}

fn rows(args: &ShowArgs, look: &Look, relations: &[Relation], name: &str) -> Result<Code, Failure> {
    let Some(relation) = relations.iter().find(|one| one.name == name) else {
        let names: Vec<String> = relations.iter().map(|one| format!("`{}`", one.name)).collect();
        return Err(Failure::usage(format!("the state has no table `{name}`"))
            .hint(format!("there are {}", names.join(", "))));
    };
    let answered = look.query(&Look::first_rows(name), args.rows).map_err(Failure::usage)?;
    print(&answered, args.json);
    if answered.more && !args.json {
        say(&format!("{} of {} rows; `--rows` shows more", args.rows, relation.rows));
    }
    Ok(Code::Done)
}

fn operation(args: &ShowArgs, world: &World, name: &str) -> Result<Code, Failure> {
    let catalog = Catalog::of_world(world).map_err(|error| Failure::usage(error.to_string()))?;
    let (entry, operation) = match (catalog.entry(name), world.operations.get(name)) {
        (Ok(entry), Some(operation)) => (entry, operation),
        (Err(error), _) => return Err(Failure::usage(error.to_string())),
        (Ok(_), None) => return Err(Failure::usage(format!("there is no operation `{name}`"))),
    };
    if args.json {
        let mut value = json!(operation);
        value["parameters"] = entry.parameters.clone();
        value["example"] = entry.tool.example();
        data(&pretty(&value));
        return Ok(Code::Done);
    }
    data(&format!(
        "{name} · {} · {} s\n\n{}",
        operation.category, operation.seconds, operation.description
    ));
    data(&format!("\nparameters:\n{}", pretty(&entry.parameters)));
    for precondition in &operation.preconditions {
        let code = precondition.code.name();
        data(&format!("\nunless ({code}: {}):\n{}", precondition.message, precondition.sql.trim()));
    }
    for effect in &operation.effects {
        data(&format!("\neffect:\n{}", effect.trim()));
    }
    if let Some(result) = &operation.result {
        data(&format!("\nresult:\n{}", result.trim()));
    }
    for (other, same) in conflicts(world, operation) {
        let same = if same.is_empty() {
            String::new()
        } else {
            format!(" with the same {}", same.join(", "))
        };
        data(&format!("\nnot in one round with `{other}`{same}"));
    }
    data(&format!(
        "\nexample:\n  wildgym world call {} {name} '{}'",
        args.world,
        entry.tool.example()
    ));
    Ok(Code::Done)
}

/// Returns what an operation conflicts with, whichever of the two declares it.
fn conflicts<'w>(world: &'w World, operation: &'w Operation) -> Vec<(&'w str, &'w [String])> {
    let own = operation.conflicts.iter().map(|one| (one.with.as_str(), one.same.as_slice()));
    let others = world.operations.values().filter(|other| other.name != operation.name);
    let declared = others.flat_map(|other| {
        let with_it = other.conflicts.iter().filter(|one| one.with == operation.name);
        with_it.map(|one| (other.name.as_str(), one.same.as_slice()))
    });
    own.chain(declared).collect()
}

/// Prints rows: one JSON object, or a table.
pub(super) fn print(answered: &Answered, as_json: bool) {
    if as_json {
        return data(&json!(answered).to_string());
    }
    let mut table = plain();
    table.set_header(&answered.columns);
    for row in &answered.rows {
        table.add_row(row.iter().map(|value| match value {
            Value::String(text) => crate::report::visible(text),
            Value::Null => "NULL".to_owned(),
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                other.to_string()
            }
        }));
    }
    data(&table.to_string());
}

fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let (width, _) = terminal();
    if let Ok(width) = u16::try_from(width) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
