//! Making trials out of a plan.
//!
//! Three layers, each usable without the next: `execute` runs one attempt and closes
//! its transcript, `build` makes sandboxes and toolboxes out of a suite, `batch` runs
//! what a run still lacks, several at once, and has `judging` judge what is stored. None
//! prints; what happens is told as [`Event`]s.

mod batch;
mod build;
mod event;
mod execute;
mod faults;
mod judging;
mod plan;

pub use batch::{Batch, MakeAgent, Summary, run};
pub use build::{BuildError, Gym};
pub use event::{Event, Stop, Stopper};
pub use execute::{Attempt, execute};
pub use faults::pinned_profile;
pub use judging::{Case, Left, Rejudge, rejudge};
pub use plan::{Trials, seed_of, variants};
