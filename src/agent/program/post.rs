//! What a program is given: the task in a file, and its endpoints behind one socket.
//!
//! All of it lies in a directory of the attempt's own, which goes with it. Paths in here and
//! in the cage are written so that a program can be told either.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixListener};
use wildgym_sandbox::guest::{Cage, Guest, HOME, Mount, Start};

use super::super::{Request, Seat, announced};
use super::door::serve;
use super::{Spec, Walls, proxy};
use crate::mcp::{self, Acts, Desk, Guard, Paths, Served};
use crate::model::Model;

/// Where the cage has what a program is given.
const PLACE: &str = "/run/wildgym";

/// Where it has the workspace.
const WORKSPACE: &str = "/workspace";

/// The port of the cage's loopback at which the endpoints are.
const PORT: u16 = 7010;

/// The most that a file of a contained program may grow to, in bytes.
const LARGEST_FILE: u64 = 256 << 20;

/// Users as a contained program sees them: programs look their own up.
const USERS: &str = "root:x:0:0::/home/guest:/bin/sh\nguest:x:1000:1000::/home/guest:/bin/sh\n";

/// Hosts as a contained program sees them.
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// What a program is given in one attempt. Dropping it closes the endpoints.
pub(super) struct Post {
    folder: TempDir,
    place: Utf8PathBuf,
    token: String,
    /// The port at which the program finds the endpoints: of the cage's loopback, else of this
    /// machine's.
    port: u16,
    paths: Paths,
    server: tokio::task::AbortHandle,
    /// Whether the program was started, as the relay of a cage tells.
    started: Arc<AtomicBool>,
}

impl Post {
    /// Opens the endpoints of an attempt below `scratch`: at a socket for a cage, else at a
    /// port of this machine.
    pub(super) async fn open(
        (scratch, caged): (&Utf8Path, bool),
        seat: &Seat,
        model: Option<&Model>,
        request: &Request,
    ) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("p").rand_bytes(8).tempdir_in(scratch)?;
        let place = Utf8PathBuf::from_path_buf(folder.path().to_owned())
            .map_err(|path| io::Error::other(format!("`{}` is not UTF-8", path.display())))?;
        let Request { instruction, attachments, pictures, .. } = request;
        fs::write(place.join("task.md"), announced(instruction, attachments, pictures, false))?;
        fs::write(place.join("passwd"), USERS)?;
        fs::write(place.join("hosts"), HOSTS)?;
        fs::create_dir(place.join("out"))?;
        let token = mcp::token();
        let acts: Arc<dyn Acts> = Arc::new(seat.clone());
        let open = move || {
            let acts = Arc::clone(&acts);
            Box::pin(async move { Ok(acts) }) as futures::future::BoxFuture<'static, _>
        };
        let desk: Arc<dyn Served> = Arc::new(Desk::new(seat.catalog(), true, Box::new(open)));
        let paths = Paths::new(vec![(token.clone(), desk)], &Guard::Loopback);
        let mut routes = mcp::router(paths.clone());
        if let Some(model) = model {
            let name = model.endpoint().model().to_owned();
            routes = routes.merge(proxy::router(seat.clone(), name, token.clone()));
        }
        let started = Arc::new(AtomicBool::new(!caged));
        let told = Arc::clone(&started);
        let (port, server) = if caged {
            (PORT, serve(UnixListener::bind(place.join("door.sock"))?, routes, told))
        } else {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            (listener.local_addr()?.port(), serve(listener, routes, told))
        };
        Ok(Self { folder, place, token, port, paths, server, started })
    }

    /// Starts the program.
    pub(super) fn start(
        &self,
        spec: &Spec,
        workspace: &Utf8Path,
        model: Option<&Model>,
    ) -> io::Result<(Guest, ChildStdout)> {
        let model = model.map(|model| model.endpoint().model());
        self.describe()?;
        let words = spec.command.iter().map(OsString::from);
        let mut start = Start {
            keeper: spec.keeper.clone().into(),
            command: words.collect(),
            environment: Vec::new(),
            folder: workspace.as_std_path().to_owned(),
            input: File::open(self.place.join("task.md"))?,
            errors: self.place.join("errors.txt").into(),
        };
        if let Some(walls) = &spec.cage {
            let inside = self.environment(Utf8Path::new(PLACE), WORKSPACE.into(), model);
            let own = [("HOME", HOME), ("TMPDIR", "/tmp"), ("PATH", &*walls.path)];
            let cage = self.cage(walls, workspace, together(inside, &own, spec));
            let relayed = relayed(&spec.command);
            start.command = [OsString::from(&walls.bubblewrap)]
                .into_iter()
                .chain(cage.arguments(&relayed))
                .collect();
        } else {
            let outside = self.environment(&self.place, workspace.to_owned(), model);
            let place = self.place.as_str();
            let own = [("HOME", place), ("TMPDIR", place), ("PATH", OUTSIDE)];
            start.environment = together(outside, &own, spec);
        }
        Guest::start(start)
    }

    /// Returns what tells a program where it finds what.
    fn environment(
        &self,
        place: &Utf8Path,
        workspace: Utf8PathBuf,
        model: Option<&str>,
    ) -> Vec<(String, String)> {
        let mut all = vec![
            ("WILDGYM_TASK_FILE", place.join("task.md").into_string()),
            ("WILDGYM_ANSWER_FILE", place.join("out/answer").into_string()),
            ("WILDGYM_WORKSPACE", workspace.into_string()),
            ("WILDGYM_MCP_URL", self.url()),
            ("WILDGYM_MCP_CONFIG", place.join("mcp.json").into_string()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
        ];
        if let Some(model) = model {
            let base = format!("http://127.0.0.1:{}/v1", self.port);
            all.push(("OPENAI_BASE_URL", base.clone()));
            all.push(("OPENAI_API_BASE", base));
            all.push(("OPENAI_API_KEY", self.token.clone()));
            all.push(("OPENAI_MODEL", model.to_owned()));
        }
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/t/{}/mcp", self.port, self.token)
    }

    /// Writes the tools' address as many clients read it from a file.
    fn describe(&self) -> io::Result<()> {
        let servers = json!({ "mcpServers": { "wildgym": {
            "type": "http", "url": self.url(), "httpUrl": self.url(),
        } } });
        fs::write(self.place.join("mcp.json"), servers.to_string())
    }

    fn cage(
        &self,
        walls: &Walls,
        workspace: &Utf8Path,
        environment: Vec<(String, String)>,
    ) -> Cage {
        let given = |name: &str, inside: String, writable| {
            let (host, inside) = (self.place.join(name).into(), inside.into());
            Mount { host, inside, writable }
        };
        let mut mounts = walls.mounts.clone();
        for (name, writable) in
            [("task.md", false), ("mcp.json", false), ("door.sock", false), ("out", true)]
        {
            mounts.push(given(name, format!("{PLACE}/{name}"), writable));
        }
        mounts.push(given("passwd", "/etc/passwd".to_owned(), false));
        mounts.push(given("hosts", "/etc/hosts".to_owned(), false));
        mounts.push(Mount {
            host: walls.relay.clone().into(),
            inside: format!("{PLACE}/relay").into(),
            writable: false,
        });
        mounts.push(Mount {
            host: workspace.as_std_path().to_owned(),
            inside: WORKSPACE.into(),
            writable: true,
        });
        let hidden = walls.hidden.iter().map(|path| path.as_std_path().to_owned()).collect();
        let (folder, closed) = (WORKSPACE.into(), walls.closed);
        Cage { mounts, hidden, folder, environment, closed }
    }

    /// Returns the folder of what the program is given.
    pub(super) fn place(&self) -> &Utf8Path {
        &self.place
    }

    /// Tells whether the program was started; an uncontained one is taken to have been.
    pub(super) fn was_started(&self) -> bool {
        self.started.load(Ordering::Relaxed)
    }

    /// Returns the answer that the program wrote to its file, where it wrote one, and how many
    /// bytes the file has. Of a longer file than `largest` the answer is its beginning.
    pub(super) fn answer(&self, largest: usize) -> Option<(String, u64)> {
        let path = self.place.join("out/answer");
        // A link would lead the gym itself to wherever the program likes.
        let about = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let mut bytes = Vec::new();
        File::open(&path).ok()?.take(largest as u64).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        Some((text, about.len())).filter(|(text, _)| !text.is_empty())
    }

    /// Returns the end of what the program said on standard error.
    pub(super) fn last_words(&self, most: usize) -> String {
        let end = self.errors(most).unwrap_or_default();
        let end = String::from_utf8_lossy(&end).trim().to_owned();
        if end.is_empty() {
            "it said nothing on standard error".to_owned()
        } else {
            format!("it said last: {end}")
        }
    }

    fn errors(&self, most: usize) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.place.join("errors.txt"))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(most as u64)))?;
        let mut end = Vec::new();
        file.take(most as u64).read_to_end(&mut end)?;
        Ok(end)
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.paths.close();
        self.server.abort();
        let _gone = fs::remove_dir_all(self.folder.path());
    }
}

/// Where an uncontained program finds others, as `PATH` has it.
pub const OUTSIDE: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Returns the command that opens the way out and then runs the program.
fn relayed(command: &[String]) -> Vec<OsString> {
    let (socket, relay) = (format!("{PLACE}/door.sock"), format!("{PLACE}/relay"));
    let own = [relay, socket, PORT.to_string(), LARGEST_FILE.to_string()];
    own.into_iter().chain(command.iter().cloned()).map(OsString::from).collect()
}

/// Puts an environment together; what the user names comes last.
fn together(
    given: Vec<(String, String)>,
    own: &[(&str, &str)],
    spec: &Spec,
) -> Vec<(String, String)> {
    let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    given.into_iter().chain(own).chain(spec.environment.iter().cloned()).collect()
}
