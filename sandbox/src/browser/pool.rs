//! The browser of a process, and the places in it.

use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8PathBuf;

/// How the browsers of a process are made.
#[derive(Debug, Clone)]
pub struct BrowserSettings {
    /// The program, a Chromium; none where the machine has none.
    pub program: Option<PathBuf>,
    /// The program that keeps it, called with `keeper`: this one itself.
    pub keeper: PathBuf,
    /// Directory below which profiles and downloads live; removed with them.
    pub scratch: Utf8PathBuf,
    /// Attempts that may have a context at the same time; at least 1.
    pub contexts: usize,
    /// Contexts after which a browser is replaced by a new one once it is idle.
    pub renewal: u32,
}

impl BrowserSettings {
    /// Returns settings with 8 contexts at a time and a new browser after 200.
    #[must_use]
    pub fn new(program: Option<PathBuf>, keeper: PathBuf, scratch: Utf8PathBuf) -> Self {
        Self { program, keeper, scratch, contexts: 8, renewal: 200 }
    }
}

/// The browser that the attempts of a process share. A clone is the same one.
#[derive(Debug, Clone)]
pub struct Browsers(Arc<BrowserSettings>);

impl Browsers {
    /// Prepares a browser; it is launched when it is first needed.
    #[must_use]
    pub fn new(settings: BrowserSettings) -> Self {
        Self(Arc::new(settings))
    }
}
