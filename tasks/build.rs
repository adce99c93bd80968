//! Lists the files of the built-in suites, so that the program carries them with it.
//!
//! A list made here, rather than by a macro, is made again when a file is added.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let missing = |name| io::Error::other(format!("`{name}` is not set"));
    let root = PathBuf::from(
        env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| missing("CARGO_MANIFEST_DIR"))?,
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| missing("OUT_DIR"))?);
    let suites = root.join("suites");
    let mut files = Vec::new();
    if suites.is_dir() {
        collect(&suites, &mut files)?;
    }
    let mut list = String::from("&[\n");
    for file in &files {
        let below = file.strip_prefix(&suites).map_err(io::Error::other)?.to_string_lossy();
        let below = below.replace('\\', "/");
        writeln!(list, "({below:?}, include_bytes!({:?}) as &[u8]),", file.to_string_lossy())
            .map_err(io::Error::other)?;
    }
    list.push(']');
    fs::write(out.join("suites.rs"), list)
}

/// Adds the files below a folder, and tells cargo to watch the folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut line = String::from("cargo::rerun-if-changed=");
    line.push_str(&folder.to_string_lossy());
    line.push('\n');
    io::Write::write_all(&mut io::stdout(), line.as_bytes())?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
