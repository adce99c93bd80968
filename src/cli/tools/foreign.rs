//! `wildgym tools foreign`: what foreign servers offer, and one call by hand.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::json;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::workspace::Workspace;
use wildgym_sandbox::{Clock, Host, Sandbox, Seed};
use wildgym_toolbox::{Bounds, Call, Catalog, Foreign, Reply, SandboxLost, Toolbox};

use super::{arguments, described, known, pretty};
use crate::cli::host::open_bare_host;
use crate::cli::servers::NamedArgs;
use crate::cli::{Code, Failure, data, say};

/// List the tools of foreign servers, or call one by hand, as a run would
#[derive(Debug, Args)]
pub(super) struct ForeignArgs {
    /// Tool to call, as `NAME__tool` [default: none; all are listed]
    tool: Option<String>,

    /// Arguments, as a JSON object; `-` reads it from standard input, `@FILE` from a file
    #[arg(default_value = "{}")]
    arguments: String,

    /// Directory to work in [default: an empty one that is removed afterwards]
    #[arg(long, value_name = "DIR")]
    workspace: Option<Utf8PathBuf>,

    #[command(flatten)]
    servers: NamedArgs,

    /// Print schemas, or text, error, notes and times of the call, as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ForeignArgs) -> Result<Code, Failure> {
    let planned = args.servers.named()?;
    if planned.is_empty() {
        return Err(Failure::usage("no server is named")
            .hint("name one with `--mcp-server NAME=COMMAND` or `--mcp-url NAME=URL`"));
    }
    let host = open_bare_host()?;
    let servers = planned.open(Utf8Path::new(""), &host)?;
    let catalog = servers.catalog().map_err(|error| Failure::usage(error.to_string()))?;
    for (name, one) in planned.kept(&servers, &host) {
        say(&one.note(&name));
    }
    let Some(tool) = &args.tool else {
        list(&catalog, args.json);
        return Ok(Code::Done);
    };
    known(&catalog, tool)?;
    let call =
        Call { id: "call".to_owned(), name: tool.clone(), arguments: arguments(&args.arguments)? };
    let workspace = super::workspace(args.workspace.as_deref(), &host)?;
    let foreign = servers.everywhere(&host, &workspace, Seed::of_run(0));
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let reply = runtime.block_on(called(host, workspace, Arc::new(foreign), catalog, call));
    let reply = reply.map_err(|error| Failure::usage(error.to_string()))?;
    Ok(told(&reply, args.json))
}

async fn called(
    host: Arc<Host>,
    workspace: Arc<Workspace>,
    foreign: Arc<Foreign>,
    catalog: Catalog,
    call: Call,
) -> Result<Reply, SandboxLost> {
    let sandbox = Sandbox {
        host,
        workspace,
        web: None,
        browser: None,
        world: None,
        clock: Clock::starting_at(jiff::Timestamp::now()),
        seed: Seed::of_run(0),
    };
    let work = Arc::new(WorkClock::default());
    let (sandbox, catalog) = (Arc::new(sandbox), Arc::new(catalog));
    let toolbox = Toolbox::new(sandbox, catalog, Vec::new(), Bounds::default(), work);
    let toolbox = Arc::new(toolbox.with_foreign(Some(Arc::clone(&foreign))));
    let reply = toolbox.call(call).await;
    foreign.end().await;
    reply
}

fn list(catalog: &Catalog, as_json: bool) {
    if as_json {
        let all: Vec<_> = catalog.iter().map(described).collect();
        return data(&pretty(&json!(all)));
    }
    for entry in catalog.iter() {
        let about = entry.tool.description().lines().next().unwrap_or_default();
        let about: String = about.chars().filter(|c| !c.is_control()).take(200).collect();
        data(&format!("{} {}\n    {about}", entry.tool.name(), entry.signature()));
    }
}

fn told(reply: &Reply, as_json: bool) -> Code {
    if as_json {
        data(&pretty(&json!({
            "text": reply.text,
            "error": reply.error,
            "full": reply.full,
            "notes": reply.notes,
            "took_ms": reply.took.as_millis(),
        })));
    } else {
        data(&reply.text);
    }
    match reply.error {
        None => Code::Done,
        Some(kind) => {
            say(&format!("the call failed: {kind}"));
            Code::Incomplete
        }
    }
}
