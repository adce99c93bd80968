//! ZIP.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::walk::{Holds, Member, Next, Packing, Visit, decoded};
use crate::documents::Unreadable;

/// The longest target of a link, in bytes.
const TARGET: u64 = 4096;

/// Shows the members.
pub(super) fn walk(bytes: &[u8], visit: &mut Visit<'_>) -> Result<(), Unreadable> {
    let damaged = |error: ZipError| Packing::Zip.damaged(&error);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    if archive.has_overlapping_entries().map_err(damaged)? {
        return Err(Unreadable::Bomb("its members overlap".into()));
    }
    for index in 0..archive.len() {
        let mut member = match archive.by_index_raw(index) {
            Ok(raw) => described(&raw),
            Err(error) => unread(format!("(member {})", index + 1), &error),
        };
        let next = if member.holds == Holds::File {
            match archive.by_index(index) {
                Ok(mut file) => visit(member, Some(&mut file)),
                Err(error) => visit(unread(member.name, &error), None),
            }
        } else {
            if let (Holds::Link(target), Ok(file)) = (&mut member.holds, archive.by_index(index)) {
                // What breaks off says as much as it says.
                let _ = file.take(TARGET).read_to_string(target);
            }
            visit(member, None)
        };
        if next == Next::Stop {
            return Ok(());
        }
    }
    let hidden = declared(bytes).map_or(0, |count| count.saturating_sub(archive.len()));
    if hidden > 0 {
        let why = "their names are those of other members; the last of each name is read";
        let name = format!("({hidden} more)");
        visit(Member { name, size: None, date: None, holds: Holds::Unread(why.into()) }, None);
    }
    Ok(())
}

/// How many members the end of an archive declares; the reader keeps one of each name.
fn declared(bytes: &[u8]) -> Option<usize> {
    const END: &[u8] = b"PK\x05\x06";
    let tail = bytes.get(bytes.len().saturating_sub(END.len() + 18 + usize::from(u16::MAX))..)?;
    let at = tail.windows(END.len()).rposition(|window| window == END)?;
    let count: [u8; 2] = tail.get(at + 10..at + 12)?.try_into().ok()?;
    Some(usize::from(u16::from_le_bytes(count)))
}

fn described<R: Read>(file: &zip::read::ZipFile<'_, R>) -> Member {
    let holds = if file.is_dir() {
        Holds::Folder
    } else if file.encrypted() {
        Holds::Locked
    } else if file.is_symlink() {
        Holds::Link(String::new())
    } else {
        Holds::File
    };
    let raw = file.name_raw();
    // Without the flag of UTF-8 the crate takes names for the code page of old PCs.
    let name = if std::str::from_utf8(raw).is_ok() { decoded(raw) } else { foreign(file) };
    let date = file.last_modified().map(|time| {
        format!(
            "{:04}-{:02}-{:02} {:02}:{:02}",
            time.year(),
            time.month(),
            time.day(),
            time.hour(),
            time.minute()
        )
    });
    Member { name, size: Some(file.size()), date, holds }
}

/// A name in an encoding of its country, or of old PCs where nothing else fits.
fn foreign<R: Read>(file: &zip::read::ZipFile<'_, R>) -> String {
    let name = decoded(file.name_raw());
    let fallback = || file.name().map(|name| name.replace(char::is_control, "\u{fffd}"));
    if name.contains('\u{fffd}') { fallback().unwrap_or(name) } else { name }
}

fn unread(name: String, error: &ZipError) -> Member {
    if matches!(error, ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) {
        return Member { name, size: None, date: None, holds: Holds::Locked };
    }
    let why = if let ZipError::CompressionMethodNotSupported(method) = error {
        format!("it is compressed in a way that is not read (method {method})")
    } else {
        format!("it is damaged: {}", crate::documents::reason::brief(error))
    };
    Member { name, size: None, date: None, holds: Holds::Unread(why) }
}
