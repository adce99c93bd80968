//! The passages of a text that answer a query.
//!
//! A text is cut into blocks (paragraphs, list items run together, tables, code), and
//! blocks are ranked by how well words fit (BM25). What is kept stands in the order of
//! the text, each block under its headings, so that a reader sees where it came from.

use std::collections::HashMap;

use super::search::{grams, is_common, words};

/// BM25's saturation and length constants, as commonly set.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Longer blocks are cut into rows or lines, in bytes.
const LONGEST_BLOCK: usize = 1500;

/// What was chosen of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passages {
    /// The passages, `[…]` where something was left out between them.
    pub text: String,
    /// How many blocks were chosen; zero where no word of the query stands in the text.
    pub chosen: usize,
    /// How many there are.
    pub blocks: usize,
}

/// A piece of the text that is shown whole or not at all.
struct Block<'a> {
    text: &'a str,
    /// The block that says what this one is of: the head of a table.
    head: Option<&'a str>,
    /// Headings above, outermost first.
    headings: Vec<&'a str>,
}

/// Returns the passages of a Markdown text that fit `query`, in at most about
/// `budget` characters; the best block is shown whatever its length.
#[must_use]
pub fn passages(markdown: &str, query: &str, budget: usize) -> Passages {
    let blocks = blocks(markdown);
    let mut ranked: Vec<_> =
        scores(&blocks, query).into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut left = budget;
    let mut chosen: Vec<usize> = Vec::new();
    for (number, _) in ranked {
        let length = blocks.get(number).map_or(0, |block| block.text.chars().count());
        if length <= left || chosen.is_empty() {
            left = left.saturating_sub(length);
            chosen.push(number);
        }
    }
    chosen.sort_unstable();
    Passages { text: joined(&blocks, &chosen), chosen: chosen.len(), blocks: blocks.len() }
}

/// Writes the chosen blocks with their headings.
fn joined(blocks: &[Block<'_>], chosen: &[usize]) -> String {
    let mut out = String::new();
    let mut headings: &[&str] = &[];
    let mut head = None;
    let mut expected = 0;
    for number in chosen {
        let Some(block) = blocks.get(*number) else { continue };
        if *number != expected {
            out.push_str("[…]\n\n");
        }
        let common = headings.iter().zip(&block.headings).take_while(|(a, b)| a == b).count();
        for heading in block.headings.iter().skip(common) {
            out.push_str(heading);
            out.push_str("\n\n");
        }
        if let Some(table) = block.head.filter(|_| block.head != head || *number != expected) {
            out.push_str(table);
            out.push('\n');
        }
        out.push_str(block.text);
        out.push_str(if block.head.is_some() && chosen.binary_search(&(number + 1)).is_ok() {
            "\n"
        } else {
            "\n\n"
        });
        (headings, head, expected) = (&block.headings, block.head, number + 1);
    }
    if expected < blocks.len() && !out.is_empty() {
        out.push_str("[…]");
    }
    out.trim_end().to_owned()
}

/// Cuts a text into blocks.
fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut headings: Vec<(usize, &str)> = Vec::new();
    for part in parts(markdown) {
        let level = part.bytes().take_while(|byte| *byte == b'#').count();
        if (1..=6).contains(&level)
            && !part.contains('\n')
            && part.as_bytes().get(level) == Some(&b' ')
        {
            headings.retain(|(above, _)| *above < level);
            headings.push((level, part));
            continue;
        }
        let above: Vec<_> = headings.iter().map(|(_, heading)| *heading).collect();
        if part.len() <= LONGEST_BLOCK || part.starts_with("```") {
            blocks.push(Block { text: part, head: None, headings: above });
            continue;
        }
        let (head, rows) = table_head(part);
        for text in rows.lines().filter(|line| !line.trim().is_empty()) {
            blocks.push(Block { text, head, headings: above.clone() });
        }
    }
    blocks
}

/// Returns the pieces between empty lines; a fence of code is one piece.
fn parts(markdown: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut fenced = false;
    for line in markdown.split_inclusive('\n') {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let ends = !fenced && line.trim().is_empty();
        // A heading stands alone, also where no empty line follows it.
        let alone = !fenced && line.starts_with('#');
        if ends || alone {
            parts.push(&markdown[start..at]);
            start = at;
        }
        at += line.len();
        if alone {
            parts.push(&markdown[start..at]);
            start = at;
        }
    }
    parts.push(&markdown[start..]);
    parts
        .into_iter()
        .map(|part| part.trim_matches('\n'))
        .filter(|part| !part.trim().is_empty())
        .collect()
}

/// Takes the head off a table: its first row and the line of dashes.
fn table_head(part: &str) -> (Option<&str>, &str) {
    let mut lines = part.match_indices('\n').map(|(at, _)| at);
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return (None, part) };
    let rule = &part[first + 1..second];
    let is_rule = rule.contains("--") && rule.chars().all(|c| "|-: \t".contains(c));
    if part.starts_with('|') && is_rule {
        (Some(&part[..second]), &part[second + 1..])
    } else {
        (None, part)
    }
}

/// Returns the BM25 score of each block, its headings included.
fn scores(blocks: &[Block<'_>], query: &str) -> Vec<f64> {
    let mut wanted = terms(query);
    if wanted.iter().any(|word| !is_common(word)) {
        wanted.retain(|word| !is_common(word));
    }
    wanted.sort();
    wanted.dedup();
    let counts: Vec<(HashMap<String, f64>, f64)> = blocks
        .iter()
        .map(|block| {
            let mut counts = HashMap::new();
            let all = terms(block.text);
            for word in &all {
                *counts.entry(word.clone()).or_insert(0.0) += 1.0;
            }
            for word in block.headings.iter().flat_map(|heading| terms(heading)) {
                *counts.entry(word).or_insert(0.0) += 0.5;
            }
            (counts, length(all.len()))
        })
        .collect();
    let total = length(blocks.len());
    let average = counts.iter().map(|(_, length)| length).sum::<f64>() / total.max(1.0);
    let mut scores = vec![0.0; blocks.len()];
    for word in &wanted {
        let holding = length(counts.iter().filter(|(counts, _)| counts.contains_key(word)).count());
        let rarity = (1.0 + (total - holding + 0.5) / (holding + 0.5)).ln();
        for (score, (counts, length)) in scores.iter_mut().zip(&counts) {
            let times = counts.get(word).copied().unwrap_or(0.0);
            let norm = K1 * (1.0 - B + B * length / average.max(1.0));
            *score += rarity * times * (K1 + 1.0) / (times + norm);
        }
    }
    scores
}

#[expect(clippy::cast_precision_loss, reason = "texts have far fewer words than 2^52")]
fn length(count: usize) -> f64 {
    count as f64
}

fn terms(text: &str) -> Vec<String> {
    let mut terms = words(text);
    terms.extend(grams(text));
    terms
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "# Port Ellery\nThe harbour lies in the north.\n\n## Tides\n\n\
        Spring tides reach 4.2 m in March.\n\n## Fees\n\nA berth costs 12 crowns a night.\n\n\
        ```\nfee = 12\n\nprint(fee)\n```\n\n## 联系\n\n港务局电话 0101。\n";

    #[test]
    fn what_fits_is_shown_under_its_headings() {
        let table = [
            (
                "how high is a spring tide",
                "[…]\n\n# Port Ellery\n\n## Tides\n\nSpring tides reach 4.2 m in March.\n\n[…]",
            ),
            ("电话", "[…]\n\n# Port Ellery\n\n## 联系\n\n港务局电话 0101。"),
            ("zeppelin", ""),
            ("", ""),
        ];
        for (query, want) in table {
            assert_eq!(passages(TEXT, query, 500).text, want, "{query}");
        }
        let code = passages(TEXT, "print", 500);
        assert!(code.text.contains("fee = 12\n\nprint(fee)"), "code is one block: {}", code.text);
        assert_eq!((code.chosen, code.blocks), (1, 5));
    }

    #[test]
    fn a_long_table_gives_the_fitting_rows_under_its_head() {
        let rows: String = (0..200).map(|n| format!("| station{n} | {n}.5 |\n")).collect();
        let text = format!("# Levels\n\n| station | m |\n| --- | --- |\n{rows}");
        let found = passages(&text, "station77 level", 2000);
        assert!(found.text.contains("| station | m |\n| --- | --- |\n"), "{}", found.text);
        assert!(found.text.contains("| station77 | 77.5 |"), "{}", found.text);
    }

    proptest! {
        #[test]
        fn any_text_and_query_are_taken(text in r"([#|`\n -]|a|b|潮|```\n){0,80}", query in "[ab潮 \"-]{0,8}") {
            let found = passages(&text, &query, 20);
            prop_assert!(found.chosen <= found.blocks);
        }
    }
}
