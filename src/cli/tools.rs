//! `wildgym tools`: what an agent can call, and one call by hand.

mod foreign;
mod watch;

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use serde_json::json;
use wildgym_sandbox::browser::Browser;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::world::Blueprint;
use wildgym_sandbox::{Clock, Host, Sandbox, Seed};
use wildgym_tasks::environment::BrowserMode;
use wildgym_toolbox::catalog::{BadTool, Entry};
use wildgym_toolbox::{Ask, Bounds, Call, Catalog, Toolbox, Wording, schema};

use super::host::{catalog, open_host_on, open_suite};
use super::network::{WebArgs, announce};
use super::tool_model::ToolModelArgs;
use super::{Code, Failure, data, say, start, world};
use crate::agent::Asking;
use crate::store::{ModelConfig, WebName};

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
        /// List the operations of this world instead: its name, SUITE/WORLD, or its folder
        #[arg(long, value_name = "WORLD")]
        world: Option<String>,
        /// Print all texts that models read of the tools as a file for `--tool-text` of `run`
        #[arg(long)]
        tool_text_template: bool,
        /// Print schemas, categories and examples as JSON, or the texts
        #[arg(long)]
        json: bool,
    },
    /// Show what a model is told of a tool
    Show {
        /// Name of the tool
        name: String,
        /// World whose operation it is: its name, SUITE/WORLD, or its folder
        #[arg(long, value_name = "WORLD")]
        world: Option<String>,
        /// Print the entry of a chat-completions request as JSON
        #[arg(long)]
        json: bool,
    },
    Call(Box<CallArgs>),
    Foreign(foreign::ForeignArgs),
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

    /// World whose operations are offered too: its name, SUITE/WORLD, or its folder; several
    /// calls go together with `wildgym world call`
    #[arg(long, value_name = "WORLD")]
    world: Option<String>,

    #[command(flatten)]
    state: world::StateArgs,

    /// Logical time of the call [default: the world's, else 2026-01-01T09:00:00Z]
    #[arg(long, value_name = "TIME")]
    now: Option<jiff::Timestamp>,

    #[command(flatten)]
    web: WebArgs,

    /// Seed of the call's chances
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    #[command(flatten)]
    tools: ToolModelArgs,

    /// Show the browser in a window, and say on standard error what is done in it
    #[arg(long)]
    show: bool,

    /// Print text, error, accesses and times as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: ToolsArgs) -> Result<Code, Failure> {
    match args.command {
        ToolsCommand::List { world, tool_text_template: true, json } => {
            template(world.as_deref(), json)
        }
        ToolsCommand::List { world, json, .. } => list(world.as_deref(), json),
        ToolsCommand::Show { name, world, json } => show(&name, world.as_deref(), json),
        ToolsCommand::Call(args) => call(&args),
        ToolsCommand::Foreign(args) => foreign::run(&args),
    }
}

fn list(world: Option<&str>, as_json: bool) -> Result<Code, Failure> {
    let catalog = of(world)?;
    if as_json {
        let all: Vec<_> = catalog.iter().map(described).collect();
        data(&pretty(&json!(all)));
        return Ok(Code::Done);
    }
    let width = catalog.iter().map(|entry| entry.tool.name().len()).max().unwrap_or(0);
    for entry in catalog.iter() {
        let first = entry.tool.description().lines().next().unwrap_or_default();
        let category = entry.tool.category();
        let mode = entry.tool.browser().map_or("", BrowserMode::name);
        data(&format!("{:width$}  {category:24}  {mode:9}  {first}", entry.tool.name()));
    }
    if world.is_none() {
        say("tools marked `delegated` or `direct` are offered only where pages are (`--browser`)");
    }
    Ok(Code::Done)
}

/// Prints the texts of tools; of a world with that of the question to the user, which its
/// scenarios offer too.
fn template(world: Option<&str>, as_json: bool) -> Result<Code, Failure> {
    let broken = |error: BadTool| Failure::usage(error.to_string());
    let mut catalog = of(world)?;
    if world.is_some() {
        catalog = catalog.with(&Catalog::conversation().map_err(broken)?).map_err(broken)?;
    }
    let wording = Wording::of(&catalog);
    if as_json {
        data(&pretty(&json!(wording)));
        return Ok(Code::Done);
    }
    let text = toml::to_string_pretty(&wording)
        .map_err(|error| Failure::usage(format!("the texts cannot be written: {error}")))?;
    data(&text);
    Ok(Code::Done)
}

/// Returns the operations of a world, or the tools of the program.
fn of(world: Option<&str>) -> Result<Catalog, Failure> {
    let Some(named) = world else { return Ok((*catalog()?).clone()) };
    let world = world::load(named)?;
    Catalog::of_world(&world).map_err(|error| Failure::usage(error.to_string()))
}

fn show(name: &str, world: Option<&str>, as_json: bool) -> Result<Code, Failure> {
    let catalog = of(world)?;
    let entry = known(&catalog, name)?;
    if as_json {
        data(&pretty(&schema::openai(entry)));
        return Ok(Code::Done);
    }
    data(&format!("{name}\n\n{}\n\nparameters:", entry.tool.description()));
    data(&pretty(&entry.parameters));
    let direct = match entry.tool.browser() {
        Some(BrowserMode::Direct) => " --browser direct",
        Some(BrowserMode::Delegated) | None => "",
    };
    let of = world.map(|world| format!(" --world {world}")).unwrap_or_default();
    let example = entry.tool.example();
    data(&format!("\nexample:\n  wildgym tools call {name} '{example}'{direct}{of}"));
    Ok(Code::Done)
}

/// Returns the tool of that name.
fn known<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Entry, Failure> {
    catalog.entry(name).map_err(|error| {
        Failure::usage(error.to_string()).hint("see them with `wildgym tools list`")
    })
}

/// Refuses a tool that is not offered where pages are offered in this way.
fn offered(catalog: &Catalog, name: &str, browser: BrowserMode) -> Result<(), Failure> {
    match known(catalog, name)?.tool.browser() {
        Some(other) if other != browser => Err(Failure::usage(format!(
            "`{name}` is not offered where pages are offered by `{}`",
            match browser {
                BrowserMode::Delegated => "browse_url",
                BrowserMode::Direct => "visit_page` and the other page actions, not `browse_url",
            }
        ))
        .hint(format!("call it with `--browser {}`", other.name()))),
        Some(_) | None => Ok(()),
    }
}

/// Returns the arguments as they stand, or from where they stand.
pub(super) fn arguments(given: &str) -> Result<String, Failure> {
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
        "browser": entry.tool.browser(),
        "description": entry.tool.description(),
        "parameters": entry.parameters,
        "example": entry.tool.example(),
    })
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

fn call(args: &CallArgs) -> Result<Code, Failure> {
    let browser = args.tools.browser.map(BrowserMode::from).unwrap_or_default();
    let blueprint = args.world.as_deref().map(|named| world::make(named, args.state.world_seed));
    let blueprint = blueprint.transpose()?;
    let catalog = everything(blueprint.as_ref())?;
    offered(&catalog, &args.name, browser)?;
    let arguments = arguments(&args.arguments)?;
    let mut toolbox =
        toolbox(args, browser, &catalog, blueprint.as_ref())?.answered_by(ask(&args.tools)?);
    if args.show {
        toolbox = toolbox.watched_by(watch::watch());
    }
    let toolbox = Arc::new(toolbox);
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let call = Call { id: "call".to_owned(), name: args.name.clone(), arguments };
    let reply = runtime.block_on(async {
        let reply = toolbox.call(call).await;
        if let Some(browser) = &toolbox.sandbox().browser {
            browser.close().await;
        }
        reply
    });
    if let Some(world) = &toolbox.sandbox().world {
        let image = world.lock().unwrap_or_else(PoisonError::into_inner).image();
        args.state.keep(&image.map_err(|error| Failure::usage(error.to_string()))?)?;
    }
    drop(toolbox);
    let reply = reply.map_err(|error| Failure::usage(error.to_string()))?;
    if args.json {
        data(&pretty(&json!({
            "text": reply.text,
            "error": reply.error,
            "full": reply.full,
            "web": reply.accesses,
            "notes": reply.notes,
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

/// Returns who answers the questions of tools; none where no model is named.
fn ask(args: &ToolModelArgs) -> Result<Option<Arc<dyn Ask>>, Failure> {
    let answers = args.model(None)?;
    let speech = args.speech(answers.as_ref());
    if answers.is_none() && speech.is_none() {
        return Ok(None);
    }
    let open = |config: Option<&ModelConfig>, flag: &str| {
        let Some(config) = config else { return Ok(None) };
        start::check_endpoint(config, None).map_err(|failure| {
            failure.hint(format!("start the endpoint, or name another with `{flag}`"))
        })?;
        start::client(config, None).map(Some)
    };
    let model = open(answers.as_ref(), "--tool-base-url")?;
    let speech = open(speech.as_ref(), "--speech-base-url")?;
    let asking = Asking::new(model, "tools/call".to_owned(), 1, args.text_only())
        .hearing(args.hears())
        .transcribed_by(speech);
    Ok(Some(Arc::new(asking) as Arc<dyn Ask>))
}

/// Returns the tools of the program and the operations of a world.
fn everything(blueprint: Option<&Blueprint>) -> Result<Catalog, Failure> {
    let own = catalog()?;
    let Some(blueprint) = blueprint else { return Ok((*own).clone()) };
    let operations = Catalog::of_world(blueprint.world());
    let all = operations.and_then(|operations| own.with(&operations));
    all.map_err(|error| Failure::usage(error.to_string()))
}

/// Returns the time of a call where the network has none of its own.
/// Makes the workspace of a call by hand, or takes a folder for it.
fn workspace(folder: Option<&Utf8Path>, host: &Host) -> Result<Arc<Workspace>, Failure> {
    let workspace = match folder {
        Some(folder) => Workspace::attach(folder, Quota::default()).map_err(|error| {
            Failure::usage(format!("cannot use `{folder}` as workspace: {error}"))
        })?,
        None => Workspace::create(&host.scratch, Quota::default()),
    };
    Ok(Arc::new(workspace))
}

fn own_time(args: &CallArgs, blueprint: Option<&Blueprint>) -> jiff::Timestamp {
    let world = blueprint.map(|blueprint| blueprint.world().meta.now);
    // 2026-01-01T09:00:00Z
    let usual = || jiff::Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(1_767_258_000);
    args.now.or(world).unwrap_or_else(usual)
}

/// Opens a sandbox for one call by hand.
fn toolbox(
    args: &CallArgs,
    browser: BrowserMode,
    catalog: &Catalog,
    blueprint: Option<&Blueprint>,
) -> Result<Toolbox, Failure> {
    let display = if args.show { watch::display()? } else { Vec::new() };
    let host = open_host_on(NonZeroU32::MIN, display)?;
    let catalog = Arc::new(catalog.offered(browser));
    let opened = open_suite(&args.suite)?;
    let planned = args.web.plan(&opened.suite)?;
    let config = planned.config.clone();
    let network = planned.open(&opened.suite)?;
    if config.kind != WebName::Hermetic {
        announce(&config, &network);
    }
    let (web, now) = network.by_hand("tools/call/full/1", own_time(args, blueprint));
    let world = blueprint.map(|one| args.state.open(one, now, args.seed)).transpose()?;
    let workspace = workspace(args.workspace.as_deref(), &host)?;
    let browser = web.as_ref().map(|web| {
        let browsers = host.browsers.clone();
        Browser::new(browsers, web.clone(), Arc::clone(&workspace), network.is_timeless())
    });
    let sandbox = Sandbox {
        host,
        workspace,
        web,
        browser,
        world: world.map(Mutex::new),
        clock: Clock::starting_at(now),
        seed: Seed::of_run(args.seed),
    };
    let work = Arc::new(WorkClock::default());
    Ok(Toolbox::new(Arc::new(sandbox), catalog, Vec::new(), Bounds::default(), work))
}
