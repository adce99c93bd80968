//! `wildgym web serve`: one server on this machine that shows every host of a suite.

use std::net::SocketAddr;

use clap::Args;
use jiff::Timestamp;
use tokio::signal::unix::{SignalKind, signal};
use wildgym_sandbox::web::Web;
use wildgym_sandbox::web::serve::{Serve, serve};

use super::super::{Code, Failure, data, listen, say};

/// Show the web of a suite to a browser, until Ctrl-C
///
/// The address is printed on standard output, and a line for each request on standard
/// error. Open it to click around; use it as an HTTP proxy (`curl -x ADDRESS
/// http://host/`) to see the hosts under their own names; or map the hosts of a live run
/// to it. Every reply is of one logical time.
#[derive(Debug, Args)]
pub(in crate::cli) struct ServeArgs {
    /// Suite, by name or folder
    suite: String,
    /// Address to listen at, such as `localhost:8642` or `:8642`; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0",
          value_parser = listen::address)]
    listen: SocketAddr,
    /// Logical time of every reply, in UTC [default: when the suite's latest task begins]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
    /// Let other machines in: listen at an address that they can reach
    #[arg(long)]
    allow_remote: bool,
}

pub(super) fn run(args: &ServeArgs) -> Result<Code, Failure> {
    listen::check(&args.listen, args.allow_remote, ("127.0.0.1:0", "to see the web"))?;
    let (suite, web) = super::open(&args.suite)?;
    let hosts = suite.sites.values().map(|site| (site.host.clone(), site.meta.title.clone()));
    let shown = Serve {
        hosts: hosts.collect(),
        web: Web::hermetic(web, Vec::new()),
        now: args.now.unwrap_or_else(|| super::latest(&suite)),
        allow_remote: args.allow_remote,
        log: Box::new(say),
    };
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        let (listener, address) = listen::bind(args.listen).await?;
        // Before the address is told: who reads it may stop the server at once.
        let caught = |kind| {
            signal(kind).map_err(|error| Failure::usage(format!("cannot catch signals: {error}")))
        };
        let mut interrupt = caught(SignalKind::interrupt())?;
        let mut terminate = caught(SignalKind::terminate())?;
        data(&format!("http://{address}/"));
        say(&format!("showing {} hosts at {}; stop with Ctrl-C", shown.hosts.len(), shown.now));
        let stop = async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        serve(shown, listener, stop).await;
        Ok(Code::Done)
    })
}
