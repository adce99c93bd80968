//! The directory of a call: what a program reads and writes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Most entries that a program may leave.
const ENTRIES: usize = 20_000;

/// A directory that lives as long as a call; removed when dropped.
///
/// Programs write to it, so nothing in it is trusted: links are neither followed nor
/// listed, and only plain files are read.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    /// Makes a directory below `parent`.
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        tempfile::Builder::new().prefix("call-").tempdir_in(parent).map(Self)
    }

    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Puts a file into it, under a plain name.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        fs::write(self.at(name)?, bytes)
    }

    /// Reads a file of that name; none where there is no plain file.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
        let opened =
            File::options().read(true).custom_flags(flags.cast_signed()).open(self.at(name)?);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Removes a file, where it is there.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.at(name)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns the length of a plain file of that name in bytes, 0 where there is none.
    #[must_use]
    pub fn size(&self, name: &str) -> u64 {
        let found = self.at(name).and_then(|path| path.symlink_metadata());
        found.ok().filter(fs::Metadata::is_file).map_or(0, |found| found.len())
    }

    /// Returns the names of the plain files in it, in order. A name that is not UTF-8 is
    /// nobody's.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path())? {
            let entry = entry?;
            if entry.file_type()?.is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns how many bytes it holds, in all its files together; endless where there are
    /// too many entries to count.
    pub(super) fn bytes(&self) -> u64 {
        let mut pending = vec![self.path().to_owned()];
        let (mut bytes, mut entries) = (0, 0);
        while let Some(folder) = pending.pop() {
            // What disappears meanwhile, or cannot be read, is passed over.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                entries += 1;
                if entries > ENTRIES {
                    return u64::MAX;
                }
                match entry.metadata() {
                    Ok(found) if found.is_dir() => pending.push(entry.path()),
                    Ok(found) => bytes += found.len().max(found.blocks() * 512),
                    Err(_) => {}
                }
            }
        }
        bytes
    }

    fn at(&self, name: &str) -> io::Result<PathBuf> {
        if name.is_empty() || name.contains(['/', '\0']) || name == "." || name == ".." {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("`{name}` is no plain name"),
            ));
        }
        Ok(self.path().join(name))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_neither_followed_nor_listed() {
        let parent = tempfile::tempdir().unwrap();
        let secret = parent.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        let folder = Folder::create(parent.path()).unwrap();
        folder.put("a.txt", b"a").unwrap();
        symlink(&secret, folder.path().join("b.txt")).unwrap();
        fs::create_dir(folder.path().join("c.txt")).unwrap();
        assert_eq!(folder.names().unwrap(), ["a.txt"]);
        assert_eq!(folder.read("a.txt").unwrap().as_deref(), Some(b"a".as_slice()));
        assert!(folder.read("b.txt").is_err(), "a link");
        assert_eq!(folder.read("c.txt").unwrap(), None, "a directory");
        assert_eq!(folder.read("d.txt").unwrap(), None, "nothing");
        for name in ["", ".", "..", "../secret", "/etc/passwd"] {
            assert!(folder.read(name).is_err() && folder.put(name, b"x").is_err(), "{name:?}");
        }
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists() && secret.exists());
    }
}
