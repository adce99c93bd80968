//! `wildgym world call`: operations by hand, as an agent calls them.

use std::sync::{Arc, Mutex, PoisonError};

use camino::Utf8PathBuf;
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::world::{Live, Pair};
use wildgym_sandbox::{Clock, Sandbox, Seed};
use wildgym_toolbox::{Bounds, Call, Catalog, Reply, Toolbox};

use super::super::host::open_bare_host;
use super::super::tools::arguments;
use super::super::{Code, Failure, data, say};
use super::open::{StateArgs, make};

/// Call operations on a fresh copy of a world and print what an agent would read
///
/// Each call is a round of its own, one after the other, unless `--parallel` asks for all of
/// them in one. Results go to standard output, one a line; a call that is refused prints
/// `error: …` in its place, and the exit code is then 1.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// World, by name, as SUITE/WORLD, or by folder
    world: String,

    /// Operation and its arguments, a JSON object (`-` for standard input, `@FILE`); more
    /// operations may follow. Arguments may be left out where there are none
    #[arg(required = true, num_args = 1.., value_name = "OPERATION [JSON]")]
    calls: Vec<String>,

    /// Ask for all calls in one round, in which operations may conflict
    #[arg(long)]
    parallel: bool,

    /// Logical time of the first call [default: the world's]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,

    /// Seed of the attempt, from which ids and chances are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    #[command(flatten)]
    state: StateArgs,

    /// Directory that files are written to [default: an empty one that is removed afterwards]
    #[arg(long, value_name = "DIR")]
    workspace: Option<Utf8PathBuf>,

    /// Show what the calls changed
    #[arg(long)]
    diff: bool,

    /// Print results, errors, events, times, and with `--diff` the difference, as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CallArgs) -> Result<Code, Failure> {
    let blueprint = make(&args.world, args.state.world_seed)?;
    let now = args.now.unwrap_or(blueprint.world().meta.now);
    let catalog = Catalog::of_world(blueprint.world());
    let catalog = Arc::new(catalog.map_err(|error| Failure::usage(error.to_string()))?);
    let calls = calls(&catalog, &args.calls, &args.world)?;
    let live = args.state.open(&blueprint, now, args.seed)?;
    let start = live.start();
    let toolbox = toolbox(args, catalog, live, now)?;
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let replies = runtime.block_on(rounds(args.parallel, &toolbox, calls))?;
    let sandbox = toolbox.sandbox();
    let world = sandbox.world.as_ref();
    let live = world.map(|world| world.lock().unwrap_or_else(PoisonError::into_inner));
    let end = live.map_or(Ok(Vec::new()), |mut live| live.image());
    let end = end.map_err(|error| Failure::usage(error.to_string()))?;
    args.state.keep(&end)?;
    let difference = args
        .diff
        .then(|| Pair::open(start, &end, sandbox.clock.now())?.difference())
        .transpose()
        .map_err(|error| Failure::usage(error.to_string()))?;
    if args.json {
        let calls: Vec<Value> = replies.iter().map(reply_json).collect();
        let mut all = json!({"calls": calls, "now": sandbox.clock.now()});
        if let Some(difference) = &difference {
            all["difference"] = json!(difference);
        }
        data(&serde_json::to_string_pretty(&all).unwrap_or_default());
    } else {
        replies.iter().for_each(tell);
        if let Some(difference) = &difference {
            data(&crate::report::visible(&difference.to_string()));
        }
    }
    if args.workspace.is_none() {
        for file in sandbox.workspace.list().unwrap_or_default() {
            let (path, bytes) = (file.path, file.bytes);
            say(&format!("`{path}` was written ({bytes} bytes); `--workspace DIR` keeps it"));
        }
    }
    let failed = replies.iter().any(|reply| reply.error.is_some());
    Ok(if failed { Code::Incomplete } else { Code::Done })
}

/// Reads operations with their arguments.
fn calls(catalog: &Catalog, given: &[String], world: &str) -> Result<Vec<Call>, Failure> {
    let mut calls: Vec<Call> = Vec::new();
    let mut may_follow = false;
    for word in given {
        if may_follow && (word.starts_with(['{', '@']) || word == "-") {
            if let Some(call) = calls.last_mut() {
                call.arguments = arguments(word)?;
            }
            may_follow = false;
            continue;
        }
        catalog.entry(word).map_err(|error| {
            Failure::usage(error.to_string())
                .hint(format!("see them with `wildgym world show {world}`"))
        })?;
        let id = format!("call-{}", calls.len() + 1);
        calls.push(Call { id, name: word.clone(), arguments: String::new() });
        may_follow = true;
    }
    Ok(calls)
}

async fn rounds(
    parallel: bool,
    toolbox: &Arc<Toolbox>,
    calls: Vec<Call>,
) -> Result<Vec<Reply>, Failure> {
    let rounds: Vec<Vec<Call>> =
        if parallel { vec![calls] } else { calls.into_iter().map(|call| vec![call]).collect() };
    let mut replies = Vec::new();
    for round in rounds {
        let done = toolbox.round(round).await;
        replies.extend(done.map_err(|lost| Failure::usage(lost.to_string()))?);
    }
    Ok(replies)
}

/// Opens a sandbox that holds the world and nothing else.
fn toolbox(
    args: &CallArgs,
    catalog: Arc<Catalog>,
    live: Live,
    now: Timestamp,
) -> Result<Arc<Toolbox>, Failure> {
    let host = open_bare_host()?;
    let workspace = match &args.workspace {
        Some(folder) => Workspace::attach(folder, Quota::default()).map_err(|error| {
            Failure::usage(format!("cannot use `{folder}` as workspace: {error}"))
        })?,
        None => Workspace::create(&host.scratch, Quota::default()),
    };
    let sandbox = Sandbox {
        host,
        workspace: Arc::new(workspace),
        web: None,
        browser: None,
        world: Some(Mutex::new(live)),
        clock: Clock::starting_at(now),
        seed: Seed::of_run(args.seed),
    };
    let bounds = Bounds { text: usize::MAX, ..Bounds::default() };
    let work = Arc::new(WorkClock::default());
    Ok(Arc::new(Toolbox::new(Arc::new(sandbox), catalog, Vec::new(), bounds, work)))
}

/// Prints what an agent would read, and says what it would not see.
fn tell(reply: &Reply) {
    for event in &reply.happened {
        let failed = event.failed.as_ref().map(|why| format!(", without effect: {why}"));
        let (name, number) = (&event.event, &reply.ingress);
        say(&format!("`{name}` happened before call {number}{}", failed.unwrap_or_default()));
    }
    data(&crate::report::visible(&reply.text));
}

fn reply_json(reply: &Reply) -> Value {
    let mut value = json!({
        "operation": reply.call.name,
        "now": reply.clock,
        "cost_ms": u64::try_from(reply.cost.as_millis()).unwrap_or(u64::MAX),
        "events": reply.happened,
    });
    match reply.error {
        None => value["result"] = serde_json::from_str(&reply.text).unwrap_or_default(),
        Some(code) => value["error"] = json!({"code": code, "message": reply.text}),
    }
    value
}
