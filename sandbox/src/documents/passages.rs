//! The passages of a long text that matter for a question.
//!
//! Words, and pairs of neighbouring Chinese characters, are weighed by how rare they are
//! in the text; no model is asked, so the same text and question give the same
//! passages. Passages stay in the order of the text and name the page or heading that
//! they stand under.

use std::collections::{BTreeMap, BTreeSet};

/// A text of at most so many characters is returned whole.
const WHOLE: usize = 4_000;

/// Characters of a passage, about.
const PASSAGE: usize = 800;

/// The most passages.
const PASSAGES: usize = 12;

/// A piece of the text with the heading above it.
struct Passage<'a> {
    heading: &'a str,
    text: String,
    terms: BTreeMap<String, u32>,
}

/// Returns the passages of `text` that matter for `query`, or nothing when the text is
/// short enough to be read whole, or no word of the query occurs in it.
#[must_use]
pub fn passages(text: &str, query: &str) -> Option<String> {
    let wanted: BTreeSet<String> = terms(query).into_keys().collect();
    if wanted.is_empty() || text.chars().count() <= WHOLE {
        return None;
    }
    let passages = split(text);
    let scores = scores(&passages, &wanted);
    let mut best: Vec<usize> = (0..passages.len()).filter(|index| scores[*index] > 0.0).collect();
    best.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    best.truncate(PASSAGES);
    best.sort_unstable();
    if best.is_empty() {
        return None;
    }
    let mut out = format!("{} of {} passages match the query:", best.len(), passages.len());
    let mut heading = "";
    for index in best {
        let passage = &passages[index];
        if passage.heading != heading {
            heading = passage.heading;
            out.push_str("\n\n");
            out.push_str(heading);
        }
        out.push_str("\n\n[…] ");
        out.push_str(passage.text.trim());
    }
    Some(out)
}

/// Splits at headings and, within them, at line ends about every [`PASSAGE`] characters.
fn split(text: &str) -> Vec<Passage<'_>> {
    let mut passages = Vec::new();
    let (mut heading, mut piece) = ("", String::new());
    let mut flush = |heading, piece: &mut String| {
        if !piece.trim().is_empty() {
            let text = std::mem::take(piece);
            let terms = terms(&text);
            passages.push(Passage { heading, text, terms });
        }
        piece.clear();
    };
    for line in text.lines() {
        if line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') {
            flush(heading, &mut piece);
            heading = line;
            continue;
        }
        let mut rest = line;
        // A line without end is cut, so that one passage is never the whole text.
        while rest.len() > 4 * PASSAGE {
            let (start, end) = rest.split_at(rest.floor_char_boundary(2 * PASSAGE));
            piece.push_str(start);
            flush(heading, &mut piece);
            rest = end;
        }
        piece.push_str(rest);
        piece.push('\n');
        if piece.len() > PASSAGE {
            flush(heading, &mut piece);
        }
    }
    flush(heading, &mut piece);
    passages
}

/// BM25 with its usual constants; a heading counts as part of its passages.
fn scores(passages: &[Passage<'_>], wanted: &BTreeSet<String>) -> Vec<f64> {
    let real = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let length = |passage: &Passage<'_>| f64::from(passage.terms.values().sum::<u32>());
    let total = real(passages.len());
    let average = passages.iter().map(length).sum::<f64>() / total.max(1.0);
    let mut scores = vec![0.0; passages.len()];
    for term in wanted {
        let holding = passages.iter().filter(|passage| passage.terms.contains_key(term)).count();
        let rarity = (1.0 + (total - real(holding) + 0.5) / (real(holding) + 0.5)).ln();
        for (score, passage) in scores.iter_mut().zip(passages) {
            let count = f64::from(passage.terms.get(term).copied().unwrap_or(0));
            let bulk = 1.2 * (0.25 + 0.75 * length(passage) / average.max(1.0));
            *score += rarity * count * 2.2 / (count + bulk);
        }
    }
    scores
}

/// Counts words in lower case, and pairs of neighbouring characters where words are not
/// divided by spaces. Words too common to tell anything are left out.
fn terms(text: &str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        let mut latin = String::new();
        let mut before = None;
        for letter in word.chars() {
            if is_ideograph(letter) {
                count(&mut counts, &mut latin);
                if let Some(before) = before.replace(letter) {
                    *counts.entry(format!("{before}{letter}")).or_default() += 1;
                }
            } else {
                before = None;
                latin.extend(letter.to_lowercase());
            }
        }
        count(&mut counts, &mut latin);
    }
    counts
}

fn count(counts: &mut BTreeMap<String, u32>, word: &mut String) {
    let word = std::mem::take(word);
    if !word.is_empty() && !COMMON.contains(&word.as_str()) {
        *counts.entry(word).or_default() += 1;
    }
}

/// Words of questions that say nothing about what is asked for.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "how",
    "in", "is", "it", "of", "on", "or", "that", "the", "this", "to", "was", "were", "what", "when",
    "where", "which", "who", "why", "with",
];

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> String {
        let filler = "Nothing of note happened on that day in the harbour.\n".repeat(40);
        format!(
            "## Page 1\n\n{filler}\n## Page 2\n\n{filler}The ferry fare rose to 7.40 euros.\n\
             {filler}\n## Page 3\n\n{filler}渡轮票价在三月上调至七元。\n"
        )
    }

    #[test]
    fn the_passage_that_answers_comes_with_its_page() {
        let table = [
            ("What is the ferry fare?", "## Page 2", "7.40 euros"),
            ("渡轮票价是多少", "## Page 3", "上调至七元"),
        ];
        for (query, page, answer) in table {
            let got = passages(&book(), query).unwrap();
            assert!(got.contains(page) && got.contains(answer), "{query}: {got}");
            assert!(!got.contains("## Page 1"), "{query}: {got}");
        }
    }

    #[test]
    fn no_passages_where_the_whole_serves_better() {
        assert_eq!(passages("short", "short"), None, "a short text is read whole");
        assert_eq!(passages(&book(), "zeppelin"), None, "no word occurs");
        assert_eq!(passages(&book(), "what is the"), None, "nothing is asked for");
    }

    #[test]
    fn a_text_in_one_line_is_cut() {
        let line = format!("{} needle {}", "hay ".repeat(20_000), "straw ".repeat(20_000));
        let got = passages(&line, "needle").unwrap();
        assert!(got.contains("needle") && got.len() < 10_000, "{} bytes", got.len());
    }
}
