//! The reference answer of a task, with its kind.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reference answer: `[answer]` of `task.toml`.
///
/// Every kind may list other accepted forms. An exact judge accepts the value and
/// those forms; whether anything else means the same is for a language-model judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
// serde cannot refuse unknown fields beside a flattened enum; the schema does.
#[schemars(deny_unknown_fields)]
pub struct Answer {
    /// The value, tagged by `kind`.
    #[serde(flatten)]
    pub kind: AnswerKind,
    /// Other forms that count as equal, compared as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
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
        #[schemars(extend("format" = "line"))]
        value: String,
    },
    /// A number within a tolerance.
    Number {
        /// The number.
        value: f64,
        /// Largest absolute difference that still counts as equal.
        #[serde(default)]
        #[schemars(range(min = 0.0))]
        tolerance: f64,
        /// Unit or currency that the answer may carry and that is ignored, such as `EUR` or `km`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    /// A calendar date, equal in any common spelling.
    Date {
        /// The date, as `YYYY-MM-DD`.
        #[schemars(with = "String", extend("format" = "date"))]
        value: Date,
    },
    /// Several short texts.
    List {
        /// The items.
        #[schemars(length(min = 1), extend("items" = {"type": "string", "format": "line"}))]
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
    #[schemars(extend("format" = "line"))]
    pub place: String,
    /// Why finding the answer there is work: a sentence of at least 20 characters, of
    /// which a Chinese one counts as two.
    #[schemars(extend("format" = "line"))]
    pub why: String,
}
