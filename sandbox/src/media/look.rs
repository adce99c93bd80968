//! From the bytes of any picture to one that can be shown.
//!
//! Formats with a decoder in Rust go to a worker; the others are first converted by a
//! program of the system, confined, and then go there too.

use super::{Aim, Format, Picture, Turn};
use crate::Host;
use crate::programs::{Limits, Program, ProgramError};
use crate::worker::WorkerError;

/// The width at which drawings are drawn, in dots.
const DRAWN: &str = "1600";

/// What a converted picture is called in the directory of its call.
const OUT: &str = "out.png";

/// Why a picture cannot be shown. The messages are read by the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookError {
    /// It is no picture; the text says what is known of it.
    #[error("{0}")]
    NoPicture(String),
    /// Its decoder gave up.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The program that converts it gave none.
    #[error("`{name}` is a picture in {format}, which has to be converted: {error}")]
    Convert {
        /// The name it goes by.
        name: String,
        /// Its format.
        format: &'static str,
        /// Why it was not.
        error: ProgramError,
    },
}

/// Makes of a file a picture that can be shown; `name` is what errors call it.
pub async fn look(host: &Host, name: &str, bytes: Vec<u8>, aim: Aim) -> Result<Picture, LookError> {
    let Some(format) = super::picture(&bytes) else { return Err(no_picture(name, &bytes)) };
    let program = match format {
        Format::Png | Format::Jpeg | Format::Gif | Format::Webp => {
            return Ok(host.workers.picture(name, bytes, aim, Turn::AsSaid).await?);
        }
        // Of these there are more kinds than any decoder knows.
        Format::Tiff | Format::Bmp => {
            let mine = host.workers.picture(name, bytes.clone(), aim, Turn::AsSaid).await;
            let Err(error) = mine else { return Ok(mine?) };
            let converted = convert(host, Program::Ffmpeg, format, &bytes).await;
            let Ok(converted) = converted else { return Err(error.into()) };
            return finish(host, name, converted, aim, format).await;
        }
        Format::Heif | Format::Avif => Program::HeifConvert,
        Format::Svg | Format::Jpeg2000 | Format::JpegXl | Format::Icon | Format::Photoshop => {
            Program::Ffmpeg
        }
    };
    let converted = convert(host, program, format, &bytes).await.map_err(|error| {
        LookError::Convert { name: name.to_owned(), format: format.name(), error }
    })?;
    finish(host, name, converted, aim, format).await
}

/// Makes the picture out of what a program converted.
async fn finish(
    host: &Host,
    name: &str,
    converted: Vec<u8>,
    aim: Aim,
    format: Format,
) -> Result<Picture, LookError> {
    let mut picture = host.workers.picture(name, converted, aim, Turn::Not).await?;
    format.name().clone_into(&mut picture.format);
    if format == Format::Svg {
        picture.notes.insert(0, format!("a drawing, drawn {DRAWN} dots wide"));
    }
    Ok(picture)
}

/// Has a program convert a picture to one that is decoded here.
async fn convert(
    host: &Host,
    program: Program,
    format: Format,
    bytes: &[u8],
) -> Result<Vec<u8>, ProgramError> {
    let input = format!("in.{}", suffix(format));
    let arguments: &[&str] = match format {
        // As JPEG, since that is read at half its size where that is enough.
        Format::Heif | Format::Avif => &["-q", "95", &input, "out.jpg"],
        Format::Svg => &[
            "-v",
            "error",
            "-c:v",
            "librsvg",
            "-width",
            DRAWN,
            "-keep_ar",
            "1",
            "-i",
            &input,
            "-frames:v",
            "1",
            OUT,
        ],
        Format::Png
        | Format::Jpeg
        | Format::Gif
        | Format::Webp
        | Format::Tiff
        | Format::Bmp
        | Format::Jpeg2000
        | Format::JpegXl
        | Format::Icon
        | Format::Photoshop => &["-v", "error", "-i", &input, "-frames:v", "1", OUT],
    };
    let ran = host.programs.run(program, arguments, &[(&input, bytes)], &Limits::default()).await?;
    let written = ran.files_out.into_iter().find(|(name, _)| name.starts_with("out"));
    written
        .map(|(_, bytes)| bytes)
        .ok_or_else(|| ProgramError::Failed { program, said: "it wrote no picture".to_owned() })
}

/// The suffix by which the programs know a format.
fn suffix(format: Format) -> &'static str {
    match format {
        Format::Heif => "heic",
        Format::Avif => "avif",
        Format::Svg => "svg",
        Format::Jpeg2000 => "jp2",
        Format::JpegXl => "jxl",
        Format::Icon => "ico",
        Format::Photoshop => "psd",
        Format::Png | Format::Jpeg | Format::Gif | Format::Webp | Format::Tiff | Format::Bmp => {
            "bin"
        }
    }
}

/// Says what a file is instead.
fn no_picture(name: &str, bytes: &[u8]) -> LookError {
    let start: String = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).to_lowercase();
    let what = match super::media(bytes) {
        _ if bytes.is_empty() => "the file is empty (0 bytes)",
        Some(super::Media::Sound) => "it is a sound; `audio2text` hears it",
        Some(super::Media::Video) => "it is a video; `ask_question_about_video` looks at it",
        _ if start.trim_start().starts_with("%pdf") => {
            "it is a PDF; `extract_document_content` reads it, scanned pages too"
        }
        _ if start.contains("<html") || start.contains("<!doctype html") => {
            "it is a page of HTML, perhaps the message of a server that did not send the picture"
        }
        Some(super::Media::Picture) | None => {
            "it is no picture of a kind that is known (PNG, JPEG, GIF, WebP, TIFF, BMP, SVG, HEIC, \
             AVIF, and what ffmpeg reads of JPEG 2000, JPEG XL, ICO and PSD)"
        }
    };
    LookError::NoPicture(format!("cannot look at `{name}`: {what}"))
}
