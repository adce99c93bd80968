//! What a judge model is told.
//!
//! The prompt of a scenario is made of texts that stand beside this file. What is judged goes
//! into a message of its own, as fields of a JSON object in which no sign of a chat template
//! can stand: `<` and `>` are written as escapes. Characters that nobody sees are taken out
//! of the texts.

use serde_json::{Value, json};
use wildgym_tasks::scenario::Language;
use wildgym_tasks::{AnswerKind, Scenario};

use super::super::exact::shown;
use super::{Account, Matter, Question};
use crate::model::Message;

const RULES: &str = include_str!("prompts/rules.md");
const FORMAT: &str = include_str!("prompts/format.md");
const AGAIN: &str = include_str!("prompts/again.md");
const EN: &str = include_str!("prompts/en.md");
const ZH: &str = include_str!("prompts/zh.md");
const COMPLEX_TOOL_USE: &str = include_str!("prompts/complex-tool-use.md");
const DATA_ANALYSIS: &str = include_str!("prompts/data-analysis.md");
const DEEP_SEARCH: &str = include_str!("prompts/deep-search.md");
const OPERATIONS: &str = include_str!("prompts/operations.md");
const DYNAMIC: &str = include_str!("prompts/dynamic.md");
const ACCOUNT: &str = include_str!("prompts/account.md");
const RESILIENCE: &str = include_str!("prompts/resilience.md");

/// All texts, in an order that stays.
pub(super) const TEXTS: [&str; 12] = [
    RULES,
    FORMAT,
    AGAIN,
    EN,
    ZH,
    COMPLEX_TOOL_USE,
    DATA_ANALYSIS,
    DEEP_SEARCH,
    OPERATIONS,
    DYNAMIC,
    RESILIENCE,
    ACCOUNT,
];

/// Returns the conversation of a vote (from 1), whose number makes the requests to one
/// model differ; `again` where an earlier reply to it could not be read.
pub(super) fn messages(matter: Matter<'_>, vote: u32, again: bool) -> [Message; 2] {
    let (prompt, judged) = match matter {
        Matter::Answer(question) => {
            let judged = json!({
                "question": shown(question.question),
                "reference": reference(question),
                "answer": shown(question.answer),
                "vote": vote,
            });
            (system(question.scenario, question.language, again), judged)
        }
        Matter::Account(account) => {
            (joined([ACCOUNT, FORMAT].to_vec(), again), told(account, vote))
        }
    };
    // `<` and `>` stand only inside of strings, where the escape means the same.
    let judged = judged.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
    [Message::system(&prompt), Message::user(&judged)]
}

/// Returns an account with what it is held against.
fn told(account: &Account<'_>, vote: u32) -> Value {
    json!({
        "request": shown(account.request),
        "rubric": account.rubric,
        "calls": account.calls,
        "account": shown(account.answer),
        "vote": vote,
    })
}

fn system(scenario: Scenario, language: Language, again: bool) -> String {
    let kind = match scenario {
        Scenario::ComplexToolUse => COMPLEX_TOOL_USE,
        Scenario::DataAnalysis => DATA_ANALYSIS,
        Scenario::DeepSearch => DEEP_SEARCH,
        Scenario::Operations => OPERATIONS,
        Scenario::Dynamic => DYNAMIC,
        Scenario::Resilience => RESILIENCE,
    };
    let spoken = match language {
        Language::En => EN,
        Language::Zh => ZH,
    };
    joined(vec![RULES, kind, spoken, FORMAT], again)
}

fn joined(mut parts: Vec<&str>, again: bool) -> String {
    parts.extend(again.then_some(AGAIN));
    let parts: Vec<&str> = parts.into_iter().map(str::trim).collect();
    parts.join("\n\n")
}

/// Returns the reference as the model sees it: places where it stands are left out.
fn reference(question: &Question<'_>) -> Value {
    let answer = question.reference;
    let mut shown_reference = match &answer.kind {
        AnswerKind::Text { value } => json!({ "kind": "text", "value": shown(value) }),
        AnswerKind::Number { value, tolerance, unit } => {
            let mut number = json!({ "kind": "number", "value": value, "tolerance": tolerance });
            if let Some(unit) = unit {
                number["unit"] = shown(unit).into();
            }
            number
        }
        AnswerKind::Date { value } => json!({ "kind": "date", "value": value.to_string() }),
        AnswerKind::List { value, ordered } => {
            let items: Vec<String> = value.iter().map(|item| shown(item)).collect();
            json!({ "kind": "list", "value": items, "ordered": ordered })
        }
    };
    if !answer.accept.is_empty() {
        shown_reference["accepted"] = answer.accept.iter().map(|form| shown(form)).collect();
    }
    shown_reference
}

/// Returns the field of a request that binds the reply to its form.
pub(super) fn response_format() -> Value {
    json!({
        "type": "json_schema",
        "json_schema": {
            "name": "verdict",
            "strict": true,
            "schema": {
                "type": "object",
                "properties": {
                    "reason": { "type": "string" },
                    "verdict": { "type": "string", "enum": ["correct", "incorrect"] },
                },
                "required": ["reason", "verdict"],
                "additionalProperties": false,
            },
        },
    })
}
