//! Booting the interpreter, freezing it, and compiling what was frozen.
//!
//! The boot sees a fixed clock and fixed chance, so that two machines freeze the same
//! hash seed and the same state. Its directories have the names and the order that
//! every later execution gives them, since the guest's C library remembers both.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use wasmtime::{Engine, Linker, Module, Store};
use wasmtime_wasi::WasiCtxBuilder;
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wizer::{WasmtimeWizer, Wizer};

use super::{Layout, SetupError, Step};
use crate::code::clock::GuestClock;
use crate::code::stream::Stream;
use crate::code::{engine, entry, prelude};
use crate::seed::Seed;

/// Function that boots the interpreter.
const BOOT: &str = "wizer.initialize";

/// Bytes of output kept, to say why the boot failed.
const OUTPUT: usize = 64 << 10;

/// What the interpreter reads of its environment while it boots.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("HOME", "/workspace"),
    ("TMPDIR", "/tmp"),
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
    ("MPLBACKEND", "Agg"),
    ("MPLCONFIGDIR", "/tmp"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONTZPATH", ""),
    ("PYTHONUTF8", "1"),
];

/// Boots `interpreter` with the packages imported and returns the frozen module.
pub(super) async fn freeze(
    interpreter: Vec<u8>,
    place: &Layout,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Vec<u8>, SetupError> {
    let failed = |error: wasmtime::Error| SetupError::Prepare(format!("{error:#}"));
    progress(Step::Booting);
    let engine = engine::quick_engine().map_err(failed)?;
    let mut wizer = Wizer::new();
    wizer.init_func(BOOT);
    let (context, instrumented) = wizer.instrument(&interpreter).map_err(failed)?;
    let shared = engine.clone();
    let module = blocking(move || Module::new(&shared, &instrumented)).await?;

    progress(Step::Freezing);
    let scratch = tempfile::tempdir_in(place.folder());
    let scratch =
        scratch.map_err(|source| SetupError::Io { path: place.folder().to_owned(), source })?;
    let output = Stream::new(OUTPUT);
    let mut store =
        Store::new(&engine, context_of(place, scratch.path(), &output).map_err(failed)?);
    store.set_epoch_deadline(u64::MAX / 2);
    let mut linker = Linker::new(&engine);
    p1::add_to_linker_async(&mut linker, |state| state).map_err(failed)?;
    linker.func_wrap("host", "call", |_: i32, _: i32, _: i32, _: i32| -1).map_err(failed)?;
    let instance = linker.instantiate_async(&mut store, &module).await.map_err(failed)?;
    let booted = async {
        for name in ["_initialize", BOOT] {
            if let Ok(start) = instance.get_typed_func::<(), ()>(&mut store, name) {
                start.call_async(&mut store, ()).await?;
            }
        }
        entry::turn(&mut store, instance, &prelude::script()).await
    };
    match booted.await {
        Ok(0) => {}
        Ok(status) => {
            let said = output.text();
            return Err(SetupError::Prepare(format!("the prelude ended with {status}: {said}")));
        }
        Err(error) => {
            return Err(SetupError::Prepare(format!("{error:#}: {}", output.text())));
        }
    }
    let mut state = WasmtimeWizer { store: &mut store, instance };
    wizer.snapshot(&context, &mut state).await.map_err(failed)
}

/// Returns the surroundings of the boot.
fn context_of(
    place: &Layout,
    scratch: &std::path::Path,
    output: &Stream,
) -> wasmtime::Result<WasiP1Ctx> {
    let clock = GuestClock::starting_at(Timestamp::constant(1_767_225_600, 0));
    let mut builder = WasiCtxBuilder::new();
    builder
        .allow_blocking_current_thread(true)
        .args(&["/usr/local/bin/python.wasm"])
        .envs(&ENVIRONMENT)
        .stdout(output.clone())
        .stderr(output.clone())
        .wall_clock(clock.clone())
        .monotonic_clock(clock)
        .secure_random(Seed::of_run(0).rng());
    let folders = [scratch.join("workspace"), scratch.join("tmp")];
    for folder in &folders {
        fs::create_dir(folder)?;
    }
    entry::open_folders(&mut builder, place, &folders[0], &folders[1])?;
    Ok(builder.build_p1())
}

/// Compiles the frozen module into `target`.
pub(super) async fn compile(
    engine: Engine,
    frozen: Vec<u8>,
    target: &Utf8Path,
) -> Result<(), SetupError> {
    let code = blocking(move || engine.precompile_module(&frozen)).await?;
    let target = Utf8PathBuf::from(target);
    fs::write(&target, code).map_err(|source| SetupError::Io { path: target, source })
}

/// Runs a long computation away from the threads that serve others.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> wasmtime::Result<T> + Send + 'static,
) -> Result<T, SetupError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| SetupError::Prepare(error.to_string()))?
        .map_err(|error| SetupError::Prepare(format!("{error:#}")))
}
