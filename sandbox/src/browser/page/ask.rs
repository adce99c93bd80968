//! Commands to the browser.
//!
//! Commands go out by name with their parameters as JSON, and answers come back so:
//! the types generated for them lag behind the browser, and one unknown word in an
//! answer would lose the whole of it.

use std::time::Duration;

use chromiumoxide::error::CdpError;
use chromiumoxide::types::{Command, Method, MethodId};
use chromiumoxide::{Browser, Page};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::super::BrowserError;

/// How long a command may take that no script of a page can hold up.
pub(super) const SOON: Duration = Duration::from_secs(15);

/// A command of the browser's protocol.
#[derive(Debug, Clone)]
struct Ask {
    method: &'static str,
    params: Value,
}

impl Serialize for Ask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.params.serialize(serializer)
    }
}

impl Method for Ask {
    fn identifier(&self) -> MethodId {
        self.method.into()
    }
}

impl Command for Ask {
    type Response = Value;
}

/// Why a command had no answer to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// It cannot be done; the text is for the agent.
    Refused(String),
    /// No answer came in time: a script of the page holds it up.
    Busy,
    /// The document that was asked is gone.
    Gone,
    /// The tab is gone, or the browser.
    Closed,
    /// The browser refused, in its own words.
    Said(String),
}

impl Fault {
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

impl From<CdpError> for Fault {
    fn from(error: CdpError) -> Self {
        if let CdpError::Chrome(said) = &error {
            let gone = [
                "Cannot find context",
                "context was destroyed",
                "Cannot find execution context",
                "navigated or closed",
                "uniqueContextId not found",
                "No frame for given id",
                "No frame with given id",
                "Frame with the given",
                "Could not find object",
                "Cannot find object",
            ];
            let closed = ["Session with given id", "No target with given id", "Target closed"];
            if gone.iter().any(|words| said.message.contains(words)) {
                return Self::Gone;
            }
            if closed.iter().any(|words| said.message.contains(words)) {
                return Self::Closed;
            }
            return Self::Said(said.message.clone());
        }
        if let CdpError::Serde(error) = error {
            return Self::Said(error.to_string());
        }
        if matches!(error, CdpError::Timeout) { Self::Busy } else { Self::Closed }
    }
}

impl From<Fault> for BrowserError {
    /// The tab's end is told as the browser's only by who looked that it is.
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(text) => Self::Refused(text),
            Fault::Busy => Self::Refused(
                "a script of the page did not end and was stopped; look at the page again, or open another with `visit_page`".into(),
            ),
            Fault::Gone => Self::Refused("the page changed meanwhile; look at it again".into()),
            Fault::Closed => Self::Refused("the tab was closed meanwhile; look again".into()),
            Fault::Said(text) => Self::Refused(format!("the browser refused: {text}")),
        }
    }
}

/// Sends a command to a tab.
pub(super) async fn page(
    page: &Page,
    method: &'static str,
    params: Value,
    limit: Duration,
) -> Result<Value, Fault> {
    match tokio::time::timeout(limit, page.execute(Ask { method, params })).await {
        Err(_) => Err(Fault::Busy),
        Ok(answer) => Ok(answer?.result),
    }
}

/// Sends a command to the browser itself.
pub(super) async fn browser(
    browser: &Browser,
    method: &'static str,
    params: Value,
) -> Result<Value, Fault> {
    match tokio::time::timeout(SOON, browser.execute(Ask { method, params })).await {
        Err(_) => Err(Fault::Closed),
        Ok(answer) => Ok(answer?.result),
    }
}
