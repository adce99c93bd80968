//! Pictures, sounds and videos: what they are, and pictures as others can take them.
//!
//! `recording` opens sounds and videos with the foreign programs of [`crate::programs`]:
//! `about` is what is in them, `silence` where a long one is cut, `hear` what the engine of
//! this machine hears, `frames` what is seen, `transcript` what was said.
//!
//! `kind` tells by magic numbers what bytes are and parses nothing, so it is safe on the
//! host.

mod about;
mod frames;
mod hear;
mod kind;
mod recording;
mod silence;
mod transcript;

pub use about::{About, Picture, Sound, Subtitles};
pub use frames::Frames;
pub use hear::{ENGINE, try_engine};
pub use kind::{Format, Media, media, picture};
pub use recording::{MediaError, Piece, Pieces, Recording};
pub use transcript::{Segment, Transcript, clock};
