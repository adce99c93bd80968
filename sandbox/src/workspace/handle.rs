//! Names opened one at a time below a directory handle.
//!
//! Nothing here follows a symbolic link, waits for a FIFO or opens a device.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use camino::Utf8Path;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, mkdirat, openat, statat};
use rustix::io::Errno;

/// How a directory is opened.
pub(super) const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK);

/// How a file is read: a FIFO opens at once instead of waiting for a writer, and a
/// terminal does not become ours, so that its type can be looked at.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// Why a name could not be opened.
#[derive(Debug)]
pub(super) enum OpenError {
    /// Nothing is there.
    Missing,
    /// Something else than what was asked for is there.
    Other(&'static str),
    /// The system refused.
    System(Errno),
}

/// Opens the directory that holds the last name of `path`, creating those missing where `create`.
pub(super) fn parent(root: impl AsFd, path: &Utf8Path, create: bool) -> Result<OwnedFd, OpenError> {
    let mut directory =
        root.as_fd().try_clone_to_owned().map_err(|error| OpenError::System(errno(&error)))?;
    for name in path.parent().into_iter().flat_map(Utf8Path::iter) {
        if create {
            match mkdirat(&directory, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(OpenError::System(error)),
            }
        }
        directory = openat(&directory, name, DIRECTORY, Mode::empty())
            .map_err(|error| explain(&directory, name, error))?;
    }
    Ok(directory)
}

/// Opens a regular file for reading and returns it with its size.
pub(super) fn regular(root: impl AsFd, path: &Utf8Path) -> Result<(File, u64), OpenError> {
    let Some(name) = path.file_name() else { return Err(OpenError::Other("the workspace itself")) };
    let directory = parent(root, path, false)?;
    // Opening a device can already act on it, so what lies there is looked at first. A
    // swap in between is seen by the second look, at what was opened.
    let before =
        statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| match error {
            Errno::NOENT => OpenError::Missing,
            error => OpenError::System(error),
        })?;
    check(FileType::from_raw_mode(before.st_mode))?;
    let file = openat(&directory, name, FILE, Mode::empty())
        .map_err(|error| explain(&directory, name, error))?;
    let stat = fstat(&file).map_err(OpenError::System)?;
    check(FileType::from_raw_mode(stat.st_mode))?;
    Ok((File::from(file), u64::try_from(stat.st_size).unwrap_or(0)))
}

fn check(kind: FileType) -> Result<(), OpenError> {
    if kind == FileType::RegularFile { Ok(()) } else { Err(OpenError::Other(noun(kind))) }
}

/// Says what a thing that is no regular file is.
pub(super) fn noun(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link (they are not followed; name the file itself)",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    }
}

/// Tells apart why a name could not be opened, by what lies there now.
fn explain(directory: &OwnedFd, name: &str, error: Errno) -> OpenError {
    if error == Errno::NOENT {
        return OpenError::Missing;
    }
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if matches!(error, Errno::LOOP | Errno::NOTDIR | Errno::NXIO | Errno::MLINK) => {
            OpenError::Other(noun(FileType::from_raw_mode(stat.st_mode)))
        }
        Ok(_) => OpenError::System(error),
        Err(Errno::NOENT) => OpenError::Missing,
        Err(_) => OpenError::System(error),
    }
}

/// Returns the number in an error of the standard library.
pub(super) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
