//! Small pictures of every format, written here, and what is made of them.

use std::fmt::Write;
use std::io::Cursor;

use image::{DynamicImage, ImageFormat, RgbImage, RgbaImage};

use super::*;

/// A picture of six by four dots: red at the top left, blue elsewhere.
fn flag() -> RgbImage {
    RgbImage::from_fn(6, 4, |x, y| {
        image::Rgb(if x < 3 && y < 2 { [255, 0, 0] } else { [0, 0, 255] })
    })
}

fn written_as(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    DynamicImage::ImageRgb8(flag()).write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn gif_of(frames: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let palette = [255, 0, 0, 0, 0, 255];
    let mut encoder = gif::Encoder::new(&mut bytes, 6, 4, &palette).unwrap();
    for _ in 0..frames {
        let indices: Vec<u8> = flag().pixels().map(|dot| u8::from(dot.0[2] == 255)).collect();
        let frame =
            gif::Frame { width: 6, height: 4, buffer: indices.into(), ..gif::Frame::default() };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    bytes
}

fn webp() -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = image_webp::WebPEncoder::new(&mut bytes);
    encoder.encode(flag().as_raw(), 6, 4, image_webp::ColorType::Rgb8).unwrap();
    bytes
}

/// A bitmap of 24 bits a dot, from the bottom up, rows padded to four bytes.
fn bmp(width: u32, height: u32, dots: &[u8]) -> Vec<u8> {
    let mut bytes = b"BM".to_vec();
    for number in [54 + u32::try_from(dots.len()).unwrap(), 0, 54, 40, width, height] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([1, 0, 24, 0]);
    bytes.extend([0; 24]);
    bytes.extend(dots);
    bytes
}

fn flag_bmp() -> Vec<u8> {
    let flag = flag();
    let mut dots = Vec::new();
    for y in (0..4).rev() {
        for x in 0..6 {
            let [red, green, blue] = flag.get_pixel(x, y).0;
            dots.extend([blue, green, red]);
        }
        dots.extend([0; 2]);
    }
    bmp(6, 4, &dots)
}

/// A JPEG of one square of eight dots in one colour: components as they are stored, and
/// the transform that Adobe's segment names.
fn square(stored: &[u8], transform: Option<u8>) -> Vec<u8> {
    let count = u8::try_from(stored.len()).unwrap();
    let mut bytes = vec![0xff, 0xd8];
    if let Some(transform) = transform {
        bytes.extend([0xff, 0xee, 0, 14]);
        bytes.extend(b"Adobe\0\x64\0\0\0\0");
        bytes.push(transform);
    }
    bytes.extend([0xff, 0xdb, 0, 67, 0]);
    bytes.extend([8; 64]);
    bytes.extend([0xff, 0xc0, 0, 8 + 3 * count, 8, 0, 8, 0, 8, count]);
    (1..=count).for_each(|id| bytes.extend([id, 0x11, 0]));
    // Sizes 0 to 8 in four bits each; of the rest only "nothing follows", in one.
    bytes.extend([0xff, 0xc4, 0, 28, 0x00, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(0..=8);
    bytes.extend([0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0xff, 0xda, 0, 6 + 2 * count, count]);
    (1..=count).for_each(|id| bytes.extend([id, 0x00]));
    bytes.extend([0, 63, 0]);
    let mut bits = String::new();
    for value in stored {
        let level = i32::from(*value) - 128;
        let size = 32 - level.unsigned_abs().leading_zeros();
        let coded = if level < 0 { level + (1 << size) - 1 } else { level };
        let _ = write!(bits, "{size:04b}");
        if size > 0 {
            let _ = write!(bits, "{coded:0width$b}", width = size as usize);
        }
        bits.push('0');
    }
    while !bits.len().is_multiple_of(8) {
        bits.push('1');
    }
    for start in (0..bits.len()).step_by(8) {
        let byte = u8::from_str_radix(&bits[start..start + 8], 2).unwrap();
        bytes.push(byte);
        if byte == 0xff {
            bytes.push(0);
        }
    }
    bytes.extend([0xff, 0xd9]);
    bytes
}

/// The same JPEG with the orientation that a camera notes.
fn noted(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let mut exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0]);
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], &[0xff, 0xe1], &length, &exif, &jpeg[2..]].concat()
}

fn shown(bytes: &[u8]) -> Picture {
    prepare(bytes, Aim::Look, Turn::AsSaid).unwrap()
}

fn dots(picture: &Picture) -> RgbImage {
    image::load_from_memory(&picture.bytes).unwrap().into_rgb8()
}

fn is_near(dot: image::Rgb<u8>, want: [u8; 3]) -> bool {
    dot.0.iter().zip(want).all(|(a, b)| a.abs_diff(b) < 12)
}

#[test]
fn every_format_shows_the_same() {
    let table = [
        ("PNG", written_as(ImageFormat::Png), "", "image/png"),
        ("TIFF", written_as(ImageFormat::Tiff), "", "image/png"),
        ("GIF", gif_of(1), "", "image/png"),
        ("GIF", gif_of(3), "the first of 3 frames", "image/png"),
        ("WebP", webp(), "", "image/png"),
        ("BMP", flag_bmp(), "", "image/png"),
    ];
    for (format, bytes, note, media_type) in table {
        let picture = shown(&bytes);
        assert_eq!((picture.format.as_str(), picture.width, picture.height), (format, 6, 4));
        assert_eq!(picture.media_type(), media_type, "{format}");
        assert_eq!(picture.notes.join("; "), note, "{format}");
        assert_eq!(dots(&picture), flag(), "{format}");
    }
}

#[test]
fn inks_of_jpegs_come_out_right() {
    type Row = (&'static [u8], Option<u8>, [u8; 3], &'static str);
    let table: [Row; 5] = [
        (&[255, 0, 0, 255], Some(0), [255, 0, 0], "Adobe's CMYK: no cyan, all magenta and yellow"),
        (&[179, 171, 1, 255], Some(2), [255, 0, 0], "Adobe's YCCK: the same in luminance"),
        (&[255, 255, 255, 0], Some(0), [0, 0, 0], "black ink alone"),
        (&[255, 255, 255, 255], None, [255, 255, 255], "four inks without a word from Adobe"),
        (&[76, 85, 255], None, [255, 0, 0], "plain YCbCr"),
    ];
    for (stored, transform, want, why) in table {
        let picture = shown(&square(stored, transform));
        assert_eq!((picture.width, picture.height, picture.media_type()), (8, 8, "image/jpeg"));
        let dot = *dots(&picture).get_pixel(4, 4);
        assert!(is_near(dot, want), "{why}: {dot:?}");
    }
}

#[test]
fn a_camera_s_orientation_is_applied_and_told() {
    let mut jpeg = Vec::new();
    let big = image::imageops::resize(&flag(), 96, 64, image::imageops::FilterType::Nearest);
    JpegEncoder::new_with_quality(&mut jpeg, 95).encode_image(&big).unwrap();
    let picture = shown(&noted(&jpeg, 6));
    assert_eq!((picture.width, picture.height, picture.shown), (64, 96, (64, 96)));
    assert_eq!(picture.notes, ["turned upright (EXIF orientation 6)"]);
    let turned = dots(&picture);
    assert!(is_near(*turned.get_pixel(56, 8), [255, 0, 0]), "the top left went to the top right");
    assert!(is_near(*turned.get_pixel(8, 8), [0, 0, 255]));
    let kept = prepare(&noted(&jpeg, 6), Aim::Look, Turn::Not).unwrap();
    assert_eq!((kept.width, kept.height, kept.notes.len()), (96, 64, 0), "turned before");
}

#[test]
fn sizes_serve_their_purpose() {
    let plain = |width, height| {
        let mut bytes = Vec::new();
        let image = DynamicImage::ImageLuma8(image::GrayImage::new(width, height));
        image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
        bytes
    };
    let table = [
        (Aim::Look, (3000, 1000), (2048, 683), "a wide one is scaled"),
        (Aim::Look, (60, 40), (60, 40), "a small one is shown as it is"),
        (Aim::Look, (5000, 1), (2048, 1), "no side vanishes"),
        (
            Aim::Read,
            (60, 40),
            (180, 120),
            "letters of small ones are enlarged, three times at most",
        ),
        (Aim::Read, (1000, 500), (2000, 1000), "up to what a recogniser needs"),
        (Aim::Read, (1600, 20), (1600, 20), "large enough"),
        (Aim::Read, (8000, 40), (4000, 20), "too large"),
    ];
    for (aim, size, want, why) in table {
        let picture = prepare(&plain(size.0, size.1), aim, Turn::AsSaid).unwrap();
        assert_eq!(picture.shown, want, "{why}");
        let told = picture.notes.iter().any(|note| note.starts_with("shown at"));
        assert_eq!(told, aim == Aim::Look && want != (size.0 as usize, size.1 as usize), "{why}");
    }
}

/// A photograph of a phone is read at half its size, which is enough and quicker.
#[test]
fn large_jpegs_are_read_smaller() {
    let mut jpeg = Vec::new();
    let big = image::GrayImage::new(4000, 300);
    JpegEncoder::new_with_quality(&mut jpeg, 50).encode_image(&big).unwrap();
    for (aim, note) in [(Aim::Look, "shown at 2000 × 150"), (Aim::Read, "")] {
        let picture = prepare(&jpeg, aim, Turn::AsSaid).unwrap();
        assert_eq!((picture.width, picture.height), (4000, 300));
        assert_eq!(picture.shown, (2000, 150));
        assert_eq!(picture.notes.join("; "), note);
    }
}

#[test]
fn what_is_transparent_is_white() {
    let mut bytes = Vec::new();
    let clear = RgbaImage::from_pixel(4, 4, image::Rgba([0, 0, 0, 0]));
    DynamicImage::ImageRgba8(clear)
        .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
        .unwrap();
    assert_eq!(dots(&shown(&bytes)).get_pixel(1, 1).0, [255; 3]);
}

#[test]
fn what_is_no_picture_or_too_much_is_refused_with_the_reason() {
    let mut huge = written_as(ImageFormat::Png);
    huge[16..24].copy_from_slice(&[0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50]);
    // The checksum of the header, or the decoder would stop at that.
    let sum = crc(&huge[12..29]);
    huge[29..33].copy_from_slice(&sum.to_be_bytes());
    let mut screen = gif_of(1);
    screen[6..10].fill(0xff);
    let cut = written_as(ImageFormat::Png);
    let table: [(&[u8], &str); 7] = [
        (b"", "the file is empty"),
        (b"no picture at all", "no picture of a kind"),
        (&huge, "decompression bomb: it says to have 50000 × 50000 dots"),
        (&screen, "decompression bomb: it says to have 65535 × 65535 dots"),
        (&bmp(60_000, 60_000, &[0; 64]), "decompression bomb: it says to have 60000 × 60000"),
        (&cut[..60], "a damaged PNG"),
        (b"\xff\xd8\xff\xe0 and nothing", "a damaged JPEG"),
    ];
    for (bytes, want) in table {
        let error = prepare(bytes, Aim::Look, Turn::AsSaid).unwrap_err().to_string();
        assert!(error.contains(want), "{want}: {error}");
    }
}

/// The checksum of PNG (ISO 3309).
fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
        }
    }
    !sum
}
