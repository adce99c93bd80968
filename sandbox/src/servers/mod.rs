//! Foreign servers of tools: programs that live as long as an attempt.
//!
//! A server is the child of a keeper, which ends it and all below it when the attempt, or the
//! gym, is over. Where the system has bubblewrap it runs behind walls: of the files it sees the
//! system's programs and libraries, what it was given, and the attempt's workspace where that
//! was granted; it has no network unless it was granted; its processes end together. Where
//! there is no bubblewrap it runs without walls, and whoever starts it is told.
//!
//! What is said between the two is not this module's affair: it hands out two pipes.

mod keep;
mod process;
mod reach;
mod walls;

pub use keep::{keep, keep_beside};
pub use process::{Pipes, Process};
pub use reach::reach;
pub use walls::{Order, Servers};
