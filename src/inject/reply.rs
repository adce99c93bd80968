//! What a fault makes of a reply: results that are changed, and errors in place of one.
//!
//! A result of the protocol has parts, and often says the same twice: as text for the model and
//! as structured content for programs. Both stay the same thing, as they would if the server
//! itself were wrong; where what came of a text is no object any more, the structured content
//! is gone, which a client whose tool promised some takes for the broken reply that it is. Values
//! that are not changed keep their bytes.

use std::ops::Range;

use rand::RngExt;
use serde_json::{Value, json};
use wildgym_sandbox::Seed;

use super::MARK;
use super::json::{Object, edited, items, string};
use super::message::Call;
use crate::fault::content::{self, Changed};
use crate::fault::{Fault, Operator};

/// Said of a reply that is no result.
const FAILED: &str = "the call failed by itself";

/// Said of a result without text.
const NOTHING: &str = "the result has nothing to change";

/// What a fault did to a reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spoilt {
    /// The new reply; none where it stays as it is.
    pub(super) reply: Option<String>,
    /// What was done, or why nothing was, for the log.
    pub(super) what: String,
}

/// Writes the reply of a call that fails by an explicit error.
pub(super) fn refusal(call: &Call<'_>, fault: &Fault, mark: Option<&Value>) -> String {
    let text = fault.error.map(|shape| shape.text(&call.tool, fault.held)).unwrap_or_default();
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if call.says_kind {
        result["resultType"] = json!("complete");
    }
    if let Some(mark) = mark {
        result["_meta"] = json!({ MARK: mark });
    }
    // The id as it came: its bytes are the client's.
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", call.id)
}

/// Changes the result in a reply; `reply` is what `fields` was read from.
pub(super) fn spoil(reply: &str, fields: &Object, fault: &Fault, mark: Option<&Value>) -> Spoilt {
    let left = |what: &str| Spoilt { reply: None, what: what.to_owned() };
    let Some((place, result)) =
        fields.place("result").and_then(|place| Some((place.clone(), reply.get(place)?)))
    else {
        return left(FAILED);
    };
    let Some(of_result) = Object::read(result) else { return left(NOTHING) };
    if of_result.get(result, "isError") == Some("true") {
        return left(FAILED);
    }
    let Some(done) = changed(&Said::of(result, &of_result), fault) else { return left(NOTHING) };
    let mut new = of_result.values(result);
    new.retain(|(name, _)| name != "content");
    new.insert(0, ("content".to_owned(), format!("[{}]", done.parts.join(","))));
    match done.structured {
        Structured::Stays => {}
        Structured::Is(value) => set(&mut new, "structuredContent", value),
        Structured::Gone => new.retain(|(name, _)| name != "structuredContent"),
    }
    if let Some(mark) = mark {
        let meta = of_result.get(result, "_meta").map_or_else(|| "{}".to_owned(), str::to_owned);
        let mut meta = Object::read(&meta).map(|read| read.values(&meta)).unwrap_or_default();
        set(&mut meta, MARK, mark.to_string());
        set(&mut new, "_meta", written(&meta));
    }
    Spoilt { reply: Some(edited(reply, vec![(place, written(&new))])), what: done.what }
}

/// Sets a field, where it stands or at the end.
fn set(fields: &mut Vec<(String, String)>, name: &str, value: String) {
    match fields.iter_mut().find(|(own, _)| own == name) {
        Some((_, old)) => *old = value,
        None => fields.push((name.to_owned(), value)),
    }
}

/// Writes an object whose values are JSON already.
fn written(fields: &[(String, String)]) -> String {
    let field = |(name, value): &(String, String)| format!("{}:{value}", json!(name));
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
}

/// What a result says.
struct Said<'a> {
    /// Its parts as they are.
    parts: Vec<Part<'a>>,
    /// Whether it has parts at all; a question to the client has none.
    has_content: bool,
    structured: Option<&'a str>,
}

/// A part of a result.
struct Part<'a> {
    raw: &'a str,
    /// Its text and where that is, where it is a text.
    text: Option<(String, Range<usize>)>,
}

impl<'a> Part<'a> {
    fn of(raw: &'a str) -> Self {
        let read = || {
            let part = Object::read(raw)?;
            let kind = part.get(raw, "type").and_then(string)?;
            let place = part.place("text").filter(|_| kind == "text")?;
            Some((string(raw.get(place.clone())?)?, place))
        };
        Self { raw, text: read() }
    }

    /// Writes it with another text.
    fn with(&self, text: &str) -> String {
        match &self.text {
            Some((_, place)) => edited(self.raw, vec![(place.clone(), json!(text).to_string())]),
            None => self.raw.to_owned(),
        }
    }
}

impl<'a> Said<'a> {
    fn of(result: &'a str, fields: &Object) -> Self {
        let has_content = fields.place("content").is_some();
        let content = fields.get(result, "content").unwrap_or("[]");
        let parts = items(content).unwrap_or_default().into_iter();
        let parts = parts.filter_map(|place| content.get(place)).map(Part::of).collect();
        let structured = fields.get(result, "structuredContent").filter(|value| *value != "null");
        Self { parts, has_content, structured }
    }
}

/// What becomes of a result.
struct Done {
    /// Its parts, as JSON.
    parts: Vec<String>,
    structured: Structured,
    what: String,
}

/// What becomes of structured content.
enum Structured {
    Stays,
    Is(String),
    Gone,
}

impl Structured {
    /// Takes a text as structured content: it is an object, or nothing.
    fn of(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(object @ Value::Object(_)) => Self::Is(object.to_string()),
            Ok(_) | Err(_) => Self::Gone,
        }
    }
}

/// Changes a text; each text of a result has chances of its own.
fn change(fault: &Fault, text: &str, seed: Seed) -> Option<Changed> {
    content::change(fault.operator, text, fault.share, seed)
}

fn changed(result: &Said<'_>, fault: &Fault) -> Option<Done> {
    let texts: Vec<(usize, &str)> = result
        .parts
        .iter()
        .enumerate()
        .filter_map(|(at, part)| Some((at, part.text.as_ref()?.0.as_str())))
        .collect();
    match texts.as_slice() {
        [] => without_text(result, fault),
        [(at, text)] => {
            let Changed { text: new, what } = change(fault, text, fault.acting)?;
            let write = |(place, part): (usize, &Part<'_>)| {
                if place == *at { part.with(&new) } else { part.raw.to_owned() }
            };
            let parts = result.parts.iter().enumerate().map(write).collect();
            let structured = as_text(result.structured, text, &new, fault);
            Some(Done { parts, structured, what })
        }
        several => {
            let (parts, what) = of_several(result, several, fault)?;
            Some(Done { parts, structured: by_itself(result.structured, fault), what })
        }
    }
}

/// Changes a result that has no text: what it says to programs, or, where nothing stays what
/// it was, all of it.
fn without_text(result: &Said<'_>, fault: &Fault) -> Option<Done> {
    let is_replaced = result.has_content && fault.operator == Operator::InvalidOutput;
    if result.structured.is_none() && !is_replaced {
        return None;
    }
    let before = result.structured.unwrap_or_default();
    let Changed { text, what } = change(fault, before, fault.acting)?;
    let structured = Structured::of(&text);
    let parts = if let Structured::Is(_) = structured {
        result.parts.iter().map(|part| part.raw.to_owned()).collect()
    } else {
        vec![json!({ "type": "text", "text": text }).to_string()]
    };
    Some(Done { parts, structured, what })
}

/// Changes structured content as the one text beside it was changed.
fn as_text(structured: Option<&str>, before: &str, after: &str, fault: &Fault) -> Structured {
    let Some(raw) = structured else { return Structured::Stays };
    let value: Value = serde_json::from_str(raw).unwrap_or_default();
    let said: Option<Value> = serde_json::from_str(before).ok();
    if said.as_ref() == Some(&value) {
        return Structured::of(after);
    }
    // Servers wrap what is no object: `{"result": …}`.
    let wrapped = value.as_object().filter(|object| object.len() == 1);
    match wrapped.and_then(|object| object.iter().next()) {
        Some((name, only)) if only.as_str() == Some(before) => {
            Structured::Is(json!({ name: after }).to_string())
        }
        Some((name, only)) if said.as_ref() == Some(only) => {
            let after = serde_json::from_str(after).unwrap_or_else(|_| json!(after));
            Structured::Is(json!({ name: after }).to_string())
        }
        Some(_) | None => by_itself(structured, fault),
    }
}

/// Changes structured content that says something of its own.
fn by_itself(structured: Option<&str>, fault: &Fault) -> Structured {
    let changed = structured
        .and_then(|raw| change(fault, raw, fault.acting.child("structured", 0)))
        .map(|changed| Structured::of(&changed.text));
    changed.unwrap_or(Structured::Stays)
}

/// Changes a result of several texts; returns its parts and what was done.
fn of_several(
    result: &Said<'_>,
    texts: &[(usize, &str)],
    fault: &Fault,
) -> Option<(Vec<String>, String)> {
    let of_all = |new: &dyn Fn(usize) -> Option<String>| -> Vec<String> {
        (0..result.parts.len()).filter_map(new).collect()
    };
    let raw = |at: usize| result.parts.get(at).map(|part| part.raw.to_owned());
    let is_text = |at: usize| texts.iter().any(|(place, _)| *place == at);
    let (first, _) = *texts.first()?;
    let count = texts.len();
    match fault.operator {
        Operator::InvalidOutput => {
            let all: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
            let Changed { text, what } = change(fault, &all.join("\n"), fault.acting)?;
            let new = |at: usize| match at {
                at if at == first => result.parts.get(at).map(|part| part.with(&text)),
                at if is_text(at) => None,
                at => raw(at),
            };
            Some((of_all(&new), what))
        }
        Operator::TruncatedPayload => {
            // The stream ended within the middle one, and what follows it is gone in any case.
            let middle = (count - 1) / 2;
            let (last, text) = *texts.get(middle)?;
            let cut = change(fault, text, fault.acting).map(|changed| changed.text);
            let new = |at: usize| match &cut {
                Some(cut) if at == last => result.parts.get(at).map(|part| part.with(cut)),
                Some(_) | None => (at < last || (at == last && cut.is_none())).then(|| raw(at))?,
            };
            Some((of_all(&new), format!("{} of {count} texts left out", count - middle - 1)))
        }
        Operator::PartialResult => {
            let mut rng = fault.acting.rng();
            let keeps: Vec<bool> = texts.iter().map(|_| !rng.random_bool(fault.share)).collect();
            // At least one goes, and at least one stays.
            let one = rng.random_range(0..count);
            let all_same = keeps.iter().all(|keep| *keep == keeps[0]);
            let keeps = |index: usize| {
                if all_same { (index == one) != keeps[0] } else { keeps[index] }
            };
            let new = |at: usize| {
                let index = texts.iter().position(|(place, _)| *place == at);
                index.is_none_or(keeps).then(|| raw(at))?
            };
            let left = (0..count).filter(|index| !keeps(*index)).count();
            Some((of_all(&new), format!("{left} of {count} texts left out")))
        }
        Operator::MinorMistake | Operator::IncorrectOutput | Operator::SchemaDrift => {
            let changes: Vec<(usize, Changed)> = texts
                .iter()
                .zip(0..)
                .filter_map(|((at, text), index)| {
                    Some((*at, change(fault, text, fault.acting.child("part", index))?))
                })
                .collect();
            let what = changes.iter().map(|(_, one)| one.what.as_str());
            let what: Vec<&str> = what.take(3).collect();
            let new = |at: usize| match changes.iter().find(|(place, _)| *place == at) {
                Some((_, one)) => result.parts.get(at).map(|part| part.with(&one.text)),
                None => raw(at),
            };
            (!changes.is_empty()).then(|| (of_all(&new), what.join("; ")))
        }
        Operator::Null | Operator::ExplicitError | Operator::Delay | Operator::SilentDrop => None,
    }
}

#[cfg(test)]
mod tests;
