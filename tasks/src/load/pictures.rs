//! Checks `pictures` of a task: attachments that belong to the request.
//!
//! They are told by their first bytes and not decoded; what a model is sent is made of
//! them when a trial begins.

use std::fs::File;
use std::io::Read;

use camino::Utf8Path;

use super::document::Source;
use super::task::{Files, Overlays};
use crate::fault::Notes;
use crate::task::TaskMeta;

/// The most pictures of a request.
const MOST: usize = 10;

/// The largest picture, in bytes.
const LARGEST: u64 = 20 << 20;

/// Notes entries that are no picture which can be shown with the request.
pub(super) fn check(
    meta: &TaskMeta,
    source: &Source,
    (files, overlays): (&Files, &Overlays),
    notes: &mut Notes,
) {
    if meta.pictures.len() > MOST {
        source.fault(notes, "pictures", format!("expected at most {MOST} pictures"));
    }
    for (index, path) in meta.pictures.iter().enumerate() {
        let field = format!("pictures[{index}]");
        if meta.pictures[..index].contains(path) {
            source.fault(notes, &field, format!("`{path}` is listed twice"));
            continue;
        }
        let replaced = overlays.values().filter_map(|read| read.overlay.files.get(path));
        let all: Vec<_> = files.get(path).into_iter().chain(replaced).collect();
        if !files.contains_key(path) {
            let problem = format!("`{path}` is no attachment of the task (below `files/`)");
            source.fault(notes, &field, problem);
        } else if let Some(problem) = all.into_iter().find_map(|file| problem(path, file)) {
            source.fault(notes, &field, problem);
        }
    }
}

/// Says why a file cannot be shown; nothing where it can.
fn problem(path: &Utf8Path, file: &Utf8Path) -> Option<String> {
    let mut start = [0; 12];
    let opened = File::open(file).and_then(|mut file| {
        let size = file.metadata()?.len();
        let read = file.read(&mut start)?;
        Ok((size, read))
    });
    match opened {
        Err(error) => Some(format!("`{path}` cannot be read: {error}")),
        Ok((size, _)) if size > LARGEST => {
            Some(format!("`{path}` has more than {} MiB", LARGEST >> 20))
        }
        Ok((_, read)) if !is_picture(&start[..read]) => Some(format!(
            "`{path}` is no PNG, JPEG, GIF or WebP; convert it, or leave it out of `pictures`"
        )),
        Ok(_) => None,
    }
}

/// Tells the formats that every model which sees takes, by their first bytes.
fn is_picture(start: &[u8]) -> bool {
    start.starts_with(b"\x89PNG\r\n\x1a\n")
        || start.starts_with(b"\xff\xd8\xff")
        || start.starts_with(b"GIF8")
        || (start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP"))
}
