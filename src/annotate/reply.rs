//! What a reply must be: one JSON object of the schema, with a passage of the transcript.
//!
//! Nothing is mended or guessed; the problem that is returned is written for the model,
//! which is told of it once.

use serde::Deserialize;
use serde_json::{Value, json};

use super::story::{Told, spaced};
use crate::model::json_text;
use crate::record::{Annotation, ErrorType};

/// Characters of a passage after which it shows nothing any more.
const LONGEST: usize = 1000;

/// Most characters of a reason that are kept; the whole reply is kept beside it.
const REASON: usize = 1000;

/// Returns the schema of a reply.
pub(super) fn schema() -> Value {
    let names = ErrorType::ALL.map(ErrorType::name);
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["reason", "evidence", "error_type"],
        "properties": {
            "reason": { "type": "string" },
            "evidence": { "type": "string" },
            "error_type": { "type": "string", "enum": names },
        },
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    reason: String,
    evidence: String,
    error_type: String,
}

/// Reads a reply; the error says what is wrong with it.
pub(super) fn read(content: &str, told: &Told) -> Result<Annotation, String> {
    let said: Said = serde_json::from_str(json_text(content))
        .map_err(|error| format!("it is not the JSON object that was asked for: {error}"))?;
    let known = ErrorType::ALL.into_iter().find(|error| error.name() == said.error_type);
    let Some(error_type) = known else {
        let name: String = said.error_type.chars().take(60).collect();
        return Err(format!("`{name}` is none of the eight error types"));
    };
    let length = spaced(&said.evidence).chars().count();
    if !told.tells(&said.evidence) {
        return Err("the evidence is too short to show anything: at least 12 characters, or 4 \
                    Chinese ones, beside tags and labels"
            .to_owned());
    }
    if length > LONGEST {
        return Err(format!("the evidence is longer than {LONGEST} characters"));
    }
    if !told.holds(&said.evidence) {
        return Err("the evidence does not occur in the transcript".to_owned());
    }
    let reason = said.reason.trim().chars().take(REASON).collect();
    Ok(Annotation { error_type, reason, evidence: said.evidence })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told() -> Told {
        let whole = "the tide is 4.20 m high 涨潮时间 <final_answer>4.2</final_answer> 4.2 ";
        Told { shown: String::new(), whole: whole.to_owned(), complete: vec!["4.2".to_owned()] }
    }

    #[test]
    fn only_the_strict_form_with_true_evidence_counts() {
        let good =
            r#"{"reason":"r","evidence":"the tide is\n4.20 m","error_type":"incorrect-analysis"}"#;
        let with = |evidence: &str, kind: &str| {
            json!({ "reason": "r", "evidence": evidence, "error_type": kind }).to_string()
        };
        let table = [
            (good.to_owned(), None, "right"),
            (format!("```json\n{good}\n```"), None, "in a fence"),
            (format!("<think>over-length?</think>{good}"), None, "after reasoning"),
            (with("涨潮时间", "others"), None, "Chinese"),
            (with("4.2", "others"), None, "all of the answer"),
            (with("涨潮时", "others"), Some("too short"), "three letters of Chinese"),
            (with("final_answer", "others"), Some("too short"), "a tag's name"),
            (with("<final_answer>4.2</final_answer>", "others"), Some("too short"), "tags alone"),
            (with("high 涨潮", "others"), Some("too short"), "eleven"),
            (format!("Here you are: {good}"), Some("not the JSON object"), "prose in front"),
            (format!("{good} {good}"), Some("not the JSON object"), "twice"),
            ("It guessed.".to_owned(), Some("not the JSON object"), "prose"),
            (String::new(), Some("not the JSON object"), "empty"),
            ("{}".to_owned(), Some("missing field"), "no fields"),
            (good.replace("\"reason\"", "\"note\":1,\"reason\""), Some("unknown field"), "more"),
            (with("the tide is 4", "bad-luck"), Some("`bad-luck` is none of"), "unknown type"),
            (
                with("the tide is 4", "Over-length"),
                Some("`Over-length` is none of"),
                "another spelling",
            ),
            (with("the tide was 4", "others"), Some("does not occur"), "never said"),
            (with(" ", "others"), Some("too short"), "blank"),
            (with("t", "others"), Some("too short"), "one letter occurs anywhere"),
            (with(&"x".repeat(1001), "others"), Some("longer than 1000"), "too long"),
        ];
        for (content, problem, why) in table {
            match (read(&content, &told()), problem) {
                (Ok(_), None) => {}
                (Err(said), Some(problem)) => assert!(said.contains(problem), "{why}: {said}"),
                (got, _) => panic!("{why}: {got:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn no_reply_is_too_strange(content in r#"(\PC|[{}\[\]":,]|reason|evidence|error_type|others|tide){0,60}"#) {
            let _any = read(&content, &told());
        }
    }
}
