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
        let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
        if blake3::hash(&bytes).to_hex().as_str() != digest {
            return Err(StoreError::Corrupt {
                path,
                line: 0,
                reason: "the bytes do not have the digest that names them".to_owned(),
            });
        }
        Ok(bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_went_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(Utf8Path::from_path(folder.path()).unwrap());
        let digest = blobs.put(b"3.94").unwrap();
        assert_eq!(blobs.put(b"3.94").unwrap(), digest);
        assert_eq!(blobs.get(&digest).unwrap(), b"3.94");
        fs::write(folder.path().join("blobs").join(&digest), b"9.99").unwrap();
        let error = blobs.get(&digest).unwrap_err().to_string();
        assert!(error.contains("do not have the digest"), "{error}");
        assert!(blobs.get("../run.toml").is_err(), "a digest names nothing but a blob");
    }
}
