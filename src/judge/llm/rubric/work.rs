//! Stored attempts as a model is shown them that rates.

use serde_json::{Value, json};

use crate::record::{CallRecord, Record};
use crate::store::{Blobs, StoreError};

/// Most characters of an argument or a result.
const SHOWN: usize = 1_500;

/// Most characters of what a tool is for.
const DESCRIBED: usize = 300;

/// Most calls: of more, the first and the last are shown, half and half.
const MOST: usize = 160;

/// Returns the calls of an attempt: `number` (from 1, in the order asked), `round`, `tool`,
/// `arguments`, `result` and `failed`. Arguments and results are cut at 1,500 characters; of
/// more than 160 calls those in the middle are left out.
///
/// What was noted beside a call, such as a fault that fired, is not shown: a judge knows no
/// more than the agent did.
pub fn shown(records: &[Record], blobs: &Blobs) -> Result<Vec<Value>, StoreError> {
    let mut calls = Vec::new();
    for record in records {
        if let Record::Call(call) = record {
            calls.push(call);
        }
    }
    let count = calls.len();
    let kept = |place: usize| count <= MOST || place < MOST / 2 || place >= count - MOST / 2;
    let mut told = Vec::new();
    for (place, call) in calls.into_iter().enumerate() {
        if kept(place) {
            told.push(one(place + 1, call, blobs)?);
        } else if kept(place - 1) {
            told.push(json!({ "left_out": count - MOST }));
        }
    }
    Ok(told)
}

fn one(number: usize, call: &CallRecord, blobs: &Blobs) -> Result<Value, StoreError> {
    Ok(json!({
        "number": number,
        "round": call.round,
        "tool": call.tool,
        "arguments": cut(&blobs.text(&call.arguments)?, SHOWN),
        "result": cut(&blobs.text(&call.result)?, SHOWN),
        "failed": call.error.is_some(),
    }))
}

/// Returns the tools of these names out of schemas in `OpenAI` form: `name` and `description`,
/// cut at 300 characters. One that the schemas do not have is named alone.
#[must_use]
pub fn tools(names: &[String], schemas: &[Value]) -> Vec<Value> {
    let function = |name: &str| {
        schemas.iter().map(|schema| &schema["function"]).find(|one| one["name"] == name)
    };
    let told = |name: &String| match function(name).and_then(|one| one["description"].as_str()) {
        Some(text) => json!({ "name": name, "description": cut(text, DESCRIBED) }),
        None => json!({ "name": name }),
    };
    names.iter().map(told).collect()
}

fn cut(text: &str, most: usize) -> String {
    let text = crate::judge::shown(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
