//! The reference servers of those who write the protocol, where they are installed.
//!
//! `tests/mcp.sh` fetches them. Without them the stories pass untold.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use wildgym_tasks::environment::{Reach, Server};
use wildgym_toolbox::foreign::Spec;

use crate::common::{Place, peers};
use crate::stage::{Attempt, LONG, Stage, command};

/// Returns where a server of npm lies.
fn of_npm(name: &str) -> Option<Utf8PathBuf> {
    let folder = peers()?.join("node_modules/@modelcontextprotocol").join(name);
    Some(folder.join("dist/index.js"))
}

/// Returns where a server of Python lies.
fn of_python(name: &str) -> Option<Utf8PathBuf> {
    Some(peers()?.join("venv/bin").join(name))
}

fn in_workspace(spec: Spec) -> Spec {
    Spec { server: Server { workspace: Reach::Write, ..spec.server }, ..spec }
}

async fn says(attempt: &Attempt, name: &str, arguments: Value) -> String {
    let reply = attempt.call(name, arguments).await;
    assert_eq!(reply.error, None, "{name}: {}", reply.text);
    reply.text
}

#[tokio::test(flavor = "multi_thread")]
async fn everything() {
    let Some(path) = of_npm("server-everything") else { return };
    let stage = Stage::new();
    let attempt = stage.with(command("all", &["node", path.as_str()]), LONG).await;
    let said = says(&attempt, "all__echo", json!({"message": "hi"})).await;
    assert_eq!(said, "Echo: hi");
    let names = attempt.toolbox.catalog().names();
    let with = |part: &str| names.iter().find(|name| name.contains(part)).unwrap().clone();
    let picture = says(&attempt, &with("image"), json!({})).await;
    assert!(picture.contains("`image/png`") && picture.contains(".results/2-1.png"), "{picture}");
    let sum = says(&attempt, &with("sum"), json!({"a": 2, "b": 3})).await;
    assert!(sum.contains('5'), "{sum}");
    let reply = attempt.call(&with("sum"), json!({"a": "two", "b": 3})).await;
    assert_eq!(reply.error, Some("bad-arguments"), "its schema is kept: {}", reply.text);
    attempt.foreign.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filesystem() {
    let Some(path) = of_npm("server-filesystem") else { return };
    let stage = Stage::new();
    let spec = in_workspace(command("fs", &["node", path.as_str(), "{workspace}"]));
    let attempt = stage.with(spec, LONG).await;
    attempt.workspace.write(Utf8Path::new("note.txt"), b"three apples").unwrap();
    let root = if stage.host.servers.has_walls() {
        "/workspace".to_owned()
    } else {
        attempt.workspace.host_path().unwrap().to_string()
    };
    let file = |name: &str| json!({"path": format!("{root}/{name}")});
    assert_eq!(says(&attempt, "fs__read_text_file", file("note.txt")).await, "three apples");
    let write = json!({"path": format!("{root}/new.txt"), "content": "four"});
    says(&attempt, "fs__write_file", write).await;
    assert_eq!(attempt.workspace.read(Utf8Path::new("new.txt"), 100).unwrap(), b"four");
    let outside = attempt.call("fs__read_text_file", json!({"path": "/etc/passwd"})).await;
    assert_eq!(outside.error, Some("failed"), "{}", outside.text);
    attempt.foreign.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    let Some(path) = of_npm("server-memory") else { return };
    let stage = Stage::new();
    let mut spec = in_workspace(command("memory", &["node", path.as_str()]));
    spec.server.env.insert("MEMORY_FILE_PATH".into(), "/workspace/memory.jsonl".into());
    if !stage.host.servers.has_walls() {
        return;
    }
    let (pinned, _) = stage.list(spec).await.unwrap();
    let entity =
        json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["x"]}]});
    let first = stage.attempt(std::slice::from_ref(&pinned), LONG);
    says(&first, "memory__create_entities", entity).await;
    assert!(says(&first, "memory__read_graph", json!({})).await.contains("Ada"));
    first.foreign.end().await;
    let second = stage.attempt(&[pinned], LONG);
    let graph = says(&second, "memory__read_graph", json!({})).await;
    assert!(!graph.contains("Ada"), "another attempt remembers nothing: {graph}");
    second.foreign.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time() {
    let Some(path) = of_python("mcp-server-time") else { return };
    let stage = Stage::new();
    let attempt =
        stage.with(command("time", &[path.as_str(), "--local-timezone", "UTC"]), LONG).await;
    let asked = json!({
        "source_timezone": "Europe/Oslo", "time": "12:00", "target_timezone": "Asia/Tokyo",
    });
    let said = says(&attempt, "time__convert_time", asked).await;
    assert!(said.contains("Asia/Tokyo"), "{said}");
    attempt.foreign.end().await;
}

/// Without the network it says that it cannot, and the trial goes on.
#[tokio::test(flavor = "multi_thread")]
async fn fetch() {
    let Some(path) = of_python("mcp-server-fetch") else { return };
    let stage = Stage::new();
    let attempt = stage.with(command("web", &[path.as_str()]), LONG).await;
    let reply = attempt.call("web__fetch", json!({"url": "http://127.0.0.1:9/"})).await;
    assert_eq!(reply.error, Some("failed"), "{}", reply.text);
    attempt.foreign.end().await;
}

/// Through a proxy that spoils nothing the reference servers list the same tools and answer the
/// same.
#[test]
fn through_a_proxy_that_does_nothing_they_are_the_same() {
    let (Some(peers), Some(everything), Some(memory)) =
        (peers(), of_npm("server-everything"), of_npm("server-memory"))
    else {
        return;
    };
    let hour = json!({
        "source_timezone": "Europe/Berlin", "time": "09:30", "target_timezone": "Asia/Tokyo"
    });
    let time = of_python("mcp-server-time").unwrap();
    let table = [
        ("all", format!("node {everything}"), "all__echo", json!({"message": "hi"})),
        ("all", format!("node {everything}"), "all__echo", json!({"message": 7})),
        ("memory", format!("node {memory}"), "memory__read_graph", json!({})),
        ("time", time.to_string(), "time__convert_time", hour),
    ];
    let place = Place::new();
    for (name, command, tool, arguments) in table {
        let plain = format!("{name}={command}");
        let proxied = format!("{name}={} inject -- {command}", env!("CARGO_BIN_EXE_wildgym"));
        let (read, arguments) = (format!("{name}={peers}"), arguments.to_string());
        for call in [&["--json"][..], &[tool, &arguments]] {
            let [plain, proxied] = [&plain, &proxied].map(|server| {
                let flags = ["tools", "foreign", "--mcp-server", server, "--mcp-read", &read];
                let ran = place.wildgym(&[&flags[..], call].concat());
                (ran.code, ran.out)
            });
            assert_eq!(plain, proxied, "{name}: {call:?}");
            assert!(!plain.1.is_empty(), "{name}: {call:?}");
        }
    }
}
