//! tar, also what lies in other packings.

use std::io::Read;

use tar::{Archive, Entry, EntryType};

use super::walk::{Holds, Member, Next, Packing, Visit, date, decoded};
use crate::documents::Unreadable;

/// Whether bytes are a tar archive: its mark, or for older ones a header whose sum is right.
pub(super) fn is_tar(bytes: &[u8]) -> bool {
    let Some(header) = bytes.get(..512) else { return false };
    if header[257..].starts_with(b"ustar") {
        return true;
    }
    let digits = String::from_utf8_lossy(&header[148..156]);
    let digits = digits.trim_matches([' ', '\0']);
    let sum: u32 = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
        .sum();
    header[0] != 0 && u32::from_str_radix(digits, 8) == Ok(sum)
}

/// Shows the members.
pub(super) fn walk(bytes: &[u8], visit: &mut Visit<'_>) -> Result<(), Unreadable> {
    let damaged = |error: std::io::Error| Packing::Tar.damaged(&error);
    let mut archive = Archive::new(bytes);
    let mut seen = false;
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(error) if seen => {
                // What came before the break is worth showing.
                let why = format!("the archive breaks off here: {error}");
                let name = "(more members)".to_owned();
                visit(Member { name, size: None, date: None, holds: Holds::Unread(why) }, None);
                return Ok(());
            }
            Err(error) => return Err(damaged(error)),
        };
        seen = true;
        let member = described(&entry);
        let is_file = member.holds == Holds::File;
        let reader: Option<&mut dyn Read> = if is_file { Some(&mut entry) } else { None };
        if visit(member, reader) == Next::Stop {
            break;
        }
    }
    Ok(())
}

fn described<R: Read>(entry: &Entry<'_, R>) -> Member {
    let header = entry.header();
    let target = || entry.link_name_bytes().map(|name| decoded(&name)).unwrap_or_default();
    let kind = header.entry_type();
    let holds = if kind.is_file() || matches!(kind, EntryType::Continuous | EntryType::GNUSparse) {
        Holds::File
    } else if kind.is_dir() {
        Holds::Folder
    } else if kind.is_symlink() || kind.is_hard_link() {
        Holds::Link(target())
    } else {
        Holds::Unread("it is no file but a device or a pipe".to_owned())
    };
    let changed = header.mtime().ok().and_then(|seconds| date(i64::try_from(seconds).ok()?));
    Member { name: decoded(&entry.path_bytes()), size: Some(entry.size()), date: changed, holds }
}
