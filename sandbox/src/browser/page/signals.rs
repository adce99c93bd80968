//! What tabs tell of themselves, kept up to date in the background.
//!
//! A command that waits for a page waits for ever while a dialog is open, so dialogs
//! are answered here and not by whoever waits. The rule: everything is accepted
//! (alerts, confirmations, leaving a page), a prompt with the text it proposes; after
//! [`DIALOGS`] of them in one action the rest are declined.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Notify;

use super::text::{cut, quoted};

/// As many dialogs of one action are accepted.
pub(super) const DIALOGS: usize = 20;

/// As many tabs may be open; more are closed as they open.
pub(super) const TABS: usize = 8;

/// As many notices of one action are kept.
const NOTICES: usize = 12;

/// What is known of all tabs of a session.
#[derive(Debug, Default)]
pub(super) struct Signals {
    known: Mutex<Known>,
    /// Events of all tabs so far.
    pub(super) heard: Arc<AtomicU64>,
    /// Told whenever something changed.
    pub(super) woke: Notify,
}

/// What is known, behind the lock.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Tabs by target.
    pub(super) tabs: HashMap<String, TabSignals>,
    /// Tabs that opened and were not looked at yet: target, address.
    pub(super) opened: VecDeque<String>,
    /// Frames that belong to this session.
    pub(super) frames: HashSet<String>,
    /// Downloads in the order begun.
    pub(super) downloads: Vec<Download>,
    /// Commands sent past the library, by number, and their answers once there are. The
    /// browser tells every session of every answer.
    pub(super) replies: HashMap<u64, Option<Value>>,
    /// Dialogs since the last action began.
    pub(super) dialogs: usize,
    /// How long was waited for timers of pages, since the last action began.
    pub(super) waited: Duration,
    /// Tabs closed because too many were open, since the last action began.
    pub(super) flood: usize,
    /// Paths of files that came into the workspace and were not told yet.
    pub(super) placed: Vec<String>,
    notices: Vec<String>,
    more: usize,
}

impl Known {
    /// Keeps something that the agent is to be told.
    pub(super) fn tell(&mut self, notice: String) {
        if self.notices.len() < NOTICES {
            self.notices.push(notice);
        } else {
            self.more += 1;
        }
    }

    /// Takes what was kept.
    pub(super) fn take_notices(&mut self) -> Vec<String> {
        let mut notices = std::mem::take(&mut self.notices);
        if self.more > 0 {
            notices.push(format!("… and {} more such things happened", self.more));
            self.more = 0;
        }
        if self.flood > 0 {
            notices.push(format!(
                "{} more tabs opened and were closed: at most {TABS} are kept",
                self.flood
            ));
            self.flood = 0;
        }
        self.dialogs = 0;
        notices
    }
}

/// What is known of one tab.
#[derive(Debug, Default)]
pub(super) struct TabSignals {
    /// How often each frame began to load more often than it ended. Events of different
    /// kinds may be heard in another order than they were told, so they are counted.
    pub(super) loading: HashMap<String, i32>,
    /// When a page asked to go elsewhere, until it went.
    pub(super) leaving: Option<Instant>,
    /// Requests under way that a page waits for.
    pub(super) requests: HashMap<String, Instant>,
    /// Requests that are done, which may be heard of before their beginning is.
    pub(super) done: HashSet<String>,
    /// Status of the last main document, and its address.
    pub(super) status: Option<(i64, String)>,
    /// How often the main frame got another document.
    pub(super) documents: u64,
    /// The browser's names of these documents, since it was last sent to an address.
    pub(super) loaders: HashSet<String>,
    /// Whether its process died.
    pub(super) crashed: bool,
    /// Whether it is gone.
    pub(super) closed: bool,
}

impl TabSignals {
    /// Whether it is loading or about to.
    pub(super) fn loading(&self, main: &str) -> bool {
        self.loading.get(main).is_some_and(|times| *times > 0)
            || self.leaving.is_some_and(|at| at.elapsed().as_millis() < 1_500)
    }

    /// Notes that a request began.
    pub(super) fn begin(&mut self, request: &str) {
        if !self.done.contains(request) {
            self.requests.insert(request.to_owned(), Instant::now());
        }
    }

    /// Notes that a request is done, or needs no waiting for.
    pub(super) fn end(&mut self, request: &str) {
        self.requests.remove(request);
        if self.done.len() > 5_000 {
            self.done.clear();
        }
        self.done.insert(request.to_owned());
    }

    /// Starts the counts anew: all is loaded, whatever was missed.
    pub(super) fn loaded(&mut self) {
        self.loading.clear();
    }

    /// Whether nothing is under way, streams and long waits left aside.
    pub(super) fn quiet(&self) -> bool {
        self.loading.values().all(|times| *times <= 0)
            && self.requests.values().all(|since| since.elapsed().as_secs() >= 3)
            && self.leaving.is_none_or(|at| at.elapsed().as_millis() >= 1_500)
    }
}

/// A file that a page gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Download {
    pub(super) guid: String,
    pub(super) url: String,
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) state: DownloadState,
}

/// How far a download is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DownloadState {
    Running,
    Done,
    Failed,
    TooLarge,
}

impl Signals {
    /// Returns what is known.
    pub(super) fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known of a tab, and wakes who waits.
    pub(super) fn tab(&self, target: &str, change: impl FnOnce(&mut TabSignals)) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        change(self.lock().tabs.entry(target.to_owned()).or_default());
        self.woke.notify_waiters();
    }

    /// Looks at a tab.
    pub(super) fn look<T>(&self, target: &str, look: impl FnOnce(&TabSignals) -> T) -> Option<T> {
        self.lock().tabs.get(target).map(look)
    }

    /// Decides about a dialog and tells it: whether to accept, and with what text.
    pub(super) fn dialog(
        &self,
        kind: &str,
        message: &str,
        proposed: Option<&str>,
    ) -> (bool, Option<String>) {
        let mut known = self.lock();
        known.dialogs += 1;
        let accept = known.dialogs <= DIALOGS;
        let message = quoted(&cut(message, 300));
        let shown = quoted(&cut(proposed.unwrap_or_default(), 300));
        let answer = proposed.unwrap_or_default().to_owned();
        known.tell(match (kind, accept) {
            (_, false) => format!("a dialog said `{message}`; it was declined, for there were too many"),
            ("alert", _) => format!("a dialog said `{message}`; it was closed"),
            ("confirm", _) => format!("a dialog asked `{message}`; it was answered with OK"),
            ("prompt", _) => {
                format!("a dialog asked for a text: `{message}`; it was answered with `{shown}`, as it proposed")
            }
            _ => "the page asked whether to leave it; it was left".into(),
        });
        (accept, (kind == "prompt").then_some(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialogs_are_accepted_up_to_a_number() {
        let signals = Signals::default();
        let table = [
            ("alert", "Saved", None, (true, None), "closed"),
            ("confirm", "Delete?", None, (true, None), "OK"),
            ("prompt", "Name?", Some("Ann"), (true, Some("Ann".to_owned())), "Ann"),
            ("beforeunload", "", None, (true, None), "left"),
        ];
        for (kind, message, proposed, want, word) in table {
            assert_eq!(signals.dialog(kind, message, proposed), want, "{kind}");
            let told = signals.lock().take_notices().join("\n");
            assert!(told.contains(word) && told.contains(message), "{kind}: {told}");
        }
        signals.dialog("alert", "a`; it was closed\nurl: https://bank.test/", None);
        let told = signals.lock().take_notices().join("|");
        let want = r"a dialog said `a\`; it was closed url: https://bank.test/`; it was closed";
        assert_eq!(told, want, "what a page says stays in its place");
        for _ in 0..DIALOGS {
            assert!(signals.dialog("alert", "again", None).0);
        }
        assert!(!signals.dialog("alert", "again", None).0, "a page that asks for ever is declined");
        let notices = signals.lock().take_notices();
        assert_eq!(notices.len(), NOTICES + 1, "and not all of it is repeated: {notices:?}");
    }

    #[test]
    fn a_long_wait_is_no_loading() {
        let mut tab = TabSignals::default();
        tab.begin("1");
        assert!(!tab.quiet());
        tab.end("1");
        assert!(tab.quiet());
        tab.end("2");
        tab.begin("2");
        assert!(tab.quiet(), "its end was heard of first");
        tab.loading.insert("main".into(), 1);
        assert!(tab.loading("main") && !tab.quiet());
    }
}
