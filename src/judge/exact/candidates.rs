//! Answers that name several things, one of which may be right.
//!
//! Whoever lists all candidates has not answered. This check also stands before a
//! language-model judge, whom it leaves no say, so it only speaks up where the form leaves
//! little doubt: one of the alternatives is the reference, and the others are short and
//! nothing but alternatives. A sentence that merely contains `or`, a remark on a line of
//! its own, or a place with its country (`Lisbon, Portugal`) is for a model.

use unicode_normalization::UnicodeNormalization;
use wildgym_tasks::{Answer, AnswerKind};

use super::list::unnumbered;
use super::places::is_place;
use super::text::{folded, key, shown};
use super::{Unequal, date, forms, list, number};

/// Words that stand between alternatives.
const CHOICES: [&str; 5] = ["or", "and/or", "alternatively", "vs", "versus"];

/// The same in Chinese, where no spaces stand around them; the longer ones first.
const CHOICES_ZH: [&str; 4] = ["或者", "抑或", "要么", "或"];

/// Words that begin with a choice and offer none: perhaps, more or less, probable.
const IDIOMS_ZH: [&str; 3] = ["或许", "或多或少", "或然"];

/// Marks around words.
const AROUND: &str = ",;:.()?!\"";

/// Marks that separate alternatives in a text, a number or a date.
const MARKS: [char; 4] = [';', '|', '\n', '、'];

/// Stands where a word or mark of choice was: a control character, which no answer has left.
const CHOSEN: char = '\u{1f}';

/// Most words of an alternative; longer parts are explanations.
const WORDS: usize = 6;

/// Most characters of an alternative in Chinese.
const CHARACTERS_ZH: usize = 12;

/// Words of remarks, other names and idioms (`or so they say`), not of alternatives.
const REMARKS: [&str; 48] = [
    "aka",
    "also",
    "am",
    "are",
    "as",
    "at",
    "because",
    "by",
    "called",
    "certain",
    "confidence",
    "done",
    "doubt",
    "else",
    "formerly",
    "from",
    "i",
    "if",
    "in",
    "is",
    "it",
    "its",
    "known",
    "less",
    "locally",
    "more",
    "named",
    "near",
    "not",
    "of",
    "otherwise",
    "rather",
    "see",
    "similar",
    "since",
    "so",
    "something",
    "source",
    "sure",
    "thank",
    "thanks",
    "that",
    "thereabouts",
    "this",
    "was",
    "were",
    "whatever",
    "which",
];

/// The same in Chinese.
const REMARKS_ZH: [&str; 14] =
    ["是", "不", "非", "因", "据", "即", "称", "叫", "译", "答案", "来源", "最终", "谢", "完成"];

/// Returns the reason when `given` lists candidates instead of answering.
///
/// Words and marks that the reference or an accepted form contains are no sign of it.
#[must_use]
pub fn lists_candidates(answer: &Answer, given: &str) -> Option<String> {
    let forms = forms(answer);
    let reference = Reference {
        answer,
        keys: forms.iter().map(|form| key(form)).collect(),
        forms: forms.iter().map(|form| folded(form)).collect(),
    };
    let given: String = shown(given).nfkc().collect();
    let chosen = reference.split_at_choices(&given);
    if reference.chooses(&given, &chosen) {
        return Some("lists candidates: the answer offers a choice".to_owned());
    }
    reference
        .alternatives(&given, &chosen)
        .map(|count| format!("lists candidates: {count} alternatives stand side by side"))
}

/// What a part of an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The reference.
    Right,
    /// Something else, and plainly an alternative.
    Other,
    /// A remark, an explanation, or what may mean the same as the reference.
    Unknown,
}

struct Reference<'a> {
    answer: &'a Answer,
    /// Reference and accepted forms, folded.
    forms: Vec<String>,
    /// The same as keys.
    keys: Vec<String>,
}

impl Reference<'_> {
    fn says(&self, mark: &str) -> bool {
        self.forms.iter().any(|form| form.contains(mark))
    }

    /// Returns the text with [`CHOSEN`] for every word of choice.
    fn split_at_choices(&self, given: &str) -> String {
        let ends = |letter: char| letter.is_whitespace() || AROUND.contains(letter);
        let words = |text: &str| text.split(ends).map(str::to_lowercase).collect::<Vec<_>>();
        let said: Vec<String> = self.forms.iter().flat_map(|form| words(form)).collect();
        let mut out = String::with_capacity(given.len());
        for piece in given.split_inclusive(ends) {
            let word = piece.trim_end_matches(ends);
            let lower = word.to_lowercase();
            // In capitals it is the state of Oregon: `Portland, OR 97201`.
            if CHOICES.contains(&lower.as_str()) && word != "OR" && !said.contains(&lower) {
                out.push(CHOSEN);
                out.push_str(&piece[word.len()..]);
            } else {
                out.push_str(piece);
            }
        }
        if !IDIOMS_ZH.iter().any(|idiom| out.contains(idiom)) {
            for choice in CHOICES_ZH.into_iter().filter(|choice| !self.says(choice)) {
                out = out.replace(choice, &CHOSEN.to_string());
            }
        }
        out
    }

    /// Returns whether a word of choice stands between the reference and something else.
    fn chooses(&self, given: &str, chosen: &str) -> bool {
        // `X还是Y` asks which of two; elsewhere the word means "still" or "after all".
        let which = given.split_once("还是").filter(|_| !self.says("还是"));
        let asks_which = which.is_some_and(|(before, after)| {
            self.part(before) == Part::Right && self.last_part(after) == Part::Other
        });
        let sides = split(chosen, &[CHOSEN]);
        let Some((last, before)) = sides.split_last() else { return false };
        let sides = before.iter().map(|side| self.part(side)).chain([self.last_part(last)]);
        asks_which || are_candidates(sides)
    }

    /// Returns how many alternatives stand side by side, between marks alone.
    fn alternatives(&self, given: &str, chosen: &str) -> Option<usize> {
        if matches!(self.answer.kind, AnswerKind::List { .. }) {
            return None;
        }
        let is_text = matches!(self.answer.kind, AnswerKind::Text { .. });
        let spaced = given.replace(" / ", "|");
        let marks: Vec<char> = MARKS
            .into_iter()
            .filter(|mark| !self.forms.iter().any(|f| f.contains(*mark)))
            .collect();
        let parts = split(if self.says(" / ") { given } else { &spaced }, &marks);
        let same = |right: &str, other: &str| !is_text || case(right) == case(other);
        if self.stand_side_by_side(&parts, 2, same) {
            return Some(parts.len());
        }
        if !is_text {
            return None;
        }
        // These marks also stand within one answer, so the parts have to be much alike.
        let commas = if self.says(",") { Vec::new() } else { split(chosen, &[',', CHOSEN]) };
        let slashes = if self.says("/") { Vec::new() } else { split(given, &['/']) };
        let items = numbered(given);
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        [(commas, 3), (slashes, 2), (items, 2)]
            .into_iter()
            .find(|(parts, least)| self.stand_side_by_side(parts, *least, are_alike))
            .map(|(parts, _)| parts.len())
    }

    /// Returns whether the parts are candidates, and each wrong one fits to a right one.
    fn stand_side_by_side(
        &self,
        parts: &[&str],
        least: usize,
        fits: impl Fn(&str, &str) -> bool,
    ) -> bool {
        let read: Vec<(Part, &str)> = parts.iter().map(|part| (self.part(part), *part)).collect();
        let right = read.iter().find(|(part, _)| *part == Part::Right);
        parts.len() >= least
            && are_candidates(read.iter().map(|(part, _)| *part))
            && right.is_some_and(|(_, right)| {
                read.iter().all(|(part, text)| *part == Part::Right || fits(right, text))
            })
    }

    /// Says what the last side of a choice is: the alternative may be followed by a remark, as long
    /// as that does not come back to the reference.
    fn last_part(&self, text: &str) -> Part {
        let read = self.part(text);
        let end = |letter: char| ",;:.".contains(letter);
        match text.trim().split_once(end) {
            Some((first, remark)) if read == Part::Unknown && !first.trim().is_empty() => {
                let plain = is_short(text) && !is_remark(text) && !self.is_named(remark);
                if plain { self.part(first) } else { Part::Unknown }
            }
            _ => read,
        }
    }

    /// Returns whether the reference stands somewhere in a text.
    fn is_named(&self, text: &str) -> bool {
        let text = folded(text);
        self.keys.iter().any(|key| text.contains(key.as_str()))
    }

    fn part(&self, text: &str) -> Part {
        let text = without_either(unnumbered(text.trim()));
        if self.keys.contains(&key(text)) {
            return Part::Right;
        }
        let compared = match &self.answer.kind {
            AnswerKind::Text { .. } => Err(Unequal::Unclear(String::new())),
            AnswerKind::Number { value, tolerance, unit } => {
                number::compare(text, *value, *tolerance, unit.as_deref())
            }
            AnswerKind::Date { value } => date::compare(text, *value),
            AnswerKind::List { value, ordered } => list::compare(text, value, *ordered),
        };
        match (compared, &self.answer.kind) {
            (Ok(_), _) => Part::Right,
            (Err(Unequal::Wrong(_)), _) => Part::Other,
            // Five kilometres or 5000 metres are no choice.
            (Err(Unequal::Unclear(_)), AnswerKind::Number { .. } | AnswerKind::Date { .. }) => {
                Part::Unknown
            }
            (Err(Unequal::Unclear(_)), AnswerKind::Text { .. } | AnswerKind::List { .. }) => {
                let bare = !text.contains([':', '(', ')', '[', ']']) && !text.starts_with(',');
                let plain = bare && is_short(text) && !is_remark(text) && !self.is_named(text);
                if plain { Part::Other } else { Part::Unknown }
            }
        }
    }
}

fn are_candidates(parts: impl Iterator<Item = Part>) -> bool {
    let parts: Vec<Part> = parts.collect();
    let has = |wanted| parts.contains(&wanted);
    has(Part::Right) && has(Part::Other) && !has(Part::Unknown)
}

fn split<'a>(text: &'a str, marks: &[char]) -> Vec<&'a str> {
    text.split(marks).map(str::trim).filter(|part| !key(part).is_empty()).collect()
}

/// Takes an `either` off that begins a part.
fn without_either(part: &str) -> &str {
    match part.split_once(' ') {
        Some((first, rest)) if first.eq_ignore_ascii_case("either") => rest.trim_start(),
        _ => part,
    }
}

fn is_short(text: &str) -> bool {
    let chinese = |letter: char| ('\u{2e80}'..='\u{9fff}').contains(&letter);
    text.split_whitespace().count() <= WORDS
        && (!text.contains(chinese) || text.chars().count() <= CHARACTERS_ZH)
}

fn is_remark(text: &str) -> bool {
    let text = folded(text);
    text.split(|letter: char| !letter.is_alphanumeric()).any(|word| REMARKS.contains(&word))
        || REMARKS_ZH.iter().any(|word| text.contains(word))
}

/// Returns the parts of a text that numbers its items within a line: `1) Lund 2) Moss`.
fn numbered(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let next = items.len() + 1;
        let behind = [format!("({next})"), format!("{next})")]
            .iter()
            .find_map(|number| word.strip_prefix(number.as_str()))
            .or_else(|| (word == format!("{next}.")).then_some(""));
        match (behind, items.last_mut()) {
            (Some(rest), _) => items.push(rest.to_owned()),
            (None, Some(item)) => {
                item.push(' ');
                item.push_str(word);
            }
            (None, None) => return Vec::new(),
        }
    }
    items
}

/// How a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Upper,
    Lower,
    /// A digit, or a letter of a script that knows no case.
    None,
}

fn case(text: &str) -> Case {
    match without_either(unnumbered(text)).chars().find(|letter| letter.is_alphanumeric()) {
        Some(letter) if letter.is_uppercase() => Case::Upper,
        Some(letter) if letter.is_lowercase() => Case::Lower,
        Some(_) | None => Case::None,
    }
}

/// Returns whether two parts are of one kind, and the second does not say where the first is.
fn are_alike(right: &str, other: &str) -> bool {
    let digits = |text: &str| text.contains(|letter: char| letter.is_ascii_digit());
    let words = |text: &str| text.split_whitespace().count();
    case(right) == case(other)
        && case(right) != Case::Lower
        && right.contains(char::is_alphabetic)
        && digits(right) == digits(other)
        && words(right).abs_diff(words(other)) <= 1
        && (is_place(right) || !is_place(other))
}
