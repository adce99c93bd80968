//! What the official clients see of a server whose calls are spoiled, and that a proxy without
//! faults changes nothing for the conformance suite.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use wildgym::fault::{Observed, Profile, Schedule};
use wildgym::mcp::{Guard, Paths, Served, router, token};
use wildgym_sandbox::Seed;

use super::common::Place;
use super::conformance::{passes, scenarios};
use super::fixture::Fixture;
use super::peers::Peers;

/// The program that stands for a server.
const SERVER: &str = env!("CARGO_BIN_EXE_wildgym-hostile-server");

/// What its tool is asked to return.
const SAID: &str = "The harbour ferry has 120 seats on 2026-03-01.\nThe island ferry has 64.\n";

/// Calls of each client under each profile.
const CALLS: usize = 4;

/// The seed of the proxies.
const SEED: u64 = 5;

/// Calls the tool over each command or address, and prints what came of each call.
const PYTHON: &str = r#"
import asyncio, json, sys, time
from mcp import Client, StdioServerParameters

text = sys.argv[2]

async def one(client):
    begun = time.monotonic()
    try:
        result = await client.call_tool("echo", {"text": text}, read_timeout_seconds=4)
        said = {"error": bool(result.is_error), "text": [part.text for part in result.content]}
    except Exception as error:
        said = {"raised": str(error)}
    return said | {"seconds": time.monotonic() - begun}

async def main():
    for where in json.loads(sys.argv[1]):
        server = where if isinstance(where, str) else StdioServerParameters(command=where[0], args=where[1:])
        async with Client(server) as client:
            print(json.dumps([await one(client) for _ in range(4)]), flush=True)

asyncio.run(main())
"#;

/// The same with the SDK for TypeScript.
const TYPESCRIPT: &str = r#"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const text = process.argv[3];
for (const where of JSON.parse(process.argv[2])) {
  const client = new Client({ name: "story", version: "1" });
  const transport = typeof where === "string"
    ? new StreamableHTTPClientTransport(new URL(where))
    : new StdioClientTransport({ command: where[0], args: where.slice(1), stderr: "ignore" });
  await client.connect(transport);
  const all = [];
  for (let call = 0; call < 4; call += 1) {
    const begun = performance.now();
    let said;
    try {
      const result = await client.callTool({ name: "echo", arguments: { text } }, undefined, { timeout: 4000 });
      said = { error: result.isError === true, text: result.content.map((part) => part.text) };
    } catch (error) {
      said = { raised: String(error) };
    }
    all.push({ ...said, seconds: (performance.now() - begun) / 1000 });
  }
  console.log(JSON.stringify(all));
  await client.close();
}
"#;

/// What a client is to see of a call that is hit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sees {
    /// A result with another text.
    AnotherText,
    /// A result that says that the tool failed.
    Failure,
    /// The truth, a second later.
    LateTruth,
    /// Its own limit.
    Limit,
}

const TABLE: [(&str, Sees); 9] = [
    ("minor-mistake", Sees::AnotherText),
    ("incorrect-output", Sees::AnotherText),
    ("invalid-output", Sees::AnotherText),
    ("explicit-error", Sees::Failure),
    ("delay", Sees::LateTruth),
    ("silent-drop", Sees::Limit),
    ("schema-drift", Sees::AnotherText),
    ("truncated-payload", Sees::AnotherText),
    ("partial-result", Sees::AnotherText),
];

/// A profile of one operator and persistence, and which calls it hits.
struct Case {
    name: String,
    path: String,
    sees: Sees,
    hits: Vec<bool>,
}

fn cases(place: &Place) -> Vec<Case> {
    let persistences = ["permanent", "transient", "intermittent"];
    TABLE
        .into_iter()
        .flat_map(|(operator, sees)| persistences.map(|persistence| (operator, sees, persistence)))
        .map(|(operator, sees, persistence)| {
            let name = format!("{operator}-{persistence}");
            let more = match (operator, persistence) {
                ("delay", "intermittent") => "seconds = 1\nactivation = 0.5",
                ("delay", _) => "seconds = 1",
                (_, "intermittent") => "activation = 0.5",
                _ => "",
            };
            // Dropped calls cost a client its limit: one of them is enough.
            let rate = if persistence == "permanent" { 1.0 } else { 0.5 };
            let text = format!(
                "format = 1\nname = \"{name}\"\nversion = \"1\"\ndescription = \"one\"\nrate = {rate:?}\n\
                 [[entry]]\noperator = \"{operator}\"\npersistence = \"{persistence}\"\nweight = 1\n{more}\n"
            );
            let path = place.path().join(format!("{name}.toml"));
            std::fs::write(&path, &text).unwrap();
            let profile = Arc::new(Profile::parse(&name, &text).unwrap());
            let mut schedule = Schedule::new(profile, Seed::of_run(SEED).child("faults", 0));
            let hit = |number: usize| {
                let (ingress, arguments) = (number.to_string(), json!({ "text": SAID }).to_string());
                let call =
                    Observed { ingress: &ingress, server: "s", tool: "echo", arguments: &arguments };
                schedule.decide(&call).is_some_and(|fault| fault.fired)
            };
            let hits = (1..=CALLS).map(hit).collect();
            Case { name, path: path.to_str().unwrap().to_owned(), sees, hits }
        })
        .collect()
}

/// Says whether a client saw what it is to see.
fn check(case: &Case, client: &str, line: &str) {
    let seen: Vec<Value> =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(seen.len(), CALLS);
    for (number, (call, hit)) in seen.iter().zip(&case.hits).enumerate() {
        let place = format!("{client}, {}, call {}: {call}", case.name, number + 1);
        let truth = call["text"] == json!([SAID]) && call["error"] == false;
        let late = call["seconds"].as_f64().unwrap() >= 1.0;
        match (hit, case.sees) {
            (false, _) => assert!(truth, "{place}"),
            (true, Sees::AnotherText) => {
                assert!(!truth && call["error"] == false && call["raised"].is_null(), "{place}");
            }
            (true, Sees::Failure) => assert!(call["error"] == true, "{place}"),
            (true, Sees::LateTruth) => assert!(truth && late, "{place}"),
            (true, Sees::Limit) => assert!(!call["raised"].is_null() && late, "{place}"),
        }
    }
}

/// Returns the flags of a proxy.
fn flags(case: &Case) -> Vec<String> {
    ["inject", "--profile", &case.path, "--seed", &SEED.to_string(), "--server", "s"]
        .map(str::to_owned)
        .into()
}

/// A program that listens, and its address.
async fn listening(mut command: Command) -> (Child, String) {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    (child, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_clients_see_what_each_fault_says() {
    let Some(peers) = Peers::find() else { return };
    let place = Place::new();
    let cases = cases(&place);
    let program = env!("CARGO_BIN_EXE_wildgym");
    let mut plain = Command::new(SERVER);
    plain.arg("--http");
    let (_server, upstream) = listening(plain).await;
    let mut proxies = Vec::new();
    for case in cases.iter().chain(&cases) {
        let mut command = Command::new(program);
        command.args(flags(case)).args(["--upstream", &upstream, "--listen", "127.0.0.1:0"]);
        proxies.push(listening(command).await);
    }
    let by_pipe: Vec<Value> = cases
        .iter()
        .map(|case| {
            let words = [vec![program.to_owned()], flags(case), vec!["--".into(), SERVER.into()]];
            json!(words.concat())
        })
        .collect();
    let urls: Vec<Value> = proxies.iter().map(|(_, url)| json!(url)).collect();
    let (first, second) = urls.split_at(cases.len());
    for (client, over_http) in [("python", first), ("typescript", second)] {
        let places = json!([&by_pipe[..], over_http].concat()).to_string();
        let said = if client == "python" {
            peers.run_python(place.path(), PYTHON, &[&places, SAID]).await
        } else {
            peers.run_node(place.path(), TYPESCRIPT, &[&places, SAID]).await
        };
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 2 * cases.len(), "{client}: {said}");
        for (case, line) in cases.iter().chain(&cases).zip(lines) {
            check(case, client, line);
        }
    }
}

/// Each scenario passes before a proxy without faults as it does without one, and fails where
/// it does.
#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_without_faults_conforms_as_the_server_does() {
    let Some(peers) = Peers::find() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let token = token();
    let url = format!("http://{}/t/{token}/mcp", listener.local_addr().unwrap());
    let fixture: Arc<dyn Served> = Arc::new(Fixture);
    let paths = Paths::new(vec![(token, fixture)], &Guard::Loopback);
    let serving = tokio::spawn(async move { axum::serve(listener, router(paths)).await });
    let mut command = Command::new(env!("CARGO_BIN_EXE_wildgym"));
    command.args(["inject", "--upstream", &url, "--listen", "127.0.0.1:0"]);
    let (_proxy, proxied) = listening(command).await;
    let mut results: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for scenario in scenarios(&peers).await {
        for at in [&url, &proxied] {
            let (passed, _) = passes(&peers, at, &scenario).await;
            results.entry(scenario.clone()).or_default().push(passed);
        }
    }
    serving.abort();
    let differ: Vec<_> = results.iter().filter(|(_, passed)| passed[0] != passed[1]).collect();
    assert!(differ.is_empty(), "{differ:?}");
    assert!(results.values().any(|passed| passed[0]), "{results:?}");
}
