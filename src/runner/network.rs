//! Which network the trials of a run see, opened and shared by all of them.

use std::sync::Arc;

use camino::Utf8Path;
use jiff::Timestamp;
use wildgym_sandbox::web::{Endpoints, Hermetic, HermeticError, Live, Recorder, Tape, Web};
use wildgym_tasks::environment::WebKind;
use wildgym_tasks::{Suite, Task};

/// The network of a run.
#[derive(Debug)]
pub enum Network {
    /// The suite's own sites; none where it has none.
    Hermetic(Option<Arc<Hermetic>>),
    /// The open internet.
    Live {
        /// What reaches it.
        live: Arc<Live>,
        /// What keeps its answers.
        recorder: Option<Arc<Recorder>>,
    },
    /// A recording of the open internet.
    Replay {
        /// The recording.
        tape: Arc<Tape>,
        /// Where the services of the open internet live.
        endpoints: Endpoints,
    },
}

/// What a trial gets of the network: its view, and the time at which its clock starts.
pub(super) struct View {
    pub(super) web: Option<Web>,
    pub(super) now: Timestamp,
}

impl Network {
    /// Opens the sites of a suite; their search index is kept below `cache`.
    pub fn hermetic(suite: &Suite, cache: &Utf8Path) -> Result<Self, HermeticError> {
        let has_sites = !suite.sites.is_empty();
        let opened = has_sites.then(|| Hermetic::open(&suite.sites, cache)).transpose()?;
        Ok(Self::Hermetic(opened.map(Arc::new)))
    }

    /// Returns whether a task finds here the network that it needs, or needs none.
    #[must_use]
    pub fn suits(&self, task: &Task) -> bool {
        !matches!((task.meta.environment.web, self), (Some(WebKind::Live), Self::Hermetic(_)))
    }

    /// Returns whether time here is that of the attempt's clock, for pages too; on the open
    /// web it is everybody's.
    #[must_use]
    pub fn is_timeless(&self) -> bool {
        !matches!(self, Self::Live { .. })
    }

    /// Returns why the network can no longer be recorded: attempts that went on do not count.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        match self {
            Self::Live { recorder: Some(recorder), .. } => recorder.failure(),
            Self::Live { recorder: None, .. } | Self::Hermetic(_) | Self::Replay { .. } => None,
        }
    }

    /// Opens the network for calls by hand: without a block list, and with every method that
    /// a task could grant. `own` is the time where the network has none of its own.
    #[must_use]
    pub fn by_hand(&self, who: &str, own: Timestamp) -> (Option<Web>, Timestamp) {
        const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
        let View { web, now } = self.open(&[], &METHODS.map(ToOwned::to_owned), who, own);
        (web, now)
    }

    /// Opens the network for an attempt at a trial named `who`.
    ///
    /// A task without a network keeps its own time in every web. One with a network starts
    /// at its own time in the hermetic web, at the present one on the open web, and in a
    /// replay at the one at which the attempt started that it repeats.
    pub(super) fn view(&self, task: &Task, who: &str) -> View {
        let (own, environment) = (task.meta.now, &task.meta.environment);
        match (environment.web, self) {
            (None, _) | (Some(WebKind::Live), Self::Hermetic(_)) => {
                return View { web: None, now: own };
            }
            (Some(_), _) => {}
        }
        self.open(&task.meta.blocked_hosts, &environment.methods, who, own)
    }

    fn open(&self, blocked: &[String], methods: &[String], who: &str, own: Timestamp) -> View {
        match self {
            Self::Hermetic(sites) => {
                let sites = sites.as_ref();
                let web = sites.map(|sites| Web::hermetic(Arc::clone(sites), blocked.to_vec()));
                View { web, now: own }
            }
            Self::Live { live, recorder } => {
                let now = present();
                let web = Web::live(Arc::clone(live), blocked, methods);
                let web = match recorder {
                    Some(recorder) => web.recorded(Arc::clone(recorder), who, now),
                    None => web,
                };
                View { web: Some(web), now }
            }
            Self::Replay { tape, endpoints } => {
                let web = Web::replay(Arc::clone(tape), who, endpoints.clone(), blocked);
                let now = tape.started(who).unwrap_or(own);
                View { web: Some(web.granting(methods)), now }
            }
        }
    }
}

/// Returns the present time in whole milliseconds, so that it is written the same everywhere.
fn present() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
