//! The compiled runtime, and one execution of it.
//!
//! Every execution has an instance, a thread, a temporary directory and streams of its
//! own; nothing of them is left when it ends. As many run at a time as the machine has
//! processors, the others wait, and waiting does not count. Three things end a program
//! that does not end itself: its processor time, seen at every beat of the ticker; its
//! sleep, on the logical clock; and the caller, who may drop the execution at any time.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use wasmtime::{
    Engine, InstancePre, Linker, Module, Store, StoreLimits, StoreLimitsBuilder, Trap,
    UpdateDeadline,
};
use wasmtime_wasi::p1::wasi_snapshot_preview1;
use wasmtime_wasi::{I32Exit, WasiCtxBuilder};

use super::bridge::{self, Bridge};
use super::budget::Budget;
use super::clock::GuestClock;
use super::setup::Layout;
use super::stream::Stream;
use super::system::{Stop, System};
use super::ticker::Ticker;
use super::{Executed, Execution, Exit, Limits, RuntimeError, engine, entry, prelude};
use crate::seed::Seed;

/// Elements of the table of functions; the interpreter needs about 60,000.
const TABLE: usize = 200_000;

/// Real time after which an execution ends whatever it waits for, in multiples of its
/// processor time. A backstop: the caller's own limit comes first.
const PATIENCE: u32 = 20;

/// What belongs to one instance.
pub(super) struct Guest {
    system: System,
    limits: StoreLimits,
    pub(super) bridge: Bridge,
}

/// The compiled runtime, shared by all attempts of a process.
pub struct Runtime {
    shared: Arc<Shared>,
    slots: Arc<Semaphore>,
    /// How many slots there are.
    all: usize,
}

struct Shared {
    engine: Engine,
    ready: InstancePre<Guest>,
    layout: Layout,
    ticker: Ticker,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("layout", &self.shared.layout).finish_non_exhaustive()
    }
}

impl Runtime {
    /// Loads what `wildgym setup` prepared below `home`, with one slot per processor.
    pub fn load(home: &Utf8Path) -> Result<Self, RuntimeError> {
        let unusable = |error: wasmtime::Error| RuntimeError::Unusable(format!("{error:#}"));
        let engine = engine::engine().map_err(unusable)?;
        let layout = Layout::new(home, &engine);
        if !layout.complete() {
            return Err(RuntimeError::Missing);
        }
        layout.check().map_err(RuntimeError::Unusable)?;
        let module = load(&engine, &layout.code()).map_err(|error| {
            RuntimeError::Unusable(format!("{error:#}; remove `{}`", layout.folder()))
        })?;
        let ready = link(&engine, &module).map_err(unusable)?;
        let ticker = Ticker::start(&engine)
            .map_err(|error| RuntimeError::Unusable(format!("cannot start a thread: {error}")))?;
        let all = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let shared = Arc::new(Shared { engine, ready, layout, ticker });
        Ok(Self { shared, slots: Arc::new(Semaphore::new(all)), all })
    }

    /// Waits for a slot.
    pub async fn slot(&self) -> Result<Slot, RuntimeError> {
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        slot.map(Slot).map_err(|error| RuntimeError::Unusable(error.to_string()))
    }

    /// Waits until no execution runs: those whose callers are gone end by themselves
    /// within some ten milliseconds.
    pub async fn idle(&self) {
        let all = u32::try_from(self.all).unwrap_or(u32::MAX);
        drop(self.slots.acquire_many(all).await);
    }

    /// Waits for a slot and runs code in it.
    pub async fn execute(&self, execution: Execution<'_>) -> Result<Executed, RuntimeError> {
        let slot = self.slot().await?;
        self.execute_in(slot, execution).await
    }

    /// Runs code in a fresh instance. Its temporary directory is removed after the answer,
    /// before the slot is free again.
    ///
    /// When the returned future is dropped, the execution ends within some ten
    /// milliseconds, and its temporary directory is removed.
    pub async fn execute_in(
        &self,
        slot: Slot,
        execution: Execution<'_>,
    ) -> Result<Executed, RuntimeError> {
        let lost = |reason: String| RuntimeError::Unusable(reason);
        let job = Job::new(&self.shared, &self.slots, slot.0, execution);
        let job = job.map_err(|error| lost(format!("{error:#}")))?;
        // Dropped with this future, and the thread sees it.
        let (_alive, gone) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel();
        let handle = tokio::runtime::Handle::current();
        let work = tokio::task::spawn_blocking(move || handle.block_on(job.run(gone, tell)));
        let Ok(done) = told.await else {
            // It ended without a word: it panicked.
            let reason = work.await.err().map_or_else(String::new, |error| error.to_string());
            return Err(lost(reason));
        };
        done.map_err(|error| lost(format!("{error:#}")))
    }
}

/// The right to run one execution; as many are given out as there are processors.
#[derive(Debug)]
pub struct Slot(OwnedSemaphorePermit);

/// Loads compiled code.
#[expect(unsafe_code, reason = "compiled code cannot be verified; who may write it was checked")]
fn load(engine: &Engine, code: &Utf8Path) -> wasmtime::Result<Module> {
    // SAFETY: setup made the file for this very engine (its directory is named after it),
    // and `Layout::check` found that nobody but this user or root can write it.
    unsafe { Module::deserialize_file(engine, code) }
}

fn link(engine: &Engine, module: &Module) -> wasmtime::Result<InstancePre<Guest>> {
    let mut linker = Linker::new(engine);
    wasi_snapshot_preview1::add_to_linker(&mut linker, |guest: &mut Guest| &mut guest.system)?;
    bridge::define(&mut linker)?;
    linker.instantiate_pre(module)
}

/// One execution with all that it needs.
struct Job {
    shared: Arc<Shared>,
    guest: Guest,
    script: String,
    limits: Limits,
    stdout: Stream,
    stderr: Stream,
    /// Removed when the execution is over.
    temporary: tempfile::TempDir,
}

impl Job {
    fn new(
        shared: &Arc<Shared>,
        slots: &Arc<Semaphore>,
        slot: OwnedSemaphorePermit,
        execution: Execution<'_>,
    ) -> wasmtime::Result<Self> {
        let Execution { source, workspace, quota, scratch, now, seed, limits, host } = execution;
        let temporary = tempfile::Builder::new().prefix("code-").tempdir_in(scratch)?;
        let (stdout, stderr) = (Stream::new(limits.output), Stream::new(limits.output));
        let clock = GuestClock::starting_at(now);
        let mut builder = WasiCtxBuilder::new();
        builder
            .allow_blocking_current_thread(true)
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .wall_clock(clock.clone())
            .monotonic_clock(clock.clone())
            .secure_random(seed.child("code random_get", 0).rng());
        let workspace = workspace.as_std_path();
        entry::open_folders(&mut builder, &shared.layout, workspace, temporary.path())?;
        let budget = Budget::new(workspace, temporary.path(), quota);
        let sleep = u64::try_from(limits.sleep.as_nanos()).unwrap_or(u64::MAX);
        let memory = usize::try_from(limits.memory).unwrap_or(usize::MAX);
        let guest = Guest {
            system: System::new(builder.build_p1(), budget, clock, sleep),
            limits: StoreLimitsBuilder::new().memory_size(memory).table_elements(TABLE).build(),
            bridge: Bridge::new(host, Arc::clone(slots), slot),
        };
        let script = prelude::call(source, &python_seed(seed));
        let shared = Arc::clone(shared);
        Ok(Self { shared, guest, script, limits, stdout, stderr, temporary })
    }

    /// Runs on a thread of its own until the code ends or `gone` does, and tells what came
    /// of it before it clears up: giving memory back takes a good part of a short call.
    async fn run(
        self,
        gone: oneshot::Receiver<()>,
        tell: oneshot::Sender<wasmtime::Result<Executed>>,
    ) {
        let Self { shared, guest, script, limits, stdout, stderr, temporary } = self;
        let _beating = shared.ticker.beat();
        let mut store = Store::new(&shared.engine, guest);
        store.limiter(|guest| &mut guest.limits);
        store.set_epoch_deadline(1);
        let end = processor_time() + limits.cpu;
        store.epoch_deadline_callback(move |_| {
            let over = processor_time() >= end;
            Ok(if over { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
        });
        let call = async {
            let instance = shared.ready.instantiate_async(&mut store).await?;
            entry::turn(&mut store, instance, &script).await
        };
        let backstop = limits.cpu.saturating_mul(PATIENCE) + Duration::from_mins(10);
        let ended = tokio::select! {
            ended = call => ended,
            _ = gone => Err(Stop("the caller's patience".to_owned()).into()),
            () = tokio::time::sleep(backstop) => Err(Stop(format!("{} s", backstop.as_secs())).into()),
        };
        let dropped = (stdout.dropped(), stderr.dropped());
        let done = exit_of(ended, limits).map(|exit| Executed {
            stdout: stdout.text(),
            stderr: stderr.text(),
            dropped,
            exit,
        });
        // Nobody may wait any more. The slot is given back with the store, at the very end.
        let _gone = tell.send(done);
        drop(temporary);
    }
}

/// Reads how a call of the guest ended.
fn exit_of(ended: wasmtime::Result<i32>, limits: Limits) -> wasmtime::Result<Exit> {
    let error = match ended {
        Ok(status) => return Ok(Exit::Status(status)),
        Err(error) => error,
    };
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return Ok(Exit::Status(exit.0));
    }
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return Ok(Exit::Limit(stop.0.clone()));
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => {
            Ok(Exit::Limit(format!("{} s of processor time", limits.cpu.as_secs_f64())))
        }
        Some(Trap::StackOverflow) => Ok(Exit::Crash("the call stack overflowed".to_owned())),
        Some(Trap::UnreachableCodeReached) => Ok(Exit::Crash("the interpreter aborted".to_owned())),
        Some(trap) => Ok(Exit::Crash(trap.to_string())),
        None => Err(error),
    }
}

/// Returns the seed of Python's own generators, in hexadecimal digits.
fn python_seed(seed: Seed) -> String {
    seed.child("code python", 0).to_string()
}

/// Returns the processor time that this thread has used.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or(Duration::MAX)
}
