//! Slots of an endpoint and its cool-down.
//!
//! At most so many requests are in flight, first come first served. An endpoint that
//! said "too many" is left alone by everyone until the time it named has passed: one
//! refusal speaks for all trials, so they do not each collect their own.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::retry::chance;

/// The longest that a waiter is held beyond the cool-down, so that not all start at once.
const SPREAD: Duration = Duration::from_secs(5);

/// Limits requests in flight.
#[derive(Debug)]
pub(super) struct Gate {
    slots: Semaphore,
    cool: Mutex<Option<Cooling>>,
}

#[derive(Debug, Clone, Copy)]
struct Cooling {
    until: Instant,
    length: Duration,
}

/// The right to have one request in flight; given back when dropped.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    _permit: Option<SemaphorePermit<'a>>,
}

impl Gate {
    pub(super) fn new(concurrency: usize) -> Self {
        let slots = concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Self { slots: Semaphore::new(slots), cool: Mutex::new(None) }
    }

    /// Waits for a slot and for the end of a cool-down.
    ///
    /// The slot is kept while the endpoint cools down: nobody could use it, and the
    /// order of arrival stays.
    pub(super) async fn enter(&self) -> Slot<'_> {
        // The semaphore is never closed, so there is always a permit.
        let permit = self.slots.acquire().await.ok();
        while let Some(cooling) = self.cooling() {
            let spread = (cooling.length / 4).min(SPREAD);
            tokio::time::sleep_until(cooling.until + spread.mul_f64(chance())).await;
        }
        Slot { _permit: permit }
    }

    /// Keeps everyone out for `length` from now; a longer cool-down stays.
    pub(super) fn cool_down(&self, length: Duration) {
        let until = Instant::now() + length;
        let mut cool = self.cool.lock().unwrap_or_else(PoisonError::into_inner);
        if cool.is_none_or(|cooling| cooling.until < until) {
            *cool = Some(Cooling { until, length });
        }
    }

    fn cooling(&self) -> Option<Cooling> {
        let cool = self.cool.lock().unwrap_or_else(PoisonError::into_inner);
        cool.filter(|cooling| cooling.until > Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn slots_are_limited_and_come_back() {
        let gate = Gate::new(2);
        let one = gate.enter().now_or_never();
        let two = gate.enter().now_or_never();
        assert!(one.is_some() && two.is_some());
        assert!(gate.enter().now_or_never().is_none(), "both slots are taken");
        drop(one);
        assert!(gate.enter().now_or_never().is_some(), "a dropped slot is free again");
        assert!(Gate::new(0).enter().now_or_never().is_some(), "0 means 1");
    }

    #[tokio::test]
    async fn a_cool_down_keeps_everyone_out_and_the_longest_wins() {
        let gate = Gate::new(8);
        gate.cool_down(HOUR);
        gate.cool_down(Duration::from_millis(1));
        assert!(gate.enter().now_or_never().is_none(), "the hour still runs");
        let gate = Gate::new(1);
        gate.cool_down(Duration::ZERO);
        assert!(gate.enter().now_or_never().is_some(), "nothing to wait for");
    }

    #[tokio::test]
    async fn giving_up_in_a_cool_down_frees_the_slot() {
        let gate = Gate::new(1);
        gate.cool_down(HOUR);
        assert!(gate.enter().now_or_never().is_none());
        assert_eq!(gate.slots.available_permits(), 1);
    }
}
