//! The file format of recordings: WARC 1.1 (ISO 28500:2017), one gzip member a record.
//!
//! Writing (`write`) knows our own records only and leaves no secret in them (`redact`).
//! Reading (`scan`, `item`, `index`) takes what other programs write as well: gzip or plain,
//! WARC 1.0, records of kinds unknown here, chunked and compressed bodies (`message`). `key`
//! says when two requests are the same. `README.md` beside this file describes the format for
//! users.
//!
//! Nothing here knows of attempts' webs or of replaying; `recording` and `replay` do.
//! Invariant: whatever the bytes, reading ends, holds no body that was not asked for, and
//! either returns whole records or names the offset of the damage.

mod fields;
mod index;
mod item;
mod key;
mod message;
mod redact;
mod scan;
mod source;
#[cfg(test)]
mod tests;
mod write;

pub(super) use index::{Entry, Index, Kind};
pub(super) use item::Item;
pub(super) use key::{Asked, Key};
pub(super) use scan::{Damage, scan};
pub(super) use write::{Origin, Payload, Written, exchange, failure, information, session};

/// The newest format of recordings that this program reads, and the one that it writes.
pub(super) const FORMAT: u32 = 1;

/// Names of the fields of our own, one place for writer and reader.
mod names {
    /// Which attempt: `<condition>/<task>/<variant>/<k>`, percent-encoded.
    pub(super) const ATTEMPT: &str = "WARC-Wildgym-Attempt";
    /// Which session of the attempt, from 1.
    pub(super) const SESSION: &str = "WARC-Wildgym-Session";
    /// Which request of its kind in the session, from 1.
    pub(super) const NTH: &str = "WARC-Wildgym-Nth";
    /// How the names of reply headers begin that do not describe the stored body.
    pub(super) const ORIGINAL: &str = "x-wildgym-orig-";
}
