//! Dates as spreadsheets count them.
//!
//! Serial numbers are days of the 1900 system throughout: 1 is 1900-01-01, and 60 is a
//! 29 February 1900 that never was (ECMA-376 part 1, 18.17.4.1). Days of the 1904
//! system are [`SYSTEM_1904`] less; who reads them adds that.

/// What a day of the 1904 system lacks to the 1900 system.
pub(crate) const SYSTEM_1904: f64 = 1462.0;

/// The day after the last: 10000-01-01.
const END: f64 = 2_958_466.0;

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// Serial number of 1970-01-01.
const EPOCH: i64 = 25_569;

/// Writes a moment in ISO 8601: a time below 1, a date where it is whole, else both.
pub(crate) fn moment(serial: f64) -> String {
    if !(0.0..END).contains(&serial) {
        return number(serial);
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than 2^48, as checked above")]
    let millis = (serial * DAY).round() as i64;
    let (day, rest) = (millis / 86_400_000, millis % 86_400_000);
    let time = clock(rest);
    if serial < 1.0 {
        return time;
    }
    let date = if day == 60 {
        "1900-02-29".to_owned()
    } else {
        let (year, month, day) = civil(day - EPOCH + i64::from(day < 60));
        format!("{year:04}-{month:02}-{day:02}")
    };
    if rest == 0 { date } else { format!("{date}T{time}") }
}

/// Returns the serial number of a moment in milliseconds from 1970-01-01.
pub(crate) fn of_millis(millis: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "moments of sheets are less than 2^53")]
    let serial = millis as f64 / DAY + 25_569.0;
    if serial < 61.0 { serial - 1.0 } else { serial }
}

/// Writes the time of a day in milliseconds, with fractions where there are any.
fn clock(millis: i64) -> String {
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if millis == 0 { time } else { format!("{time}.{millis:03}") }
}

/// Writes a duration given in days as `h:mm:ss`.
pub(crate) fn duration(days: f64) -> String {
    let seconds = (days.abs() * 86_400.0).round();
    if !(0.0..1e15).contains(&seconds) {
        return number(days);
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than 2^50, as checked above")]
    let whole = seconds as i64;
    let sign = if days < 0.0 { "-" } else { "" };
    format!("{sign}{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

/// Writes a number with the shortest digits that read back as it.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-7..1e21).contains(&size) && value.is_finite() {
        format!("{value:e}")
    } else if value == 0.0 {
        "0".to_owned()
    } else {
        value.to_string()
    }
}

/// Returns year, month and day of a day counted from 1970-01-01, by the proleptic
/// Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns the days from 1970-01-01 to a date; the inverse of [`civil`].
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Reads a date in ISO 8601, with a time or without: `2024-03-01`, `2024-03-01T18:00:00`.
pub(crate) fn iso(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('Z');
    let bytes = text.as_bytes();
    if bytes.len() < 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let digits = |part: Option<&str>| -> Option<i64> {
        part.filter(|part| part.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
    };
    let year = digits(text.get(0..4))?;
    let (month, day) = (digits(text.get(5..7))?, digits(text.get(8..10))?);
    let count = days(year, month, day);
    if civil(count) != (year, month, day) {
        return None;
    }
    let time = match text.get(10..)? {
        "" => 0.0,
        rest => seconds(rest.strip_prefix(['T', ' '])?)? / 86_400.0,
    };
    let serial = count + EPOCH;
    #[expect(clippy::cast_precision_loss, reason = "less than 2^22")]
    let serial = (serial - i64::from(serial < 61)) as f64;
    Some(serial + time)
}

/// Reads `hh:mm`, `hh:mm:ss` or `hh:mm:ss.sss` as seconds.
fn seconds(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let (hours, minutes) = (parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?);
    let rest = parts.next().map_or(Some(0.0), |part| part.parse::<f64>().ok())?;
    let fits = hours < 24 && minutes < 60 && (0.0..61.0).contains(&rest) && parts.next().is_none();
    fits.then(|| f64::from(hours * 3600 + minutes * 60) + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_as_dates() {
        let table = [
            (45_352.0, "2024-03-01", "a date"),
            (45_352.75, "2024-03-01T18:00:00", "with a time"),
            (45_352.000_005_787, "2024-03-01T00:00:00.500", "with half a second"),
            (0.5, "12:00:00", "a time alone"),
            (0.0, "00:00:00", "midnight"),
            (1.0, "1900-01-01", "the first day"),
            (59.0, "1900-02-28", ""),
            (60.0, "1900-02-29", "the day that never was"),
            (61.0, "1900-03-01", "the day after it"),
            (2_958_465.0, "9999-12-31", "the last"),
            (2_958_466.0, "2958466", "beyond it"),
            (-1.0, "-1", "before the first"),
            (f64::NAN, "NaN", "no number"),
        ];
        for (serial, want, why) in table {
            assert_eq!(moment(serial), want, "{serial} {why}");
        }
        for text in ["2024-03-01", "1900-01-01", "1900-02-28", "1900-03-01", "2024-03-01T18:00:00"]
        {
            assert_eq!(iso(text).map(moment).as_deref(), Some(text));
        }
        for bad in ["2024-13-01", "2023-02-29", "2024-03-01T25:00", "24-03-01", "2024-03-0é1", ""]
        {
            assert_eq!(iso(bad), None, "{bad}");
        }
    }

    #[test]
    fn numbers_and_durations() {
        let table = [(1e300, "1e300"), (3.0, "3"), (0.1, "0.1"), (-0.0, "0"), (1e-9, "1e-9")];
        for (value, want) in table {
            assert_eq!(number(value), want);
        }
        for (days, want) in [(1.25, "30:00:00"), (-0.5, "-12:00:00"), (1e300, "1e300")] {
            assert_eq!(duration(days), want);
        }
    }
}
