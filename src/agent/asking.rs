//! A model that answers the questions of tools.
//!
//! It is asked through the same client as agents: retries, slots, cassettes. Every call that
//! asks has a scope of its own, named by tool and number, so that a replay serves each call
//! what it was told, whatever runs beside it. An endpoint that refuses pictures is sent none
//! from then on, and one that refuses a form is asked without; that is learnt once an
//! attempt. Calls of one round may ask at the same time, so what one learns holds for itself at
//! once and for others from the next round on; else it could reach them by chance.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use data_encoding::BASE64;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use wildgym_sandbox::work::Working;
use wildgym_toolbox::ask::{Form, Message, Part};
use wildgym_toolbox::door::Ingress;
use wildgym_toolbox::{Answer, Ask, AskError, Question};

use super::answers::{Answers, Asked};
use crate::model::{CassetteError, Exchange, Message as Sent, Model, ModelError, Offered, said};

/// The field that holds an endpoint to a form.
const FORMAT: &str = "response_format";

/// A model, asked on behalf of one attempt's tools.
#[derive(Debug)]
pub struct Asking {
    model: Model,
    trial: String,
    attempt: u32,
    /// Whether pictures are left out.
    blind: AtomicBool,
    /// Whether forms are left out.
    formless: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Tokens that may still be used; none where there is no limit.
    left: Option<u64>,
    asked: Vec<Asked>,
    /// What calls of this round found the endpoint to mind.
    found: BTreeMap<String, Minds>,
}

/// What an endpoint minds.
#[derive(Debug, Clone, Copy, Default)]
struct Minds {
    pictures: bool,
    form: bool,
}

/// What of a question is sent beside its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    pictures: bool,
    form: bool,
}

impl Asking {
    /// Has `model` asked on behalf of an attempt at a trial; with `blind` it is never sent
    /// pictures.
    #[must_use]
    pub fn new(model: Model, trial: String, attempt: u32, blind: bool) -> Self {
        let formless = model.settings().extra.contains_key(FORMAT);
        Self {
            model,
            trial,
            attempt,
            blind: blind.into(),
            formless: formless.into(),
            state: Mutex::default(),
        }
    }

    async fn answer(
        &self,
        asker: &Ingress,
        question: &Question<'_>,
        working: &mut Working,
    ) -> Result<Answer, AskError> {
        let pictures = pictures(&question.messages);
        let minds = self.minds(asker);
        let wanted = Way {
            pictures: !pictures.is_empty() && !minds.pictures,
            form: question.form.is_some() && !minds.form,
        };
        let mut ended = self.send(asker, question, wanted, working).await?;
        let mut way = wanted;
        if let Some(reason) = refused(&ended) {
            for lesser in wanted.lesser(&reason) {
                way = lesser;
                ended = self.send(asker, question, way, working).await?;
                if refused(&ended).is_none() {
                    break;
                }
            }
        }
        let exchange = ended.map_err(|error| why(&error))?;
        // Only now it is known that the endpoint minds nothing else.
        let found =
            Minds { pictures: wanted.pictures && !way.pictures, form: wanted.form && !way.form };
        let mut state = self.lock();
        let known = state.found.entry(asker.to_string()).or_default();
        known.pictures |= found.pictures;
        known.form |= found.form;
        drop(state);
        let content = exchange.reply.content.unwrap_or_default();
        let seen = way.pictures || pictures.is_empty();
        Ok(Answer { text: said(&content).to_owned(), seen })
    }

    /// Returns what the endpoint is known to mind by the call `asker`.
    fn minds(&self, asker: &Ingress) -> Minds {
        let found = self.lock().found.get(&asker.to_string()).copied().unwrap_or_default();
        Minds {
            pictures: found.pictures || self.blind.load(Ordering::Relaxed),
            form: found.form || self.formless.load(Ordering::Relaxed),
        }
    }

    /// Sends a question in one way and keeps what came of it.
    async fn send(
        &self,
        asker: &Ingress,
        question: &Question<'_>,
        way: Way,
        working: &mut Working,
    ) -> Result<Result<Exchange, ModelError>, AskError> {
        if self.lock().left == Some(0) {
            return Err(AskError::Refused("the tokens of this task are used up".to_owned()));
        }
        let form = question.form.as_ref().filter(|_| way.form);
        let role = format!("{}-{asker}", question.tool);
        let model = formed(&self.model, form).map_err(|error| why(&error))?;
        let model = model.scoped(&self.trial, self.attempt, &role);
        let messages: Vec<Sent> =
            question.messages.iter().map(|message| sent(message, way.pictures)).collect();
        let tools = Offered::default();
        let ended = model.chat(1, &messages, &tools, Some(working)).await;
        let pictures = if way.pictures { pictures(&question.messages) } else { Vec::new() };
        let exchange = Asked {
            call: asker.to_string(),
            tool: question.tool,
            purpose: question.purpose.name(),
            messages: kept(&question.messages, way.pictures),
            pictures,
            ended: ended.clone(),
        };
        let mut state = self.lock();
        let used = ended.as_ref().map_or(0, |exchange| exchange.usage.total());
        state.left = state.left.map(|left| left.saturating_sub(used));
        state.asked.push(exchange);
        Ok(ended)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ask for Asking {
    fn sees(&self) -> bool {
        !self.blind.load(Ordering::Relaxed)
    }

    fn ask<'a>(
        &'a self,
        asker: &'a Ingress,
        question: &'a Question<'a>,
        working: &'a mut Working,
    ) -> BoxFuture<'a, Result<Answer, AskError>> {
        Box::pin(self.answer(asker, question, working))
    }
}

impl Answers for Asking {
    fn allow(&self, tokens: Option<u64>) {
        let mut state = self.lock();
        state.left = tokens;
        for (_, found) in std::mem::take(&mut state.found) {
            self.blind.fetch_or(found.pictures, Ordering::Relaxed);
            self.formless.fetch_or(found.form, Ordering::Relaxed);
        }
    }

    fn take(&self, call: Option<&str>) -> Vec<Asked> {
        let mut state = self.lock();
        let wanted = |asked: &mut Asked| call.is_none_or(|call| asked.call == call);
        state.asked.extract_if(.., wanted).collect()
    }
}

impl Way {
    /// Returns the lesser ways after a refusal, the likeliest first.
    fn lesser(self, reason: &str) -> Vec<Self> {
        let Self { pictures, form } = self;
        let about_form = [FORMAT, "json_schema", "schema"].iter().any(|word| reason.contains(word));
        let without_pictures = Self { pictures: false, form };
        let without_form = Self { pictures, form: false };
        let neither = Self { pictures: false, form: false };
        match (pictures, form) {
            (true, true) if about_form => vec![without_form, without_pictures, neither],
            (true, true) => vec![without_pictures, without_form, neither],
            (true, false) | (false, true) => vec![neither],
            (false, false) => Vec::new(),
        }
    }
}

/// Returns the words of a refusal that may be about pictures or a form.
pub(super) fn refused(ended: &Result<Exchange, ModelError>) -> Option<String> {
    match ended {
        Err(ModelError::Refused(failure))
            if matches!(failure.status, Some(400 | 404 | 415 | 422 | 501)) =>
        {
            Some(failure.reason.to_lowercase())
        }
        Ok(_)
        | Err(
            ModelError::Refused(_)
            | ModelError::Misconfigured(_)
            | ModelError::ContextOverflow(_)
            | ModelError::Gone(_)
            | ModelError::Cassette(_),
        ) => None,
    }
}

/// Returns why a question has no answer.
fn why(error: &ModelError) -> AskError {
    match error {
        ModelError::ContextOverflow(_) => AskError::Refused(error.to_string()),
        ModelError::Cassette(cassette) if **cassette == CassetteError::CutOff => AskError::CutOff,
        ModelError::Misconfigured(_)
        | ModelError::Refused(_)
        | ModelError::Gone(_)
        | ModelError::Cassette(_) => AskError::Gone(error.to_string()),
    }
}

/// Returns the model held to a form.
fn formed(model: &Model, form: Option<&Form>) -> Result<Model, ModelError> {
    let Some(Form { name, schema }) = form else { return Ok(model.clone()) };
    let mut settings = model.settings().clone();
    let form = json!({ "name": name, "strict": true, "schema": schema });
    let format = json!({ "type": "json_schema", "json_schema": form });
    settings.extra.insert(FORMAT.to_owned(), format);
    model.with_settings(settings)
}

fn pictures(messages: &[Message]) -> Vec<Arc<[u8]>> {
    let parts = messages.iter().flat_map(|message| match message {
        Message::System(_) => &[],
        Message::User(parts) => parts.as_slice(),
    });
    let picture = |part: &Part| match part {
        Part::Text(_) => None,
        Part::Picture { bytes, .. } => Some(Arc::clone(bytes)),
    };
    parts.filter_map(picture).collect()
}

/// Returns a message as an endpoint takes it.
fn sent(message: &Message, pictures: bool) -> Sent {
    let parts = match message {
        Message::System(text) => return Sent::system(text),
        Message::User(parts) => parts,
    };
    if !pictures || !parts.iter().any(|part| matches!(part, Part::Picture { .. })) {
        return Sent::user(&text_of(parts));
    }
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Picture { media_type, bytes } => {
            let url = format!("data:{media_type};base64,{}", BASE64.encode(bytes));
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
    };
    Sent::user_parts(&parts.iter().map(part).collect::<Vec<_>>())
}

/// Returns the conversation as it is kept: pictures by their digests.
fn kept(messages: &[Message], pictures: bool) -> String {
    let message = |message: &Message| match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(parts) => {
            let digests = parts.iter().filter_map(|part| match part {
                Part::Picture { bytes, .. } if pictures => {
                    Some(Value::from(blake3::hash(bytes).to_hex().to_string()))
                }
                Part::Picture { .. } | Part::Text(_) => None,
            });
            let digests: Vec<Value> = digests.collect();
            let mut kept = json!({ "role": "user", "content": text_of(parts) });
            if !digests.is_empty() {
                kept["pictures"] = digests.into();
            }
            kept
        }
    };
    messages.iter().map(message).collect::<Value>().to_string()
}

fn text_of(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Picture { .. } => None,
    };
    parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_met_with_less_the_likeliest_first() {
        let way = |pictures, form| Way { pictures, form };
        let table = [
            (way(true, true), "image input is not supported", vec![(false, true), (true, false)]),
            (way(true, true), "unknown field response_format", vec![(true, false), (false, true)]),
            (way(true, false), "no", vec![]),
            (way(false, false), "no", vec![]),
        ];
        for (wanted, reason, first) in table {
            let mut lesser: Vec<(bool, bool)> =
                wanted.lesser(reason).iter().map(|way| (way.pictures, way.form)).collect();
            if wanted.pictures || wanted.form {
                assert_eq!(lesser.pop(), Some((false, false)), "{reason}: neither comes last");
            }
            assert_eq!(lesser, first, "{reason}");
        }
    }

    #[test]
    fn what_is_kept_names_pictures_by_digest_and_only_those_that_were_sent() {
        let picture = Part::Picture { media_type: "image/png", bytes: b"png".as_slice().into() };
        let messages =
            [Message::System("s".into()), Message::User(vec![Part::Text("t".into()), picture])];
        let digest = blake3::hash(b"png").to_hex().to_string();
        assert!(kept(&messages, true).contains(&digest));
        assert!(!kept(&messages, false).contains(&digest));
        let sent_parts = sent(&messages[1], true);
        assert!(sent_parts.as_json().contains("data:image/png;base64,cG5n"), "{sent_parts:?}");
        assert_eq!(sent(&messages[1], false), Sent::user("t"));
    }
}
