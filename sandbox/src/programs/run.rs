//! Running a program: started, watched, and ended at a limit or with the call.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use super::confine::Confinement;
use super::find::{self, Engine, Search};
use super::{Folder, Program, ProgramError};
use crate::starter::Starter;
use crate::worker::Containment;

/// How often the size of a call's directory is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// How much of a program's last words is told, in bytes.
const WORDS: usize = 600;

/// Limits of one call of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time that it may take.
    pub wall: Duration,
    /// Memory in bytes.
    pub memory: u64,
    /// Bytes on standard output; standard error is kept up to as many.
    pub output: u64,
    /// Bytes of all files of the call together, those given to it among them.
    pub files: u64,
}

impl Default for Limits {
    /// 60 s, 1 GiB of memory, 16 MiB of output, 512 MiB of files.
    fn default() -> Self {
        Self { wall: Duration::from_mins(1), memory: 1 << 30, output: 16 << 20, files: 512 << 20 }
    }
}

/// What a program said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: String,
    /// The files that it left, by name, in order; not those that it was given, unless it
    /// changed them. Empty for a call in a [`Folder`] of the caller's.
    pub files_out: Vec<(String, Vec<u8>)>,
}

/// The foreign programs of this machine.
#[derive(Debug)]
pub struct Programs {
    /// The program whose mode `confine` becomes them.
    program: PathBuf,
    /// Where the directories of calls are made.
    scratch: PathBuf,
    found: BTreeMap<Program, Engine>,
    slots: Semaphore,
    starter: Starter,
}

impl Programs {
    /// Looks the programs up. They are started by `program confine`, at most `count` at a
    /// time, each in a directory below `scratch`.
    #[must_use]
    pub fn new(program: PathBuf, scratch: PathBuf, count: usize, search: Search) -> Self {
        Self {
            program,
            scratch,
            found: find::find(search),
            slots: Semaphore::new(count.max(1)),
            starter: Starter::default(),
        }
    }

    /// Returns a machine without any.
    #[must_use]
    pub fn none() -> Self {
        Self::new(PathBuf::new(), PathBuf::new(), 1, Search::default())
    }

    /// Returns where a program is, where it is there.
    #[must_use]
    pub fn path(&self, program: Program) -> Option<&Path> {
        self.found.get(&program).map(|engine| engine.program.as_path())
    }

    /// Tells whether a program is there.
    #[must_use]
    pub fn has(&self, program: Program) -> bool {
        self.found.contains_key(&program)
    }

    /// Makes a directory for several calls that work on the same files.
    pub fn folder(&self) -> Result<Folder, ProgramError> {
        // Every caller goes on to run something; which program that is does not matter here.
        Folder::create(&self.scratch).map_err(|error| broken(Program::Ffmpeg, &error))
    }

    /// Runs a program on these files, in a directory that lives as long as this call.
    ///
    /// Arguments name files as they are named here. The call waits for a free core. It is
    /// an error where the program ends with any other status than zero.
    pub async fn run(
        &self,
        program: Program,
        arguments: &[&str],
        files_in: &[(&str, &[u8])],
        limits: &Limits,
    ) -> Result<Ran, ProgramError> {
        let failed = |error: std::io::Error| broken(program, &error);
        if !self.has(program) {
            return Err(ProgramError::Missing(program));
        }
        let folder = Folder::create(&self.scratch).map_err(failed)?;
        for (name, bytes) in files_in {
            folder.put(name, bytes).map_err(failed)?;
        }
        let mut ran = self.run_in(&folder, program, arguments, limits).await?;
        for name in folder.names().map_err(failed)? {
            let given = files_in.iter().find(|(given, _)| *given == name);
            if let Some(bytes) = folder.read(&name).map_err(failed)?
                && given.is_none_or(|(_, given)| *given != bytes)
            {
                ran.files_out.push((name, bytes));
            }
        }
        Ok(ran)
    }

    /// Runs a program in a directory of the caller's.
    pub async fn run_in(
        &self,
        folder: &Folder,
        program: Program,
        arguments: &[&str],
        limits: &Limits,
    ) -> Result<Ran, ProgramError> {
        let engine = self.found.get(&program).ok_or(ProgramError::Missing(program))?;
        let _slot = self.slots.acquire().await.map_err(|error| broken(program, &error))?;
        let mut command = self.confined(folder, &engine.reads, limits);
        command
            .arg(&engine.program)
            .args(&engine.arguments)
            .args(arguments)
            .envs(engine.environment.iter().map(|(name, value)| (name, value)));
        self.watch(command, folder, program, limits).await
    }

    /// Lets a confined process try what it must not be able to do.
    pub async fn containment(&self) -> Result<Containment, ProgramError> {
        let program = Program::Ffmpeg;
        let folder = Folder::create(&self.scratch).map_err(|error| broken(program, &error))?;
        let limits = Limits::default();
        let mut command = self.confined(&folder, &[], &limits);
        // What is tried is to write beside the directory of the call.
        command.env_remove("TMPDIR");
        let ran = self.watch(command, &folder, program, &limits).await?;
        serde_json::from_slice(&ran.stdout).map_err(|error| broken(program, &error))
    }

    /// Returns the command that becomes a program, up to the program itself.
    fn confined(&self, folder: &Folder, reads: &[PathBuf], limits: &Limits) -> Command {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        let confinement = Confinement {
            host: std::process::id(),
            folder: folder.path().to_owned(),
            reads: reads.to_vec(),
            memory: limits.memory,
            processor: (limits.wall.as_secs() + 1).saturating_mul(cores),
            file: limits.files,
        };
        let mut command = Command::new(&self.program);
        let home: &OsStr = folder.path().as_os_str();
        command
            .arg("confine")
            .arg(serde_json::to_string(&confinement).unwrap_or_default())
            .env_clear()
            .envs([("LANG", "C.UTF-8"), ("TZ", "UTC")])
            .envs([("HOME", home), ("TMPDIR", home), ("XDG_CACHE_HOME", home)])
            .current_dir(folder.path())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Starts a command and waits for its end, or ends it at a limit.
    async fn watch(
        &self,
        command: Command,
        folder: &Folder,
        program: Program,
        limits: &Limits,
    ) -> Result<Ran, ProgramError> {
        let child = self.starter.start(command).await.map_err(|error| broken(program, &error))?;
        let mut group = Group::of(child);
        let (Some(stdout), Some(stderr)) = (group.child.stdout.take(), group.child.stderr.take())
        else {
            return Err(broken(program, &"it has no pipes"));
        };
        let stopped = |limit: String| ProgramError::Stopped { program, limit };
        let ended = async {
            let said =
                async { tokio::join!(all(stdout, limits.output), most(stderr, limits.output)) };
            let (out, err) = said.await;
            (out, err, group.child.wait().await)
        };
        let (out, err, status) = tokio::select! {
            ended = tokio::time::timeout(limits.wall, ended) => ended.map_err(|_| {
                stopped(format!("it took longer than {} s", limits.wall.as_secs_f64()))
            })?,
            () = overflows(folder, limits.files) => {
                return Err(stopped(format!("it wrote more than {} MiB", limits.files >> 20)));
            }
        };
        let status = status.map_err(|error| broken(program, &error))?;
        let stderr = without_addresses(&String::from_utf8_lossy(&err));
        let Some(out) = out else {
            return Err(stopped(format!("it said more than {} MiB", limits.output >> 20)));
        };
        if folder.bytes() > limits.files {
            return Err(stopped(format!("it wrote more than {} MiB", limits.files >> 20)));
        }
        if status.success() {
            return Ok(Ran { stdout: out, stderr, files_out: Vec::new() });
        }
        Err(why(program, status, &stderr, limits))
    }
}

/// A child with its process group, which is killed with it.
#[derive(Debug)]
struct Group {
    child: Child,
    leader: Option<Pid>,
}

impl Group {
    fn of(child: Child) -> Self {
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Self { child, leader }
    }
}

impl Drop for Group {
    /// Where the kernel lets a program start others, they are of its group; one that was
    /// waited for has ended, and its number may be another's.
    fn drop(&mut self) {
        if let (Some(leader), Ok(None)) = (self.leader, self.child.try_wait()) {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Completes when the directory holds too much.
async fn overflows(folder: &Folder, limit: u64) {
    let mut looks = tokio::time::interval(LOOK);
    loop {
        looks.tick().await;
        if folder.bytes() > limit {
            return;
        }
    }
}

/// Reads all that a program says; none where that is more than the limit, at which the
/// pipe is closed.
async fn all(mut pipe: impl AsyncRead + Unpin, limit: u64) -> Option<Vec<u8>> {
    let mut said = Vec::new();
    let _ = (&mut pipe).take(limit.saturating_add(1)).read_to_end(&mut said).await;
    (said.len() as u64 <= limit).then_some(said)
}

/// Reads all that a program says, so that it never waits, and keeps the beginning.
async fn most(mut pipe: impl AsyncRead + Unpin, limit: u64) -> Vec<u8> {
    let mut kept = Vec::new();
    let _ = (&mut pipe).take(limit).read_to_end(&mut kept).await;
    let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    kept
}

/// Reads from the end of a process why it came.
fn why(program: Program, status: ExitStatus, stderr: &str, limits: &Limits) -> ProgramError {
    let stopped = |limit: String| ProgramError::Stopped { program, limit };
    let memory = ["Cannot allocate memory", "bad_alloc", "MemoryError", "out of memory"];
    let lasting = stderr.trim_end();
    match status.signal() {
        _ if memory.iter().any(|sign| lasting.contains(sign)) => {
            stopped(format!("it needs more than {} MiB of memory", limits.memory >> 20))
        }
        Some(libc::SIGXCPU) => stopped("it needs too much processor time".to_owned()),
        Some(libc::SIGXFSZ) => stopped(format!("it wrote more than {} MiB", limits.files >> 20)),
        Some(signal) if lasting.is_empty() => {
            ProgramError::Failed { program, said: format!("it crashed (signal {signal})") }
        }
        None if lasting.is_empty() => {
            let code = status.code().unwrap_or_default();
            ProgramError::Failed { program, said: format!("it ended with status {code}") }
        }
        Some(_) | None => ProgramError::Failed { program, said: last_words(lasting) },
    }
}

/// Takes out where in its memory a program found something (`[mov @ 0x55…]`), which is
/// another place each time.
fn without_addresses(said: &str) -> String {
    static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(" @ 0x[0-9a-f]+").ok());
    match &*ADDRESS {
        Some(address) => address.replace_all(said, "").into_owned(),
        None => said.to_owned(),
    }
}

/// Returns the end of what was said, in one line.
fn last_words(said: &str) -> String {
    let start = said.ceil_char_boundary(said.len().saturating_sub(WORDS));
    let lines: Vec<&str> = said[start..].lines().map(str::trim).collect();
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

fn broken(program: Program, error: &dyn std::fmt::Display) -> ProgramError {
    ProgramError::Broken { program, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_the_same_each_time() {
        let said = "[mov,mp4 @ 0x55d0ab12] moov atom not found\n[svg @ 0x7f] no; mail me @ 0800";
        let want = "[mov,mp4] moov atom not found\n[svg] no; mail me @ 0800";
        assert_eq!(without_addresses(said), want);
    }

    #[test]
    fn the_end_of_a_program_is_explained() {
        let limits = Limits::default();
        let table = [
            (libc::SIGXCPU, "", "processor time", "the limit of processor time"),
            (libc::SIGXFSZ, "", "wrote more than 512 MiB", "the limit of files"),
            (libc::SIGSEGV, "", "crashed (signal 11)", "a crash without words"),
            (libc::SIGABRT, "what(): std::bad_alloc", "1024 MiB of memory", "no memory"),
            (1 << 8, "", "ended with status 1", "no words"),
            (1 << 8, "a: moov\n\nInvalid data\n", "a: moov; Invalid data", "its words"),
        ];
        for (status, stderr, expected, reason) in table {
            let error = why(Program::Ffmpeg, ExitStatus::from_raw(status), stderr, &limits);
            assert!(error.to_string().contains(expected), "{reason}: {error}");
        }
    }

    #[test]
    fn last_words_are_the_last_and_whole_characters() {
        let said = last_words(&("é".repeat(400) + "\nend"));
        assert!(said.ends_with("é; end") && said.len() <= WORDS + 2, "{}", said.len());
    }
}
