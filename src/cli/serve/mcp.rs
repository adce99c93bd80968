//! `wildgym serve mcp`: sandboxes for clients of the Model Context Protocol.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use clap::{Args, ValueEnum};
use serde_json::json;
use tokio::net::TcpListener;
use wildgym_sandbox::Host;
use wildgym_tasks::{Factor, Variant};

use super::super::{Code, Failure, data, listen, say, start};
use super::free::{Free, FreeArgs};
use super::held::{Held, HeldArgs};
use crate::mcp::{self, Acts, Client, Desk, Guard, Paths, Reach, Served, snippet};
use crate::record::TrialId;
use crate::runner::{
    Attempt, Attended, Court, Event, Opening, Pace, Referee, Stop, Summary, variants,
};
use crate::store::StoreError;

/// How long open connections may take to end with the server.
const CLOSING: Duration = Duration::from_secs(5);

/// Serve sandboxes to clients of the Model Context Protocol
///
/// Without `--listen` one sandbox is served to one client, which starts this command and speaks
/// to it over standard input and output. With it any number are served over streamable HTTP,
/// each at an address of its own that cannot be guessed, until Ctrl-C; the addresses are
/// printed on standard output. Where tasks are named, each sandbox is one attempt at one of
/// them, with `get_task` and `submit_answer` among its tools; it begins when a client comes,
/// has the limits of a run, is recorded and judged. Without a task nothing is kept.
#[derive(Debug, Args)]
pub(in crate::cli) struct McpArgs {
    #[command(flatten)]
    held: HeldArgs,

    #[command(flatten)]
    free: FreeArgs,

    /// Factors to take away from the tasks, separated by commas; a task without them is served
    /// as it is
    #[arg(long, value_name = "FACTORS", value_delimiter = ',')]
    idealise: Vec<Factor>,

    /// Sandboxes of each task, or without a task in all; with `--listen`
    #[arg(short = 'k', long, value_name = "COUNT", default_value = "1", help_heading = "Server",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    sandboxes: u32,

    /// Serve over HTTP at this address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", help_heading = "Server", value_parser = listen::address)]
    listen: Option<SocketAddr>,

    /// Let other machines in: listen at an address that they can reach
    #[arg(long, requires = "listen", help_heading = "Server")]
    allow_remote: bool,

    /// Name by which other machines speak to this one; requests under other names are
    /// refused; may be repeated [default with `--allow-remote`: any]
    #[arg(long, value_name = "NAME", requires = "allow_remote", help_heading = "Server")]
    host: Vec<String>,

    /// Print what to write into a client's configuration: instead of serving, or with
    /// `--listen` below each address
    #[arg(long, value_enum, value_name = "CLIENT", help_heading = "Output")]
    snippet: Option<ClientName>,

    /// Print each address as a JSON object in a line of its own
    #[arg(long, requires = "listen", help_heading = "Output")]
    json: bool,
}

/// The clients whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClientName {
    /// Claude Desktop, and whatever else reads `mcpServers`
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Codex
    Codex,
    /// The `OpenAI` Agents SDK, in Python
    OpenaiAgents,
    /// The official SDK for Python
    Python,
    /// The official SDK for TypeScript
    Typescript,
}

impl From<ClientName> for Client {
    fn from(name: ClientName) -> Self {
        match name {
            ClientName::ClaudeDesktop => Self::ClaudeDesktop,
            ClientName::Cursor => Self::Cursor,
            ClientName::Vscode => Self::VsCode,
            ClientName::Codex => Self::Codex,
            ClientName::OpenaiAgents => Self::OpenaiAgents,
            ClientName::Python => Self::Python,
            ClientName::Typescript => Self::Typescript,
        }
    }
}

pub(super) fn run(args: &McpArgs) -> Result<Code, Failure> {
    if let Some(address) = &args.listen {
        listen::check(address, args.allow_remote, ("127.0.0.1:0", "to use the sandboxes"))?;
    }
    if args.listen.is_none() && args.sandboxes > 1 {
        return Err(Failure::usage("over standard input and output there is one sandbox")
            .hint("serve several over HTTP: `--listen 127.0.0.1:0`"));
    }
    if let (Some(client), None) = (args.snippet, args.listen) {
        if args.held.names_tasks() {
            alone(args, &args.held.selected()?)?;
        }
        tell_snippet(client.into(), &Reach::Command(own_command(args)?));
        return Ok(Code::Done);
    }
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let done = runtime.block_on(async {
        // Before an address is told: who reads it may stop the server at once.
        let stop = start::listen(None);
        // Before anything is made: a port that is taken leaves nothing behind.
        let bound = match args.listen {
            Some(address) => Some(listen::bind(address).await?),
            None => None,
        };
        let served = open(args, &stop)?;
        let host = Arc::clone(&served.host);
        let done = serve(args, (served, bound), stop).await;
        if let Some(code) = &host.code {
            // What still runs was stopped, and needs the runtime to see it.
            drop(tokio::time::timeout(CLOSING, code.idle()).await);
        }
        done
    });
    runtime.shutdown_background();
    done
}

/// Returns the command that a client starts: this one, with paths that hold anywhere.
fn own_command(args: &McpArgs) -> Result<Vec<String>, Failure> {
    let cannot = |error: std::io::Error| Failure::usage(format!("cannot find myself: {error}"));
    let program = std::env::current_exe().map_err(cannot)?;
    let mut words = vec![program.to_string_lossy().into_owned()];
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        if matches!(&*word, "--snippet" | "--runs-dir") {
            given.next();
        } else if word == args.held.suite && Utf8Path::new(&word).join("suite.toml").is_file() {
            words.push(absolute(&word)?);
        } else if !word.starts_with("--snippet=") && !word.starts_with("--runs-dir=") {
            words.push(word);
        }
    }
    if args.held.names_tasks() {
        words.extend(["--runs-dir".to_owned(), absolute(args.held.runs_dir.as_str())?]);
    }
    Ok(words)
}

fn absolute(path: &str) -> Result<String, Failure> {
    std::path::absolute(path)
        .map(|path| path.to_string_lossy().into_owned())
        .map_err(|error| Failure::usage(format!("cannot resolve `{path}`: {error}")))
}

/// What is served.
struct Opened {
    host: Arc<Host>,
    places: Vec<Place>,
    /// The attempts and who judges them; none without tasks.
    kept: Option<Kept>,
}

/// One sandbox and what it is for.
struct Place {
    desk: Arc<dyn Served>,
    /// The task and which of the k, where there is one.
    trial: Option<(String, u32)>,
}

struct Kept {
    attempts: Vec<Arc<Attended>>,
    court: Arc<Court>,
    root: String,
    _lock: crate::store::Lock,
}

fn open(args: &McpArgs, stop: &Stop) -> Result<Opened, Failure> {
    if args.held.names_tasks() { open_tasks(args, stop) } else { open_free(args) }
}

fn open_free(args: &McpArgs) -> Result<Opened, Failure> {
    if args.held.servers.is_given() || !args.idealise.is_empty() {
        return Err(Failure::usage("`--idealise` and foreign servers belong to tasks")
            .hint("name the tasks to serve with `--task ID` or `--tasks PATTERN`"));
    }
    let free = Arc::new(Free::open(&args.held, &args.free)?);
    let place = |number| {
        let made = Arc::clone(&free);
        let open = move || {
            let made = Arc::clone(&made);
            Box::pin(async move {
                let toolbox = made.make(number)?;
                Ok(Arc::new(mcp::Free::new(toolbox)) as Arc<dyn Acts>)
            }) as futures::future::BoxFuture<'static, _>
        };
        let desk = Arc::new(Desk::new(&free.catalog, false, Box::new(open)));
        Place { desk, trial: None }
    };
    let places = (1..=args.sandboxes).map(place).collect();
    Ok(Opened { host: free.host(), places, kept: None })
}

/// Refuses several tasks over standard input and output.
fn alone(args: &McpArgs, tasks: &[String]) -> Result<(), Failure> {
    let (None, [first, _, ..]) = (args.listen, tasks) else { return Ok(()) };
    let count = tasks.len();
    Err(Failure::usage(format!("{count} tasks are named, and one client has one")).hint(format!(
        "name one, such as `--task {first}`, or serve all with `--listen 127.0.0.1:0`"
    )))
}

fn open_tasks(args: &McpArgs, stop: &Stop) -> Result<Opened, Failure> {
    let variant = Variant::ideal(args.idealise.iter().copied());
    let held = args.held.open("mcp", args.sandboxes, variant, |tasks| alone(args, tasks))?;
    let Held { gym, store, config, judge, answers, lock } = held;
    let tasks = &config.plan.tasks;
    let referee = Referee::open(&store, &config, judge)?;
    let court = Arc::new(Court::new(referee, store.clone(), stop.clone(), Arc::new(tell)));
    let (mut places, mut attempts) = (Vec::new(), Vec::new());
    for (task, k) in (1..=args.sandboxes).flat_map(|k| tasks.iter().map(move |task| (task, k))) {
        let factors = gym.task(task).map(|task| task.meta.factors.clone()).unwrap_or_default();
        let variant = variants(&config.plan.variants, &factors).into_iter().next();
        let variant = variant.unwrap_or_default();
        let trial = TrialId { condition: "mcp".to_owned(), task: task.clone(), variant, k };
        let attempt = Attempt { trial, attempt: 1 };
        let answers = answers(&attempt);
        let opening = Opening { attempt, answers, pace: Pace::Counted, prompt: None };
        let shared = (Arc::clone(&gym), store.clone(), Arc::clone(&config));
        let attended = Attended::open(shared.0, shared.1, shared.2, opening, Arc::clone(&court))
            .map_err(|error| Failure::usage(error.to_string()))?;
        let mode = gym.mode(task, config.conditions.values().find_map(|one| one.browser));
        let offer = gym.offer(task, mode).map_err(|error| Failure::usage(error.to_string()))?;
        let acts: Arc<dyn Acts> = Arc::clone(&attended) as Arc<dyn Acts>;
        let open = move || {
            let acts = Arc::clone(&acts);
            Box::pin(async move { Ok(acts) }) as futures::future::BoxFuture<'static, _>
        };
        let desk = Arc::new(Desk::new(&offer.catalog, true, Box::new(open)));
        places.push(Place { desk, trial: Some((task.clone(), k)) });
        attempts.push(attended);
    }
    let root = store.root().to_string();
    let kept = Some(Kept { attempts, court, root, _lock: lock });
    Ok(Opened { host: Arc::clone(&gym.host), places, kept })
}

/// Tells people how an attempt went.
fn tell(event: Event) {
    match event {
        Event::Planned { .. } | Event::Began { .. } => {}
        Event::Ended { trial, outcome, detail, .. } => {
            let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
            say(&format!("{} {}: {outcome}{detail}", trial.task, trial.k));
        }
        Event::Judged { trial, verdict, detail } => {
            let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
            say(&format!("{} {}: {}{detail}", trial.task, trial.k, verdict.name()));
        }
    }
}

async fn serve(
    args: &McpArgs,
    (opened, bound): (Opened, Option<(TcpListener, SocketAddr)>),
    mut stop: Stop,
) -> Result<Code, Failure> {
    let Opened { places, kept, .. } = opened;
    if let Some(bound) = bound {
        serve_at(args, bound, &places, stop.clone()).await?;
    } else {
        let Some(place) = places.first() else { return Ok(Code::Done) };
        let (input, output) = mcp::stdio_pipes();
        tokio::select! {
            served = mcp::stdio(Arc::clone(&place.desk), input, output) => {
                served.map_err(|error| Failure::usage(format!(
                    "the client does not speak the protocol: {error}"
                )))?;
            }
            () = stop.asked() => {}
        }
    }
    // What clients hold of the sandboxes goes before what is kept is judged.
    drop(places);
    let Some(kept) = kept else { return Ok(Code::Done) };
    let summary = close(&kept, stop.is_asked()).await?;
    conclude(&kept.root, &summary);
    let whole = summary.lost == 0 && summary.unjudged == 0;
    Ok(if whole { Code::Done } else { Code::Incomplete })
}

async fn close(kept: &Kept, interrupted: bool) -> Result<Summary, StoreError> {
    for attended in &kept.attempts {
        attended.close(interrupted).await?;
    }
    kept.court.adjourn().await
}

fn conclude(root: &str, summary: &Summary) {
    if let Some(why) = &summary.judge_failure {
        say(&format!(
            "{} answers could not be judged: {why}; `wildgym rejudge {root}` judges what is left",
            summary.unjudged
        ));
    }
    say(&format!("recorded in {root}; `wildgym report {root}` prints the table"));
}

async fn serve_at(
    args: &McpArgs,
    (listener, address): (TcpListener, SocketAddr),
    places: &[Place],
    mut stop: Stop,
) -> Result<(), Failure> {
    let guard = match (args.allow_remote, args.host.as_slice()) {
        (false, _) => Guard::Loopback,
        (true, []) => Guard::Any,
        (true, names) => Guard::Named(names.to_vec()),
    };
    let named: Vec<(String, &Place)> = places.iter().map(|place| (mcp::token(), place)).collect();
    let paths = named.iter().map(|(token, place)| (token.clone(), Arc::clone(&place.desk)));
    let paths = Paths::new(paths.collect(), &guard);
    for (token, place) in &named {
        announce(args, &format!("http://{address}/t/{token}/mcp"), place);
    }
    say(&format!("serving {} sandboxes; stop with Ctrl-C", named.len()));
    let (routes, closing) = (mcp::router(paths.clone()), stop.clone());
    let shutdown = async move {
        stop.asked().await;
        // Streams that clients hold open would keep the server from ending.
        paths.close();
    };
    let serving = axum::serve(listener, routes).with_graceful_shutdown(shutdown);
    let late = async move {
        let mut closing = closing;
        closing.asked().await;
        tokio::time::sleep(CLOSING).await;
    };
    tokio::select! {
        ended = serving.into_future() => {
            ended.map_err(|error| Failure::usage(format!("cannot go on at `{address}`: {error}")))
        }
        () = late => Ok(()),
    }
}

/// Prints what to write into a client's configuration, and tells where that belongs.
fn tell_snippet(client: Client, reach: &Reach) {
    if let Some(file) = mcp::file(client) {
        say(&format!("into {file}:"));
    }
    data(&snippet(client, reach));
}

/// Prints an address, and what to write into a client's configuration.
fn announce(args: &McpArgs, url: &str, place: &Place) {
    let (task, k) = place.trial.clone().unzip();
    if args.json {
        data(&json!({ "url": url, "task": task, "k": k }).to_string());
    } else {
        let task = task.zip(k).map(|(task, k)| format!("\t{task}\t{k}")).unwrap_or_default();
        data(&format!("{url}{task}"));
    }
    if let Some(client) = args.snippet {
        tell_snippet(client.into(), &Reach::Url(url.to_owned()));
    }
}
