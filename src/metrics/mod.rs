//! Scores: arithmetic on verdicts that are there already.
//!
//! Nothing here opens a file, asks a model or knows a task's text; every number of
//! a report can be traced to one function of this module and, through its
//! documentation, to the paper that defines it. The module refuses to invent
//! numbers: what cannot be estimated is `None`, never zero.
//!
//! The unit of every mean and of every interval is the task, never the trial. Trials
//! of one task share its difficulty, so treating them as independent would make the
//! intervals too narrow.

mod beta;
mod estimators;
mod interval;
mod paired;
mod scores;
mod tally;

pub use estimators::{avg, pass_at_k, pass_hat_k};
pub use interval::{FEWEST_TASKS, METHOD, ci95};
pub use paired::{Flip, PAIRED_METHOD, Paired, Pairs, difference_ci95};
pub use scores::{ByK, Cell, Estimate, Scores, TaskCells};
pub use tally::{State, Tally};
