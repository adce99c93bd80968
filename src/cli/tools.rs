//! `wildgym tools`: what an agent can call, and one call by hand.

use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};
use serde_json::json;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::{Clock, Sandbox, Seed};
use wildgym_toolbox::catalog::Entry;
use wildgym_toolbox::{Bounds, Call, Catalog, Toolbox, schema};

use super::host::{catalog, open_host, open_suite};
use super::network::{WebArgs, announce};
use super::{Code, Failure, data, say};
use crate::store::WebName;

/// List the tools, show one, or call one by hand
#[derive(Debug, Args)]
pub(super) struct ToolsArgs {
    #[command(subcommand)]
    command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
enum ToolsCommand {
    /// List the tools with what they do
    List {
        /// Print schemas, categories and examples as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a model is told of a tool
    Show {
        /// Name of the tool
        name: String,
        /// Print the entry of a chat-completions request as JSON
        #[arg(long)]
        json: bool,
    },
    Call(CallArgs),
}

/// Call one tool and print what an agent would read
#[derive(Debug, Args)]
struct CallArgs {
    /// Name of the tool
    name: String,

    /// Arguments, as a JSON object; `-` reads it from standard input, `@FILE` from a file
    #[arg(default_value = "{}")]
    arguments: String,

    /// Directory to work in [default: an empty one that is removed afterwards]
    #[arg(long, value_name = "DIR")]
    workspace: Option<Utf8PathBuf>,

    /// Suite whose web the tool sees
    #[arg(long, value_name = "SUITE", default_value = "starter")]
    suite: String,

    /// Logical time of the call
    #[arg(long, value_name = "TIME", default_value = "2026-01-01T09:00:00Z")]
    now: jiff::Timestamp,

    #[command(flatten)]
    web: WebArgs,

    /// Seed of the call's chances
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    /// Print text, error, accesses and times as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: ToolsArgs) -> Result<Code, Failure> {
    match args.command {
        ToolsCommand::List { json } => list(json),
        ToolsCommand::Show { name, json } => show(&name, json),
        ToolsCommand::Call(args) => call(args),
    }
}

fn list(as_json: bool) -> Result<Code, Failure> {
    let catalog = catalog()?;
    if as_json {
        let all: Vec<_> = catalog.iter().map(described).collect();
        data(&pretty(&json!(all)));
        return Ok(Code::Done);
    }
    let width = catalog.iter().map(|entry| entry.tool.name().len()).max().unwrap_or(0);
    for entry in catalog.iter() {
        let first = entry.tool.description().lines().next().unwrap_or_default();
        data(&format!("{:width$}  {first}", entry.tool.name()));
    }
    Ok(Code::Done)
}

fn show(name: &str, as_json: bool) -> Result<Code, Failure> {
    let catalog = catalog()?;
    let entry = known(&catalog, name)?;
    if as_json {
        data(&pretty(&schema::openai(entry)));
        return Ok(Code::Done);
    }
    data(&format!("{name}\n\n{}\n\nparameters:", entry.tool.description()));
    data(&pretty(&entry.parameters));
    data(&format!("\nexample:\n  wildgym tools call {name} '{}'", entry.tool.example()));
    Ok(Code::Done)
}

/// Returns the tool of that name.
fn known<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Entry, Failure> {
    catalog.entry(name).map_err(|error| {
        Failure::usage(error.to_string()).hint("see them with `wildgym tools list`")
    })
}

/// Returns the arguments as they stand, or from where they stand.
fn arguments(given: &str) -> Result<String, Failure> {
    if given == "-" {
        return std::io::read_to_string(std::io::stdin()).map_err(|error| {
            Failure::usage(format!("cannot read the arguments from standard input: {error}"))
        });
    }
    let Some(file) = given.strip_prefix('@') else { return Ok(given.to_owned()) };
    std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("cannot read the arguments from `{file}`: {error}"))
    })
}

fn described(entry: &Entry) -> serde_json::Value {
    json!({
        "name": entry.tool.name(),
        "category": entry.tool.category(),
        "description": entry.tool.description(),
        "parameters": entry.parameters,
        "example": entry.tool.example(),
    })
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

fn call(args: CallArgs) -> Result<Code, Failure> {
    known(catalog()?.as_ref(), &args.name)?;
    let arguments = arguments(&args.arguments)?;
    let toolbox = Arc::new(toolbox(&args)?);
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let call = Call { id: "call".to_owned(), name: args.name, arguments };
    let reply =
        runtime.block_on(toolbox.call(call)).map_err(|error| Failure::usage(error.to_string()))?;
    if args.json {
        data(&pretty(&json!({
            "text": reply.text,
            "error": reply.error,
            "full": reply.full,
            "web": reply.accesses,
            "cost_ms": reply.cost.as_millis(),
            "took_ms": reply.took.as_millis(),
        })));
    } else {
        data(&reply.text);
    }
    match reply.error {
        None => Ok(Code::Done),
        Some(kind) => {
            say(&format!("the call failed: {kind}"));
            Ok(Code::Incomplete)
        }
    }
}

/// Opens a sandbox for one call by hand.
fn toolbox(args: &CallArgs) -> Result<Toolbox, Failure> {
    let host = open_host()?;
    let opened = open_suite(&args.suite)?;
    let planned = args.web.plan(&opened.suite)?;
    let config = planned.config.clone();
    let network = planned.open(&opened.suite)?;
    if config.kind != WebName::Hermetic {
        announce(&config, &network);
    }
    let (web, now) = network.by_hand("tools/call/full/1", args.now);
    let workspace = match &args.workspace {
        Some(folder) => Workspace::attach(folder, Quota::default()).map_err(|error| {
            Failure::usage(format!("cannot use `{folder}` as workspace: {error}"))
        })?,
        None => Workspace::create(&host.scratch, Quota::default()),
    };
    let sandbox = Sandbox {
        host,
        workspace,
        web,
        clock: Clock::starting_at(now),
        seed: Seed::of_run(args.seed),
    };
    let work = Arc::new(WorkClock::default());
    Ok(Toolbox::new(Arc::new(sandbox), catalog()?, Vec::new(), Bounds::default(), work))
}
