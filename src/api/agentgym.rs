//! The dialect of `AgentGym`'s environment servers, so that its clients and trainers can be
//! pointed here.
//!
//! The form is the one that its guide recommends (`create`, `step`, `reset`, `observation`,
//! `close` with `id`); requests that say `env_idx` are answered as the environments do that
//! say so: a bare number, a bare text. Numbers count from 0. What is wrong with a request is
//! told in band, `{"error": …}` with 200, as there; only a lack of the token, load, and what
//! is no request at all have statuses of their own. Its clients send no header, so the
//! token may stand in the path: their `env_server_base` is `http://…/agentgym/<token>`.
//!
//! The reward is told in the step that ends the episode, for there it is the only place. So
//! these routes are the trainer's, whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};

use super::routes::{Api, InPath, in_path, json as read_json, written_as};
use super::types::{Create, Observation, Reset};
use super::{Problem, Role};

/// How an action is written, told with every request.
const FORMS: &str = "To call a tool, write `Action: TOOL {\"argument\": …}`. To end, write \
<final_answer>your answer</final_answer>.";

/// The environments, by number.
#[derive(Debug, Default)]
pub(super) struct Envs {
    next: AtomicU64,
    open: Mutex<BTreeMap<u64, Env>>,
}

#[derive(Debug, Clone)]
struct Env {
    session: String,
    seen: String,
    reward: f64,
    done: bool,
}

/// How an environment is named in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// As `id`.
    Id(u64),
    /// As `env_idx`.
    Index(u64),
}

/// How a request is refused.
enum Refusal {
    /// In band.
    Error(String),
    /// With a status of its own.
    Refused(Problem),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        match problem.status {
            404 | 409 | 410 => Self::Error(problem.message),
            _ => Self::Refused(problem),
        }
    }
}

type Answered = Result<Value, Refusal>;

/// Adds the routes: at the root for who sends a header, and below the token.
pub(super) fn add(mut router: Router<Api>) -> Router<Api> {
    for (root, below) in [("", false), ("/agentgym/{token}", true)] {
        let at = |name: &str| format!("{root}{name}");
        router = router.route(if below { "/agentgym/{token}" } else { "/" }, get(hello));
        router = router.route(&at("/create"), post(create));
        router = router.route(&at("/reset"), post(reset));
        router = router.route(&at("/step"), post(step));
        router = router.route(&at("/close"), post(close));
        router = router.route(&at("/observation"), get(observation));
        router = router.route(&at("/detail"), get(detail));
        router = router.route(&at("/list_envs"), get(list));
    }
    router.route("/agentgym/{token}/", get(hello))
}

async fn hello() -> Response<Body> {
    written_as(b"\"This is environment wildgym.\"".to_vec(), "application/json")
}

async fn create(State(api): State<Api>, token: InPath, request: Request<Body>) -> Response<Body> {
    respond(async { api.create(&read(&api, token, request).await?) }.await)
}

async fn reset(State(api): State<Api>, token: InPath, request: Request<Body>) -> Response<Body> {
    respond(async { api.reset_env(&read(&api, token, request).await?).await }.await)
}

async fn step(State(api): State<Api>, token: InPath, request: Request<Body>) -> Response<Body> {
    respond(async { api.step_env(&read(&api, token, request).await?).await }.await)
}

async fn close(State(api): State<Api>, token: InPath, request: Request<Body>) -> Response<Body> {
    respond(async { api.close_env(&read(&api, token, request).await?).await }.await)
}

async fn observation(
    State(api): State<Api>,
    token: InPath,
    request: Request<Body>,
) -> Response<Body> {
    let seen = |(_, env): (Named, Env)| json!(env.seen);
    respond(ask(&api, token, &request).and_then(|asked| api.env(&asked).map(seen)))
}

async fn detail(State(api): State<Api>, token: InPath, request: Request<Body>) -> Response<Body> {
    let told = |(_, env): (Named, Env)| {
        let Env { seen, reward, done, .. } = env;
        json!({ "observation": seen, "reward": reward, "done": done, "deleted": false })
    };
    respond(ask(&api, token, &request).and_then(|asked| api.env(&asked).map(told)))
}

async fn list(State(api): State<Api>, token: InPath, request: Request<Body>) -> Response<Body> {
    let all = || json!(api.envs.lock().keys().collect::<Vec<_>>());
    respond(ask(&api, token, &request).map(|_| all()))
}

impl Envs {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Env>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Api {
    /// Opens an environment, with the episode at its own number in the list of tasks.
    fn create(&self, asked: &Map<String, Value>) -> Answered {
        let bare = asked.get("id").is_some_and(Value::is_u64);
        let (_, tasks) = self.desk.task_at(0);
        let number = self.envs.next.fetch_add(1, Ordering::AcqRel);
        let wanted = asked.get("id").and_then(Value::as_u64).unwrap_or(number);
        let place = wanted % u64::try_from(tasks).unwrap_or(u64::MAX).max(1);
        let episode = Some(self.episode_at(place, asked)?);
        let mut opened = self.desk.create(&Create { count: 1, episode })?;
        let shown =
            opened.sessions.pop().ok_or_else(|| Problem::broken("no session was opened"))?;
        let seen = self.told(&shown)?;
        let env = Env { session: shown.session, seen: seen.clone(), reward: 0.0, done: false };
        self.envs.lock().insert(number, env);
        if bare {
            return Ok(json!(number));
        }
        Ok(json!({ "id": number, "observation": seen, "done": false, "reward": 0 }))
    }

    /// Begins the episode at a place in the list of tasks.
    async fn reset_env(&self, asked: &Map<String, Value>) -> Answered {
        let (named, env) = self.env(asked)?;
        let fields: &[&str] = match named {
            Named::Id(_) => &["data_idx"],
            Named::Index(_) => &["id", "idx", "session_id", "item_id", "data_idx"],
        };
        let numbers = fields.iter().filter_map(|field| asked.get(*field));
        let place = match numbers.into_iter().find(|value| value.is_number()) {
            Some(number) => number
                .as_u64()
                .ok_or_else(|| Refusal::Error(format!("There is no task {number}.")))?,
            None => 0,
        };
        let episode = self.episode_at(place, asked)?;
        let shown = self.desk.reset(&env.session, episode).await?;
        let seen = self.told(&shown)?;
        self.keep(named, &seen, 0.0, false);
        Ok(match named {
            Named::Id(id) => json!({
                "id": id, "observation": seen, "reward": 0, "score": 0, "done": false,
            }),
            Named::Index(_) => json!(seen),
        })
    }

    /// Does what a text says; the last step tells the reward.
    async fn step_env(&self, asked: &Map<String, Value>) -> Answered {
        let (named, env) = self.env(asked)?;
        let Some(action) = asked.get("action").and_then(Value::as_str) else {
            return Err(Problem::invalid("`action` is no text").into());
        };
        let shown = self.desk.step_text(&env.session, action).await?;
        let done = shown.terminated || shown.truncated;
        let reward = if done {
            let judged = self.desk.evaluate(&env.session).await?;
            judged.reward.ok_or_else(|| {
                let why = judged.reasons.first().map(String::as_str).unwrap_or_default();
                Refusal::Error(format!("this episode is worth nothing either way: {why}"))
            })?
        } else {
            0.0
        };
        let seen = results(&shown);
        self.keep(named, &seen, reward, done);
        Ok(json!({ "observation": seen, "reward": reward, "done": done }))
    }

    async fn close_env(&self, asked: &Map<String, Value>) -> Answered {
        let (named, env) = self.env(asked)?;
        self.desk.close(&env.session).await?;
        self.envs.lock().remove(&named.number());
        Ok(json!({ "closed": true }))
    }

    /// Returns the environment that a request names.
    fn env(&self, asked: &Map<String, Value>) -> Result<(Named, Env), Refusal> {
        let number = |field: &str| asked.get(field).and_then(Value::as_u64);
        let named = match (number("env_idx"), number("id")) {
            (Some(index), _) => Named::Index(index),
            (None, Some(id)) => Named::Id(id),
            (None, None) => {
                return Err(Problem::invalid("`id` or `env_idx` names no environment").into());
            }
        };
        let number = named.number();
        if let Some(env) = self.envs.lock().get(&number) {
            return Ok((named, env.clone()));
        }
        Err(Refusal::Error(if number < self.envs.next.load(Ordering::Acquire) {
            format!("The task with environment {number} has been deleted.")
        } else {
            format!("The id {number} is not valid.")
        }))
    }

    fn keep(&self, named: Named, seen: &str, reward: f64, done: bool) {
        if let Some(env) = self.envs.lock().get_mut(&named.number()) {
            seen.clone_into(&mut env.seen);
            env.reward = reward;
            env.done = done;
        }
    }

    fn episode_at(&self, place: u64, asked: &Map<String, Value>) -> Result<Reset, Refusal> {
        let seed = asked.get("seed").and_then(Value::as_u64);
        let seed = seed.map(|seed| u32::try_from(seed).unwrap_or(u32::MAX));
        let at = usize::try_from(place).unwrap_or(usize::MAX);
        match self.desk.task_at(at) {
            (Some(task), _) => Ok(Reset { task: task.to_owned(), idealise: Vec::new(), seed }),
            (None, tasks) => {
                Err(Refusal::Error(format!("There is no task {place}; there are {tasks}, from 0.")))
            }
        }
    }

    /// Writes what is asked, with the tools that there are: its clients know of none.
    fn told(&self, shown: &Observation) -> Result<String, Problem> {
        let request = shown.told.as_ref().map(|told| told.user.trim_end()).unwrap_or_default();
        let task = shown.episode.as_ref().map(|episode| episode.task.as_str()).unwrap_or_default();
        let mut text = format!("{request}\n\nTools:\n");
        for (name, signature, summary) in self.desk.signatures(task)? {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "- {name} {signature}: {summary}");
        }
        text.push('\n');
        text.push_str(FORMS);
        Ok(text)
    }
}

impl Named {
    fn number(self) -> u64 {
        match self {
            Self::Id(number) | Self::Index(number) => number,
        }
    }
}

/// Writes what came of a step.
fn results(shown: &Observation) -> String {
    let mut parts: Vec<String> = match shown.results.as_slice() {
        [one] => vec![one.content.clone()],
        all => all.iter().map(|one| format!("[{}] {}", one.name, one.content)).collect(),
    };
    parts.extend(shown.reminder.clone());
    if let Some(outcome) = &shown.outcome {
        parts.push(format!("The episode is over: {outcome}."));
    }
    parts.join("\n\n")
}

/// Sees that who asks has the token, in the path or in the header.
fn admit(api: &Api, token: InPath, request: &Request<Body>) -> Result<(), Problem> {
    api.admit(request, in_path(token)?.as_deref(), Role::Trainer).map(drop)
}

/// Reads the body of a request.
async fn read(
    api: &Api,
    token: InPath,
    request: Request<Body>,
) -> Result<Map<String, Value>, Problem> {
    admit(api, token, &request)?;
    match read_json::<Option<Map<String, Value>>>(api, Role::Trainer, request).await? {
        Some(asked) => Ok(asked),
        // Some clients of it send `null` for nothing.
        None => Ok(Map::new()),
    }
}

/// Reads what a request without a body asks: the numbers of its query.
fn ask(api: &Api, token: InPath, request: &Request<Body>) -> Result<Map<String, Value>, Refusal> {
    admit(api, token, request)?;
    let query = request.uri().query().unwrap_or_default();
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    let number = |(name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| {
        Some((name.into_owned(), json!(value.parse::<u64>().ok()?)))
    };
    Ok(pairs.filter_map(number).collect())
}

fn respond(answer: Answered) -> Response<Body> {
    match answer {
        Ok(value) => written_as(value.to_string().into_bytes(), "application/json"),
        Err(Refusal::Error(error)) => {
            written_as(json!({ "error": error }).to_string().into_bytes(), "application/json")
        }
        Err(Refusal::Refused(problem)) => problem.response(),
    }
}
