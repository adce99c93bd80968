//! How text becomes the words that are compared: for pages and for queries alike.
//!
//! Text is brought to one form (NFKC, lower case). Runs of Chinese are cut by a
//! dictionary, everything else at what is no letter or digit; English words lose
//! their endings. As the dictionary knows no invented names and may cut one name in
//! two ways, runs of Chinese are also cut into pairs of characters ([`grams`]).

use tantivy::tokenizer::{
    Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, TextAnalyzer, TokenStream,
    Tokenizer,
};
use tantivy_jieba::JiebaTokenizer;
use unicode_normalization::UnicodeNormalization;

/// Longer words are noise, in bytes.
const LONGEST_WORD: usize = 60;

/// Returns the text in the one form in which it is compared.
#[must_use]
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.nfkc().collect::<String>().to_lowercase()
    }
}

/// Returns whether a character is written without spaces between words.
#[must_use]
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{3040}'..='\u{30FF}' | '\u{AC00}'..='\u{D7AF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Returns the words of a text, in order, repeats included.
#[must_use]
pub(crate) fn words(text: &str) -> Vec<String> {
    let text = folded(text);
    let mut english = TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(LONGEST_WORD))
        .filter(LowerCaser)
        .filter(Stemmer::new(Language::English))
        .build();
    let mut words = Vec::new();
    for (run, cjk) in runs(&text) {
        if cjk {
            chinese(run, &mut words);
        } else {
            english.token_stream(run).process(&mut |token| words.push(token.text.clone()));
        }
    }
    words
}

/// Cuts a run of Chinese by the dictionary.
fn chinese(run: &str, words: &mut Vec<String>) {
    let mut jieba = JiebaTokenizer::with_search_mode(true);
    let mut stream = jieba.token_stream(run);
    while stream.advance() {
        words.push(stream.token().text.clone());
    }
}

/// Returns each pair of neighbouring characters in the runs of Chinese.
#[must_use]
pub(crate) fn grams(text: &str) -> Vec<String> {
    let text = folded(text);
    let mut grams = Vec::new();
    for (run, _) in runs(&text).into_iter().filter(|(_, cjk)| *cjk) {
        let chars: Vec<char> = run.chars().collect();
        grams.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
    }
    grams
}

/// Cuts a text where Chinese begins or ends; tells which it is.
fn runs(text: &str) -> Vec<(&str, bool)> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut kind = None;
    for (at, c) in text.char_indices() {
        let cjk = is_cjk(c);
        if kind.is_some_and(|kind| kind != cjk) {
            runs.push((&text[start..at], !cjk));
            start = at;
        }
        kind = Some(cjk);
    }
    runs.extend(kind.map(|kind| (&text[start..], kind)));
    runs
}

/// Returns whether a word says too little to look for when there are others.
#[must_use]
pub(crate) fn is_common(word: &str) -> bool {
    // English words stand here without their endings, as `words` returns them.
    const COMMON: &[&str] = &[
        "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "doe", "for", "from", "had",
        "has", "have", "how", "i", "in", "is", "it", "me", "of", "on", "or", "s", "t", "that",
        "the", "their", "there", "this", "to", "was", "we", "were", "what", "when", "where",
        "which", "who", "whi", "will", "with", "的", "了", "是", "在", "和", "与", "及", "或",
        "吗", "呢", "把", "被", "有", "哪", "哪个", "哪些", "什么", "怎么", "如何", "多少", "请问",
    ];
    COMMON.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_alike_in_every_language() {
        let table = [
            ("The Committees' REPORT", "the committe report", "endings and case"),
            ("财务报告", "财务 报告 财务报告", "a compound and its parts"),
            ("2025年ＡＢＣ公司", "2025 年 abc 公司", "full width, mixed"),
            ("tide-table v2.1", "tide tabl v2 1", "punctuation"),
            ("  \n\t…—", "", "nothing to compare"),
        ];
        for (text, want, why) in table {
            assert_eq!(words(text).join(" "), want, "{why}");
        }
    }

    #[test]
    fn pairs_do_not_cross_from_one_run_to_the_next() {
        assert_eq!(grams("云岫水务 ltd 公司").join(" "), "云岫 岫水 水务 公司");
        assert_eq!(grams("tide 港"), Vec::<String>::new(), "a single character has no pair");
    }
}
