//! Guests: foreign programs, such as agents, that run beside the gym and are none of it.
//!
//! A [`Guest`] has a keeper, which ends it and everything that it started when it is dropped
//! and when the gym dies, however that comes. A [`Cage`] is what it sees of the machine:
//! built by bubblewrap, it holds what is named and nothing else, and no network but a
//! loopback of its own.

mod cage;
mod filter;
mod held;
mod kept;

pub use crate::browser::keep_guest;
pub(crate) use cage::{Arguments, IN_MEMORY};
pub use cage::{Cage, HOME, Mount, bubblewrap};
pub(crate) use filter::filtered;
pub use held::Held;
pub use kept::{Guest, Left, Start};
