//! Many sandboxes over streamable HTTP, each at a path of its own.
//!
//! `/t/<token>/mcp` is the whole of it: whoever knows a token reaches that sandbox and no
//! other, and nothing lists the tokens. Requests must name a host that is allowed, so that a
//! page in a browser cannot be made to speak to this machine under another name, and a
//! browser must come from an origin on this machine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use futures::StreamExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;

use super::handler::{Handler, Served};
use super::lines::refusal;

/// How long the session of a client that says nothing is kept. It holds no sandbox, and a
/// client whose session is gone begins another one at the same path.
const SILENCE: Duration = Duration::from_hours(24);

/// The largest request, in bytes.
const LARGEST: usize = 16 << 20;

/// How much of a larger one is read before it is refused, in bytes.
const BEARABLE: usize = 64 << 20;

/// Origins of pages that may speak to a sandbox: those of this machine.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// By which names the server may be spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// `localhost` and the addresses of this machine's loopback.
    Loopback,
    /// These names beside them.
    Named(Vec<String>),
    /// Any name: whoever opened the server to other machines did not say which it has.
    Any,
}

/// What is served at which path.
#[derive(Clone)]
pub struct Paths {
    by_token: Arc<BTreeMap<String, StreamableHttpService<Handler, LocalSessionManager>>>,
}

impl Paths {
    /// Serves each of these at the path of its token.
    #[must_use]
    pub fn new(paths: Vec<(String, Arc<dyn Served>)>, guard: &Guard) -> Self {
        let service = |served: Arc<dyn Served>| {
            let mut sessions = LocalSessionManager::default();
            sessions.session_config.keep_alive = Some(SILENCE);
            let handler = Handler(served);
            let factory = move || Ok(handler.clone());
            StreamableHttpService::new(factory, Arc::new(sessions), settings(guard))
        };
        let paths = paths.into_iter().map(|(token, served)| (token, service(served)));
        Self { by_token: Arc::new(paths.collect()) }
    }

    /// Ends all sessions: streams that clients hold open would keep a server from ending.
    pub fn close(&self) {
        for service in self.by_token.values() {
            service.config.cancellation_token.cancel();
        }
    }
}

fn settings(guard: &Guard) -> StreamableHttpServerConfig {
    let settings = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(LARGEST)
        .with_allowed_origins(ORIGINS)
        .enforce_origin_validation();
    match guard {
        Guard::Loopback => settings,
        Guard::Named(names) => {
            let hosts = settings.allowed_hosts.iter().chain(names).cloned().collect::<Vec<_>>();
            settings.with_allowed_hosts(hosts)
        }
        Guard::Any => settings.disable_allowed_hosts(),
    }
}

/// Returns the routes: `/t/{token}/mcp`.
pub fn router(paths: Paths) -> Router {
    Router::new().route("/t/{token}/mcp", any(pass)).with_state(paths)
}

async fn pass(State(paths): State<Paths>, Path(token): Path<String>, request: Request) -> Response {
    let Some(service) = paths.by_token.get(&token) else {
        return (StatusCode::NOT_FOUND, "there is no sandbox at this path\n").into_response();
    };
    let (parts, body) = request.into_parts();
    let json = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let json = json.is_some_and(|kind| kind.starts_with("application/json"));
    let body = match whole(body).await {
        Ok(Some(body)) => body,
        Ok(None) => {
            let problem = format!("a message may have {} MiB\n", LARGEST >> 20);
            return (StatusCode::PAYLOAD_TOO_LARGE, problem).into_response();
        }
        // The client is gone, or never meant it.
        Err(error) => return (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
    };
    let request = Request::from_parts(parts, Body::from(body.clone()));
    let response = service.handle(request).await.map(Body::new);
    if json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return unread(&body);
    }
    response
}

/// Reads a body; none where it is too long. Of one that is, the rest is read too, as far as it is
/// bearable: a client that is still sending would see a broken connection and no refusal.
async fn whole(body: Body) -> Result<Option<Bytes>, axum::Error> {
    let (mut kept, mut length) = (Vec::new(), 0);
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await.transpose()?.filter(|_| length <= BEARABLE) {
        length += piece.len();
        if length <= LARGEST {
            kept.extend_from_slice(&piece);
        }
    }
    Ok((length <= LARGEST).then(|| kept.into()))
}

/// Answers a body that says to be JSON and is no message, which the SDK calls an unsupported
/// media type.
fn unread(body: &[u8]) -> Response {
    let (id, error) = refusal(body);
    let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    (StatusCode::BAD_REQUEST, Json(answer)).into_response()
}

/// Returns a token that cannot be guessed: 128 bits of the system's chance, in letters and
/// digits.
#[must_use]
pub fn token() -> String {
    let bytes: [u8; 16] = rand::random();
    data_encoding::BASE32_NOPAD.encode(&bytes).to_lowercase()
}
