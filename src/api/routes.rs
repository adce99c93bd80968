//! The one list of routes: the server and its document are both made of it.
//!
//! A route is its method and path, who may ask, what it is for, and a function from what is
//! asked to what is answered. The types of that function are the types of the document, so
//! the two cannot tell different things.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, State};
use axum::http::{HeaderValue, Request, Response, header};
use axum::routing::{self, MethodFilter, MethodRouter};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use super::agentgym::Envs;
use super::strangers::Known;
use super::token::in_header;
use super::types::{
    Asked, BatchAsked, BatchReply, Closed, Create, Evaluation, Observation, Opened, Reset, Status,
    Step, TaskList, ToolList,
};
use super::{Desk, Problem, Role, Tokens};

/// Largest body of a request, in bytes.
pub(super) const LARGEST: usize = 8 << 20;

/// A body that is larger, in bytes, or does not say its size, waits for its turn.
const LARGE: usize = 64 << 10;

/// So many of them are read at once: of the trainer's, and as many of all others'.
const TURNS: usize = 16;

/// How long a body may take to arrive.
const BODY: Duration = Duration::from_mins(1);

/// What every route has at hand.
#[derive(Clone)]
pub(super) struct Api {
    /// The sessions.
    pub(super) desk: Arc<Desk>,
    /// Who may ask.
    pub(super) tokens: Tokens,
    /// The document.
    pub(super) document: Arc<str>,
    /// The environments of `AgentGym`'s dialect.
    pub(super) envs: Arc<Envs>,
    /// Turns for large bodies: the trainer's, and those of all others.
    pub(super) large: Arc<(Semaphore, Semaphore)>,
}

impl Api {
    /// Serves a desk to those who have tokens.
    pub(super) fn new(desk: Arc<Desk>, tokens: Tokens, document: Arc<str>) -> Self {
        let large = Arc::new((Semaphore::new(TURNS), Semaphore::new(TURNS)));
        Self { desk, tokens, document, envs: Arc::default(), large }
    }

    /// Returns who sends a request, where that is at least `least`. The token is the one that
    /// stands in the path, where one does, else that of the header.
    pub(super) fn admit(
        &self,
        request: &Request<Body>,
        in_path: Option<&str>,
        least: Role,
    ) -> Result<Role, Problem> {
        let token = in_path.or_else(|| in_header(request.headers()));
        let role = self.tokens.admit(token, least)?;
        if role != Role::Anybody {
            Known::note(request);
        }
        Ok(role)
    }
}

/// A request whose forms are read.
struct Given<Q> {
    desk: Arc<Desk>,
    /// Who asks.
    role: Role,
    /// What stands in the path in braces; empty where nothing does.
    id: String,
    body: Q,
}

/// The methods that routes take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Delete,
}

impl Method {
    /// Returns the name in the document.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Delete => "delete",
        }
    }
}

/// Makes the schema of what is asked, where anything can be, and of what is answered.
type Schemas = fn(&mut SchemaGenerator) -> (Option<Schema>, Schema);

/// A route.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// Name of the operation in the document, for those who make clients of it.
    pub(super) name: &'static str,
    /// One line.
    pub(super) summary: &'static str,
    pub(super) role: Role,
    pub(super) schemas: Schemas,
    pub(super) serve: MethodRouter<Api>,
}

/// Returns all routes.
pub(super) fn all() -> Vec<Route> {
    use Method::{Delete, Get, Post};
    use Role::{Agent, Trainer};
    vec![
        route((Get, "/v1/status"), ("status", "How the server is doing"), Trainer, status),
        route((Get, "/v1/tasks"), ("tasks", "Tasks that are served"), Trainer, tasks),
        route((Get, "/v1/tasks/{id}/tools"), ("tools", "Tools of a task"), Agent, tools),
        route((Post, "/v1/sessions"), ("create", "Open sessions"), Trainer, create),
        route((Get, "/v1/sessions/{id}"), ("observe", "See how a session stands"), Agent, observe),
        route((Post, "/v1/sessions/{id}/reset"), ("reset", "Begin an episode"), Trainer, reset),
        route((Post, "/v1/sessions/{id}/step"), ("step", "Make a step: one round"), Agent, step),
        route(
            (Post, "/v1/sessions/{id}/evaluate"),
            ("evaluate", "Judge the episode, once; one that goes on ends"),
            Trainer,
            evaluate,
        ),
        route((Delete, "/v1/sessions/{id}"), ("close", "Close a session"), Trainer, close),
        route((Post, "/v1/batch"), ("batch", "Do several things side by side"), Trainer, batch),
    ]
}

async fn status(given: Given<Asked>) -> Result<Status, Problem> {
    Ok(given.desk.status())
}

async fn tasks(given: Given<Asked>) -> Result<TaskList, Problem> {
    given.desk.tasks()
}

async fn tools(given: Given<Asked>) -> Result<ToolList, Problem> {
    given.desk.tools(&given.id)
}

async fn create(given: Given<Create>) -> Result<Opened, Problem> {
    given.desk.create(&given.body)
}

async fn observe(given: Given<Asked>) -> Result<Observation, Problem> {
    given.desk.observe(&given.id, given.role == Role::Trainer)
}

async fn reset(given: Given<Reset>) -> Result<Observation, Problem> {
    given.desk.reset(&given.id, given.body).await
}

async fn step(given: Given<Step>) -> Result<Observation, Problem> {
    given.desk.step(&given.id, given.body).await.map(Arc::unwrap_or_clone)
}

async fn evaluate(given: Given<Asked>) -> Result<Evaluation, Problem> {
    given.desk.evaluate(&given.id).await.map(Arc::unwrap_or_clone)
}

async fn close(given: Given<Asked>) -> Result<Closed, Problem> {
    given.desk.close(&given.id).await
}

async fn batch(given: Given<BatchAsked>) -> Result<BatchReply, Problem> {
    given.desk.batch(given.body).await
}

/// Makes a route of a function.
fn route<Q, A, F>(
    (method, path): (Method, &'static str),
    (name, summary): (&'static str, &'static str),
    role: Role,
    work: fn(Given<Q>) -> F,
) -> Route
where
    Q: DeserializeOwned + JsonSchema + Send + 'static,
    A: Serialize + JsonSchema + Send + 'static,
    F: Future<Output = Result<A, Problem>> + Send + 'static,
{
    let filter = match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Delete => MethodFilter::DELETE,
    };
    let serve = routing::on(
        filter,
        move |State(api): State<Api>, path: InPath, request: Request<Body>| async move {
            let answer = async {
                let given = read::<Q>(&api, role, path, request).await?;
                work(given).await
            };
            respond(answer.await)
        },
    );
    let schemas: Schemas = |generator| {
        let asked = generator.subschema_for::<Q>();
        let is_asked = Q::schema_name() != Asked::schema_name();
        (is_asked.then_some(asked), generator.subschema_for::<A>())
    };
    Route { method, path, name, summary, role, schemas, serve }
}

/// Reads a request: who asks comes first, so that nothing of a stranger's is looked at.
async fn read<Q: DeserializeOwned>(
    api: &Api,
    role: Role,
    path: InPath,
    request: Request<Body>,
) -> Result<Given<Q>, Problem> {
    let role = api.admit(&request, None, role)?;
    let id = in_path(path)?.unwrap_or_default();
    let body = json(api, role, request).await?;
    Ok(Given { desk: Arc::clone(&api.desk), role, id, body })
}

/// What stands in the path in braces.
pub(super) type InPath = Result<RawPathParams, RawPathParamsRejection>;

/// Returns it; none where the route has nothing of the kind.
pub(super) fn in_path(path: InPath) -> Result<Option<String>, Problem> {
    let path = path.map_err(|_| Problem::malformed("the path is not UTF-8"))?;
    Ok(path.iter().next().map(|(_, value)| value.to_owned()))
}

/// Reads the body of somebody who was admitted; one that is empty is an empty object.
pub(super) async fn json<Q: DeserializeOwned>(
    api: &Api,
    role: Role,
    request: Request<Body>,
) -> Result<Q, Problem> {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let reading = async {
        let large = length.is_none_or(|length| length > LARGE);
        let turns = if role == Role::Trainer { &api.large.0 } else { &api.large.1 };
        let _turn = if large { turns.acquire().await.ok() } else { None };
        to_bytes(request.into_body(), LARGEST).await
    };
    let Ok(read) = tokio::time::timeout(BODY, reading).await else {
        return Err(Problem::too_slow());
    };
    let bytes = read.map_err(|error| {
        let source = std::error::Error::source(&error);
        let is_long = source.is_some_and(|why| why.to_string().contains("length limit"));
        if is_long { Problem::too_large(LARGEST) } else { Problem::malformed(error.to_string()) }
    })?;
    let blank = bytes.iter().all(u8::is_ascii_whitespace);
    let text: &[u8] = if blank { b"{}" } else { &bytes };
    serde_json::from_slice(text).map_err(|error| {
        let text = format!("the body: {error}");
        match error.classify() {
            serde_json::error::Category::Data => Problem::invalid(text),
            serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof
            | serde_json::error::Category::Io => Problem::malformed(text),
        }
    })
}

/// Makes a response of an answer.
pub(super) fn respond<A: Serialize>(answer: Result<A, Problem>) -> Response<Body> {
    let written = answer.and_then(|answer| {
        serde_json::to_vec(&answer).map_err(|error| Problem::broken(error.to_string()))
    });
    match written {
        Ok(bytes) => written_as(bytes, "application/json"),
        Err(problem) => problem.response(),
    }
}

/// Makes a response of bytes.
pub(super) fn written_as(bytes: Vec<u8>, media_type: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
