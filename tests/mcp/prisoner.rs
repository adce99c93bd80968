//! A contained program that tries to see, reach and outlive what it must not.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::common::{Place, transcripts};
use super::program::{contains, outcome, python};
use super::suite::{self, SECRET};

/// A key in the environment of the gym.
const KEY: &str = "sk-of-the-gym-4711";

/// What a child does that means to outlive the attempt: it makes a mark in the workspace, again
/// and again.
const DAEMON: &str = "import time\nwhile True: time.sleep(0.05)";

/// Returns an address of this machine that is not its loopback, where it has one.
fn own_address() -> String {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let asked = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
    asked.map_or("127.0.0.2".to_owned(), |address| address.ip().to_string())
}

/// Returns how many processes have a word among their arguments.
pub(crate) fn processes(word: &str) -> usize {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let arguments = folders.filter_map(|folder| std::fs::read(folder.path().join("cmdline")).ok());
    arguments.filter(|bytes| String::from_utf8_lossy(bytes).contains(word)).count()
}

/// Returns whether bubblewrap here keeps programs from making user namespaces.
fn closes() -> bool {
    wildgym_sandbox::guest::bubblewrap()
        .is_ok_and(|program| wildgym_sandbox::guest::Cage::closes(&program))
}

struct Prison {
    place: Place,
    orders: Value,
    mark: String,
    _listeners: (TcpListener, UnixListener),
}

/// Prisons so far.
static COUNT: AtomicU32 = AtomicU32::new(0);

impl Prison {
    /// Writes a suite, a finished run of it, and the program beside them: in a folder that
    /// holds them all.
    fn build(stay: bool) -> Self {
        let place = Place::new();
        let suite = suite::write(place.path());
        let before = ["run", "suite", "--name", "before", "-k", "1", "--quiet"];
        assert_eq!(place.wildgym(&before).code, Some(0));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/prisoner.py");
        std::fs::copy(script, place.path().join("prisoner.py")).unwrap();
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("mark-{}-{number}.", std::process::id());
        let address = SocketAddr::from_abstract_name(&mark).unwrap();
        let socket = UnixListener::bind_addr(&address).unwrap();
        let paths = [
            suite.join("tasks/mc-sum/reference"),
            suite.join("tasks/mc-sum/task.toml"),
            place.path().join("runs/before/run.toml"),
            place.path().join("runs"),
            env!("CARGO_BIN_EXE_wildgym").into(),
            super::common::cache().join("suites").into_std_path_buf(),
            "/root".into(),
            "/etc/shadow".into(),
            "/sys".into(),
            env!("CARGO_MANIFEST_DIR").into(),
        ];
        let orders = json!({
            "paths": paths, "secrets": [SECRET, KEY], "port": listener.local_addr().unwrap().port(),
            "address": own_address(), "abstract": mark, "mark": mark, "daemon": DAEMON,
            "stay": stay, "walk": false, "closed": closes(),
        });
        Self { place, orders, mark, _listeners: (listener, socket) }
    }

    /// Runs the program as an agent, and returns how the attempt ended.
    fn run(&self, more: &[&str]) -> Value {
        let mut orders = self.orders.clone();
        // The whole machine would take an hour.
        orders["walk"] = (!more.contains(&"--uncontained") && orders["stay"] == false).into();
        let command = format!("{} prisoner.py '{orders}'", python());
        let mut args = vec!["run", "suite", "--agent-cmd", &command, "--name", "prison", "-k", "1"];
        args.extend(more);
        let ran = self.place.command(&args).env("OPENAI_API_KEY", KEY).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!said.contains("error:"), "{said}");
        let mut end = outcome(&self.place, "prison");
        if let Some(blob) = end["answer"]["blob"].as_str() {
            let path = self.place.path().join("runs/prison/blobs").join(blob);
            end["answer"] = std::fs::read_to_string(path).unwrap().into();
        }
        end
    }

    /// Waits until no process of the program is left; they must be gone when the run ends, but
    /// the system may still be burying them.
    fn is_empty(&self) {
        let begin = Instant::now();
        while processes(&self.mark) > 0 {
            assert!(begin.elapsed() < Duration::from_secs(20), "something outlived the run");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What the machine's own programs can do, so that the next story proves something.
#[test]
fn without_walls_everything_is_seen() {
    if !contains() {
        return;
    }
    let prison = Prison::build(false);
    let end = prison.run(&["--uncontained"]);
    let got = end["answer"].as_str().unwrap_or_default().to_owned();
    for what in ["listed", "read", "connected", "abstract"] {
        assert!(got.contains(what), "`{what}` is missing: {got} {end}");
    }
    prison.is_empty();
    let label = prison.place.wildgym(&["report", "runs/prison"]);
    assert!(label.out.contains("agent program (uncontained)"), "{}", label.out);
    let label = prison.place.wildgym(&["report", "runs/prison", "--json"]).json();
    assert_eq!(label["label"]["uncontained"], true);
}

#[test]
fn a_contained_program_gets_nothing() {
    if !contains() {
        return;
    }
    let prison = Prison::build(false);
    let end = prison.run(&[]);
    assert_eq!(end["outcome"], "answered", "{end}");
    assert_eq!(end["answer"], "[]", "it must have got nothing");
    prison.is_empty();
    let label = prison.place.wildgym(&["report", "runs/prison"]);
    assert!(!label.out.contains("uncontained"), "{}", label.out);
}

#[test]
fn a_program_does_not_outlive_its_limit() {
    if !contains() {
        return;
    }
    for walls in [&["--seconds", "4"][..], &["--seconds", "4", "--uncontained"]] {
        let prison = Prison::build(true);
        let end = prison.run(walls);
        assert_eq!(end["outcome"], "limit:time", "{end}");
        prison.is_empty();
        let all = transcripts(&prison.place.path().join("runs/prison"));
        assert_eq!(all.len(), 1);
    }
}

/// Whatever ends the gym ends the program too.
#[test]
fn a_program_does_not_outlive_the_gym() {
    if !contains() {
        return;
    }
    for walls in [&["--quiet"][..], &["--uncontained"]] {
        let prison = Prison::build(true);
        let command = format!("{} prisoner.py '{}'", python(), prison.orders);
        let mut args = vec!["run", "suite", "--agent-cmd", &command, "--name", "prison", "-k", "1"];
        args.extend(walls);
        let mut gym = prison.place.start(&args);
        let begin = Instant::now();
        // The gym itself has the mark among its arguments; the program and its child have it too.
        while processes(&prison.mark) < 3 {
            assert!(begin.elapsed() < Duration::from_mins(1), "the program does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        gym.kill().unwrap();
        gym.wait().unwrap();
        prison.is_empty();
    }
}

/// What a program fills is bounded in sum, whether its files still have names or not, and in
/// whatever folder they lie.
#[test]
fn a_program_cannot_fill_the_disk() {
    if !contains() {
        return;
    }
    let table = [
        ("many files", "open(f'{n}', 'wb').truncate(200 << 20)", "MiB, and 1024 are allowed"),
        ("one folder deep", "os.makedirs(f'{n}'); open(f'{n}/x', 'wb').truncate(200 << 20)", "MiB"),
        (
            "files without a name",
            "f = open('x', 'wb'); f.truncate(200 << 20); os.remove('x'); kept.append(f)",
            "MiB, and 1024 are allowed",
        ),
        (
            "beside its answer",
            "open(f'{os.path.dirname(os.environ[\"WILDGYM_ANSWER_FILE\"])}/{n}', 'wb')\
             .truncate(200 << 20)",
            "MiB, and 1024 are allowed",
        ),
    ];
    for (name, step, words) in table {
        let place = Place::new();
        suite::write(place.path());
        std::fs::create_dir(place.path().join("agent")).unwrap();
        let text = format!(
            "import os, time\nkept = []\nfor n in range(8):\n    {step}\ntime.sleep(600)\n"
        );
        std::fs::write(place.path().join("agent/fill.py"), text).unwrap();
        let command = format!("{} agent/fill.py", python());
        let args =
            ["run", "suite", "--agent-cmd", &command, "--name", "full", "-k", "1", "--quiet"];
        let ran = place.wildgym(&args);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        let end = outcome(&place, "full");
        assert_eq!(end["outcome"], "no-answer", "{name}: {end}");
        assert!(end["detail"].as_str().unwrap().contains(words), "{name}: {end}");
    }
}

/// No single file grows beyond what it may, and a folder that is shut hides nothing from the
/// record but itself.
#[test]
fn files_of_a_program_are_bounded_and_kept() {
    const TEXT: &str = "
import os
os.makedirs('shut')
open('shut/in', 'w').write('in')
open('out', 'w').write('out')
os.chmod('shut', 0)
said = [os.statvfs(place).f_blocks * os.statvfs(place).f_frsize >> 20 for place in ('/tmp', '/dev/shm')]
try:
    with open('large', 'wb') as file:
        file.truncate(300 << 20)
    said.append('grew')
except OSError as error:
    said.append(error.errno)
print(said)
";
    if !contains() {
        return;
    }
    let place = Place::new();
    suite::write(place.path());
    std::fs::create_dir(place.path().join("agent")).unwrap();
    std::fs::write(place.path().join("agent/files.py"), TEXT).unwrap();
    let command = format!("{} agent/files.py", python());
    let args = ["run", "suite", "--agent-cmd", &command, "--name", "files", "-k", "1", "--quiet"];
    let ran = place.wildgym(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let end = outcome(&place, "files");
    // 27 is `EFBIG`.
    assert_eq!(end["answer"], "[512, 512, 27]", "{end}");
    assert!(end["files"].to_string().contains("out"), "{end}");
}
