//! Judges: from a stored attempt's answer to a verdict.
//!
//! A judge of answers sees the question, the reference and what the agent answered; the one
//! of conduct sees the stored calls and states too. None sees the sandbox: a judge can be run
//! again at any time, and nothing that an agent left behind can reach it. It never guesses:
//! what it cannot tell is not a pass.

pub mod conduct;
pub mod exact;
mod kind;
pub mod llm;
mod ruling;
pub mod stages;

pub use conduct::{CallFault, Examined, Examiner, Finding, Findings, Owed, speaks_of_failure};
pub use exact::judge;
pub use kind::Judge;
pub use ruling::{Ballot, Ruling};
pub use stages::{Reached, Stages};

use exact::shown;
