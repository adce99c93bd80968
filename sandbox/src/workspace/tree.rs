//! Walks over whole directories: list, measure, remove.
//!
//! All are iterative and hold few handles however deep the tree is, and none follows a
//! symbolic link.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, Dir, FileType, Mode, Stat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::handle::DIRECTORY;

/// A handle is kept for each so many levels of depth.
const STEP: usize = 64;

/// The most entries that a walk looks at; far above every quota.
pub(super) const WALK_LIMIT: u64 = 2_000_000;

/// What a workspace holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of all files together (allocated or apparent, whichever is larger).
    pub bytes: u64,
    /// Files and directories together.
    pub entries: u64,
}

/// A file of the workspace, as listed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Path below the workspace; a name that is not UTF-8 is listed with `�` in it.
    pub path: Utf8PathBuf,
    /// Size in bytes.
    pub bytes: u64,
}

/// A directory still to be read: names below a handle that is kept open.
struct Pending {
    anchor: Arc<OwnedFd>,
    below: Vec<CString>,
    path: Utf8PathBuf,
}

/// Calls `visit` for everything below `root` with its path and what `lstat` says,
/// until `visit` returns false.
///
/// What disappears meanwhile is skipped. A directory that may not be read is an error, which
/// comes after all else has been visited.
pub(super) fn walk(
    root: impl AsFd,
    mut visit: impl FnMut(&Utf8PathBuf, &Stat) -> bool,
) -> io::Result<()> {
    let anchor = Arc::new(root.as_fd().try_clone_to_owned()?);
    let mut pending = vec![Pending { anchor, below: Vec::new(), path: Utf8PathBuf::new() }];
    let mut closed = None;
    while let Some(mut next) = pending.pop() {
        let directory = match descend(&next) {
            Ok(Some(directory)) => directory,
            Ok(None) => continue,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                closed.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let mut entries = Dir::read_from(&directory)?;
        if next.below.len() >= STEP {
            next.anchor = Arc::new(directory.try_clone()?);
            next.below.clear();
        }
        while let Some(entry) = entries.read() {
            let entry = entry?;
            let name = entry.file_name();
            if is_dots(name) {
                continue;
            }
            let Some(stat) = gone(statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW))? else {
                continue;
            };
            let path = next.path.join(name.to_string_lossy().as_ref());
            if !visit(&path, &stat) {
                return Ok(());
            }
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                let mut below = next.below.clone();
                below.push(name.to_owned());
                pending.push(Pending { anchor: next.anchor.clone(), below, path });
            }
        }
    }
    closed.map_or(Ok(()), Err)
}

/// Opens a pending directory; nothing if it is gone or no directory any more.
fn descend(next: &Pending) -> io::Result<Option<OwnedFd>> {
    let mut directory = openat(&*next.anchor, c".", DIRECTORY, Mode::empty())?;
    for name in &next.below {
        match gone(openat(&directory, name.as_c_str(), DIRECTORY, Mode::empty()))? {
            Some(inner) => directory = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(directory))
}

/// Turns "it is not there any more" into nothing.
fn gone<T>(result: rustix::io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Calls `visit` for each name of `path` that is there, from the root down.
pub(super) fn names(
    root: impl AsFd,
    path: &Utf8Path,
    mut visit: impl FnMut(&str, &Stat),
) -> io::Result<()> {
    let mut directory = root.as_fd().try_clone_to_owned()?;
    for name in path {
        visit(name, &statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?);
        directory = openat(&directory, name, DIRECTORY, Mode::empty())?;
    }
    Ok(())
}

/// Adds up what lies below `root`; a file with several names counts once.
pub(super) fn usage(root: impl AsFd) -> io::Result<Usage> {
    let mut total = Usage::default();
    let mut seen = HashSet::new();
    walk(root, |_, stat| {
        total.entries += 1;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && (stat.st_nlink <= 1 || seen.insert((stat.st_dev, stat.st_ino)))
        {
            total.bytes = total.bytes.saturating_add(weight(stat));
        }
        total.entries < WALK_LIMIT
    })?;
    Ok(total)
}

/// What a file counts: its size, or the blocks it holds where they are more.
pub(super) fn weight(stat: &Stat) -> u64 {
    let allocated = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
    u64::try_from(stat.st_size).unwrap_or(0).max(allocated)
}

/// Removes everything below `root`.
///
/// Directories are made writable first; inner ones are moved up to `root` before they are
/// emptied, so that depth costs neither handles nor stack. Nobody else may work below
/// `root` meanwhile. The first error that does not go away is returned after all else
/// has been tried.
pub(crate) fn clear(root: impl AsFd) -> io::Result<()> {
    // The handle given may be one that only names the directory.
    let root = openat(root, c".", DIRECTORY, Mode::empty())?;
    let root = root.as_fd();
    // Of a directory that is not ours, the mode stays as it is.
    let _ = rustix::fs::fchmod(root, Mode::RWXU);
    let mut moved = 0_u64;
    let mut failed = None;
    let mut queue = empty(root, root, &mut moved, &mut failed)?;
    while let Some(name) = queue.pop() {
        let inner = match open_forced(root, &name) {
            Ok(inner) => inner,
            Err(error) => {
                failed.get_or_insert(error);
                continue;
            }
        };
        match empty(root, inner.as_fd(), &mut moved, &mut failed) {
            Ok(more) => queue.extend(more),
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
        if let Err(error) = unlinkat(root, name.as_c_str(), AtFlags::REMOVEDIR) {
            failed.get_or_insert(error.into());
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Removes the files of `directory` and moves its directories up to `root`; returns their names there.
fn empty(
    root: impl AsFd,
    directory: impl AsFd,
    moved: &mut u64,
    failed: &mut Option<io::Error>,
) -> io::Result<Vec<CString>> {
    let (root, directory) = (root.as_fd(), directory.as_fd());
    let at_root = *moved == 0;
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)?.collect::<Vec<_>>() {
        let entry = entry?;
        let name = entry.file_name();
        if is_dots(name) {
            continue;
        }
        match unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => continue,
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => {
                failed.get_or_insert(error.into());
                continue;
            }
        }
        if at_root {
            names.push(name.to_owned());
            continue;
        }
        if unlinkat(directory, name, AtFlags::REMOVEDIR).is_ok() {
            continue;
        }
        match lift(root, directory, name, moved) {
            Ok(name) => names.push(name),
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
    }
    *moved += 1;
    Ok(names)
}

/// Moves a directory up to `root` under a name that is free there.
fn lift(
    root: impl AsFd,
    directory: impl AsFd,
    name: &CStr,
    moved: &mut u64,
) -> io::Result<CString> {
    // A directory that changes its parent must itself be writable: its `..` changes.
    drop(open_forced(directory.as_fd(), name)?);
    loop {
        *moved += 1;
        let lifted = CString::new(format!(".wildgym-gone-{moved}"))?;
        match statat(root.as_fd(), lifted.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Ok(_) => continue,
            Err(error) => return Err(error.into()),
        }
        renameat(directory.as_fd(), name, root.as_fd(), lifted.as_c_str())?;
        return Ok(lifted);
    }
}

/// Opens a directory after making it readable and writable for us.
fn open_forced(directory: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let directory = directory.as_fd();
    let all = Mode::RWXU;
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        && !Mode::from_raw_mode(stat.st_mode).contains(all)
    {
        rustix::fs::chmodat(directory, name, all, AtFlags::empty())?;
    }
    Ok(openat(directory, name, DIRECTORY, Mode::empty())?)
}
