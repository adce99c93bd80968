//! The forms in which an answer can stand in a text, and how they are looked for.
//!
//! Text and form are compared after NFKC and lowering, with runs of spaces as one, so
//! full-width digits and no-break spaces hide nothing. A form counts where it stands
//! as words of its own: letters before or after an outer letter, and digits (also past
//! `.`, `-`, `/`, `:`) before or after an outer digit, make it part of something else.
//! Past a comma a number goes on only where the comma can separate thousands: one to
//! three digits before it, exactly three after it, and no date before it. Chinese has no spaces, so a Chinese form counts anywhere; but one of a single
//! character only where no other Chinese character touches it. Forms of one or two
//! characters need strict boundaries: no letter or digit may touch them at all.
//!
//! A list stands where all of its items do, in their order if the order counts: one
//! item alone gives nothing away. Number words (`three`, `三`) and dates without their
//! year are not looked for.

use jiff::civil::Date;
use unicode_normalization::UnicodeNormalization;

use crate::answer::{Answer, AnswerKind};

impl Answer {
    /// Returns every form in which the answer may be spelled: the value in its common
    /// spellings and the accepted forms; of a list, its items.
    #[must_use]
    pub fn forms(&self) -> Vec<String> {
        let mut forms = match &self.kind {
            AnswerKind::Text { value } => vec![value.clone()],
            AnswerKind::Number { value, tolerance, .. } => number_forms(*value, *tolerance),
            AnswerKind::Date { value } => date_forms(*value),
            AnswerKind::List { value, .. } => value.clone(),
        };
        forms.extend(self.accept.iter().cloned());
        let mut seen = std::collections::BTreeSet::new();
        forms.retain(|form| seen.insert(form.clone()));
        forms
    }
}

/// Spells a number with up to two decimal places where that stays within the
/// tolerance, each with the usual separators.
fn number_forms(value: f64, tolerance: f64) -> Vec<String> {
    let mut plain = vec![value.to_string()];
    for places in 0..=2 {
        let text = format!("{value:.places$}");
        let near =
            text.parse::<f64>().is_ok_and(|other| (other - value).abs() <= tolerance.max(1e-9));
        if near && !plain.contains(&text) {
            plain.push(text);
        }
    }
    let mut forms = Vec::new();
    for text in plain {
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        for (thousands, point) in
            [("", "."), (",", "."), (" ", "."), ("'", "."), ("", ","), (".", ",")]
        {
            let mut form = grouped(whole, thousands);
            if !decimals.is_empty() {
                form.push_str(point);
                form.push_str(decimals);
            }
            forms.push(form);
        }
    }
    forms
}

/// Puts a separator between groups of three digits.
fn grouped(whole: &str, separator: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push_str(separator);
        }
        text.push(digit);
    }
    text
}

fn date_forms(date: Date) -> Vec<String> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let (y, m, d) = (date.year(), date.month(), date.day());
    let long = usize::try_from(m).ok().and_then(|m| MONTHS.get(m.saturating_sub(1))).unwrap_or(&"");
    let ending = match d {
        1 | 21 | 31 => "st",
        2 | 22 => "nd",
        3 | 23 => "rd",
        _ => "th",
    };
    let mut forms = vec![
        date.to_string(),
        format!("{y}-{m}-{d}"),
        format!("{y}/{m:02}/{d:02}"),
        format!("{y}/{m}/{d}"),
        format!("{y}.{m:02}.{d:02}"),
        format!("{y}{m:02}{d:02}"),
        format!("{d:02}.{m:02}.{y}"),
        format!("{d}.{m}.{y}"),
        format!("{d:02}/{m:02}/{y}"),
        format!("{d}/{m}/{y}"),
        format!("{m:02}/{d:02}/{y}"),
        format!("{m}/{d}/{y}"),
        format!("{d:02}-{m:02}-{y}"),
        format!("{y}年{m}月{d}日"),
        format!("{y}年{m:02}月{d:02}日"),
        format!("{y} 年 {m} 月 {d} 日"),
    ];
    for month in [long, &long[..long.len().min(3)]] {
        forms.push(format!("{d} {month} {y}"));
        forms.push(format!("{d:02} {month} {y}"));
        forms.push(format!("{d}{ending} {month} {y}"));
        forms.push(format!("{d}{ending} of {month} {y}"));
        forms.push(format!("{month} {d}, {y}"));
        forms.push(format!("{month} {d} {y}"));
        forms.push(format!("{month} {d}{ending}, {y}"));
    }
    forms
}

/// A text made comparable.
#[derive(Debug)]
pub(crate) struct Normal(String);

impl Normal {
    /// Makes a text comparable.
    pub(crate) fn of(text: &str) -> Self {
        let folded: String = text
            .nfkc()
            .filter(|c| !matches!(c, '\u{200b}'..='\u{200d}' | '\u{feff}' | '\u{ad}'))
            .flat_map(char::to_lowercase)
            .collect();
        Self(folded.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Returns where a form stands as words of its own, at or after `from`.
    fn find(&self, form: &str, from: usize) -> Option<usize> {
        let rest = self.0.get(from..)?;
        rest.match_indices(form)
            .map(|(at, _)| from + at)
            .find(|at| stands_alone(&self.0, *at, *at + form.len()))
    }

    /// Returns some of the text around a position.
    fn around(&self, at: usize) -> String {
        let before: Vec<char> = self.0[..at].chars().rev().take(30).collect();
        before.into_iter().rev().chain(self.0[at..].chars().take(50)).collect()
    }
}

fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() && !is_chinese(c)
}

/// Returns whether the form at `start..end` of a text is no part of something longer.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let (before, form, after) = (&text[..start], &text[start..end], &text[end..]);
    let mut left = before.chars().rev();
    let mut right = after.chars();
    let outer = (form.chars().next(), form.chars().next_back());
    let short = form.chars().count() <= 2;
    let mut touched = [before.chars().next_back(), after.chars().next()].into_iter().flatten();
    let inside = form.chars().count() == 1 && form.chars().all(is_chinese);
    if inside && touched.any(is_chinese) {
        return false;
    }
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let grouped_before =
        is_digit(outer.0) && before.ends_with(',') && groups_thousands(text, start - 1);
    let grouped_after = is_digit(outer.1) && after.starts_with(',') && groups_thousands(text, end);
    !grouped_before
        && !grouped_after
        && !joins(outer.0, short, left.next(), left.next())
        && !joins(outer.1, short, right.next(), right.next())
}

/// Returns whether the comma at `at` can separate thousands of one number; it cannot
/// behind a date or behind decimal places.
fn groups_thousands(text: &str, at: usize) -> bool {
    let (before, after) = (&text.as_bytes()[..at], &text.as_bytes()[at + 1..]);
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let mark = before.iter().rev().nth(digits);
    let ends_other = match mark {
        Some(b'.') => digits != 3,
        Some(b'-' | b'/') => before.iter().rev().nth(digits + 1).is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    let follow = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=3).contains(&digits) && !ends_other && follow == 3
}

/// Returns whether an outer character of a form goes on in its neighbours. A comma is
/// not looked at here.
fn joins(outer: Option<char>, short: bool, next: Option<char>, second: Option<char>) -> bool {
    let (Some(outer), Some(next)) = (outer, next) else { return false };
    if outer.is_ascii_digit() {
        let continues = matches!(next, '.' | '-' | '/' | ':')
            && second.is_some_and(|second| second.is_ascii_digit());
        next.is_ascii_digit() || continues || (short && is_word(next))
    } else {
        is_word(outer) && is_word(next)
    }
}

/// All forms of an answer, ready to be looked for.
#[derive(Debug)]
pub(crate) struct Forms {
    /// Each of these gives the answer away where all of its parts stand.
    alternatives: Vec<Vec<String>>,
    ordered: bool,
}

impl Forms {
    /// Prepares the forms of an answer.
    pub(crate) fn of(answer: &Answer) -> Self {
        let normal = |form: &String| Normal::of(form).0;
        let (mut alternatives, ordered): (Vec<Vec<String>>, _) = match &answer.kind {
            AnswerKind::List { value, ordered } => {
                let mut all = vec![value.iter().map(normal).collect()];
                all.extend(answer.accept.iter().map(|form| vec![normal(form)]));
                (all, *ordered)
            }
            AnswerKind::Text { .. } | AnswerKind::Number { .. } | AnswerKind::Date { .. } => {
                (answer.forms().iter().map(|form| vec![normal(form)]).collect(), false)
            }
        };
        alternatives.retain(|parts| !parts.is_empty() && parts.iter().all(|part| !part.is_empty()));
        Self { alternatives, ordered }
    }

    /// Returns the form that stands in a text, with some of the text around it.
    pub(crate) fn standing_in(&self, text: &Normal) -> Option<(String, String)> {
        self.alternatives.iter().find_map(|parts| {
            let mut from = 0;
            let mut first = None;
            for part in parts {
                let at = text.find(part, if self.ordered { from } else { 0 })?;
                first.get_or_insert(at);
                from = at + part.len();
            }
            Some((parts.join(", "), text.around(first?)))
        })
    }

    /// Returns the form that a part of a solution writes down literally.
    ///
    /// Forms of one or two characters, and whole numbers of up to three digits, are
    /// too likely to be an index or a factor; they count only inside quotes.
    pub(crate) fn literal_in(&self, text: &str) -> Option<String> {
        let text = Normal::of(text);
        let written = |part: &String| {
            let digits = part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit());
            if part.chars().count() <= 2 || digits {
                text.0.contains(&format!("\"{part}\"")) || text.0.contains(&format!("'{part}'"))
            } else {
                text.find(part, 0).is_some()
            }
        };
        self.alternatives
            .iter()
            .find(|parts| parts.iter().all(written))
            .map(|parts| parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: AnswerKind) -> Answer {
        Answer { kind, accept: Vec::new(), stands: Vec::new() }
    }

    fn text(value: &str) -> Answer {
        answer(AnswerKind::Text { value: value.to_owned() })
    }

    fn number(value: f64) -> Answer {
        answer(AnswerKind::Number { value, tolerance: 0.0, unit: None })
    }

    fn list(ordered: bool) -> Answer {
        answer(AnswerKind::List { value: vec!["Lund".into(), "Moss".into()], ordered })
    }

    #[test]
    fn answers_are_found_in_their_forms() {
        let date = || answer(AnswerKind::Date { value: "2026-03-05".parse().unwrap() });
        let table = [
            (text("Anna Berg"), "by ANNA\u{a0}BERG, 1990", true, "case and spaces"),
            (text("Ann"), "Annual report", false, "part of a word"),
            (text("青石港"), "他去了青石港口", true, "Chinese stands anywhere"),
            (text("港"), "他去了青石港口", false, "one Chinese character inside words"),
            (text("港"), "答案：港。", true, "one Chinese character alone"),
            (number(1482.5), "total 1,482.50 EUR", true, "separator and places"),
            (number(1482.5), "１４８２．５", true, "full width"),
            (number(1482.5), "1.482,5", true, "comma for the point"),
            (number(1482.5), "1 482,50", false, "mixed styles are not looked for"),
            (number(1482.5), "21482.5", false, "part of a longer number"),
            (number(1482.5), "1482.51", false, "more places"),
            (number(3.0), "take 3 ferries", true, "a digit alone"),
            (number(3.0), "at 3.5 or 13:30 or 2026-3-4 or F3", false, "a digit in other things"),
            (number(-4.0), "it was -4 degrees", true, "negative"),
            (date(), "on 5 March 2026.", true, "long"),
            (date(), "on Mar 5, 2026", true, "short month"),
            (date(), "于2026年3月5日开放", true, "Chinese"),
            (date(), "2026-03-051", false, "a longer digit run"),
            (date(), "15 March 2026", false, "another day"),
            (list(false), "Moss and Lund", true, "all items"),
            (list(false), "Moss", false, "one item"),
            (list(true), "Moss and Lund", false, "all items in another order"),
            (list(true), "Lund, then Moss", true, "in order"),
        ];
        for (answer, material, want, why) in table {
            let found = Forms::of(&answer).standing_in(&Normal::of(material));
            assert_eq!(found.is_some(), want, "{why}: {material:?} gave {found:?}");
        }
    }

    /// A comma between cells hides nothing, and one inside a number joins it.
    #[test]
    fn a_comma_hides_nothing() {
        let date = || answer(AnswerKind::Date { value: "2018-09-29".parse().unwrap() });
        let table = [
            (number(1873.5), "1873.5,2025", true, "a row's start"),
            (number(1873.5), "5,1873.5", true, "a row's end"),
            (number(1873.5), "[1,1873.5,2025]", true, "JSON"),
            (number(1873.5), "2025-01-01,1873.5,2025-01-02", true, "between dates"),
            (number(1873.5), "1873.5,500", true, "decimal places take no thousands"),
            (number(1873.5), "1,873.5", true, "its own comma"),
            (number(873.5), "1,873.5", false, "the end of a longer number"),
            (number(19990.0), "5,19990,3", true, "between digits"),
            (number(19990.0), "2025,19990", true, "after a year"),
            (number(19990.0), "19990,2025-01-01", true, "before a date"),
            (number(19990.0), "[19990,1]", true, "JSON"),
            (number(19990.0), "19,990", true, "its own comma"),
            (number(19.0), "19,990", false, "the start of a longer number"),
            (number(990.0), "19,990", false, "the end of a longer number"),
            (number(990.0), "5,19,990,000", false, "the middle of a longer number"),
            (date(), "2018-09-29,5", true, "before a digit"),
            (date(), "7,2018-09-29,8", true, "between digits"),
            (date(), "2018-09-29,500", true, "before three digits"),
            (date(), "7,29/09/2018,8", true, "day first"),
        ];
        for (answer, material, want, why) in table {
            let found = Forms::of(&answer).standing_in(&Normal::of(material));
            assert_eq!(found.is_some(), want, "{why}: {material:?} gave {found:?}");
        }
    }

    #[test]
    fn forms_are_listed_for_people() {
        let mut answer = number(1482.5);
        answer.accept.push("about 1.5 thousand".to_owned());
        let forms = answer.forms();
        for form in ["1482.5", "1,482.50", "1 482.50", "1.482,5", "about 1.5 thousand"] {
            assert!(forms.iter().any(|other| other == form), "{form} is missing from {forms:?}");
        }
    }

    #[test]
    fn short_forms_may_be_indexes_in_a_solution() {
        let forms = Forms::of(&number(12.0));
        assert_eq!(forms.literal_in("rows[12] * 12"), None);
        assert_eq!(forms.literal_in("'12' if rows else ''"), Some("12".to_owned()));
        let forms = Forms::of(&number(1482.5));
        assert_eq!(forms.literal_in("rows|length * 0 + 1482.5"), Some("1482.5".to_owned()));
    }
}
