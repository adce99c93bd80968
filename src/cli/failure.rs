//! How a command fails: what was wrong, why, and what helps.

use std::process::ExitCode;

use crate::store::StoreError;

/// The program's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Done.
    Done,
    /// Some trials are lost or unjudged, or a check found faults.
    Incomplete,
    /// The command or a file it needs is wrong.
    Usage,
    /// The user stopped it.
    Interrupted,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(match code {
            Code::Done => 0,
            Code::Incomplete => 1,
            Code::Usage => 2,
            Code::Interrupted => 3,
        })
    }
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub struct Failure {
    /// What was wrong.
    pub message: String,
    /// A command or change that helps.
    pub hint: Option<String>,
    /// With what the program exits.
    pub code: Code,
}

impl Failure {
    /// Fails for a reason that the user can mend.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: Code::Usage }
    }

    /// Adds what helps.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Writes it to standard error.
    pub(super) fn print(&self) {
        super::say(&format!("error: {}", self.message));
        if let Some(hint) = &self.hint {
            super::say(&format!("\nhint: {hint}"));
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::NoRun(_) => {
                Some("name a run's directory, such as `runs/<time>-starter-reference`")
            }
            StoreError::Exists(_) => Some(
                "take another `--name`; `wildgym resume RUN` goes on with one that was not served",
            ),
            StoreError::Locked { .. } => Some("wait for that process, or stop it first"),
            StoreError::Newer { .. } => Some("use the version of wildgym that made the run"),
            StoreError::Corrupt { path, .. } if path.file_name() == Some("run.toml") => {
                Some("restore that file as it was written, or begin anew with `wildgym run`")
            }
            StoreError::Corrupt { .. } => Some(
                "move the damaged file away; what a transcript held is then made anew by \
                 `wildgym resume RUN`",
            ),
            StoreError::Io { .. } => None,
        };
        Self { message: error.to_string(), hint: hint.map(str::to_owned), code: Code::Usage }
    }
}
