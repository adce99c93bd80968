//! Whether bytes are a picture, a sound or a video, told by their first ones.
//!
//! Magic numbers only: nothing is parsed, no length is believed, no suffix is looked at. So
//! it is safe on the host, and a damaged file still is what it begins like. Marks that could
//! begin a text count only with what stands behind them.

/// What bytes are to eyes and ears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// A still picture, or a moving one that pictures' programs show (GIF, WebP).
    Picture,
    /// Sound alone.
    Sound,
    /// Moving pictures; in a container that could hold either, sound alone perhaps.
    Video,
}

/// Formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Portable Network Graphics.
    Png,
    /// JPEG, in any wrapping.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// TIFF, of either byte order.
    Tiff,
    /// Windows bitmap.
    Bmp,
    /// Scalable Vector Graphics: a text.
    Svg,
    /// High Efficiency Image File, as phones write it.
    Heif,
    /// AV1 in the same container.
    Avif,
    /// JPEG 2000.
    Jpeg2000,
    /// JPEG XL.
    JpegXl,
    /// Windows icon.
    Icon,
    /// Photoshop document.
    Photoshop,
}

impl Format {
    /// Returns what it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::Webp => "WebP",
            Self::Tiff => "TIFF",
            Self::Bmp => "BMP",
            Self::Svg => "SVG",
            Self::Heif => "HEIC",
            Self::Avif => "AVIF",
            Self::Jpeg2000 => "JPEG 2000",
            Self::JpegXl => "JPEG XL",
            Self::Icon => "ICO",
            Self::Photoshop => "PSD",
        }
    }
}

/// How far into a text the beginning of a drawing is looked for, in bytes: comments and
/// declarations may stand before it.
const PROLOGUE: usize = 4096;

/// Sizes that the second header of a bitmap can have, in bytes.
const BITMAP_HEADERS: &[u8] = &[12, 40, 52, 56, 64, 108, 124];

/// Beginnings of pictures.
const PICTURES: &[(&[u8], Format)] = &[
    (b"\x89PNG\r\n\x1a\n", Format::Png),
    (b"\xff\xd8\xff", Format::Jpeg),
    (b"GIF87a", Format::Gif),
    (b"GIF89a", Format::Gif),
    (b"II*\0", Format::Tiff),
    (b"MM\0*", Format::Tiff),
    (b"II+\0", Format::Tiff),
    (b"MM\0+", Format::Tiff),
    (b"\0\0\0\x0cjP  ", Format::Jpeg2000),
    (b"\xff\x4f\xff\x51", Format::Jpeg2000),
    (b"\0\0\0\x0cJXL ", Format::JpegXl),
    (b"\xff\x0a", Format::JpegXl),
    (b"8BPS\0", Format::Photoshop),
];

/// Beginnings of sounds.
const SOUNDS: &[&[u8]] =
    &[b"ID3\x02", b"ID3\x03", b"ID3\x04", b"fLaC", b".snd\0", b"caff\0", b"wvpk", b"MAC "];

/// Beginnings of videos.
const VIDEOS: &[&[u8]] = &[
    b"\x1a\x45\xdf\xa3",
    b"FLV\x01",
    b"\0\0\x01\xba",
    b"\0\0\x01\xb3",
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",
];

/// Brands of ISO containers that hold sound alone.
const SOUND_BRANDS: &[&[u8]] = &[b"M4A ", b"M4B ", b"M4P ", b"F4A ", b"F4B "];

/// Brands of ISO containers that hold pictures.
const HEIF_BRANDS: &[&[u8]] =
    &[b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"];

/// Brands of ISO containers that hold pictures in AV1.
const AVIF_BRANDS: &[&[u8]] = &[b"avif", b"avis"];

/// Length of a packet of an MPEG transport stream, in bytes.
const PACKET: usize = 188;

/// Tells whether bytes are a picture, a sound or a video; nothing where they are neither.
///
/// A drawing in SVG is a text, and none of the three here; see [`picture`].
#[must_use]
pub fn media(bytes: &[u8]) -> Option<Media> {
    if raster(bytes).is_some() {
        Some(Media::Picture)
    } else if is_sound(bytes) {
        Some(Media::Sound)
    } else if is_video(bytes) {
        Some(Media::Video)
    } else {
        None
    }
}

/// Tells the format of a picture, drawings included; nothing where it is none.
#[must_use]
pub fn picture(bytes: &[u8]) -> Option<Format> {
    raster(bytes).or_else(|| is_drawing(bytes).then_some(Format::Svg))
}

/// The format of a picture made of dots.
fn raster(bytes: &[u8]) -> Option<Format> {
    let marked = PICTURES.iter().find(|(mark, _)| bytes.starts_with(mark));
    if let Some((_, format)) = marked
        && (*format != Format::Gif || is_binary(bytes, 6))
    {
        return Some(*format);
    }
    if bytes.starts_with(b"RIFF") && at(bytes, 8, b"WEBP") {
        return Some(Format::Webp);
    }
    if is_bitmap(bytes) {
        return Some(Format::Bmp);
    }
    if bytes.starts_with(b"\0\0\x01\0") && at(bytes, 5, b"\0") && bytes.get(4) != Some(&0) {
        return Some(Format::Icon);
    }
    let brand = brand(bytes)?;
    if AVIF_BRANDS.contains(&brand) {
        Some(Format::Avif)
    } else if HEIF_BRANDS.contains(&brand) {
        // The general brand of both; which one it is, the other brands say.
        let others = bytes.get(16..64.min(bytes.len())).unwrap_or_default();
        let avif = others.chunks(4).any(|other| AVIF_BRANDS.contains(&other));
        Some(if avif { Format::Avif } else { Format::Heif })
    } else {
        None
    }
}

fn is_sound(bytes: &[u8]) -> bool {
    let riff = (bytes.starts_with(b"RIFF") || bytes.starts_with(b"RF64")) && at(bytes, 8, b"WAVE");
    let aiff = bytes.starts_with(b"FORM") && (at(bytes, 8, b"AIFF") || at(bytes, 8, b"AIFC"));
    let ogg = bytes.starts_with(b"OggS\0") && !at(bytes, 28, b"\x80theora");
    let marked = SOUNDS.iter().find(|mark| bytes.starts_with(mark));
    marked.is_some_and(|mark| is_binary(bytes, mark.len()))
        || bytes.starts_with(b"#!AMR\n")
        || bytes.starts_with(b"#!AMR-WB\n")
        || riff
        || aiff
        || ogg
        || is_mpeg_frame(bytes)
        || brand(bytes).is_some_and(|brand| SOUND_BRANDS.contains(&brand))
}

fn is_video(bytes: &[u8]) -> bool {
    VIDEOS.iter().any(|mark| bytes.starts_with(mark))
        || (bytes.starts_with(b"RIFF") && at(bytes, 8, b"AVI "))
        || bytes.starts_with(b"OggS\0")
        || brand(bytes).is_some()
        || at(bytes, 4, b"moov")
        || at(bytes, 4, b"mdat")
        || ([0, PACKET, 2 * PACKET].iter().all(|offset| at(bytes, *offset, b"G"))
            && bytes[..PACKET].iter().any(|byte| is_control(*byte)))
}

/// Whether a frame of MPEG sound (MP3, AAC in ADTS) begins here. `FF FE` is left to
/// texts in UTF-16.
fn is_mpeg_frame(bytes: &[u8]) -> bool {
    let [0xff, second, third, ..] = bytes else { return false };
    if second & 0xf6 == 0xf0 {
        // AAC: layer 0, and one of thirteen sampling rates.
        return (third >> 2) & 0xf < 13;
    }
    let layer = second & 0x06 != 0;
    let version = second & 0x18 != 0x08;
    let rates = third & 0xf0 != 0xf0 && third & 0xf0 != 0 && third & 0x0c != 0x0c;
    second & 0xe0 == 0xe0 && *second != 0xfe && layer && version && rates
}

/// Whether what follows a mark of letters is no text either.
fn is_binary(bytes: &[u8], from: usize) -> bool {
    let next = bytes.get(from..).unwrap_or_default();
    next[..next.len().min(8)].iter().any(|byte| is_control(*byte))
}

/// Whether a byte stands in no text.
fn is_control(byte: u8) -> bool {
    byte < 0x09
}

fn is_bitmap(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BM")
        && at(bytes, 6, b"\0\0\0\0")
        && bytes.get(14).is_some_and(|size| BITMAP_HEADERS.contains(size))
        && at(bytes, 15, b"\0\0\0")
}

/// Whether a text's first element is a drawing.
fn is_drawing(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(PROLOGUE)];
    let text = String::from_utf8_lossy(start);
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!DOCTYPE") {
            // A subset in brackets may hold elements of its own.
            let opened = rest.find(['[', '>']).is_some_and(|at| rest[at..].starts_with('['));
            if opened { "]>" } else { ">" }
        } else {
            break;
        };
        let Some(at) = rest.find(end) else { return false };
        rest = rest[at + end.len()..].trim_start();
    }
    let name = rest.strip_prefix("<svg:svg").or_else(|| rest.strip_prefix("<svg"));
    name.is_some_and(|rest| rest.starts_with(|c: char| c.is_whitespace() || c == '>'))
}

/// The brand of an ISO container.
fn brand(bytes: &[u8]) -> Option<&[u8]> {
    if at(bytes, 4, b"ftyp") { bytes.get(8..12) } else { None }
}

fn at(bytes: &[u8], offset: usize, mark: &[u8]) -> bool {
    bytes.get(offset..).is_some_and(|rest| rest.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn first_bytes_decide() {
        use Media::{Picture, Sound, Video};
        let mut stream = vec![0; 3 * PACKET];
        for packet in stream.chunks_mut(PACKET) {
            packet[0] = b'G';
        }
        let mut theora = b"OggS".to_vec();
        theora.resize(28, 0);
        theora.extend(b"\x80theora");
        let table: &[(&[u8], Option<Media>, &str)] = &[
            (b"\x89PNG\r\n\x1a\n", Some(Picture), "PNG"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", Some(Picture), "JPEG"),
            (b"GIF89a\x01\0", Some(Picture), "GIF"),
            (b"GIF89a is a format of 1989", None, "a text about GIF"),
            (b"MAC addresses of the office", None, "a text about networks"),
            (b"fLaC\0\0\0\x22", Some(Sound), "FLAC"),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some(Picture), "WebP"),
            (b"II*\0\x08\0\0\0", Some(Picture), "TIFF"),
            (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", Some(Picture), "BMP"),
            (b"BM is a text about maps and more", None, "letters are no bitmap"),
            (b"\0\0\0\x1cftypheic\0\0\0\0mif1heic", Some(Picture), "HEIC"),
            (b"\0\0\0\x20ftypavif\0\0\0\0avifmif1", Some(Picture), "AVIF"),
            (b"\0\0\0\x20ftypM4A \0\0\0\0", Some(Sound), "M4A"),
            (b"\0\0\0\x18ftypisom\0\0\0\0", Some(Video), "MP4"),
            (b"\0\0\0\x14ftypqt  \0\0\0\0", Some(Video), "QuickTime"),
            (b"ID3\x04\0\0", Some(Sound), "MP3 with a tag"),
            (b"ID3 is a letter away", None, "a text"),
            (b"\xff\xfb\x90\x64", Some(Sound), "MP3"),
            (b"\xff\xf1\x50\x80", Some(Sound), "AAC"),
            (b"\xff\xfeh\0i\0", None, "UTF-16"),
            (b"RIFF\x10\0\0\0WAVEfmt ", Some(Sound), "WAV"),
            (b"RIFF\x10\0\0\0AVI LIST", Some(Video), "AVI"),
            (b"OggS\0\x02", Some(Sound), "Ogg"),
            (&theora, Some(Video), "Ogg with Theora"),
            (b"\x1a\x45\xdf\xa3\x01", Some(Video), "WebM"),
            (&stream, Some(Video), "a transport stream"),
            (b"Good morning", None, "a text that begins with G"),
            (b"%PDF-1.7", None, "a document"),
            (b"", None, "nothing"),
        ];
        for (bytes, want, why) in table {
            assert_eq!(media(bytes), *want, "{why}");
        }
    }

    #[test]
    fn a_drawing_is_a_text_whose_first_element_says_so() {
        let table = [
            ("<svg xmlns='http://www.w3.org/2000/svg'/>", true, "bare"),
            ("\u{feff}<?xml version='1.0'?>\n<!-- a > b -->\n<svg>", true, "after a prologue"),
            ("<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'x.dtd'>\n<svg >", true, "a doctype"),
            ("<!DOCTYPE svg [<!ENTITY a '<b>'>]><svg>", true, "a subset"),
            ("<svg:svg xmlns:svg='x'>", true, "a prefix"),
            ("<html><body><svg></svg>", false, "a page that shows one"),
            ("<svgfoo>", false, "another element"),
            ("<!-- never closed <svg>", false, "in a comment"),
        ];
        for (text, want, why) in table {
            assert_eq!(picture(text.as_bytes()) == Some(Format::Svg), want, "{why}");
            assert_eq!(media(text.as_bytes()), None, "{why}: a text");
        }
        assert_eq!(picture(b"\0\0\0\x20ftypmif1\0\0\0\0mif1avif"), Some(Format::Avif));
        assert_eq!(picture(b"\0\0\0\x20ftypmif1\0\0\0\0mif1heic"), Some(Format::Heif));
    }

    proptest! {
        #[test]
        fn any_bytes_are_told_or_not(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (media(&bytes), picture(&bytes));
        }
    }
}
