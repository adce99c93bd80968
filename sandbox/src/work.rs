//! Working time: what a limit counts.
//!
//! Time runs while at least one holder of a clock works, and stands while all of
//! them wait for something that the harness rations: a slot of an endpoint, of the
//! browser, of a core. So a busy machine never turns into an agent's time-out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// A clock that counts working time.
#[derive(Debug)]
pub struct WorkClock {
    state: Mutex<State>,
    resumed: Notify,
}

#[derive(Debug)]
struct State {
    working: u32,
    since: Instant,
    total: Duration,
}

impl Default for WorkClock {
    fn default() -> Self {
        let state = State { working: 0, since: Instant::now(), total: Duration::ZERO };
        Self { state: Mutex::new(state), resumed: Notify::new() }
    }
}

/// A share in working time; the clock stands when the last one is dropped.
#[derive(Debug)]
pub struct Working(Arc<WorkClock>);

impl WorkClock {
    /// Starts to work.
    #[must_use]
    pub fn work(self: &Arc<Self>) -> Working {
        self.enter();
        Working(Arc::clone(self))
    }

    /// Gives back, for a while, one share that the caller holds.
    #[must_use]
    pub fn pause(&self) -> Paused<'_> {
        self.leave();
        Paused(self)
    }

    /// Gives back one share that the caller holds, until the value is dropped: the same as
    /// [`WorkClock::pause`] for a holder that keeps clock and share side by side.
    #[must_use]
    pub fn rest(self: &Arc<Self>) -> Resting {
        self.leave();
        Resting(Arc::clone(self))
    }

    /// Returns the working time so far.
    pub fn elapsed(&self) -> Duration {
        let state = self.lock();
        let running = if state.working > 0 { state.since.elapsed() } else { Duration::ZERO };
        state.total + running
    }

    /// Completes once `limit` of working time has passed.
    pub async fn reach(&self, limit: Duration) {
        loop {
            let resumed = self.resumed.notified();
            let left = limit.saturating_sub(self.elapsed());
            if left.is_zero() {
                return;
            }
            let working = self.lock().working > 0;
            if working {
                tokio::time::sleep(left).await;
            } else {
                resumed.await;
            }
        }
    }

    fn enter(&self) {
        let mut state = self.lock();
        if state.working == 0 {
            state.since = Instant::now();
        }
        state.working += 1;
        drop(state);
        self.resumed.notify_waiters();
    }

    fn leave(&self) {
        let mut state = self.lock();
        state.working = state.working.saturating_sub(1);
        if state.working == 0 {
            let worked = state.since.elapsed();
            state.total += worked;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Working {
    /// Returns the working time so far of the clock that this is a share of.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// Returns the clock, to take more shares in it.
    #[must_use]
    pub fn clock(&self) -> Arc<WorkClock> {
        Arc::clone(&self.0)
    }

    /// Waits for `future` without counting the time.
    pub async fn pause<T>(&mut self, future: impl Future<Output = T>) -> T {
        let paused = self.0.pause();
        let value = future.await;
        drop(paused);
        value
    }
}

/// A share that is given back for a while; dropping this takes it again.
#[derive(Debug)]
pub struct Paused<'a>(&'a WorkClock);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.0.enter();
    }
}

/// A share that is given back until this is dropped.
#[derive(Debug)]
pub struct Resting(Arc<WorkClock>);

impl Drop for Resting {
    fn drop(&mut self) {
        self.0.enter();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Two work side by side for 2 s, one waits on for 3 s uncounted: 2 s, not 5 or 4.
    #[tokio::test(start_paused = true)]
    async fn time_runs_while_anyone_works() {
        let clock = Arc::new(WorkClock::default());
        let (mut one, two) = (clock.work(), clock.work());
        tokio::time::sleep(2 * SECOND).await;
        drop(two);
        one.pause(tokio::time::sleep(3 * SECOND)).await;
        assert_eq!(clock.elapsed(), 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_waits_for_the_waiting() {
        let clock = Arc::new(WorkClock::default());
        let start = Instant::now();
        let worker = tokio::spawn({
            let clock = Arc::clone(&clock);
            async move {
                let mut working = clock.work();
                tokio::time::sleep(SECOND).await;
                working.pause(tokio::time::sleep(10 * SECOND)).await;
                tokio::time::sleep(60 * SECOND).await;
            }
        });
        clock.reach(4 * SECOND).await;
        assert_eq!(start.elapsed(), 14 * SECOND);
        worker.abort();
    }
}
