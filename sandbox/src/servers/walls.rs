//! How a server is started: by a keeper, and behind walls where there is bubblewrap.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::process::Command;
use tokio::sync::Semaphore;

use super::process::{Pipes, Process};
use super::reach::{SYSTEM, is_system, reach};
use crate::guest::{Arguments, IN_MEMORY};

/// Where the workspace lies behind the walls.
const WORKSPACE: &str = "/workspace";

/// Where the server's own folder lies behind the walls.
const FOLDER: &str = "/server";

/// Where a server is at home behind the walls.
const HOME: &str = "/tmp";

/// What of the system's settings every program may read.
const SETTINGS: [&str; 6] = [
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/mime.types",
];

/// What a program needs to read beside that to use the network.
const NETWORK: [&str; 7] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
];

/// A server to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order {
    /// The program and its arguments. `{server}` and `{workspace}` stand for folders, wherever
    /// they lie for it.
    pub command: Vec<String>,
    /// Variables of its environment beside the usual few.
    pub environment: Vec<(String, String)>,
    /// Its own folder on the host, which it may read.
    pub folder: Option<Utf8PathBuf>,
    /// What else of the host it may read.
    pub reads: Vec<Utf8PathBuf>,
    /// The workspace on the host, and whether it may write to it.
    pub workspace: Option<(Utf8PathBuf, bool)>,
    /// Whether it has the machine's network.
    pub network: bool,
}

/// Starts servers.
#[derive(Debug)]
pub struct Servers {
    /// The program whose mode `keep-server` is their keeper.
    keeper: PathBuf,
    /// Where programs are looked for: the value of `PATH`.
    path: OsString,
    /// What builds the walls, where it is there and works.
    walls: OnceLock<Option<PathBuf>>,
    /// How many may start at once.
    starting: Semaphore,
}

impl Servers {
    /// Starts servers by `keeper keep-server`, at most `count` at a time; their programs, and
    /// bubblewrap, are looked for in `path`.
    #[must_use]
    pub fn new(keeper: PathBuf, path: OsString, count: usize) -> Self {
        let starting = Semaphore::new(count.max(1));
        Self { keeper, path, walls: OnceLock::new(), starting }
    }

    /// Returns what cannot start any.
    #[must_use]
    pub fn none() -> Self {
        Self::new(PathBuf::new(), OsString::new(), 1)
    }

    /// Returns whether servers run behind walls on this machine.
    #[must_use]
    pub fn has_walls(&self) -> bool {
        self.walls().is_some()
    }

    /// Waits until one more may start; it has started when what is returned is dropped.
    pub async fn turn(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        self.starting.acquire().await.ok()
    }

    /// Starts a server.
    pub fn start(&self, order: &Order) -> Result<(Process, Pipes), String> {
        let name = order.command.first().map_or("", String::as_str);
        let cannot = |error: &dyn std::fmt::Display| format!("cannot start `{name}`: {error}");
        let Some(program) = self.find(name, order) else {
            return Err(cannot(&"there is no such program"));
        };
        let mut command = Command::new(&self.keeper);
        command.arg("keep-server").env_clear().envs(USUAL).current_dir("/");
        match self.walls() {
            // What is in the environment is nobody else's to see, unlike arguments.
            Some(bubblewrap) => command
                .arg(bubblewrap)
                .args(arguments(order, &program))
                .env("PATH", self.search())
                .env("HOME", HOME),
            None => self.bare(&mut command, order, &program),
        };
        command.envs(order.environment.iter().map(|(name, value)| (name, value)));
        Process::start(command).map_err(|error| cannot(&error))
    }

    /// Lets a server run as it is, in the workspace where it may use that.
    fn bare<'a>(
        &self,
        command: &'a mut Command,
        order: &Order,
        program: &Utf8Path,
    ) -> &'a mut Command {
        let temporary = std::env::temp_dir();
        let own = order.workspace.as_ref().map(|(path, _)| path.as_std_path());
        let home = own.unwrap_or(&temporary);
        let workspace = order.workspace.as_ref().map_or("", |(path, _)| path.as_str());
        let folder = order.folder.as_ref().map_or("", |path| path.as_str());
        command
            .arg(program.as_str())
            .args(order.command.iter().skip(1).map(|part| fill(part, folder, workspace)))
            .env("PATH", &self.path)
            .env("HOME", home)
            .current_dir(home)
    }

    /// Returns the path that programs behind walls look others up in: that of the system.
    fn search(&self) -> String {
        let folders = std::env::split_paths(&self.path);
        let system = folders.filter_map(|folder| Utf8PathBuf::from_path_buf(folder).ok());
        let system: Vec<String> =
            system.filter(|folder| is_system(folder)).map(Utf8PathBuf::into_string).collect();
        if system.is_empty() { "/usr/local/bin:/usr/bin:/bin".to_owned() } else { system.join(":") }
    }

    /// Finds a program. Behind walls those of the system go first, for they stand alone.
    fn find(&self, name: &str, order: &Order) -> Option<Utf8PathBuf> {
        if name.contains('/') || name.starts_with('{') {
            let folder = order.folder.as_ref();
            let own = folder.map_or_else(|| name.to_owned(), |one| fill(name, one.as_str(), ""));
            let path = Utf8PathBuf::from(&own);
            if !is_program(path.as_std_path()) {
                return None;
            }
            if own != name && self.has_walls() {
                return Some(Utf8PathBuf::from(fill(name, FOLDER, "")));
            }
            return std::path::absolute(path).ok().and_then(|one| one.try_into().ok());
        }
        let folders = std::env::split_paths(&self.path).map(|folder| folder.join(name));
        let found: Vec<Utf8PathBuf> = folders
            .filter(|file| is_program(file))
            .filter_map(|file| Utf8PathBuf::from_path_buf(file).ok())
            .collect();
        let first = found.first().cloned();
        let system = found.into_iter().find(|file| is_system(file));
        if self.has_walls() { system.or(first) } else { first }
    }

    /// Finds what builds walls, and tries it once.
    fn walls(&self) -> Option<&Path> {
        let find = || {
            let folders = std::env::split_paths(&self.path);
            let found = folders.map(|folder| folder.join("bwrap")).find(|file| is_program(file))?;
            let tried = std::process::Command::new(&found)
                .args([
                    "--unshare-all",
                    "--die-with-parent",
                    "--ro-bind",
                    "/",
                    "/",
                    "--",
                    "/bin/true",
                ])
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .status();
            tried.is_ok_and(|status| status.success()).then_some(found)
        };
        self.walls.get_or_init(find).as_deref()
    }
}

/// Returns the arguments with which bubblewrap becomes a server.
fn arguments(order: &Order, program: &Utf8Path) -> Vec<OsString> {
    let mut walls = Arguments::default();
    walls.put(["--unshare-all", "--die-with-parent", "--new-session"]);
    walls.put(["--cap-drop", "ALL", "--hostname", "server"]);
    if order.network {
        walls.put(["--share-net"]);
    }
    for folder in SYSTEM {
        walls.system(Path::new(folder));
    }
    let network = if order.network { &NETWORK[..] } else { &[] };
    for &path in SETTINGS.iter().chain(network) {
        walls.put(["--ro-bind-try", path, path]);
    }
    walls.put(["--proc", "/proc", "--dev", "/dev"]);
    for folder in [HOME, "/run"] {
        walls.put(["--size", IN_MEMORY, "--tmpfs", folder]);
    }
    for path in reach(program).iter().chain(&order.reads) {
        if !is_system(path) {
            walls.put(["--ro-bind-try", path.as_str(), path.as_str()]);
        }
    }
    if let Some(folder) = &order.folder {
        walls.put(["--ro-bind", folder.as_str(), FOLDER]);
    }
    let mut home = HOME;
    if let Some((path, writes)) = &order.workspace {
        let how = if *writes { "--bind" } else { "--ro-bind" };
        walls.put([how, path.as_str(), WORKSPACE]);
        home = WORKSPACE;
    }
    walls.put(["--chdir", home, "--", program.as_str()]);
    let rest = order.command.iter().skip(1).map(|part| fill(part, FOLDER, WORKSPACE).into());
    walls.0.extend(rest);
    walls.0
}

/// Variables that every server has: letters are UTF-8 and the time is UTC.
const USUAL: [(&str, &str); 2] = [("LANG", "C.UTF-8"), ("TZ", "UTC")];

/// Puts folders in for what stands for them.
fn fill(part: &str, folder: &str, workspace: &str) -> String {
    part.replace("{server}", folder).replace("{workspace}", workspace)
}

/// Returns whether a file can be executed.
fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(order: &Order) -> String {
        let all = arguments(order, Utf8Path::new("/usr/bin/prog"));
        let parts: Vec<String> = all.iter().map(|one| one.to_string_lossy().into_owned()).collect();
        parts.join(" ")
    }

    #[test]
    fn a_server_gets_what_was_granted_and_no_more() {
        let plain = Order {
            command: ["prog", "--at={workspace}/x", "{server}/a"].map(str::to_owned).to_vec(),
            ..Order::default()
        };
        let text = written(&plain);
        assert!(text.starts_with("--unshare-all --die-with-parent"), "{text}");
        assert!(text.ends_with("-- /usr/bin/prog --at=/workspace/x /server/a"), "{text}");
        for hidden in ["--share-net", "resolv.conf", "--bind", "/home/u", "/etc/passwd", "/root"] {
            assert!(!text.contains(hidden), "{hidden}: {text}");
        }
        let servers = Servers::new(PathBuf::new(), "/home/u/bin:/usr/bin:/bin".into(), 1);
        assert_eq!(servers.search(), "/usr/bin:/bin", "only the system's");
        let granted = Order {
            workspace: Some(("/tmp/w1".into(), true)),
            folder: Some("/suite/servers/a".into()),
            network: true,
            environment: vec![("A".into(), "b c".into())],
            reads: vec!["/home/u/data".into(), "/usr/share/x".into()],
            ..plain
        };
        let text = written(&granted);
        for shown in [
            "--share-net",
            "--ro-bind-try /etc/resolv.conf",
            "--bind /tmp/w1 /workspace",
            "--ro-bind /suite/servers/a /server",
            "--ro-bind-try /home/u/data /home/u/data",
            "--chdir /workspace",
        ] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
        assert!(!text.contains("b c"), "arguments are anybody's to see: {text}");
        assert!(!text.contains("/usr/share/x"), "the system's is there already: {text}");
        let reads = Order { workspace: Some(("/tmp/w1".into(), false)), ..granted };
        assert!(written(&reads).contains("--ro-bind /tmp/w1 /workspace"));
    }
}
