//! The browser of a process, and the places in it.
//!
//! One browser runs, launched when it is first needed. It has a number of places;
//! whoever wants one when all are taken waits in line. A browser that has had many
//! contexts is not given new ones: it lives on until its last context is closed, and a
//! new one takes its place. One that died is replaced too, unless three died in a row
//! and none of them was of any use.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use camino::Utf8PathBuf;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::BrowserError;
use super::launch::Running;

/// Deaths in a row, without an action done between them, after which no other is tried.
const DEATHS: u32 = 3;

/// How the browsers of a process are made.
#[derive(Debug, Clone)]
pub struct BrowserSettings {
    /// The program, a Chromium; where there is none, why, and what to do.
    pub program: Result<PathBuf, String>,
    /// The program whose mode `keeper` is [`keep`](super::keep): this one itself.
    pub keeper: PathBuf,
    /// Directory below which profiles and downloads live; they are removed with them.
    pub scratch: Utf8PathBuf,
    /// Attempts that may have a context at the same time; at least 1.
    pub contexts: usize,
    /// Contexts after which a browser is given no more, against what it leaks.
    pub renewal: u32,
    /// Variables that name the display to show the browser on, such as `DISPLAY`; without
    /// any it has no window.
    pub display: Vec<(String, String)>,
}

impl BrowserSettings {
    /// Returns settings with 8 contexts at a time and a new browser after 200.
    #[must_use]
    pub fn new(program: Result<PathBuf, String>, keeper: PathBuf, scratch: Utf8PathBuf) -> Self {
        let display = Vec::new();
        Self { program, keeper, scratch, contexts: 8, renewal: 200, display }
    }
}

/// The browser that the attempts of a process share. A clone is the same one.
///
/// It belongs to the runtime in which it is first used. When the last clone is dropped,
/// the browser ends; that takes some hundredths of a second.
#[derive(Debug, Clone)]
pub struct Browsers(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: BrowserSettings,
    places: Arc<Semaphore>,
    /// Held while one is launched, so that only one is.
    current: tokio::sync::Mutex<Option<Arc<Running>>>,
    deaths: std::sync::Mutex<Deaths>,
}

/// The deaths since a browser was last of use.
#[derive(Debug, Default)]
struct Deaths {
    count: u32,
    last: String,
}

impl Browsers {
    /// Prepares a browser; it is launched when it is first needed.
    #[must_use]
    pub fn new(settings: BrowserSettings) -> Self {
        let places = Arc::new(Semaphore::new(settings.contexts.max(1)));
        Self(Arc::new(Shared {
            settings,
            places,
            current: tokio::sync::Mutex::default(),
            deaths: std::sync::Mutex::default(),
        }))
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &BrowserSettings {
        &self.0.settings
    }

    /// Waits for a place, first come first served.
    pub(super) async fn place(&self) -> Result<OwnedSemaphorePermit, BrowserError> {
        let places = Arc::clone(&self.0.places);
        places.acquire_owned().await.map_err(|_| BrowserError::Lost("the pool is closed".into()))
    }

    /// Returns a browser that lives, as far as can be seen; launches one if there is none.
    pub(super) async fn running(&self) -> Result<Arc<Running>, BrowserError> {
        let settings = &self.0.settings;
        let program =
            settings.program.as_ref().map_err(|why| BrowserError::Missing(why.clone()))?;
        let mut current = self.0.current.lock().await;
        if let Some(running) = current.as_ref() {
            if running.ended().is_none() && running.opened() < settings.renewal {
                return Ok(Arc::clone(running));
            }
            release(current.take());
        }
        loop {
            self.allowed()?;
            match Running::start(program, settings).await {
                Ok(running) => {
                    *current = Some(Arc::clone(&running));
                    return Ok(running);
                }
                Err(why) => self.died(&why),
            }
        }
    }

    /// Notes that a browser did what was asked of it.
    pub(super) fn was_of_use(&self) {
        self.deaths().count = 0;
    }

    /// Notes the end of a browser, once however many tell of it.
    pub(super) async fn ended(&self, running: &Arc<Running>, why: &str) {
        let mut current = self.0.current.lock().await;
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, running)) {
            release(current.take());
            self.died(why);
        }
    }

    fn died(&self, why: &str) {
        let mut deaths = self.deaths();
        deaths.count += 1;
        why.clone_into(&mut deaths.last);
    }

    /// Whether another browser may be launched.
    fn allowed(&self) -> Result<(), BrowserError> {
        let deaths = self.deaths();
        if deaths.count < DEATHS {
            return Ok(());
        }
        Err(BrowserError::Lost(format!(
            "{DEATHS} in a row were of no use; the last: {}",
            deaths.last
        )))
    }

    fn deaths(&self) -> std::sync::MutexGuard<'_, Deaths> {
        self.0.deaths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets go of a browser where its end may take its time.
pub(super) fn release(running: Option<Arc<Running>>) {
    if let Some(running) = running {
        tokio::task::spawn_blocking(move || drop(running));
    }
}
