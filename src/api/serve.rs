//! The server: routes over a socket, until it is told to stop.
//!
//! Every answer is JSON, refusals and unknown routes included. What a handler cannot finish
//! before the connection is gone goes on without it.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use serde_json::json;
use tokio::net::TcpListener;

use super::routes::{self, Api, written_as};
use super::{Desk, Problem, Tokens, agentgym, openapi};

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
    // A reply is written at once; to wait for more of it would only take time.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let server = axum::serve(listener, router(served)).into_future();
    tokio::select! {
        // It ends only with us.
        _ = server => {}
        () = stop => {}
    }
    sweeper.abort();
    desk.finish().await;
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
