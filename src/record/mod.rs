//! The records of a transcript: the format in which an attempt is kept.
//!
//! A transcript is JSON Lines. Its first record is an `attempt` and names the format
//! version; then come messages, model exchanges and calls in the order in which the
//! agent met them; an `outcome` closes it. Everything that depends on the machine or
//! the hour (times, waits, retries) stands under the key `t`, so two transcripts of
//! the same seed and the same replies are equal byte for byte once `t` is taken out.
//! Texts over [`INLINE_LIMIT`] bytes are blobs, named by digest.
//!
//! The format is version 1. Fields may be added with a default; what a field means
//! never changes under the same version.

mod annotation;
mod outcome;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wildgym_sandbox::web::Access;
use wildgym_tasks::Variant;

pub use annotation::{Annotation, AnnotationCall, AnnotationRecord, ErrorType};
pub use outcome::{Limit, Lost, Outcome};

/// The version of the transcript format that this program writes.
pub const FORMAT: u32 = 1;

/// Texts up to this many bytes stand in the record, longer ones in a blob.
pub const INLINE_LIMIT: usize = 4096;

/// Which of the planned trials: one of k attempts at a task, in a variant, under a condition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrialId {
    /// Name of the condition.
    pub condition: String,
    /// Id of the task.
    pub task: String,
    /// The idealised factors.
    pub variant: Variant,
    /// Which of the k, from 1.
    pub k: u32,
}

impl fmt::Display for TrialId {
    /// Writes `condition/task/variant/k`, the form that the command line takes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.condition, self.task, self.variant, self.k)
    }
}

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// The first line.
    Attempt(AttemptRecord),
    /// Something the agent was told outside of a call's result.
    Message(MessageRecord),
    /// A request to a model and its reply.
    Model(ModelRecord),
    /// Something that happened in the world without the agent.
    Event(EventRecord),
    /// A tool call and its result.
    Call(CallRecord),
    /// The last line.
    Outcome(OutcomeRecord),
}

/// What depends on the machine or the hour.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// When the line was written, in milliseconds since the attempt began; for the
    /// first line, since the Unix epoch. Of an exchange that is written after one which was
    /// asked for earlier: when it ended.
    pub at_ms: u64,
    /// How long the thing took, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub took_ms: u64,
    /// Of an outcome: how long the agent waited for its model, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub model_ms: u64,
    /// Of an outcome: how long the agent waited for its rounds of calls, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tools_ms: u64,
    /// How long it waited for a slot, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ms: u64,
    /// Of a call on the open web: how long each of its accesses took, in milliseconds and in
    /// their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub web_ms: Vec<u64>,
    /// Requests that failed before the one that is recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<Retry>,
}

/// A request that failed and was sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// What went wrong.
    pub reason: String,
    /// How long the program then waited, in milliseconds.
    pub backoff_ms: u64,
}

/// The first line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// [`FORMAT`] when it was written.
    pub format: u32,
    /// The trial.
    pub trial: TrialId,
    /// Which attempt at it, from 1; above 1 only after lost ones.
    pub attempt: u32,
    /// The trial's seed, as 64 hexadecimal digits.
    pub seed: String,
    /// Where the logical clock starts.
    pub now: Timestamp,
    /// Names of the tools that the agent was offered, in order.
    pub tools: Vec<String>,
    /// See [`Times`].
    pub t: Times,
}

/// A text, in the record or beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// The text.
    Inline(String),
    /// A blob that holds the text.
    Blob {
        /// BLAKE3 of the bytes, as 64 hexadecimal digits.
        blob: String,
        /// Their number.
        bytes: u64,
    },
}

/// Something the agent was told outside of a call's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecord {
    /// `system` or `user`.
    pub role: String,
    /// What was said.
    pub content: Body,
    /// Why: `prompt`, `task`, `reminder`, `conclude` where a planner is asked for its answer, or
    /// `pictures-refused` for a request that replaces one whose pictures the endpoint did not
    /// take.
    pub why: String,
    /// Pictures that were shown with it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PictureRecord>,
}

/// A picture that was shown with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureRecord {
    /// Path of the file in the workspace that it was made of.
    pub path: String,
    /// Media type of what was shown.
    pub media_type: String,
    /// Digest of the blob that holds what was shown.
    pub blob: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A request to a model and its reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Round of the agent, from 1.
    pub round: u32,
    /// Who asked: `agent`, or a tool's name.
    pub role: String,
    /// Ingress number of the call that asked, where a tool did. Such records stand before
    /// that of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What a tool asked for: `plan`, `act`, `replan`, `finish`, `media`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The conversation that a tool sent: JSON, a list of messages with `role`, `content` and
    /// `pictures`, digests of blobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Body>,
    /// BLAKE3 of the request's body, as 64 hexadecimal digits. What an agent sent follows
    /// from the records before this one and the run's settings.
    pub request: String,
    /// The reply's body exactly as received (JSON), or the error's.
    pub reply: Body,
    /// HTTP status.
    pub status: u16,
    /// Tokens, as the endpoint counted them.
    pub usage: Usage,
    /// Peculiarities that were dealt with, such as `bare-json-call`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peculiar: Vec<String>,
    /// See [`Times`].
    pub t: Times,
}

/// Tokens of one exchange, or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of requests, cached ones included.
    pub input: u64,
    /// Tokens of replies, reasoning included.
    pub output: u64,
    /// Tokens of requests that the endpoint had cached.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    /// Tokens of replies that were reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning: u64,
}

impl Usage {
    /// Returns the tokens of requests and replies together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what is left without those of `other`.
    #[must_use]
    pub fn without(&self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cached: self.cached.saturating_sub(other.cached),
            reasoning: self.reasoning.saturating_sub(other.reasoning),
        }
    }

    /// Adds another exchange.
    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

/// A tool call and its result. Records of one round stand in the order asked; calls
/// made from executed code stand before the call that made them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Round of the agent, from 1.
    pub round: u32,
    /// Ingress number: the order asked, from 1; `7.2` is the second call that call 7 made.
    pub ingress: String,
    /// The id that the model gave it.
    pub id: String,
    /// Name of the tool, as asked.
    pub tool: String,
    /// The arguments, as the model wrote them.
    pub arguments: Body,
    /// What the agent got to read.
    pub result: Body,
    /// Kind of the error, where the result is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Workspace path of the full text, where the result was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<String>,
    /// Logical time at which it started.
    pub clock: Timestamp,
    /// Logical time that it took, in milliseconds.
    pub cost_ms: u64,
    /// What it sent over the network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub web: Vec<Access>,
    /// What interceptors noted, such as fired faults, and what the tool noted of its work,
    /// such as the rounds of `browse_url`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Value>,
    /// See [`Times`].
    pub t: Times,
}

/// Something that happened in the world without the agent. It stands before the call before
/// which it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Name of the event.
    pub event: String,
    /// Place of its occurrence in the task's scene, from 0.
    pub occurrence: usize,
    /// Ingress number of the call before which it happened; none: after the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Calls of the world's operations that had been made.
    pub after_calls: u64,
    /// Logical time at which it happened.
    pub clock: Timestamp,
    /// Why its effects could not be done, where they could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The last line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// How the agent's part ended.
    pub outcome: Outcome,
    /// The final answer, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Body>,
    /// What explains the outcome, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Rounds, that is, model replies (or rounds of a scripted agent).
    pub rounds: u32,
    /// Tool calls, those from executed code included.
    pub calls: u32,
    /// Tokens of all exchanges.
    pub usage: Usage,
    /// Those of them that tools used.
    #[serde(default, skip_serializing_if = "Usage::is_nothing")]
    pub tool_usage: Usage,
    /// Tokens of the model that played the user; they are not in `usage`.
    #[serde(default, skip_serializing_if = "Usage::is_nothing")]
    pub user_usage: Usage,
    /// Requests to the network that the recording did not have, where one was replayed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub web_misses: u64,
    /// Where the logical clock ended.
    pub clock: Timestamp,
    /// The workspace at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRecord>,
    /// The state of the world, where the task has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateRecord>,
    /// See [`Times`]; `took_ms` is the working time.
    pub t: Times,
}

/// The state of a world at the start and at the end: SQLite databases as blobs. Equal states
/// are equal bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateRecord {
    /// Blob with the state at the start, which attempts at a task share.
    pub start: String,
    /// Blob with the state at the end, after what was then still due to happen.
    pub end: String,
}

impl OutcomeRecord {
    /// Returns the record of an attempt that came to nothing before its agent did anything.
    #[must_use]
    pub fn unbegun(outcome: Outcome, detail: String) -> Self {
        Self {
            outcome,
            answer: None,
            detail: Some(detail),
            rounds: 0,
            calls: 0,
            usage: Usage::default(),
            tool_usage: Usage::default(),
            user_usage: Usage::default(),
            web_misses: 0,
            clock: Timestamp::UNIX_EPOCH,
            files: Vec::new(),
            state: None,
            t: Times::default(),
        }
    }
}

/// A file of the workspace at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Path below the workspace.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Blob that holds it; none where it is larger than the store keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
