//! How guests are compiled, and under which name the result is kept.
//!
//! Setup and every later program must agree on this file: compiled code is native
//! code for one configuration of one version of the engine. So the directory in which
//! it lies is named after all that went into it, and a program that would compile
//! differently looks for another directory instead of loading the wrong code.

use std::hash::{Hash, Hasher};

use wasmtime::{Config, Engine, OptLevel};

use super::prelude;

/// SHA-256 of the one wheel that this version of the runtime is made from.
pub(super) const WHEEL_SHA256: &str =
    "3bfb0dcc48ce1ce9f4741e142a3a73e865b2028b7468179588d52f418dabfafc";

/// Its size in bytes.
pub(super) const WHEEL_BYTES: u64 = 98_332_122;

/// Stack that compiled code may use; deep recursion in Python ends in an exception first.
const WASM_STACK: usize = 8 << 20;

/// Raised when setup itself changes in a way that the other parts of the key do not show.
const FORMAT: u32 = 1;

/// Returns the engine that runs code.
pub(super) fn engine() -> wasmtime::Result<Engine> {
    Engine::new(&config())
}

/// Returns an engine that compiles fast and not well: for the one run before the snapshot.
pub(super) fn quick_engine() -> wasmtime::Result<Engine> {
    let mut config = config();
    config.cranelift_opt_level(OptLevel::None);
    Engine::new(&config)
}

fn config() -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.max_wasm_stack(WASM_STACK);
    config.async_stack_size(WASM_STACK + (2 << 20));
    config
}

/// Returns the name of the directory that holds the runtime for this engine: a digest
/// of the wheel, of our prelude, and of the engine's version and settings.
pub(super) fn key(engine: &Engine) -> String {
    let mut digest = Digest(blake3::Hasher::new());
    (FORMAT, WHEEL_SHA256, prelude::script()).hash(&mut digest);
    engine.precompile_compatibility_hash().hash(&mut digest);
    digest.0.finalize().to_hex().chars().take(24).collect()
}

/// Feeds what is hashed to BLAKE3, which is the same in every build.
struct Digest(blake3::Hasher);

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0.finalize().as_bytes()[..8]);
        u64::from_le_bytes(first)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}
