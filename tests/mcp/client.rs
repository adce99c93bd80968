//! Clients and servers for these stories: the real program, and the SDK's own client.

use std::process::Stdio;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::common::Place;

/// A client.
pub(crate) struct Client(RunningService<RoleClient, ()>);

impl Client {
    /// Speaks to a server at an address.
    pub(crate) async fn http(url: &str) -> Self {
        // An error means that another story was first.
        drop(rustls::crypto::ring::default_provider().install_default());
        Self(().serve(StreamableHttpClientTransport::from_uri(url)).await.unwrap())
    }

    /// Starts `wildgym serve mcp` and speaks to it over its streams.
    pub(crate) async fn stdio(place: &Place, args: &[&str]) -> (Self, Child) {
        let mut command = command(place, args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        (Self(().serve(streams).await.unwrap()), child)
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let tools = self.0.list_all_tools().await.unwrap();
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    pub(crate) fn peer(&self) -> &rmcp::Peer<RoleClient> {
        self.0.peer()
    }

    /// Makes a call.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        self.0.call_tool(asked(name, &arguments)).await.unwrap()
    }

    /// Makes a call and returns its text, and whether it failed.
    pub(crate) async fn text(&self, name: &str, arguments: Value) -> (String, bool) {
        let said = self.call(name, arguments).await;
        let parts = said.content.iter().filter_map(|part| part.as_text());
        let text = parts.map(|part| part.text.clone()).collect::<Vec<_>>().join("\n");
        (text, said.is_error == Some(true))
    }

    /// Closes the connection.
    pub(crate) async fn leave(self) {
        self.0.cancel().await.unwrap();
    }
}

pub(crate) fn asked(name: &str, arguments: &Value) -> CallToolRequestParams {
    let mut params = CallToolRequestParams::new(name.to_owned());
    params.arguments = arguments.as_object().cloned();
    params
}

fn command(place: &Place, args: &[&str]) -> Command {
    let all: Vec<&str> = ["serve", "mcp"].iter().chain(args).copied().collect();
    let mut command = Command::from(place.command(&all));
    command.kill_on_drop(true);
    command
}

/// A server over HTTP.
pub(crate) struct Server {
    child: Child,
    /// Its addresses, in the order printed.
    pub(crate) urls: Vec<String>,
}

impl Server {
    /// Starts a server that prints one address.
    pub(crate) async fn start(place: &Place, args: &[&str]) -> Self {
        Self::with(place, args, 1).await
    }

    /// Starts a server that prints so many addresses.
    pub(crate) async fn with(place: &Place, args: &[&str], count: usize) -> Self {
        let more = ["--listen", "127.0.0.1:0", "--json"];
        let all: Vec<&str> = args.iter().chain(&more).copied().collect();
        let mut child = command(place, &all).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut urls = Vec::new();
        for _ in 0..count {
            let line = lines.next_line().await.unwrap().expect("an address");
            let told: Value = serde_json::from_str(&line).unwrap();
            urls.push(told["url"].as_str().unwrap().to_owned());
        }
        Self { child, urls }
    }

    /// Asks it to end, as Ctrl-C does, and returns its exit code.
    pub(crate) async fn stop(mut self) -> Option<i32> {
        let pid = Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        self.child.wait().await.unwrap().code()
    }
}
