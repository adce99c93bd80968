//! One vote: one model asked once, and once more where its reply could not be read.
//!
//! Every request that was sent is a [`Ballot`], also those that came to nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::reply::{self, Opinion, Unread};
use super::{Matter, prompt};
use crate::judge::{Ballot, shown};
use crate::model::{Exchange, Failure, Message, Model, ModelError, Offered, Retrying, Settings};
use crate::verdict::Verdict;

/// Exchanges in a row that an endpoint may break before its model is left alone for the
/// rest of the session: every further one would wait through all retries too.
pub(super) const GIVE_UP: usize = 5;

/// Most times that one request is sent; what fails then can be judged later.
pub(super) const TRIES: u32 = 5;

/// The same before anything has begun, when somebody waits.
const HASTY_TRIES: u32 = 3;

/// Most characters of a reason that are kept; the whole reply is kept beside it.
const LONGEST_REASON: usize = 500;

/// A model of the panel.
#[derive(Debug)]
pub(super) struct Member {
    /// Asked with a schema for the reply.
    structured: Model,
    /// Asked without.
    plain: Model,
    /// Whether the endpoint takes no schema.
    is_plain: AtomicBool,
    /// Exchanges in a row that the endpoint broke.
    broken: AtomicUsize,
    /// Whether any refusal of a request may be one of its schema: a first try finds out.
    is_trying: bool,
}

/// What a vote came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cast {
    /// A verdict.
    For(Opinion),
    /// A reply, and no verdict in it.
    Nothing(String),
    /// No reply: the endpoint failed, or was given up.
    Failed(String),
}

/// How a request ended.
enum Ended {
    Said(Opinion),
    Unread(Unread),
    /// The endpoint takes no schema; what it said.
    NoSchema(String),
    Failed(String),
}

impl Member {
    /// Prepares a model for judging: temperature 0, few retries, and a form for the reply.
    /// Fields of [`Settings::extra`] win.
    pub(super) fn new(model: &Model) -> Result<Self, ModelError> {
        let given = model.settings().clone();
        let tries = given.retrying.tries.min(TRIES);
        let retrying = Retrying { tries, format_tries: 1, ..given.retrying };
        let settings = Settings { temperature: Some(0.0), seed: None, retrying, ..given };
        let mut extra = settings.extra.clone();
        extra.entry("response_format").or_insert_with(prompt::response_format);
        Ok(Self {
            structured: model.with_settings(Settings { extra, ..settings.clone() })?,
            plain: model.with_settings(settings)?,
            is_plain: AtomicBool::new(false),
            broken: AtomicUsize::new(0),
            is_trying: false,
        })
    }

    /// Returns the same model with fewer retries, for a first try, in which a refused
    /// request is sent again without a schema whatever the endpoint says.
    pub(super) fn hasty(&self) -> Result<Self, ModelError> {
        let hasty = |model: &Model| {
            let settings = model.settings().clone();
            let tries = settings.retrying.tries.min(HASTY_TRIES);
            let retrying = Retrying { tries, ..settings.retrying };
            model.with_settings(Settings { retrying, ..settings })
        };
        Ok(Self {
            structured: hasty(&self.structured)?,
            plain: hasty(&self.plain)?,
            is_plain: AtomicBool::new(self.is_plain()),
            broken: AtomicUsize::new(0),
            is_trying: true,
        })
    }

    /// Returns the model as it is asked now.
    pub(super) fn asked(&self) -> &Model {
        if self.is_plain() { &self.plain } else { &self.structured }
    }

    pub(super) fn is_plain(&self) -> bool {
        self.is_plain.load(Ordering::Relaxed)
    }

    /// Sets whether the endpoint is asked without a schema from now on.
    pub(super) fn set_plain(&self, is_plain: bool) {
        self.is_plain.store(is_plain, Ordering::Relaxed);
    }

    /// Casts the vote of that number; what was sent is added to `ballots`.
    pub(super) async fn vote(
        &self,
        matter: Matter<'_>,
        (trial, attempt): (&str, u32),
        number: u32,
        ballots: &mut Vec<Ballot>,
    ) -> Cast {
        if self.broken.load(Ordering::Relaxed) >= GIVE_UP {
            let name = self.asked().endpoint().model();
            return Cast::Failed(format!(
                "`{name}` is left alone after {GIVE_UP} failures in a row"
            ));
        }
        let mut again = false;
        loop {
            let plain = self.is_plain();
            let model = self.asked().scoped(trial, attempt, &format!("judge-{number}"));
            let messages = prompt::messages(matter, number, again);
            let ended = self.ask(&model, &messages, (number, matter.answer()), ballots).await;
            match ended {
                Ended::NoSchema(_) if !plain => self.set_plain(true),
                Ended::NoSchema(reason) | Ended::Failed(reason) => return self.failed(reason),
                Ended::Said(opinion) => {
                    self.broken.store(0, Ordering::Relaxed);
                    return Cast::For(opinion);
                }
                Ended::Unread(unread) => {
                    self.broken.store(0, Ordering::Relaxed);
                    match unread {
                        Unread::Unreadable(_) if !again => again = true,
                        Unread::Unreadable(why) | Unread::Withheld(why) => {
                            return Cast::Nothing(why);
                        }
                    }
                }
            }
        }
    }

    /// Sends one request about an answer and keeps it.
    async fn ask(
        &self,
        model: &Model,
        messages: &[Message; 2],
        (number, answer): (u32, &str),
        ballots: &mut Vec<Ballot>,
    ) -> Ended {
        let offered = Offered::default();
        let request = model.body(messages, &offered);
        let mut ballot = Ballot {
            number,
            model: model.endpoint().model().to_owned(),
            digest: blake3::hash(request.as_bytes()).to_hex().to_string(),
            request,
            reply: None,
            verdict: None,
            rates: false,
            scores: None,
            reason: String::new(),
            usage: crate::record::Usage::default(),
            took: std::time::Duration::ZERO,
            waited: std::time::Duration::ZERO,
            retries: Vec::new(),
        };
        let ended = match model.chat(number, messages, &offered, None).await {
            Ok(exchange) => said(exchange, answer, &mut ballot),
            Err(error) => failed(&error, self.is_trying, &mut ballot),
        };
        ballots.push(ballot);
        ended
    }

    fn failed(&self, reason: String) -> Cast {
        self.broken.fetch_add(1, Ordering::Relaxed);
        Cast::Failed(reason)
    }
}

fn said(exchange: Exchange, answer: &str, ballot: &mut Ballot) -> Ended {
    let read = reply::read(&exchange, answer);
    ballot.reply = Some(exchange.reply_text);
    ballot.usage = exchange.usage;
    (ballot.took, ballot.waited) = (exchange.took, exchange.waited);
    ballot.retries = exchange.retries;
    match read {
        Ok(opinion) => {
            let opinion = Opinion { reason: short(&opinion.reason), ..opinion };
            ballot.verdict = Some(opinion.verdict);
            ballot.reason.clone_from(&opinion.reason);
            Ended::Said(opinion)
        }
        Err(unread) => {
            let (Unread::Unreadable(why) | Unread::Withheld(why)) = &unread;
            ballot.reason = short(why);
            Ended::Unread(unread)
        }
    }
}

fn failed(error: &ModelError, is_trying: bool, ballot: &mut Ballot) -> Ended {
    ballot.reason = short(&error.to_string());
    if let Some(failure) = error.failure() {
        ballot.reply = (!failure.body.is_empty()).then(|| failure.body.clone());
        (ballot.took, ballot.waited) = (failure.took, failure.waited);
        ballot.retries.clone_from(&failure.retries);
    }
    match error {
        // 501 is tried again as any failure of a server is, and then counts as gone.
        ModelError::Refused(failure) | ModelError::Gone(failure)
            if refuses_schema(failure, is_trying) =>
        {
            Ended::NoSchema(ballot.reason.clone())
        }
        ModelError::ContextOverflow(_) => Ended::Unread(Unread::Withheld(ballot.reason.clone())),
        ModelError::Refused(_)
        | ModelError::Gone(_)
        | ModelError::Misconfigured(_)
        | ModelError::Cassette(_) => Ended::Failed(ballot.reason.clone()),
    }
}

/// Returns whether an endpoint refused the request because of the schema for the reply; in a
/// first try, whether that may be so.
fn refuses_schema(failure: &Failure, is_trying: bool) -> bool {
    let said = format!("{} {}", failure.reason, failure.body).to_lowercase();
    let names = ["response_format", "response format", "json_schema", "structured output"];
    matches!(failure.status, Some(400 | 404 | 415 | 422 | 501))
        && (is_trying || names.iter().any(|name| said.contains(name)))
}

/// Returns a model's words for people: visible characters, one line, not too long.
pub(super) fn short(text: &str) -> String {
    let text = shown(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the word for a vote's verdict.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "correct",
        Verdict::Fail => "incorrect",
        Verdict::Degraded | Verdict::Unjudged => "nothing",
    }
}
