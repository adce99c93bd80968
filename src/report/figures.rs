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

/// Returns a time, rounded: `850 ms`, `4.2 s`, `3 min 05 s`, `2 h 07 min`.
pub(super) fn duration(ms: u64) -> String {
    // Rounded before it is split, so that no part ever reads 60.
    let (tenths, seconds, minutes) = (each(ms, 100), each(ms, 1000), each(ms, 60_000));
    match (ms, tenths, seconds) {
        (0..1000, _, _) => format!("{ms} ms"),
        (_, 0..600, _) => format!("{}.{} s", tenths / 10, tenths % 10),
        (_, _, 0..3600) => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}

/// Returns a quotient rounded half up, without a float; `0` for nothing of nothing.
pub(super) fn each(sum: u64, of: u64) -> u64 {
    sum.saturating_add(of / 2) / of.max(1)
}

/// Returns a mean over attempts with one decimal; `0.0` without any.
pub(super) fn mean(sum: u64, attempts: u64) -> String {
    let tenths = each(sum.saturating_mul(10), attempts);
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
        let times = [
            (850, "850 ms"),
            (4_299, "4.3 s"),
            (59_949, "59.9 s"),
            (59_950, "1 min 00 s"),
            (61_500, "1 min 02 s"),
            (185_000, "3 min 05 s"),
            (3_599_500, "1 h 00 min"),
            (7_640_000, "2 h 07 min"),
        ];
        for (ms, want) in times {
            assert_eq!(duration(ms), want, "{ms} ms");
        }
        assert_eq!([each(7, 2), each(20, 3), each(4, 3), each(0, 0)], [4, 7, 1, 0]);
        let amounts = [0.0, 12.345, 1.0, 0.0123, 0.000_045].map(money);
        assert_eq!(amounts, ["0.00", "12.35", "1.00", "0.0123", "0.0000450"]);
        assert_eq!([mean(7, 2), mean(0, 0), mean(20, 3)], ["3.5", "0.0", "6.7"]);
    }
}
