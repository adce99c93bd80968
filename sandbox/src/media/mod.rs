//! Pictures, sounds and videos: what they are, and pictures as others can take them.
//!
//! `kind` tells by magic numbers what bytes are and parses nothing, so it is safe on the
//! host.

mod kind;

pub use kind::{Format, Media, media, picture};
