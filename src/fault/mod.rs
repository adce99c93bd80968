//! Faults at the tool-call boundary: which call fails, how, and for how long.
//!
//! After MCP-Injector: *observe* a call, *decide* by profile, persistence and chance, *act* on
//! it, *record* what was done. Deciding ([`Schedule`]) is a function of profile, seed and the
//! sequence of ingress numbers alone, and knows nothing of replies; acting ([`content`],
//! [`ErrorShape`]) knows nothing of persistence. So a decision can be made anew from what a
//! run pins, in process and in a proxy alike.
//!
//! This module never touches what a tool does: a call that a fault answers does not run, and
//! one that runs does so untouched. Faults are for measuring agents, not for attacking
//! services: nothing here forges a call.

mod builtin;
pub mod content;
mod error;
mod injector;
mod matcher;
mod operator;
mod profile;
mod schedule;

pub use builtin::names;
pub use error::ErrorShape;
pub use injector::Injector;
pub use matcher::Observed;
pub use operator::{Operator, Persistence};
pub use profile::{Entry, Per, Profile, ProfileError, Scope, When};
pub use schedule::{Fault, Schedule};
