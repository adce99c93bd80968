//! What agents do about faults and about events of the world, read off stored attempts.
//!
//! Everything is a rule over records: no model is asked, and the same transcript gives the
//! same figures for ever. What the rules are stands at each type; where MCP-Injector (section
//! 5, figure 3, and its section on recovery) tells a rule, it is that one, and where it names a
//! class without a threshold the rule is ours and says so. Nothing here knows why an agent did
//! something: `switched` is another tool next, whatever it was for.
//!
//! Notes of faults are read as they are stored, by names: an operator that a later version
//! adds is counted like any other.

mod aftermath;
mod class;
mod events;
mod mix;
mod reaction;
mod steps;
mod sum;

pub use aftermath::Aftermath;
pub use class::{Class, Standing};
pub use events::{EventSum, Felt, Met};
pub use mix::{Kind, Mix};
pub use reaction::{LOOP, Reaction, Reactions};
pub use sum::{Resilience, Tried};

#[cfg(test)]
mod tests;
