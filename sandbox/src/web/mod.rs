//! The one door for the network.
//!
//! Every byte that an attempt sends or receives goes through [`Web::send`], whoever
//! asks: a retrieval tool, a document download, executed code. So the block list,
//! the limits and the access log are each written once. This file holds what a
//! request and a reply are; `hermetic` holds the small internet that answers them.

mod hermetic;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;

pub use hermetic::{Hermetic, HermeticError};

/// A request to some host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `HEAD`, `POST`, …
    pub method: http::Method,
    /// Where to.
    pub url: Url,
    /// Headers, in order; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; empty for most.
    pub body: Bytes,
}

impl Request {
    /// Returns a plain `GET`.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self { method: http::Method::GET, url, headers: Vec::new(), body: Bytes::new() }
    }
}

/// What came back, redirects followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// The URL that answered, after redirects.
    pub url: Url,
    /// Headers, in order; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// Returns the first header of that (lower-case) name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// One line of the access log. Each hop of a redirect is a line of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// `GET`, `POST`, …
    pub method: String,
    /// The URL as sent.
    pub url: String,
    /// HTTP status, where a host answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of the reply's body.
    pub bytes: u64,
    /// Why no host answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The accesses of one call, in the order sent.
#[derive(Debug, Default)]
pub struct AccessLog(Mutex<Vec<Access>>);

impl AccessLog {
    /// Adds a line.
    pub fn push(&self, access: Access) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(access);
    }

    /// Takes the lines out.
    pub fn take(&self) -> Vec<Access> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

/// Why there was no reply. The messages are read by the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// No host has that name.
    #[error("cannot reach `{0}`: the host is unknown")]
    Unreachable(String),
    /// The task's block list names the host.
    #[error("`{0}` is blocked for this task")]
    Blocked(String),
    /// The URL is none, or of another scheme than http and https.
    #[error("`{url}` cannot be fetched: {reason}")]
    BadUrl {
        /// The URL as given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The redirects do not end.
    #[error("more than {0} redirects")]
    TooManyRedirects(u32),
    /// The reply is larger than allowed.
    #[error("the reply has more than {0} bytes")]
    TooLarge(u64),
    /// The task has no network.
    #[error("this task has no network")]
    NoWeb,
}

/// Where the services that tools speak to live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Base URL of the search engine (Serper protocol): `/search` and `/news` below it.
    pub search: Url,
    /// MediaWiki action API (`…/w/api.php`) by language (`en`, `zh`).
    pub encyclopedia: BTreeMap<String, Url>,
}

/// The network as one attempt sees it.
#[derive(Debug, Clone)]
pub struct Web {
    hermetic: Arc<Hermetic>,
    blocked: Vec<String>,
}

impl Web {
    /// Returns a view of the hermetic web without the blocked hosts (and their subdomains).
    #[must_use]
    pub fn hermetic(hermetic: Arc<Hermetic>, blocked: Vec<String>) -> Self {
        Self { hermetic, blocked }
    }

    /// Sends a request at the logical time `now`, follows up to 10 redirects, and logs each hop.
    pub async fn send(
        &self,
        request: Request,
        now: Timestamp,
        log: &AccessLog,
    ) -> Result<Response, WebError> {
        let _ = (request, now, log, &self.hermetic, &self.blocked);
        todo!()
    }

    /// Returns where search engine and encyclopedias live.
    #[must_use]
    pub fn endpoints(&self) -> &Endpoints {
        todo!()
    }
}
