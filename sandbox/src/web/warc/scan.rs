//! Goes through the records of a file, and back to one of them.
//!
//! A file is a row of gzip members, each with one record (or several), or of plain records.
//! What a kill left of a last record is not there. Anything else that cannot be read is
//! damage, with the offset of the record, or of the member that holds it. Blocks are checked
//! against their digest where that is SHA-256, members against their checksum.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;

use data_encoding::{BASE32_NOPAD, HEXLOWER_PERMISSIVE};
use flate2::bufread::GzDecoder;

use super::fields::{Head, invalid};
use super::item::{self, Item};
use super::source::{Block, Counted, Source};

/// How a gzip member begins: its magic number, and the one method there is.
const MEMBER: [u8; 3] = [0x1f, 0x8b, 8];

/// How a record begins.
const RECORD: &[u8] = b"WARC/";

/// Most bytes of the head of a record.
const MAX_HEAD: u64 = 256 << 10;

/// Why a file cannot be read.
#[derive(Debug)]
pub(in crate::web) enum Damage {
    /// The file system says so.
    Io(io::Error),
    /// The bytes from that offset on are no record.
    At {
        /// Where the record, or the gzip member that holds it, begins.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
}

impl Damage {
    /// Returns damage at an offset.
    pub(in crate::web) fn new(offset: u64, reason: &str) -> Self {
        Self::At { offset, reason: reason.to_owned() }
    }

    fn of(offset: u64, error: io::Error) -> Self {
        if error.kind() == ErrorKind::UnexpectedEof {
            Self::new(offset, "the record ends before its length")
        } else if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput) {
            Self::new(offset, &error.to_string())
        } else {
            Self::Io(error)
        }
    }

    /// Returns the same as an error of the file.
    pub(in crate::web) fn into_io(self) -> io::Error {
        match self {
            Self::Io(error) => error,
            Self::At { offset, reason } => {
                invalid(&format!("the file is damaged at byte {offset}: {reason}"))
            }
        }
    }
}

impl From<io::Error> for Damage {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) struct Place {
    /// Where the record, or the gzip member that holds it, begins in the file.
    start: u64,
    /// Where it begins in what the member holds; none where the file is plain.
    inside: Option<u64>,
}

impl Place {
    /// Returns where the record, or the gzip member that holds it, begins in the file.
    pub(in crate::web) fn offset(self) -> u64 {
        self.start
    }
}

/// What a file holds.
#[derive(Debug, Default)]
pub(in crate::web) struct Scanned {
    /// The records that matter here, in order.
    pub(in crate::web) items: Vec<Item>,
    /// Where the last whole record ends.
    pub(in crate::web) whole: u64,
    /// Whether there are records that are not compressed.
    pub(in crate::web) plain: bool,
    /// BLAKE3 of all bytes, in hexadecimal digits.
    pub(super) digest: String,
}

/// Reads a file through.
pub(in crate::web) fn scan(file: &File) -> Result<Scanned, Damage> {
    let mut source = Source::new(file, 0);
    let mut scanned = Scanned::default();
    loop {
        skip_line_ends(&mut source)?;
        let start = source.offset();
        let Some(&first) = source.fill_buf()?.first() else { break };
        let compressed = first == MEMBER[0];
        let mut items = Vec::new();
        let read = if compressed {
            member(&mut source, start, &mut items)
        } else {
            scanned.plain = true;
            let place = Place { start, inside: None };
            record(&mut source, |head, length, block| item::read(place, head, length, block))
                .map(|item| items.extend(item))
        };
        match read {
            Ok(()) => {
                scanned.items.append(&mut items);
                scanned.whole = source.offset();
            }
            Err(error) => {
                let at_end = source.fill_buf()?.is_empty();
                let cut = error.kind() == ErrorKind::UnexpectedEof && at_end;
                if !cut || (compressed && goes_on(file, start)?) {
                    return Err(Damage::of(start, error));
                }
                break;
            }
        }
    }
    scanned.digest = source.finish()?.to_hex().to_string();
    Ok(scanned)
}

/// Reads the record at a place.
pub(super) fn at<T>(
    file: &File,
    place: Place,
    read: impl FnOnce(&Head, &mut Block<'_>) -> io::Result<T>,
) -> io::Result<T> {
    let source = Source::new(file, place.start);
    let Some(inside) = place.inside else {
        let mut source = source;
        return record(&mut source, |head, _, block| read(head, block))?;
    };
    let mut reader = BufReader::new(GzDecoder::new(source));
    io::copy(&mut reader.by_ref().take(inside), &mut io::sink())?;
    record(&mut reader, |head, _, block| read(head, block))?
}

/// Reads the records of a gzip member, up to its checksum.
fn member(source: &mut Source<'_>, start: u64, items: &mut Vec<Item>) -> io::Result<()> {
    let mut reader = Counted::new(BufReader::new(GzDecoder::new(source)));
    loop {
        skip_line_ends(&mut reader)?;
        let Some(&first) = reader.fill_buf()?.first() else { return Ok(()) };
        if reader.count() > 0 && first != RECORD[0] {
            // Some versions of wget count one byte too few; the member says where it ends.
            io::copy(&mut reader, &mut io::sink())?;
            return Ok(());
        }
        let place = Place { start, inside: Some(reader.count()) };
        let item =
            record(&mut reader, |head, length, block| item::read(place, head, length, block))?;
        items.extend(item);
    }
}

/// Reads one record: its head, its block, and whether the block is what its digest says.
fn record<T>(
    reader: &mut dyn BufRead,
    read: impl FnOnce(&Head, u64, &mut Block<'_>) -> T,
) -> io::Result<T> {
    let begin = reader.fill_buf()?;
    let common = begin.len().min(RECORD.len());
    if begin[..common] != RECORD[..common] {
        return Err(invalid(
            "no WARC record begins there (WARC files may be plain or compressed with gzip)",
        ));
    }
    let head = Head::read(reader, MAX_HEAD)?;
    let length = head.get("Content-Length").and_then(|length| length.parse::<u64>().ok());
    let length = length.ok_or_else(|| invalid("the record has no valid `Content-Length`"))?;
    let claimed = head.get("WARC-Block-Digest").and_then(sha256);
    let mut block = Block::new(reader, length, claimed.is_some());
    let result = read(&head, length, &mut block);
    if block.finish()? != claimed {
        return Err(invalid("the block is not what its digest says"));
    }
    Ok(result)
}

/// Reads a SHA-256 digest as records have it, in Base32 or hexadecimal digits.
fn sha256(written: &str) -> Option<[u8; 32]> {
    let (name, value) = written.split_once(':')?;
    if !name.trim().eq_ignore_ascii_case("sha256") {
        return None;
    }
    let value = value.trim().trim_end_matches('=');
    let bytes = if value.len() == 64 {
        HEXLOWER_PERMISSIVE.decode(value.as_bytes())
    } else {
        BASE32_NOPAD.decode(value.to_ascii_uppercase().as_bytes())
    };
    bytes.ok()?.try_into().ok()
}

fn skip_line_ends(reader: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let bytes = reader.fill_buf()?;
        let count = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let done = count < bytes.len() || bytes.is_empty();
        reader.consume(count);
        if done {
            return Ok(());
        }
    }
}

/// Whether another record begins behind a member that does not end: then that member was not
/// cut off but damaged, and what follows is whole.
fn goes_on(file: &File, start: u64) -> io::Result<bool> {
    let mut source = Source::new(file, start + 1);
    loop {
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let Some(at) = bytes.iter().position(|byte| *byte == MEMBER[0]) else {
            let count = bytes.len();
            source.consume(count);
            continue;
        };
        source.consume(at);
        if begins(file, source.offset()) {
            return Ok(true);
        }
        source.consume(1);
    }
}

fn begins(file: &File, offset: u64) -> bool {
    let (mut magic, mut text) = ([0; MEMBER.len()], [0; RECORD.len()]);
    file.read_exact_at(&mut magic, offset).is_ok()
        && magic == MEMBER
        && GzDecoder::new(Source::new(file, offset)).read_exact(&mut text).is_ok()
        && text == RECORD
}
