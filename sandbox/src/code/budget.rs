//! How much an execution may still write.
//!
//! Every growth is charged before it happens; what is freed is not credited at once.
//! When the charge reaches the quota the directories are measured anew, so the count is
//! never below what is there, and a refusal is never wrong.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::workspace::{Quota, Usage};

/// The budget of all directories that the guest may write, together.
#[derive(Debug)]
pub(super) struct Budget {
    folders: [PathBuf; 2],
    quota: Quota,
    /// At least what is there; unknown until something is written.
    used: Option<Usage>,
}

impl Budget {
    /// Sets up the budget of the workspace and the temporary directory.
    pub(super) fn new(workspace: &Path, temporary: &Path, quota: Quota) -> Self {
        Self { folders: [workspace.to_owned(), temporary.to_owned()], quota, used: None }
    }

    /// Returns the host's path of the workspace (0) or the temporary directory (1).
    pub(super) fn folder(&self, index: usize) -> Option<&Path> {
        self.folders.get(index).map(PathBuf::as_path)
    }

    /// Charges a growth; false when it does not fit.
    pub(super) fn take(&mut self, bytes: u64, entries: u64) -> bool {
        if bytes == 0 && entries == 0 {
            return true;
        }
        let grown = |used: Usage| {
            let after = Usage {
                bytes: used.bytes.saturating_add(bytes),
                entries: used.entries.saturating_add(entries),
            };
            let fits = after.bytes <= self.quota.bytes && after.entries <= self.quota.entries;
            fits.then_some(after)
        };
        let after = self.used.and_then(grown).or_else(|| grown(self.measure()));
        if after.is_some() {
            self.used = after;
        }
        after.is_some()
    }

    fn measure(&self) -> Usage {
        let mut used = Usage::default();
        for folder in &self.folders {
            let below = WalkDir::new(folder).min_depth(1).follow_links(false);
            for entry in below.into_iter().flatten() {
                used.entries += 1;
                if entry.file_type().is_file() {
                    used.bytes += entry.metadata().map_or(0, |file| file.len());
                }
            }
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_freed_can_be_used_again() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let quota = Quota { bytes: 10, entries: 2 };
        let mut budget = Budget::new(folders[0].path(), folders[1].path(), quota);
        assert!(budget.take(6, 1));
        fs::write(folders[0].path().join("a"), "123456").unwrap();
        assert!(!budget.take(5, 0), "11 of 10 bytes");
        assert!(budget.take(4, 1), "a refused charge costs nothing");
        fs::write(folders[1].path().join("b"), "1234").unwrap();
        assert!(!budget.take(0, 1), "3 of 2 entries");
        fs::remove_file(folders[0].path().join("a")).unwrap();
        assert!(budget.take(6, 1), "the deleted file is measured as gone");
    }
}
