//! Texts made comparable.

use unicode_normalization::UnicodeNormalization;

/// Pairs that may enclose an answer.
const PAIRS: [(char, char); 17] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('*', '*'),
    ('_', '_'),
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('<', '>'),
    ('«', '»'),
    ('„', '"'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
    ('〈', '〉'),
    ('【', '】'),
    ('〔', '〕'),
];

/// Lead-ins that say that an answer follows, and nothing about it.
const LEAD_INS: [&str; 8] = [
    "final answer:",
    "the answer is:",
    "the answer is ",
    "the final answer is ",
    "answer:",
    "最终答案:",
    "答案:",
    "答案是",
];

/// Returns why a text may mean something else than its [`key`] says: a question mark at its
/// end, or digits that are raised, lowered or encircled, which NFKC turns into plain ones
/// (`10⁶` into 106). Behind a letter they belong to a unit, as in `m²`.
pub(super) fn doubt(text: &str) -> Option<&'static str> {
    let text = shown(text);
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let is_unit =
            before.is_alphabetic() && !letters.peek().is_some_and(|next| next.is_numeric());
        if is_set_off(letter) && !is_unit {
            return Some("the answer contains a raised, lowered or encircled digit");
        }
        before = letter;
    }
    let asks = |letter: &char| matches!(letter, '?' | '？' | '⁇' | '⁈' | '⁉');
    let mut tail = text.chars().rev().take_while(|letter| !letter.is_alphanumeric());
    tail.any(|letter| asks(&letter)).then_some("the answer ends with a question mark")
}

/// Returns whether a character stands for a digit that is more than a digit: `⁶`, `₂`, `①`.
fn is_set_off(letter: char) -> bool {
    // Full-width digits and those of mathematical alphabets are plain.
    let plain = letter.is_ascii() || matches!(letter, '０'..='９' | '\u{1d7ce}'..='\u{1d7ff}');
    let first = || std::iter::once(letter).nfkc().find(|letter| letter.is_alphanumeric());
    !plain && first().is_some_and(|first| first.is_ascii_digit())
}

/// Returns the form in which two texts are compared: [`folded`], without a lead-in, outer
/// spaces, outer punctuation and enclosing quotes or brackets. Signs that can be a part of
/// a name (`+`, `#`, `-`, a leading full stop, …) stay.
pub(super) fn key(text: &str) -> String {
    let folded = folded(text);
    let whole = folded.trim();
    let bare = outer(whole);
    let bare = LEAD_INS.iter().find_map(|lead| bare.strip_prefix(lead)).map_or(bare, outer);
    // A text of nothing but punctuation is compared as it stands.
    if bare.is_empty() { whole.to_owned() } else { bare.to_owned() }
}

/// Returns the text after Unicode NFKC and case folding, without control and invisible
/// characters, with one space for any run of spaces (newlines stay newlines) and one
/// glyph for each kind of quote and dash.
pub(super) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !is_hidden(*letter)).nfkc() {
        // A decomposition may bring separators that were not there before.
        if is_hidden(letter) {
            continue;
        }
        match letter {
            '\n' => {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
            }
            _ if letter.is_whitespace() => {
                if !out.ends_with([' ', '\n']) {
                    out.push(' ');
                }
            }
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' => out.push('\''),
            '\u{201c}' | '\u{201d}' | '\u{201f}' | '\u{2033}' => out.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            'ß' | 'ẞ' => out.push_str("ss"),
            'ς' => out.push('σ'),
            _ => out.extend(letter.to_lowercase()),
        }
    }
    // Lower case can leave letters and marks apart that compose, as in `İ`.
    out.nfkc().collect()
}

/// Returns the text as it looks on paper: without control and invisible characters, with
/// newlines for every mark that ends a line.
pub(in crate::judge) fn shown(text: &str) -> String {
    let ends_line = |letter| matches!(letter, '\u{85}' | '\u{2028}' | '\u{2029}');
    text.chars()
        .map(|letter| if ends_line(letter) { '\n' } else { letter })
        .filter(|letter| !is_hidden(*letter))
        .collect()
}

/// Returns whether a character takes no place on paper: controls other than the newline
/// and the tab, joiners, marks of direction, fillers, variation selectors, tags.
fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => true,
        '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => letter.is_control(),
    }
}

/// Takes outer spaces, sentence punctuation and enclosing pairs away, layer by layer.
fn outer(text: &str) -> &str {
    let mut rest = text;
    loop {
        let before = rest.len();
        rest = rest.trim();
        rest = rest.trim_end_matches(['.', ',', ';', ':', '!', '?', '。', '、', '…']);
        rest = rest.trim_start_matches([',', ';', ':', '!', '?', '。', '、', '…', '¿', '¡']);
        for (open, close) in PAIRS {
            let inner = rest.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
            // `(a) and (b)` is not enclosed, though it begins and ends with brackets.
            if let Some(inner) = inner.filter(|inner| !inner.contains([open, close])) {
                rest = inner;
            }
        }
        for fence in ["**", "__", "```"] {
            let inner = rest.strip_prefix(fence).and_then(|rest| rest.strip_suffix(fence));
            rest = inner.filter(|inner| !inner.contains(fence)).unwrap_or(rest);
        }
        if rest.len() == before {
            return rest;
        }
    }
}
