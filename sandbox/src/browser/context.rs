//! The browser as one attempt holds it.

use std::sync::Arc;

use super::{Action, BrowserError, Browsers, Observation, Video, Visit};
use crate::web::Web;
use crate::workspace::Workspace;

/// An attempt's own browser. A clone is the same one.
///
/// Nothing is opened until it is used; from then on it holds a place in the pool until
/// it is closed or the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Browser(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    browsers: Browsers,
    web: Web,
    workspace: Arc<Workspace>,
    logical: bool,
}

impl Browser {
    /// Prepares the browser of an attempt: its pages come from `web`, what is uploaded
    /// and downloaded from and to `workspace`; with `logical` its pages see the logical
    /// time of the call, else the real one.
    #[must_use]
    pub fn new(browsers: Browsers, web: Web, workspace: Arc<Workspace>, logical: bool) -> Self {
        Self(Arc::new(Inner { browsers, web, workspace, logical }))
    }

    /// Waits for a place in the pool, first come first served, and opens the context.
    /// What waits here is not the agent's working time.
    pub async fn ready(&self) -> Result<(), BrowserError> {
        Err(BrowserError::Missing(format!("{:?}", self.0)))
    }

    /// Does an action and tells what the page looks like then.
    pub async fn act(
        &self,
        action: &Action,
        visit: Visit<'_>,
    ) -> Result<Observation, BrowserError> {
        self.ready().await?;
        Err(BrowserError::Missing(format!("{action:?} {visit:?}")))
    }

    /// Tells what the page looks like.
    pub async fn observe(&self, visit: Visit<'_>) -> Result<Observation, BrowserError> {
        self.ready().await?;
        Err(BrowserError::Missing(format!("{visit:?}")))
    }

    /// Returns the window as PNG, the elements in it marked with their ids.
    pub async fn picture(&self, visit: Visit<'_>) -> Result<Vec<u8>, BrowserError> {
        self.ready().await?;
        Err(BrowserError::Missing(format!("{visit:?}")))
    }

    /// Returns at most `frames` pictures, evenly spread, out of the page's video.
    pub async fn video(&self, visit: Visit<'_>, frames: usize) -> Result<Video, BrowserError> {
        self.ready().await?;
        Err(BrowserError::Missing(format!("{visit:?} {frames}")))
    }

    /// Closes all pages, forgets cookies and storage, and gives the place back. A later
    /// action starts anew.
    pub async fn close(&self) {}
}
