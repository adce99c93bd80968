//! Calendar dates in common spellings.
//!
//! Year, month and day must all be there. `03/04/2014` could be March or April, so it
//! passes for neither; where both readings are one date, or only one is a date at all,
//! it is read. Years of two digits are not read. A day of the week may stand beside a date,
//! and has to be the right one.

use jiff::civil::Date;

use super::Unequal;
use super::text::key;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Words that stand in a date and say nothing.
const FILLERS: [&str; 3] = ["of", "the", "on"];

/// Compares an answer with a date. Where one of two readings is right, what is meant is for
/// a model to say.
pub(super) fn compare(given: &str, value: Date) -> Result<&'static str, Unequal> {
    match readings(&key(given)).as_slice() {
        [] => {
            let reason = "the answer is not a date with year, month and day";
            Err(Unequal::Unclear(reason.to_owned()))
        }
        [date] if contradicts(&key(given), *date) => {
            Err(Unequal::Unclear(format!("{date} is another day of the week")))
        }
        [date] if *date == value => Ok("the same date"),
        [date] => Err(Unequal::Wrong(format!("{date} is another date"))),
        [first, second, ..] => {
            let reason = format!(
                "the answer can be read as {first} and as {second}: write the month as a word, or YYYY-MM-DD"
            );
            let perhaps = *first == value || *second == value;
            Err(if perhaps { Unequal::Unclear(reason) } else { Unequal::Wrong(reason) })
        }
    }
}

/// A piece of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A number, and how many digits it has.
    Number(i32, usize),
    /// A month by name.
    Month(i32),
}

/// Returns the different dates that a folded text can mean.
fn readings(text: &str) -> Vec<Date> {
    use Piece::{Month, Number};
    let Some(pieces) = pieces(text) else { return Vec::new() };
    let triples = match pieces.as_slice() {
        [Number(all, 8)] => vec![(all / 10_000, all / 100 % 100, all % 100)],
        [Number(year, 4), Number(month, 1..=2) | Month(month), Number(day, 1..=2)]
        | [Number(day, 1..=2), Month(month), Number(year, 4)]
        | [Month(month), Number(day, 1..=2), Number(year, 4)] => vec![(*year, *month, *day)],
        [Number(first, 1..=2), Number(second, 1..=2), Number(year, 4)] => {
            vec![(*year, *first, *second), (*year, *second, *first)]
        }
        _ => Vec::new(),
    };
    let mut dates: Vec<Date> = triples.into_iter().filter_map(date).collect();
    dates.dedup();
    dates
}

fn date((year, month, day): (i32, i32, i32)) -> Option<Date> {
    let year = i16::try_from(year).ok()?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// Takes a text apart; `None` when something in it has no place in a date.
fn pieces(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    for word in words(text) {
        if FILLERS.contains(&word) || weekday(word).is_some() {
            continue;
        }
        pieces.push(piece(word)?);
        if pieces.len() > 3 {
            return None;
        }
    }
    Some(pieces)
}

fn piece(word: &str) -> Option<Piece> {
    if let Some(index) = is_name(word, &MONTHS) {
        return Some(Piece::Month(i32::try_from(index).ok()? + 1));
    }
    let digits = ["st", "nd", "rd", "th"]
        .into_iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| all_digits)?;
    Some(Piece::Number(number, digits.len()))
}

/// Returns the index of the name that `word` is, or abbreviates with three letters or more.
fn is_name(word: &str, names: &[&str]) -> Option<usize> {
    names.iter().position(|name| word.len() >= 3 && name.starts_with(word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let separates = |letter: char| letter.is_whitespace() || "-/.,年月日号號".contains(letter);
    text.split(separates).filter(|word| !word.is_empty())
}

/// Returns whether a text names a day of the week on which the date does not fall.
fn contradicts(text: &str, date: Date) -> bool {
    let day = usize::try_from(date.weekday().to_monday_zero_offset()).ok();
    words(text).filter_map(weekday).any(|named| Some(named) != day)
}

/// Returns the day of the week that a word names, from 0 for Monday.
fn weekday(word: &str) -> Option<usize> {
    let day = word.strip_prefix("星期").or_else(|| word.strip_prefix("周"));
    let chinese = day.and_then(|day| {
        // The last character of `星期日` has been taken for a separator.
        if day.is_empty() || day == "天" {
            return Some(6);
        }
        ["一", "二", "三", "四", "五", "六"].iter().position(|name| *name == day)
    });
    chinese.or_else(|| is_name(word, &WEEKDAYS))
}
