//! What a guest holds that shows in no folder.
//!
//! Read from `/proc`. A process that ends while one looks is passed over; files that are on
//! their way between two processes, or only mapped, are not seen.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::browser::below;

/// What the processes of a guest hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// How many there are.
    pub processes: usize,
    /// Bytes of files that are open and have no name any more: their size, or the blocks they
    /// hold where those are more.
    pub nameless: u64,
}

impl Held {
    /// Looks at all processes below `keeper`; of nameless files, those on the same file system
    /// as something of the device `device` count. Reads some hundred small files: not to be
    /// called where it must not block.
    #[must_use]
    pub fn below(keeper: u32, device: u64) -> Self {
        let processes = below(keeper);
        let mut seen = HashSet::new();
        let mut nameless = 0_u64;
        for pid in &processes {
            let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
            for about in entries.flatten().filter_map(|entry| fs::metadata(entry.path()).ok()) {
                let counts = about.is_file() && about.nlink() == 0 && about.dev() == device;
                if counts && seen.insert(about.ino()) {
                    let weight = about.len().max(about.blocks().saturating_mul(512));
                    nameless = nameless.saturating_add(weight);
                }
            }
        }
        Self { processes: processes.len(), nameless }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_file_without_a_name_is_seen_once() {
        let folder = tempfile::tempdir().unwrap();
        let device = fs::metadata(folder.path()).unwrap().dev();
        let script = "exec 3>gone 4>&3; rm gone; truncate -s 9000000 /dev/fd/3; echo; read wait";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        std::io::Read::read_exact(&mut out, &mut [0]).unwrap();
        let held = Held::below(std::process::id(), device);
        assert!(held.processes >= 1, "{held:?}");
        assert!((9_000_000..90_000_000).contains(&held.nameless), "{held:?}");
        assert_eq!(Held::below(std::process::id(), device + 1).nameless, 0, "another device");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
