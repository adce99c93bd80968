//! Where the runtime lies, who may touch it, and how it comes into its place.
//!
//! Compiled code runs as this program. So the directory and its code belong to this
//! user (or root), nobody else can write them, and neither is a link; otherwise they
//! are refused, before anything is read.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};

use camino::{Utf8Path, Utf8PathBuf};
use wasmtime::Engine;

use super::SetupError;
use crate::code::engine;

/// The files of one runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::code) struct Layout(Utf8PathBuf);

impl Layout {
    /// Returns the place below `home` of the runtime for this engine.
    pub(in crate::code) fn new(home: &Utf8Path, engine: &Engine) -> Self {
        Self(home.join(engine::key(engine)))
    }

    /// Returns the directory.
    pub(in crate::code) fn folder(&self) -> &Utf8Path {
        &self.0
    }

    /// Returns the compiled interpreter.
    pub(in crate::code) fn code(&self) -> Utf8PathBuf {
        self.0.join("python.cwasm")
    }

    /// Returns what the guest sees as `/`.
    pub(in crate::code) fn root(&self) -> Utf8PathBuf {
        self.0.join("root")
    }

    /// Returns the standard library and packages, below the root.
    pub(in crate::code) fn library(&self) -> Utf8PathBuf {
        self.root().join("usr/local/lib/python315.zip")
    }

    /// Returns the data files of the plotting package.
    pub(in crate::code) fn plots(&self) -> Utf8PathBuf {
        self.0.join("mpl-data")
    }

    /// Returns whether it is there; it appears whole or not at all.
    pub(in crate::code) fn complete(&self) -> bool {
        self.code().symlink_metadata().is_ok()
    }

    /// Says why it must not be used, if it must not.
    pub(in crate::code) fn check(&self) -> Result<(), String> {
        let home = self.0.parent().unwrap_or(&self.0);
        [home, &self.0, &self.code(), &self.library()].into_iter().try_for_each(private)
    }
}

/// Says why a file or directory could be changed by somebody else, if it could.
pub(crate) fn private(path: &Utf8Path) -> Result<(), String> {
    let found =
        path.symlink_metadata().map_err(|error| format!("cannot read `{path}`: {error}"))?;
    let user = rustix::process::geteuid().as_raw();
    if found.is_symlink() {
        Err(format!("`{path}` is a symbolic link; replace it by what it points to"))
    } else if found.uid() != user && found.uid() != 0 {
        Err(format!("`{path}` belongs to user {}, not to {user}; remove it", found.uid()))
    } else if found.mode() & 0o022 != 0 {
        Err(format!("others can write `{path}`; run `chmod go-w {path}` if you trust it"))
    } else {
        Ok(())
    }
}

/// Creates a directory that only this user can enter, or checks the one that is there.
pub(super) fn create_private(path: &Utf8Path) -> Result<(), SetupError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| SetupError::Io { path: path.to_owned(), source })?;
    private(path).map_err(SetupError::NotPrivate)
}

/// Takes the lock that one process holds while it sets up what lies in `home`; says that it
/// waits for another.
pub(crate) async fn lock(home: &Utf8Path, waiting: impl FnOnce()) -> io::Result<File> {
    let file = File::create(home.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(fs::TryLockError::WouldBlock) => waiting(),
        Err(fs::TryLockError::Error(source)) => return Err(source),
    }
    let waited = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await;
    waited.map_err(|_| io::Error::from(io::ErrorKind::Interrupted))?
}

/// The file that [`lock`] locks.
pub(crate) const LOCK: &str = "setup.lock";

/// A runtime in the making, removed unless it is published.
#[derive(Debug)]
pub(super) struct Draft {
    /// Removes what is left when dropped.
    _folder: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Draft {
    /// How drafts are named; what a killed setup left is recognised by it.
    const PREFIX: &str = "draft-";

    /// Removes what killed setups left and starts a new draft. Only for who holds the lock.
    pub(super) fn create(home: &Utf8Path) -> Result<Self, SetupError> {
        let failed = |source| SetupError::Io { path: home.to_owned(), source };
        for entry in home.read_dir_utf8().map_err(failed)?.flatten() {
            if entry.file_name().starts_with(Self::PREFIX) {
                fs::remove_dir_all(entry.path()).map_err(failed)?;
            }
        }
        let folder = tempfile::Builder::new().prefix(Self::PREFIX).tempdir_in(home);
        let folder = folder.map_err(failed)?;
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned())
            .map_err(|_| failed(io::ErrorKind::InvalidFilename.into()))?;
        let draft = Self { _folder: folder, path };
        let made = fs::DirBuilder::new().mode(0o700).create(draft.layout().folder());
        made.map_err(failed)?;
        Ok(draft)
    }

    /// Returns its directory, for files that are needed only while setting up.
    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Returns where its finished files go.
    pub(super) fn layout(&self) -> Layout {
        Layout(self.path.join("runtime"))
    }

    /// Moves the finished files into their place.
    pub(super) fn publish(self, place: &Layout) -> Result<(), SetupError> {
        let failed = |source| SetupError::Io { path: place.folder().to_owned(), source };
        let code = File::open(self.layout().code()).map_err(failed)?;
        code.sync_all().map_err(failed)?;
        fs::rename(self.layout().folder(), place.folder()).map_err(failed)
    }
}
