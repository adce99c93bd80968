//! The directory in which a process keeps what lives shorter than itself.
//!
//! Each process has one, `wildgym-<random>` below the system's temporary directory,
//! and holds a lock on it for life. A directory whose lock nobody holds belongs to a
//! dead process and is swept by the next one that starts.
//!
//! The lock is on the directory itself, not on a file in it: so there is no moment in
//! which the directory is there and its lock is not. A sweeper that wins the lock of a
//! directory just created makes its creator take another name. Directories of other
//! users, links, and directories that others may write to are left alone.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, mkdirat, open,
    openat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::workspace::tree;

/// How the name of every scratch directory starts.
const PREFIX: &str = "wildgym-";

/// Hexadecimal digits after it.
const DIGITS: usize = 16;

/// How often another name is tried.
const TRIES: u32 = 100;

/// How a directory is opened: never through a link.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The scratch directory of this process; removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: Utf8PathBuf,
    parent: OwnedFd,
    /// Holds the lock as long as it is open.
    directory: OwnedFd,
    next: AtomicU64,
}

impl Scratch {
    /// Sweeps what dead processes left below `parent` and creates a directory there.
    ///
    /// What cannot be swept stays; that is no reason not to start.
    pub fn create(parent: &Utf8Path) -> io::Result<Self> {
        std::fs::create_dir_all(parent)?;
        let below = parent.canonicalize_utf8()?;
        let parent = open(below.as_str(), DIRECTORY, Mode::empty())?;
        let _ = sweep(&parent);
        for _ in 0..TRIES {
            let name = format!("{PREFIX}{:016x}", rand::random::<u64>());
            if let Some(directory) = claim(&parent, &name)? {
                let path = below.join(name);
                return Ok(Self { path, parent, directory, next: AtomicU64::new(0) });
            }
        }
        Err(io::Error::other(format!("cannot create a scratch directory in `{below}`")))
    }

    /// Returns the directory.
    #[must_use]
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Returns a name that no one else was given.
    pub(crate) fn next_name(&self) -> String {
        format!("w{}", self.next.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Scratch {
    /// Removes the directory and all below it; what cannot be removed is left to the next sweep.
    fn drop(&mut self) {
        if tree::clear(&self.directory).is_ok()
            && let Some(name) = self.path.file_name()
        {
            let _ = unlinkat(&self.parent, name, AtFlags::REMOVEDIR);
        }
    }
}

/// Creates and locks a directory; nothing if the name is taken or a sweeper was faster.
fn claim(parent: &OwnedFd, name: &str) -> io::Result<Option<OwnedFd>> {
    match mkdirat(parent, name, Mode::RWXU) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let Some(directory) = lock(parent, name)? else { return Ok(None) };
    // A sweeper may have come and gone between the two steps.
    let same = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|there| fstat(&directory).is_ok_and(|ours| same_file(&there, &ours)));
    Ok(same.then_some(directory))
}

/// Opens a directory of ours and locks it; nothing if it is gone, not ours, or locked.
fn lock(parent: &OwnedFd, name: &str) -> io::Result<Option<OwnedFd>> {
    let directory = match openat(parent, name, DIRECTORY, Mode::empty()) {
        Ok(directory) => directory,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !ours(&fstat(&directory)?) {
        return Ok(None);
    }
    match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(directory)),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a directory is this user's and closed to others.
fn ours(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        && stat.st_uid == rustix::process::geteuid().as_raw()
        && Mode::from_raw_mode(stat.st_mode).intersection(Mode::RWXG | Mode::RWXO).is_empty()
}

fn same_file(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

/// Removes the directories of dead processes.
fn sweep(parent: &OwnedFd) -> io::Result<()> {
    for entry in Dir::read_from(parent)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if !is_scratch(name) {
            continue;
        }
        if let Ok(Some(directory)) = lock(parent, name)
            && tree::clear(directory.as_fd()).is_ok()
        {
            let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
        }
    }
    Ok(())
}

fn is_scratch(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| {
        rest.len() == DIGITS && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn parent() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(folder.path().to_path_buf()).unwrap();
        (folder, path)
    }

    /// A directory as a process killed by force leaves it.
    fn orphan(parent: &Utf8Path, name: &str, mode: u32) -> Utf8PathBuf {
        let path = parent.join(name);
        fs::create_dir_all(path.join("w0/deep")).unwrap();
        fs::write(path.join("w0/deep/a.txt"), "left").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn it_is_private_and_goes_when_dropped() {
        let (_folder, parent) = parent();
        let scratch = Scratch::create(&parent).unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::create_dir_all(path.join("w7/x")).unwrap();
        fs::set_permissions(path.join("w7"), fs::Permissions::from_mode(0o000)).unwrap();
        drop(scratch);
        assert!(!path.exists(), "even an unreadable directory goes");
    }

    #[test]
    fn only_dead_directories_of_ours_are_swept() {
        let (_folder, parent) = parent();
        let living = Scratch::create(&parent).unwrap();
        let (_elsewhere, outside) = self::parent();
        fs::write(outside.join("keep"), "x").unwrap();
        let link = parent.join("wildgym-00000000000000aa");
        symlink(&outside, &link).unwrap();
        let table = [
            ("wildgym-0123456789abcdef", 0o700, true, "dead"),
            ("wildgym-0123456789abcde0", 0o777, false, "open to others: not ours to trust"),
            ("wildgym-0123", 0o700, false, "another name"),
            ("wildgym-0123456789abcdeg", 0o700, false, "not hexadecimal"),
        ];
        let made = table.map(|(name, mode, ..)| orphan(&parent, name, mode));
        let next = Scratch::create(&parent).unwrap();
        for (path, (name, _, swept, why)) in made.iter().zip(table) {
            assert_eq!(!path.exists(), swept, "{name}: {why}");
        }
        assert!(living.path().exists() && next.path().exists(), "the living stay");
        assert!(
            outside.join("keep").exists() && link.is_symlink(),
            "a planted link is not followed"
        );
    }

    #[test]
    fn many_may_start_at_once() {
        let (_folder, parent) = parent();
        for round in 0..20 {
            orphan(&parent, &format!("wildgym-{round:016x}"), 0o700);
        }
        let made: Vec<Scratch> = std::thread::scope(|scope| {
            let starts: Vec<_> =
                (0..16).map(|_| scope.spawn(|| Scratch::create(&parent).unwrap())).collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        assert!(made.iter().all(|scratch| scratch.path().is_dir()), "none swept another");
        assert_eq!(fs::read_dir(&parent).unwrap().count(), made.len(), "all dead ones are gone");
    }
}
