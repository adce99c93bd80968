//! `wildgym inject`: a proxy that spoils calls between any client and any server.

use std::ffi::OsString;
use std::fs::File;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::serve::ListenerExt;
use camino::Utf8PathBuf;
use clap::Args;
use serde_json::json;
use wildgym_sandbox::Seed;

use super::{Code, Failure, data, listen, say, start};
use crate::fault::Profile;
use crate::inject::{Desk, Ended, Ends, Log, Upstream, around, router};

/// How long streams that clients hold open may keep the proxy from ending.
const CLOSING: Duration = Duration::from_secs(2);

/// How long a server may take to end once it closed its output.
const ENDING: Duration = Duration::from_secs(2);

/// Put faults between any MCP client and any MCP server, for staging only
///
/// Stands in for the server and passes everything to it and back, byte for byte, but for calls
/// of tools (`tools/call`): these meet the faults of a profile, in the order in which they arrive.
/// Neither side has to know. A program after `--` is started and spoken with over standard input
/// and output; a server with an address is reached with `--upstream`, and the proxy's own address
/// goes to standard output. Never put it before a service that people rely on: it breaks calls.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  wildgym inject --profile published --seed 7 -- python server.py\n  \
wildgym inject --profile rate-limits --upstream http://127.0.0.1:8000/mcp --listen 127.0.0.1:9000"
)]
pub(super) struct InjectArgs {
    /// Faults: a profile of `wildgym faults`, or a TOML file [default: null, which is none]
    #[arg(long, value_name = "PROFILE", default_value = "null", hide_default_value = true)]
    profile: String,

    /// Number that the chances of the profile follow from
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    /// File to which decisions and what came of them are added, as JSON Lines
    #[arg(long, value_name = "FILE")]
    log: Option<Utf8PathBuf>,

    /// Name by which profiles match the server [default: the program's file name, or the host]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,

    /// Leave the mark out that results and responses get where a fault made or changed them:
    /// `wildgym/fault` in `_meta`, and the header `wildgym-fault`
    #[arg(long)]
    unmarked: bool,

    /// Endpoint of a server that speaks streamable HTTP
    #[arg(long, value_name = "URL", requires = "listen", conflicts_with = "command")]
    upstream: Option<String>,

    /// Address to listen at, such as `localhost:8642` or `:8642`; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", requires = "upstream", value_parser = listen::address)]
    listen: Option<SocketAddr>,

    /// Let other machines use the proxy, and with it the server behind it
    #[arg(long, requires = "listen")]
    allow_remote: bool,

    /// Print the proxy's address as JSON
    #[arg(long, requires = "listen")]
    json: bool,

    /// Program to start as the server, and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "upstream")]
    command: Vec<OsString>,
}

pub(super) fn run(args: &InjectArgs) -> Result<Code, Failure> {
    let profile = Profile::open(&args.profile).map_err(|error| {
        Failure::usage(error.to_string()).hint("list the profiles with `wildgym faults`")
    })?;
    let what = format!("{} {}, seed {}", profile.name(), profile.version(), args.seed);
    match (&args.upstream, args.listen) {
        (Some(url), Some(address)) => http(args, (profile, &what), url, address),
        _ => stdio(args, (profile, &what)),
    }
}

/// Opens the desk.
fn desk(args: &InjectArgs, profile: Profile, server: String) -> Result<Desk, Failure> {
    let server = args.server.clone().unwrap_or(server);
    let root = Seed::of_run(args.seed).child("faults", 0);
    let mut desk = Desk::new(server, Arc::new(profile), root);
    if args.unmarked {
        desk = desk.unmarked();
    }
    let Some(path) = &args.log else { return Ok(desk) };
    let log = Log::open(path)
        .map_err(|error| Failure::usage(format!("cannot write the log `{path}`: {error}")))?;
    Ok(desk.logged_to(log))
}

/// Says what went wrong with the log, and whether anything did.
fn concluded(desk: &Desk) -> bool {
    let failure = desk.log_failure();
    if let Some(error) = &failure {
        say(&format!("error: the log ends before its time: {error}"));
    }
    failure.is_none()
}

/// Stands before a program. Ends as the server does, where that ends first.
#[expect(clippy::exit, reason = "the status is the server's, as if it had been started itself")]
fn stdio(args: &InjectArgs, (profile, what): (Profile, &str)) -> Result<Code, Failure> {
    let named = args.command.first().map(std::path::Path::new).and_then(std::path::Path::file_name);
    let name = named.unwrap_or_default().to_string_lossy().into_owned();
    let desk = Arc::new(desk(args, profile, name.clone())?);
    let cannot =
        |error: std::io::Error| Failure::usage(format!("cannot stand before `{name}`: {error}"));
    let own = std::env::current_exe().map_err(cannot)?;
    let mut keeper = Command::new(own);
    keeper.arg("keep-server").args(["--of", &std::process::id().to_string(), "--"]);
    keeper.args(&args.command).stdin(Stdio::piped()).stdout(Stdio::piped());
    // Signals of a terminal are the proxy's; the server ends by the end of its input, or of us.
    std::os::unix::process::CommandExt::process_group(&mut keeper, 0);
    let mut keeper = keeper.spawn().map_err(cannot)?;
    let (Some(server), Some(replies)) = (keeper.stdin.take(), keeper.stdout.take()) else {
        return Err(Failure::usage(format!("`{name}` has no pipes")));
    };
    let client = rustix::io::dup(rustix::stdio::stdin()).map_err(|error| cannot(error.into()))?;
    let answers = rustix::io::dup(rustix::stdio::stdout()).map_err(|error| cannot(error.into()))?;
    say(&format!("wildgym inject: faults of {what} before `{name}`; for staging only"));
    let (client, answers) = (File::from(client), File::from(answers));
    let ended = around(Arc::clone(&desk), Ends { client, answers, server, replies });
    let is_logged = concluded(&desk);
    match ended {
        Ended::Client => Ok(if is_logged { Code::Done } else { Code::Incomplete }),
        Ended::Server { client_done } => {
            let status = status(&mut keeper).unwrap_or(0);
            if !client_done {
                say(&format!("error: the server `{name}` ended, with status {status}"));
            }
            if status == 0 && client_done && is_logged {
                return Ok(Code::Done);
            }
            std::process::exit(if status == 0 { 1 } else { status })
        }
    }
}

/// Returns the status with which a server ends that closed its output; none where it does not.
fn status(keeper: &mut Child) -> Option<i32> {
    let until = Instant::now() + ENDING;
    while Instant::now() < until {
        match keeper.try_wait() {
            Ok(Some(status)) => return status.code(),
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Err(_) => return None,
        }
    }
    None
}

fn http(
    args: &InjectArgs,
    (profile, what): (Profile, &str),
    url: &str,
    address: SocketAddr,
) -> Result<Code, Failure> {
    listen::check(&address, args.allow_remote, ("127.0.0.1:0", "to use the server"))?;
    let upstream = Upstream::new(url).map_err(|error| Failure::usage(error.to_string()))?;
    let desk = Arc::new(desk(args, profile, upstream.name().to_owned())?);
    // One thread: a message that changes threads on its way waits longer than it is worked on.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let served = runtime.block_on(async {
        // Before an address is told: who reads it may stop the proxy at once.
        let mut stop = start::listen(None);
        let (listener, taken) = listen::bind(address).await?;
        let own = format!("http://{taken}{}", upstream.path());
        say(&format!("wildgym inject: faults of {what} before {url}; for staging only"));
        data(&if args.json { json!({ "url": own }).to_string() } else { own });
        // Small messages that wait for each other must not wait for more of them.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let (mut closing, routes) = (stop.clone(), router(Arc::clone(&desk), upstream));
        let serving = axum::serve(listener, routes)
            .with_graceful_shutdown(async move { closing.asked().await });
        let late = async {
            stop.asked().await;
            tokio::time::sleep(CLOSING).await;
        };
        tokio::select! {
            ended = serving.into_future() => {
                ended.map_err(|error| Failure::usage(format!("cannot go on at `{taken}`: {error}")))
            }
            () = late => Ok(()),
        }
    });
    runtime.shutdown_background();
    served?;
    Ok(if concluded(&desk) { Code::Done } else { Code::Incomplete })
}
