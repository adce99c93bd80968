//! `wildgym serve http`: episodes for trainers.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use wildgym_tasks::Variant;

use super::super::{Code, Failure, data, environment, listen, say, start};
use super::held::{Held, HeldArgs};
use crate::api::{Bounds, Desk, Served, Tokens, serve};
use crate::runner::Referee;

/// Shortest token that is taken.
const SHORTEST: usize = 16;

/// Serve episodes to a trainer over HTTP, until Ctrl-C
///
/// The address is printed on standard output. A trainer opens sessions, begins an episode of a
/// task in each, steps it (one or several tool calls at once, or the final answer) and has it
/// judged, once. Two tokens are taken from the environment or a file, or made and printed once:
/// the trainer's, for everything, and the agent's, which may only observe and step. What is
/// done is kept as a run, for `report`, `show` and `export`. The routes are described at
/// `/openapi.json`; a client for Python lies in `clients/python`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(in crate::cli) struct HttpArgs {
    #[command(flatten)]
    held: HeldArgs,

    /// Address to listen at, such as `localhost:8642` or `:8642`; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8642", help_heading = "Server",
          value_parser = listen::address)]
    listen: SocketAddr,

    /// Let other machines in: listen at an address that they can reach
    #[arg(long, help_heading = "Server")]
    allow_remote: bool,

    /// File with the trainer's token in its first line and the agent's in its second [default:
    /// `WILDGYM_TOKEN` and `WILDGYM_AGENT_TOKEN`, else tokens that are made and printed]
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    token_file: Option<Utf8PathBuf>,

    /// Sessions that may be open
    #[arg(long, value_name = "COUNT", default_value = "1024", help_heading = "Server")]
    sessions: NonZeroUsize,

    /// Requests that are worked on at once
    #[arg(long, value_name = "COUNT", default_value = "64", help_heading = "Server")]
    at_once: NonZeroUsize,

    /// Requests that may wait for that; more are told to come again
    #[arg(long, value_name = "COUNT", default_value = "4096", help_heading = "Server")]
    queue: usize,

    /// Close a session that nobody used for so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1800", help_heading = "Server",
          value_parser = clap::value_parser!(u64).range(1..))]
    idle_seconds: u64,

    /// Have a client ask again for a step that takes more than so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "240", help_heading = "Server",
          value_parser = clap::value_parser!(u64).range(1..))]
    step_seconds: u64,

    /// Keep verdicts only: transcripts, states and files of an episode go when its session is
    /// closed or reset
    #[arg(long, help_heading = "Server")]
    forget: bool,

    /// Serve the routes of `AgentGym`'s environments too
    #[arg(long, help_heading = "Server")]
    agentgym_compat: bool,

    /// Print one JSON object with address, tokens and run instead of lines for people
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The two tokens, and whether they were made here.
struct Given {
    trainer: String,
    agent: String,
    fresh: [bool; 2],
}

pub(super) fn run(args: &HttpArgs) -> Result<Code, Failure> {
    listen::check(&args.listen, args.allow_remote, ("127.0.0.1:8642", "to step episodes"))?;
    let tokens = tokens(args)?;
    allow_files();
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    // Before anything is made: a port that is taken leaves nothing behind.
    let bound = runtime.block_on(listen::bind(args.listen))?;
    let held = args.held.open("http", 1, Variant::default(), |_| Ok(()))?;
    let host = Arc::clone(&held.gym.host);
    let done = runtime.block_on(async {
        let done = serve_at(args, (held, bound), &tokens).await;
        if let Some(code) = &host.code {
            // What still runs was stopped, and needs the runtime to see it.
            drop(tokio::time::timeout(Duration::from_secs(5), code.idle()).await);
        }
        done
    });
    runtime.shutdown_background();
    done
}

async fn serve_at(
    args: &HttpArgs,
    (held, (listener, address)): (Held, (TcpListener, SocketAddr)),
    tokens: &Given,
) -> Result<Code, Failure> {
    let Held { gym, store, config, judge, answers, lock } = held;
    let referee = Referee::open(&store, &config, judge)?;
    let root = store.root().to_owned();
    let bounds = Bounds {
        sessions: args.sessions.get(),
        at_once: args.at_once.get(),
        queue: args.queue,
        idle: Duration::from_secs(args.idle_seconds),
        patience: Duration::from_secs(args.step_seconds),
        forget: args.forget,
    };
    let desk = Desk::new((gym, store, config), referee, answers, bounds);
    let served = Served {
        desk: Arc::new(desk),
        tokens: Tokens::new(&tokens.trainer, &tokens.agent),
        agentgym: args.agentgym_compat,
    };
    // Before the address is told: who reads it may stop the server at once.
    let mut stop = start::listen(None);
    announce(args, tokens, &address, root.as_str());
    serve(served, listener, async move { stop.asked().await }).await;
    drop(lock);
    say(&format!("\nstopped; look at the episodes with `wildgym show {root}`"));
    Ok(Code::Done)
}

/// Tells where the server is and, once, the tokens that it made.
fn announce(args: &HttpArgs, tokens: &Given, address: &SocketAddr, root: &str) {
    let url = format!("http://{address}");
    if args.json {
        let object = json!({
            "url": url,
            "token": tokens.trainer,
            "agent_token": tokens.agent,
            "run": root,
        });
        data(&object.to_string());
        return;
    }
    data(&url);
    let made = [
        ("trainer's token", &tokens.trainer, tokens.fresh[0]),
        ("agent's token", &tokens.agent, tokens.fresh[1]),
    ];
    for (whose, token, fresh) in made {
        if fresh {
            say(&format!("{whose}, told once: {token}"));
        }
    }
    if args.agentgym_compat {
        let place = if tokens.fresh[0] { &tokens.trainer } else { "<trainer's token>" };
        say(&format!("env_server_base of AgentGym's clients: {url}/agentgym/{place}"));
    }
    say(&format!("episodes of suite `{}` go to {root}; stop with Ctrl-C", args.held.suite));
}

/// Returns the tokens: from a file, the environment, or new ones.
fn tokens(args: &HttpArgs) -> Result<Given, Failure> {
    let (trainer, agent) = match &args.token_file {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| Failure::usage(format!("cannot read `{file}`: {error}")))?;
            let mut lines = text.lines().map(|line| line.trim().to_owned());
            (
                lines.next().filter(|line| !line.is_empty()),
                lines.next().filter(|line| !line.is_empty()),
            )
        }
        None => (environment::get(environment::TOKEN), environment::get(environment::AGENT_TOKEN)),
    };
    if args.token_file.is_some() && trainer.is_none() {
        return Err(Failure::usage("the file of `--token-file` has no token in its first line"));
    }
    let short = [&trainer, &agent].into_iter().flatten().any(|token| token.len() < SHORTEST);
    if short {
        return Err(Failure::usage(format!("a token has at least {SHORTEST} characters"))
            .hint("make one with `openssl rand -hex 32`, or leave it out and one is made"));
    }
    if trainer.is_some() && trainer == agent {
        return Err(Failure::usage("the trainer's token and the agent's are the same")
            .hint("an agent with the trainer's token could ask what its episode is worth"));
    }
    let fresh = [trainer.is_none(), agent.is_none()];
    let or_fresh = |token: Option<String>| token.unwrap_or_else(Tokens::fresh);
    Ok(Given { trainer: or_fresh(trainer), agent: or_fresh(agent), fresh })
}

/// Lets this process open as many files as the system allows: every connection is one, and
/// every episode that goes on has its transcript open.
fn allow_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where it is refused, connections wait for each other.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
