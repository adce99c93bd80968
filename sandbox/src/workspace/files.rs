//! A directory with a quota: read, write, list, measure.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::handle::{self, OpenError};
use super::path::shown;
use super::{Entry, Quota, Usage, WorkspaceError, hint, relative, tree};
use crate::scratch::Scratch;

/// The most files that are listed.
const LISTED: usize = 200_000;

/// A directory with a quota, accessed through a handle.
///
/// One of our own is made when something is first written, or handed to a runtime: many
/// attempts touch no file, and directories are a good part of what such an attempt costs.
#[derive(Debug)]
pub struct Workspace {
    /// The handle, once the directory is there.
    dir: OnceLock<Dir>,
    /// Held while it is made.
    making: Mutex<()>,
    path: Utf8PathBuf,
    quota: Quota,
    /// Whether it goes when dropped.
    ours: bool,
}

impl Workspace {
    /// Returns an empty workspace below the scratch directory; it is removed when dropped.
    #[must_use]
    pub fn create(scratch: &Scratch, quota: Quota) -> Self {
        let path = scratch.path().join(scratch.next_name());
        Self { dir: OnceLock::new(), making: Mutex::new(()), path, quota, ours: true }
    }

    /// Uses a directory of the user's, which stays when the workspace is dropped.
    pub fn attach(folder: &Utf8Path, quota: Quota) -> io::Result<Self> {
        let path = folder.canonicalize_utf8()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { dir: dir.into(), making: Mutex::new(()), path, quota, ours: false })
    }

    /// Returns the handle, and makes the directory where it is not there yet.
    fn dir(&self) -> io::Result<&Dir> {
        let _one = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dir) = self.dir.get() {
            return Ok(dir);
        }
        std::fs::create_dir(&self.path)?;
        std::fs::set_permissions(&self.path, Permissions::from_mode(0o700))?;
        let dir = Dir::open_ambient_dir(&self.path, ambient_authority())?;
        Ok(self.dir.get_or_init(|| dir))
    }

    /// Returns where the directory lies on the host. Only for handing the directory to a
    /// runtime; a path joined to it would follow links.
    pub fn host_path(&self) -> io::Result<&Utf8Path> {
        self.dir().map(|_| self.path.as_path())
    }

    /// Reads a whole file of at most `limit` bytes.
    pub fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, WorkspaceError> {
        let clean = relative(path)?;
        let io = |source| WorkspaceError::Io { path: shown(path), source };
        let large = |bytes| WorkspaceError::TooLarge { path: shown(path), bytes, limit };
        let found = match self.dir.get() {
            Some(dir) => handle::regular(dir, &clean),
            None => Err(OpenError::Missing),
        };
        let (file, size) = found.map_err(|error| self.refuse(path, &clean, &error))?;
        if size > limit {
            return Err(large(size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // The file may grow meanwhile.
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > limit {
            return Err(large(bytes.len() as u64));
        }
        Ok(bytes)
    }

    /// Writes a whole file, creating its directories.
    ///
    /// The file appears complete or not at all. What was there under its name is
    /// replaced; another name of the same file, or the target of a link, is not touched.
    pub fn write(&self, path: &Utf8Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
        self.fill(path, bytes.len() as u64, &mut &*bytes)
    }

    /// Copies a file of the host into the workspace.
    pub fn place(&self, path: &Utf8Path, from: &Utf8Path) -> Result<(), WorkspaceError> {
        let io = |source| WorkspaceError::Io { path: from.to_string(), source };
        let mut file = File::open(from).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        self.fill(path, size, &mut file)
    }

    /// Lists all regular files, sorted by path; at most 200,000. What lies in a directory that
    /// may not be read is left out.
    pub fn list(&self) -> Result<Vec<Entry>, WorkspaceError> {
        let mut entries = Vec::new();
        let walked = self.walk(|entry| {
            entries.push(entry);
            entries.len() <= LISTED
        });
        match walked {
            Err(WorkspaceError::Io { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied => {}
            walked => walked?,
        }
        if entries.len() > LISTED {
            return Err(WorkspaceError::Full(format!(
                "it holds more than {LISTED} files, which are too many to list; remove some"
            )));
        }
        entries.sort();
        Ok(entries)
    }

    /// Measures what is there now.
    pub fn usage(&self) -> Result<Usage, WorkspaceError> {
        let Some(dir) = self.dir.get() else { return Ok(Usage::default()) };
        tree::usage(dir).map_err(|source| WorkspaceError::Io { path: ".".into(), source })
    }

    /// Returns the quota.
    #[must_use]
    pub fn quota(&self) -> Quota {
        self.quota
    }

    fn walk(&self, mut visit: impl FnMut(Entry) -> bool) -> Result<(), WorkspaceError> {
        let step = |path: &Utf8PathBuf, stat: &rustix::fs::Stat| {
            FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
                || visit(Entry {
                    path: path.clone(),
                    bytes: u64::try_from(stat.st_size).unwrap_or(0),
                })
        };
        let Some(dir) = self.dir.get() else { return Ok(()) };
        tree::walk(dir, step).map_err(|source| WorkspaceError::Io { path: ".".into(), source })
    }

    /// Writes `size` bytes from `source` under a name of its own, then renames.
    fn fill(
        &self,
        path: &Utf8Path,
        size: u64,
        source: &mut dyn Read,
    ) -> Result<(), WorkspaceError> {
        let clean = relative(path)?;
        let Some(name) = clean.file_name() else {
            return Err(WorkspaceError::NotAFile { path: shown(path), what: "the workspace" });
        };
        let dir = self.dir().map_err(|source| WorkspaceError::Io { path: ".".into(), source })?;
        self.admit(dir, &clean, size)?;
        let directory =
            handle::parent(dir, &clean, true).map_err(|error| self.refuse(path, &clean, &error))?;
        if let Ok(stat) = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)
            && FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        {
            return Err(WorkspaceError::NotAFile { path: shown(path), what: "a directory" });
        }
        let done = write_beside(&directory, size, source)
            .and_then(|beside| Ok(renameat(&directory, beside.as_str(), &directory, name)?));
        done.map_err(|source| match Errno::from_io_error(&source) {
            Some(Errno::NOSPC | Errno::DQUOT) => {
                WorkspaceError::Full("the disk has no space left".into())
            }
            _ => WorkspaceError::Io { path: shown(path), source },
        })
    }

    /// Refuses a write that would leave more behind than the quota allows.
    fn admit(&self, dir: &Dir, clean: &Utf8Path, size: u64) -> Result<(), WorkspaceError> {
        let now = self.usage()?;
        // The name replaced gives back what it weighs; a file with another name keeps it.
        let (mut freed, mut known) = (0, Utf8PathBuf::new());
        let _ = tree::names(dir, clean, |name, stat| {
            known.push(name);
            let file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            freed = if file && stat.st_nlink == 1 { tree::weight(stat) } else { 0 };
        });
        let new = (clean.iter().count() - known.iter().count()) as u64;
        let (bytes, entries) = (self.quota.bytes, self.quota.entries);
        if now.bytes.saturating_sub(freed).saturating_add(size) > bytes {
            let used = now.bytes;
            return Err(WorkspaceError::Full(format!(
                "it holds {used} of {bytes} bytes, so {size} more do not fit; remove files"
            )));
        }
        if now.entries + new > entries {
            let used = now.entries;
            return Err(WorkspaceError::Full(format!(
                "it holds {used} of {entries} files and directories; remove some"
            )));
        }
        Ok(())
    }

    /// Says why a path could not be opened.
    fn refuse(&self, path: &Utf8Path, clean: &Utf8Path, error: &OpenError) -> WorkspaceError {
        match error {
            OpenError::Missing => {
                let mut entries = Vec::new();
                // A hint is worth a short look only, and none where the look fails.
                let _ = self.walk(|entry| {
                    entries.push(entry);
                    entries.len() < 2_000
                });
                entries.sort();
                WorkspaceError::NotFound { path: shown(path), hint: hint::near(clean, &entries) }
            }
            OpenError::Other(what) => WorkspaceError::NotAFile { path: shown(path), what },
            OpenError::System(error) => {
                WorkspaceError::Io { path: shown(path), source: (*error).into() }
            }
        }
    }
}

/// Writes at most `size` bytes under a fresh hidden name in `directory`, and returns it.
fn write_beside(directory: &OwnedFd, size: u64, source: &mut dyn Read) -> io::Result<String> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let (mut file, name) = loop {
        let name = format!(".wildgym-part-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        match openat(directory, name.as_str(), flags, Mode::from_raw_mode(0o644)) {
            Ok(file) => break (File::from(file), name),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let copied = io::copy(&mut source.take(size), &mut file).and_then(|_| file.flush());
    if let Err(error) = copied {
        let _ = unlinkat(directory, name.as_str(), AtFlags::empty());
        return Err(error);
    }
    Ok(name)
}

impl Drop for Workspace {
    /// Removes the directory. What cannot be removed stays for the scratch directory's own end.
    fn drop(&mut self) {
        if let Some(dir) = self.dir.get()
            && self.ours
            && tree::clear(dir).is_ok()
        {
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}
