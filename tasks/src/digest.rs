//! The digest of a suite: what pins its content in a run.
//!
//! It is the BLAKE3 hash over all files of the suite in the order of their paths (as
//! bytes). Each file adds the length of its path, the path relative to the suite with
//! `/` between its parts, the length of its content, and the content; lengths are 64-bit
//! little-endian numbers, so no two suites can be confused by where one name ends.
//! Times, owners and permissions do not enter, nor do the files that the loader ignores
//! (`.gitkeep`, `.DS_Store`, and names with a leading dot at the top of the suite).

/// Computes the digest from paths and contents that come in the order of paths.
#[derive(Debug, Default)]
pub(crate) struct Digest(blake3::Hasher);

impl Digest {
    /// Adds a file.
    pub(crate) fn add(&mut self, path: &str, content: &[u8]) {
        for part in [path.as_bytes(), content] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    /// Returns the digest as 64 hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// Returns whether a path of a suite, relative to it, is no part of it.
pub(crate) fn is_ignored(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, ".gitkeep" | ".DS_Store") || path.starts_with('.')
}
