//! Proxies, clients and servers for these stories.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wildgym::fault::{Fault, Observed, Profile, Schedule};
use wildgym_sandbox::Seed;

use crate::common::Place;

/// The program that does on request what no server should.
pub(crate) const SERVER: &str = env!("CARGO_BIN_EXE_wildgym-hostile-server");

/// What the tool `echo` is asked to return: words, numbers and a date.
pub(crate) const SAID: &str =
    "The harbour ferry has 120 seats on 2026-03-01.\nThe island ferry has 64 seats.\n";

/// A message of a client.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params })
}

/// A proxy before a program, and the client's ends of its pipes.
pub(crate) struct Proxied {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Drop for Proxied {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

impl Proxied {
    /// Starts `wildgym inject` with flags before the server with arguments.
    pub(crate) fn start(place: &Place, flags: &[&str], server: &[&str]) -> Self {
        let mut command = place.command(&[&["inject"], flags, &["--", SERVER], server].concat());
        Self::of(command.stderr(Stdio::piped()))
    }

    /// Starts the server itself.
    pub(crate) fn direct(server: &[&str]) -> Self {
        Self::of(Command::new(SERVER).args(server).stderr(Stdio::null()))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), child, output }
    }

    /// Says something as it is.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.say(format!("{message}\n").as_bytes());
    }

    /// Returns the next line as it is; an empty one at the end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn next(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Makes a call and returns its reply.
    pub(crate) fn ask(&mut self, id: u64, tool: &str, arguments: Value) -> Value {
        self.send(&call(id, tool, arguments));
        self.next()
    }

    /// Closes the client's ends, as if it were killed, and returns the process.
    pub(crate) fn dissolve(mut self) -> Child {
        self.input = None;
        let place = std::process::Command::new("true").stdout(Stdio::piped()).spawn();
        let mut stand_in = place.unwrap();
        self.output = BufReader::new(stand_in.stdout.take().unwrap());
        std::mem::replace(&mut self.child, stand_in)
    }

    /// Says no more.
    pub(crate) fn hush(&mut self) {
        self.input = None;
    }

    /// Returns all that is still said, as it is.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        rest
    }

    /// Waits for the end; returns the status and what was said on standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap().code();
        let mut said = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut said).unwrap();
        }
        (status, said)
    }
}

/// A proxy before an address.
pub(crate) struct Listening {
    pub(crate) child: Child,
    /// Its own address.
    pub(crate) url: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

impl Listening {
    /// Starts `wildgym inject` with flags before a server.
    pub(crate) fn start(place: &Place, flags: &[&str], upstream: &str) -> Self {
        let fixed = ["--upstream", upstream, "--listen", "127.0.0.1:0"];
        let mut command = place.command(&[&["inject"], flags, &fixed].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

/// Writes a profile of one entry and returns its path.
pub(crate) fn profile(place: &Place, name: &str, entry: &str, head: &str) -> String {
    let text = format!(
        "format = 1\nname = \"{name}\"\nversion = \"1\"\ndescription = \"for a test\"\n{head}\n\
         [[entry]]\nweight = 1\n{entry}\n"
    );
    let path = place.path().join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Decides about calls as a run in process would, from a profile and a seed alone.
pub(crate) fn decided(profile: &str, seed: u64, calls: &[(&str, &Value)]) -> Vec<Option<Fault>> {
    let profile = Arc::new(Profile::open(profile).unwrap());
    let mut schedule = Schedule::new(profile, Seed::of_run(seed).child("faults", 0));
    let decide = |(index, (tool, arguments)): (usize, &(&str, &Value))| {
        let (ingress, arguments) = ((index + 1).to_string(), arguments.to_string());
        let server = "wildgym-hostile-server";
        schedule.decide(&Observed { ingress: &ingress, server, tool, arguments: &arguments })
    };
    calls.iter().enumerate().map(decide).collect()
}

/// Returns the lines of a log.
pub(crate) fn log(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until something holds, for as long as a loaded machine may need.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_mins(1), "{what} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns whether a process is there and not only unburied.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}
