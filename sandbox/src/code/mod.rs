//! Where an agent's code runs: Python in WebAssembly.
//!
//! A call gets a fresh instance of an interpreter that was frozen with numpy and pandas
//! already imported, so it starts in a millisecond and nothing survives it but the files
//! of the workspace. Code reaches its workspace, a temporary directory, and what
//! [`HostCalls`] answers; there is no socket, no process, no thread and no environment.
//! What it sees depends on its source, its files, `now` and the seed, and on nothing else.

mod bridge;
mod budget;
mod clock;
mod engine;
mod entry;
mod prelude;
mod runtime;
pub mod setup;
mod stream;
mod system;
mod ticker;

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

pub use runtime::{Runtime, Slot};

use crate::seed::Seed;
use crate::workspace::Quota;

/// Limits of one execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processor time.
    pub cpu: Duration,
    /// Time that code may sleep, on the logical clock.
    pub sleep: Duration,
    /// Linear memory in bytes.
    pub memory: u64,
    /// Bytes kept of each of stdout and stderr; the rest is dropped and said so.
    pub output: usize,
}

impl Default for Limits {
    /// 60 s of processor time, 60 s of sleep, 1 GiB of memory, 1 MiB of each output.
    fn default() -> Self {
        let minute = Duration::from_mins(1);
        Self { cpu: minute, sleep: minute, memory: 1 << 30, output: 1 << 20 }
    }
}

/// What executed code may ask of the host, by name with JSON in and out.
pub trait HostCalls: Send + Sync {
    /// Answers one call; an error becomes a Python exception with that message.
    fn call(&self, name: String, arguments: Value) -> BoxFuture<'_, Result<Value, String>>;
}

/// One execution.
pub struct Execution<'a> {
    /// Python source.
    pub source: &'a str,
    /// The working directory: `/workspace` to the code, and all that it can change.
    pub workspace: &'a Utf8Path,
    /// What the workspace and the temporary directory may hold together.
    pub quota: Quota,
    /// Where the execution's temporary directory is made, and removed at its end.
    pub scratch: &'a Utf8Path,
    /// The logical time at which it starts.
    pub now: Timestamp,
    /// From which `random`, numpy's generators and `os.urandom` draw. The hash seed is the
    /// same in every execution, since it is frozen with the interpreter.
    pub seed: Seed,
    /// Limits.
    pub limits: Limits,
    /// What the code may ask of the host.
    pub host: Arc<dyn HostCalls>,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// The code ended by itself with this status (1 after an uncaught exception).
    Status(i32),
    /// A limit ended it; the text names the limit and its size.
    Limit(String),
    /// The interpreter trapped, as after `os.abort()`.
    Crash(String),
}

/// What an execution left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// Standard output, including the echoed value of a last expression.
    pub stdout: String,
    /// Standard error, including a traceback in the user's line numbers.
    pub stderr: String,
    /// Bytes of stdout and stderr that were dropped.
    pub dropped: (u64, u64),
    /// How it ended.
    pub exit: Exit,
}

/// Why code cannot be run at all.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The runtime was not set up on this machine.
    #[error("the code runtime is not set up on this machine")]
    Missing,
    /// It is there but must not or cannot be used.
    #[error("the code runtime cannot be used: {0}")]
    Unusable(String),
}
