//! gzip, bzip2 and xz: a single file, or a tar archive.

use std::io::{self, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::tarball;
use super::walk::{Allowance, Holds, Member, Packing, Visit, date, decoded};
use crate::documents::Unreadable;

/// What a dictionary of xz may take, in KiB.
const DICTIONARY: u32 = 160 << 10;

/// Shows the only member, or those of the archive in it.
pub(super) fn walk(
    packing: Packing,
    name: &str,
    bytes: &[u8],
    visit: &mut Visit<'_>,
) -> Result<(), Unreadable> {
    let start = head(packing, bytes);
    if !tarball::is_tar(&start) {
        let member = sole(packing, name, bytes);
        visit(member, Some(&mut decoder(packing, bytes)));
        return Ok(());
    }
    let allowance = Allowance::default().share(bytes.len());
    let unpacked = allowance.unpack_whole(None, &mut decoder(packing, bytes));
    let unpacked = unpacked.map_err(Unreadable::Bomb)?;
    tarball::walk(&unpacked, visit)
}

/// Returns the first bytes of what was packed, as far as they can be unpacked.
fn head(packing: Packing, bytes: &[u8]) -> Vec<u8> {
    let mut start = Vec::new();
    let _ = decoder(packing, bytes).take(512).read_to_end(&mut start);
    start
}

/// Whether an archive holds a single file that has no name of its own.
pub(super) fn is_single(packing: Packing, bytes: &[u8]) -> bool {
    matches!(packing, Packing::Gzip | Packing::Bzip2 | Packing::Xz)
        && !tarball::is_tar(&head(packing, bytes))
}

fn decoder(packing: Packing, bytes: &[u8]) -> Box<dyn Read + '_> {
    match packing {
        Packing::Bzip2 => Box::new(MultiBzDecoder::new(bytes)),
        Packing::Xz => Box::new(XzReader::new_mem_limit(bytes, true, DICTIONARY)),
        Packing::Gzip => Box::new(MultiGzDecoder::new(bytes)),
        Packing::Zip | Packing::SevenZip | Packing::Tar => Box::new(io::empty()),
    }
}

/// Describes the only member: its name is in the header of gzip, or the archive's
/// without its last suffix.
fn sole(packing: Packing, name: &str, bytes: &[u8]) -> Member {
    let decoder = (packing == Packing::Gzip).then(|| flate2::read::GzDecoder::new(bytes));
    let header = decoder.as_ref().and_then(flate2::read::GzDecoder::header);
    let own = header.and_then(flate2::GzHeader::filename).map(decoded);
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = base.rsplit_once('.').map_or(base, |(stem, suffix)| {
        if suffix.eq_ignore_ascii_case("tgz") { base } else { stem }
    });
    Member {
        name: own.filter(|own| !own.is_empty()).unwrap_or_else(|| stem.to_owned()),
        size: None,
        date: header.and_then(|header| date(i64::from(header.mtime()))),
        holds: Holds::File,
    }
}
