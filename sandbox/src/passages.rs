//! The passages of a long text that answer a query.
//!
//! A text is cut into blocks (paragraphs, code, rows of long tables, pieces of what has
//! no end), and blocks are ranked by how well words fit (BM25), no model asked. What is
//! kept stands in the order of the text, each block under the mark of its place (page,
//! sheet, slide, cell, member), its headings and the head of its table, so that a reader
//! sees where it came from and can cite it. No block is long, so that a text in a single
//! line is cut as well.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::words::{grams, is_common, words};

/// BM25's saturation and length constants, as commonly set.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What a word in a heading counts, beside one in the text.
const HEADING: f64 = 0.5;

/// Longer blocks are cut into rows or pieces, in bytes.
const LONGEST_BLOCK: usize = 1500;

/// Longer code is cut too, in bytes; what is shorter is of use only whole.
const LONGEST_CODE: usize = 5000;

/// The length of a piece, about, in bytes.
const PIECE: usize = 800;

/// Longer headings are text, and longer heads of tables are rows, in bytes.
const LONGEST_MARK: usize = 600;

/// Marks of places that readers of documents set, as headings of the second level, and
/// whether a section goes on past one: it does over pages, and not over sheets.
const PLACES: [(&str, bool); 5] = [
    ("## Member ", false),
    ("## Sheet ", false),
    ("## Slide ", false),
    ("## Page ", true),
    ("## Cell ", true),
];

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

/// Returns the passages of a text (Markdown or plain) that fit `query`, in at most about
/// `budget` characters; the best block is shown whatever its length.
///
/// Words that say nothing about what is asked for do not count, so a query of nothing
/// else chooses nothing.
#[must_use]
pub fn passages(text: &str, query: &str, budget: usize) -> Passages {
    let outline = Outline::of(text);
    let chosen = outline.chosen(&outline.scores(query), budget);
    Passages { text: outline.joined(&chosen), chosen: chosen.len(), blocks: outline.blocks.len() }
}

/// A piece of the text that is shown whole or not at all.
struct Block {
    place: Range<usize>,
    /// The marks above, outermost first.
    above: Rc<[usize]>,
}

/// What stands above the next block.
#[derive(Default)]
struct Standing {
    /// The member of an archive.
    member: Option<usize>,
    /// The page, sheet, slide or cell.
    place: Option<usize>,
    /// The headings with their levels.
    headings: Vec<(usize, usize)>,
}

impl Standing {
    fn add(&mut self, part: &str, level: usize, mark: usize) {
        let place = PLACES.iter().find(|(start, _)| part.starts_with(start));
        let Some((start, goes_on)) = place else {
            self.headings.retain(|(outer, _)| *outer < level);
            self.headings.push((level, mark));
            return;
        };
        if !goes_on {
            self.headings.clear();
        }
        if *start == PLACES[0].0 {
            (self.member, self.place) = (Some(mark), None);
        } else {
            self.place = Some(mark);
        }
    }

    fn marks(&self) -> Rc<[usize]> {
        let headings = self.headings.iter().map(|(_, mark)| *mark);
        self.member.into_iter().chain(self.place).chain(headings).collect()
    }
}

/// A text in blocks.
struct Outline<'a> {
    text: &'a str,
    /// What stands above blocks: marks of places, headings, and heads of tables.
    marks: Vec<Range<usize>>,
    blocks: Vec<Block>,
}

impl<'a> Outline<'a> {
    /// Cuts a text into blocks.
    fn of(text: &'a str) -> Self {
        let mut outline = Self { text, marks: Vec::new(), blocks: Vec::new() };
        let mut standing = Standing::default();
        let mut above: Rc<[usize]> = Rc::default();
        for place in parts(text) {
            let part = &text[place.clone()];
            if let Some(level) = heading_level(part) {
                standing.add(part, level, outline.marks.len());
                outline.marks.push(place);
                above = standing.marks();
                continue;
            }
            let longest = if part.starts_with("```") { LONGEST_CODE } else { LONGEST_BLOCK };
            if part.len() <= longest {
                outline.blocks.push(Block { place, above: Rc::clone(&above) });
            } else if let Some(head) = table_head(part) {
                outline.add_rows(place, head, &above);
            } else {
                outline.add_pieces(place, &above);
            }
        }
        outline
    }

    /// Adds the rows of a table whose head has `head` bytes.
    fn add_rows(&mut self, table: Range<usize>, head: usize, above: &[usize]) {
        let above: Rc<[usize]> = above.iter().copied().chain([self.marks.len()]).collect();
        let mut start = table.start + head;
        self.marks.push(table.start..start - 1);
        for row in self.text[start..table.end].split_inclusive('\n') {
            let place = trimmed(self.text, start..start + row.len());
            start += row.len();
            if place.len() > LONGEST_BLOCK {
                self.add_pieces(place, &above);
            } else if !place.is_empty() {
                self.blocks.push(Block { place, above: Rc::clone(&above) });
            }
        }
    }

    /// Adds what has no parts, in pieces.
    fn add_pieces(&mut self, part: Range<usize>, above: &Rc<[usize]>) {
        let mut start = part.start;
        while start < part.end {
            let end = start + piece(&self.text[start..part.end]);
            let place = trimmed(self.text, start..end);
            start = end;
            if !place.is_empty() {
                self.blocks.push(Block { place, above: Rc::clone(above) });
            }
        }
    }

    /// Returns the BM25 score of each block, its headings included.
    fn scores(&self, query: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.blocks.len()];
        let mut wanted = terms(query);
        wanted.retain(|word| !is_common(word));
        wanted.sort();
        wanted.dedup();
        if wanted.is_empty() {
            return scores;
        }
        let in_marks: Vec<_> =
            self.marks.iter().map(|place| count(&wanted, &self.text[place.clone()]).0).collect();
        // Most blocks hold no word, so what they hold is kept sparsely.
        let mut hits: HashMap<usize, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::with_capacity(self.blocks.len());
        for (number, block) in self.blocks.iter().enumerate() {
            let (mut found, length) = count(&wanted, &self.text[block.place.clone()]);
            for (word, times) in block.above.iter().flat_map(|mark| &in_marks[*mark]) {
                *found.entry(*word).or_default() += times * HEADING;
            }
            for (word, times) in found {
                hits.entry(word).or_default().push((number, times));
            }
            lengths.push(real(length));
        }
        let total = real(lengths.len());
        let average = (lengths.iter().sum::<f64>() / total.max(1.0)).max(1.0);
        // In the order of the words: sums of floats depend on it.
        for holding in (0..wanted.len()).filter_map(|word| hits.get(&word)) {
            let count = real(holding.len());
            let rarity = (1.0 + (total - count + 0.5) / (count + 0.5)).ln();
            for (number, times) in holding {
                let norm = K1 * (1.0 - B + B * lengths[*number] / average);
                scores[*number] += rarity * times * (K1 + 1.0) / (times + norm);
            }
        }
        scores
    }

    /// Returns the best blocks that fit, in the order of the text.
    fn chosen(&self, scores: &[f64], budget: usize) -> Vec<usize> {
        let mut ranked: Vec<usize> = (0..scores.len()).filter(|it| scores[*it] > 0.0).collect();
        ranked.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        let length = |place: &Range<usize>| self.text[place.clone()].chars().count();
        let mut shown = vec![false; self.marks.len()];
        let mut left = budget;
        let mut chosen = Vec::new();
        for number in ranked {
            let block = &self.blocks[number];
            let marks: usize = block
                .above
                .iter()
                .filter(|mark| !shown[**mark])
                .map(|mark| length(&self.marks[*mark]))
                .sum();
            let cost = length(&block.place) + marks;
            if cost <= left || chosen.is_empty() {
                left = left.saturating_sub(cost);
                chosen.push(number);
                block.above.iter().for_each(|mark| shown[*mark] = true);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Writes the chosen blocks with what stands above them.
    fn joined(&self, chosen: &[usize]) -> String {
        let mut out = String::new();
        let mut last: Option<&Block> = None;
        let mut expected = 0;
        for number in chosen {
            let block = &self.blocks[*number];
            let before = last.map_or(&[][..], |last| &last.above);
            let common = before.iter().zip(&*block.above).take_while(|(a, b)| a == b).count();
            let fresh = &block.above[common..];
            if *number != expected {
                out.push_str(if out.is_empty() { "[…]\n\n" } else { "\n\n[…]\n\n" });
            } else if let Some(last) = last {
                let between = &self.text[last.place.end..block.place.start];
                out.push_str(if fresh.is_empty() { gap(between) } else { "\n\n" });
            }
            for mark in fresh {
                let mark = &self.text[self.marks[*mark].clone()];
                out.push_str(mark);
                out.push_str(if mark.contains('\n') { "\n" } else { "\n\n" });
            }
            out.push_str(&self.text[block.place.clone()]);
            (last, expected) = (Some(block), number + 1);
        }
        if expected < self.blocks.len() && !out.is_empty() {
            out.push_str("\n\n[…]");
        }
        out
    }
}

/// Returns the places of the pieces between empty lines; a fence of code is one piece,
/// and so is a heading, also where no empty line follows it.
fn parts(text: &str) -> Vec<Range<usize>> {
    let is_fence = |line: &&str| line.starts_with("```");
    // A fence that never closes is none; it would swallow the rest of the text.
    let mut fences = text.lines().filter(is_fence).count();
    let mut parts = Vec::new();
    let (mut start, mut at, mut in_code) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        if is_fence(&line) {
            fences -= 1;
            in_code = !in_code && fences > 0;
        }
        let alone = !in_code && line.starts_with('#');
        if alone || !in_code && line.trim().is_empty() {
            parts.push(start..at);
            start = at;
        }
        at += line.len();
        if alone {
            parts.push(start..at);
            start = at;
        }
    }
    parts.push(start..at);
    parts.into_iter().map(|place| trimmed(text, place)).filter(|place| !place.is_empty()).collect()
}

/// Takes the line ends off both sides, and everything where there is nothing else to see.
fn trimmed(text: &str, place: Range<usize>) -> Range<usize> {
    let part = &text[place.clone()];
    if part.trim().is_empty() {
        return place.start..place.start;
    }
    let ends = ['\n', '\r'];
    let start = place.end - part.trim_start_matches(ends).len();
    start..place.start + part.trim_end_matches(ends).len()
}

/// Returns the level of a heading, if it is one.
fn heading_level(part: &str) -> Option<usize> {
    let level = part.bytes().take_while(|byte| *byte == b'#').count();
    let is_heading = (1..=6).contains(&level)
        && part.len() <= LONGEST_MARK
        && part.as_bytes().get(level) == Some(&b' ')
        && !part.contains('\n');
    is_heading.then_some(level)
}

/// Returns the length of a table's head, line end included: its first row and the line
/// of dashes.
fn table_head(part: &str) -> Option<usize> {
    let mut ends = part.match_indices('\n').map(|(at, _)| at);
    let (first, second) = (ends.next()?, ends.next()?);
    let rule = &part[first + 1..second];
    let is_rule = rule.contains("--") && rule.chars().all(|c| "|-: \t\r".contains(c));
    (part.starts_with('|') && is_rule && second <= LONGEST_MARK).then_some(second + 1)
}

/// Returns the length of the first piece of a text: up to a line end where there is one,
/// else to the end of a word or sentence, else anywhere.
fn piece(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let window = &text[..text.floor_char_boundary(PIECE)];
    let last = |ends: fn(char) -> bool| {
        let (at, end) = window.char_indices().rfind(|(_, c)| ends(*c))?;
        (at > PIECE / 2).then_some(at + end.len_utf8())
    };
    last(|c| c == '\n')
        .or_else(|| last(|c| c.is_whitespace() || "。！？；，".contains(c)))
        .unwrap_or(window.len())
}

/// Returns how blocks are joined that stand side by side in the text.
fn gap(between: &str) -> &'static str {
    match between.matches('\n').count() {
        0 => "",
        1 => "\n",
        _ => "\n\n",
    }
}

/// Counts the wanted words (sorted) of a text, by their number, and all of its words.
fn count(wanted: &[String], text: &str) -> (HashMap<usize, f64>, usize) {
    let all = terms(text);
    let mut found = HashMap::new();
    for word in all.iter().filter_map(|word| wanted.binary_search(word).ok()) {
        *found.entry(word).or_default() += 1.0;
    }
    (found, all.len())
}

fn terms(text: &str) -> Vec<String> {
    let mut terms = words(text);
    terms.extend(grams(text));
    terms
}

#[expect(clippy::cast_precision_loss, reason = "texts have far fewer words than 2^52")]
fn real(count: usize) -> f64 {
    count as f64
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
            (
                "berth, printed",
                "[…]\n\n# Port Ellery\n\n## Fees\n\nA berth costs 12 crowns a night.\n\n\
                 ```\nfee = 12\n\nprint(fee)\n```\n\n[…]",
            ),
            ("zeppelin", ""),
            ("what is the", ""),
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
        let rows: String =
            (0..200).map(|n| ["| station", &n.to_string(), " | 1.5 |\n"].concat()).collect();
        let text = format!("# Levels\n\n| station | m |\n| --- | --- |\n{rows}");
        let found = passages(&text, "station77 station78 station99", 2000).text;
        let want = "[…]\n\n# Levels\n\n| station | m |\n| --- | --- |\n| station77 | 1.5 |\n\
            | station78 | 1.5 |\n\n[…]\n\n| station99 | 1.5 |\n\n[…]";
        assert_eq!(found, want, "the head once, rows side by side");
    }

    #[test]
    fn places_stay_above_whatever_headings_say() {
        let text = "## Member `a.pdf`: PDF\n\n## Page 1\n\n# Tides\n\nSpring tide.\n\n\
            ## Page 2\n\nNeap tide.\n\n## Member `b.csv`: CSV\n\nebb,flood\n";
        let table = [
            ("neap", "[…]\n\n## Member `a.pdf`: PDF\n\n## Page 2\n\n# Tides\n\nNeap tide.\n\n[…]"),
            ("flood", "[…]\n\n## Member `b.csv`: CSV\n\nebb,flood"),
        ];
        for (query, want) in table {
            assert_eq!(passages(text, query, 500).text, want, "{query}");
        }
    }

    #[test]
    fn the_passage_that_answers_comes_with_its_page() {
        let filler = "Nothing of note happened on that day in the harbour.\n".repeat(40);
        let book = format!(
            "## Page 1\n\n{filler}\n## Page 2\n\n{filler}The ferry fare rose to 7.40 euros.\n\
             {filler}\n## Page 3\n\n{filler}渡轮票价在三月上调至七元。\n"
        );
        let table = [
            ("What is the ferry fare?", "## Page 2", "7.40 euros"),
            ("渡轮票价是多少", "## Page 3", "上调至七元"),
        ];
        for (query, page, answer) in table {
            let got = passages(&book, query, 3000).text;
            assert!(got.contains(page) && got.contains(answer), "{query}: {got}");
            assert!(!got.contains("## Page 1"), "{query}: {got}");
            assert!(got.contains("Nothing of note"), "with the lines around it: {got}");
        }
    }

    #[test]
    fn what_has_no_end_is_cut() {
        let hay = "hay ".repeat(20_000);
        let cells = "| 1 ".repeat(20_000);
        let table = [
            (format!("{hay} needle {hay}"), "a text in one line"),
            (format!("{}needle{}", "x，".repeat(9_000), "草".repeat(9_000)), "without spaces"),
            (format!("```\n{hay}\nneedle\n{hay}\n```"), "code"),
            (format!("```\n{hay}\n\nneedle\n{hay}"), "a fence that never closes"),
            (format!("# {hay} needle {hay}"), "a heading"),
            (format!("|{cells}|\n|--|\n| needle |\n|{cells}|"), "the head and rows of a table"),
        ];
        for (text, why) in table {
            let got = passages(&text, "needle", 100);
            assert!(got.text.contains("needle"), "{why}: {}", got.text);
            assert_eq!(got.chosen, 1, "{why}");
            assert!(got.text.len() < 2 * PIECE, "{why}: {} bytes", got.text.len());
        }
    }

    #[test]
    fn headings_count_towards_the_budget() {
        let heading = "## ".to_owned() + &"long ".repeat(40);
        let text = format!("{heading}\n\nfare\n\n").repeat(50);
        let got = passages(&text, "fare", 1000);
        assert!(got.chosen > 1 && got.text.chars().count() < 1200, "{} blocks", got.chosen);
    }

    proptest! {
        #[test]
        fn any_text_and_query_are_taken(text in r"([#|`\n\r -]|a|b|潮|```\n){0,80}", query in "[ab潮 \"-]{0,8}") {
            let found = passages(&text, &query, 20);
            prop_assert!(found.chosen <= found.blocks);
        }

        #[test]
        fn pieces_lose_nothing(text in r"(a{300}|潮{200}| |。|\n){1,30}") {
            let outline = Outline::of(&text);
            let kept: String = outline.blocks.iter().map(|block| &text[block.place.clone()]).collect();
            let seen = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(seen(&kept), seen(&text));
            prop_assert!(outline.blocks.iter().all(|block| block.place.len() <= LONGEST_BLOCK));
        }
    }
}
