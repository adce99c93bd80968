//! What a session is opened with.

use std::time::Duration;

use camino::Utf8PathBuf;
use jiff::Timestamp;

/// What a [`Session`](super::Session) is opened with.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// A directory of this session's alone, which exists: downloads land in it before
    /// they come into the workspace, and files to be sent are copied into it.
    pub downloads: Utf8PathBuf,
    /// The logical time at the start, where pages are to see that and not the machine's.
    /// Each action then brings its own.
    pub clock: Option<Timestamp>,
    /// Width and height of the window, in CSS pixels.
    pub window: (u32, u32),
    /// How long a page may take to answer and to load before it is taken as it is.
    pub load: Duration,
    /// How long a script of a page may keep everything waiting before it is stopped.
    pub patience: Duration,
    /// The most bytes of one download.
    pub download_limit: u64,
}

impl SessionOptions {
    /// The usual: a window of 1280 by 800, 20 s for a page, 8 s for a script, 256 MiB
    /// for a download; the machine's time.
    #[must_use]
    pub fn new(downloads: Utf8PathBuf) -> Self {
        Self {
            downloads,
            clock: None,
            window: (1280, 800),
            load: Duration::from_secs(20),
            patience: Duration::from_secs(8),
            download_limit: 256 << 20,
        }
    }
}
