//! A guest and its keeper.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::browser::see_off;

/// How often it is looked whether a guest has ended.
const LOOK: Duration = Duration::from_millis(20);

/// How a guest is started.
#[derive(Debug)]
pub struct Start {
    /// The program whose mode `keeper` is the keeper: the gym's own.
    pub keeper: PathBuf,
    /// The guest's program and its arguments.
    pub command: Vec<OsString>,
    /// All of its environment.
    pub environment: Vec<(String, String)>,
    /// Where it starts.
    pub folder: PathBuf,
    /// What it reads on standard input.
    pub input: File,
    /// The file that its standard error goes to.
    pub errors: PathBuf,
}

/// A running guest. Dropping it ends it and all that it started, which takes some hundredths
/// of a second; then nothing of it is left.
#[derive(Debug)]
pub struct Guest {
    keeper: Child,
    /// While this is open, the keeper lets the guest live.
    lifeline: Option<ChildStderr>,
}

/// How a guest ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its exit status: 128 and the signal where one ended it; none where that is unknown.
    pub status: Option<i32>,
    /// Why it could not be kept, where the keeper failed: its program could not be started, say.
    pub failed: Option<String>,
}

/// The most that a keeper says, in bytes.
const WORDS: u64 = 4 << 10;

impl Guest {
    /// Starts a guest; returns it with its standard output.
    pub fn start(start: Start) -> io::Result<(Self, ChildStdout)> {
        let mut command = Command::new(&start.keeper);
        command.args(["keeper", "--guest"]).arg(&start.errors).args(&start.command);
        command
            .env_clear()
            .envs(start.environment)
            .current_dir(&start.folder)
            .process_group(0)
            .stdin(start.input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut keeper = command.spawn()?;
        let (lifeline, output) = (keeper.stderr.take(), keeper.stdout.take());
        let guest = Self { keeper, lifeline };
        output
            .map(|output| (guest, output))
            .ok_or_else(|| io::Error::other("it has no standard output"))
    }

    /// Returns the number of the keeper's process, below which all of the guest's are.
    #[must_use]
    pub fn keeper(&self) -> u32 {
        self.keeper.id()
    }

    /// Returns what a keeper that has ended said: it speaks only where it failed.
    fn failed(&mut self) -> Option<String> {
        let mut said = Vec::new();
        let _cut = self.lifeline.take()?.take(WORDS).read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        Some(said).filter(|said| !said.is_empty())
    }

    /// Completes when the guest has ended by itself, and all that it started with it.
    pub async fn ended(&mut self) -> io::Result<Left> {
        loop {
            if let Some(status) = self.keeper.try_wait()? {
                return Ok(Left { status: status.code(), failed: self.failed() });
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        see_off(&mut self.keeper);
    }
}
