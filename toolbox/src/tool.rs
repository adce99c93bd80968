//! What a tool is: a typed trait for its author, an erased twin for the catalog.

use std::fmt;
use std::future::Future;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wildgym_sandbox::browser::Observation;
use wildgym_sandbox::media::Transcript;
use wildgym_sandbox::web::AccessLog;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::world::Happened;
use wildgym_sandbox::{Sandbox, Seed};
use wildgym_tasks::environment::BrowserMode;

use crate::ask::{Answer, Ask, AskError, Question, Speech};
use crate::door::{Call, Ingress, Reply, SandboxLost, Toolbox};
use crate::error::ToolError;
use crate::footprint::Footprint;

/// A tool, as its author writes it.
///
/// The doc comments of [`Tool::Args`] and of its fields are what the model reads.
pub trait Tool: Send + Sync + 'static {
    /// The name by which it is called.
    const NAME: &'static str;
    /// What it does, for the model: what it takes, what it returns, its limits.
    const DESCRIPTION: &'static str;
    /// The group it belongs to.
    const CATEGORY: Category;
    /// Arguments of an example call, as JSON.
    const EXAMPLE: &'static str;
    /// The one way of offering pages with which it is offered; none where with both.
    const BROWSER: Option<BrowserMode> = None;
    /// Its arguments; refuse unknown fields.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// Returns what a call with these arguments touches.
    fn footprint(&self, args: &Self::Args) -> Footprint;

    /// Returns what a call with these arguments costs on the logical clock.
    fn cost(&self, args: &Self::Args) -> Duration {
        let _ = args;
        Duration::from_secs(1)
    }

    /// Does the work.
    fn call(
        &self,
        context: &Arc<CallContext>,
        args: Self::Args,
    ) -> impl Future<Output = Result<Output, ToolError>> + Send;
}

/// The groups of AgentGym2's Table 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Pages.
    WebBrowsing,
    /// Search engines and encyclopedias.
    InformationRetrieval,
    /// Documents and workbooks.
    FileProcessing,
    /// Images, audio, video.
    MultimodalUnderstanding,
    /// Programs.
    CodeExecution,
    /// The person who gave the task; not of that table.
    Conversation,
}

impl Category {
    /// Returns the name used in listings and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WebBrowsing => "web-browsing",
            Self::InformationRetrieval => "information-retrieval",
            Self::FileProcessing => "file-processing",
            Self::MultimodalUnderstanding => "multimodal-understanding",
            Self::CodeExecution => "code-execution",
            Self::Conversation => "conversation",
        }
    }
}

/// What a tool returns to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The text that the agent reads.
    pub text: String,
    /// The page that the text tells of, where it tells of one: for agents that are no model.
    pub page: Option<Arc<Observation>>,
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self { text, page: None }
    }
}

impl From<Observation> for Output {
    fn from(page: Observation) -> Self {
        Self { text: page.to_text(), page: Some(Arc::new(page)) }
    }
}

/// What a call knows about itself.
pub struct CallContext {
    /// Where it happens.
    pub sandbox: Arc<Sandbox>,
    /// Its number.
    pub ingress: Ingress,
    /// The logical time at which it starts.
    pub now: Timestamp,
    /// Where its chances come from.
    pub seed: Seed,
    /// The round in which it was asked for, from 1; 0 where it was asked for by itself, as
    /// executed code does.
    pub round: u64,
    /// The working time that the call may take.
    pub limit: Duration,
    /// What it sends over the network is noted here.
    pub accesses: AccessLog,
    /// The door, for calls that this call makes itself.
    pub toolbox: Arc<Toolbox>,
    /// How many calls it made itself.
    pub(crate) children: AtomicU64,
    /// What came of them.
    pub(crate) made: Mutex<Vec<Reply>>,
    /// What happened in the world before it.
    pub(crate) happened: Mutex<Vec<Happened>>,
    /// What it noted of its work.
    pub(crate) notes: Mutex<Vec<Value>>,
    /// The attempt's clock and its own; it holds a share of each.
    pub(crate) clocks: [Arc<WorkClock>; 2],
}

impl CallContext {
    /// Waits for something that the harness rations, such as a core, without counting
    /// the time against any limit.
    pub async fn waiting<T>(&self, future: impl Future<Output = T>) -> T {
        let paused = self.clocks.each_ref().map(|clock| clock.pause());
        let value = future.await;
        drop(paused);
        value
    }

    /// Makes a call on behalf of this one and returns what the agent's code gets to
    /// read: the text, or the text of an error.
    pub async fn call(&self, call: Call) -> Result<Result<String, String>, SandboxLost> {
        let reply = self.toolbox.call_child(self, call).await?;
        let text = reply.text.clone();
        let failed = reply.error.is_some();
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(reply);
        Ok(if failed { Err(text) } else { Ok(text) })
    }

    /// Asks whoever answers the questions of this attempt's tools.
    ///
    /// The time counts as the attempt's, unless the question waits for its turn, and not
    /// against the call's limit, which is for the tool's own work.
    pub async fn ask(&self, question: &Question<'_>) -> Result<Answer, AskError> {
        let Some(ask) = self.toolbox.ask() else { return Err(AskError::NoModel) };
        let mut working = self.clocks[0].work();
        self.waiting(ask.ask(&self.ingress, question, &mut working)).await
    }

    /// Asks the model that plays the person who gave the task. The time is that person's: it
    /// counts against no limit.
    pub async fn consult(
        &self,
        person: &Arc<dyn Ask>,
        question: &Question<'_>,
    ) -> Result<Answer, AskError> {
        let mut working = Arc::new(WorkClock::default()).work();
        self.waiting(person.ask(&self.ingress, question, &mut working)).await
    }

    /// Returns whether pictures are worth making for [`CallContext::ask`].
    #[must_use]
    pub fn is_seen(&self) -> bool {
        self.toolbox.ask().is_some_and(|ask| ask.sees())
    }

    /// Returns whether [`CallContext::ask`] takes sounds.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.toolbox.ask().is_some_and(|ask| ask.hears())
    }

    /// Returns the name of the model that [`CallContext::transcribe`] asks, where there is one.
    #[must_use]
    pub fn transcriber(&self) -> Option<String> {
        self.toolbox.ask().and_then(|ask| ask.transcriber())
    }

    /// Has a model write down what is said; time counts as for [`CallContext::ask`].
    pub async fn transcribe(&self, speech: &Speech) -> Result<Transcript, AskError> {
        let Some(ask) = self.toolbox.ask() else { return Err(AskError::NoModel) };
        let mut working = self.clocks[0].work();
        self.waiting(ask.transcribe(&self.ingress, speech, &mut working)).await
    }

    /// Runs an engine of this machine that stands in for a model. The time counts as the
    /// attempt's, and not against the call's limit: the engine has one of its own.
    pub async fn engine<T>(&self, work: impl Future<Output = T>) -> T {
        let _working = self.clocks[0].work();
        self.waiting(work).await
    }

    /// Notes something of the call's inner work, for the transcript and for people.
    pub fn note(&self, note: Value) {
        if let Some(watch) = self.toolbox.watch() {
            watch(&self.ingress, &note);
        }
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    /// Notes what happened in the world before it.
    pub(crate) fn came_after(&self, happened: Vec<Happened>) {
        self.happened.lock().unwrap_or_else(PoisonError::into_inner).extend(happened);
    }

    /// Takes out what happened before it.
    pub(crate) fn take_happened(&self) -> Vec<Happened> {
        std::mem::take(&mut *self.happened.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes out what it noted.
    pub(crate) fn take_notes(&self) -> Vec<Value> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes out what came of its own calls.
    pub(crate) fn take_children(&self) -> Vec<Reply> {
        std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext").field("ingress", &self.ingress).finish_non_exhaustive()
    }
}

/// The object-safe twin of [`Tool`]; every tool has it.
pub trait AnyTool: Send + Sync {
    /// See [`Tool::NAME`].
    fn name(&self) -> &str;
    /// See [`Tool::DESCRIPTION`].
    fn description(&self) -> &str;
    /// See [`Tool::CATEGORY`]; of an operation its own.
    fn category(&self) -> &str;
    /// Arguments of an example call.
    fn example(&self) -> Value;
    /// See [`Tool::BROWSER`].
    fn browser(&self) -> Option<BrowserMode>;
    /// The JSON Schema of the arguments.
    fn parameters(&self) -> Value;
    /// The server that it belongs to, and its name there; none for tools of the program.
    fn origin(&self) -> Option<(&str, &str)> {
        None
    }
    /// Reads arguments that fit the schema into a call that can be run.
    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Prepared, ToolError>;
}

/// Runs a call whose arguments were read.
pub type Run =
    Box<dyn FnOnce(Arc<CallContext>) -> BoxFuture<'static, Result<Output, ToolError>> + Send>;

/// A call with its arguments read.
pub struct Prepared {
    /// What it touches.
    pub footprint: Footprint,
    /// What it costs on the logical clock.
    pub cost: Duration,
    /// Runs it.
    pub run: Run,
}

impl<T: Tool> AnyTool for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn description(&self) -> &str {
        T::DESCRIPTION
    }

    fn category(&self) -> &str {
        T::CATEGORY.name()
    }

    fn example(&self) -> Value {
        serde_json::from_str(T::EXAMPLE).unwrap_or(Value::Null)
    }

    fn browser(&self) -> Option<BrowserMode> {
        T::BROWSER
    }

    fn parameters(&self) -> Value {
        crate::schema::parameters::<T::Args>()
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Prepared, ToolError> {
        let args: T::Args = serde_json::from_value(arguments).map_err(|error| {
            ToolError::BadArguments { tool: T::NAME.to_owned(), reason: error.to_string() }
        })?;
        Ok(Prepared {
            footprint: self.footprint(&args),
            cost: self.cost(&args),
            run: Box::new(move |context| Box::pin(async move { self.call(&context, args).await })),
        })
    }
}
