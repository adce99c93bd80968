//! Downloads, on their way into the workspace.
//!
//! The browser writes a file under a name of its own making into the session's
//! directory; from there it is copied into the workspace, within its quota, below
//! `downloads/`, under the name that the page gave, made safe and unique. Nothing of it
//! stays in the session's directory.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::Session;
use super::ask::Fault;
use super::names;
use super::signals::{Download, DownloadState};
use super::text::{cut, quoted};
use crate::workspace::Workspace;

/// How long a file asked for may take.
const WAIT: Duration = Duration::from_mins(1);

/// How long a download may take to begin after the click.
const BEGIN: Duration = Duration::from_secs(12);

/// How long one that came of another action is waited for.
const BESIDE: Duration = Duration::from_secs(10);

impl Session {
    /// Clicks an element that downloads, and waits for the file.
    pub(super) async fn fetch(
        &mut self,
        index: usize,
        id: u32,
        workspace: &Workspace,
    ) -> Result<String, Fault> {
        let target = self.tabs[index].target.clone();
        let before = self.signals.lock().downloads.len();
        let documents = self.signals.look(&target, |tab| tab.documents).unwrap_or(0);
        let clicked = self.click(index, id).await?;
        let begun = Instant::now();
        loop {
            let (count, running) = {
                let known = self.signals.lock();
                let new = known.downloads.get(before..).unwrap_or_default();
                (new.len(), new.iter().any(|one| one.state == DownloadState::Running))
            };
            if count > 0 && !running {
                break;
            }
            let waited = begun.elapsed();
            if count == 0 && waited > Duration::from_millis(600) {
                // A page that came instead is the answer already.
                let went = self.signals.look(&target, |tab| tab.documents).unwrap_or(0) > documents;
                if waited > BEGIN || (went && self.tabs[index].settle(self.options.load).await) {
                    break;
                }
            }
            if waited > WAIT {
                break;
            }
            let woke = self.signals.woke.notified();
            let _ = tokio::time::timeout(Duration::from_millis(50), woke).await;
        }
        let placed = self.take_downloads(workspace);
        if placed.is_empty() {
            let running = self.signals.lock().downloads.len() > before;
            return Ok(if running {
                format!(
                    "{clicked}; the download goes on after {} s and will be told when it is done",
                    WAIT.as_secs()
                )
            } else {
                format!("{clicked}, but nothing was downloaded")
            });
        }
        Ok(format!("{clicked}; {}", placed.join("; ")))
    }

    /// Takes in what was downloaded beside an action, and tells it.
    pub(super) async fn collect(&mut self, workspace: &Workspace) {
        let end = Instant::now() + BESIDE;
        while Instant::now() < end
            && self.signals.lock().downloads.iter().any(|one| one.state == DownloadState::Running)
        {
            let woke = self.signals.woke.notified();
            let _ = tokio::time::timeout(Duration::from_millis(50), woke).await;
        }
        let placed = self.take_downloads(workspace);
        let mut known = self.signals.lock();
        for notice in placed {
            known.tell(notice);
        }
        if known.downloads.iter().any(|one| one.state == DownloadState::Running) {
            known.tell("a download is still under way".into());
        }
    }

    /// Moves finished downloads into the workspace and says what became of each.
    fn take_downloads(&mut self, workspace: &Workspace) -> Vec<String> {
        let done: Vec<Download> = {
            let mut known = self.signals.lock();
            let ended = |one: &Download| one.state != DownloadState::Running;
            let done = known.downloads.iter().filter(|one| ended(one)).cloned().collect();
            known.downloads.retain(|one| !ended(one));
            done
        };
        done.iter().map(|one| self.place_download(one, workspace)).collect()
    }

    fn place_download(&self, download: &Download, workspace: &Workspace) -> String {
        let staged = self.options.downloads.join(&download.guid);
        let name = names::safe(&download.name, &download.url);
        let told = match download.state {
            DownloadState::Done => put(&staged, &name, workspace),
            DownloadState::TooLarge => Err(format!(
                "it has more than {} MiB, the most that is downloaded",
                self.options.download_limit >> 20
            )),
            DownloadState::Failed | DownloadState::Running => Err("it broke off".into()),
        };
        let _ = std::fs::remove_file(&staged);
        match told {
            Ok((path, bytes)) => {
                self.signals.lock().placed.push(path.to_string());
                let path = quoted(path.as_str());
                format!("downloaded `{path}` ({bytes} bytes) into the workspace")
            }
            Err(why) => format!("the download `{}` was not kept: {why}", quoted(&cut(&name, 120))),
        }
    }
}

/// Copies a file into the workspace under a name that nothing there has.
fn put(staged: &Utf8Path, name: &str, workspace: &Workspace) -> Result<(Utf8PathBuf, u64), String> {
    let bytes = std::fs::metadata(staged).map_err(|error| format!("it broke off ({error})"))?.len();
    let taken: HashSet<Utf8PathBuf> = workspace
        .list()
        .map_err(|error| error.to_string())?
        .into_iter()
        .map(|entry| entry.path)
        .collect();
    let path = names::unique(name, |path| taken.contains(path));
    workspace.place(&path, staged).map_err(|error| error.to_string())?;
    Ok((path, bytes))
}
