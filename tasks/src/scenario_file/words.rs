//! What texts must say: the final text, and the files that an attempt leaves.
//!
//! These checks look for parts, numbers and lines. They read no meaning; where only a
//! reader can tell there is the rubric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the final text must say or must not. Case and runs of spaces do not matter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerCheck {
    /// All of these must stand in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<String>,
    /// One of these must stand in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// None of these may stand in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<String>,
    /// A number that must stand in it, in any common spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// Largest difference from `number` that still counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub tolerance: Option<f64>,
    /// Whose it must be, as one of these texts names it: what `all`, `any` and `number` look
    /// for counts where it belongs to this owner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// Names of other owners, to whom it must not belong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_of: Vec<String>,
    /// Whether a text that does not fit only degrades the verdict: right actions, faulty
    /// account of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degrades: bool,
}

/// What a file in the workspace must hold at the end. Case and runs of spaces do not matter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileCheck {
    /// Path below the workspace; `*` stands for any part of it. One file that fits must pass.
    #[schemars(length(min = 1))]
    pub path: String,
    /// All of these must stand in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<String>,
    /// One of these must stand in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// None of these may stand in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<String>,
    /// How many lines it has that are not blank, the heads included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub lines: Option<u32>,
    /// The first line that is not blank, to the letter apart from spaces around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub first_line: Option<String>,
}
