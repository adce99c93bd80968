//! The one door for the network.
//!
//! Every byte that an attempt sends or receives goes through [`Web::send`], whoever
//! asks: a retrieval tool, a document download, executed code. So the block list,
//! the limits and the access log are each written once. This file holds what a
//! request and a reply are and what is checked of them; behind it answer `hermetic`, a
//! small internet on this machine, and `live`, the open one. [`read_page`] makes readable
//! text of what came back.
//!
//! Limits of one request: a URL of 8 KiB, 10 redirects, 32 MiB of body after decoding, and
//! on the open web 30 s. A reply over a limit is an error, never a shorter reply.

mod access;
mod address;
pub mod audit;
mod block;
mod error;
mod feed;
mod files;
mod handmade;
mod hermetic;
mod live;
mod media;
mod page;
mod pages;
mod prune;
mod range;
mod recording;
mod redirect;
mod replay;
mod reply;
mod routes;
mod search;
mod serper;
pub mod serve;
mod service;
mod video;
mod warc;
mod wiki;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::BoxFuture;
use jiff::Timestamp;
use url::Url;

use access::Pending;
use address::Ports;
use block::BlockList;
use reply::Reply;

pub use access::{Access, AccessLog};
pub use error::WebError;
pub use feed::{Feed, FeedEntry, read_feed};
pub use handmade::Answer;
pub use hermetic::{Hermetic, HermeticError};
pub use live::{Live, LiveError, LiveSettings, Proxies, SEARCH_KEY, SearchKey};
pub use media::{is_text, media_type};
pub use page::{Page, Sign, read_page};
pub use recording::Recorder;
pub use replay::{Tape, TapeEntry, TapeError};
pub use video::Video;

/// How many redirects one request may take.
const MAX_REDIRECTS: u32 = 10;

/// Largest body of a reply, in bytes.
const MAX_BODY: u64 = 32 << 20;

/// How long a host may take, in seconds of its own time: nothing waits for a hermetic one.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Longest URL, in bytes.
const MAX_URL: usize = 8 << 10;

/// Headers that are about a connection, not about what goes over it (RFC 9110, section 7.6.1),
/// and those that a proxy of another kind would answer.
pub const OF_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

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
    /// How long the host takes to answer. Hermetic time is logical: who shows pages to
    /// somebody waits, others need not.
    pub delay: Duration,
}

impl Response {
    /// Returns the first header of that (lower-case) name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Where the services that tools speak to live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Base URL of the search engine (Serper protocol): `/search`, `/news` and
    /// `/scholar` below it.
    pub search: Url,
    /// MediaWiki action API (`…/w/api.php`) by language (`en`, `zh`).
    pub encyclopedia: BTreeMap<String, Url>,
}

impl Endpoints {
    /// Returns whether a URL, made normal, is one of the search engine.
    fn is_search(&self, url: &Url) -> bool {
        let place = |url: &Url| (url.host_str().map(ToOwned::to_owned), url.port());
        place(url) == place(&self.search)
    }
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
    rules: Arc<Rules>,
    /// Requests that a recording did not have.
    misses: Arc<AtomicU64>,
}

/// What the door lets through, whoever answers behind it.
#[derive(Debug, Clone, Default)]
struct Rules {
    /// What the task may not reach.
    blocked: BlockList,
    /// The methods that are granted; all where none is listed.
    methods: Vec<http::Method>,
    /// Which ports may be asked.
    ports: Ports,
    /// Whether the real time of an exchange means anything.
    timed: bool,
}

impl Web {
    /// Returns a view of the hermetic web without what is blocked (see
    /// [`Blocked`](wildgym_tasks::environment::Blocked)); what is no entry blocks nothing.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "the view owns its list")]
    pub fn hermetic(hermetic: Arc<Hermetic>, blocked: Vec<String>) -> Self {
        Self::new(hermetic, Rules { blocked: BlockList::new(&blocked), ..Rules::default() })
    }

    /// Returns a view of the open web without what is blocked, for `GET`, `HEAD` and the
    /// methods that the task says.
    #[must_use]
    pub fn live(live: Arc<Live>, blocked: &[String], methods: &[String]) -> Self {
        Self::new(live, Rules { timed: true, ..Rules::open(blocked) }).granting(methods)
    }

    /// Returns the same web for these methods alone; for `GET` and `HEAD` where there are
    /// none. A search is granted in any case.
    #[must_use]
    pub fn granting(self, methods: &[String]) -> Self {
        let named = methods.iter().filter_map(|name| name.parse().ok());
        let mut methods: Vec<http::Method> = named.collect();
        if methods.is_empty() {
            methods = vec![http::Method::GET, http::Method::HEAD];
        }
        let rules = Arc::new(Rules { methods, ..Rules::clone(&self.rules) });
        Self { rules, ..self }
    }

    fn new(exchange: Arc<dyn Exchange>, rules: Rules) -> Self {
        Self { exchange, rules: Arc::new(rules), misses: Arc::default() }
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
            let reply = self.hop(&mut request, now, log, MAX_DELAY).await?;
            match redirect::next(&request, &reply)? {
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
        let reply = self.hop(&mut request, now, log, Duration::MAX).await?;
        Ok(response(request, reply))
    }

    /// Returns where search engine and encyclopedias live.
    #[must_use]
    pub fn endpoints(&self) -> &Endpoints {
        self.exchange.endpoints()
    }

    /// Returns how many requests of this attempt were not in the recording that is replayed;
    /// none in another web.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Sends one request and logs it; makes its URL normal on the way. A host that takes
    /// longer than `patience` has not answered.
    async fn hop(
        &self,
        request: &mut Request,
        now: Timestamp,
        log: &AccessLog,
        patience: Duration,
    ) -> Result<Reply, WebError> {
        let pending = Pending::new(log, request, now);
        let sent = Instant::now();
        let reply = self.ask(request, now).await;
        let reply = reply
            .and_then(|it| if it.delay > patience { Err(late(request, patience)) } else { Ok(it) });
        if matches!(reply, Err(WebError::NotRecorded(_))) {
            self.misses.fetch_add(1, Ordering::Relaxed);
        }
        let took = u64::try_from(sent.elapsed().as_millis()).unwrap_or(u64::MAX);
        let ended = match &reply {
            Ok(reply) if request.method == http::Method::HEAD => Ok((reply.status, 0)),
            Ok(reply) => Ok((reply.status, reply.body.len() as u64)),
            Err(error) => Err(error),
        };
        pending.ended(request, ended, self.rules.timed.then_some(took));
        reply
    }

    async fn ask(&self, request: &mut Request, now: Timestamp) -> Result<Reply, WebError> {
        let Rules { blocked, ports, .. } = &*self.rules;
        request.url = address::normal(&request.url, *ports)?;
        if request.url.as_str().len() > MAX_URL {
            let url = request.url.as_str().chars().take(80).chain(['…']).collect();
            let reason = format!("it is longer than {MAX_URL} bytes");
            return Err(WebError::BadUrl { url, reason });
        }
        if let Some(entry) = blocked.refuses(&request.url) {
            return Err(WebError::Blocked(entry));
        }
        self.rules.grant(request, self.endpoints())?;
        let mut reply = self.exchange.answer(request, now, blocked).await?;
        if reply.body.len() as u64 > MAX_BODY && request.method != http::Method::HEAD {
            return Err(WebError::TooLarge(MAX_BODY));
        }
        if !blocked.is_empty() && self.endpoints().is_search(&request.url) {
            prune::hits(&mut reply, blocked);
        }
        Ok(reply)
    }
}

impl Rules {
    /// Returns the rules of the open web, live or recorded.
    fn open(blocked: &[String]) -> Self {
        let blocked = BlockList::new(blocked);
        Self { blocked, methods: Vec::new(), ports: Ports::Open, timed: false }
    }

    /// Refuses a method that the task does not grant. Searching is reading, though the
    /// search engine takes it as a `POST`.
    fn grant(&self, request: &Request, endpoints: &Endpoints) -> Result<(), WebError> {
        let searches = request.method == http::Method::POST && endpoints.is_search(&request.url);
        if self.methods.is_empty() || searches || self.methods.contains(&request.method) {
            return Ok(());
        }
        let allowed: Vec<String> = self.methods.iter().map(|it| format!("`{it}`")).collect();
        let method = request.method.to_string();
        Err(WebError::Method { method, allowed: allowed.join(", ") })
    }
}

/// Says that a host is too slow.
fn late(request: &Request, patience: Duration) -> WebError {
    let host = request.url.host_str().unwrap_or_default().to_owned();
    WebError::TimedOut { host, seconds: patience.as_secs() }
}

/// Makes the response out of the last hop.
fn response(request: Request, reply: Reply) -> Response {
    let body = if request.method == http::Method::HEAD { Bytes::new() } else { reply.body };
    let Reply { status, headers, delay, .. } = reply;
    Response { status, url: request.url, headers, body, delay }
}
