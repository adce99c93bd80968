//! Before the address of a server that speaks streamable HTTP.
//!
//! Requests go to the same path of the server's origin and come back as they are: status,
//! headers but those of a single connection, bodies as streams. Only the bodies of `POST` are
//! read on the way, and of replies only those in which a fault has something to do.
//!
//! A reply comes in the response to the request that asked for it, so two clients with the same
//! ids do not get in each other's way. Where a client takes up a broken stream again, it names the
//! last event that it saw; by that the reply is known that is still to come, and one that comes
//! twice is changed twice in the same way.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures::stream::{self, Stream, StreamExt};
use tokio::sync::Notify;
use url::Url;

use super::desk::{Course, Desk, Pending, Ruling, Settled};
use super::message::{Call, Message, Part, read};
use super::sse::{self, Events, Piece};
use super::{HEADER, LARGEST};
use crate::fault::Fault;

/// Headers that belong to one connection (RFC 9110, section 7.6.1), and those that a proxy of
/// another kind would answer.
const OF_CONNECTION: [&str; 9] = [
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

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// The header by which a stream is taken up again.
const LAST_EVENT: &str = "last-event-id";

/// Events that are remembered as places at which streams may be taken up again.
const REMEMBERED: usize = 10_000;

/// How long a connection to the server is kept without a request: less than servers do, so that
/// none is used that the server is about to close.
const IDLE: Duration = Duration::from_secs(2);

/// A server that is reached by an address.
#[derive(Debug)]
pub struct Upstream {
    client: reqwest::Client,
    url: Url,
}

/// Why a server cannot be reached by an address.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// It is no such address.
    #[error("`{url}` is no address of a server: {why}")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The client cannot be made.
    #[error("the HTTP client fails: {0}")]
    Client(#[from] reqwest::Error),
}

impl Upstream {
    /// Gets ready to speak with a server; `url` is that of its endpoint. Proxies of the
    /// environment are used, but not for this machine.
    pub fn new(url: &str) -> Result<Self, UpstreamError> {
        static PROVIDER: Once = Once::new();
        // An error means that the process has a provider already, which serves as well.
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let bad = |why: String| UpstreamError::Address { url: url.to_owned(), why };
        let parsed = Url::parse(url).map_err(|error| bad(error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
            return Err(bad("expected `http://…` or `https://…`".to_owned()));
        }
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_gzip()
            .no_deflate()
            .http1_only()
            .pool_idle_timeout(IDLE)
            .connect_timeout(Duration::from_secs(10));
        let host = parsed.host_str().unwrap_or_default();
        if host == "localhost" || host == "[::1]" || host.starts_with("127.") {
            builder = builder.no_proxy();
        }
        Ok(Self { client: builder.build()?, url: parsed })
    }

    /// Returns the path of the server's endpoint, which the proxy has too.
    #[must_use]
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// Returns its name for profiles: the host.
    #[must_use]
    pub fn name(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns where a request goes.
    fn target(&self, uri: &Uri) -> Url {
        let mut target = self.url.clone();
        if uri.path() == target.path() && uri.query() == target.query() {
            return target;
        }
        target.set_path(uri.path());
        target.set_query(uri.query());
        target
    }
}

/// What requests share.
struct Proxy {
    desk: Arc<Desk>,
    upstream: Upstream,
    taken_up: Mutex<TakenUp>,
    /// Calls that nobody answers, by session and key, so that a client can take them back.
    lost: Mutex<HashMap<(String, String), Arc<Notify>>>,
}

/// Replies that are still to come, by the session and the last event of the stream on which
/// they were to come.
#[derive(Default)]
struct TakenUp {
    known: HashMap<(String, String), Arc<Waited>>,
    order: VecDeque<(String, String)>,
}

/// The calls of one request whose replies something is done to, by the keys of their ids.
type Waited = BTreeMap<String, Arc<Pending>>;

/// Returns the routes: every path.
pub fn router(desk: Arc<Desk>, upstream: Upstream) -> Router {
    let (taken_up, lost) = (Mutex::default(), Mutex::default());
    let proxy = Arc::new(Proxy { desk, upstream, taken_up, lost });
    Router::new().fallback(pass).with_state(proxy)
}

async fn pass(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let asked = Asked { method: parts.method, uri: parts.uri, headers: parts.headers };
    let passed = if asked.method == Method::POST {
        match gathered(body).await {
            Ok((bytes, None)) => post(&proxy, asked, bytes).await,
            // Longer than what is looked into: on it goes.
            Ok((begun, Some(rest))) => {
                let whole = stream::once(async move { Ok(begun) }).chain(rest);
                proxy.send(&asked, reqwest::Body::wrap_stream(whole)).await.map(plain)
            }
            Err(error) => {
                let said = format!("wildgym inject: the request broke off: {error}\n");
                return (StatusCode::BAD_REQUEST, said).into_response();
            }
        }
    } else {
        let body = reqwest::Body::wrap_stream(body.into_data_stream());
        let body = if asked.headers.contains_key(CONTENT_LENGTH) || has_chunks(&asked.headers) {
            body
        } else {
            reqwest::Body::default()
        };
        let waited = proxy.taken_up(&asked.headers);
        let sent = proxy.send(&asked, body).await;
        match waited {
            Some(waited) => match sent {
                Ok(response) => Ok(settled(&proxy, &asked, response, waited, None)),
                Err(error) => Err(error),
            },
            None => sent.map(plain),
        }
    };
    passed.unwrap_or_else(|error| {
        let reached = &proxy.upstream.url;
        let said = format!("wildgym inject: the server at {reached} does not answer: {error}\n");
        (StatusCode::BAD_GATEWAY, said).into_response()
    })
}

/// What was asked, without the body.
struct Asked {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
}

impl Asked {
    fn session(&self) -> String {
        text(&self.headers, SESSION).unwrap_or_default().to_owned()
    }

    /// Returns whether the client takes a reply as JSON; one that does not say what it takes
    /// is answered with what is simplest.
    fn takes_json(&self) -> bool {
        let takes = text(&self.headers, ACCEPT.as_str());
        takes.is_none_or(|takes| takes.contains("application/json") || takes.contains("*/*"))
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn has_chunks(headers: &HeaderMap) -> bool {
    headers.contains_key("transfer-encoding")
}

/// A body that is still being read.
type Rest = axum::body::BodyDataStream;

/// Reads a body, or as much of it as is looked into and what follows.
async fn gathered(body: Body) -> Result<(Bytes, Option<Rest>), axum::Error> {
    let mut stream = body.into_data_stream();
    let mut all = match stream.next().await {
        None => return Ok((Bytes::new(), None)),
        Some(first) => BytesMut::from(first?),
    };
    while let Some(more) = stream.next().await {
        all.extend_from_slice(&more?);
        if all.len() > LARGEST {
            return Ok((all.freeze(), Some(stream)));
        }
    }
    Ok((all.freeze(), None))
}

/// Decides about the calls in a request, and passes it.
async fn post(proxy: &Arc<Proxy>, asked: Asked, bytes: Bytes) -> Result<Response, reqwest::Error> {
    match read(&bytes) {
        Message::Other => {}
        Message::Cancels(key) => {
            let lost = lock(&proxy.lost).remove(&(asked.session(), key));
            if let Some(lost) = lost {
                lost.notify_one();
            }
        }
        Message::Call(call) => return one(proxy, asked, &call, bytes.clone()).await,
        Message::Batch(parts) => return several(proxy, asked, &parts, bytes.clone()).await,
    }
    proxy.send(&asked, bytes.into()).await.map(plain)
}

async fn one(
    proxy: &Arc<Proxy>,
    asked: Asked,
    call: &Call<'_>,
    bytes: Bytes,
) -> Result<Response, reqwest::Error> {
    let Ruling { fault, course } = proxy.desk.rule(call);
    let mark = proxy.mark(fault.as_ref());
    match course {
        Course::Pass => proxy.send(&asked, bytes.into()).await.map(plain),
        Course::Watch(pending) => {
            let waited = Arc::new([(call.key.clone(), Arc::new(pending))].into());
            let response = proxy.send_plainly(&asked, bytes.into()).await?;
            Ok(settled(proxy, &asked, response, waited, mark))
        }
        Course::Answer(reply) => Ok(answered(&asked, reply, mark)),
        Course::Lose => Ok(proxy.never(&asked, call, mark)),
    }
}

/// The same for a batch: what is answered here is added to what the server answers.
async fn several(
    proxy: &Arc<Proxy>,
    asked: Asked,
    parts: &[Part<'_>],
    bytes: Bytes,
) -> Result<Response, reqwest::Error> {
    let (mut going, mut own, mut waited) = (Vec::new(), Vec::new(), Waited::new());
    let mut lost = None;
    for part in parts {
        let Part::Call(call, raw) = part else {
            going.push(part.raw());
            continue;
        };
        match proxy.desk.rule(call).course {
            Course::Pass => going.push(raw),
            Course::Watch(pending) => {
                waited.insert(call.key.clone(), Arc::new(pending));
                going.push(raw);
            }
            Course::Answer(reply) => own.push(reply),
            Course::Lose => lost = Some(call),
        }
    }
    if let (true, true, Some(call)) = (going.is_empty(), own.is_empty(), lost) {
        return Ok(proxy.never(&asked, call, None));
    }
    if going.is_empty() {
        return Ok(answered(&asked, format!("[{}]", own.join(",")), None));
    }
    let whole = going.len() == parts.len();
    let body = if whole { bytes } else { format!("[{}]", going.join(",")).into() };
    let response = proxy.send_plainly(&asked, body.into()).await?;
    let response = settled(proxy, &asked, response, Arc::new(waited), None);
    Ok(if own.is_empty() { response } else { joined(response, &own).await })
}

/// Adds replies to a response.
async fn joined(response: Response, own: &[String]) -> Response {
    let (mut parts, body) = response.into_parts();
    let kind = text(&parts.headers, CONTENT_TYPE.as_str()).unwrap_or_default().to_owned();
    if kind.starts_with("text/event-stream") {
        let events = format!("data: {}\n\n", own.join("\n\ndata: "));
        let first = stream::once(async move { Ok::<_, axum::Error>(Bytes::from(events)) });
        parts.headers.remove(CONTENT_LENGTH);
        return Response::from_parts(
            parts,
            Body::from_stream(first.chain(body.into_data_stream())),
        );
    }
    let said = axum::body::to_bytes(body, LARGEST).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said = said.trim().trim_start_matches('[').trim_end_matches(']');
    let all: Vec<&str> =
        own.iter().map(String::as_str).chain(Some(said).filter(|said| !said.is_empty())).collect();
    let body = format!("[{}]", all.join(","));
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

/// Answers in the server's place.
fn answered(asked: &Asked, reply: String, mark: Option<HeaderValue>) -> Response {
    let (kind, body) = if asked.takes_json() {
        ("application/json", reply)
    } else {
        ("text/event-stream", format!("event: message\ndata: {reply}\n\n"))
    };
    with_mark(([(CONTENT_TYPE, kind)], body).into_response(), mark)
}

fn with_mark(mut response: Response, mark: Option<HeaderValue>) -> Response {
    if let Some(mark) = mark {
        response.headers_mut().insert(HeaderName::from_static(HEADER), mark);
    }
    response
}

impl Proxy {
    /// Returns the header that tells of a fault, as `operator/persistence`.
    fn mark(&self, fault: Option<&Fault>) -> Option<HeaderValue> {
        let fault = fault.filter(|_| self.desk.marks())?;
        let said = format!("{}/{}", fault.operator, fault.persistence);
        HeaderValue::from_str(&said).ok()
    }

    /// Begins an answer that never comes: a stream without events, which ends when the client
    /// leaves or takes its call back.
    fn never(
        self: &Arc<Self>,
        asked: &Asked,
        call: &Call<'_>,
        mark: Option<HeaderValue>,
    ) -> Response {
        let (until, key) = (Arc::new(Notify::new()), (asked.session(), call.key.clone()));
        lock(&self.lost).insert(key.clone(), Arc::clone(&until));
        let lost = Lost { proxy: Arc::clone(self), key, until };
        let silence = stream::once(async move { lost.until.notified().await })
            .filter_map(|()| async { None::<Result<Bytes, axum::Error>> });
        let response = ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(silence));
        with_mark(response.into_response(), mark)
    }

    /// Sends a request on.
    async fn send(
        &self,
        asked: &Asked,
        body: reqwest::Body,
    ) -> Result<reqwest::Response, reqwest::Error> {
        self.send_with(asked, asked.headers.clone(), body).await
    }

    /// Sends a request on whose reply is to be looked into.
    async fn send_plainly(
        &self,
        asked: &Asked,
        body: reqwest::Body,
    ) -> Result<reqwest::Response, reqwest::Error> {
        let mut headers = asked.headers.clone();
        headers.remove(ACCEPT_ENCODING);
        self.send_with(asked, headers, body).await
    }

    async fn send_with(
        &self,
        asked: &Asked,
        mut headers: HeaderMap,
        body: reqwest::Body,
    ) -> Result<reqwest::Response, reqwest::Error> {
        drop_of_connection(&mut headers);
        headers.remove(CONTENT_LENGTH);
        if text(&headers, HOST.as_str()).is_some_and(is_of_this_machine) {
            // The client spoke to the proxy, which stands for the server. Any other name is
            // passed, for the server to refuse as it would.
            headers.remove(HOST);
        }
        // Without one a value of its own would be sent.
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static(""));
        let target = self.upstream.target(&asked.uri);
        let request = self.upstream.client.request(asked.method.clone(), target);
        request.headers(headers).body(body).send().await
    }

    /// Returns the replies that are to come on a stream that is taken up again.
    fn taken_up(&self, headers: &HeaderMap) -> Option<Arc<Waited>> {
        let event = text(headers, LAST_EVENT)?;
        let session = text(headers, SESSION).unwrap_or_default();
        lock(&self.taken_up).known.get(&(session.to_owned(), event.to_owned())).cloned()
    }

    /// Takes note of an event after which these replies are to come.
    fn remember(&self, session: &str, event: &str, waited: &Arc<Waited>) {
        let mut taken_up = lock(&self.taken_up);
        let key = (session.to_owned(), event.to_owned());
        if taken_up.known.insert(key.clone(), Arc::clone(waited)).is_none() {
            taken_up.order.push_back(key);
        }
        if taken_up.order.len() > REMEMBERED
            && let Some(oldest) = taken_up.order.pop_front()
        {
            taken_up.known.remove(&oldest);
        }
    }
}

/// A call that nobody answers, as long as somebody waits.
struct Lost {
    proxy: Arc<Proxy>,
    key: (String, String),
    until: Arc<Notify>,
}

impl Drop for Lost {
    fn drop(&mut self) {
        let mut lost = lock(&self.proxy.lost);
        // Another client may have a call of that key by now.
        if lost.get(&self.key).is_some_and(|until| Arc::ptr_eq(until, &self.until)) {
            lost.remove(&self.key);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes out what belongs to one connection, and what its header `Connection` names.
fn drop_of_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all("connection")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in OF_CONNECTION {
        headers.remove(name);
    }
}

/// Returns whether a host with or without port is a name of this machine, as a client has it
/// that was given the proxy's address.
fn is_of_this_machine(host: &str) -> bool {
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    let name = without_port.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Passes a response as it is.
fn plain(response: reqwest::Response) -> Response {
    let response: axum::http::Response<reqwest::Body> = response.into();
    let (mut parts, body) = response.into_parts();
    drop_of_connection(&mut parts.headers);
    Response::from_parts(parts, Body::new(body))
}

fn of_response(response: &reqwest::Response) -> HeaderMap {
    let mut headers = response.headers().clone();
    drop_of_connection(&mut headers);
    headers
}

/// Passes a response in which replies are to be changed or made late.
fn settled(
    proxy: &Arc<Proxy>,
    asked: &Asked,
    response: reqwest::Response,
    waited: Arc<Waited>,
    mark: Option<HeaderValue>,
) -> Response {
    let kind = text(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
    let is_stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
    let is_json = kind.trim_start().to_ascii_lowercase().starts_with("application/json");
    if waited.is_empty() || !(is_stream || is_json) {
        return with_mark(plain(response), mark);
    }
    let (status, mut headers) = (response.status(), of_response(&response));
    headers.remove(CONTENT_LENGTH);
    let body = if is_stream {
        // A session begins with the response that names it.
        let named = text(&headers, SESSION).map(str::to_owned);
        let session = named.unwrap_or_else(|| asked.session());
        Body::from_stream(events(Arc::clone(proxy), session, waited, response.bytes_stream()))
    } else {
        Body::from_stream(document(Arc::clone(proxy), waited, response))
    };
    with_mark((status, headers, body).into_response(), mark)
}

/// Returns a reply that comes as one document.
fn document(
    proxy: Arc<Proxy>,
    waited: Arc<Waited>,
    response: reqwest::Response,
) -> impl Stream<Item = Result<Bytes, reqwest::Error>> {
    stream::once(async move {
        let bytes = response.bytes().await?;
        Ok(settle(&proxy, &waited, bytes).await)
    })
}

async fn settle(proxy: &Proxy, waited: &Waited, bytes: Bytes) -> Bytes {
    let Ok(message) = std::str::from_utf8(&bytes) else { return bytes };
    let Settled { text, delay } = proxy.desk.settle(message, &mut |key| waited.get(key).cloned());
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    text.map_or(bytes, Bytes::from)
}

/// Returns a reply that comes among other messages in a stream of events.
fn events<S>(
    proxy: Arc<Proxy>,
    session: String,
    waited: Arc<Waited>,
    from: S,
) -> impl Stream<Item = Result<Bytes, reqwest::Error>>
where
    S: Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
{
    let state = (Box::pin(from), Events::new(), VecDeque::new(), false);
    stream::unfold(state, move |(mut from, mut events, mut ready, mut over)| {
        let (proxy, session, waited) = (Arc::clone(&proxy), session.clone(), Arc::clone(&waited));
        async move {
            loop {
                if let Some(piece) = ready.pop_front() {
                    let bytes = match piece {
                        Piece::Bytes(bytes) => Bytes::from(bytes),
                        Piece::Event(bytes) => {
                            event(&proxy, &session, &waited, Bytes::from(bytes)).await
                        }
                    };
                    return Some((Ok(bytes), (from, events, ready, over)));
                }
                if over {
                    return None;
                }
                match from.next().await {
                    Some(Ok(more)) => ready.extend(events.take(&more)),
                    Some(Err(error)) => return Some((Err(error), (from, events, ready, true))),
                    None => {
                        over = true;
                        let rest = events.rest();
                        ready.extend((!rest.is_empty()).then_some(Piece::Bytes(rest)));
                    }
                }
            }
        }
    })
}

/// Does what is to be done with an event.
async fn event(proxy: &Proxy, session: &str, waited: &Arc<Waited>, bytes: Bytes) -> Bytes {
    let Ok(event) = std::str::from_utf8(&bytes) else { return bytes };
    let (data, id) = sse::read(event);
    if let Some(id) = id {
        proxy.remember(session, id, waited);
    }
    let Some(data) = data else { return bytes };
    let Settled { text, delay } = proxy.desk.settle(&data, &mut |key| waited.get(key).cloned());
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    match text {
        Some(text) => sse::with_data(event, &text).into(),
        None => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_stand_for_the_server() {
        for host in ["localhost", "localhost:80", "127.0.0.1:1", "127.9.9.9", "[::1]:8000"] {
            assert!(is_of_this_machine(host), "{host}");
        }
        for host in ["evil.example", "evil.example:80", "localhost.evil.example", "10.0.0.1:80"] {
            assert!(!is_of_this_machine(host), "{host}");
        }
    }

    #[test]
    fn headers_of_one_connection_go_no_further() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, x-hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("mcp-session-id", "7"),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        drop_of_connection(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), [SESSION]);
    }

    #[test]
    fn an_address_is_one_of_http() {
        for (url, why) in [
            ("127.0.0.1:8000/mcp", "no scheme"),
            ("ftp://a.example/", "another scheme"),
            ("http://", "no host"),
        ] {
            assert!(Upstream::new(url).is_err(), "{why}");
        }
        let upstream = Upstream::new("http://127.0.0.1:8000/mcp").unwrap();
        let target = upstream.target(&Uri::from_static("/mcp?a=%20b"));
        assert_eq!(target.as_str(), "http://127.0.0.1:8000/mcp?a=%20b");
    }
}
