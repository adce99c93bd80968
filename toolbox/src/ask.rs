//! How tools reach a model.
//!
//! A tool asks through [`CallContext::ask`](crate::CallContext::ask) and knows nothing of
//! endpoints, keys, retries or costs: whoever answers (a model behind an endpoint, or the
//! reference agent with what it was told to do) is put behind [`Ask`] by the floor above,
//! which also keeps every exchange. A reply is text and nothing in it is trusted; the tool
//! parses it.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use wildgym_sandbox::browser::Observation;
use wildgym_sandbox::media::Transcript;
use wildgym_sandbox::work::Working;

use crate::door::Ingress;

/// Answers the questions of one attempt's tools.
pub trait Ask: fmt::Debug + Send + Sync {
    /// Returns whether pictures are worth making: false once it is known that whoever
    /// answers takes none.
    fn sees(&self) -> bool;

    /// Returns whether whoever answers takes sounds in questions ([`Part::Sound`]).
    fn hears(&self) -> bool {
        false
    }

    /// Returns the name of the model that writes down what is said, where there is one.
    fn transcriber(&self) -> Option<String> {
        None
    }

    /// Writes down what is said in a piece of a recording; times are of the piece.
    ///
    /// `asker` and `working` are as in [`Ask::ask`].
    fn transcribe<'a>(
        &'a self,
        asker: &'a Ingress,
        speech: &'a Speech,
        working: &'a mut Working,
    ) -> BoxFuture<'a, Result<Transcript, AskError>> {
        let _ = (asker, speech, working);
        Box::pin(std::future::ready(Err(AskError::NoModel)))
    }

    /// Answers a question of the call `asker`.
    ///
    /// `working` is a share in the attempt's working time; it stands while the question
    /// waits for its turn at an endpoint.
    fn ask<'a>(
        &'a self,
        asker: &'a Ingress,
        question: &'a Question<'a>,
        working: &'a mut Working,
    ) -> BoxFuture<'a, Result<Answer, AskError>>;
}

/// A question of a tool.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// Name of the tool that asks.
    pub tool: &'static str,
    /// What it asks for.
    pub purpose: Purpose,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The form that the reply should have; an endpoint may not be able to keep to it.
    pub form: Option<Form>,
    /// The page that the question is about, as data: for one who answers without a model.
    pub sight: Option<Sight<'a>>,
}

/// A piece of a recording that is to be written down.
#[derive(Debug, Clone)]
pub struct Speech {
    /// Name of the tool that asks.
    pub tool: &'static str,
    /// The file that it comes from. A decoder of another version may make other bytes of it,
    /// so it is by this file, `start` and `seconds` that an exchange is known again.
    pub source: Arc<[u8]>,
    /// Where the piece starts, in seconds.
    pub start: f64,
    /// Its length in seconds.
    pub seconds: f64,
    /// The piece, as WAV.
    pub wav: Arc<[u8]>,
}

/// What a tool asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A plan before the first action.
    Plan,
    /// The next action.
    Act,
    /// Whether the plan still holds.
    Replan,
    /// A summary of what was found, after the last action.
    Finish,
    /// What pictures, sounds or their captions show.
    Media,
    /// What the person who gave the task replies.
    Reply,
}

impl Purpose {
    /// Returns its name in transcripts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Act => "act",
            Self::Replan => "replan",
            Self::Finish => "finish",
            Self::Media => "media",
            Self::Reply => "reply",
        }
    }
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// What holds throughout.
    System(String),
    /// What is asked, in parts.
    User(Vec<Part>),
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A text.
    Text(String),
    /// A picture; left out for a model that takes none.
    Picture {
        /// Its media type, such as `image/png`.
        media_type: &'static str,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// A sound; only for who [hears](Ask::hears).
    Sound {
        /// Its media type, such as `audio/wav`.
        media_type: &'static str,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
}

/// The JSON that a reply should be.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Name by which an endpoint knows it.
    pub name: &'static str,
    /// JSON Schema.
    pub schema: Value,
}

/// A page after an action.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// The page.
    pub page: &'a Observation,
    /// What came of the last action: its feedback, its reply, or why it could not be done.
    pub said: &'a str,
    /// Whether it could not be done.
    pub failed: bool,
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What was said; reasoning that a model showed is not in it.
    pub text: String,
    /// Whether the question's pictures were seen and its sounds heard; true where it had
    /// none. Sounds that were refused leave the text empty.
    pub seen: bool,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// Nobody answers.
    #[error(
        "this needs a model, and none answers tools here: name one with `--tool-model NAME` \
         (and `--tool-base-url URL`), or run an agent that has one with `--model NAME`"
    )]
    NoModel,
    /// The question as it is has no answer; the text says why.
    #[error("{0}")]
    Refused(String),
    /// The endpoint failed for good.
    #[error("the model that answers tools is gone: {0}")]
    Gone(String),
    /// A limit of the attempt struck here when the exchange was recorded.
    #[error("the recorded attempt was cut off here")]
    CutOff,
}
