//! Everything that lives and dies with an attempt.

use std::sync::{Arc, Mutex};

use crate::browser::Browser;
use crate::clock::Clock;
use crate::host::Host;
use crate::seed::Seed;
use crate::web::Web;
use crate::workspace::Workspace;
use crate::world::Live;

/// The surroundings of one attempt. Dropping it removes the workspace.
#[derive(Debug)]
pub struct Sandbox {
    /// What it shares with others.
    pub host: Arc<Host>,
    /// Its directory.
    pub workspace: Arc<Workspace>,
    /// Its network, where the task grants one.
    pub web: Option<Web>,
    /// Its browser, where it has a network; nothing runs until it is used.
    pub browser: Option<Browser>,
    /// Its copy of the task's world, where that has one.
    pub world: Option<Mutex<Live>>,
    /// Its clock.
    pub clock: Clock,
    /// Where its chances come from: the trial's seed.
    pub seed: Seed,
}
