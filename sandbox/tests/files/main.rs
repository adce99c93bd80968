//! Files of every kind through real workers: what they become, what others' files do, and
//! what mutated ones cannot do.

#![expect(clippy::unwrap_used, reason = "the makers of test files are not tests themselves")]

mod corpora;
mod kinds;
mod making;
mod mutations;
mod mutators;

use std::path::PathBuf;

use wildgym_sandbox::worker::Workers;

fn workers() -> Workers {
    Workers::new(PathBuf::from(env!("CARGO_BIN_EXE_wildgym-sandbox-worker")), 2)
}
