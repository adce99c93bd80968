//! Judges: from a stored attempt's answer to a verdict.
//!
//! A judge sees the reference and what the agent answered, and nothing of the sandbox:
//! it can be run again at any time, and nothing that an agent left behind can reach it.
//! It never guesses: what it cannot tell is not a pass.

pub mod exact;
pub mod stages;

pub use exact::judge;
pub use stages::{Reached, Stages};
