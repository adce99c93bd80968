//! Bytes named by their digest.

use std::fs;
use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::StoreError;
use crate::record::{Body, INLINE_LIMIT};

/// The folder `blobs/` of a run.
#[derive(Debug, Clone)]
pub struct Blobs {
    folder: Utf8PathBuf,
}

impl Blobs {
    pub(super) fn new(root: &Utf8Path) -> Self {
        Self { folder: root.join("blobs") }
    }

    /// Keeps bytes and returns their BLAKE3 digest as 64 hexadecimal digits. Equal
    /// bytes are kept once.
    pub fn put(&self, bytes: &[u8]) -> Result<String, StoreError> {
        let digest = blake3::hash(bytes).to_hex().to_string();
        let path = self.folder.join(&digest);
        if path.exists() {
            return Ok(digest);
        }
        let error = || StoreError::io(&path);
        fs::create_dir_all(&self.folder).map_err(error())?;
        let mut part =
            tempfile::Builder::new().prefix(".part-").tempfile_in(&self.folder).map_err(error())?;
        part.write_all(bytes).map_err(error())?;
        part.persist(&path).map_err(|failed| error()(failed.error))?;
        Ok(digest)
    }

    /// Keeps a value as JSON.
    pub fn put_json<T: Serialize + ?Sized>(&self, value: &T) -> Result<String, StoreError> {
        let bytes = serde_json::to_vec(value)
            .map_err(|error| StoreError::io(&self.folder)(error.into()))?;
        self.put(&bytes)
    }

    /// Reads the bytes of that digest.
    pub fn get(&self, digest: &str) -> Result<Vec<u8>, StoreError> {
        // A digest comes out of a stored file; it must not name anything but a blob.
        let plain = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = self.folder.join(if plain { digest } else { "not-a-digest" });
        fs::read(&path).map_err(StoreError::io(&path))
    }

    /// Turns a text into a body, as a blob where it is long.
    pub fn body(&self, text: String) -> Result<Body, StoreError> {
        if text.len() <= INLINE_LIMIT {
            return Ok(Body::Inline(text));
        }
        Ok(Body::Blob { blob: self.put(text.as_bytes())?, bytes: text.len() as u64 })
    }

    /// Returns the text of a body.
    pub fn text(&self, body: &Body) -> Result<String, StoreError> {
        match body {
            Body::Inline(text) => Ok(text.clone()),
            Body::Blob { blob, .. } => Ok(String::from_utf8_lossy(&self.get(blob)?).into_owned()),
        }
    }
}
