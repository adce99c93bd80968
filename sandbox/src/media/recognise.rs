//! The text that stands in a picture, as a recogniser reads it.
//!
//! The recogniser is tesseract. It is asked for English first. Where that reading is
//! poor, the picture is turned as its letters stand, and it is asked for Chinese as well;
//! the better reading counts. What it says of its own certainty is passed on and not
//! improved. Words stand in lines as in the picture; where Chinese characters touch, the
//! spaces that the recogniser puts between them are left out.

use super::{Aim, Picture, Turn};
use crate::Host;
use crate::programs::{Limits, Program, ProgramError};

/// Languages that are tried, in the recogniser's names.
const ENGLISH: &str = "eng";

/// Simplified Chinese with English in it.
const CHINESE: &str = "chi_sim+eng";

/// A word below this certainty counts as unsure, of 100.
const UNSURE: f64 = 60.0;

/// A reading is good if this share of its letters stands in words that are sure.
const GOOD: f64 = 0.92;

/// By how much the share of sure letters must grow before Chinese wins over English.
const MARGIN: f64 = 0.02;

/// The certainty at which a found orientation is believed; the recogniser's own measure.
const TURNED: f64 = 1.5;

/// A reading of a picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// The text; empty where none was recognised.
    pub text: String,
    /// Words that were recognised; Chinese characters count each.
    pub words: usize,
    /// Words of which the recogniser is not sure.
    pub unsure: usize,
    /// The recogniser's mean certainty, weighted by letters, of 100.
    pub certainty: f64,
    /// Share of letters in words of which it is sure, a fraction.
    pub sure: f64,
    /// The languages it was read in.
    pub languages: String,
    /// Whether it was turned before it was read.
    pub turned: bool,
}

impl Reading {
    /// Says how far it can be trusted, in words.
    #[must_use]
    pub fn describe(&self) -> String {
        let turned = if self.turned { ", turned as its letters stand" } else { "" };
        if self.words == 0 {
            return "no text was recognised in it".to_owned();
        }
        format!(
            "text recognised by tesseract ({}{turned}); its own certainty is {:.0} of 100, {} of {} \
             words are unsure",
            self.languages, self.certainty, self.unsure, self.words
        )
    }

    fn is_good(&self) -> bool {
        self.words > 0 && self.sure >= GOOD
    }
}

/// Recognises the text in a picture that was prepared for it ([`Aim::Read`]).
pub async fn read(host: &Host, picture: &Picture) -> Result<Reading, ProgramError> {
    let mut best = once(host, &picture.bytes, ENGLISH).await?;
    if best.is_good() {
        return Ok(best);
    }
    let stands = orientation(host, &picture.bytes).await;
    let turned = if stands == Turn::Not {
        None
    } else {
        let bytes = picture.bytes.clone();
        host.workers.picture("the picture", bytes, Aim::Read, stands).await.ok()
    };
    let bytes = turned.as_ref().map_or(picture.bytes.as_slice(), |picture| &picture.bytes);
    if turned.is_some() {
        let again = once(host, bytes, ENGLISH).await?;
        best = better(best, Reading { turned: true, ..again }, 0.0);
    }
    if !best.is_good() {
        match once(host, bytes, CHINESE).await {
            Ok(reading) => {
                best = better(best, Reading { turned: turned.is_some(), ..reading }, MARGIN);
            }
            // English alone is better than nothing, where Chinese is not installed.
            Err(ProgramError::Failed { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(best)
}

/// Returns the reading with more sure letters; the first where there is no such difference.
fn better(first: Reading, second: Reading, margin: f64) -> Reading {
    if second.words > 0 && (first.words == 0 || second.sure > first.sure + margin) {
        second
    } else {
        first
    }
}

/// Has the recogniser read once.
async fn once(host: &Host, png: &[u8], languages: &str) -> Result<Reading, ProgramError> {
    let arguments = ["in.png", "stdout", "-l", languages, "--psm", "3", "tsv"];
    let ran = tesseract(host, png, &arguments).await.map_err(|error| named(error, languages))?;
    let mut reading = reading(&String::from_utf8_lossy(&ran));
    languages.clone_into(&mut reading.languages);
    Ok(reading)
}

/// Names the package of a language that is not installed.
fn named(error: ProgramError, languages: &str) -> ProgramError {
    let missing = error.to_string().contains("Failed loading language");
    match error {
        ProgramError::Failed { program, .. } if missing => {
            let package = languages.split('+').next().unwrap_or_default().replace('_', "-");
            let said = format!(
                "a language is not installed; install the package `tesseract-ocr-{package}`"
            );
            ProgramError::Failed { program, said }
        }
        ProgramError::Failed { .. }
        | ProgramError::Missing(_)
        | ProgramError::Stopped { .. }
        | ProgramError::Broken { .. } => error,
    }
}

/// How the letters stand; [`Turn::Not`] where they are upright or it cannot be told.
async fn orientation(host: &Host, png: &[u8]) -> Turn {
    let arguments = ["in.png", "stdout", "-l", "osd", "--psm", "0"];
    let said = tesseract(host, png, &arguments).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let field = |name: &str| {
        said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok())
    };
    let certainty = field("Orientation confidence:").unwrap_or_default();
    match field("Rotate:") {
        Some(degrees) if certainty >= TURNED => {
            if (degrees - 90.0).abs() < 1.0 {
                Turn::Quarter
            } else if (degrees - 180.0).abs() < 1.0 {
                Turn::Half
            } else if (degrees - 270.0).abs() < 1.0 {
                Turn::ThreeQuarters
            } else {
                Turn::Not
            }
        }
        Some(_) | None => Turn::Not,
    }
}

async fn tesseract(host: &Host, png: &[u8], arguments: &[&str]) -> Result<Vec<u8>, ProgramError> {
    let files = [("in.png", png)];
    let ran = host.programs.run(Program::Tesseract, arguments, &files, &Limits::default()).await?;
    Ok(ran.stdout)
}

/// A word with its place.
#[derive(Debug)]
struct Word<'a> {
    /// Block, paragraph, line.
    line: [&'a str; 3],
    left: f64,
    right: f64,
    height: f64,
    certainty: f64,
    text: &'a str,
}

/// Puts a reading together out of the recogniser's table of words.
fn reading(table: &str) -> Reading {
    let words: Vec<Word<'_>> = table.lines().filter_map(word).collect();
    let mut reading = Reading::default();
    let (mut letters, mut certain, mut sure) = (0.0, 0.0, 0.0);
    let mut before: Option<&Word<'_>> = None;
    for word in &words {
        reading.text.push_str(between(before, word));
        reading.text.push_str(word.text);
        let count = f64::from(u32::try_from(word.text.chars().count()).unwrap_or(u32::MAX));
        letters += count;
        certain += count * word.certainty;
        if word.certainty >= UNSURE {
            sure += count;
        } else {
            reading.unsure += 1;
        }
        before = Some(word);
    }
    reading.words = words.len();
    if letters > 0.0 {
        reading.certainty = certain / letters;
        reading.sure = sure / letters;
    }
    reading
}

/// Reads a row of the table; none where it is no word.
fn word(row: &str) -> Option<Word<'_>> {
    let fields: Vec<&str> = row.splitn(12, '\t').collect();
    let [_, _, block, paragraph, line, _, left, _, width, height, certainty, text] = fields[..]
    else {
        return None;
    };
    let number = |field: &str| field.parse::<f64>().ok().filter(|number| number.is_finite());
    let (left, width) = (number(left)?, number(width)?);
    let certainty = number(certainty)?;
    let text = text.trim();
    (certainty >= 0.0 && !text.is_empty()).then(|| Word {
        line: [block, paragraph, line],
        left,
        right: left + width,
        height: number(height).unwrap_or_default(),
        certainty: certainty.min(100.0),
        text,
    })
}

/// What stands between two words: nothing, a space, a wide gap, a line, a paragraph.
fn between(before: Option<&Word<'_>>, word: &Word<'_>) -> &'static str {
    let Some(before) = before else { return "" };
    if before.line[..2] != word.line[..2] {
        return "\n\n";
    }
    if before.line != word.line {
        return "\n";
    }
    let gap = word.left - before.right;
    let height = before.height.max(word.height).max(1.0);
    let left = before.text.chars().next_back().is_some_and(is_dense);
    let right = word.text.chars().next().is_some_and(is_dense);
    if gap > 2.5 * height {
        // Columns of a table.
        "   "
    } else if (left && right && gap < 0.9 * height) || ((left || right) && gap < 0.3 * height) {
        ""
    } else {
        " "
    }
}

/// Whether a character is of a script that is written without spaces.
fn is_dense(letter: char) -> bool {
    matches!(letter,
        '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}' | '“' | '”' | '‘' | '’' | '…' | '—')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A row of the recogniser's table.
    fn row(place: [u32; 3], left: u32, width: u32, certainty: f64, text: &str) -> String {
        let [block, paragraph, line] = place;
        format!(
            "5\t1\t{block}\t{paragraph}\t{line}\t1\t{left}\t0\t{width}\t20\t{certainty}\t{text}\n"
        )
    }

    #[test]
    fn words_stand_as_in_the_picture() {
        let page = "level\tpage_num\tblock_num\n".to_owned()
            + "1\t1\t0\t0\t0\t0\t0\t0\t900\t420\t-1\t\n"
            + &row([1, 1, 1], 0, 40, 96.0, "Total")
            + &row([1, 1, 1], 46, 30, 91.0, "due")
            + &row([1, 1, 1], 300, 60, 50.0, "42.50")
            + &row([1, 1, 2], 0, 20, 95.0, "财")
            + &row([1, 1, 2], 24, 20, 95.0, "务")
            + &row([1, 1, 2], 48, 20, 95.0, "报告")
            + &row([1, 1, 2], 76, 40, 95.0, "2026")
            + &row([1, 1, 2], 120, 20, 95.0, "年")
            + &row([1, 2, 1], 0, 20, 95.0, "End")
            + &row([2, 1, 1], 0, 20, 95.0, " ");
        let read = reading(&page);
        assert_eq!(read.text, "Total due   42.50\n财务报告 2026年\n\nEnd");
        assert_eq!((read.words, read.unsure), (9, 1));
        assert!(read.certainty > 80.0 && !read.is_good(), "{read:?}");
    }

    #[test]
    fn the_surer_reading_counts() {
        let of = |sure, words| Reading { words, sure, ..Reading::default() };
        let table = [
            (of(0.9, 5), of(0.91, 5), 0.02, 0.9, "no difference worth Chinese"),
            (of(0.4, 5), of(0.9, 5), 0.02, 0.9, "Chinese"),
            (of(0.0, 0), of(0.1, 1), 0.02, 0.1, "something is more than nothing"),
            (of(0.5, 3), of(0.0, 0), 0.0, 0.5, "nothing is no reading"),
        ];
        for (first, second, margin, want, why) in table {
            assert!((better(first, second, margin).sure - want).abs() < 1e-9, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_table_is_read(table in "(\\PC|\t|\n){0,200}") {
            let _ = reading(&table);
        }
    }
}
