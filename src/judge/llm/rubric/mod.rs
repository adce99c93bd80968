//! The rubric judge: how well an attempt was done, in nine scores, beside whether it is right.
//!
//! A model sees the request and what it stands for, every call with its result, and the final
//! answer, and rates six aspects from 0 to 10; three means follow. Several votes are cast, each
//! with the rubric in another order, and the median of each score counts. More than half of the
//! votes must be readable, or there are no scores and the trial stays unjudged: silence is no
//! score, least of all 0. An attempt without an answer, or with an empty one, is not shown to a
//! model: all its scores are 0.
//!
//! The scores stand beside a verdict and never move one: whether an answer is right is decided
//! as by the judge with a model.
//!
//! Sources: the aspects, means and shuffling are those of MCP-Bench's judge; the median of five
//! and the grounded fulfilment those of MCP-Injector. The prompts are our own.

mod prompt;
mod raters;
mod reply;
mod work;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use raters::{Rated, Raters};
pub use work::{shown, tools};

/// Votes unless a flag says otherwise, as published.
pub const VOTES: u32 = 5;

/// An attempt that ended with an answer.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// What was asked, in the words that the agent got.
    pub request: &'a str,
    /// What that stands for in full; the same where the request is not vague.
    pub wanted: &'a str,
    /// Which step needs what of which other; may be empty.
    pub dependencies: &'a str,
    /// The tools that were offered, as JSON objects.
    pub tools: &'a [Value],
    /// Rounds of the agent.
    pub rounds: u32,
    /// The calls, as JSON objects; see [`shown`].
    pub calls: &'a [Value],
    /// The final answer.
    pub answer: &'a str,
}

/// Returns the BLAKE3 digest of all that decides how a model is asked to rate, and to judge,
/// as 64 hexadecimal digits.
#[must_use]
pub fn prompts() -> String {
    let whole = format!("{}\n{}", super::prompts(), prompt::texts());
    blake3::hash(whole.as_bytes()).to_hex().to_string()
}
