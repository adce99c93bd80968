//! What travels between a trainer and the server.
//!
//! The doc comments here are what the `OpenAPI` document says. Fields may be added; what a
//! field means does not change within `/v1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wildgym_tasks::scenario::Language;
use wildgym_tasks::{Factor, Scenario};

use super::problem::Refusal;
use crate::verdict::{Conduct, Share};

/// Nothing is asked for beside the route itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {}

/// Which episode to begin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    /// Id of the task.
    pub task: String,
    /// Factors of the task to take away; of those named, what the task has.
    #[serde(default)]
    pub idealise: Vec<Factor>,
    /// Seed of the episode, 1 to 1000000: episodes of one task and seed meet the same chances, as
    /// trial k of a run with the server's seed does. Left out, each episode of the task gets the
    /// next one, from 1.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub seed: Option<u32>,
}

/// Which sessions to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// How many, 1 to 256. With an episode they are a group: all of one seed.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 256))]
    pub count: u32,
    /// The episode to begin in each; left out, they wait for a reset.
    #[serde(default)]
    pub episode: Option<Reset>,
}

fn one() -> u32 {
    1
}

/// Sessions that were opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opened {
    /// One for each, in no order that means anything.
    pub sessions: Vec<Observation>,
}

/// A call of a tool, as a model asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Its id, which the result repeats; left out, `call_1` and so on.
    #[serde(default)]
    pub id: Option<String>,
    /// Name of the tool.
    pub name: String,
    /// The arguments: an object, or its JSON text as a model wrote it.
    #[serde(default)]
    pub arguments: Value,
}

/// A model's reply in the form of a chat completion. More fields are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// Its text. A `<final_answer>` in it ends the episode.
    #[serde(default)]
    pub content: Option<String>,
    /// The calls that it asks for.
    #[serde(default)]
    pub tool_calls: Option<Vec<SaidCall>>,
}

/// A call in a model's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SaidCall {
    /// Its id.
    #[serde(default)]
    pub id: Option<String>,
    /// Tool and arguments.
    pub function: SaidFunction,
}

/// Tool and arguments of a call in a model's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SaidFunction {
    /// Name of the tool.
    pub name: String,
    /// The arguments as JSON text, or as an object.
    #[serde(default)]
    pub arguments: Value,
}

/// A step: one round. Exactly one of `calls`, `answer` and `message` is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Number of the step, from 1. With it a step whose reply was lost can be asked for again:
    /// the same step is done once and has one reply.
    #[serde(default)]
    pub step: Option<u32>,
    /// Calls to make at once; results come back in this order.
    #[serde(default)]
    pub calls: Option<Vec<Call>>,
    /// The final answer, which ends the episode.
    #[serde(default)]
    pub answer: Option<String>,
    /// A model's whole reply, read as the built-in agent reads it: a final answer, else calls;
    /// with neither the agent is reminded, and the second time in a row ends the episode.
    #[serde(default)]
    pub message: Option<Said>,
}

/// What a step does, once its forms are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Calls tools.
    Calls(Vec<wildgym_toolbox::Call>),
    /// Answers.
    Answer(String),
    /// Says neither; the agent is told this.
    Neither(&'static str),
}

/// The episode of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Episode {
    /// Id of the task.
    pub task: String,
    /// `full`, or `ideal-` and the factors that were taken away.
    pub variant: String,
    /// The seed.
    pub seed: u32,
    /// Which episode with this task, variant and seed it is, from 1: its transcript is
    /// `trials/http/<task>/<variant>/<seed>.<attempt>.jsonl` in the run's directory.
    pub attempt: u32,
}

/// What the agent is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// The built-in agent's system prompt. Another one may be used.
    pub system: String,
    /// The request, with its attachments announced.
    pub user: String,
    /// Paths of the attachments in the workspace.
    pub attachments: Vec<String>,
    /// Language of the request.
    pub language: Language,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallResult {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the agent reads.
    pub content: String,
    /// Kind of the error, where the content is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What can be seen of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Id of the session.
    pub session: String,
    /// The episode; none before the first reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Episode>,
    /// Steps so far; the next one is one more.
    pub step: u32,
    /// What is asked; in the observation before the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
    /// Results of the last step's calls, in the order asked. Fewer than were asked for: a limit
    /// cut the step short.
    pub results: Vec<CallResult>,
    /// What the agent is told beside results, where it neither called nor answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder: Option<String>,
    /// Steps that are left, the answer included; none without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_left: Option<u32>,
    /// Whether the episode is over because the agent ended it.
    pub terminated: bool,
    /// Whether it is over for another reason: a limit was reached, or something of ours broke
    /// (`outcome` begins with `lost:`), and then it is worth nothing either way.
    pub truncated: bool,
    /// How it ended: `answered`, `no-answer`, `limit:<which>`, `lost:<why>`; none while it
    /// goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What explains the outcome, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What it was found to be worth; only for the trainer, after `evaluate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

/// Figures of an episode, of which rewards can be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parts {
    /// 1 with the verdict `pass`, else 0.
    pub passed: f64,
    /// 1 with the verdict `degraded`, else 0.
    pub degraded: f64,
    /// 1 where there is a final answer, else 0.
    pub answered: f64,
    /// All of the following checks that were passed, of all there are.
    pub checks: Figures,
    /// Expected calls that were made.
    pub expected_calls: Figures,
    /// Assertions over the world's state at the end that hold.
    pub assertions: Figures,
    /// Milestones that were reached.
    pub milestones: Figures,
    /// Hosts that had to be found and were.
    pub discovered: Figures,
    /// Steps, the answer included.
    pub steps: u32,
    /// Calls, those of executed code included.
    pub calls: u32,
    /// Calls that a step asked for and that failed.
    pub failed_calls: u32,
    /// Tokens that tools used.
    pub tool_tokens: u64,
    /// What the calls were like, where the task says what is expected of them: what a report
    /// tells of a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub conduct: Option<Conduct>,
    /// The composite score of `ComplexMCP`, 0 to 1, where there is a conduct.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composite: Option<f64>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// How many.
    pub right: u32,
    /// Of how many; 0 where there is nothing of the kind.
    pub of: u32,
}

impl From<Share> for Figures {
    fn from(Share { right, of }: Share) -> Self {
        Self { right, of }
    }
}

/// What an episode is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// Id of the session.
    pub session: String,
    /// The episode.
    pub episode: Episode,
    /// 1 where it passed, 0 where it did not; none where nobody can tell: leave such an
    /// episode out.
    pub reward: Option<f64>,
    /// `pass`, `degraded`, `fail` or `unjudged`.
    pub verdict: String,
    /// Why, for people: the first decides.
    pub reasons: Vec<String>,
    /// Whether the agent ended it.
    pub terminated: bool,
    /// Whether it ended for another reason.
    pub truncated: bool,
    /// How it ended.
    pub outcome: String,
    /// Figures of which other rewards can be made.
    pub parts: Parts,
}

/// A session that is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Closed {
    /// Its id.
    pub session: String,
    /// Always true.
    pub closed: bool,
}

/// One of several requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BatchItem {
    /// The session.
    pub session: String,
    /// What to do in it.
    #[serde(flatten)]
    pub action: Action,
}

/// What to do in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", content = "body", rename_all = "kebab-case")]
pub enum Action {
    /// Begin an episode.
    Reset(Reset),
    /// See how it stands.
    Observe,
    /// Make a step.
    Step(Step),
    /// Find out what it is worth.
    Evaluate,
    /// Close the session.
    Close,
}

/// Several requests, done side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchAsked {
    /// The requests, 1024 at most; no two for one session.
    pub requests: Vec<BatchItem>,
}

/// What came of several requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BatchReply {
    /// One for each, in the order asked.
    pub replies: Vec<Reply>,
}

/// What came of one of several requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// The HTTP status that it would have by itself.
    pub status: u16,
    /// Of a reset, a step and an observation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    /// Of an evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
    /// Of a closing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<Closed>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
}

/// A task that is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskInfo {
    /// Its id.
    pub id: String,
    /// One line for listings.
    pub title: String,
    /// The kind of task.
    pub scenario: Scenario,
    /// Field of life.
    pub domain: String,
    /// Language of request and answer.
    pub language: Language,
    /// Factors that can be taken away.
    pub factors: Vec<Factor>,
    /// How many tools it offers.
    pub tools: usize,
    /// Why it cannot be tried on this machine, where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacking: Option<String>,
}

/// The tasks that are served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskList {
    /// Name of the suite.
    pub suite: String,
    /// Digest of the suite's files.
    pub digest: String,
    /// The tasks, in order.
    pub tasks: Vec<TaskInfo>,
}

/// The tools that a task offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolList {
    /// Their schemas, in the form in which a chat completion takes them.
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub tools: Vec<Value>,
}

/// How the server is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// The run's directory.
    pub run: String,
    /// Sessions that are open.
    pub sessions: usize,
    /// How many may be.
    pub most_sessions: usize,
    /// Requests that are being worked on.
    pub working: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
}
