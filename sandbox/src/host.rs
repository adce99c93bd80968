//! What all attempts of a process share.

use std::sync::Arc;

use crate::browser::Browsers;
use crate::code::Runtime;
use crate::engines::Engines;
use crate::scratch::Scratch;
use crate::worker::Workers;

/// The shared parts behind every sandbox of this process.
#[derive(Debug)]
pub struct Host {
    /// The browser that contexts are opened in. Comes first: it has to be gone before the
    /// directory that it writes to is removed.
    pub browsers: Browsers,
    /// Where workspaces live.
    pub scratch: Scratch,
    /// Parsers of foreign bytes.
    pub workers: Workers,
    /// The code runtime, where it was set up.
    pub code: Option<Arc<Runtime>>,
    /// What reads media here without a model.
    pub engines: Engines,
}

impl Host {
    /// Puts the shared parts together.
    #[must_use]
    pub fn new(
        browsers: Browsers,
        scratch: Scratch,
        workers: Workers,
        code: Option<Arc<Runtime>>,
    ) -> Self {
        Self { browsers, scratch, workers, code, engines: Engines::default() }
    }

    /// Says what reads media here; without it nothing does.
    #[must_use]
    pub fn with_engines(mut self, engines: Engines) -> Self {
        self.engines = engines;
        self
    }
}
