//! The reference answer of a task, with its kind.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reference answer: `[answer]` of `task.toml`.
///
/// Every kind may list other accepted forms. An exact judge accepts the value and
/// those forms; whether anything else means the same is for a language-model judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The value, tagged by `kind`.
    #[serde(flatten)]
    pub kind: AnswerKind,
    /// Other forms that count as equal, compared as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// Places where the answer stands in what the agent is given, each with the
    /// reason why finding it is work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stands: Vec<Place>,
}

/// The value of an answer by its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AnswerKind {
    /// A short text, compared after Unicode NFKC, case folding and trimming of
    /// spaces and outer punctuation.
    Text {
        /// The text.
        value: String,
    },
    /// A number within a tolerance.
    Number {
        /// The number.
        value: f64,
        /// Largest absolute difference that still counts as equal.
        #[serde(default)]
        tolerance: f64,
        /// Unit or currency that the answer may carry and that is ignored, such as `EUR` or `km`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    /// A calendar date, equal in any common spelling.
    Date {
        /// The date, as `YYYY-MM-DD`.
        #[schemars(with = "String")]
        value: Date,
    },
    /// Several short texts.
    List {
        /// The items.
        value: Vec<String>,
        /// Whether the order counts.
        #[serde(default)]
        ordered: bool,
    },
}

/// A declared place where the reference answer must be found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// `file:<path below files/>` or `web:<host>/<path>`; `*` stands for any text.
    pub place: String,
    /// Why finding the answer there is work.
    pub why: String,
}
