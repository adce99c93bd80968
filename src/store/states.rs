//! The states of a world that an attempt left.

use jiff::Timestamp;
use wildgym_sandbox::world::Pair;

use super::{Blobs, StoreError};
use crate::record::StateRecord;

impl Blobs {
    /// Opens the states at the start and at the end beside each other, for assertions and
    /// differences; `now` is the time that assertions see.
    pub fn states(&self, state: &StateRecord, now: Timestamp) -> Result<Pair, StoreError> {
        let (start, end) = (self.get(&state.start)?, self.get(&state.end)?);
        Pair::open(&start, &end, now).map_err(|error| StoreError::Corrupt {
            path: format!("blobs/{}", state.end).into(),
            line: 0,
            reason: format!("it is no state of a world: {error}"),
        })
    }
}
