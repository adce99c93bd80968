//! A server that runs: its pipes, what it said last, and its end.

use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// How much of what a server says on standard error is kept, in bytes: the end of it.
const KEPT: usize = 8 << 10;

/// How much of that is told, in bytes.
const TOLD: usize = 400;

/// How long a keeper may take to end everything.
const ENDING: Duration = Duration::from_secs(5);

/// What is said to a server and what it says.
#[derive(Debug)]
pub struct Pipes {
    /// Its standard input. Closing it ends the server.
    pub input: ChildStdin,
    /// Its standard output.
    pub output: ChildStdout,
}

/// A server that runs, or ran.
#[derive(Debug)]
pub struct Process {
    keeper: tokio::sync::Mutex<Child>,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Process {
    /// Starts a server by its keeper. It lives until the input of its pipes is closed, by
    /// whomever and for whatever reason.
    pub(super) fn start(mut command: Command) -> std::io::Result<(Self, Pipes)> {
        let mut keeper = command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pipes = (keeper.stdin.take(), keeper.stdout.take(), keeper.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(std::io::Error::other("it has no pipes"));
        };
        let said = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(keep_end(errors, Arc::clone(&said)));
        Ok((Self { keeper: tokio::sync::Mutex::new(keeper), said }, Pipes { input, output }))
    }

    /// Waits for the end of a server whose input is closed, or that ended by itself; one that
    /// does not end is killed. Returns how it ended, for people.
    pub async fn end(&self) -> String {
        let mut keeper = self.keeper.lock().await;
        let ended = tokio::time::timeout(ENDING, keeper.wait()).await;
        if ended.is_err() {
            let _ = keeper.kill().await;
        }
        let status = ended.ok().and_then(Result::ok);
        let how = status.map_or_else(|| "it did not end".to_owned(), how);
        match self.last_words() {
            Some(words) => format!("{how}; it said last: {words}"),
            None => how,
        }
    }

    /// Returns the end of what it said on standard error, in one line, where it said anything.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let end = said.get(said.len().saturating_sub(TOLD)..).unwrap_or_default();
        let shown: String = String::from_utf8_lossy(end)
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let words: Vec<&str> = shown.split_whitespace().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// Reads all that a server says, so that it never waits, and keeps the end.
async fn keep_end(mut errors: impl AsyncRead + Unpin, said: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 4 << 10];
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&buffer[..count]);
        if said.len() > 2 * KEPT {
            let old = said.len() - KEPT;
            said.drain(..old);
        }
    }
}

/// Says how a process ended.
fn how(status: ExitStatus) -> String {
    match status.code() {
        Some(code @ 129..=192) => format!("it was ended by signal {}", code - 128),
        Some(code) => format!("it ended with status {code}"),
        None => "its keeper was killed".to_owned(),
    }
}
