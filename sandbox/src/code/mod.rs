//! Where an agent's code runs: Python in WebAssembly.

mod clock;
mod engine;
mod entry;
mod prelude;
pub mod setup;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

use crate::seed::Seed;
use crate::workspace::Workspace;

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
        let minute = Duration::from_secs(60);
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
    /// The working directory.
    pub workspace: &'a Workspace,
    /// The logical time at which it starts.
    pub now: Timestamp,
    /// From which `random`, numpy's generator, the hash seed and `random_get` draw.
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

/// The compiled runtime, shared by all attempts of a process.
#[derive(Debug)]
pub struct Runtime {}

impl Runtime {
    /// Loads what `wildgym setup` prepared below `home`.
    pub fn load(home: &Utf8Path) -> Result<Self, RuntimeError> {
        let _ = home;
        todo!()
    }

    /// Runs code in a fresh instance.
    pub async fn execute(&self, execution: Execution<'_>) -> Result<Executed, RuntimeError> {
        let _ = execution.source;
        todo!()
    }
}
