//! OP1: words with a slip in them.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha12Rng;

use super::Changed;
use super::places::{Edit, edited, places};

/// Letters that a word needs: a slip in a shorter one would often make another word.
const LETTERS: usize = 4;

/// Misspells about `share` of the words, at least one.
pub(super) fn misspell(text: &str, share: f64, rng: &mut ChaCha12Rng) -> Option<Changed> {
    let words = words(text);
    let mut chosen: Vec<&Range<usize>> =
        words.iter().filter(|_| rng.random::<f64>() < share).collect();
    if chosen.is_empty() {
        let any = (!words.is_empty()).then(|| rng.random_range(0..words.len()))?;
        chosen.push(&words[any]);
    }
    let edits: Vec<Edit> = chosen
        .into_iter()
        .filter_map(|range| Some((range.clone(), slipped(&text[range.clone()], rng)?)))
        .collect();
    if edits.is_empty() {
        return None;
    }
    let what = format!("{} of {} words", edits.len(), words.len());
    Some(Changed { text: edited(text, &edits), what })
}

/// Finds the words of a text: runs of letters, of which some differ inside.
pub(super) fn words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for place in places(text).into_iter().filter(|place| !place.bare) {
        let mut start = None;
        let part = &text[place.range.clone()];
        let ends = part.char_indices().chain([(part.len(), ' ')]);
        for (offset, letter) in ends {
            let at = place.range.start + offset;
            if letter.is_alphabetic() {
                start.get_or_insert(at);
            } else if let Some(start) = start.take()
                && is_word(&text[start..at])
            {
                found.push(start..at);
            }
        }
    }
    found
}

/// Returns whether a slip can be made in a run of letters.
fn is_word(run: &str) -> bool {
    let letters: Vec<char> = run.chars().collect();
    // A Chinese word is short; a run of two characters is enough to be wrong in.
    let enough = if run.is_ascii() { LETTERS } else { 2 };
    letters.len() >= enough && letters.windows(2).any(|pair| pair[0] != pair[1])
}

/// Exchanges two neighbours, drops a letter or doubles one; the first letter stays where the
/// word is long enough. Returns nothing where the word would stay as it is.
fn slipped(word: &str, rng: &mut ChaCha12Rng) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    let first = usize::from(letters.len() >= LETTERS);
    let place = rng.random_range(first..letters.len());
    match rng.random_range(0..3_u8) {
        0 if letters.len() >= LETTERS => {
            letters.remove(place);
        }
        1 if letters.len() >= LETTERS => letters.insert(place, letters[place]),
        _ => {
            let pairs: Vec<usize> =
                (first..letters.len() - 1).filter(|at| letters[*at] != letters[at + 1]).collect();
            let Some(at) = (!pairs.is_empty()).then(|| pairs[rng.random_range(0..pairs.len())])
            else {
                letters.remove(place);
                return Some(letters.into_iter().collect());
            };
            letters.swap(at, at + 1);
        }
    }
    let slipped: String = letters.into_iter().collect();
    (slipped != word).then_some(slipped)
}
