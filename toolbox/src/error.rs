//! Why a tool call produced no output, and who has to deal with it.

use std::time::Duration;

use thiserror::Error;
use wildgym_sandbox::browser::BrowserError;
use wildgym_sandbox::code::RuntimeError;
use wildgym_sandbox::media::MediaError;
use wildgym_sandbox::programs::ProgramError;
use wildgym_sandbox::web::WebError;
use wildgym_sandbox::worker::WorkerError;
use wildgym_sandbox::workspace::WorkspaceError;
use wildgym_sandbox::world::{Refusal, WorldError};

use crate::ask::AskError;

/// Why a tool call produced no output. The messages are read by the agent.
#[derive(Debug, Error)]
pub enum ToolError {
    /// No tool has that name.
    #[error("there is no tool `{name}`; {hint}")]
    UnknownTool {
        /// The name asked for.
        name: String,
        /// The nearest names, or all of them.
        hint: String,
    },
    /// The arguments are not JSON or do not fit the schema.
    #[error("`{tool}` rejected its arguments: {reason}")]
    BadArguments {
        /// The tool.
        tool: String,
        /// The field and what was expected there.
        reason: String,
    },
    /// The workspace refused.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The network refused.
    #[error(transparent)]
    Web(#[from] WebError),
    /// A parser gave up.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The world did not do what was asked; its state is as before.
    #[error("{0}")]
    Refused(Refusal),
    /// The tool ran and failed; the text says why and what to try.
    #[error("{0}")]
    Failed(String),
    /// The tool needs something that is not there; the text names what to set or install.
    #[error("{0}")]
    Unavailable(String),
    /// The call took longer than its limit.
    #[error("`{tool}` was stopped after its limit of {}", seconds(*.limit))]
    TimedOut {
        /// The tool.
        tool: String,
        /// The limit.
        limit: Duration,
    },
    /// Whoever asked for the call took it back.
    #[error("this call was cancelled by whoever asked for it")]
    Cancelled,
    /// The sandbox is gone, so this attempt cannot go on.
    #[error("the sandbox stopped: {0}")]
    SandboxLost(String),
    /// The browser died with a page of this attempt open.
    #[error("{0}")]
    BrowserLost(String),
    /// The endpoint of the model that answers tools failed for good.
    #[error("{0}")]
    ModelLost(String),
    /// The endpoint of the model that plays the user failed for good.
    #[error("{0}")]
    UserLost(String),
    /// A replayed attempt was cut off by a limit here.
    #[error("{0}")]
    CutOff(String),
}

/// What an attempt cannot go on without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vital {
    /// Workspace, code runtime, workers.
    Sandbox,
    /// The browser.
    Browser,
    /// The model that answers tools.
    Model,
    /// The model that plays the user.
    User,
    /// Time, in a replay.
    Time,
}

/// Who has to deal with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// It is the result of the call; the agent reads it and goes on.
    Agent,
    /// The attempt ends as lost, stays out of every score, and is made again.
    Harness,
}

impl ToolError {
    /// Returns who has to deal with this error.
    #[must_use]
    pub fn blame(&self) -> Blame {
        if self.lost().is_some() { Blame::Harness } else { Blame::Agent }
    }

    /// Returns what is gone, where the attempt cannot go on.
    #[must_use]
    pub fn lost(&self) -> Option<Vital> {
        match self {
            Self::UnknownTool { .. }
            | Self::BadArguments { .. }
            | Self::Workspace(_)
            | Self::Web(_)
            | Self::Worker(_)
            | Self::Refused(_)
            | Self::Failed(_)
            | Self::Unavailable(_)
            | Self::TimedOut { .. }
            | Self::Cancelled => None,
            Self::SandboxLost(_) => Some(Vital::Sandbox),
            Self::BrowserLost(_) => Some(Vital::Browser),
            Self::ModelLost(_) => Some(Vital::Model),
            Self::UserLost(_) => Some(Vital::User),
            Self::CutOff(_) => Some(Vital::Time),
        }
    }

    /// Returns the name of this kind of error in transcripts and reports; of what a world
    /// refused it is the code, such as `not-found`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UnknownTool { .. } => "unknown-tool",
            Self::BadArguments { .. } => "bad-arguments",
            Self::Workspace(_) => "workspace",
            Self::Web(_) => "web",
            Self::Worker(_) => "unreadable",
            Self::Refused(refusal) => refusal.code.name(),
            Self::Failed(_) => "failed",
            Self::Unavailable(_) => "unavailable",
            Self::TimedOut { .. } => "timed-out",
            Self::Cancelled => "cancelled",
            Self::SandboxLost(_) => "sandbox-lost",
            Self::BrowserLost(_) => "browser-lost",
            Self::ModelLost(_) => "model-lost",
            Self::UserLost(_) => "user-lost",
            Self::CutOff(_) => "cut-off",
        }
    }
}

impl From<RuntimeError> for ToolError {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::Missing => Self::Unavailable(error.to_string()),
            RuntimeError::Unusable(_) => Self::SandboxLost(error.to_string()),
        }
    }
}

impl From<MediaError> for ToolError {
    fn from(error: MediaError) -> Self {
        match error {
            MediaError::Unreadable(why) => Self::Failed(why),
            MediaError::Program(ProgramError::Missing(_)) => Self::Unavailable(error.to_string()),
            MediaError::Program(
                ProgramError::Failed { .. }
                | ProgramError::Stopped { .. }
                | ProgramError::Broken { .. },
            ) => Self::Failed(error.to_string()),
        }
    }
}

impl From<BrowserError> for ToolError {
    fn from(error: BrowserError) -> Self {
        match error {
            BrowserError::Refused(why) => Self::Failed(why),
            BrowserError::Missing(what) => Self::Unavailable(what),
            BrowserError::Lost(_) => Self::BrowserLost(error.to_string()),
        }
    }
}

impl From<WorldError> for ToolError {
    fn from(error: WorldError) -> Self {
        match error {
            WorldError::Refused(refusal) => Self::Refused(refusal),
            WorldError::Broken(_) => Self::SandboxLost(error.to_string()),
        }
    }
}

impl From<AskError> for ToolError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::NoModel => Self::Unavailable(error.to_string()),
            AskError::Refused(why) => Self::Failed(why),
            AskError::Gone(_) => Self::ModelLost(error.to_string()),
            AskError::CutOff => Self::CutOff(error.to_string()),
        }
    }
}

/// Writes a duration as a reader would: `2 s`, `0.5 s`.
fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}
