//! A model that answers the questions of tools.
//!
//! It is asked through the same client as agents: retries, slots, cassettes. Every call that
//! asks has a scope of its own, named by tool and number, so that a replay serves each call
//! what it was told, whatever runs beside it. An endpoint that refuses pictures is sent none
//! from then on, and one that refuses a form is asked without; that is learnt once an
//! attempt. Calls of one round may ask at the same time, so what one learns holds for itself at
//! once and for others from the next round on; else it could reach them by chance. Sounds are
//! only sent to a model that is said to hear; those that are to be written down go to a speech
//! model, piece by piece.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::BASE64;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use wildgym_sandbox::media::Transcript;
use wildgym_sandbox::work::Working;
use wildgym_toolbox::ask::{Form, Message, Part, Speech};
use wildgym_toolbox::door::Ingress;
use wildgym_toolbox::{Answer, Ask, AskError, Question};

use super::answers::{Answers, Asked};
use super::written::words;
use crate::model::{
    CassetteError, Exchange, Message as Sent, Model, ModelError, Offered, Sound, said,
};

/// The field that holds an endpoint to a form.
const FORMAT: &str = "response_format";

/// A model, asked on behalf of one attempt's tools.
#[derive(Debug)]
pub struct Asking {
    /// Who answers; nobody where only sounds are written down.
    model: Option<Model>,
    /// Who writes down what is said.
    speech: Option<Model>,
    trial: String,
    attempt: u32,
    /// Whether pictures are left out.
    blind: AtomicBool,
    /// Whether sounds are left out of questions.
    deaf: AtomicBool,
    /// Whether the times of words are not asked for.
    untimed: AtomicBool,
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
    sounds: bool,
    form: bool,
}

impl Asking {
    /// Has `model` asked on behalf of an attempt at a trial; with `blind` it is never sent
    /// pictures. It is sent no sounds either, unless [`Asking::hearing`] says so.
    #[must_use]
    pub fn new(model: Option<Model>, trial: String, attempt: u32, blind: bool) -> Self {
        let formless =
            model.as_ref().is_some_and(|model| model.settings().extra.contains_key(FORMAT));
        Self {
            model,
            speech: None,
            trial,
            attempt,
            blind: blind.into(),
            deaf: true.into(),
            untimed: false.into(),
            formless: formless.into(),
            state: Mutex::default(),
        }
    }

    /// Has sounds sent to the model that answers, where it `hears`.
    #[must_use]
    pub fn hearing(self, hears: bool) -> Self {
        Self { deaf: (!hears).into(), ..self }
    }

    /// Has `speech` write down what is said.
    #[must_use]
    pub fn transcribed_by(self, speech: Option<Model>) -> Self {
        Self { speech, ..self }
    }

    async fn answer(
        &self,
        asker: &Ingress,
        question: &Question<'_>,
        working: &mut Working,
    ) -> Result<Answer, AskError> {
        let pictures = pictures(&question.messages);
        let sounds = question.messages.iter().any(has_sound);
        if sounds && !self.hears() {
            return Ok(unheard());
        }
        let minds = self.minds(asker);
        let wanted = Way {
            pictures: !pictures.is_empty() && !minds.pictures,
            sounds,
            form: question.form.is_some() && !minds.form,
        };
        let mut ended = self.send(asker, question, wanted, working).await?;
        let mut way = wanted;
        if let Some(reason) = refused(&ended) {
            if sounds {
                // Without them there is nothing to ask; the tool knows what to do instead.
                self.deaf.store(true, Ordering::Relaxed);
                return Ok(unheard());
            }
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
        let model = self.model.as_ref().ok_or(AskError::NoModel)?;
        let model = formed(model, form).map_err(|error| why(&error))?;
        let model = model.scoped(&self.trial, self.attempt, &role);
        let messages: Vec<Sent> =
            question.messages.iter().map(|message| sent(message, way)).collect();
        let tools = Offered::default();
        let ended = model.chat(1, &messages, &tools, Some(working)).await;
        let pictures = if way.pictures { pictures(&question.messages) } else { Vec::new() };
        self.keep(Asked {
            call: asker.to_string(),
            tool: question.tool,
            purpose: question.purpose.name(),
            messages: kept(&question.messages, way.pictures),
            pictures,
            ended: ended.clone(),
        });
        Ok(ended)
    }

    /// Keeps what came of an exchange, and counts its tokens.
    fn keep(&self, asked: Asked) {
        let mut state = self.lock();
        let used = asked.ended.as_ref().map_or(0, |exchange| exchange.usage.total());
        state.left = state.left.map(|left| left.saturating_sub(used));
        state.asked.push(asked);
    }

    /// Has a piece of sound written down: with times, and without where the endpoint does
    /// not know those.
    async fn write_down(
        &self,
        asker: &Ingress,
        speech: &Speech,
        working: &mut Working,
    ) -> Result<Transcript, AskError> {
        let model = self.speech.as_ref().ok_or(AskError::NoModel)?;
        if self.lock().left == Some(0) {
            return Err(AskError::Refused("the tokens of this task are used up".to_owned()));
        }
        let role = format!("{}-{asker}-speech", speech.tool);
        let model = model.scoped(&self.trial, self.attempt, &role);
        let timed = !self.untimed.load(Ordering::Relaxed);
        let mut ended = self.hand_over(&model, asker, speech, timed, working).await;
        let about_times = refused(&ended)
            .is_some_and(|reason| reason.contains("verbose_json") || reason.contains(FORMAT));
        if timed && about_times {
            ended = self.hand_over(&model, asker, speech, false, working).await;
            self.untimed.fetch_or(ended.is_ok(), Ordering::Relaxed);
        }
        match ended {
            Ok(exchange) => Ok(words(&exchange.reply_text, speech.seconds)),
            // A sound that the endpoint will not have is the tool's matter; a key that it
            // will not have is not.
            Err(ModelError::Refused(failure)) if matches!(failure.status, Some(413 | 415)) => {
                Err(AskError::Refused(ModelError::Refused(failure).to_string()))
            }
            Err(error) => Err(why(&error)),
        }
    }

    async fn hand_over(
        &self,
        model: &Model,
        asker: &Ingress,
        speech: &Speech,
        timed: bool,
        working: &mut Working,
    ) -> Result<Exchange, ModelError> {
        let sound = Sound {
            source: blake3::hash(&speech.source).to_hex().to_string(),
            start_ms: millis(speech.start),
            length_ms: millis(speech.seconds),
            wav: Arc::clone(&speech.wav),
            timed,
        };
        let ended = model.transcribe(&sound, Some(working)).await;
        let kept = json!([{
            "role": "user",
            "sound": sound.source,
            "start_ms": sound.start_ms,
            "length_ms": sound.length_ms,
        }]);
        self.keep(Asked {
            call: asker.to_string(),
            tool: speech.tool,
            purpose: "transcribe",
            messages: kept.to_string(),
            pictures: Vec::new(),
            ended: ended.clone(),
        });
        ended
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ask for Asking {
    fn sees(&self) -> bool {
        self.model.is_some() && !self.blind.load(Ordering::Relaxed)
    }

    fn hears(&self) -> bool {
        self.model.is_some() && !self.deaf.load(Ordering::Relaxed)
    }

    fn transcriber(&self) -> Option<String> {
        self.speech.as_ref().map(|model| model.endpoint().model().to_owned())
    }

    fn transcribe<'a>(
        &'a self,
        asker: &'a Ingress,
        speech: &'a Speech,
        working: &'a mut Working,
    ) -> BoxFuture<'a, Result<Transcript, AskError>> {
        Box::pin(self.write_down(asker, speech, working))
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
        let Self { pictures, form, .. } = self;
        let about_form = [FORMAT, "json_schema", "schema"].iter().any(|word| reason.contains(word));
        let without_pictures = Self { pictures: false, ..self };
        let without_form = Self { form: false, ..self };
        let neither = Self { pictures: false, form: false, ..self };
        match (pictures, form) {
            (true, true) if about_form => vec![without_form, without_pictures, neither],
            (true, true) => vec![without_pictures, without_form, neither],
            (true, false) | (false, true) => vec![neither],
            (false, false) => Vec::new(),
        }
    }
}

/// The answer to a question whose sounds are not taken.
fn unheard() -> Answer {
    Answer { text: String::new(), seen: false }
}

fn has_sound(message: &Message) -> bool {
    match message {
        Message::System(_) => false,
        Message::User(parts) => parts.iter().any(|part| matches!(part, Part::Sound { .. })),
    }
}

/// Returns seconds as whole milliseconds.
fn millis(seconds: f64) -> u64 {
    u64::try_from(Duration::from_secs_f64(seconds.clamp(0.0, 1e9)).as_millis()).unwrap_or_default()
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
        Part::Text(_) | Part::Sound { .. } => None,
        Part::Picture { bytes, .. } => Some(Arc::clone(bytes)),
    };
    parts.filter_map(picture).collect()
}

/// Returns a message as an endpoint takes it.
fn sent(message: &Message, way: Way) -> Sent {
    let parts = match message {
        Message::System(text) => return Sent::system(text),
        Message::User(parts) => parts,
    };
    let goes = |part: &&Part| match part {
        Part::Text(_) => true,
        Part::Picture { .. } => way.pictures,
        Part::Sound { .. } => way.sounds,
    };
    let parts: Vec<&Part> = parts.iter().filter(goes).collect();
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return Sent::user(&text_of(parts));
    }
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Picture { media_type, bytes } => {
            let url = format!("data:{media_type};base64,{}", BASE64.encode(bytes));
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
        Part::Sound { media_type, bytes } => {
            // `OpenAI` API reference, "Input audio": the format is named, not its media type.
            let format = media_type.trim_start_matches("audio/");
            let sound = json!({ "data": BASE64.encode(bytes), "format": format });
            json!({ "type": "input_audio", "input_audio": sound })
        }
    };
    Sent::user_parts(&parts.into_iter().map(part).collect::<Vec<_>>())
}

/// Returns the conversation as it is kept: pictures and sounds by their digests.
fn kept(messages: &[Message], pictures: bool) -> String {
    let digest = |bytes: &[u8]| Value::from(blake3::hash(bytes).to_hex().to_string());
    let message = |message: &Message| match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(parts) => {
            let (mut seen, mut heard) = (Vec::new(), Vec::new());
            for part in parts {
                match part {
                    Part::Picture { bytes, .. } if pictures => seen.push(digest(bytes)),
                    Part::Sound { bytes, .. } => heard.push(digest(bytes)),
                    Part::Picture { .. } | Part::Text(_) => {}
                }
            }
            let mut kept = json!({ "role": "user", "content": text_of(parts) });
            for (name, digests) in [("pictures", seen), ("sounds", heard)] {
                if !digests.is_empty() {
                    kept[name] = digests.into();
                }
            }
            kept
        }
    };
    messages.iter().map(message).collect::<Value>().to_string()
}

fn text_of<'a>(parts: impl IntoIterator<Item = &'a Part>) -> String {
    let text = |part: &'a Part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Picture { .. } | Part::Sound { .. } => None,
    };
    parts.into_iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_met_with_less_the_likeliest_first() {
        let way = |pictures, form| Way { pictures, sounds: false, form };
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
        let way = |pictures| Way { pictures, sounds: false, form: false };
        let sent_parts = sent(&messages[1], way(true));
        assert!(sent_parts.as_json().contains("data:image/png;base64,cG5n"), "{sent_parts:?}");
        assert_eq!(sent(&messages[1], way(false)), Sent::user("t"));
    }

    #[test]
    fn sounds_go_out_as_input_audio_and_are_kept_by_digest() {
        let sound = Part::Sound { media_type: "audio/wav", bytes: b"RIFF".as_slice().into() };
        let message = Message::User(vec![Part::Text("t".into()), sound]);
        let way = Way { pictures: false, sounds: true, form: false };
        let out = sent(&message, way);
        let want = r#""input_audio":{"data":"UklGRg==","format":"wav"}"#;
        assert!(out.as_json().contains(want), "{out:?}");
        let digest = blake3::hash(b"RIFF").to_hex().to_string();
        assert!(kept(&[message], false).contains(&digest));
    }
}
