//! 7z.
//!
//! Members lie in blocks that unpack only as a whole, so a member that is too large
//! ends its block: what follows in it is listed and not read.

use std::collections::HashSet;
use std::io::{Cursor, Read};

use sevenz_rust2::{Archive, ArchiveEntry, ArchiveReader, EntryDecision, Error, Password};

use super::walk::{Holds, Member, Next, Packing, Visit, date};
use crate::documents::{Unreadable, reason::brief};

/// What dictionaries may take, in KiB.
const DICTIONARY: usize = 160 << 10;

/// Seconds between the clocks of Windows (1601) and Unix (1970).
const EPOCHS: i64 = 11_644_473_600;

/// The most bytes of a member, read or not.
const MEMBER: u64 = 64 << 20;

/// Shows the members: those that could be unpacked in the order of their blocks, then
/// the others.
pub(super) fn walk(bytes: &[u8], visit: &mut Visit<'_>) -> Result<(), Unreadable> {
    let password = Password::empty();
    let archive = Archive::read_with_memory_limit(&mut Cursor::new(bytes), &password, DICTIONARY)
        .map_err(|error| refused(&error))?;
    let locked: HashSet<usize> =
        (0..archive.files.len()).filter(|index| archive.is_file_encrypted(*index)).collect();
    let listed: Vec<ArchiveEntry> = archive.files.clone();
    let (mut seen, mut stopped) = (HashSet::new(), false);
    let mut why = "it lies behind a member that could not be unpacked".to_owned();
    if locked.is_empty() {
        let mut reader =
            ArchiveReader::new_with_memory_limit(Cursor::new(bytes), password, DICTIONARY)
                .map_err(|error| refused(&error))?;
        reader.set_thread_count(1);
        let result = reader.for_each_entries_with_decision(|entry, content| {
            seen.insert(entry.name.clone());
            let is_file = entry.has_stream && !entry.is_directory;
            let content: Option<&mut dyn Read> = if is_file { Some(content) } else { None };
            stopped = visit(described(entry), content) == Next::Stop;
            Ok(if stopped {
                EntryDecision::Stop
            } else if entry.size > MEMBER {
                EntryDecision::SkipBlock
            } else {
                EntryDecision::Continue
            })
        });
        if let Err(error) = result {
            why = format!("it could not be unpacked: {}", brief(&worded(&error)));
        }
    }
    for (index, entry) in listed.iter().enumerate() {
        if stopped || seen.contains(&entry.name) {
            continue;
        }
        let mut member = described(entry);
        if locked.contains(&index) {
            member.holds = Holds::Locked;
        } else if member.holds == Holds::File {
            member.holds = Holds::Unread(why.clone());
        }
        stopped = visit(member, None) == Next::Stop;
    }
    Ok(())
}

fn described(entry: &ArchiveEntry) -> Member {
    let holds = if entry.is_directory { Holds::Folder } else { Holds::File };
    let ticks = u64::from(entry.last_modified_date);
    let seconds = i64::try_from(ticks / 10_000_000).unwrap_or(0).saturating_sub(EPOCHS);
    Member {
        name: entry.name.replace(char::is_control, "\u{fffd}"),
        size: Some(entry.size),
        date: entry.has_last_modified_date.then(|| date(seconds)).flatten(),
        holds,
    }
}

fn refused(error: &Error) -> Unreadable {
    if matches!(error, Error::PasswordRequired | Error::MaybeBadPassword(_)) {
        return Unreadable::Encrypted("7z archive");
    }
    Packing::SevenZip.damaged(&worded(error))
}

/// Words an error without the shape of its type.
fn worded(error: &Error) -> String {
    if let Error::UnsupportedCompressionMethod(method) = error {
        format!("it is compressed in a way that is not read ({method})")
    } else if matches!(error, Error::MaxMemLimited { .. }) {
        "it needs too much memory to unpack".to_owned()
    } else {
        error.to_string()
    }
}
