//! The passage of a page that answers a query best, cut to a line or two.

/// Length of a snippet, in characters, ellipses aside.
const LENGTH: usize = 160;

/// How much text before the first hit is shown, in characters.
const LEAD: usize = 30;

/// How many hits of one word are looked at.
const HITS_PER_WORD: usize = 24;

/// Returns the part of `text` that holds the most of `words`; its beginning where
/// none stands in it. `folded` is `text` with each character folded in place, so that
/// places in one are places in the other.
#[must_use]
pub(super) fn snippet(text: &str, folded: &str, words: &[String]) -> String {
    let mut hits: Vec<(usize, usize)> = Vec::new();
    for (number, word) in words.iter().enumerate() {
        let places = folded.match_indices(word.as_str()).map(|(at, _)| at);
        let places = places.filter(|at| begins_word(folded, *at));
        hits.extend(places.take(HITS_PER_WORD).map(|at| (at, number)));
    }
    hits.sort_unstable();
    let best =
        (0..hits.len()).max_by_key(|first| (worth(folded, &hits, *first), usize::MAX - first));
    let start = best.and_then(|first| hits.get(first)).map_or(0, |(at, _)| back(text, *at, LEAD));
    cut(text, start)
}

/// Counts the different words in the window that begins at a hit.
fn worth(text: &str, hits: &[(usize, usize)], first: usize) -> usize {
    let Some((from, _)) = hits.get(first) else { return 0 };
    let end = forward(text, *from, LENGTH - LEAD);
    let mut seen: Vec<usize> =
        hits[first..].iter().take_while(|(at, _)| *at < end).map(|(_, word)| *word).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len()
}

/// Returns whether a place is where a word begins; Chinese words begin anywhere.
fn begins_word(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let here = text[at..].chars().next();
    here.is_some_and(crate::words::is_cjk) || !before.is_some_and(char::is_alphanumeric)
}

/// Cuts the snippet that begins at `start`, at spaces where there are some.
fn cut(text: &str, start: usize) -> String {
    let mut start = start;
    if start > 0 {
        let window = &text[start..forward(text, start, LEAD)];
        start += window.find(' ').map_or(0, |space| space + 1);
    }
    let mut end = forward(text, start, LENGTH);
    if end < text.len() {
        let tail = back(text, end, LEAD);
        end = text[tail..end].rfind(' ').map_or(end, |space| tail + space);
    }
    let mut out = String::new();
    if start > 0 {
        out.push_str("… ");
    }
    out.push_str(text[start..end].trim());
    if end < text.len() {
        out.push_str(" …");
    }
    out
}

/// Returns the place `count` characters before `at`.
fn back(text: &str, at: usize, count: usize) -> usize {
    text[..at].char_indices().rev().take(count).last().map_or(at, |(place, _)| place)
}

/// Returns the place `count` characters after `at`.
fn forward(text: &str, at: usize, count: usize) -> usize {
    text[at..].char_indices().nth(count).map_or(text.len(), |(place, _)| at + place)
}

/// Folds each character in place: the result has the same length and boundaries.
#[must_use]
pub(super) fn folded_in_place(text: &str) -> String {
    text.chars()
        .map(|c| c.to_lowercase().next().filter(|low| low.len_utf8() == c.len_utf8()).unwrap_or(c))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str, words: &[&str]) -> String {
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        snippet(text, &folded_in_place(text), &words)
    }

    #[test]
    fn the_passage_with_most_words_is_shown() {
        let filler = "Nothing of interest happens in this sentence at all. ".repeat(8);
        let text = format!("A tide. {filler}The Spring Tide at Ellery rose. {filler}");
        let got = of(&text, &["spring", "tide", "ellery"]);
        assert!(got.contains("The Spring Tide at Ellery rose."), "{got}");
        assert!(got.starts_with("… ") && got.ends_with(" …"), "cut on both sides: {got}");
        assert!(got.chars().count() <= LENGTH + 4, "{got}");
        assert_eq!(of("Short text", &["none"]), "Short text", "nothing to cut");
        let chinese = format!("{}云岫水务的财务报告显示利润下降。", "港口新闻。".repeat(80));
        assert!(of(&chinese, &["财务报告"]).contains("财务报告显示"));
    }

    proptest! {
        #[test]
        fn any_text_can_be_cut(text in "(?s)[a-cİẞ 潮\u{300}]{0,400}", word in "[a-ci潮]{1,2}") {
            let got = of(&text, &[&word]);
            prop_assert!(got.chars().count() <= LENGTH + 4);
        }
    }
}
