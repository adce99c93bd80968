//! Archives: what they hold, and the members that are documents.
//!
//! Nothing is unpacked to disk, so a name that climbs is only a name. How much is
//! unpacked is bounded as a whole, by the size of the archive and for each member,
//! whatever sizes are claimed (`walk`); a member that is locked, too large or of no
//! known kind is listed with the reason (`read`), and any can be asked for alone
//! (`take`).

mod read;
mod seven;
mod stream;
mod take;
mod tarball;
mod walk;
mod zipped;

pub(super) use read::{read, sole};
pub(crate) use take::take;
pub(super) use walk::{Allowance, Packing};
