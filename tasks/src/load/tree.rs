//! The files of a suite, listed once.
//!
//! Everything the loader reads it reads through this list, so links, special files,
//! names that are not UTF-8 and oversized files are refused in one place.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use walkdir::WalkDir;

use crate::digest::{Digest, is_ignored};
use crate::fault::Notes;

/// Largest file of a suite, in bytes.
pub(crate) const FILE_LIMIT: u64 = 64 << 20;
/// Largest file that an author writes by hand (TOML, Markdown), in bytes.
pub(crate) const TEXT_LIMIT: u64 = 1 << 20;
/// Most files and folders in a suite.
const ENTRY_LIMIT: usize = 50_000;

/// The files and folders of a suite by path relative to it.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Utf8PathBuf,
    files: BTreeMap<Utf8PathBuf, u64>,
    folders: BTreeSet<Utf8PathBuf>,
}

impl Tree {
    /// Lists what lies in `root`.
    pub(crate) fn scan(root: &Utf8Path, notes: &mut Notes) -> Self {
        let mut tree =
            Self { root: root.to_owned(), files: BTreeMap::new(), folders: BTreeSet::new() };
        let entries = WalkDir::new(root).min_depth(1).into_iter().filter_entry(|entry| {
            let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
            below.to_str().is_none_or(|path| !is_ignored(path))
        });
        for (count, entry) in entries.enumerate() {
            if count == ENTRY_LIMIT {
                notes.of_file(
                    Utf8Path::new(""),
                    format!("more than {ENTRY_LIMIT} files and folders"),
                );
                break;
            }
            match entry {
                Ok(entry) => tree.take(&entry, notes),
                Err(error) => {
                    let path = error.path().map(|path| path.to_string_lossy().into_owned());
                    let path = Utf8PathBuf::from(path.unwrap_or_default());
                    let below = path.strip_prefix(root).unwrap_or(&path);
                    let why =
                        error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    notes.of_file(below, format!("cannot be read: {why}"));
                }
            }
        }
        tree
    }

    fn take(&mut self, entry: &walkdir::DirEntry, notes: &mut Notes) {
        let below = entry.path().strip_prefix(&self.root).unwrap_or(entry.path());
        let Ok(path) = Utf8PathBuf::try_from(below.to_owned()) else {
            let name = Utf8PathBuf::from(below.to_string_lossy().into_owned());
            return notes.of_file(&name, "the name is not UTF-8");
        };
        if path.as_str().contains(|c: char| c.is_control() || c == '\\') {
            return notes.of_file(&path, "the name has a control character or `\\`");
        }
        let kind = entry.file_type();
        if kind.is_symlink() {
            notes.of_file(&path, "symbolic links are refused; copy the file");
        } else if kind.is_dir() {
            self.folders.insert(path);
        } else if kind.is_file() {
            let size = entry.metadata().map_or(0, |metadata| metadata.len());
            if size > FILE_LIMIT {
                notes.of_file(&path, format!("{size} bytes; a file may have {FILE_LIMIT}"));
            }
            self.files.insert(path, size);
        } else {
            notes.of_file(&path, "neither a file nor a folder");
        }
    }

    /// Returns where a file of the suite lies.
    pub(crate) fn absolute(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.root.join(path)
    }

    /// Returns the path of a file relative to the suite.
    pub(crate) fn relative<'a>(&self, path: &'a Utf8Path) -> &'a Utf8Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Returns whether there is such a file.
    pub(crate) fn has_file(&self, path: &Utf8Path) -> bool {
        self.files.contains_key(path)
    }

    /// Returns whether there is such a folder.
    pub(crate) fn has_folder(&self, path: &Utf8Path) -> bool {
        self.folders.contains(path)
    }

    /// Returns the files below a folder: path below it, path below the suite.
    pub(crate) fn below(&self, folder: &Utf8Path) -> impl Iterator<Item = (&Utf8Path, &Utf8Path)> {
        self.files
            .keys()
            .filter_map(move |path| Some((path.strip_prefix(folder).ok()?, path.as_path())))
    }

    /// Returns the files below a folder as a map from path there to path on the host.
    pub(crate) fn files_below(&self, folder: &Utf8Path) -> BTreeMap<Utf8PathBuf, Utf8PathBuf> {
        self.below(folder).map(|(below, path)| (below.to_owned(), self.absolute(path))).collect()
    }

    /// Returns the names of the folders directly in a folder.
    pub(crate) fn folders_in(&self, folder: &Utf8Path) -> Vec<&str> {
        let inside = self.folders.iter().filter(|path| path.parent() == Some(folder));
        inside.filter_map(|path| path.file_name()).collect()
    }

    /// Returns the names of all that lies directly in a folder.
    pub(crate) fn names_in(&self, folder: &Utf8Path) -> Vec<&str> {
        let all = self.folders.iter().chain(self.files.keys());
        all.filter(|path| path.parent() == Some(folder))
            .filter_map(|path| path.file_name())
            .collect()
    }

    /// Notes everything directly in a folder that is not expected there; a `README.md` always is.
    pub(crate) fn only(&self, folder: &Utf8Path, expected: &[&str], notes: &mut Notes) {
        for name in self.names_in(folder) {
            if name != "README.md" && !expected.contains(&name) {
                let problem = super::text::unknown("name here", name, expected);
                notes.of_file(&folder.join(name), problem);
            }
        }
    }

    /// Reads a text file, with line ends as `\n`; notes what keeps it from being read.
    pub(crate) fn text(&self, path: &Utf8Path, notes: &mut Notes) -> Option<String> {
        let Some(size) = self.files.get(path) else {
            notes.of_file(path, "missing");
            return None;
        };
        if *size > TEXT_LIMIT {
            notes.of_file(path, format!("{size} bytes; a text may have {TEXT_LIMIT}"));
            return None;
        }
        let bytes = self.bytes(path, notes)?;
        match String::from_utf8(bytes) {
            Ok(text) => Some(text.trim_start_matches('\u{feff}').replace("\r\n", "\n")),
            Err(error) => {
                let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = good.split(|byte| *byte == b'\n').count();
                notes.at_line(path, Some(line), "not UTF-8; save the file as UTF-8");
                None
            }
        }
    }

    /// Reads a file.
    pub(crate) fn bytes(&self, path: &Utf8Path, notes: &mut Notes) -> Option<Vec<u8>> {
        match std::fs::read(self.absolute(path)) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                notes.of_file(path, format!("cannot be read: {error}"));
                None
            }
        }
    }

    /// Computes the suite's digest.
    pub(crate) fn digest(&self, notes: &mut Notes) -> String {
        let mut digest = Digest::default();
        let mut files: Vec<_> =
            self.files.iter().filter(|(_, size)| **size <= FILE_LIMIT).collect();
        files.sort_by_key(|(path, _)| path.as_str());
        for (path, _) in files {
            if let Some(bytes) = self.bytes(path, notes) {
                digest.add(path.as_str(), &bytes);
            }
        }
        digest.finish()
    }
}
