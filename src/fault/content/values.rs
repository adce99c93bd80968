//! OP2: facts that are wrong and look right.
//!
//! Numbers drift or have digits exchanged, dates move by days, times by minutes, `true`
//! becomes `false`. Each keeps its form: decimals, separators, the calendar. A text without any
//! has names exchanged with each other.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::ToSpan;
use jiff::civil::{Date, Time};
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use regex::{Captures, Regex};

use super::Changed;
use super::places::{Edit, Place, edited, places};
use super::words::words;

/// Most digits of a number that is one, and no key or serial number.
const DIGITS: usize = 15;

/// Most days that a date moves.
const DAYS: i64 = 40;

/// Dates, times and numbers, the longest form first.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<date>\d{4}-\d{2}-\d{2})",
        r"|(?P<time>\d{1,2}:\d{2}(?::\d{2})?)",
        r"|(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    ))
    .ok()
});

/// A value that can be wrong.
enum Value {
    Date(Date),
    Time(Time),
    Number,
    Flag(bool),
}

/// Makes about `share` of the values wrong, at least one.
pub(super) fn corrupt(text: &str, share: f64, rng: &mut ChaCha12Rng) -> Option<Changed> {
    let values: Vec<(Range<usize>, Value)> =
        places(text).iter().flat_map(|place| values(text, place)).collect();
    if values.is_empty() {
        return exchange(text, share, rng);
    }
    let count = values.len();
    let least = rng.random_range(0..count);
    let chances: Vec<f64> = (0..count).map(|_| rng.random()).collect();
    let none = chances.iter().all(|chance| *chance >= share);
    let chosen = |index: usize| chances[index] < share || (none && index == least);
    let edits: Vec<Edit> = values
        .iter()
        .enumerate()
        .filter(|(index, _)| chosen(*index))
        .filter_map(|(_, (range, value))| {
            Some((range.clone(), wrong(&text[range.clone()], value, rng)?))
        })
        .collect();
    if edits.is_empty() {
        return None;
    }
    let what = format!("{} of {count} values", edits.len());
    Some(Changed { text: edited(text, &edits), what })
}

/// Finds the values in a place.
fn values(text: &str, place: &Place) -> Vec<(Range<usize>, Value)> {
    let part = &text[place.range.clone()];
    if place.bare && ["true", "false"].contains(&part) {
        return vec![(place.range.clone(), Value::Flag(part == "true"))];
    }
    let Some(regex) = VALUE.as_ref() else { return Vec::new() };
    let value = |found: Captures<'_>| {
        let whole = found.get(0)?;
        let range = place.range.start + whole.start()..place.range.start + whole.end();
        let value = if found.name("date").is_some() {
            Value::Date(whole.as_str().parse().ok()?)
        } else if found.name("time").is_some() {
            Value::Time(time(whole.as_str())?)
        } else {
            is_quantity(part, &whole.range(), place.bare).then_some(Value::Number)?
        };
        Some((range, value))
    };
    regex.captures_iter(part).filter_map(value).collect()
}

/// Reads `9:05`, `09:05` or `09:05:30`.
fn time(text: &str) -> Option<Time> {
    let mut parts = text.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    Time::new(hour, minute, parts.next().flatten().unwrap_or(0), 0).ok()
}

/// Returns whether digits are a quantity: no part of a name, a version, a path or a key, and no
/// number of a list.
fn is_quantity(part: &str, range: &Range<usize>, bare: bool) -> bool {
    let digits = part[range.clone()].bytes().filter(u8::is_ascii_digit).count();
    let number = &part[range.clone()];
    let padded = number.len() > 1 && number.starts_with('0') && !number.starts_with("0.");
    if digits > DIGITS || padded {
        return false;
    }
    if bare {
        // Of `1.5e3` the mantissa is the number, of `-2` the digits.
        return range.start == 0 || &part[..range.start] == "-";
    }
    let joins = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./\\-:#@&=?%".contains(byte);
    let bytes = part.as_bytes();
    let before = range.start.checked_sub(1).map(|at| bytes[at]);
    let marker =
        matches!((bytes.get(range.end), bytes.get(range.end + 1)), (Some(b'.' | b')'), Some(b' ')));
    if marker && before.is_none_or(|byte| byte == b'\n') {
        return false;
    }
    let sign = before == Some(b'-')
        && range.start.checked_sub(2).is_none_or(|at| bytes[at].is_ascii_whitespace());
    let ends = match (bytes.get(range.end), bytes.get(range.end + 1)) {
        (Some(b'.' | b':' | b'?' | b'%'), Some(next)) => !next.is_ascii_alphanumeric(),
        (Some(b'.' | b':' | b'?' | b'%') | None, None) => true,
        (Some(b'-' | b'/' | b'_'), _) => false,
        (Some(byte), _) => !byte.is_ascii_alphanumeric(),
        (None, Some(_)) => true,
    };
    ends && (sign || before.is_none_or(|byte| !joins(&byte)))
}

/// Returns another value in the form of `text`.
fn wrong(text: &str, value: &Value, rng: &mut ChaCha12Rng) -> Option<String> {
    match value {
        Value::Date(date) => {
            let days = rng.random_range(1..=DAYS) * if rng.random() { 1 } else { -1 };
            let moved = date.checked_add(days.days()).or_else(|_| date.checked_sub(days.days()));
            moved.ok().map(|date| date.to_string())
        }
        Value::Time(time) => {
            let minutes = rng.random_range(5..=55_i64);
            let moved = time.wrapping_add(minutes.minutes());
            let form = if text.len() > 5 { "%H:%M:%S" } else { "%H:%M" };
            Some(moved.strftime(form).to_string())
        }
        Value::Number => number(text, rng),
        Value::Flag(flag) => Some((!flag).to_string()),
    }
}

/// Returns another number with as many decimals and the same separators.
fn number(text: &str, rng: &mut ChaCha12Rng) -> Option<String> {
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let value: i64 = digits.parse().ok()?;
    let is_year = text.len() == 4 && decimals == 0 && (1900..2100).contains(&value);
    let moved = if is_year {
        value + rng.random_range(1..=3) * if rng.random() { 1 } else { -1 }
    } else {
        exchanged_digits(&digits, rng).unwrap_or_else(|| drifted(value, rng))
    };
    Some(formatted(moved, decimals, text.contains(',')))
}

/// Exchanges two digits that differ, on half of the numbers that have such; the first stays.
fn exchanged_digits(digits: &str, rng: &mut ChaCha12Rng) -> Option<i64> {
    let mut digits: Vec<u8> = digits.bytes().collect();
    let pairs: Vec<usize> =
        (1..digits.len().saturating_sub(1)).filter(|at| digits[*at] != digits[at + 1]).collect();
    if pairs.is_empty() || rng.random() {
        return None;
    }
    let at = pairs[rng.random_range(0..pairs.len())];
    digits.swap(at, at + 1);
    String::from_utf8(digits).ok()?.parse().ok()
}

/// Moves a value by 2 to 25 percent, at least by one unit of its last digit.
fn drifted(value: i64, rng: &mut ChaCha12Rng) -> i64 {
    let percent = rng.random_range(2..=25_i64);
    // In 128 bits nothing overflows, and the result is below 2^63 again: a value has at
    // most 15 digits.
    let step = i64::try_from(i128::from(value) * i128::from(percent) / 100).unwrap_or(1).max(1);
    let up: bool = rng.random();
    if up || value < step { value + step } else { value - step }
}

/// Writes a number of units of the last of `decimals` digits.
fn formatted(value: i64, decimals: usize, separated: bool) -> String {
    let padded = format!("{value:0width$}", width = decimals + 1);
    let (whole, rest) = padded.split_at(padded.len() - decimals);
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if separated && index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if decimals > 0 {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// Exchanges names with each other in a text without values: about `share` of its
/// capitalised words, or of all words where it has no two such; at least two.
fn exchange(text: &str, share: f64, rng: &mut ChaCha12Rng) -> Option<Changed> {
    let all = words(text);
    let is_name = |range: &&Range<usize>| text[range.start..].starts_with(char::is_uppercase);
    let names: Vec<&Range<usize>> = all.iter().filter(is_name).collect();
    let pool: Vec<&Range<usize>> = if names.len() >= 2 { names } else { all.iter().collect() };
    let mut edits: Vec<Edit> = Vec::new();
    // Neighbours change places, so no word is moved twice.
    let pairs: Vec<(&Range<usize>, &Range<usize>)> = pool
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .filter(|(a, b)| text[(*a).clone()] != text[(*b).clone()])
        .collect();
    let least = (!pairs.is_empty()).then(|| rng.random_range(0..pairs.len()))?;
    for (index, (a, b)) in pairs.into_iter().enumerate() {
        if rng.random::<f64>() < share || index == least {
            edits.push((a.clone(), text[b.clone()].to_owned()));
            edits.push((b.clone(), text[a.clone()].to_owned()));
        }
    }
    let what = format!("{} of {} words exchanged", edits.len(), pool.len());
    Some(Changed { text: edited(text, &edits), what })
}

#[cfg(test)]
mod tests {
    use wildgym_sandbox::Seed;

    use super::*;

    /// Everything that may be wrong in a text.
    fn found(text: &str) -> Vec<&str> {
        places(text)
            .iter()
            .flat_map(|place| values(text, place))
            .map(|(range, _)| &text[range])
            .collect()
    }

    #[test]
    fn quantities_dates_and_times_are_values_and_names_are_none() {
        let table: [(&str, &[&str], &str); 10] = [
            ("12 ferries, 3.5 km.", &["12", "3.5"], "plain numbers"),
            ("1,234,567 people (41%)", &["1,234,567", "41"], "separators, percent"),
            ("on 2026-03-01 at 9:05", &["2026-03-01", "9:05"], "dates and times"),
            ("2026-13-45", &[], "no date of any calendar"),
            ("COVID-19, v2, utf8, a1b2, 1.2.3, 10-20", &[], "parts of names and ranges"),
            ("see https://a.example/2026 and 7", &["7"], "no address"),
            ("room 007, key 1234567890123456", &[], "padded numbers and long keys"),
            ("1. Lund, 12 km\n2. Moss", &["12"], "no number of a list"),
            ("共25人", &["25"], "no space is needed"),
            (r#"{"a1": -5, "b": 1.5e3, "c": true}"#, &["5", "1.5", "true"], "JSON tokens"),
        ];
        for (text, want, why) in table {
            assert_eq!(found(text), want, "{why}");
        }
    }

    #[test]
    fn a_wrong_value_keeps_its_form() {
        let forms = [
            ("3.50", r"^\d+\.\d{2}$"),
            ("0.07", r"^\d+\.\d{2}$"),
            ("1,234,567", r"^\d{1,3}(,\d{3})+$"),
            ("2026-02-28", r"^\d{4}-\d{2}-\d{2}$"),
            ("23:50", r"^\d{2}:\d{2}$"),
            ("23:50:01", r"^\d{2}:\d{2}:\d{2}$"),
            ("2024", r"^(19|20)\d{2}$"),
            ("0", r"^\d$"),
        ];
        for (text, form) in forms {
            let form = Regex::new(form).unwrap();
            for number in 0..50 {
                let changed = corrupt(text, 1.0, &mut Seed::of_run(number).rng()).unwrap().text;
                assert!(form.is_match(&changed) && changed != text, "{text} became {changed}");
            }
        }
    }
}
