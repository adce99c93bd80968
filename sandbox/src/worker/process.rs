//! One worker process, as its host holds it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::frame::{self, Request};
use super::{Answer, Job};

/// How much of a worker's standard error is kept, in bytes: the first lines name the cause.
const STDERR: u64 = 4 << 10;

/// How long a worker that closed its output may take to end.
const ENDING: Duration = Duration::from_secs(2);

/// A worker process; killed when dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: JoinHandle<String>,
    /// Jobs done.
    pub jobs: u32,
    /// Time spent on them.
    pub busy: Duration,
}

/// How a job failed to produce an answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The process ended, or speaks nonsense; killed in either case.
    Ended(Cause),
    /// It said more than allowed.
    TooMuch,
}

/// Why a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// It wanted more memory than it may have.
    Memory,
    /// It used up its stack.
    Stack,
    /// It used up its processor time.
    Processor,
    /// Anything else.
    Crash,
}

impl Process {
    /// Takes a worker that was started.
    pub(super) fn of(mut child: Child) -> io::Result<Self> {
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        let errors = tokio::spawn(drain(errors));
        Ok(Self { child, input, output, errors, jobs: 0, busy: Duration::ZERO })
    }

    /// Whether it still runs, as far as can be seen.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Does one job. After a failure the process is of no use any more.
    pub(super) async fn run(
        &mut self,
        job: Job,
        body: &[u8],
        limit: u64,
    ) -> Result<Answer, Failure> {
        let request = Request { host: std::process::id(), job };
        let exchange = async {
            frame::send(&mut self.input, &request, body).await?;
            frame::receive(&mut self.output, limit).await
        };
        match exchange.await {
            Ok(head) => match serde_json::from_slice(&head) {
                Ok(answer) => Ok(answer),
                Err(_) => Err(Failure::Ended(Cause::Crash)),
            },
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(Failure::TooMuch),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(Failure::Ended(Cause::Crash))
            }
            Err(_) => Err(Failure::Ended(self.cause().await)),
        }
    }

    /// Waits for the end of a process that closed its output, and tells why it came.
    async fn cause(&mut self) -> Cause {
        let Ok(Ok(status)) = tokio::time::timeout(ENDING, self.child.wait()).await else {
            return Cause::Crash;
        };
        let text = tokio::time::timeout(ENDING, &mut self.errors).await;
        cause_of(status, text.ok().and_then(Result::ok).as_deref().unwrap_or_default())
    }
}

/// Reads the cause of an end from the signal and from what the language's runtime said.
fn cause_of(status: ExitStatus, stderr: &str) -> Cause {
    if stderr.contains("memory allocation of") || stderr.contains("out of memory") {
        Cause::Memory
    } else if stderr.contains("overflowed its stack") {
        Cause::Stack
    } else if status.signal() == Some(libc::SIGXCPU) {
        Cause::Processor
    } else {
        Cause::Crash
    }
}

/// Returns what starts a worker of that program.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("worker")
        .env_clear()
        // One thread, so that processor time is bounded by time.
        .env("RAYON_NUM_THREADS", "1")
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Reads all of a worker's standard error, so that it never waits, and keeps the beginning.
async fn drain(mut errors: ChildStderr) -> String {
    let mut kept = Vec::new();
    let _ = (&mut errors).take(STDERR).read_to_end(&mut kept).await;
    let _ = tokio::io::copy(&mut errors, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_apart() {
        let table = [
            (libc::SIGABRT, "memory allocation of 8589934592 bytes failed", Cause::Memory),
            (libc::SIGABRT, "thread 'x' has overflowed its stack", Cause::Stack),
            (libc::SIGXCPU, "", Cause::Processor),
            (libc::SIGSEGV, "", Cause::Crash),
        ];
        for (signal, stderr, want) in table {
            assert_eq!(cause_of(ExitStatus::from_raw(signal), stderr), want, "{signal} {stderr}");
        }
    }
}
