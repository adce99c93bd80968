//! The browser as an attempt sees it.
//!
//! One Chromium serves a whole process; an attempt gets a context of its own in it,
//! with its own cookies, storage, cache and connections, and its own proxy that asks
//! the attempt's [`Web`](crate::web::Web). Nothing that a page does reaches anything
//! else. What is asked of a page is a parsed [`Action`], never code; what comes back
//! is an [`Observation`].

mod action;
mod authority;
mod context;
mod flags;
mod keeper;
mod launch;
mod link;
mod noise;
mod observation;
mod page;
mod pool;
mod proxy;
mod relay;
mod tree;
mod video;

use crate::web::AccessLog;
use jiff::Timestamp;

pub use action::{Action, ActionError};
pub use context::Browser;
pub(crate) use keeper::{end_all, limit, see_off};
pub use keeper::{keep, keep_guest};
pub use observation::{Element, Observation, Scroll};
pub use page::{NOWHERE, Session, SessionOptions};
pub use pool::{BrowserSettings, Browsers};
pub(crate) use tree::below;
pub use video::{Frame, Video};

/// Why an action had no effect. The messages are read by the agent, except where the
/// browser is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrowserError {
    /// The action cannot be done; the text says why and what to try.
    #[error("{0}")]
    Refused(String),
    /// There is no browser on this machine; the text names what to install.
    #[error("{0}")]
    Missing(String),
    /// The browser died with a page of this attempt open.
    #[error("the browser stopped: {0}")]
    Lost(String),
}

/// What an action needs to know of the call that asked for it.
#[derive(Debug, Clone, Copy)]
pub struct Visit<'a> {
    /// The logical time at which it starts.
    pub now: Timestamp,
    /// What pages send over the network meanwhile is noted here.
    pub log: &'a AccessLog,
}
