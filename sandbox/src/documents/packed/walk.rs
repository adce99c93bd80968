//! One way through archives of every format.
//!
//! A walk shows each member with what its archive says of it, and a reader where there
//! is something to read. What a member claims is never believed: whoever reads takes no
//! more than [`Allowance`] leaves.

use std::borrow::Cow;
use std::io::{self, Read};

use super::{seven, stream, tarball, zipped};
use crate::documents::{Unreadable, reason::brief};
use crate::encoding;

/// The most members that a walk shows.
const MEMBERS: usize = 20_000;

/// The most bytes that one archive unpacks to, with all archives in it.
const UNPACKED: u64 = 256 << 20;

/// What every archive may unpack to, however small it is, in bytes.
const ALWAYS: u64 = 16 << 20;

/// How many times its own size an archive may unpack to, beyond that.
const RATIO: u64 = 200;

/// The largest member that is unpacked, in bytes.
const MEMBER: u64 = 64 << 20;

/// The formats of archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::documents) enum Packing {
    Zip,
    SevenZip,
    Tar,
    Gzip,
    Bzip2,
    Xz,
}

/// What an archive says of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its name, whatever it is; never used as a path.
    pub name: String,
    /// The bytes that it claims to have, where it says so.
    pub size: Option<u64>,
    /// When it was changed, as its archive says.
    pub date: Option<String>,
    /// What it is.
    pub holds: Holds,
}

/// What a member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holds {
    File,
    Folder,
    /// A link to this name.
    Link(String),
    /// A file behind a password.
    Locked,
    /// A file that cannot be unpacked; why.
    Unread(String),
}

/// Whether a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Go,
    Stop,
}

/// Sees one member after the other; the reader gives the bytes of a file.
pub(super) type Visit<'a> = dyn FnMut(Member, Option<&mut dyn Read>) -> Next + 'a;

impl Packing {
    /// Tells the format by the first bytes.
    pub(in crate::documents) fn of(bytes: &[u8]) -> Option<Self> {
        let marks: [(&[u8], Self); 6] = [
            (b"PK\x03\x04", Self::Zip),
            (b"PK\x05\x06", Self::Zip),
            (b"7z\xbc\xaf\x27\x1c", Self::SevenZip),
            (b"\x1f\x8b\x08", Self::Gzip),
            (b"\xfd7zXZ\0", Self::Xz),
            (b"BZh", Self::Bzip2),
        ];
        let found = marks.into_iter().find(|(mark, _)| bytes.starts_with(mark));
        // Three letters may start a text; a block of bzip2 begins with pi.
        let found = found.filter(|(_, packing)| {
            *packing != Self::Bzip2
                || bytes.get(4..10).is_some_and(|block| {
                    block == b"\x31\x41\x59\x26\x53\x59" || block == b"\x17\x72\x45\x38\x50\x90"
                })
        });
        found.map(|(_, packing)| packing).or_else(|| tarball::is_tar(bytes).then_some(Self::Tar))
    }

    /// What it is called.
    pub(in crate::documents) fn name(self) -> &'static str {
        match self {
            Self::Zip => "ZIP archive",
            Self::SevenZip => "7z archive",
            Self::Tar => "tar archive",
            Self::Gzip => "gzip archive",
            Self::Bzip2 => "bzip2 archive",
            Self::Xz => "xz archive",
        }
    }

    /// Words what went wrong.
    pub(super) fn damaged(self, error: &impl ToString) -> Unreadable {
        Unreadable::Damaged { kind: self.name(), reason: brief(error) }
    }

    /// Shows the members of an archive, in its order; at most 20,000.
    pub(super) fn walk(
        self,
        name: &str,
        bytes: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<(), Unreadable> {
        let mut count = 0;
        let mut counted = |member: Member, reader: Option<&mut dyn Read>| {
            count += 1;
            if count > MEMBERS { Next::Stop } else { visit(member, reader) }
        };
        match self {
            Self::Zip => zipped::walk(bytes, &mut counted),
            Self::SevenZip => seven::walk(bytes, &mut counted),
            Self::Tar => tarball::walk(bytes, &mut counted),
            Self::Gzip | Self::Bzip2 | Self::Xz => stream::walk(self, name, bytes, &mut counted),
        }?;
        if count > MEMBERS {
            return Err(Unreadable::Bomb(format!("it has more than {MEMBERS} members")));
        }
        Ok(())
    }
}

/// How many bytes may still be unpacked.
#[derive(Debug, Clone, Copy)]
pub(in crate::documents) struct Allowance(u64);

impl Default for Allowance {
    fn default() -> Self {
        Self(UNPACKED)
    }
}

impl Allowance {
    /// The share of an archive of `size` bytes.
    pub(super) fn share(self, size: usize) -> Self {
        Self(self.0.min(ALWAYS.max(RATIO.saturating_mul(size as u64))))
    }

    /// What is left when an archive of `size` bytes has left this much of its share.
    pub(super) fn after(self, left: Self, size: usize) -> Self {
        Self(self.0.saturating_sub(self.share(size).0.saturating_sub(left.0)))
    }

    /// Takes off what was unpacked.
    pub(super) fn spend(&mut self, size: usize) {
        self.0 = self.0.saturating_sub(size as u64);
    }

    /// Unpacks a member, or says why not.
    pub(super) fn unpack(
        self,
        claimed: Option<u64>,
        from: &mut dyn Read,
    ) -> Result<Vec<u8>, String> {
        Self(self.0.min(MEMBER)).unpack_whole(claimed, from)
    }

    /// Unpacks what may have the size of a whole archive.
    pub(super) fn unpack_whole(
        self,
        claimed: Option<u64>,
        from: &mut dyn Read,
    ) -> Result<Vec<u8>, String> {
        let most = self.0;
        let mut bytes = Vec::new();
        if claimed.is_none_or(|claimed| claimed <= most) {
            match from.take(most + 1).read_to_end(&mut bytes) {
                Ok(_) if claimed.is_some_and(|claimed| (bytes.len() as u64) < claimed) => {
                    return Err(format!(
                        "it is damaged: it breaks off after {} bytes",
                        bytes.len()
                    ));
                }
                Ok(_) if bytes.len() as u64 <= most => return Ok(bytes),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                    return Err("it needs too much memory to unpack".to_owned());
                }
                Err(error) => return Err(format!("it is damaged: {}", brief(&error))),
            }
        }
        Err(format!("it unpacks to more than {} MiB, all that may be unpacked of it", most >> 20))
    }
}

/// Decodes a name in whatever encoding it was written.
pub(super) fn decoded(name: &[u8]) -> String {
    let text = match std::str::from_utf8(name) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(encoding::decode(name, None).text),
    };
    text.replace(char::is_control, "\u{fffd}")
}

/// Writes a time of the Unix clock, in seconds, as a date in UTC.
pub(super) fn date(seconds: i64) -> Option<String> {
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    (seconds > 0).then(|| time.strftime("%Y-%m-%d %H:%M").to_string())
}
