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

mod headers;
mod response;
mod upstream;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures::stream::{self, StreamExt};
use tokio::sync::Notify;

use self::headers::{drop_of_connection, has_chunks, is_of_this_machine, text};
use self::response::{answered, joined, plain, settled, with_mark};
pub use self::upstream::{Upstream, UpstreamError};
use super::LARGEST;
use super::desk::{Course, Desk, Pending, Ruling};
use super::message::{Call, Message, Part, read};
use crate::fault::Fault;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// The header by which a stream is taken up again.
const LAST_EVENT: &str = "last-event-id";

/// Events that are remembered as places at which streams may be taken up again.
const REMEMBERED: usize = 10_000;

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
