//! The scripted model: a server of chat completions and transcriptions on a loopback port.
//!
//! The script is a function from the request to the response. It sees which round of
//! its conversation a request is, and needs no state for that: the messages say so.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response as HttpResponse;
use axum::routing::post;
use futures::stream;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::form;
use crate::protocol;
use crate::response::{Body, Response};

/// A request, as it came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which request of the server it is, from 1.
    pub number: usize,
    /// The route below the base URL: `chat/completions`, `audio/transcriptions`.
    pub route: &'static str,
    /// The body; a form as an object, see [`form::read`].
    pub body: Value,
    /// Names in lower case, and values.
    pub headers: HashMap<String, String>,
    /// Text of the first message of the user: which task it is about.
    pub key: String,
    /// Which round of its conversation it is, from 1.
    pub round: usize,
    /// When it came.
    pub at: Instant,
}

impl Request {
    fn read(number: usize, route: &'static str, headers: &HeaderMap, body: Value) -> Self {
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let role = |message: &&Value, role: &str| message["role"] == role;
        let key = messages.iter().find(|message| role(message, "user"));
        let key = key.map(|message| text(&message["content"])).unwrap_or_default();
        let round = 1 + messages.iter().filter(|message| role(message, "assistant")).count();
        let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let headers = headers.iter().map(header).collect();
        Self { number, route, body, headers, key, round, at: Instant::now() }
    }

    /// Returns the messages.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the names of the tools that were offered.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["function"]["name"].as_str())
    }

    /// Returns the contents of the results at the end of the conversation, in order.
    #[must_use]
    pub fn results(&self) -> Vec<&str> {
        let last = self.messages().iter().rev().take_while(|message| message["role"] == "tool");
        let mut results: Vec<_> = last.filter_map(|message| message["content"].as_str()).collect();
        results.reverse();
        results
    }
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// A script that answers requests in the order of their arrival; the last one again
/// and again.
pub fn in_turn(responses: impl Into<Vec<Response>>) -> impl Fn(&Request) -> Response {
    let responses = responses.into();
    move |request| nth(&responses, request.number)
}

/// A script that answers each conversation by its round; the last one again and again.
pub fn rounds(responses: impl Into<Vec<Response>>) -> impl Fn(&Request) -> Response {
    let responses = responses.into();
    move |request| nth(&responses, request.round)
}

fn nth(responses: &[Response], number: usize) -> Response {
    responses[number.min(responses.len()) - 1].clone()
}

type Script = dyn Fn(&Request) -> Response + Send + Sync;

struct Shared {
    script: Box<Script>,
    log: Mutex<Log>,
    held: Mutex<HashMap<String, watch::Sender<usize>>>,
    keep: bool,
}

#[derive(Default)]
struct Log {
    requests: Vec<Request>,
    violations: Vec<String>,
    count: usize,
    in_flight: usize,
    most_in_flight: usize,
}

/// A running scripted model; it ends when dropped.
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ScriptedServer {
    /// Starts on a free port and keeps every request.
    ///
    /// # Panics
    ///
    /// Where the machine has no free port on the loopback interface.
    pub async fn start(script: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self::serve(0, true, script).await.expect("a loopback port is free")
    }

    /// Starts on a port (0: a free one); requests are kept only if `keep`.
    pub async fn serve(
        port: u16,
        keep: bool,
        script: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let (log, held) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { script: Box::new(script), log, held, keep });
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .route("/v1/audio/transcriptions", post(write_down))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // It serves until it is aborted; an error would show as a refused connection.
            drop(axum::serve(listener, router).await);
        });
        Ok(Self { address, shared, task })
    }

    /// Returns the base URL.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the requests so far, in the order of their arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.log).requests.clone()
    }

    /// Returns what a strict endpoint would have refused, with the request's number.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        lock(&self.shared.log).violations.clone()
    }

    /// Returns how many requests are being answered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        lock(&self.shared.log).in_flight
    }

    /// Returns how many requests were being answered at once, at most.
    #[must_use]
    pub fn most_in_flight(&self) -> usize {
        lock(&self.shared.log).most_in_flight
    }

    /// Waits for the server to end, which it does not by itself.
    pub async fn forever(mut self) {
        drop((&mut self.task).await);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a request as in flight, even if the client gives up.
struct InFlight(Arc<Shared>);

impl InFlight {
    /// Takes in a request and returns its number.
    fn enter(shared: &Arc<Shared>) -> (Self, usize) {
        let mut log = lock(&shared.log);
        log.count += 1;
        log.in_flight += 1;
        log.most_in_flight = log.most_in_flight.max(log.in_flight);
        (Self(Arc::clone(shared)), log.count)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        lock(&self.0.log).in_flight -= 1;
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    bytes: Bytes,
) -> HttpResponse {
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let violations = protocol::violations(&body);
    take(&shared, "chat/completions", &headers, body, &violations).await
}

async fn write_down(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    bytes: Bytes,
) -> HttpResponse {
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok());
    let body = form::read(kind.unwrap_or_default(), &bytes);
    let violations = form::violations(&body);
    take(&shared, "audio/transcriptions", &headers, body, &violations).await
}

/// Keeps a request and answers it as the script says.
async fn take(
    shared: &Arc<Shared>,
    route: &'static str,
    headers: &HeaderMap,
    body: Value,
    violations: &[String],
) -> HttpResponse {
    let (guard, number) = InFlight::enter(shared);
    let request = Request::read(number, route, headers, body);
    let response = (shared.script)(&request);
    {
        let mut log = lock(&shared.log);
        log.violations.extend(violations.iter().map(|wrong| format!("request {number}: {wrong}")));
        if shared.keep {
            let at = log.requests.partition_point(|other| other.number < number);
            log.requests.insert(at, request);
        }
    }
    if let Some((class, count)) = &response.hold {
        hold(shared, class, *count).await;
    }
    if !response.delay.is_zero() {
        tokio::time::sleep(response.delay).await;
    }
    let response = respond(response).await;
    drop(guard);
    response
}

async fn hold(shared: &Shared, class: &str, count: usize) {
    let mut waiting = {
        let mut held = lock(&shared.held);
        let sender = held.entry(class.to_owned()).or_default();
        sender.send_modify(|waiting| *waiting += 1);
        sender.subscribe()
    };
    // The sender lives as long as the server, so this ends only when enough wait.
    drop(waiting.wait_for(|waiting| *waiting >= count).await);
}

async fn respond(response: Response) -> HttpResponse {
    let body = match response.body {
        Body::Json(value) => HttpBody::from(value.to_string()),
        Body::Raw(bytes) => HttpBody::from(bytes),
        Body::Cut(bytes) => {
            let broken = Err(std::io::Error::other("scripted break"));
            let start = (!bytes.is_empty()).then_some(Ok(bytes));
            HttpBody::from_stream(stream::iter(start.into_iter().chain([broken])))
        }
        Body::Hang => match std::future::pending::<Infallible>().await {},
    };
    let mut builder = HttpResponse::builder().status(response.status);
    if !response.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        builder = builder.header("content-type", "application/json");
    }
    for (name, value) in &response.headers {
        builder = builder.header(name, value);
    }
    builder.body(body).unwrap_or_else(|error| {
        let mut response = HttpResponse::new(HttpBody::from(format!("bad script: {error}")));
        *response.status_mut() = StatusCode::NOT_IMPLEMENTED;
        response
    })
}
