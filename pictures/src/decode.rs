//! Formats of pictures, each turned into dots; runs inside worker processes only.
//!
//! A size is believed only after it was held against the limit, so a small file cannot
//! ask for much. What is left out of a file (further frames, further pages) is told.

use std::io::Cursor;
use std::num::NonZeroU64;

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::tiff::TiffDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder};
use zune_bmp::BmpDecoder;
use zune_bmp::zune_core::bytestream::ZCursor;
use zune_bmp::zune_core::options::DecoderOptions;

use super::Format;
use super::raster::Raster;
use crate::Unreadable;

/// The most dots that a picture may have.
pub(super) const DOTS: usize = 60_000_000;

/// The most dots of a JPEG, which is made smaller while it is read.
pub(super) const JPEG_DOTS: usize = 200_000_000;

/// The longest side that any decoder is let in for, in dots.
const SIDE: usize = 65_535;

/// Bytes that a decoder may reserve.
const MEMORY: u64 = 400 << 20;

/// Most frames and pages that are counted.
const COUNTED: usize = 1000;

/// A picture as it lies in its file.
#[derive(Debug)]
pub(super) struct Decoded {
    /// Its dots.
    pub(super) raster: Raster,
    /// Width and height in the file; `raster` may be smaller.
    pub(super) size: (usize, usize),
    /// How it has to be turned, as EXIF says it: 1 to 8.
    pub(super) orientation: u8,
    /// Frames or pages, of which this is the first, where there are several.
    pub(super) of_many: Option<String>,
    /// What else a reader should know.
    pub(super) notes: Vec<String>,
}

impl Decoded {
    fn of(raster: Raster) -> Self {
        let size = (raster.width, raster.height);
        Self { raster, size, orientation: 1, of_many: None, notes: Vec::new() }
    }
}

/// Decodes a picture. A JPEG whose longer side has more than `kept` dots may come smaller,
/// but not below that.
pub(super) fn decode(format: Format, bytes: &[u8], kept: usize) -> Result<Decoded, Unreadable> {
    match format {
        Format::Png => png(bytes),
        Format::Jpeg => jpeg(bytes, kept),
        Format::Gif => gif(bytes),
        Format::Webp => webp(bytes),
        Format::Tiff => tiff(bytes),
        Format::Bmp => bmp(bytes),
        Format::Svg
        | Format::Heif
        | Format::Avif
        | Format::Jpeg2000
        | Format::JpegXl
        | Format::Icon
        | Format::Photoshop => {
            Err(Unreadable::Unsupported(format!("a picture in {}", format.name())))
        }
    }
}

fn png(bytes: &[u8]) -> Result<Decoded, Unreadable> {
    let damaged = |error| damaged("PNG", &error);
    let mut decoder = PngDecoder::with_limits(Cursor::new(bytes), reserved()).map_err(damaged)?;
    let size = within(decoder.dimensions(), DOTS)?;
    let animated = decoder.is_apng().unwrap_or(false);
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut found = Decoded::of(of_image(DynamicImage::from_decoder(decoder).map_err(damaged)?));
    found.size = size;
    found.orientation = orientation.to_exif();
    found.of_many = animated.then(|| "the first frame of an animation".to_owned());
    Ok(found)
}

/// Reads a JPEG with the decoder that gets inks right, and one that gave up with the one
/// that is content with less.
fn jpeg(bytes: &[u8], kept: usize) -> Result<Decoded, Unreadable> {
    let mut decoder = jpeg_decoder::Decoder::new(bytes);
    let limit = usize::try_from(MEMORY).unwrap_or(usize::MAX);
    decoder.set_max_decoding_buffer_size(limit);
    let info = decoder.read_info().ok().and_then(|()| decoder.info());
    let Some(info) = info else { return lenient_jpeg(bytes) };
    let size = within((info.width.into(), info.height.into()), JPEG_DOTS)?;
    let (width, height) = fitted(size, kept);
    let aim = (u16::try_from(width).unwrap_or(u16::MAX), u16::try_from(height).unwrap_or(u16::MAX));
    let found = decoder.scale(aim.0, aim.1).and_then(|_| decoder.decode());
    let (Ok(dots), Some(info)) = (found, decoder.info()) else { return lenient_jpeg(bytes) };
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    let raster = match info.pixel_format {
        jpeg_decoder::PixelFormat::L8 => Raster::of_gray(width, height, &dots),
        jpeg_decoder::PixelFormat::L16 => {
            let high: Vec<u8> = dots.chunks_exact(2).map(|dot| dot[1]).collect();
            Raster::of_gray(width, height, &high)
        }
        jpeg_decoder::PixelFormat::RGB24 => Raster::of_rgb(width, height, dots),
        jpeg_decoder::PixelFormat::CMYK32 => Raster::of_inks(width, height, dots),
    };
    let exif = decoder.exif_data().and_then(Orientation::from_exif_chunk);
    let orientation = exif.map_or(1, Orientation::to_exif);
    Ok(Decoded { size, orientation, ..Decoded::of(raster) })
}

/// Reads what there is of a damaged JPEG.
fn lenient_jpeg(bytes: &[u8]) -> Result<Decoded, Unreadable> {
    let damaged = |error| damaged("JPEG", &error);
    let mut decoder = JpegDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
    decoder.set_limits(reserved()).map_err(damaged)?;
    within(decoder.dimensions(), DOTS)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut found = Decoded::of(of_image(DynamicImage::from_decoder(decoder).map_err(damaged)?));
    found.orientation = orientation.to_exif();
    found.notes.push("it is damaged; a part may be missing or wrong".to_owned());
    Ok(found)
}

fn gif(bytes: &[u8]) -> Result<Decoded, Unreadable> {
    let damaged = |error| damaged("GIF", &error);
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    if let Some(limit) = NonZeroU64::new(MEMORY) {
        options.set_memory_limit(gif::MemoryLimit::Bytes(limit));
    }
    let mut decoder = options.read_info(bytes).map_err(damaged)?;
    let (width, height) = within((decoder.width().into(), decoder.height().into()), DOTS)?;
    let frame = decoder.read_next_frame().map_err(damaged)?;
    let frame = frame
        .ok_or_else(|| Unreadable::Damaged { kind: "GIF", reason: "it has no frame".to_owned() })?;
    let mut canvas = vec![0; 4 * width * height];
    let (left, top) = (usize::from(frame.left), usize::from(frame.top));
    let across = usize::from(frame.width);
    let lines = frame.buffer.chunks_exact(4 * across.max(1));
    for (line, row) in lines.zip(top..height) {
        let fits = across.min(width.saturating_sub(left));
        canvas[4 * (row * width + left.min(width))..][..4 * fits]
            .copy_from_slice(&line[..4 * fits]);
    }
    let mut found = Decoded::of(Raster::of_rgba(width, height, canvas));
    found.of_many = many(gif_frames(bytes), "frames");
    Ok(found)
}

/// Counts the frames of a GIF without decoding them.
fn gif_frames(bytes: &[u8]) -> usize {
    let mut options = gif::DecodeOptions::new();
    options.skip_frame_decoding(true);
    let Ok(mut decoder) = options.read_info(bytes) else { return 0 };
    (0..COUNTED).take_while(|_| matches!(decoder.next_frame_info(), Ok(Some(_)))).count()
}

fn webp(bytes: &[u8]) -> Result<Decoded, Unreadable> {
    let damaged = |error| damaged("WebP", &error);
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
    decoder.set_memory_limit(usize::try_from(MEMORY).unwrap_or(usize::MAX));
    let (width, height) = within(decoder.dimensions(), DOTS)?;
    let mut dots = vec![0; decoder.output_buffer_size().unwrap_or_default()];
    decoder.read_image(&mut dots).map_err(damaged)?;
    let raster = if decoder.has_alpha() {
        Raster::of_rgba(width, height, dots)
    } else {
        Raster::of_rgb(width, height, dots)
    };
    let exif = decoder.exif_metadata().ok().flatten();
    let exif = exif.as_deref().and_then(Orientation::from_exif_chunk);
    let frames = if decoder.is_animated() { decoder.num_frames() as usize } else { 1 };
    let mut found = Decoded::of(raster);
    found.orientation = exif.map_or(1, Orientation::to_exif);
    found.of_many = many(frames, "frames");
    Ok(found)
}

fn tiff(bytes: &[u8]) -> Result<Decoded, Unreadable> {
    let damaged = |error| damaged("TIFF", &error);
    let mut decoder = TiffDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
    within(decoder.dimensions(), DOTS)?;
    decoder.set_limits(reserved()).map_err(damaged)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut found = Decoded::of(of_image(DynamicImage::from_decoder(decoder).map_err(damaged)?));
    found.orientation = orientation.to_exif();
    found.of_many = many(tiff_pages(bytes), "pages");
    Ok(found)
}

/// Counts the pages of a TIFF that can be followed.
fn tiff_pages(bytes: &[u8]) -> usize {
    let Ok(mut decoder) = tiff::decoder::Decoder::new(Cursor::new(bytes)) else { return 1 };
    1 + (1..COUNTED).take_while(|_| decoder.more_images() && decoder.next_image().is_ok()).count()
}

fn bmp(bytes: &[u8]) -> Result<Decoded, Unreadable> {
    let wrong = |reason: String| Unreadable::Damaged { kind: "BMP", reason };
    let options = DecoderOptions::default().set_max_width(SIDE).set_max_height(SIDE);
    let mut decoder = BmpDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| wrong(brief(&format!("{error:?}"))))?;
    let size = decoder.dimensions().unwrap_or_default();
    let size =
        (u32::try_from(size.0).unwrap_or(u32::MAX), u32::try_from(size.1).unwrap_or(u32::MAX));
    let (width, height) = within(size, DOTS)?;
    let mut dots = decoder.decode().map_err(|error| wrong(brief(&format!("{error:?}"))))?;
    let raster = match dots.len() / (width * height).max(1) {
        1 => Raster::of_gray(width, height, &dots),
        3 => Raster::of_rgb(width, height, dots),
        4 => {
            // Most writers leave the fourth byte zero and mean nothing by it.
            if dots.chunks_exact(4).all(|dot| dot[3] == 0) {
                dots.chunks_exact_mut(4).for_each(|dot| dot[3] = 255);
            }
            Raster::of_rgba(width, height, dots)
        }
        _ => return Err(wrong("its dots have no colour that is known".to_owned())),
    };
    Ok(Decoded::of(raster))
}

/// Turns what the library decoded into dots.
fn of_image(image: DynamicImage) -> Raster {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let color = image.color();
    if color.has_alpha() {
        Raster::of_rgba(width, height, image.into_rgba8().into_raw())
    } else if color.has_color() {
        Raster::of_rgb(width, height, image.into_rgb8().into_raw())
    } else {
        Raster::of_gray(width, height, &image.into_luma8().into_raw())
    }
}

/// Returns a size that is within the limit.
fn within((width, height): (u32, u32), limit: usize) -> Result<(usize, usize), Unreadable> {
    let (w, h) = (width as usize, height as usize);
    if w == 0 || h == 0 {
        return Err(Unreadable::Damaged { kind: "picture", reason: "it has no dots".to_owned() });
    }
    if w > SIDE || h > SIDE || w.saturating_mul(h) > limit {
        let most = limit / 1_000_000;
        return Err(Unreadable::Bomb(format!(
            "it says to have {width} × {height} dots; {most} million are read, {SIDE} a side"
        )));
    }
    Ok((w, h))
}

/// Returns the size with its longer side at `longest` at most, neither side zero.
pub(super) fn fitted((width, height): (usize, usize), longest: usize) -> (usize, usize) {
    let side = width.max(height);
    if side <= longest {
        return (width, height);
    }
    let fit = |length: usize| ((length * longest + side / 2) / side).max(1);
    (fit(width), fit(height))
}

fn many(count: usize, what: &str) -> Option<String> {
    let more = if count >= COUNTED { "or more " } else { "" };
    (count > 1).then(|| format!("the first of {count} {more}{what}"))
}

fn reserved() -> image::Limits {
    let mut limits = image::Limits::no_limits();
    limits.max_alloc = Some(MEMORY);
    limits
}

fn damaged(kind: &'static str, error: &impl ToString) -> Unreadable {
    Unreadable::Damaged { kind, reason: brief(&error.to_string()) }
}

/// Returns what a decoder found in one line.
fn brief(error: &str) -> String {
    let mut reason = error.replace(char::is_control, " ");
    reason.truncate(reason.floor_char_boundary(200));
    reason
}
