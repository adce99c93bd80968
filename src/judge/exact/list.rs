//! Lists of short texts.

use super::Unequal;
use super::text::{folded, key};

/// Ways to take an answer apart, from the mark that separates most clearly to those that
/// may also stand inside an item. All are tried; an item that contains a weak mark is
/// thus found as long as the items are separated by a stronger one.
const SEPARATORS: [&[char]; 3] = [&['\n'], &['\n', ';'], &['\n', ';', ',', '、']];

/// Words that stand between the last two items.
const ANDS: [&str; 6] = [" and ", "&", "以及", "和", "与", "及"];

/// Compares an answer with the items of the reference: the same ones, each once, and,
/// if the order counts, in that order.
pub(super) fn compare(
    given: &str,
    value: &[String],
    ordered: bool,
) -> Result<&'static str, Unequal> {
    let want: Vec<String> = value.iter().map(|item| key(item)).collect();
    let given = key_keeping_lines(given);
    let splits: Vec<Vec<String>> = SEPARATORS
        .iter()
        .flat_map(|marks| [split(&given, marks, false), split(&given, marks, true)])
        .collect();
    if splits.contains(&want) {
        return Ok("the same items in the same order");
    }
    let sorted = |items: &[String]| {
        let mut items = items.to_vec();
        items.sort();
        items
    };
    if splits.iter().any(|items| sorted(items) == sorted(&want)) {
        if ordered {
            return Err(Unequal::Wrong("the items are right, their order is not".to_owned()));
        }
        return Ok("the same items");
    }
    Err(Unequal::Unclear(difference(&splits, &want)))
}

/// Says what is missing and what is too much in the reading that fits best.
fn difference(splits: &[Vec<String>], want: &[String]) -> String {
    let hits = |items: &Vec<String>| want.iter().filter(|item| items.contains(item)).count();
    let best = splits.iter().max_by_key(|items| hits(items));
    let found = best.map_or(0, hits);
    let items = best.map_or(0, Vec::len);
    format!("{found} of the {} items are named, among {items} in the answer", want.len())
}

/// Takes away what encloses the whole list.
fn key_keeping_lines(given: &str) -> String {
    let folded = folded(given);
    if folded.trim().contains('\n') { folded } else { key(given) }
}

fn split(given: &str, marks: &[char], at_and: bool) -> Vec<String> {
    let mut items: Vec<&str> = given.split(marks).collect();
    if at_and {
        for and in ANDS {
            items = items.into_iter().flat_map(|item| item.split(and)).collect();
        }
        // After a comma, the word begins the item: `a, b, and c`.
        items = items
            .into_iter()
            .map(|item| item.trim_start().strip_prefix("and ").unwrap_or(item))
            .collect();
    }
    items.into_iter().map(|item| key(unnumbered(item))).filter(|item| !item.is_empty()).collect()
}

/// Takes away a bullet, or a number such as `1.`, `2)` or `(3)`.
fn unnumbered(item: &str) -> &str {
    let item = item.trim();
    for bullet in ["- ", "* ", "• ", "· ", "+ "] {
        if let Some(rest) = item.strip_prefix(bullet) {
            return rest;
        }
    }
    let rest = item.strip_prefix('(').unwrap_or(item);
    let after = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = rest.len() - after.len();
    let text = after.strip_prefix(['.', ')', '、']).filter(|_| (1..=2).contains(&digits));
    // `3.5` is a number, not the third item.
    text.filter(|text| !text.starts_with(|letter: char| letter.is_ascii_digit())).unwrap_or(item)
}
