//! What to look up, out of the words of a request.

use std::collections::BTreeSet;

/// Most words of a search.
const WORDS: usize = 10;

/// Most entities that are looked up.
const ENTITIES: usize = 4;

/// English words that say nothing of what a request is about.
const EMPTY: [&str; 76] = [
    "about",
    "after",
    "again",
    "also",
    "another",
    "answer",
    "anybody",
    "asked",
    "attach",
    "attached",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "could",
    "does",
    "done",
    "each",
    "every",
    "everything",
    "find",
    "folder",
    "from",
    "give",
    "given",
    "have",
    "here",
    "into",
    "just",
    "know",
    "like",
    "look",
    "made",
    "make",
    "many",
    "more",
    "most",
    "much",
    "need",
    "number",
    "once",
    "only",
    "other",
    "over",
    "please",
    "properly",
    "really",
    "right",
    "same",
    "should",
    "some",
    "such",
    "tell",
    "than",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "this",
    "those",
    "very",
    "want",
    "were",
    "what",
    "when",
    "where",
    "which",
    "will",
    "with",
    "would",
];

/// Chinese words that say nothing of what a request is about.
const EMPTY_ZH: [&str; 26] = [
    "请问", "请", "我们", "我", "你", "他", "她", "这个", "那个", "这", "那", "的", "了", "是",
    "在", "和", "与", "把", "一下", "一共", "可以", "什么", "多少", "哪", "吗", "呢",
];

/// Returns searches: one of names and long words, one of the last sentence that asks.
pub(super) fn searches(request: &str) -> Vec<String> {
    let mut searches = vec![keywords(request), keywords(asking(request))];
    searches.retain(|search| !search.is_empty());
    searches.dedup();
    searches
}

/// Returns names that could have an article of their own: quoted or emphasised texts, and
/// English words in capitals that stand side by side.
pub(super) fn entities(request: &str) -> Vec<String> {
    let mut found = quoted(request);
    found.extend(capitals(request));
    let mut seen = BTreeSet::new();
    found.retain(|entity| entity.chars().count() > 1 && seen.insert(entity.clone()));
    found.truncate(ENTITIES);
    found
}

/// Returns the last sentence that ends in a question mark, else the last one.
fn asking(request: &str) -> &str {
    let mut last = "";
    let mut question = None;
    for sentence in request.split_inclusive(['.', '?', '!', '\n', '。', '？', '！']) {
        if !sentence.trim().is_empty() {
            last = sentence;
        }
        if sentence.ends_with(['?', '？']) {
            question = Some(sentence);
        }
    }
    question.unwrap_or(last).trim()
}

/// Returns the words that say most: names and numbers first, then long ones.
fn keywords(text: &str) -> String {
    let mut words: Vec<(usize, &str)> = Vec::new();
    for (index, word) in parts(text).into_iter().enumerate() {
        let lower = word.to_lowercase();
        let chinese = !word.is_ascii();
        let says = if chinese { word.chars().count() > 1 } else { word.len() > 3 };
        if says
            && !EMPTY.contains(&lower.as_str())
            && !words.iter().any(|(_, known)| *known == word)
        {
            words.push((index, word));
        }
    }
    let weight = |word: &str| {
        let name = word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        (usize::from(name) * 100) + word.chars().count()
    };
    words.sort_by_key(|(index, word)| (std::cmp::Reverse(weight(word)), *index));
    words.truncate(WORDS);
    words.sort_unstable();
    words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// Splits a text into words; Chinese is cut at punctuation and at words that say nothing.
fn parts(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '\'');
    let mut parts: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    for empty in EMPTY_ZH {
        parts = parts.into_iter().flat_map(|word| word.split(empty)).collect();
    }
    parts.retain(|word| !word.is_empty());
    parts
}

/// Returns texts in quotes or emphasis.
fn quoted(text: &str) -> Vec<String> {
    let pairs = [('“', '”'), ('"', '"'), ('《', '》'), ('「', '」'), ('*', '*'), ('‘', '’')];
    let mut found = Vec::new();
    for (open, close) in pairs {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inner, behind)) = after.split_once(close) else { break };
            let inner = inner.trim_matches('*').trim();
            if !inner.is_empty() && inner.chars().count() <= 40 {
                found.push(inner.to_owned());
            }
            rest = behind;
        }
    }
    found
}

/// Returns runs of English words in capitals, without the first word of a sentence.
pub(super) fn capitals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let capital = bare.starts_with(|c: char| c.is_ascii_uppercase()) && bare.len() > 1;
        if capital && !begins {
            run.push(bare);
        }
        let ends = word.ends_with(['.', '?', '!', ':', ',', ';', ')']);
        if (!capital || ends || begins) && !run.is_empty() {
            found.push(run.join(" "));
            run.clear();
        }
        begins = word.ends_with(['.', '?', '!', ':']);
    }
    if !run.is_empty() {
        found.push(run.join(" "));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_searches_and_entities() {
        let request = "My aunt worked on the *Marrable Star* in the Tarrow Sound. \
                       On which day was she sold? I need the exact day.";
        assert_eq!(entities(request), ["Marrable Star", "Tarrow Sound"]);
        let searches = searches(request);
        assert!(searches[0].contains("Marrable Star"), "{searches:?}");
        assert_eq!(searches[1], "sold", "{searches:?}");
        let zh = "请问《茶船新闻》里的“青榭竹编”是哪一级项目？";
        assert_eq!(entities(zh), ["青榭竹编", "茶船新闻"]);
        assert!(super::searches(zh)[0].contains("青榭竹编"));
        assert!(super::searches("").is_empty(), "nothing to look for");
    }
}
