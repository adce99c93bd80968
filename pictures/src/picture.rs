//! A picture of any format as one that a model or a recogniser takes; runs inside worker
//! processes.
//!
//! Upright, without transparency, in a size that serves its purpose, as PNG or JPEG. What
//! it was and what was done with it is told beside it.

use data_encoding::BASE64;
use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::decode::{self, Decoded, fitted};
use super::raster::Raster;
use super::{Format, kind};
use crate::Unreadable;

/// The longer side of a picture for a model, in dots: more is scaled down by the models
/// themselves, and paid for.
pub const LOOK_SIDE: usize = 2048;

/// The longer side of a picture for a recogniser, in dots.
pub const READ_SIDE: usize = 4000;

/// To how much a recogniser's picture is enlarged, in dots of its longer side, at most
/// [`ENLARGED`] times: letters need some 20 dots of height.
const READABLE: usize = 2000;

/// The longer side from which a recogniser's picture is not enlarged, in dots: a third more
/// would gain nothing.
const LARGE_ENOUGH: usize = 1500;

/// The longer side that a JPEG keeps where it is read at a half, a quarter or an eighth of
/// its size, in dots: for a model, and for a recogniser. That is most of the work saved.
const KEPT: (usize, usize) = (1536, 2000);

/// How many times a picture is enlarged at most.
const ENLARGED: usize = 3;

/// Bytes of a PNG beyond which a picture for a model becomes a JPEG.
const LARGE: usize = 3 << 20;

/// Quality of JPEGs, of 100.
const QUALITY: u8 = 90;

/// What a picture is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aim {
    /// To be looked at by a model: in colours, its longer side [`LOOK_SIDE`] dots at most.
    Look,
    /// To have its text recognised: gray, its longer side [`READ_SIDE`] dots at most, small
    /// ones enlarged.
    Read,
}

/// How a picture is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Turn {
    /// As the file says (EXIF).
    AsSaid,
    /// Not at all: what the file says was done already.
    Not,
    /// By a quarter clockwise, whatever the file says.
    Quarter,
    /// Upside down.
    Half,
    /// By a quarter the other way.
    ThreeQuarters,
}

/// A picture that can be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// The format that it came in, such as `TIFF`.
    pub format: String,
    /// Its width, upright, in dots.
    pub width: usize,
    /// Its height, upright, in dots.
    pub height: usize,
    /// Width and height of what `bytes` hold.
    pub shown: (usize, usize),
    /// What was done with it, or left out of it.
    pub notes: Vec<String>,
    /// Media type of `bytes`: `image/png` or `image/jpeg`.
    pub media_type: String,
    /// The picture, encoded.
    #[serde(serialize_with = "encode", deserialize_with = "unpack")]
    pub bytes: Vec<u8>,
}

impl Picture {
    /// Says in a line what it is and what was done: `JPEG, 4000 × 3000 dots; turned upright`.
    #[must_use]
    pub fn describe(&self) -> String {
        let what = format!("{}, {} × {} dots", self.format, self.width, self.height);
        [&[what], self.notes.as_slice()].concat().join("; ")
    }

    /// Returns the media type as a constant.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        if self.media_type == "image/jpeg" { "image/jpeg" } else { "image/png" }
    }
}

/// Makes a picture out of a file.
pub fn prepare(bytes: &[u8], aim: Aim, turn: Turn) -> Result<Picture, Unreadable> {
    if bytes.is_empty() {
        return Err(Unreadable::Empty);
    }
    let format = kind::picture(bytes)
        .ok_or_else(|| Unreadable::Unsupported("no picture of a kind that is read".to_owned()))?;
    let (longest, kept) = match aim {
        Aim::Look => (LOOK_SIDE, KEPT.0),
        Aim::Read => (READ_SIDE, KEPT.1),
    };
    let Decoded { raster, size, orientation, of_many, mut notes } =
        decode::decode(format, bytes, kept)?;
    notes.splice(0..0, of_many);
    let orientation = match turn {
        Turn::AsSaid => orientation,
        Turn::Not => 1,
        Turn::Quarter => 6,
        Turn::Half => 3,
        Turn::ThreeQuarters => 8,
    };
    if orientation > 1 && turn == Turn::AsSaid {
        notes.push(format!("turned upright (EXIF orientation {orientation})"));
    }
    let (width, height) = aimed((raster.width, raster.height), aim, longest);
    // Gray comes first: it is a third of the work that follows.
    let raster = if aim == Aim::Read { raster.gray() } else { raster };
    let raster = raster.scaled(width, height).turned(orientation);
    let (width, height) = if orientation >= 5 { (size.1, size.0) } else { size };
    let shown = (raster.width, raster.height);
    if shown != (width, height) && aim == Aim::Look {
        notes.push(format!("shown at {} × {}", shown.0, shown.1));
    }
    let (media_type, bytes) = written(&raster, aim, format)?;
    let media_type = media_type.to_owned();
    Ok(Picture { format: format.name().to_owned(), width, height, shown, notes, media_type, bytes })
}

/// Returns the size that serves the purpose.
fn aimed(size: (usize, usize), aim: Aim, most: usize) -> (usize, usize) {
    let longest = size.0.max(size.1);
    if aim == Aim::Look || longest >= LARGE_ENOUGH {
        return fitted(size, most);
    }
    let grown =
        |length: usize| (length * ENLARGED).min((length * READABLE).div_ceil(longest)).max(1);
    (grown(size.0), grown(size.1))
}

/// Encodes a picture for its purpose.
fn written(
    raster: &Raster,
    aim: Aim,
    format: Format,
) -> Result<(&'static str, Vec<u8>), Unreadable> {
    if aim == Aim::Read {
        let bytes = png(raster, png::ColorType::Grayscale)?;
        return Ok(("image/png", bytes));
    }
    if format != Format::Jpeg {
        let bytes = png(raster, png::ColorType::Rgb)?;
        if bytes.len() <= LARGE {
            return Ok(("image/png", bytes));
        }
    }
    let mut bytes = Vec::new();
    let (width, height) = sides(raster)?;
    JpegEncoder::new_with_quality(&mut bytes, QUALITY)
        .encode(&raster.dots, width, height, ExtendedColorType::Rgb8)
        .map_err(|error| unwritten(&error))?;
    Ok(("image/jpeg", bytes))
}

fn png(raster: &Raster, color: png::ColorType) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::new();
    let (width, height) = sides(raster)?;
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    // Speed matters more than size: the bytes live as long as a call.
    encoder.set_deflate_compression(png::DeflateCompression::Level(2));
    encoder.set_filter(png::Filter::Up);
    let mut writer = encoder.write_header().map_err(|error| unwritten(&error))?;
    writer.write_image_data(&raster.dots).map_err(|error| unwritten(&error))?;
    writer.finish().map_err(|error| unwritten(&error))?;
    Ok(bytes)
}

fn sides(raster: &Raster) -> Result<(u32, u32), Unreadable> {
    let side = |length: usize| u32::try_from(length).map_err(|error| unwritten(&error));
    Ok((side(raster.width)?, side(raster.height)?))
}

fn unwritten(error: &impl ToString) -> Unreadable {
    Unreadable::TooMuch(format!("it cannot be written anew: {}", error.to_string()))
}

fn encode<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&BASE64.encode(bytes))
}

fn unpack<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    BASE64.decode(text.as_bytes()).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests;
