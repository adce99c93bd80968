//! Pages of MiniWoB++, solved by our page actions and what they show, and nothing else.
//!
//! The pages are those of the Python package `miniwob` (MIT), unpacked where
//! `WILDGYM_MINIWOB` says, or `miniwob` below the cache; without them the test says so
//! and passes. Each has a fixed seed, time enough, and is scored by itself: the raw reward
//! must be 1.

use std::path::PathBuf;

use crate::stage::{Answer, Server, file};

/// What the pages' common script gets at its end: a fixed seed and ten minutes.
const SETUP: &str = "\nMath.seedrandom('wildgym'); core.EPISODE_MAX_TIME = 600000;\n";

/// Where the pages are, if they are anywhere.
pub fn pages() -> Option<PathBuf> {
    let given = std::env::var_os("WILDGYM_MINIWOB").map(PathBuf::from);
    let cache = std::env::var_os("WILDGYM_CACHE").map(PathBuf::from).or_else(|| {
        let home = PathBuf::from(std::env::var_os("HOME")?);
        let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        Some(base.unwrap_or_else(|| home.join(".cache")).join("wildgym"))
    });
    let folder = given.or_else(|| Some(cache?.join("miniwob")))?;
    let html = folder.join("miniwob/html");
    [folder.join("html"), html, folder].into_iter().find(|at| at.join("core/core.js").is_file())
}

/// Serves them.
pub async fn serve(folder: PathBuf) -> Server {
    Server::route(Box::new(move |path| answer(&folder, path))).await
}

fn answer(folder: &std::path::Path, path: &str) -> Option<Answer> {
    let clean = path.trim_start_matches('/');
    if clean.split('/').any(|part| part == "..") {
        return None;
    }
    let mut bytes = std::fs::read(folder.join(clean)).ok()?;
    if clean.ends_with("core/core.js") {
        bytes.extend_from_slice(SETUP.as_bytes());
    }
    let kind = match clean.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    Some(file(kind, None, bytes))
}
