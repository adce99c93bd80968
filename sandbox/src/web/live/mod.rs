//! The open internet, through one door.
//!
//! One exchange is one request and its reply, redirects not followed, so that each hop
//! passes the door and its checks again. What is refused, whatever it is called: addresses
//! in any spelling (the door), names of single networks, names that resolve to anything but
//! addresses of the open internet ([`addresses`]); the client connects to the addresses that
//! were checked and to no others ([`resolve`]). Where a proxy of the system is used it
//! resolves the names, and this part of the promise is the proxy's.
//!
//! Hosts of the map are the exception, for tests: their requests go in plain HTTP to the
//! address that the map gives, and the key of the search engine with them.
//!
//! The key is put on requests to the search engine here and nowhere else, so that no tool
//! has it and no recording keeps it.

mod addresses;
mod failure;
mod headers;
mod resolve;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Once};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::header::{CONTENT_ENCODING, HOST, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Response, redirect, retry};
use url::Url;
use wildgym_tasks::environment::HostMap;

use super::block::BlockList;
use super::reply::Reply;
use super::{Endpoints, Exchange, MAX_BODY, Request, WebError};
use resolve::{Guard, Names, Refusal, System};

pub use settings::{LiveSettings, Proxies, SearchKey};

/// Environment variable with the key of the search engine.
pub const SEARCH_KEY: &str = "SERPER_API_KEY";

/// The search engine.
const SEARCH: &str = "https://google.serper.dev/";

/// Languages of which the encyclopedia is offered: the largest ones, by articles or readers.
const LANGUAGES: [&str; 26] = [
    "ar", "bn", "ca", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fr", "he", "hi", "id", "it",
    "ja", "ko", "nl", "pl", "pt", "ru", "sv", "uk", "vi", "zh",
];

/// How long one exchange may take, from the name to the last byte.
const LIMIT: Duration = Duration::from_secs(30);

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// Why the open web cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The client does not start.
    #[error("the web client cannot start: {0}")]
    Client(String),
    /// The address of a proxy is none. It is not repeated, for it may hold a password.
    #[error("the address of the system's proxy cannot be read; expected `http://HOST:PORT`")]
    Proxy,
    /// The key cannot be sent.
    #[error("`{SEARCH_KEY}` holds what no header can hold")]
    Key,
}

/// The open internet; one for a run, shared by its attempts.
pub struct Live {
    /// Reaches hosts by their names.
    client: Client,
    /// Reaches the addresses of the map.
    mapped: Client,
    map: HostMap,
    /// Hosts of proxies, which are none of the open web.
    proxies: BTreeSet<String>,
    key: Option<HeaderValue>,
    endpoints: Endpoints,
    bounds: Bounds,
}

/// The bounds of an exchange; tests have tighter ones.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    time: Duration,
    body: u64,
    refusal: Refusal,
    /// Says which names are refused unasked.
    name_refusal: fn(&str) -> Option<&'static str>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("map", &self.map).finish_non_exhaustive()
    }
}

impl Live {
    /// Opens the open web. Nothing is sent until something is asked.
    pub fn new(settings: LiveSettings) -> Result<Self, LiveError> {
        let bounds = Bounds {
            time: LIMIT,
            body: MAX_BODY,
            refusal: addresses::refusal,
            name_refusal: addresses::name_refusal,
        };
        Self::bounded(settings, Arc::new(System), bounds)
    }

    fn bounded(
        settings: LiveSettings,
        names: Arc<dyn Names>,
        bounds: Bounds,
    ) -> Result<Self, LiveError> {
        let LiveSettings { map, search_key, proxies } = settings;
        let hosts = proxies.hosts();
        let guard = Guard { names, refusal: bounds.refusal, proxies: hosts.clone() };
        let mut client = builder().dns_resolver(guard);
        for proxy in proxies.for_client()? {
            client = client.proxy(proxy);
        }
        let build = |builder: ClientBuilder| {
            builder.build().map_err(|error| LiveError::Client(error.to_string()))
        };
        let mut key = None;
        if let Some(SearchKey(written)) = search_key {
            let mut value = HeaderValue::try_from(written).map_err(|_| LiveError::Key)?;
            value.set_sensitive(true);
            key = Some(value);
        }
        Ok(Self {
            client: build(client)?,
            mapped: build(builder())?,
            map,
            proxies: hosts,
            key,
            endpoints: Self::services()?,
            bounds,
        })
    }

    /// Returns where the services of the open web live. A replay of it has the same.
    pub fn services() -> Result<Endpoints, LiveError> {
        let url =
            |text: &str| Url::parse(text).map_err(|error| LiveError::Client(error.to_string()));
        let encyclopedia = LANGUAGES.iter().map(|language| {
            Ok((
                (*language).to_owned(),
                url(&format!("https://{language}.wikipedia.org/w/api.php"))?,
            ))
        });
        let encyclopedia = encyclopedia.collect::<Result<BTreeMap<_, _>, LiveError>>()?;
        Ok(Endpoints { search: url(SEARCH)?, encyclopedia })
    }

    /// Returns whether searches will be answered: there is a key, or the map says who answers.
    #[must_use]
    pub fn can_search(&self) -> bool {
        let host = self.endpoints.search.host_str().unwrap_or_default();
        self.key.is_some() || self.map.get(host).is_some()
    }

    /// Makes one exchange within the time limit.
    async fn exchange(&self, request: &Request) -> Result<Reply, WebError> {
        let host = request.url.host_str().unwrap_or_default();
        let seconds = self.bounds.time.as_secs();
        let late = |_| WebError::TimedOut { host: host.to_owned(), seconds };
        tokio::time::timeout(self.bounds.time, self.sent(request, host)).await.map_err(late)?
    }

    async fn sent(&self, request: &Request, host: &str) -> Result<Reply, WebError> {
        let mut headers = headers::outgoing(request);
        self.put_key(request, host, &mut headers)?;
        let (client, url) = if let Some(to) = self.map.get(host) {
            as_mapped(&request.url, &mut headers);
            (&self.mapped, redirected(to, &request.url))
        } else {
            self.refuse_name(host)?;
            (&self.client, request.url.clone())
        };
        let sent = client
            .request(request.method.clone(), url)
            .headers(headers)
            .body(request.body.clone())
            .send();
        let failed =
            |error: reqwest::Error| failure::explain(host, &error, self.bounds.time.as_secs());
        let mut response = sent.await.map_err(failed)?;
        let status = response.status().as_u16();
        if request.method == http::Method::HEAD {
            let headers = headers::incoming(response.headers(), None);
            return Ok(reply(status, headers, Bytes::new()));
        }
        let body = self.body(&mut response).await.map_err(|error| match error {
            Unread::Failed(error) => failed(error),
            Unread::TooLarge => WebError::TooLarge(self.bounds.body),
        })?;
        if let Some(coding) = coding(&response).filter(|_| !body.is_empty()) {
            let reason = format!("the reply is compressed as `{coding}`, which was not asked for");
            return Err(WebError::Connection { host: host.to_owned(), reason });
        }
        let headers = headers::incoming(response.headers(), Some(body.len()));
        Ok(reply(status, headers, body))
    }

    /// Puts the key of the search engine on requests to it, in place of any other.
    fn put_key(
        &self,
        request: &Request,
        host: &str,
        headers: &mut HeaderMap,
    ) -> Result<(), WebError> {
        const NAME: HeaderName = HeaderName::from_static("x-api-key");
        if !self.endpoints.is_search(&request.url) {
            return Ok(());
        }
        // Over an open connection the key is for the map's address alone.
        let safe = request.url.scheme() == "https" || self.map.get(host).is_some();
        match &self.key {
            Some(key) if safe => drop(headers.insert(NAME, key.clone())),
            Some(_) => {}
            None if self.can_search() => {}
            None => {
                let variable = SEARCH_KEY.to_owned();
                return Err(WebError::NoKey { host: host.to_owned(), variable });
            }
        }
        Ok(())
    }

    /// Refuses names that lead nowhere on the open web, whatever they resolve to.
    fn refuse_name(&self, host: &str) -> Result<(), WebError> {
        let proxy = self.proxies.contains(host).then_some("it is this machine's proxy");
        match proxy.or_else(|| (self.bounds.name_refusal)(host)) {
            Some(reason) => {
                Err(WebError::Private { host: host.to_owned(), reason: reason.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Reads a body as it comes and gives up where it is larger than allowed, decoded.
    async fn body(&self, response: &mut Response) -> Result<Bytes, Unread> {
        if response.content_length().is_some_and(|length| length > self.bounds.body) {
            return Err(Unread::TooLarge);
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(Unread::Failed)? {
            if (body.len() + chunk.len()) as u64 > self.bounds.body {
                return Err(Unread::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }
}

/// Why a body was not read.
enum Unread {
    Failed(reqwest::Error),
    TooLarge,
}

impl Exchange for Live {
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        _: Timestamp,
        _: &'a BlockList,
    ) -> BoxFuture<'a, Result<Reply, WebError>> {
        Box::pin(self.exchange(request))
    }

    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}

/// Returns what both clients have in common.
fn builder() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    // An error means that the process has a provider already, which serves as well.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .connect_timeout(CONNECT)
}

/// Returns where a request goes that the map sends elsewhere.
fn redirected(to: &Url, asked: &Url) -> Url {
    let mut url = to.clone();
    url.set_path(asked.path());
    url.set_query(asked.query());
    url
}

/// Says which host a request was for, and in which scheme.
fn as_mapped(asked: &Url, headers: &mut HeaderMap) {
    const SCHEME: HeaderName = HeaderName::from_static("x-forwarded-proto");
    let host = asked.host_str().unwrap_or_default();
    let host = asked.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    for (name, value) in [(HOST, host.as_str()), (SCHEME, asked.scheme())] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

/// Returns how a body is still encoded after the client decoded what it knows.
fn coding(response: &Response) -> Option<String> {
    let coding = response.headers().get(CONTENT_ENCODING)?;
    let coding = String::from_utf8_lossy(coding.as_bytes()).trim().to_ascii_lowercase();
    (!coding.is_empty() && coding != "identity").then_some(coding)
}

fn reply(status: u16, headers: Vec<(String, String)>, body: Bytes) -> Reply {
    let mut reply = Reply::new(status, "", body);
    reply.headers = headers;
    reply
}
