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
    let splits: Vec<Split> = SEPARATORS
        .iter()
        .flat_map(|marks| [split(&given, marks, false), split(&given, marks, true)])
        .collect();
    let sorted = |items: &[String]| {
        let mut items = items.to_vec();
        items.sort();
        items
    };
    let mut same = splits.iter().filter(|split| sorted(&split.items) == sorted(&want)).peekable();
    if same.peek().is_none() {
        return Err(Unequal::Unclear(difference(&splits, &want)));
    }
    if !ordered {
        return Ok("the same items");
    }
    if same.clone().any(Split::has_own_order) {
        let reason = "the items have numbers that are not 1, 2, 3 and so on in this order";
        return Err(Unequal::Unclear(reason.to_owned()));
    }
    if same.any(|split| split.items == want) {
        return Ok("the same items in the same order");
    }
    Err(Unequal::Wrong("the items are right, their order is not".to_owned()))
}

/// An answer taken apart.
struct Split {
    items: Vec<String>,
    /// The number before each item, where there is one.
    numbers: Vec<Option<usize>>,
}

impl Split {
    /// Returns whether the items carry numbers that say another order than the one they
    /// stand in, or none that can be followed.
    fn has_own_order(&self) -> bool {
        let any = self.numbers.iter().any(Option::is_some);
        any && (1..).zip(&self.numbers).any(|(place, number)| *number != Some(place))
    }
}

/// Says what is missing and what is too much in the reading that fits best.
fn difference(splits: &[Split], want: &[String]) -> String {
    let hits = |items: &Vec<String>| want.iter().filter(|item| items.contains(item)).count();
    let best = splits.iter().map(|split| &split.items).max_by_key(|items| hits(items));
    let found = best.map_or(0, hits);
    let items = best.map_or(0, Vec::len);
    format!("{found} of the {} items are named, among {items} in the answer", want.len())
}

/// Takes away what encloses the whole list.
fn key_keeping_lines(given: &str) -> String {
    let folded = folded(given);
    if folded.trim().contains('\n') { folded } else { key(given) }
}

fn split(given: &str, marks: &[char], at_and: bool) -> Split {
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
    let (numbers, items) = items
        .into_iter()
        .map(|item| {
            let (number, item) = numbered(item);
            (number, key(item))
        })
        .filter(|(_, item)| !item.is_empty())
        .unzip();
    Split { items, numbers }
}

/// Takes away a bullet, or a number such as `1.`, `2)` or `(3)`.
pub(super) fn unnumbered(item: &str) -> &str {
    numbered(item).1
}

/// Returns the number before an item, and the item without it or its bullet.
fn numbered(item: &str) -> (Option<usize>, &str) {
    let item = item.trim();
    for bullet in ["- ", "* ", "• ", "· ", "+ "] {
        if let Some(rest) = item.strip_prefix(bullet) {
            return (None, rest);
        }
    }
    let rest = item.strip_prefix('(').unwrap_or(item);
    let after = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = rest.len() - after.len();
    let text = after.strip_prefix(['.', ')', '、']).filter(|_| (1..=2).contains(&digits));
    // `3.5` is a number, not the third item.
    match text.filter(|text| !text.starts_with(|letter: char| letter.is_ascii_digit())) {
        Some(text) => (rest[..digits].parse().ok(), text),
        None => (None, item),
    }
}
