//! Names near one that is not there.

use camino::Utf8Path;
use unicode_normalization::UnicodeNormalization;

use super::Entry;

/// The most names that a hint gives.
const NAMES: usize = 5;

/// The longest name that is compared letter by letter.
const COMPARED: usize = 100;

/// Returns what an error adds about names that may have been meant.
pub(super) fn near(path: &Utf8Path, entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "; it holds no files".to_owned();
    }
    let wanted = folded(path.as_str());
    let base = folded(path.file_name().unwrap_or_default());
    let mut ranked: Vec<(usize, &Entry)> = entries
        .iter()
        .filter_map(|entry| {
            let there = folded(entry.path.as_str());
            let there_base = folded(entry.path.file_name().unwrap_or_default());
            let distance = if there == wanted {
                0
            } else if there_base == base {
                1
            } else {
                1 + distance(&there_base, &base)
            };
            (distance <= 1 + base.chars().count() / 3).then_some((distance, entry))
        })
        .collect();
    ranked.sort_by_key(|&(distance, entry)| (distance, &entry.path));
    if ranked.is_empty() {
        return format!("; it holds {}", names(entries.iter(), entries.len()));
    }
    let count = ranked.len();
    format!("; did you mean {}?", names(ranked.into_iter().map(|(_, entry)| entry), count))
}

fn names<'a>(entries: impl Iterator<Item = &'a Entry>, count: usize) -> String {
    let mut list: Vec<String> =
        entries.take(NAMES).map(|entry| format!("`{}`", super::path::shown(&entry.path))).collect();
    if count > NAMES {
        list.push(format!("and {} more", count - NAMES));
    }
    list.join(", ")
}

/// One form for all spellings that look alike.
fn folded(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).take(COMPARED).collect()
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let changed = corner + usize::from(letter != *other);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let entries: Vec<Entry> = ["data/Sales.xlsx", "cafe\u{301}.txt", "notes.md", "销售.csv"]
            .map(|path| Entry { path: path.into(), bytes: 1 })
            .into();
        let table = [
            ("data/sales.xlsx", "; did you mean `data/Sales.xlsx`?", "another case"),
            ("sales.xlsx", "; did you mean `data/Sales.xlsx`?", "without its directory"),
            ("caf\u{e9}.txt", "; did you mean `cafe\u{301}.txt`?", "another Unicode form"),
            ("note.md", "; did you mean `notes.md`?", "a slip"),
            (
                "zzzzzzzzzz",
                "; it holds `data/Sales.xlsx`, `cafe\u{301}.txt`, `notes.md`, `销售.csv`",
                "nothing near",
            ),
        ];
        for (path, want, why) in table {
            assert_eq!(near(Utf8Path::new(path), &entries), want, "{why}");
        }
        assert_eq!(near(Utf8Path::new("x"), &[]), "; it holds no files");
    }
}
