//! The kinds of task, and the languages they are written in.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a task.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// Find and compose tools that the request does not name.
    ComplexToolUse,
    /// Clean and analyse data in files.
    DataAnalysis,
    /// Find an answer that several sources hold together.
    DeepSearch,
    /// Operate a business system.
    Operations,
    /// Act while the world moves.
    Dynamic,
    /// Act while services fail.
    Resilience,
}

impl Scenario {
    /// Returns the name used in files, reports and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ComplexToolUse => "complex-tool-use",
            Self::DataAnalysis => "data-analysis",
            Self::DeepSearch => "deep-search",
            Self::Operations => "operations",
            Self::Dynamic => "dynamic",
            Self::Resilience => "resilience",
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The language of a task's request and answer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// Returns the name used in files, reports and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }
}
