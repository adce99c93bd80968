//! Pages of a PDF that hold no text: drawn, and read as pictures.

use std::time::{Duration, Instant};

use super::{Aim, Reading, Turn, read};
use crate::Host;
use crate::programs::{Limits, Program, ProgramError};

/// The most pages of one document that are read in a call.
pub const PAGES: usize = 12;

/// The longer side of a drawn page, in dots: an A4 page at 300 dots an inch.
const DRAWN: &str = "3508";

/// What a page says.
#[derive(Debug, Clone, PartialEq)]
pub struct PageText {
    /// Its number, from 1.
    pub page: u32,
    /// The reading, or why there is none.
    pub reading: Result<Reading, String>,
}

/// Reads these pages of a PDF in order, [`PAGES`] at most, and begins none after `time`. What
/// is missing in the result was not tried. An error means that no page can be read here.
pub async fn read_pages(
    host: &Host,
    pdf: &[u8],
    pages: &[u32],
    time: Duration,
) -> Result<Vec<PageText>, ProgramError> {
    for program in [Program::Pdftoppm, Program::Tesseract] {
        if !host.programs.has(program) {
            return Err(ProgramError::Missing(program));
        }
    }
    let begin = Instant::now();
    let folder = host.programs.folder()?;
    folder.put("in.pdf", pdf).map_err(|error| ProgramError::Broken {
        program: Program::Pdftoppm,
        reason: error.to_string(),
    })?;
    let mut all = Vec::new();
    for &page in pages.iter().take(PAGES) {
        if begin.elapsed() > time {
            break;
        }
        let number = page.to_string();
        let arguments = [
            "-gray",
            "-png",
            "-singlefile",
            "-scale-to",
            DRAWN,
            "-f",
            &number,
            "-l",
            &number,
            "in.pdf",
            "page",
        ];
        let limits = Limits::default();
        let drawn = host.programs.run_in(&folder, Program::Pdftoppm, &arguments, &limits).await;
        let reading = match drawn {
            Ok(_) => match folder.read("page.png") {
                Ok(Some(png)) => one(host, page, png).await,
                Ok(None) => Err("it was not drawn".to_owned()),
                Err(error) => Err(error.to_string()),
            },
            Err(error) => Err(error.to_string()),
        };
        let _ = folder.remove("page.png");
        all.push(PageText { page, reading });
    }
    Ok(all)
}

/// Reads a drawn page.
async fn one(host: &Host, page: u32, png: Vec<u8>) -> Result<Reading, String> {
    let name = format!("page {page}");
    let picture = host.workers.picture(&name, png, Aim::Read, Turn::Not).await;
    let picture = picture.map_err(|error| error.to_string())?;
    read(host, &picture).await.map_err(|error| error.to_string())
}
