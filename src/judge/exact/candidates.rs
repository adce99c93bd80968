//! Answers that name several things, one of which may be right.
//!
//! Whoever lists all candidates has not answered. This check also stands before a
//! language-model judge, so it only speaks up where the form leaves little doubt: a
//! place with its country (`Lisbon, Portugal`) is one answer.

use wildgym_tasks::{Answer, AnswerKind};

use super::forms;
use super::text::{folded, key};

/// Words that offer a choice, as they stand between spaces.
const CHOICES: [&str; 4] = ["or", "either", "and/or", "alternatively"];

/// The same in Chinese, where no spaces stand around them.
const CHOICES_ZH: [&str; 4] = ["或者", "还是", "要么", "或"];

/// Marks that separate alternatives in a text, a number or a date.
const MARKS: [char; 3] = [';', '|', '\n'];

/// Most words of an alternative; longer parts are explanations.
const WORDS: usize = 6;

/// Returns the reason when `given` lists candidates instead of answering.
///
/// Words and marks that the reference or an accepted form contains are no sign of it.
#[must_use]
pub fn lists_candidates(answer: &Answer, given: &str) -> Option<String> {
    let forms: Vec<String> = forms(answer).iter().map(|form| folded(form)).collect();
    let given = folded(given);
    if let Some(word) = choice(&given, &forms) {
        return Some(format!("lists candidates: the answer offers a choice with `{word}`"));
    }
    if matches!(answer.kind, AnswerKind::List { .. }) {
        return None;
    }
    let separates = |mark: char| MARKS.contains(&mark);
    let given = given.replace(" / ", "|");
    if forms.iter().any(|form| form.contains(separates) || form.contains(" / ")) {
        return None;
    }
    let parts: Vec<String> =
        given.split(separates).map(key).filter(|part| !part.is_empty()).collect();
    let right = |part: &String| forms.iter().any(|form| key(form) == *part);
    let short = |part: &String| part.split_whitespace().count() <= WORDS;
    let mixed = parts.iter().any(right) && !parts.iter().all(right);
    (mixed && parts.iter().all(short))
        .then(|| format!("lists candidates: {} alternatives stand side by side", parts.len()))
}

/// Returns the word with which a folded text offers a choice.
fn choice(given: &str, forms: &[String]) -> Option<&'static str> {
    let said = |text: &str, choice: &str| {
        let words: Vec<&str> = text
            .split(|letter: char| letter.is_whitespace() || ",;:.()?!\"".contains(letter))
            .filter(|word| !word.is_empty())
            .collect();
        // As the last word it is the end of an address: `Portland, OR`.
        words.iter().rev().skip(1).any(|word| *word == choice)
    };
    // `或许` is "perhaps"; a word that begins or ends the text chooses between nothing.
    let given_zh = given.trim().replace("或许", "");
    let said_zh = |choice: &str| {
        given_zh.split_once(choice).is_some_and(|(before, after)| {
            !after.is_empty() && (choice == "要么" || !before.is_empty())
        })
    };
    CHOICES
        .into_iter()
        .find(|choice| said(given, choice) && !forms.iter().any(|form| said(form, choice)))
        .or_else(|| {
            CHOICES_ZH
                .into_iter()
                .find(|choice| said_zh(choice) && !forms.iter().any(|form| form.contains(choice)))
        })
}
