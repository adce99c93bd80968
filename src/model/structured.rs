//! Replies in the form of a JSON schema, from endpoints that can be held to one and from
//! those that cannot.
//!
//! Where the endpoint refuses `response_format`, the same conversation is sent without
//! it. That is found out anew in each scope: what one scope sends never depends on what
//! another met, so that a replay asks what was recorded. Nothing here trusts a reply; the
//! caller reads it strictly.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::client::{Exchange, Model};
use super::endpoint::Settings;
use super::error::ModelError;
use super::message::{Message, Offered};

/// The field that holds an endpoint to a schema.
const FIELD: &str = "response_format";

/// A model that is asked for JSON of one schema.
#[derive(Debug)]
pub struct Structured {
    strict: Model,
    plain: Model,
    /// Whether the endpoint refused the field in this scope.
    refused: AtomicBool,
}

/// A request and how it ended.
#[derive(Debug)]
pub struct Asked {
    /// The request's body.
    pub request: String,
    /// The exchange, or why there is none.
    pub ended: Result<Exchange, ModelError>,
}

impl Structured {
    /// Asks `model` for JSON of `schema`, which is known to the endpoint as `name`. A
    /// `response_format` among the model's own settings stays as it is.
    pub fn new(model: &Model, name: &str, schema: &Value) -> Result<Self, ModelError> {
        let plain = model.clone();
        let mut settings: Settings = model.settings().clone();
        if settings.extra.contains_key(FIELD) {
            return Ok(Self { strict: plain.clone(), plain, refused: AtomicBool::new(true) });
        }
        let form = json!({ "name": name, "strict": true, "schema": schema });
        let format = json!({ "type": "json_schema", "json_schema": form });
        settings.extra.insert(FIELD.to_owned(), format);
        let strict = model.with_settings(settings)?;
        Ok(Self { strict, plain, refused: AtomicBool::new(false) })
    }

    /// Returns the same for one scope, see [`Model::scoped`].
    #[must_use]
    pub fn scoped(&self, trial: &str, attempt: u32, role: &str) -> Self {
        let scoped = |model: &Model| model.scoped(trial, attempt, role);
        let refused = self.strict.settings() == self.plain.settings();
        Self {
            strict: scoped(&self.strict),
            plain: scoped(&self.plain),
            refused: AtomicBool::new(refused),
        }
    }

    /// Sends the conversation. Returns every request that was made; the last one counts.
    pub async fn chat(&self, messages: &[Message]) -> Vec<Asked> {
        let mut asked = Vec::new();
        if !self.refused.load(Ordering::Relaxed) {
            asked.push(ask(&self.strict, messages).await);
            let last = asked.last().and_then(|asked| asked.ended.as_ref().err());
            if !last.is_some_and(is_about_the_form) {
                return asked;
            }
            self.refused.store(true, Ordering::Relaxed);
        }
        asked.push(ask(&self.plain, messages).await);
        asked
    }
}

async fn ask(model: &Model, messages: &[Message]) -> Asked {
    let tools = Offered::default();
    let request = model.body(messages, &tools);
    Asked { request, ended: model.chat(1, messages, &tools, None).await }
}

/// Tells whether an endpoint may have refused a request for its `response_format`.
fn is_about_the_form(error: &ModelError) -> bool {
    match error {
        ModelError::Refused(failure) => matches!(failure.status, Some(400 | 404 | 415 | 422)),
        ModelError::Misconfigured(_)
        | ModelError::ContextOverflow(_)
        | ModelError::Gone(_)
        | ModelError::Cassette(_) => false,
    }
}

/// Returns what a reply says, without the reasoning that some endpoints leave in front.
#[must_use]
pub fn said(content: &str) -> &str {
    content.rsplit_once("</think>").map_or(content, |(_, said)| said).trim()
}

/// Returns the JSON in a reply: without the reasoning that some endpoints leave in front,
/// and without one code fence around the whole. Text beside it stays, and spoils it.
#[must_use]
pub fn json_text(content: &str) -> &str {
    let said = said(content);
    let Some(inner) = said.strip_prefix("```").and_then(|said| said.strip_suffix("```")) else {
        return said;
    };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reasoning_and_one_fence_are_taken_away() {
        let table = [
            ("{\"a\":1}", "{\"a\":1}", "bare"),
            (" {\"a\":1}\n", "{\"a\":1}", "space"),
            ("```json\n{\"a\":1}\n```", "{\"a\":1}", "fence"),
            ("```\n{}\n```", "{}", "fence without a language"),
            ("<think>{\"a\":2}</think>{\"a\":1}", "{\"a\":1}", "reasoning"),
            ("Sure: {\"a\":1}", "Sure: {\"a\":1}", "prose stays"),
            ("```", "```", "half a fence"),
            ("", "", "nothing"),
        ];
        for (content, expected, why) in table {
            assert_eq!(json_text(content), expected, "{why}");
        }
    }
}
