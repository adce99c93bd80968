//! What a model is told that rates: the rubric in an order of its own for each vote.
//!
//! A model leans towards what stands first, so groups, the aspects of a group and the rows of
//! the table are shuffled, differently for every vote. The order follows from the trial, the
//! attempt and the number of the vote: judging again asks the same. What is rated goes into a
//! message of its own, as in every other prompt of a judge.
//!
//! Source of the method: MCP-Bench, whose judge shuffles dimensions, sub-dimensions and bands
//! in five runs. The words are our own.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Work;
use crate::judge::shown;
use crate::model::Message;
use crate::verdict::{Aspect, HIGHEST};

const RULES: &str = include_str!("prompts/rules.md");
const FORMAT: &str = include_str!("prompts/format.md");
const AGAIN: &str = include_str!("prompts/again.md");

/// A group of aspects: its name, and of each aspect what is counted.
type Group = (&'static str, [(Aspect, &'static str); 2]);

/// The three groups.
const GROUPS: [Group; 3] = [
    (
        "Completion of the task",
        [
            (
                Aspect::Fulfilment,
                "Of the things that `wanted` asks for, how many does `answer` deliver, whole and \
                 in the form that was asked? An answer that says honestly what is missing \
                 delivers only the rest.",
            ),
            (
                Aspect::Grounding,
                "Of the statements in `answer`, how many does something support that a call \
                 returned? Numbers, names and dates that no result holds, or that were returned \
                 by none and are presented as found, are unsupported. Without a statement \
                 nothing is grounded.",
            ),
        ],
    ),
    (
        "Selection of tools",
        [
            (
                Aspect::Appropriateness,
                "Of the calls, how many were of the tool that fits their purpose best among \
                 `tools`? Where calls were needed and none was made, none was appropriate.",
            ),
            (
                Aspect::Parameters,
                "Of the calls, how many had arguments that were whole and right for their \
                 purpose, with values from the request or from earlier results? Without a call \
                 no argument was right.",
            ),
        ],
    ),
    (
        "Planning",
        [
            (
                Aspect::Dependencies,
                "Of the steps that need what another step finds, how many came after it and used \
                 what it found? Guessed identifiers and steps in the wrong order miss it, and so \
                 does going on as if a failed step had worked.",
            ),
            (
                Aspect::Efficiency,
                "Of the rounds and calls, how many were needed? Repeated calls that could change \
                 nothing, calls whose results nobody used, and calls one after the other that \
                 could have been made in one round were not. Doing nothing is not efficient.",
            ),
        ],
    ),
];

/// The rows of the table: what is flawless, and the score that follows.
const BANDS: [(&str, &str); 5] = [
    ("nothing, or next to nothing", "0"),
    ("less than a third", "1 to 3"),
    ("from a third to three fifths", "4 to 6"),
    ("from three to four fifths", "7 or 8"),
    ("more than four fifths; 10 is for no flaw at all", "9 or 10"),
];

/// Returns all that a request is made of beside what is rated: what moves scores.
pub(super) fn texts() -> Value {
    let groups: Vec<Value> = GROUPS
        .iter()
        .map(|(name, aspects)| {
            json!([name, aspects.iter().map(|(a, text)| (a.name(), text)).collect::<Vec<_>>()])
        })
        .collect();
    json!([RULES, FORMAT, AGAIN, groups, BANDS, schema()])
}

/// Returns the conversation of a vote (from 1) on work that `scope` names; `again` where an
/// earlier reply to it could not be read.
pub(super) fn messages(
    work: &Work<'_>,
    scope: (&str, u32),
    vote: u32,
    again: bool,
) -> [Message; 2] {
    let mut parts = vec![RULES.trim().to_owned(), rubric(&mut Order::of(scope, vote))];
    parts.push(FORMAT.trim().to_owned());
    parts.extend(again.then(|| AGAIN.trim().to_owned()));
    let told = json!({
        "request": shown(work.request),
        "wanted": shown(work.wanted),
        "dependencies": shown(work.dependencies),
        "tools": work.tools,
        "rounds": work.rounds,
        "calls": work.calls,
        "answer": shown(work.answer),
        "vote": vote,
    });
    // `<` and `>` stand only inside of strings, where the escape means the same.
    let told = told.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
    [Message::system(&parts.join("\n\n")), Message::user(&told)]
}

/// Writes the aspects and the table in an order.
fn rubric(order: &mut Order) -> String {
    let mut text = String::from("# The aspects");
    for (name, aspects) in order.shuffled(&GROUPS) {
        let _ = write!(text, "\n\n## {name}");
        for (aspect, counted) in order.shuffled(&aspects) {
            let _ = write!(text, "\n\n`{}`: {counted}", aspect.name());
        }
    }
    text.push_str("\n\n# The table\n\n| flawless | score |\n|---|---|");
    for (share, score) in order.shuffled(&BANDS) {
        let _ = write!(text, "\n| {share} | {score} |");
    }
    text
}

/// A stream of chances that follows from a trial, an attempt and a vote.
struct Order(blake3::OutputReader);

impl Order {
    fn of((trial, attempt): (&str, u32), vote: u32) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("rubric\n{trial}\n{attempt}\n{vote}").as_bytes());
        Self(hasher.finalize_xof())
    }

    /// Returns the items in an order, each with the same chance. (The modulus favours none by
    /// more than one in 10^18.)
    fn shuffled<T: Copy>(&mut self, items: &[T]) -> Vec<T> {
        let mut items = items.to_vec();
        for left in (2..=items.len()).rev() {
            let mut bytes = [0; 8];
            self.0.fill(&mut bytes);
            let drawn = u64::from_le_bytes(bytes) % (left as u64);
            items.swap(left - 1, usize::try_from(drawn).unwrap_or_default());
        }
        items
    }
}

/// Name of the form of a reply.
pub(super) const FORM: &str = "rubric";

/// Returns the JSON Schema of a reply.
pub(super) fn schema() -> Value {
    let mut properties = Map::new();
    for aspect in Aspect::ALL {
        properties.insert(reasoning(aspect), json!({ "type": "string" }));
        let score = json!({ "type": "number", "minimum": 0, "maximum": HIGHEST });
        properties.insert(aspect.name().to_owned(), score);
    }
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// Returns the name of the field with the reason for a score.
pub(super) fn reasoning(aspect: Aspect) -> String {
    format!("{}_reasoning", aspect.name())
}
