//! Finding the browser of this machine.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::environment;

/// Names that a Chromium goes by, in the order tried.
const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome-headless-shell",
];

/// What helps where there is none.
const INSTALL: &str = "install Chromium (Debian: package `chromium`; Ubuntu: a `.deb` of Chrome, as \
its own package is a snap, which cannot see our directories), or set `WILDGYM_CHROMIUM` to the program";

/// Returns the browser, or says why there is none and what to do.
pub(super) fn find() -> Result<PathBuf, String> {
    if let Some(named) = environment::get(environment::CHROMIUM) {
        let named = PathBuf::from(named);
        let found = if named.components().count() > 1 { usable(&named) } else { in_path(&named) };
        return found.ok_or_else(|| {
            format!("`{}`, which `WILDGYM_CHROMIUM` names, is no program", named.display())
        });
    }
    let mut snap = None;
    for name in NAMES {
        match in_path(Path::new(name)) {
            Some(program) if is_snap(&program) => snap = Some(program),
            Some(program) => return Ok(program),
            None => {}
        }
    }
    let found = snap.map_or_else(
        || "there is no browser on this machine".to_owned(),
        |program| format!("the only browser, `{}`, is a snap", program.display()),
    );
    Err(format!("{found}: {INSTALL}"))
}

/// Looks a program up in `PATH`.
fn in_path(name: &Path) -> Option<PathBuf> {
    let path = environment::get("PATH")?;
    std::env::split_paths(&path).find_map(|folder| usable(&folder.join(name)))
}

/// Returns the absolute path of a file that can be executed.
fn usable(file: &Path) -> Option<PathBuf> {
    let metadata = file.metadata().ok()?;
    let runs = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    if runs { std::path::absolute(file).ok() } else { None }
}

/// Whether a program is a snap, or the script that stands in for one.
fn is_snap(program: &Path) -> bool {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    if real.starts_with("/snap") || real.file_name().is_some_and(|name| name == "snap") {
        return true;
    }
    // Scripts are small; the browser itself is not read.
    let small = real.metadata().is_ok_and(|metadata| metadata.len() < 64 << 10);
    small && std::fs::read_to_string(&real).is_ok_and(|text| text.contains("/snap/bin/chromium"))
}

/// Returns what the browser calls itself: name and version.
pub(super) fn version(program: &Path) -> Option<String> {
    let output = std::process::Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Whether the system has a font for Chinese, as far as its font programs tell; nothing
/// where there are none.
pub(super) fn has_chinese_font() -> Option<bool> {
    let output =
        std::process::Command::new("fc-list").args([":lang=zh", "family"]).output().ok()?;
    Some(!output.stdout.trim_ascii().is_empty())
}
