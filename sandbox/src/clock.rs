//! The logical clock of a hermetic trial.
//!
//! It starts at the task's `now` and moves only when a call is taken in: by the
//! call's declared cost, in the order asked. So two schedules of the same calls see
//! the same times, and a delay that a fault adds costs nobody any real time.

use std::sync::Mutex;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// A clock that advances by declared costs.
#[derive(Debug)]
pub struct Clock(Mutex<Timestamp>);

impl Clock {
    /// Starts a clock at `now`.
    #[must_use]
    pub fn starting_at(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    /// Returns the time, in UTC.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes in a call that costs `cost`: returns the time at which it starts and
    /// moves the clock to its end. At the end of representable time it stands still.
    pub fn take(&self, cost: Duration) -> Timestamp {
        let mut now = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let start = *now;
        let cost = SignedDuration::try_from(cost).unwrap_or(SignedDuration::MAX);
        *now = start.saturating_add(cost).unwrap_or(Timestamp::MAX);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_start_where_the_one_before_ended() {
        let clock = Clock::starting_at("2026-03-01T09:00:00Z".parse().unwrap());
        let starts: Vec<_> =
            [2, 0, 5].map(|cost| clock.take(Duration::from_secs(cost)).to_string()).into();
        let want = ["2026-03-01T09:00:00Z", "2026-03-01T09:00:02Z", "2026-03-01T09:00:02Z"];
        assert_eq!(starts, want);
        assert_eq!(clock.now().to_string(), "2026-03-01T09:00:07Z");
        clock.take(Duration::MAX);
        assert_eq!(clock.now(), Timestamp::MAX);
    }
}
