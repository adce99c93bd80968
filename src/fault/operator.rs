//! What a fault does, and how long it lasts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a fault does to a call.
///
/// The first seven are those of MCP-Injector, section 4; the other three are the content
/// faults that its section 7 names as left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operator {
    /// OP0: nothing. A trial that draws it stays healthy.
    Null,
    /// OP1, `MINOR_MISTAKE`: some words of the result are misspelt.
    MinorMistake,
    /// OP2: numbers, dates and times of the result are wrong, and look right.
    IncorrectOutput,
    /// OP3: the result has a form that no caller expects.
    InvalidOutput,
    /// OP4, `EXPLICIT_ERROR`: an error instead of a result; the call does not run.
    ExplicitError,
    /// OP5: the result comes late.
    Delay,
    /// OP6: no reply ever comes; the caller's own limit ends the call.
    SilentDrop,
    /// The result says the same in another form: fields renamed, wrapped or retyped.
    SchemaDrift,
    /// The result ends in the middle.
    TruncatedPayload,
    /// Part of the result is missing, and nothing says so.
    PartialResult,
}

impl Operator {
    /// All operators, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Null,
        Self::MinorMistake,
        Self::IncorrectOutput,
        Self::InvalidOutput,
        Self::ExplicitError,
        Self::Delay,
        Self::SilentDrop,
        Self::SchemaDrift,
        Self::TruncatedPayload,
        Self::PartialResult,
    ];

    /// Returns the name used in profiles, transcripts and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::MinorMistake => "minor-mistake",
            Self::IncorrectOutput => "incorrect-output",
            Self::InvalidOutput => "invalid-output",
            Self::ExplicitError => "explicit-error",
            Self::Delay => "delay",
            Self::SilentDrop => "silent-drop",
            Self::SchemaDrift => "schema-drift",
            Self::TruncatedPayload => "truncated-payload",
            Self::PartialResult => "partial-result",
        }
    }

    /// Returns whether it changes the result of a call that ran.
    #[must_use]
    pub fn changes_content(self) -> bool {
        match self {
            Self::MinorMistake
            | Self::IncorrectOutput
            | Self::InvalidOutput
            | Self::SchemaDrift
            | Self::TruncatedPayload
            | Self::PartialResult => true,
            Self::Null | Self::ExplicitError | Self::Delay | Self::SilentDrop => false,
        }
    }

    /// Returns which part of words, values or items it hits where a profile says nothing;
    /// none where it has no such part.
    ///
    /// OP2 corrupts about one third (MCP-Injector, appendix A). For OP1 the paper says
    /// "sparsely", without a figure: 5 % is ours, as is one half for partial results.
    #[must_use]
    pub fn default_share(self) -> Option<f64> {
        match self {
            Self::MinorMistake => Some(0.05),
            Self::IncorrectOutput => Some(1.0 / 3.0),
            Self::PartialResult => Some(0.5),
            Self::Null
            | Self::InvalidOutput
            | Self::ExplicitError
            | Self::Delay
            | Self::SilentDrop
            | Self::SchemaDrift
            | Self::TruncatedPayload => None,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How long a fault lasts (MCP-Injector, sections 2 and 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// It fires on the call that draws it and on every later one that it fits.
    Permanent,
    /// It fires once.
    Transient,
    /// It is held over several calls and fires on some of them.
    Intermittent,
}

impl Persistence {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Permanent, Self::Transient, Self::Intermittent];

    /// Returns the name used in profiles, transcripts and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Permanent => "permanent",
            Self::Transient => "transient",
            Self::Intermittent => "intermittent",
        }
    }
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_files_are_those_on_screen() {
        for operator in Operator::ALL {
            assert_eq!(serde_json::to_value(operator).unwrap(), operator.name());
        }
        for persistence in Persistence::ALL {
            assert_eq!(serde_json::to_value(persistence).unwrap(), persistence.name());
        }
    }
}
