//! The directory in which a process keeps what lives shorter than itself.
//!
//! Each process has one, `wildgym-<random>` below the system's temporary directory,
//! with a lock file that it holds for life. A directory whose lock nobody holds
//! belongs to a dead process and is swept by the next one that starts.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

/// The scratch directory of this process; removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: Utf8PathBuf,
}

impl Scratch {
    /// Sweeps what dead processes left below `parent` and creates a directory there.
    pub fn create(parent: &Utf8Path) -> io::Result<Self> {
        let _ = parent;
        todo!()
    }

    /// Returns the directory.
    #[must_use]
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }
}
