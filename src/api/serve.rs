//! The server: routes over a socket, until it is told to stop.
//!
//! Every answer is JSON, refusals and unknown routes included. What a handler cannot finish
//! before the connection is gone goes on without it. A connection on which no whole request
//! head comes in time is closed, and there are never more than a number of them: where there
//! are, the oldest over which no token came makes room. So a client that is slow, or opens them
//! without end, keeps out nobody who has a token.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::http::{HeaderValue, Request, Response, header};
use axum::middleware::{self, Next};
use axum::routing::get;
use futures::StreamExt;
use futures::stream::poll_fn;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::routes::{self, Api, written_as};
use super::strangers::{Known, Strangers};
use super::{Desk, Problem, Tokens, agentgym, openapi};

/// How long a connection may take for the head of a request, the wait for the next one
/// included.
const HEAD: Duration = Duration::from_mins(10);

/// Connections that are open at once.
const CONNECTIONS: usize = 8_192;

/// How long a stopping server goes on answering after everything is closed: what the last
/// requests came to is on its way.
const LAST: Duration = Duration::from_millis(200);

/// How long, and how many bytes, a connection is still read after its last answer.
const LINGER: Duration = Duration::from_secs(10);
const REST: u64 = 256 << 20;

/// What is served.
pub struct Served {
    /// The sessions.
    pub desk: Arc<Desk>,
    /// Who may ask.
    pub tokens: Tokens,
    /// Whether the routes of `AgentGym`'s environments are served too.
    pub agentgym: bool,
}

/// Serves until `stop` completes; then takes in nothing more, closes all sessions and
/// returns.
pub async fn serve(
    served: Served,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let desk = Arc::clone(&served.desk);
    let sweeper = tokio::spawn(Arc::clone(&desk).sweep());
    let router = router(served);
    let mut taking = pin!(take_in(&listener, &router));
    tokio::select! {
        // It ends only with us.
        () = &mut taking => {}
        () = stop => {}
    }
    sweeper.abort();
    let finishing = async {
        desk.finish().await;
        tokio::time::sleep(LAST).await;
    };
    // Who waits for a step hears what came of it, and who asks for more that there is none.
    tokio::select! {
        () = taking => {}
        () = finishing => {}
    }
}

/// Takes in connections, for ever; those that are open end when this is dropped.
async fn take_in(listener: &TcpListener, router: &Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let (mut connections, mut strangers) = (JoinSet::new(), Strangers::new(2 * CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, say: others will be closed soon.
            strangers.make_room();
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if places.available_permits() == 0 {
            strangers.make_room();
        }
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        let (router, known) = (router.clone(), Known::default());
        let marked = known.clone();
        let connection = connections.spawn(async move {
            answer(stream, router, marked).await;
            drop(place);
        });
        strangers.add(known, connection);
    }
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, router: Router, known: Known) {
    // A reply is written at once; to wait for more of it would only take time.
    drop(stream.set_nodelay(true));
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let inner = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(known.clone());
        inner.call(request)
    });
    // A connection that breaks has nobody left to tell.
    let served = protocol.serve_connection(TokioIo::new(stream), service).without_shutdown().await;
    if let Ok(parts) = served {
        linger(parts.io.into_inner()).await;
    }
}

/// Takes in what a client still sends after its last answer: one that is refused before all
/// of its body was read would otherwise see a broken connection and no refusal.
async fn linger(mut stream: TcpStream) {
    let rest = async {
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(REST), &mut tokio::io::sink()).await
    };
    drop(tokio::time::timeout(LINGER, rest).await);
}

/// Returns everything that is served.
pub(super) fn router(served: Served) -> Router {
    let Served { desk, tokens, agentgym } = served;
    let document = openapi::document().to_string().into();
    let api = Api::new(desk, tokens, document);
    let mut router: Router<Api> = Router::new();
    for route in routes::all() {
        router = router.route(route.path, route.serve);
    }
    router = router.route("/openapi.json", get(document_of));
    router = if agentgym { agentgym::add(router) } else { router.route("/", get(about)) };
    let router = router.fallback(unknown).method_not_allowed_fallback(refused).with_state(api);
    router.layer(middleware::from_fn(close_unread))
}

/// Closes the connection of a request whose body was not read to its end: what is left of it
/// stands before the next request, and a client must not send one there.
async fn close_unread(request: Request<Body>, next: Next) -> Response<Body> {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let is_read = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&is_read);
    let watched = request.map(|body| {
        let mut rest = body.into_data_stream();
        Body::from_stream(poll_fn(move |context| {
            let polled = rest.poll_next_unpin(context);
            if matches!(polled, Poll::Ready(None)) {
                noted.store(true, Ordering::Relaxed);
            }
            polled
        }))
    });
    let mut response = next.run(watched).await;
    if !is_read.load(Ordering::Relaxed) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn document_of(State(api): State<Api>) -> Response<Body> {
    written_as(api.document.as_bytes().to_vec(), "application/json")
}

async fn about() -> Response<Body> {
    let version = env!("CARGO_PKG_VERSION");
    let about = json!({ "name": "wildgym", "version": version, "document": "/openapi.json" });
    written_as(about.to_string().into_bytes(), "application/json")
}

async fn unknown(request: Request<Body>) -> Response<Body> {
    Problem::no_route(request.method().as_str(), request.uri().path()).response()
}

async fn refused(request: Request<Body>) -> Response<Body> {
    Problem::no_method(request.method().as_str(), request.uri().path()).response()
}
