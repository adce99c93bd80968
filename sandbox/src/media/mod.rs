//! Pictures, sounds and videos: what they are, and pictures as others can take them.
//!
//! `recording` opens sounds and videos with the foreign programs of [`crate::programs`]:
//! `about` is what is in them, `silence` where a long one is cut, `hear` what the engine of
//! this machine hears, `frames` what is seen, `transcript` what was said,
//! `whole` whether a file was cut off.
//!
//! What bytes are, and of any picture one that a model or a recogniser takes, is made by
//! the crate `wildgym-pictures`; the latter in a worker process. [`look`] and [`read`] are the
//! host's side: they have programs of the system convert what no decoder there reads, and
//! recognise text (`recognise`) in pictures and in pages that were drawn (`pages`).
//!
//! Nothing is written beside a file, and no name of a foreign file is ever one of ours.

mod about;
mod frames;
mod hear;
mod look;
mod pages;
mod recognise;
mod recording;
mod silence;
mod transcript;
mod whole;

pub use about::{About, Moving, Sound, Subtitles};
pub use frames::Frames;
pub use hear::{ENGINE, try_engine};
pub use look::{LookError, look};
pub use pages::{PAGES, PageText, read_pages};
pub use recognise::{Reading, read};
pub use recording::{MediaError, Piece, Pieces, Recording};
pub use transcript::{Segment, Transcript, clock};
pub use wildgym_pictures::{
    Aim, Format, LOOK_SIDE, Media, Picture, READ_SIDE, Turn, media, picture,
};
