//! Everything that lives and dies with an attempt.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;

use crate::clock::Clock;
use crate::host::Host;
use crate::seed::Seed;
use crate::web::Web;
use crate::workspace::{Quota, Workspace};

/// The surroundings of one attempt.
#[derive(Debug)]
pub struct Sandbox {
    /// What it shares with others.
    pub host: Arc<Host>,
    /// Its directory.
    pub workspace: Workspace,
    /// Its network, where the task grants one.
    pub web: Option<Web>,
    /// Its clock.
    pub clock: Clock,
    /// Where its chances come from: the trial's seed.
    pub seed: Seed,
}

impl Sandbox {
    /// Creates the surroundings of an attempt: an empty workspace and a clock at `now`.
    ///
    /// It costs one directory; what is expensive, the host shares. Dropping it removes
    /// the workspace.
    pub fn new(
        host: Arc<Host>,
        quota: Quota,
        web: Option<Web>,
        now: Timestamp,
        seed: Seed,
    ) -> io::Result<Self> {
        let workspace = Workspace::create(&host.scratch, quota)?;
        Ok(Self { host, workspace, web, clock: Clock::starting_at(now), seed })
    }
}
