//! Pictures, sounds and videos: what they are, and pictures as others can take them.
//!
//! `recording` opens sounds and videos with the foreign programs of [`crate::programs`]:
//! `about` is what is in them, `silence` where a long one is cut, `hear` what the engine of
//! this machine hears, `frames` what is seen, `transcript` what was said.
//!
//! `kind` tells by magic numbers what bytes are and parses nothing, so it is safe on the
//! host. `picture` (with `decode` and `raster`) makes of any picture one that a model or a
//! recogniser takes, in a worker process. [`look`] and [`read`] are the host's side: they
//! have programs of the system convert what no decoder here reads, and recognise text
//! (`recognise`) in pictures and in pages that were drawn (`pages`).
//!
//! Nothing is written beside a file, and no name of a foreign file is ever one of ours.

mod about;
mod decode;
mod frames;
mod hear;
mod kind;
mod look;
mod pages;
mod picture;
mod raster;
mod recognise;
mod recording;
mod silence;
mod transcript;

pub use about::{About, Moving, Sound, Subtitles};
pub use frames::Frames;
pub use hear::{ENGINE, try_engine};
pub use kind::{Format, Media, media, picture};
pub use look::{LookError, look};
pub use pages::{PAGES, PageText, read_pages};
pub use picture::{Aim, LOOK_SIDE, Picture, READ_SIDE, Turn};
pub use recognise::{Reading, read};
pub use recording::{MediaError, Piece, Pieces, Recording};
pub use transcript::{Segment, Transcript, clock};

pub(crate) use picture::picture as prepare;
