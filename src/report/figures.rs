//! Numbers as people read them.

use crate::metrics::Estimate;

/// Returns a number with its digits in groups of three: `12,345`.
pub(super) fn number(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number with its noun: `1 trial`, `2 trials`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(count), if count == 1 { "" } else { "s" })
}

/// Returns an estimate in percent with its interval: `58.3 [33.1–80.2]`.
pub(super) fn rate(estimate: &Estimate) -> String {
    let Some(value) = estimate.value else { return "–".to_owned() };
    let value = value * 100.0;
    match estimate.ci95 {
        Some((low, high)) => format!("{value:.1} [{:.1}–{:.1}]", low * 100.0, high * 100.0),
        None => format!("{value:.1}"),
    }
}

/// Returns a time: `850 ms`, `4.2 s`, `3 min 05 s`, `2 h 07 min`.
pub(super) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{} s", ms % 1000 / 100),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Returns a mean over attempts with one decimal; `0.0` without any.
pub(super) fn mean(sum: u64, attempts: u64) -> String {
    // In tenths, rounded half up, so that no float is involved.
    let tenths = (sum.saturating_mul(20) + attempts) / (2 * attempts).max(1);
    format!("{}.{}", number(tenths / 10), tenths % 10)
}

/// Returns an amount of money: with two decimals, and below 1 with as many as show three
/// digits that tell it from nothing (at most nine).
pub(super) fn money(amount: f64) -> String {
    let mut decimals = 2;
    let mut scaled = amount.abs();
    while scaled > 0.0 && scaled < 1.0 && decimals < 9 {
        scaled *= 10.0;
        decimals += 1;
    }
    format!("{amount:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([number(0u32), number(999u32), number(1_234_567u32)], ["0", "999", "1,234,567"]);
        assert_eq!([counted(1, "trial"), counted(0, "trial")], ["1 trial", "0 trials"]);
        let times = [850, 4_299, 185_000, 7_640_000].map(duration);
        assert_eq!(times, ["850 ms", "4.2 s", "3 min 05 s", "2 h 07 min"]);
        let amounts = [0.0, 12.345, 1.0, 0.0123, 0.000_045].map(money);
        assert_eq!(amounts, ["0.00", "12.35", "1.00", "0.0123", "0.0000450"]);
        assert_eq!([mean(7, 2), mean(0, 0), mean(20, 3)], ["3.5", "0.0", "6.7"]);
    }
}
