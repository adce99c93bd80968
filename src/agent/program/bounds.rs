//! What a program may fill: looked at while it runs, since no system without root bounds the
//! sum of somebody's files.
//!
//! What is written between two looks may go beyond the bound; then the attempt ends, and all
//! of it goes with the attempt.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use wildgym_sandbox::guest::Held;
use wildgym_sandbox::workspace::{Quota, Usage, Workspace, WorkspaceError};

/// The shortest time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// The longest, however long a look takes: whoever makes looking slow must not gain by it.
const LONGEST: Duration = Duration::from_secs(2);

/// How many times as long as a look takes the next one waits, so that looking is never the
/// work of a machine.
const REST: u32 = 30;

/// The most files and folders: more could not be listed when the attempt ends.
const ENTRIES: u64 = 200_000;

/// The most processes.
const PROCESSES: usize = 2_000;

/// What is looked at.
#[derive(Debug)]
pub(super) struct Bounds {
    workspace: Arc<Workspace>,
    /// What the program was given: its answers and its errors lie there.
    place: Workspace,
    device: u64,
    keeper: u32,
}

impl Bounds {
    /// Looks at a workspace, at the folder `place`, and at what is below the process `keeper`.
    pub(super) fn of(
        workspace: &Arc<Workspace>,
        place: &Utf8Path,
        keeper: u32,
    ) -> io::Result<Self> {
        let device = std::fs::metadata(place)?.dev();
        let place = Workspace::attach(place, Quota::default())?;
        Ok(Self { workspace: Arc::clone(workspace), place, device, keeper })
    }

    /// Completes when a bound is exceeded, and says which.
    pub(super) async fn exceeded(self) -> String {
        let bounds = Arc::new(self);
        let mut unseen = 0;
        loop {
            let (begin, this) = (Instant::now(), Arc::clone(&bounds));
            let looked = tokio::task::spawn_blocking(move || this.look()).await;
            match looked {
                Ok(Ok(None)) => unseen = 0,
                Ok(Ok(Some(said))) => return said,
                // Something may be moved about just now; what stays shut hides what is in it.
                Ok(Err(error)) if unseen > 2 => {
                    return format!(
                        "what the program wrote cannot be measured, because it shut a folder of \
                         its workspace: {error}"
                    );
                }
                Ok(Err(_)) | Err(_) => unseen += 1,
            }
            tokio::time::sleep((begin.elapsed() * REST).clamp(LOOK, LONGEST)).await;
        }
    }

    fn look(&self) -> Result<Option<String>, WorkspaceError> {
        let (workspace, place) = (self.workspace.usage()?, self.place.usage()?);
        let held = Held::below(self.keeper, self.device);
        let bytes = workspace.bytes.saturating_add(place.bytes).saturating_add(held.nameless);
        let entries = workspace.entries.saturating_add(place.entries);
        Ok(beyond(Usage { bytes, entries }, held.processes, self.workspace.quota().bytes))
    }
}

/// Says which bound is exceeded; `most` are bytes.
fn beyond(Usage { bytes, entries }: Usage, processes: usize, most: u64) -> Option<String> {
    if bytes > most {
        let mib = |bytes: u64| bytes >> 20;
        let (has, may) = (mib(bytes), mib(most));
        return Some(format!("the program filled its workspace: {has} MiB, and {may} are allowed"));
    }
    if entries > ENTRIES {
        return Some(format!(
            "the program filled its workspace: {entries} files, and {ENTRIES} are allowed"
        ));
    }
    (processes > PROCESSES).then(|| {
        format!("the program started {processes} processes, and {PROCESSES} are allowed at once")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_is_said() {
        let table = [
            (Usage { bytes: 5 << 20, entries: 9 }, 1, None, "at the bound"),
            (Usage { bytes: (5 << 20) + 1, entries: 9 }, 1, Some("5 MiB, and 5"), "bytes"),
            (Usage { bytes: 1, entries: ENTRIES + 1 }, 1, Some("200001 files"), "files"),
            (Usage { bytes: 1, entries: 1 }, PROCESSES + 1, Some("2001 processes"), "processes"),
        ];
        for (usage, processes, expected, why) in table {
            let said = beyond(usage, processes, 5 << 20);
            match expected {
                None => assert_eq!(said, None, "{why}"),
                Some(words) => assert!(said.as_ref().unwrap().contains(words), "{why}: {said:?}"),
            }
        }
    }
}
