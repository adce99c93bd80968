//! A look at a ZIP container before a parser gets it.
//!
//! Nothing is ever unpacked to disk, so a member's name can climb nowhere; what is
//! checked is how much the members unpack to: as they claim, and as they do.

use std::io::{self, Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::Unreadable;

/// The most members.
const MEMBERS: usize = 20_000;

/// The most bytes that all members unpack to.
const UNPACKED: u64 = 256 << 20;

/// The most bytes of a single member that is looked into.
const PEEKED: u64 = 1 << 20;

/// A container whose members were counted.
pub(super) struct Archive<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Archive<'a> {
    /// Reads the list of members.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
        if archive.len() > MEMBERS {
            return Err(Unreadable::Bomb(format!("it has {} members", archive.len())));
        }
        Ok(Self(archive))
    }

    /// Whether it has a member of that name, in whatever case.
    pub(super) fn has(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    fn position(&self, name: &str) -> Option<usize> {
        let mut names = self.0.file_names();
        names.position(|member| member.is_ok_and(|member| member.eq_ignore_ascii_case(name)))
    }

    /// Returns the beginning of a member, as text.
    pub(super) fn peek(&mut self, name: &str) -> Option<String> {
        let index = self.position(name)?;
        let mut bytes = Vec::new();
        // A member that breaks off is still told apart by its beginning.
        let _ = self.0.by_index(index).ok()?.take(PEEKED).read_to_end(&mut bytes);
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Unpacks all members to nowhere and refuses what unpacks to too much. Members that
    /// `streamed` names are read in pieces by who needs them, and within bounds of their own.
    pub(super) fn check(&mut self, streamed: fn(&str) -> bool) -> Result<(), Unreadable> {
        if self.0.has_overlapping_entries().map_err(|error| damaged(&error))? {
            return Err(Unreadable::Bomb("its members overlap".into()));
        }
        let mut left = UNPACKED;
        for index in 0..self.0.len() {
            let member = match self.0.by_index(index) {
                Ok(member) => member,
                Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                    return Err(Unreadable::Encrypted("ZIP container"));
                }
                // A parser may not need that member.
                Err(_) => continue,
            };
            if member.name().is_ok_and(|name| streamed(&name.to_lowercase())) {
                continue;
            }
            if member.size() > left {
                return Err(bomb());
            }
            let read = io::copy(&mut member.take(left + 1), &mut io::sink()).unwrap_or(0);
            left = left.checked_sub(read).ok_or_else(bomb)?;
        }
        Ok(())
    }
}

fn bomb() -> Unreadable {
    Unreadable::Bomb(format!("its members unpack to more than {} MiB", UNPACKED >> 20))
}

fn damaged(error: &ZipError) -> Unreadable {
    Unreadable::damaged("ZIP container", error)
}
