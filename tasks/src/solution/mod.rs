//! The reference solution of a task: rounds of tool calls and a final answer, all
//! computed from what earlier calls returned.
//!
//! Nothing is taken for granted here: an expression that reads a call which failed is
//! an error, never an empty value, so a solution whose tools are broken cannot arrive
//! at its answer.

mod arguments;
mod expression;
pub(crate) mod filters;
mod navigation;
mod results;
mod scan;

pub(crate) use arguments::{Directive, directives};
pub use expression::ExpressionError;
pub(crate) use expression::{Syntax, names_in};
pub use navigation::{Direction, Extent, NavigationStep, Step, Target};
pub use results::Results;
pub(crate) use scan::{misuses, misuses_in};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The contents of `reference/solution.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Solution {
    /// Version of this format: 1.
    #[schemars(extend("const" = 1))]
    pub format: u32,
    /// The rounds, in order.
    #[serde(rename = "round")]
    #[schemars(length(min = 1))]
    pub rounds: Vec<SolutionRound>,
    /// How the final answer follows from the results.
    pub answer: SolutionAnswer,
}

/// Calls that are made at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolutionRound {
    /// The calls, in the order asked.
    #[serde(rename = "call")]
    #[schemars(length(min = 1))]
    pub calls: Vec<SolutionCall>,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolutionCall {
    /// Name by which later expressions refer to the result: letters, digits, `_`.
    #[schemars(extend("format" = "name"))]
    pub name: String,
    /// The tool.
    #[schemars(extend("format" = "line"))]
    pub tool: String,
    /// Its arguments. A value `{ "$expr" = "…" }` is computed, `{ "$template" = "…" }`
    /// is text with `{{ … }}` filled in, `{ "$file" = "…" }` is the text of a file in
    /// `reference/`; all else is taken as it stands.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// With `browse_url`: what to do on the pages, step by step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub navigate: Vec<NavigationStep>,
}

/// How the final answer is computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolutionAnswer {
    /// Expression over the names of calls; a literal is refused.
    #[schemars(length(min = 1))]
    pub expression: String,
}
