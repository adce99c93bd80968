//! The client: sends a conversation, tries again where that helps, returns the exchange.
//!
//! A slot is held while a request is in flight and at no other time. Waiting for a slot,
//! a cool-down or a backoff is not working time. Dropping the future of a chat ends its
//! request and frees its slot.

use std::sync::{Arc, Once};
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, redirect};
use serde_json::{Map, Value};
use tokio::time::Instant;
use url::Url;
use wildgym_sandbox::work::Working;

use super::cassette::{Cassette, CassetteError};
use super::endpoint::{Endpoint, Settings};
use super::error::{Failure, ModelError};
use super::foreign::Foreign;
use super::judgement::{Answer, Judgement, hint, judge, judge_words};
use super::line::Ended;
use super::message::{self, Message, Offered};
use super::reel::{Reel, Request, Turn};
use super::reply::{self, Reply};
use super::retry::{chance, retry_after};
use super::sound::Sound;
use crate::record::{Retry, Usage};

/// The largest answer that is read, in bytes.
const LARGEST: usize = 32 << 20;

/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(30);

/// How long an unused connection is kept. Common servers close theirs after 5 s; a
/// request that meets the closing is lost and must be sent again.
const IDLE: Duration = Duration::from_secs(4);

/// Headers that name the trial, the attempt at it and who asks, for the logs of an endpoint.
const TRIAL: HeaderName = HeaderName::from_static("x-wildgym-trial");
/// See [`TRIAL`].
const ATTEMPT: HeaderName = HeaderName::from_static("x-wildgym-attempt");
/// See [`TRIAL`].
const ROLE: HeaderName = HeaderName::from_static("x-wildgym-role");

/// A request to a model and its reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// BLAKE3 of the request's body, as 64 hexadecimal digits.
    pub request_digest: String,
    /// HTTP status.
    pub status: u16,
    /// The answer's body, exactly as received.
    pub reply_text: String,
    /// What it says.
    pub reply: Reply,
    /// The reply as a message of the conversation; see [`Settings::echo_reasoning`].
    pub echo: Message,
    /// Tokens, as the endpoint counted them.
    pub usage: Usage,
    /// Requests that failed before.
    pub retries: Vec<Retry>,
    /// How long the last request took.
    pub took: Duration,
    /// How long the exchange waited for slots, cool-downs and backoffs.
    pub waited: Duration,
}

/// A model that can be asked. Clones are cheap and share connections and slots.
#[derive(Debug, Clone)]
pub struct Model {
    shared: Arc<Shared>,
    /// Headers that say on whose behalf it is asked.
    scope: HeaderMap,
    /// Keeps or serves the exchanges.
    cassette: Option<Arc<Cassette>>,
    /// The part of the cassette that belongs to the scope.
    reel: Option<Arc<Reel>>,
}

#[derive(Debug, Clone)]
struct Shared {
    client: Client,
    endpoint: Endpoint,
    settings: Settings,
    prefix: String,
    headers: HeaderMap,
}

impl Model {
    /// Makes a client. Proxies of the environment are used, but not for this machine;
    /// redirects are not followed, since they would carry the key elsewhere.
    pub fn new(endpoint: Endpoint, settings: Settings) -> Result<Self, ModelError> {
        static PROVIDER: Once = Once::new();
        // An error means that the process has a provider already, which serves as well.
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let mut builder = Client::builder()
            .user_agent(concat!("wildgym/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .pool_idle_timeout(IDLE)
            .connect_timeout(settings.request_timeout.min(CONNECT));
        if endpoint.is_loopback() {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| {
            ModelError::Misconfigured(format!("the HTTP client cannot start: {}", causes(&error)))
        })?;
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, json.clone()), (ACCEPT, json)]);
        if let Some(key) = &endpoint.key {
            headers.insert(AUTHORIZATION, key.header()?);
        }
        let prefix = settings.prefix(&endpoint.model)?;
        let shared = Arc::new(Shared { client, endpoint, settings, prefix, headers });
        Ok(Self { shared, scope: HeaderMap::new(), cassette: None, reel: None })
    }

    /// Returns the same model, whose exchanges are kept in a cassette or come from it.
    ///
    /// That holds for the exchanges of scopes (see [`Model::scoped`]). Others are sent and
    /// not kept where the cassette records; where it replays they are an error, since a
    /// replayed model never reaches an endpoint.
    #[must_use]
    pub fn with_cassette(self, cassette: Arc<Cassette>) -> Self {
        Self { cassette: Some(cassette), reel: None, ..self }
    }

    /// Tells whether replies come from a cassette, so that there may be no endpoint: a
    /// caller leaves out what it would ask beforehand.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.cassette.as_ref().is_some_and(|cassette| cassette.is_replayed())
    }

    /// Returns the same model, asked by `role` (`agent`, `judge-1`, a tool's name) on behalf
    /// of an attempt: its requests carry the trial's name in the header `x-wildgym-trial`,
    /// with `x-wildgym-attempt` and `x-wildgym-role`, so that an endpoint's log can be joined to a run.
    /// A name that does not fit a header is left out.
    ///
    /// Exchanges of one scope are numbered in a cassette in the order in which they begin.
    /// So exchanges that may overlap need roles of their own, or a replay could meet them
    /// in another order.
    #[must_use]
    pub fn scoped(&self, trial: &str, attempt: u32, role: &str) -> Self {
        let value = |text: &str| HeaderValue::from_str(text).ok();
        let scope =
            [(TRIAL, value(trial)), (ATTEMPT, value(&attempt.to_string())), (ROLE, value(role))];
        let scope = scope.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let reel = self.cassette.as_ref().map(|cassette| cassette.reel(trial, attempt, role));
        Self { scope, reel, ..self.clone() }
    }

    /// Tells whether replies come from a cassette that has some for this scope.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.is_replayed() && self.reel.as_ref().is_some_and(|reel| reel.exists())
    }

    /// Returns the same model asked with other settings; connections and slots are shared.
    pub fn with_settings(&self, settings: Settings) -> Result<Self, ModelError> {
        let prefix = settings.prefix(&self.shared.endpoint.model)?;
        let shared = Shared { settings, prefix, ..self.shared.as_ref().clone() };
        Ok(Self { shared: Arc::new(shared), ..self.clone() })
    }

    /// Returns the body of the request that [`chat`](Self::chat) sends.
    #[must_use]
    pub fn body(&self, messages: &[Message], tools: &Offered) -> String {
        let body = message::body(&self.shared.prefix, messages, tools);
        String::from_utf8_lossy(&body).into_owned()
    }

    /// Returns where the model is.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// Returns how the model is asked.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Sends the conversation and returns the reply.
    ///
    /// The same messages, tools and settings make the same request, byte for byte.
    /// `round` (from 1) makes the ids of calls that came without one; `working` stands
    /// while the exchange waits for its turn.
    pub async fn chat(
        &self,
        round: u32,
        messages: &[Message],
        tools: &Offered,
        working: Option<&mut Working>,
    ) -> Result<Exchange, ModelError> {
        let body = Bytes::from(message::body(&self.shared.prefix, messages, tools));
        let course = Course::new(&body);
        let posted = Posted { url: self.shared.endpoint.url.clone(), content_type: None, body };
        let purpose = Purpose::Chat { round, tools };
        let Some(reel) = &self.reel else {
            if self.is_replayed() {
                return Err(CassetteError::Unscoped.into());
            }
            return self.converse(course, posted, &purpose, working).await;
        };
        let (digest, prefix) = (course.digest.clone(), &self.shared.prefix);
        let key = self.shared.endpoint.key.as_ref();
        match reel.turn(Request { digest, prefix, messages, tools, key })? {
            Turn::Known(ended) => self.recall(course, *ended, &purpose),
            Turn::New(pending) => {
                let ended = self.converse(course, posted, &purpose, working).await;
                pending.keep(&ended)?;
                ended
            }
        }
    }

    /// Sends a request whose body somebody else wrote, and returns the exchange.
    ///
    /// The model's name, and that nothing is streamed, are written by the gym; of its settings
    /// hold those that the body does not have. Several may be under way in one scope: a replay
    /// knows them again by what they say, in whatever order they come.
    pub async fn relay(
        &self,
        round: u32,
        body: &Map<String, Value>,
        working: Option<&mut Working>,
    ) -> Result<Exchange, ModelError> {
        let Foreign { body, digest, prefix, messages, tools } =
            Foreign::of(&self.shared.prefix, body);
        let course = Course { digest: digest.clone(), ..Course::new(&[]) };
        let posted = Posted { url: self.shared.endpoint.url.clone(), content_type: None, body };
        let nothing = Offered::default();
        let purpose = Purpose::Chat { round, tools: &nothing };
        let Some(reel) = &self.reel else {
            if self.is_replayed() {
                return Err(CassetteError::Unscoped.into());
            }
            return self.converse(course, posted, &purpose, working).await;
        };
        let key = self.shared.endpoint.key.as_ref();
        let request = Request { digest, prefix: &prefix, messages: &messages, tools: &tools, key };
        match reel.turn_by_content(request)? {
            Turn::Known(ended) => self.recall(course, *ended, &purpose),
            Turn::New(pending) => {
                let ended = self.converse(course, posted, &purpose, working).await;
                pending.keep(&ended)?;
                ended
            }
        }
    }

    /// Says that nobody waits any more for what is under way in this scope, and that it is no
    /// limit that cuts it off: a replay must not meet one there.
    pub fn leave(&self) {
        if let Some(reel) = &self.reel {
            reel.leave();
        }
    }

    /// Has what is said in a sound written down: asks the endpoint's sibling route
    /// `audio/transcriptions` (`OpenAI` API reference, "Create transcription").
    ///
    /// The reply's content is the text; times and language, where the endpoint tells them,
    /// are in its body. An exchange is kept and known again by what the sound is a piece of
    /// ([`Sound::named`]) and the settings, not by the bytes of the request.
    pub async fn transcribe(
        &self,
        sound: &Sound,
        working: Option<&mut Working>,
    ) -> Result<Exchange, ModelError> {
        let prefix = sound.prefix(self.shared.endpoint.model());
        let messages = [sound.named()];
        let tools = Offered::default();
        let course = Course::new(&message::body(&prefix, &messages, &tools));
        let posted = || self.posted_sound(sound, &course.digest);
        let Some(reel) = &self.reel else {
            if self.is_replayed() {
                return Err(CassetteError::Unscoped.into());
            }
            let posted = posted();
            return self.converse(course, posted, &Purpose::Speech, working).await;
        };
        let digest = course.digest.clone();
        let key = self.shared.endpoint.key.as_ref();
        match reel.turn(Request {
            digest,
            prefix: &prefix,
            messages: &messages,
            tools: &tools,
            key,
        })? {
            Turn::Known(ended) => self.recall(course, *ended, &Purpose::Speech),
            Turn::New(pending) => {
                let posted = posted();
                let ended = self.converse(course, posted, &Purpose::Speech, working).await;
                pending.keep(&ended)?;
                ended
            }
        }
    }

    /// Returns the request that carries a sound.
    fn posted_sound(&self, sound: &Sound, digest: &str) -> Posted {
        let (boundary, body) = sound.form(self.shared.endpoint.model(), digest);
        Posted {
            url: self.shared.endpoint.beside("audio/transcriptions"),
            content_type: HeaderValue::from_str(&format!(
                "multipart/form-data; boundary={boundary}"
            ))
            .ok(),
            body: body.into(),
        }
    }

    /// Sends a request until it is answered or given up.
    async fn converse(
        &self,
        mut course: Course,
        posted: Posted,
        purpose: &Purpose<'_>,
        mut working: Option<&mut Working>,
    ) -> Result<Exchange, ModelError> {
        loop {
            let waiting = Instant::now();
            let slot = idle(&mut working, self.shared.endpoint.gate.enter()).await;
            course.waited += waiting.elapsed();
            let sent = Instant::now();
            let answer = self.send(&posted).await;
            drop(slot);
            course.took = sent.elapsed();
            let backoff = match self.settle(&mut course, answer, purpose) {
                Settled::Ended(end) => return *end,
                Settled::Backoff(backoff) => backoff,
            };
            let waiting = Instant::now();
            idle(&mut working, tokio::time::sleep(backoff)).await;
            course.waited += waiting.elapsed();
        }
    }

    /// Ends an exchange as a recorded one ended, at once. What the reply says is read
    /// anew from its body, as when it came.
    fn recall(
        &self,
        mut course: Course,
        ended: Ended,
        purpose: &Purpose<'_>,
    ) -> Result<Exchange, ModelError> {
        if let Some(error) = ended.error(&course.digest) {
            return Err(error);
        }
        let status = ended.status.unwrap_or_default();
        let (body, mended) = (ended.body, ended.mended);
        let answer = Answer { status, retry_after: None, body, mended };
        let (reply, usage) = match purpose.judge(&answer) {
            Judgement::Completion { body, mended } => purpose.read(body, mended),
            Judgement::Filtered => (Reply::empty("content-filter"), Usage::default()),
            Judgement::Fruitless { note, .. } => (Reply::empty(note), Usage::default()),
            Judgement::Again { reason, .. }
            | Judgement::Overflow { reason }
            | Judgement::Refused { reason, .. } => {
                return Err(CassetteError::Unreadable(reason).into());
            }
        };
        Ok(self.exchange(&mut course, ended.status, answer.body, reply, usage))
    }

    /// Sends one request and reads its answer; the error says what went wrong.
    async fn send(&self, posted: &Posted) -> Result<Answer, String> {
        let limit = self.shared.settings.request_timeout;
        match tokio::time::timeout(limit, self.answer(posted)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("no reply within {} s", limit.as_secs_f64())),
        }
    }

    async fn answer(&self, posted: &Posted) -> Result<Answer, String> {
        let Shared { client, headers, .. } = &*self.shared;
        let mut headers = headers.clone();
        headers.extend(self.scope.clone());
        if let Some(kind) = &posted.content_type {
            headers.insert(CONTENT_TYPE, kind.clone());
        }
        let request = client.post(posted.url.clone()).headers(headers).body(posted.body.clone());
        let mut response = request.send().await.map_err(|error| causes(&error.without_url()))?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers(), Timestamp::now());
        let mut read = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|e| causes(&e.without_url()))? {
            if read.len() + chunk.len() > LARGEST {
                return Err(format!("the answer is larger than {} MiB", LARGEST >> 20));
            }
            read.extend_from_slice(&chunk);
        }
        let (body, mended) = String::from_utf8(read).map_or_else(
            |error| (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
            |body| (body, false),
        );
        // Nothing that follows, transcripts and cassettes included, ever holds the key.
        Ok(Answer { status, retry_after, body: self.redact(body), mended })
    }

    /// Decides what follows from an answer.
    fn settle(
        &self,
        course: &mut Course,
        answer: Result<Answer, String>,
        purpose: &Purpose<'_>,
    ) -> Settled {
        let (answer, judgement) = match answer {
            Ok(answer) => {
                let judgement = purpose.judge(&answer);
                (Some(answer), judgement)
            }
            Err(reason) => (None, Judgement::Again { reason, busy: false }),
        };
        let answer_status = answer.as_ref().map(|answer| answer.status);
        let after = answer.as_ref().and_then(|answer| answer.retry_after);
        let body = answer.map(|answer| answer.body).unwrap_or_default();
        let fail = |course: &mut Course, reason: String, hint, body| {
            let reason = self.redact(reason);
            Box::new(course.failure(answer_status, reason, hint, body))
        };
        let end = match judgement {
            Judgement::Completion { body: value, mended } => {
                let (reply, usage) = purpose.read(value, mended);
                Ok(self.exchange(course, answer_status, body, reply, usage))
            }
            Judgement::Filtered => {
                let reply = Reply::empty("content-filter");
                Ok(self.exchange(course, answer_status, body, reply, Usage::default()))
            }
            Judgement::Overflow { reason } => {
                Err(ModelError::ContextOverflow(fail(course, reason, None, body)))
            }
            Judgement::Refused { reason, status } => {
                let hint = hint(status, &self.shared.endpoint);
                Err(ModelError::Refused(fail(course, reason, hint, body)))
            }
            Judgement::Fruitless { reason, note } => {
                course.fruitless += 1;
                if course.fruitless < self.shared.settings.retrying.format_tries
                    && let Some(backoff) = self.again(course, &reason, after, false)
                {
                    return Settled::Backoff(backoff);
                }
                let reply = Reply::empty(note);
                Ok(self.exchange(course, answer_status, body, reply, Usage::default()))
            }
            Judgement::Again { reason, busy } => {
                if let Some(backoff) = self.again(course, &reason, after, busy) {
                    return Settled::Backoff(backoff);
                }
                Err(ModelError::Gone(fail(course, reason, None, body)))
            }
        };
        Settled::Ended(Box::new(end))
    }

    /// Returns how long to wait before the next try, on top of the endpoint's cool-down;
    /// none where there is no next try.
    fn again(
        &self,
        course: &mut Course,
        reason: &str,
        after: Option<Duration>,
        busy: bool,
    ) -> Option<Duration> {
        let Shared { endpoint, settings, .. } = &*self.shared;
        let failed = u32::try_from(course.retries.len()).unwrap_or(u32::MAX).saturating_add(1);
        let delay = after.unwrap_or_else(|| settings.retrying.delay(failed, chance()));
        let shared = busy || after.is_some();
        if shared {
            // Holds even where this exchange gives up: the others must know.
            endpoint.gate.cool_down(delay);
        }
        if failed >= settings.retrying.tries {
            return None;
        }
        let backoff_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        course.retries.push(Retry { reason: self.redact(reason.to_owned()), backoff_ms });
        Some(if shared { Duration::ZERO } else { delay })
    }

    fn exchange(
        &self,
        course: &mut Course,
        status: Option<u16>,
        reply_text: String,
        reply: Reply,
        usage: Usage,
    ) -> Exchange {
        Exchange {
            request_digest: std::mem::take(&mut course.digest),
            status: status.unwrap_or_default(),
            reply_text,
            echo: reply.echo(self.shared.settings.echo_reasoning),
            reply,
            usage,
            retries: std::mem::take(&mut course.retries),
            took: course.took,
            waited: course.waited,
        }
    }

    fn redact(&self, text: String) -> String {
        match &self.shared.endpoint.key {
            Some(key) => key.redact(text),
            None => text,
        }
    }
}

/// A request as it is posted.
#[derive(Debug)]
struct Posted {
    url: Url,
    /// The type of its body, where that is not JSON.
    content_type: Option<HeaderValue>,
    body: Bytes,
}

/// What a request asks for, and so how its answer is read.
#[derive(Debug)]
enum Purpose<'a> {
    /// A reply in a conversation.
    Chat { round: u32, tools: &'a Offered },
    /// The words of a sound.
    Speech,
}

impl Purpose<'_> {
    fn judge(&self, answer: &Answer) -> Judgement {
        match self {
            Self::Chat { .. } => judge(answer),
            Self::Speech => judge_words(answer),
        }
    }

    /// Reads the body of a good answer, whose JSON was `mended` or not.
    fn read(&self, body: serde_json::Value, mended: bool) -> (Reply, Usage) {
        match self {
            Self::Chat { round, tools } => read(body, mended, *round, tools),
            Self::Speech => {
                // Endpoints that count seconds count no tokens.
                let usage = reply::usage(&body).unwrap_or_default();
                (Reply::of_words(&body), usage)
            }
        }
    }
}

enum Settled {
    Ended(Box<Result<Exchange, ModelError>>),
    Backoff(Duration),
}

/// How an exchange went so far.
#[derive(Debug)]
struct Course {
    digest: String,
    retries: Vec<Retry>,
    fruitless: u32,
    took: Duration,
    waited: Duration,
}

impl Course {
    fn new(body: &[u8]) -> Self {
        Self {
            digest: blake3::hash(body).to_hex().to_string(),
            retries: Vec::new(),
            fruitless: 0,
            took: Duration::ZERO,
            waited: Duration::ZERO,
        }
    }

    fn failure(
        &mut self,
        status: Option<u16>,
        reason: String,
        hint: Option<String>,
        body: String,
    ) -> Failure {
        Failure {
            request_digest: std::mem::take(&mut self.digest),
            status,
            reason,
            hint,
            body,
            retries: std::mem::take(&mut self.retries),
            took: self.took,
            waited: self.waited,
        }
    }
}

/// Reads a chat completion, whose JSON was `mended` or not.
fn read(body: serde_json::Value, mended: bool, round: u32, tools: &Offered) -> (Reply, Usage) {
    let usage = reply::usage(&body);
    let mut reply = Reply::read(body, round, tools);
    if usage.is_none() {
        reply.note("no-usage");
    }
    if mended {
        reply.note("mended-text");
    }
    (reply, usage.unwrap_or_default())
}

/// Waits without counting the time as work.
async fn idle<T>(working: &mut Option<&mut Working>, future: impl Future<Output = T>) -> T {
    match working {
        Some(working) => working.pause(future).await,
        None => future.await,
    }
}

/// Joins an error and its causes, which is where the system's words are.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = inner.source();
    }
    text
}
