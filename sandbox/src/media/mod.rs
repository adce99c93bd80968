//! Pictures, sounds and videos: what they are, and pictures as others can take them.
//!
//! `kind` tells by magic numbers what bytes are and parses nothing, so it is safe on the
//! host. `picture` (with `decode` and `raster`) makes of any picture one that a model or a
//! recogniser takes, in a worker process. [`look`] and [`read`] are the host's side: they
//! have programs of the system convert what no decoder here reads, and recognise text
//! (`recognise`) in pictures and in pages that were drawn (`pages`).
//!
//! Nothing is written beside a file, and no name of a foreign file is ever one of ours.

mod decode;
mod kind;
mod look;
mod pages;
mod picture;
mod raster;
mod recognise;

pub use kind::{Format, Media, media, picture};
pub use look::{LookError, look};
pub use pages::{PAGES, PageText, read_pages};
pub use picture::{Aim, LOOK_SIDE, Picture, READ_SIDE, Turn};
pub use recognise::{Reading, read};

pub(crate) use picture::picture as prepare;
