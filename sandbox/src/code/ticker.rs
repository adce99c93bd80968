//! The heartbeat that lets the host stop compiled code.
//!
//! While at least one execution is alive, one thread moves the engine's epoch every ten
//! milliseconds; compiled code notices at its next loop or call.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::Engine;

/// Time between two beats.
const BEAT: Duration = Duration::from_millis(10);

/// Whom the thread serves.
#[derive(Debug, Default)]
struct Audience {
    alive: usize,
    closed: bool,
}

/// The heart of one engine; its thread ends when it is dropped.
#[derive(Debug)]
pub(super) struct Ticker(Arc<(Mutex<Audience>, Condvar)>);

/// Keeps the heart beating.
#[derive(Debug)]
pub(super) struct Beating(Arc<(Mutex<Audience>, Condvar)>);

fn lock(shared: &(Mutex<Audience>, Condvar)) -> MutexGuard<'_, Audience> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ticker {
    /// Starts the thread.
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared: Arc<(Mutex<Audience>, Condvar)> = Arc::default();
        let (seen, engine) = (Arc::clone(&shared), engine.clone());
        thread::Builder::new().name("code ticker".to_owned()).spawn(move || {
            loop {
                let audience = seen
                    .1
                    .wait_while(lock(&seen), |audience| audience.alive == 0 && !audience.closed)
                    .unwrap_or_else(PoisonError::into_inner);
                if audience.closed {
                    break;
                }
                drop(audience);
                thread::sleep(BEAT);
                engine.increment_epoch();
            }
        })?;
        Ok(Self(shared))
    }

    /// Beats until the result is dropped.
    pub(super) fn beat(&self) -> Beating {
        lock(&self.0).alive += 1;
        self.0.1.notify_one();
        Beating(Arc::clone(&self.0))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        lock(&self.0).closed = true;
        self.0.1.notify_one();
    }
}

impl Drop for Beating {
    fn drop(&mut self) {
        lock(&self.0).alive -= 1;
    }
}
