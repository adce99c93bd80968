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

mod agreement;
mod beta;
mod bootstrap;
mod estimators;
mod gate;
mod interval;
mod normal;
mod paired;
mod prices;
pub mod resilience;
mod rubric;
mod scores;
mod stages;
mod tally;
mod toll;
mod usage;
mod wilcoxon;

pub use agreement::{AGREEMENT_METHOD, Agreement, Confusion, Rating};
pub use bootstrap::{BOOTSTRAP_METHOD, bootstrap_ci95};
pub use estimators::{avg, pass_at_k, pass_hat_k};
pub use gate::{Drop, SURE, Sides};
pub use interval::{FEWEST_TASKS, METHOD, ci95};
pub use paired::{Flip, PAIRED_METHOD, Paired, Pairs, difference_ci95};
pub use prices::{BadPrices, Price, Prices};
pub use rubric::{MeanScore, RubricMeans};
pub use scores::{ByK, Cell, Estimate, Scores, TaskCells};
pub use stages::{Course, Discovery, Grid, Share, Survival};
pub use tally::{State, Tally};
pub use toll::{Fall, Scored, ScoredPair, Toll};
pub use usage::{Bill, Judging, Rounds, Work};
pub use wilcoxon::{SIGNED_RANK_METHOD, SignedRank, holm};
