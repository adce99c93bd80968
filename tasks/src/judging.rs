//! Labelled pairs: questions, references and answers that measure a judge.
//!
//! The pairs that the program carries lie in `tasks/judging/pairs.toml`, beside the rules
//! by which they are labelled. This module reads such files and refuses what would make a
//! measurement doubtful: names that are not unique, and the same answer to a question twice.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::answer::Answer;
use crate::scenario::{Language, Scenario};

/// The text of the file that the program carries.
pub const SHIPPED: &str = include_str!("../judging/pairs.toml");

/// The version of the format that this program reads.
const FORMAT: u32 = 1;

/// What a judge ought to say of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// It gives the reference.
    Correct,
    /// It does not.
    Incorrect,
}

/// How hard a pair is for a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Difficulty {
    /// It takes no thought.
    Easy,
    /// Judges are known to get such pairs wrong.
    Hard,
}

impl Difficulty {
    /// Returns the name used in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Hard => "hard",
        }
    }
}

/// An answer to a question, with its label.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Its name, `<question>/<answer>`.
    pub id: String,
    /// The kind of task that the question could belong to.
    pub scenario: Scenario,
    /// Language of question and answer.
    pub language: Language,
    /// How hard it is.
    pub difficulty: Difficulty,
    /// What was asked.
    pub question: String,
    /// The right answer.
    pub reference: Answer,
    /// The answer to judge.
    pub answer: String,
    /// What a judge ought to say.
    pub label: Label,
    /// Why, for people; may be empty.
    pub why: String,
}

/// Why a file of pairs cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PairsError {
    /// The file is not in the format.
    #[error("line {line}: {problem}")]
    Shape {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The file was written for a newer program.
    #[error("the pairs have format {0}, and this program reads format {FORMAT}")]
    Newer(u32),
    /// The file has no pair.
    #[error("there is no pair in it")]
    Empty,
    /// A question or an answer has no text or no usable name.
    #[error("`{0}` has no text, or a name that is empty or has spaces or `/` in it")]
    Blank(String),
    /// Two questions or two answers to one have the same name.
    #[error("`{0}` is there twice")]
    Name(String),
    /// The same answer to the same question has two entries.
    #[error("`{second}` asks and answers the same as `{first}`")]
    Twice {
        /// The first pair.
        first: String,
        /// The other.
        second: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    #[serde(default)]
    question: Vec<Question>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    id: String,
    scenario: Scenario,
    language: Language,
    #[serde(rename = "question")]
    asked: String,
    reference: Answer,
    answers: Vec<Given>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    id: String,
    difficulty: Difficulty,
    label: Label,
    answer: String,
    #[serde(default)]
    why: String,
}

/// Reads a file of pairs, in its order.
pub fn read(text: &str) -> Result<Vec<Pair>, PairsError> {
    let file: File = toml::from_str(text).map_err(|error| PairsError::Shape {
        line: error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count()),
        problem: error.message().replace('\n', " "),
    })?;
    if file.format > FORMAT {
        return Err(PairsError::Newer(file.format));
    }
    let mut names = BTreeSet::new();
    let mut pairs = Vec::new();
    for question in file.question {
        let usable = |name: &str| !name.is_empty() && !name.contains(['/', ' ', '\t', '\n']);
        if !usable(&question.id) || question.asked.trim().is_empty() {
            return Err(PairsError::Blank(question.id));
        }
        for given in question.answers {
            let id = format!("{}/{}", question.id, given.id);
            // An empty answer is one that a judge may meet; a name is needed all the same.
            if !usable(&given.id) {
                return Err(PairsError::Blank(id));
            }
            if !names.insert(id.clone()) {
                return Err(PairsError::Name(id));
            }
            pairs.push(Pair {
                id,
                scenario: question.scenario,
                language: question.language,
                difficulty: given.difficulty,
                question: question.asked.clone(),
                reference: question.reference.clone(),
                answer: given.answer,
                label: given.label,
                why: given.why,
            });
        }
    }
    check_once(&pairs)?;
    if pairs.is_empty() { Err(PairsError::Empty) } else { Ok(pairs) }
}

/// Refuses two pairs of the same question and answer: one of them would count twice.
fn check_once(pairs: &[Pair]) -> Result<(), PairsError> {
    let mut seen = std::collections::BTreeMap::new();
    for pair in pairs {
        let said = (pair.question.as_str(), pair.answer.as_str());
        if let Some(first) = seen.insert(said, &pair.id) {
            let (first, second) = (first.clone(), pair.id.clone());
            return Err(PairsError::Twice { first, second });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(pairs: &[&Pair]) -> f64 {
        let right = pairs.iter().filter(|pair| pair.label == Label::Correct).count();
        f64::from(u32::try_from(right).unwrap()) / f64::from(u32::try_from(pairs.len()).unwrap())
    }

    #[test]
    fn the_shipped_pairs_are_many_and_balanced() {
        let pairs = read(SHIPPED).unwrap();
        assert!(pairs.len() >= 220, "{}", pairs.len());
        let mut groups: Vec<(String, Vec<&Pair>)> = vec![("all".into(), pairs.iter().collect())];
        for language in [Language::En, Language::Zh] {
            let of = |pair: &&Pair| pair.language == language;
            groups.push((language.name().to_owned(), pairs.iter().filter(of).collect()));
        }
        for difficulty in [Difficulty::Easy, Difficulty::Hard] {
            let of = |pair: &&Pair| pair.difficulty == difficulty;
            groups.push((difficulty.name().to_owned(), pairs.iter().filter(of).collect()));
        }
        for scenario in [Scenario::ComplexToolUse, Scenario::DataAnalysis, Scenario::DeepSearch] {
            let of = |pair: &&Pair| pair.scenario == scenario;
            groups.push((scenario.name().to_owned(), pairs.iter().filter(of).collect()));
        }
        for (name, group) in groups {
            assert!(group.len() >= 60, "{name}: {}", group.len());
            let right = share(&group);
            assert!((0.4..=0.6).contains(&right), "{name}: {right}");
        }
        let halves = pairs.iter().filter(|pair| pair.language == Language::Zh).count() * 2;
        assert!(halves.abs_diff(pairs.len()) * 10 <= pairs.len(), "about half is Chinese");
        for pair in &pairs {
            assert!(!pair.why.trim().is_empty(), "{} says not why", pair.id);
            assert!(!pair.answer.is_empty(), "{} has no answer", pair.id);
        }
    }

    #[test]
    fn what_makes_a_measurement_doubtful_is_refused() {
        let question = |id: &str, answers: &str| {
            format!(
                "[[question]]\nid = \"{id}\"\nscenario = \"deep-search\"\nlanguage = \"en\"\n\
                 question = \"Which?\"\nreference = {{ kind = \"text\", value = \"A\" }}\n\
                 answers = [{answers}]\n"
            )
        };
        let given = |id: &str, text: &str| {
            format!(
                "{{ id = \"{id}\", difficulty = \"easy\", label = \"correct\", answer = \"{text}\" }},"
            )
        };
        let one = question("q", &given("a", "A"));
        let table = [
            ("nonsense".to_owned(), "line 1", "no TOML"),
            ("format = 2".to_owned(), "format 2", "newer"),
            ("format = 1".to_owned(), "no pair", "empty"),
            (format!("format = 1\n{}", question("q", "")), "no pair", "no answers"),
            (format!("format = 1\n{one}{one}"), "`q/a` is there twice", "one name twice"),
            (
                format!("format = 1\n{one}{}", question("r", &given("a", "A"))),
                "`r/a` asks and answers the same as `q/a`",
                "one pair under two names",
            ),
            (format!("format = 1\n{}", question("q", &given("a/b", "A"))), "q/a/b", "a bad name"),
            (format!("format = 1\n{}", question("", &given("a", "A"))), "``", "no name"),
            (
                format!("format = 1\n{}", one.replace("deep-search", "guessing")),
                "line 4",
                "an unknown scenario",
            ),
            (format!("format = 1\n{}", one.replace("label =", "lable =")), "lable", "a slip"),
        ];
        for (text, part, why) in table {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(part), "{why}: {error}");
        }
        assert_eq!(read(&format!("format = 1\n{one}")).unwrap().len(), 1);
    }
}
