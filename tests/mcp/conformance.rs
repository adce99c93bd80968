//! The conformance suite of the protocol's authors, over HTTP.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;

use tokio::net::TcpListener;
use wildgym::mcp::{Guard, Paths, Served, router, token};

use super::fixture::Fixture;
use super::peers::Peers;

/// Scenarios that do not pass, and why. A scenario that is missing here and fails breaks the
/// test, and so does one that stands here and passes.
const EXPECTED: &[(&str, &str)] = &[
    ("logging-set-level", "the gym logs nothing to clients; the transcript is the log"),
    ("tools-call-with-logging", "the same"),
    ("completion-complete", "arguments have no completions: a model writes them"),
    (
        "elicitation-sep1034-defaults",
        "nobody is asked through the client: it would pass by the record",
    ),
    ("elicitation-sep1330-enums", "the same"),
    ("resources-list", "a sandbox offers tools only; files are read with them"),
    ("resources-read-text", "the same"),
    ("resources-read-binary", "the same"),
    ("resources-templates-read", "the same"),
    ("resources-subscribe", "the same"),
    ("resources-unsubscribe", "the same"),
    ("prompts-list", "a sandbox has no prompts; a task is told by `get_task`"),
    ("prompts-get-simple", "the same"),
    ("prompts-get-with-args", "the same"),
    ("prompts-get-embedded-resource", "the same"),
    ("prompts-get-with-image", "the same"),
];

/// Scenarios on lifecycle, tools and transport: what must pass.
const PROMISED: &[&str] = &[
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "tools-call-sampling",
    "tools-call-elicitation",
    "json-schema-2020-12",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_server_conforms() {
    let Some(peers) = Peers::find() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let token = token();
    let url = format!("http://{}/t/{token}/mcp", listener.local_addr().unwrap());
    let fixture: Arc<dyn Served> = Arc::new(Fixture);
    let paths = Paths::new(vec![(token, fixture)], &Guard::Loopback);
    let serving = tokio::spawn(async move { axum::serve(listener, router(paths)).await });

    let known = scenarios(&peers).await;
    let mut results = BTreeMap::new();
    for scenario in &known {
        results.insert(scenario.clone(), passes(&peers, &url, scenario).await);
    }
    serving.abort();
    for scenario in PROMISED {
        let (passes, said) = &results[*scenario];
        assert!(passes, "{scenario} must pass:\n{said}");
    }
    for (scenario, (passes, said)) in &results {
        let expected = EXPECTED.iter().find(|(name, _)| name == scenario);
        assert_eq!(*passes, expected.is_none(), "{scenario} ({expected:?}):\n{said}");
    }
    for (scenario, _) in EXPECTED {
        assert!(results.contains_key(*scenario), "the suite has no scenario `{scenario}`");
    }
    println!("{} of {} scenarios pass", results.len() - EXPECTED.len(), results.len());
}

/// Returns whether a server passes a scenario, and what the suite says of it.
pub(crate) async fn passes(peers: &Peers, url: &str, scenario: &str) -> (bool, String) {
    let place = tempfile::tempdir().unwrap();
    let ran = peers
        .conformance()
        .args(["server", "--url", url, "--scenario", scenario])
        .current_dir(place.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    (ran.status.success(), String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// Returns the scenarios for servers that the suite has.
pub(crate) async fn scenarios(peers: &Peers) -> Vec<String> {
    let listed = peers.conformance().arg("list").output().await.unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let servers = listed.split("Client scenarios").next().unwrap();
    let name = |line: &str| line.trim().strip_prefix("- ")?.split(' ').next().map(str::to_owned);
    let names: Vec<String> = servers.lines().filter_map(name).collect();
    assert!(names.len() > 20, "{listed}");
    names
}
