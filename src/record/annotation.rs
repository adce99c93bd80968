//! Why a trial failed, as a model that read its transcript sees it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Body, Times, TrialId, Usage};

/// What went wrong in a trial that did not pass: the eight types of `AgentGym2`, appendix
/// E.1, Table 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorType {
    /// The task was misunderstood, or its instructions and its form of answer ignored.
    InstructionMisinterpretation,
    /// Tools, files or pages that hold the way to the answer were not looked for.
    InsufficientExploration,
    /// The right facts were at hand, and the reasoning over them went wrong.
    IncorrectAnalysis,
    /// A clue or the answer was made up, or taken from memory.
    GuessingOrFabrication,
    /// The first finding was taken for right and not checked, even against other clues.
    ConfirmationBias,
    /// Calls failed again and again.
    ToolExecutionFailure,
    /// The attempt ran into a limit on length, rounds or time.
    OverLength,
    /// Something else.
    Others,
}

impl ErrorType {
    /// All types, in the order of the table.
    pub const ALL: [Self; 8] = [
        Self::InstructionMisinterpretation,
        Self::InsufficientExploration,
        Self::IncorrectAnalysis,
        Self::GuessingOrFabrication,
        Self::ConfirmationBias,
        Self::ToolExecutionFailure,
        Self::OverLength,
        Self::Others,
    ];

    /// Returns the name used in files, reports and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InstructionMisinterpretation => "instruction-misinterpretation",
            Self::InsufficientExploration => "insufficient-exploration",
            Self::IncorrectAnalysis => "incorrect-analysis",
            Self::GuessingOrFabrication => "guessing-or-fabrication",
            Self::ConfirmationBias => "confirmation-bias",
            Self::ToolExecutionFailure => "tool-execution-failure",
            Self::OverLength => "over-length",
            Self::Others => "others",
        }
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a model says went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The type of error that decided the trial.
    pub error_type: ErrorType,
    /// Why it is that type, in the model's words.
    pub reason: String,
    /// A passage of the transcript that shows it; it occurs there but for white space.
    pub evidence: String,
}

/// One line of `annotations/<model>.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnnotationRecord {
    /// Version of this format: 1.
    pub format: u32,
    /// The model that was asked.
    pub model: String,
    /// BLAKE3 of the prompt and the schema, as 64 hexadecimal digits.
    pub prompts: String,
    /// The trial.
    pub trial: TrialId,
    /// The attempt that was read.
    pub attempt: u32,
    /// What it says; none where no reply could be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation: Option<Annotation>,
    /// Why there is no annotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Every request that was made, in order.
    pub calls: Vec<AnnotationCall>,
    /// See [`Times`]; `took_ms` is what all of it took.
    pub t: Times,
}

/// One request to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnnotationCall {
    /// BLAKE3 of the request's body, as 64 hexadecimal digits.
    pub digest: String,
    /// The request's body.
    pub request: Body,
    /// HTTP status; none where there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The reply's body as received; none where there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Body>,
    /// Why the reply was not used, where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Tokens, as the endpoint counted them.
    pub usage: Usage,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        for error in ErrorType::ALL {
            let json = serde_json::to_string(&error).unwrap();
            assert_eq!(json, format!("\"{error}\""));
            assert_eq!(serde_json::from_str::<ErrorType>(&json).unwrap(), error);
        }
    }
}
