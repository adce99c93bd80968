//! What all attempts of a process share.

use std::sync::Arc;

use crate::browser::Browsers;
use crate::code::Runtime;
use crate::programs::Programs;
use crate::scratch::Scratch;
use crate::servers::Servers;
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
    /// Foreign programs that read foreign bytes.
    pub programs: Programs,
    /// What starts foreign servers of tools.
    pub servers: Servers,
    /// The code runtime, where it was set up.
    pub code: Option<Arc<Runtime>>,
}

impl Host {
    /// Puts the shared parts together, without foreign programs and servers.
    #[must_use]
    pub fn new(
        browsers: Browsers,
        scratch: Scratch,
        workers: Workers,
        code: Option<Arc<Runtime>>,
    ) -> Self {
        let (programs, servers) = (Programs::none(), Servers::none());
        Self { browsers, scratch, workers, programs, servers, code }
    }

    /// Returns the same with these foreign programs, whose directories lie in its scratch.
    #[must_use]
    pub fn with_programs(self, programs: Programs) -> Self {
        Self { programs, ..self }
    }

    /// Returns the same with these foreign servers.
    #[must_use]
    pub fn with_servers(self, servers: Servers) -> Self {
        Self { servers, ..self }
    }
}
