//! Making trials out of a plan.
//!
//! Three layers, each usable without the next: `execute` runs one attempt and closes
//! its transcript, `build` makes sandboxes and toolboxes out of a suite, `batch` runs
//! what a run still lacks, several at once, and has `judging` judge what is stored. Beside
//! them `session` holds an attempt open for somebody outside. None prints; what happens is
//! told as [`Event`]s.

mod attend;
mod batch;
mod build;
mod event;
mod execute;
mod faults;
mod injected;
mod judging;
mod needs;
mod network;
mod offering;
mod plan;
mod servers;
mod session;
mod worlds;

pub use attend::{Attended, Court};
pub use batch::{Batch, MakeAgent, Summary, run};
pub use build::{BuildError, Gym, Offer};
pub use event::{Event, Stop, Stopper};
pub use execute::{Attempt, execute};
pub use faults::pinned_profile;
pub use judging::{Case, Left, Referee, Rejudge, rejudge};
pub use needs::{Lacking, lacking};
pub use network::Network;
pub use offering::needed;
pub use plan::{Trials, seed_of, variants};
pub use servers::Servers;
pub use session::{Opening, OpeningError, Pace, Round, Session};
pub use worlds::{Worlds, WorldsError, blueprint};
