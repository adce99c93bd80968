//! Why a request is refused: the one form of every error.
//!
//! Every refusal is JSON, `{"error": {"code", "message"}}`, with a status that says who has
//! to act: 4xx the client, 503 the client later, 500 us.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// HTTP status.
    pub status: u16,
    /// What it is about, for programs: `no-session`, `busy`, `overloaded`, …
    pub code: &'static str,
    /// What is wrong and what helps, for people.
    pub message: String,
    /// Seconds after which to come again, where that helps.
    pub retry_after: Option<u64>,
}

/// A refusal as it travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// What it is about, for programs.
    pub code: String,
    /// What is wrong and what helps, for people.
    pub message: String,
    /// Seconds after which to come again, where that helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// The body of a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// The refusal.
    pub error: Refusal,
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status: status.as_u16(), code, message: message.into(), retry_after: None }
    }

    fn after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The body is not what it should be: no JSON, or cut short.
    pub(super) fn malformed(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", why)
    }

    /// The body is JSON and says something that cannot be.
    pub(super) fn invalid(why: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", why)
    }

    /// Nobody says who asks, or says it wrong.
    pub(super) fn unauthorized() -> Self {
        let message = "send the server's token as `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    /// The agent asks for what is the trainer's.
    pub(super) fn forbidden() -> Self {
        let message = "this takes the trainer's token; the agent's may observe and step";
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// There is no such route.
    pub(super) fn no_route(method: &str, path: &str) -> Self {
        let message = format!("there is no route `{method} {path}`; they are in `/openapi.json`");
        Self::new(StatusCode::NOT_FOUND, "no-route", message)
    }

    /// The route is there for other methods.
    pub(super) fn no_method(method: &str, path: &str) -> Self {
        let message =
            format!("`{path}` does not take `{method}`; the methods are in `/openapi.json`");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "no-method", message)
    }

    /// There is and was no such session, as far as anybody remembers.
    pub(super) fn no_session(id: &str) -> Self {
        let message = format!("there is no session {:?}", clip(id));
        Self::new(StatusCode::NOT_FOUND, "no-session", message)
    }

    /// There was such a session.
    pub(super) fn gone(id: &str, why: &str) -> Self {
        let message = format!("session `{id}` {why}; open another one");
        Self::new(StatusCode::GONE, "gone", message)
    }

    /// The suite has no such task, or it is not served.
    pub(super) fn no_task(id: &str) -> Self {
        let message =
            format!("no task {:?} is served; `GET /v1/tasks` lists those that are", clip(id));
        Self::new(StatusCode::NOT_FOUND, "no-task", message)
    }

    /// The session has no episode.
    pub(super) fn no_episode() -> Self {
        let message = "no episode was begun in this session; `reset` begins one";
        Self::new(StatusCode::CONFLICT, "no-episode", message)
    }

    /// Something else is being done in the session.
    pub(super) fn busy() -> Self {
        let message = "something else is being done in this session; one thing at a time";
        Self::new(StatusCode::CONFLICT, "busy", message)
    }

    /// The episode is over.
    pub(super) fn over(outcome: &str) -> Self {
        let message =
            format!("the episode is over (`{outcome}`); `evaluate` it, or `reset` to the next");
        Self::new(StatusCode::CONFLICT, "over", message)
    }

    /// It is not the turn of this step.
    pub(super) fn wrong_step(asked: u32, next: u32) -> Self {
        let message = format!("this is step {asked}, and the next is step {next}");
        Self::new(StatusCode::CONFLICT, "wrong-step", message)
    }

    /// There is a verdict already.
    pub(super) fn evaluated() -> Self {
        let message = "this episode was evaluated; once is all there is. `GET` the session with \
                       the trainer's token to see the evaluation again";
        Self::new(StatusCode::CONFLICT, "evaluated", message)
    }

    /// The task cannot be tried on this machine.
    pub(super) fn lacking(why: &str) -> Self {
        Self::new(StatusCode::CONFLICT, "lacking", why)
    }

    /// The body is too large.
    pub(super) fn too_large(limit: usize) -> Self {
        let message = format!("a body may have {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message)
    }

    /// The body did not arrive in time.
    pub(super) fn too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "too-slow", "the body took too long to arrive")
    }

    /// There are as many sessions as there may be.
    pub(super) fn too_many(limit: usize) -> Self {
        let message = format!("{limit} sessions may be open; close some, or raise `--sessions`");
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many-sessions", message).after(1)
    }

    /// More is waiting than may wait.
    pub(super) fn overloaded(limit: usize) -> Self {
        let message = format!("{limit} requests are waiting for their turn already");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message).after(1)
    }

    /// It is done, but not yet.
    pub(super) fn unfinished(step: u32) -> Self {
        let message = format!(
            "step {step} is still being done; ask for the same step again (`\"step\": {step}`), \
             or observe the session"
        );
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unfinished", message).after(1)
    }

    /// The server is about to end.
    pub(super) fn stopping() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server is stopping")
    }

    /// Something of ours broke.
    pub(super) fn broken(why: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "broken", why)
    }

    /// Returns it as it travels.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        let (code, message) = (self.code.to_owned(), self.message.clone());
        Refusal { code, message, retry_after: self.retry_after }
    }

    /// Returns the response.
    pub(super) fn response(&self) -> Response<Body> {
        let body = serde_json::to_vec(&Refused { error: self.refusal() }).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED.as_u16() {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Returns as much of what somebody sent as is sent back to them.
fn clip(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
