//! A toolbox with foreign servers, as the runner makes it, and small looks around.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use wildgym_sandbox::browser::{BrowserSettings, Browsers};
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::servers::{Servers, reach};
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::worker::Workers;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::{Clock, Host, Sandbox, Seed};
use wildgym_tasks::environment::Server;
use wildgym_toolbox::foreign::{Foreign, Pinned, ServerError, Spec, list_tools, offered};
use wildgym_toolbox::{Bounds, Call, Catalog, Reply, Toolbox};

/// The hostile server.
pub(crate) const HOSTILE: &str = env!("CARGO_BIN_EXE_wildgym-hostile-server");

/// How long a call may take where a story waits for that.
pub(crate) const SHORT: Duration = Duration::from_secs(3);

/// Far more than anything here takes.
pub(crate) const LONG: Duration = Duration::from_mins(2);

/// A host without anything but servers, in a directory of its own.
pub(crate) struct Stage {
    pub(crate) host: Arc<Host>,
    folder: tempfile::TempDir,
}

impl Stage {
    /// Returns one with the walls that this machine has.
    pub(crate) fn new() -> Self {
        Self::with_path(std::env::var_os("PATH").unwrap_or_default())
    }

    /// Returns one where programs, and what builds walls, are looked for in `path`.
    pub(crate) fn with_path(path: std::ffi::OsString) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let scratch = Scratch::create(&root).unwrap();
        let none = Err("this story has none".to_owned());
        let browsers = Browsers::new(BrowserSettings::new(none, "/nonexistent".into(), root));
        let workers = Workers::new("/nonexistent".into(), 1);
        let host = Host::new(browsers, scratch, workers, None);
        let keeper = PathBuf::from(env!("CARGO_BIN_EXE_wildgym"));
        Self { host: Arc::new(host.with_servers(Servers::new(keeper, path, 8))), folder }
    }

    /// Returns the directory of the story.
    pub(crate) fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    /// Lists the tools of a server.
    pub(crate) async fn list(&self, spec: Spec) -> Result<(Arc<Pinned>, Vec<String>), ServerError> {
        let workspace = Workspace::create(&self.host.scratch, Quota::default());
        let (tools, left_out) = list_tools(&spec, &self.host, &workspace).await?;
        Ok((Arc::new(Pinned { spec, tools }), left_out))
    }

    /// Makes the toolbox of an attempt with these servers, none of which is started yet.
    pub(crate) fn attempt(&self, pinned: &[Arc<Pinned>], time: Duration) -> Attempt {
        let workspace = Arc::new(Workspace::create(&self.host.scratch, Quota::default()));
        let seed = Seed::of_run(1);
        let foreign = Arc::new(Foreign::new(pinned.to_vec(), &self.host, &workspace, seed));
        let sandbox = Sandbox {
            host: Arc::clone(&self.host),
            workspace: Arc::clone(&workspace),
            web: None,
            browser: None,
            world: None,
            clock: Clock::starting_at("2026-03-01T09:00:00Z".parse().unwrap()),
            seed,
        };
        let catalog =
            pinned.iter().fold(Catalog::default(), |all, one| all.with(&offered(one).0).unwrap());
        let bounds = Bounds { time, text: 32 << 10 };
        let work = Arc::new(WorkClock::default());
        let toolbox = Toolbox::new(Arc::new(sandbox), Arc::new(catalog), Vec::new(), bounds, work);
        let toolbox = Arc::new(toolbox.with_foreign(Some(Arc::clone(&foreign))));
        Attempt { toolbox, foreign, workspace }
    }

    /// Lists a server, makes the toolbox of an attempt with it, and starts it there.
    pub(crate) async fn with(&self, spec: Spec, time: Duration) -> Attempt {
        let (pinned, _) = self.list(spec).await.unwrap();
        let attempt = self.attempt(&[pinned], time);
        attempt.foreign.start().await.unwrap();
        attempt
    }
}

/// One attempt.
pub(crate) struct Attempt {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) foreign: Arc<Foreign>,
    pub(crate) workspace: Arc<Workspace>,
}

impl Attempt {
    /// Makes one call.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Reply {
        self.toolbox.call(asked(name, &arguments)).await.unwrap()
    }

    /// Makes one call and returns what the agent reads.
    pub(crate) async fn says(&self, name: &str, arguments: Value) -> String {
        self.call(name, arguments).await.text
    }

    /// Makes the calls of a round.
    pub(crate) async fn round(&self, calls: &[(&str, Value)]) -> Vec<Reply> {
        let calls = calls.iter().map(|(name, arguments)| asked(name, arguments));
        self.toolbox.round(calls.collect()).await.unwrap()
    }
}

fn asked(name: &str, arguments: &Value) -> Call {
    Call { id: "c".to_owned(), name: name.to_owned(), arguments: arguments.to_string() }
}

/// A server by its command.
pub(crate) fn command(name: &str, parts: &[&str]) -> Spec {
    let command: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
    let reads = command.iter().skip(1).map(Utf8Path::new).filter(|path| path.is_absolute());
    Spec {
        name: name.to_owned(),
        reads: reads.flat_map(reach).collect(),
        server: Server { command, ..Server::default() },
        folder: None,
        secrets: Vec::new(),
    }
}

/// The hostile server with these arguments, under the name `h`.
pub(crate) fn hostile(arguments: &[&str]) -> Spec {
    command("h", &[&[HOSTILE], arguments].concat())
}

/// A server by its address.
pub(crate) fn reached(name: &str, url: &str) -> Spec {
    let server = Server { url: Some(url.to_owned()), ..Server::default() };
    Spec { server, ..command(name, &[]) }
}

/// The hostile server as a process of the story's own that listens; ends when dropped.
pub(crate) struct Listening {
    process: std::process::Child,
    pub(crate) url: String,
}

impl Listening {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        use std::io::BufRead;
        let mut process = std::process::Command::new(HOSTILE)
            .args([&["--http"], arguments].concat())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        std::io::BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned() }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns how many processes run `sleep` for that many seconds.
pub(crate) fn sleepers(seconds: u32) -> usize {
    let wanted = format!("sleep\0{seconds}\0");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line == wanted.as_bytes()).count()
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Arguments without any.
pub(crate) fn nothing() -> Value {
    json!({})
}
