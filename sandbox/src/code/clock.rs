//! The clock that executed code reads.
//!
//! It starts at the execution's `now`, moves by one microsecond whenever it is read, and
//! jumps when the code sleeps. So code sees time pass, two executions see it pass alike,
//! and a sleep costs nobody any real time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// How far one reading moves the clock, in nanoseconds.
const STEP: u64 = 1_000;

/// A clock that only its readers and sleepers move; clones are the same clock.
#[derive(Debug, Clone)]
pub(super) struct GuestClock {
    /// Nanoseconds since 1970 at the start.
    origin: u64,
    /// Nanoseconds since the start.
    passed: Arc<AtomicU64>,
}

impl GuestClock {
    /// Starts a clock. A time before 1970 or after 2554 becomes the nearest of the two,
    /// since the guest's system interface has no other.
    pub(super) fn starting_at(now: Timestamp) -> Self {
        let origin = u64::try_from(now.as_nanosecond().max(0)).unwrap_or(u64::MAX / 2);
        Self { origin, passed: Arc::default() }
    }

    /// Returns nanoseconds since 1970 at the start.
    pub(super) fn origin(&self) -> u64 {
        self.origin
    }

    /// Returns nanoseconds since the start, without moving the clock.
    pub(super) fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Jumps ahead.
    pub(super) fn sleep(&self, nanoseconds: u64) {
        self.passed.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    fn tick(&self) -> u64 {
        self.passed.fetch_add(STEP, Ordering::Relaxed).saturating_add(STEP)
    }
}

impl HostWallClock for GuestClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(STEP)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.origin.saturating_add(self.tick()))
    }
}

impl HostMonotonicClock for GuestClock {
    fn resolution(&self) -> u64 {
        STEP
    }

    fn now(&self) -> u64 {
        self.tick()
    }
}
