//! When a failed request is sent again, and after how long.
//!
//! Delays here use real chance: they depend on the hour and reach a transcript only
//! under `t`.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The longest wait that an endpoint may ask for.
const LONGEST: Duration = Duration::from_mins(10);

/// How often, and how long apart, a request is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retrying {
    /// Most times that one request is sent; 8 by default.
    pub tries: u32,
    /// Most times that it is sent where the endpoint could not read what the model
    /// wrote; 3 by default. The reply then counts as empty.
    pub format_tries: u32,
    /// Upper end of the first delay, doubled for each further one; 0.5 s by default.
    pub base: Duration,
    /// Upper end of any delay; 60 s by default.
    pub cap: Duration,
}

impl Default for Retrying {
    fn default() -> Self {
        Self {
            tries: 8,
            format_tries: 3,
            base: Duration::from_millis(500),
            cap: Duration::from_mins(1),
        }
    }
}

impl Retrying {
    /// Returns the delay after `failed` failed tries, as the fraction `chance` (0 to 1) of
    /// the exponential step: full jitter, so that trials that failed together do not
    /// come back together.
    pub(super) fn delay(&self, failed: u32, chance: f64) -> Duration {
        let doublings = failed.saturating_sub(1).min(31);
        self.base.saturating_mul(1 << doublings).min(self.cap).mul_f64(chance.clamp(0.0, 1.0))
    }
}

/// Returns a random number from 0 up to 1.
pub(super) fn chance() -> f64 {
    // The keys of the standard hasher are random; this needs no better source.
    let bits = RandomState::new().hash_one(()) >> 32;
    f64::from(u32::try_from(bits).unwrap_or_default()) / (f64::from(u32::MAX) + 1.0)
}

/// Returns how long the endpoint asked to be left alone, at most ten minutes: from
/// `retry-after-ms`, or `Retry-After` in seconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| seconds(text, 1000.0));
    milliseconds.or_else(|| {
        let after = text(RETRY_AFTER.as_str())?;
        seconds(after, 1.0).or_else(|| date(after, now))
    })
}

fn seconds(text: &str, per_second: f64) -> Option<Duration> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)?;
    Some(Duration::from_secs_f64((number / per_second).min(LONGEST.as_secs_f64())))
}

fn date(text: &str, now: Timestamp) -> Option<Duration> {
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let wait = Duration::try_from(at.duration_since(now)).unwrap_or_default();
    Some(wait.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn delays_double_up_to_the_cap() {
        let retrying = Retrying::default();
        let table = [
            (1, 1.0, 500, "base"),
            (2, 1.0, 1000, "doubled"),
            (5, 0.5, 4000, "half of 8 s"),
            (8, 1.0, 60_000, "64 s is over the cap"),
            (u32::MAX, 1.0, 60_000, "no overflow"),
            (3, 0.0, 0, "full jitter reaches down to nothing"),
        ];
        for (failed, chance, milliseconds, why) in table {
            let expected = Duration::from_millis(milliseconds);
            assert_eq!(retrying.delay(failed, chance), expected, "{why}");
        }
    }

    #[test]
    fn chance_stays_in_its_range_and_varies() {
        let draws: Vec<f64> = (0..200).map(|_| chance()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        assert!(draws.iter().any(|draw| *draw < 0.5) && draws.iter().any(|draw| *draw >= 0.5));
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let now: Timestamp = "2015-10-21T07:28:00Z".parse().unwrap();
        let table = [
            ("retry-after", "2", Some(2000), "seconds"),
            ("retry-after", "0", Some(0), "at once"),
            ("retry-after", "1.5", Some(1500), "a fraction, against the standard"),
            ("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT", Some(30_000), "a date"),
            ("retry-after", "Wed, 21 Oct 2015 07:00:00 GMT", Some(0), "a date that is past"),
            ("retry-after", "86400", Some(600_000), "capped"),
            ("retry-after", "Wed, 21 Oct 2099 07:28:00 GMT", Some(600_000), "a date, capped"),
            ("retry-after-ms", "250", Some(250), "milliseconds"),
            ("retry-after", "-1", None, "negative"),
            ("retry-after", "NaN", None, "not a number"),
            ("retry-after", "soon", None, "neither number nor date"),
            ("x-other", "5", None, "absent"),
        ];
        for (name, value, milliseconds, why) in table {
            let name = HeaderName::from_static(name);
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
            let expected = milliseconds.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, now), expected, "{why}");
        }
    }
}
