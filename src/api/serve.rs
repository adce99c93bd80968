//! The server: routes over a socket, until it is told to stop.
//!
//! Every answer is JSON, refusals and unknown routes included. What a handler cannot finish
//! before the connection is gone goes on without it. A connection on which no whole request
//! head comes in time is closed, and there are never more than a number of them: a client that
//! is slow, or opens them without end, keeps nobody else out for long.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::routes::{self, Api, written_as};
use super::{Desk, Problem, Tokens, agentgym, openapi};

/// How long a connection may take for the head of a request, the wait for the next one
/// included.
const HEAD: Duration = Duration::from_mins(10);

/// Connections that are open at once; more wait to be taken in.
const CONNECTIONS: usize = 8_192;

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
    tokio::select! {
        // It ends only with us.
        () = take_in(&listener, &router) => {}
        () = stop => {}
    }
    sweeper.abort();
    desk.finish().await;
}

/// Takes in connections, for ever; those that are open end when this is dropped.
async fn take_in(listener: &TcpListener, router: &Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, say: others will be closed soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let router = router.clone();
        connections.spawn(async move {
            answer(stream, router).await;
            drop(place);
        });
    }
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, router: Router) {
    // A reply is written at once; to wait for more of it would only take time.
    drop(stream.set_nodelay(true));
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let service = TowerToHyperService::new(router);
    // A connection that breaks has nobody left to tell.
    let _broken = server.serve_connection(TokioIo::new(stream), service).await;
}

/// Returns everything that is served.
pub(super) fn router(served: Served) -> Router {
    let Served { desk, tokens, agentgym } = served;
    let document = openapi::document().to_string().into();
    let api = Api { desk, tokens, document, envs: Arc::default() };
    let mut router: Router<Api> = Router::new();
    for route in routes::all() {
        router = router.route(route.path, route.serve);
    }
    router = router.route("/openapi.json", get(document_of));
    router = if agentgym { agentgym::add(router) } else { router.route("/", get(about)) };
    router.fallback(unknown).method_not_allowed_fallback(refused).with_state(api)
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
