//! The world engine: a state in tables, operations on it, and events.
//!
//! A [`Blueprint`] is a world made ready: its tables filled once and kept as one image of
//! bytes, every statement of every operation tried against them. A [`Live`] world is the
//! private copy of one attempt; it reads the image until its first call that may change
//! something, has a copy of its own from then on, and dies with the attempt. A [`Pair`] compares two images: what differs, and whether assertions hold. A
//! [`Look`] reads one.
//!
//! The promises: an operation is done whole or not at all; one seed and one sequence of
//! calls give the same bytes; no statement sees the machine (its time, files, other
//! databases, chance); and what an agent sends is bound or runs over copies of published
//! views, so it can do no more than fail its own call.
//!
//! SQL text is never put together from arguments. The engine checks no JSON Schema:
//! arguments are checked at the door, before they come here.

mod blueprint;
mod error;
mod events;
mod functions;
mod guard;
mod image;
mod live;
mod look;
mod pair;
mod query;
mod script;
mod search;
mod short;
mod trial;
mod values;
mod views;

#[cfg(test)]
mod tests;

pub use blueprint::Blueprint;
pub use error::{Refusal, WorldError};
pub use events::Happened;
pub use live::{Call, Live, Written};
pub use look::{Answered, Look, Relation};
pub use pair::{Change, Changed, Difference, Finding, Pair, TableDifference};
