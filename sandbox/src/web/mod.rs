//! The one door for the network.
//!
//! Every byte that an attempt sends or receives goes through [`Web::send`], whoever
//! asks: a retrieval tool, a document download, executed code. So the block list,
//! the limits and the access log are each written once. This file holds what a
//! request and a reply are and follows redirects; `hermetic` holds the small internet
//! that answers. [`read_page`] makes readable text of what came back.

mod address;
mod hermetic;
mod media;
mod page;
mod pages;
mod recording;
mod replay;
mod reply;
mod search;
mod serper;
mod service;
mod warc;
mod wiki;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;

use address::BlockList;
use reply::Reply;

pub use hermetic::{Hermetic, HermeticError};
pub use media::{is_text, media_type};
pub use page::{Page, read_page};
pub use recording::Recorder;
pub use replay::{Tape, TapeEntry, TapeError};

/// How many redirects one request may take.
const MAX_REDIRECTS: u32 = 10;

/// Largest body of a reply, in bytes.
const MAX_BODY: u64 = 32 << 20;

/// Longest URL, in bytes.
const MAX_URL: usize = 8 << 10;

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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    /// The recording that is replayed does not have the request.
    #[error("`{0}` is not in the recording of the web that is replayed here")]
    NotRecorded(String),
    /// The recording cannot be written or read.
    #[error("{0}")]
    Recording(String),
    /// The call that asked ended first.
    #[error("the call ended before it was answered: `{0}`")]
    Cut(String),
}

/// Where the services that tools speak to live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Base URL of the search engine (Serper protocol): `/search` and `/news` below it.
    pub search: Url,
    /// MediaWiki action API (`…/w/api.php`) by language (`en`, `zh`).
    pub encyclopedia: BTreeMap<String, Url>,
}

/// What answers requests: the hermetic web, the live one, a recording.
trait Exchange: Send + Sync + std::fmt::Debug {
    /// Answers one request, redirects not followed. Its URL is normal; `blocked` is what
    /// the task may not reach, under whatever name.
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        now: Timestamp,
        blocked: &'a BlockList,
    ) -> BoxFuture<'a, Result<Reply, WebError>>;

    /// Returns where the services that tools speak to live.
    fn endpoints(&self) -> &Endpoints;
}

/// The network as one attempt sees it.
#[derive(Debug, Clone)]
pub struct Web {
    exchange: Arc<dyn Exchange>,
    blocked: Arc<BlockList>,
}

impl Web {
    /// Returns a view of the hermetic web without the blocked hosts (and their subdomains).
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "the view owns its list")]
    pub fn hermetic(hermetic: Arc<Hermetic>, blocked: Vec<String>) -> Self {
        Self { exchange: hermetic, blocked: Arc::new(BlockList::new(&blocked)) }
    }

    /// Sends a request at the logical time `now`, follows up to 10 redirects, and logs each hop.
    ///
    /// The block list is asked at each hop. The URL of the reply is the one that
    /// answered, without its fragment.
    pub async fn send(
        &self,
        request: Request,
        now: Timestamp,
        log: &AccessLog,
    ) -> Result<Response, WebError> {
        let mut request = request;
        for _ in 0..=MAX_REDIRECTS {
            let reply = self.hop(&mut request, now, log).await?;
            match next(&request, &reply)? {
                Some(next) => request = next,
                None => return Ok(response(request, reply)),
            }
        }
        Err(WebError::TooManyRedirects(MAX_REDIRECTS))
    }

    /// Sends one request at the logical time `now` and logs it; a redirect is a reply like
    /// any other. For a caller that follows redirects itself, as a browser does.
    pub async fn exchange(
        &self,
        mut request: Request,
        now: Timestamp,
        log: &AccessLog,
    ) -> Result<Response, WebError> {
        let reply = self.hop(&mut request, now, log).await?;
        Ok(response(request, reply))
    }

    /// Returns where search engine and encyclopedias live.
    #[must_use]
    pub fn endpoints(&self) -> &Endpoints {
        self.exchange.endpoints()
    }

    /// Sends one request and logs it; makes its URL normal on the way.
    async fn hop(
        &self,
        request: &mut Request,
        now: Timestamp,
        log: &AccessLog,
    ) -> Result<Reply, WebError> {
        let reply = self.ask(request, now).await;
        log.push(Access {
            method: request.method.to_string(),
            url: request.url.to_string(),
            status: reply.as_ref().ok().map(|reply| reply.status),
            bytes: match &reply {
                Ok(reply) if request.method != http::Method::HEAD => reply.body.len() as u64,
                Ok(_) | Err(_) => 0,
            },
            error: reply.as_ref().err().map(ToString::to_string),
        });
        reply
    }

    async fn ask(&self, request: &mut Request, now: Timestamp) -> Result<Reply, WebError> {
        request.url = address::normal(&request.url)?;
        if request.url.as_str().len() > MAX_URL {
            let url = request.url.as_str().chars().take(80).chain(['…']).collect();
            let reason = format!("it is longer than {MAX_URL} bytes");
            return Err(WebError::BadUrl { url, reason });
        }
        let reply = self.exchange.answer(request, now, &self.blocked).await?;
        if reply.body.len() as u64 > MAX_BODY && request.method != http::Method::HEAD {
            return Err(WebError::TooLarge(MAX_BODY));
        }
        Ok(reply)
    }
}

/// Makes the response out of the last hop.
fn response(request: Request, reply: Reply) -> Response {
    let body = if request.method == http::Method::HEAD { Bytes::new() } else { reply.body };
    Response { status: reply.status, url: request.url, headers: reply.headers, body }
}

/// Returns the request that a redirect asks for, or `None` where the reply is none.
fn next(request: &Request, reply: &Reply) -> Result<Option<Request>, WebError> {
    if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = reply.header("location") else { return Ok(None) };
    let url = request.url.join(location).map_err(|error| WebError::BadUrl {
        url: location.to_owned(),
        reason: format!("`{}` redirects there, and it is no URL: {error}", request.url),
    })?;
    let mut next = Request { url, ..request.clone() };
    if next.url.host_str() != request.url.host_str() {
        // What was meant for one host is not told to another.
        next.headers.retain(|(name, _)| {
            !["authorization", "cookie", "x-api-key"].contains(&name.to_ascii_lowercase().as_str())
        });
    }
    let keeps_method = matches!(reply.status, 307 | 308)
        || matches!(request.method, http::Method::GET | http::Method::HEAD);
    if !keeps_method {
        next.method = http::Method::GET;
        next.body = Bytes::new();
        next.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
    }
    Ok(Some(next))
}
