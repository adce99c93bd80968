//! Pictures of any format as ones that a model or a recogniser takes.
//!
//! [`media`] tells by magic numbers whether bytes are a picture, a sound or a video, and parses
//! nothing. [`prepare`] parses and calculates: it is for worker processes only, and a crate
//! of its own so that it is optimised in every build. No file is opened here.

mod decode;
mod kind;
mod picture;
mod raster;

pub use kind::{Format, Media, media, picture};
pub use picture::{Aim, LOOK_SIDE, Picture, READ_SIDE, Turn, prepare};

/// Why a picture cannot be shown. The messages follow "cannot read `name`: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// There are no bytes.
    #[error("the file is empty (0 bytes)")]
    Empty,
    /// It is of a kind that is not read.
    #[error("it is {0}")]
    Unsupported(String),
    /// It is of a kind that is read, but its bytes are not in order.
    #[error("it is a damaged {kind}: {reason}")]
    Damaged {
        /// What it is.
        kind: &'static str,
        /// What its decoder found.
        reason: String,
    },
    /// It has more dots than are taken.
    #[error("it is refused as a decompression bomb: {0}")]
    Bomb(String),
    /// It cannot be written in a form that others take.
    #[error("it holds too much: {0}")]
    TooMuch(String),
}
