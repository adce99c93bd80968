//! Executed code: what it can do, what it cannot, and that it does the same twice.
//!
//! The tests need the runtime that `wildgym setup` prepares. Without it they say so and
//! pass, unless `WILDGYM_REQUIRE_RUNTIME` is set, as it is where it must be there.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

mod behaviour;
mod containment;
mod determinism;
mod setup;

use std::fs;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use wildgym_sandbox::Seed;
use wildgym_sandbox::code::{Executed, Execution, HostCalls, Limits, Runtime, RuntimeError};
use wildgym_sandbox::workspace::Quota;

/// Returns the runtime of this machine, loaded once.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn runtime() -> Option<&'static Runtime> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    RUNTIME
        .get_or_init(|| match Runtime::load(&home()) {
            Ok(runtime) => Some(runtime),
            Err(RuntimeError::Missing) if std::env::var_os("WILDGYM_REQUIRE_RUNTIME").is_none() => {
                eprintln!("SKIPPED: the code runtime is not set up; run `wildgym setup`");
                None
            }
            Err(error) => panic!("{error}"),
        })
        .as_ref()
}

fn home() -> Utf8PathBuf {
    let cache = std::env::var("XDG_CACHE_HOME").ok().filter(|path| !path.is_empty());
    let cache = cache.unwrap_or_else(|| format!("{}/.cache", std::env::var("HOME").unwrap()));
    std::env::var("WILDGYM_CODE_HOME")
        .map_or_else(|_| Utf8PathBuf::from(cache).join("wildgym/code"), Utf8PathBuf::from)
}

/// Answers as a small web with one host, and one tool that echoes.
#[derive(Debug)]
struct SmallWorld;

impl HostCalls for SmallWorld {
    fn call(&self, name: String, arguments: Value) -> BoxFuture<'_, Result<Value, String>> {
        Box::pin(async move {
            match name.as_str() {
                "fetch" => fetched(&arguments),
                "tool" => Ok(json!(format!("{}: {}", arguments["name"], arguments["arguments"]))),
                "large" => Ok(json!("x".repeat(80 << 20))),
                _ => Err(format!("there is no call `{name}`")),
            }
        })
    }
}

fn fetched(arguments: &Value) -> Result<Value, String> {
    let url = arguments["url"].as_str().unwrap_or_default();
    let Some(path) = url.strip_prefix("https://port.example/") else {
        return Err(format!("cannot reach `{url}`: the host is unknown"));
    };
    let (status, kind, body) = match path.split('?').next().unwrap_or_default() {
        "ferries.csv" => (200, "text/csv", b"name,cars\nAurora,120\nBoreas,80\n".to_vec()),
        "ferries.json" => (200, "application/json", br#"{"ferries": ["Aurora"]}"#.to_vec()),
        "echo" => (200, "application/json", arguments.to_string().into_bytes()),
        _ => (404, "text/plain; charset=latin-1", vec![b'n', 0xf8]),
    };
    let body = data_encoding::BASE64.encode(&body);
    Ok(json!({ "status": status, "url": url, "headers": [["content-type", kind]], "body": body }))
}

/// A workspace with a scratch directory beside it, and what an execution in it is given.
struct Place {
    folder: TempDir,
    limits: Limits,
    quota: Quota,
    seed: Seed,
    now: &'static str,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["workspace", "scratch", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("other/secret.txt"), "swordfish").unwrap();
        let second = Duration::from_secs(1);
        let limits =
            Limits { cpu: 3 * second, sleep: 60 * second, memory: 768 << 20, output: 64 << 10 };
        let quota = Quota { bytes: 20 << 20, entries: 200 };
        Self { folder, limits, quota, seed: Seed::of_run(1), now: "2026-03-01T09:00:00Z" }
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.folder.path()).unwrap().join(name)
    }

    async fn run(&self, runtime: &Runtime, source: &str) -> Executed {
        let execution = Execution {
            source,
            workspace: &self.path("workspace"),
            quota: self.quota,
            scratch: &self.path("scratch"),
            now: self.now.parse().unwrap(),
            seed: self.seed,
            limits: self.limits,
            host: Arc::new(SmallWorld),
        };
        runtime.execute(execution).await.unwrap()
    }
}
