//! One writer at a time.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};

use camino::Utf8Path;
use rustix::fs::{FlockOperation, flock};

use super::StoreError;

/// The writer's lock; released when dropped and when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Returns whether some process holds the lock of a run now.
    pub(super) fn is_held(root: &Utf8Path) -> bool {
        File::open(root.join("lock"))
            .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err())
    }

    /// Takes the lock of a run, or says who holds it.
    pub(super) fn take(root: &Utf8Path) -> Result<Self, StoreError> {
        let path = root.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::io(&path))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            let _unreadable = file.read_to_string(&mut holder);
            let holder = holder.trim();
            let holder = if holder.is_empty() { "another process" } else { holder };
            return Err(StoreError::Locked { path: root.to_owned(), holder: holder.to_owned() });
        }
        let line = format!("process {} since {}\n", std::process::id(), jiff::Timestamp::now());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(line.as_bytes()))
            .map_err(StoreError::io(&path))?;
        Ok(Self { _file: file })
    }
}
