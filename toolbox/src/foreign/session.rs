//! One connection to a server, from its start to its end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    ErrorData, Implementation, JsonObject, ListToolsRequest, PaginatedRequestParams, PingRequest,
    ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions,
    RequestContext, RequestHandle, RunningService, ServiceError,
};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;
use tokio::sync::watch;
use wildgym_sandbox::servers::Process;
use wildgym_sandbox::{Host, Workspace};

use super::lines::Stray;
use super::list::{self, Remote};
use super::wire::wire;
use super::{ServerError, Spec};

/// How long a server may take from its start to its list of tools, unless it is given another
/// time.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long a server that let a call wait for its limit may take to say that it lives.
const PULSE: Duration = Duration::from_secs(5);

/// How long the end of a connection may take.
const ENDING: Duration = Duration::from_secs(2);

/// How often a list may change before it is one.
const SETTLING: usize = 5;

/// Most pages of a list of tools.
const PAGES: usize = 200;

/// Most tools of a server.
const TOOLS: usize = 1000;

/// Most bytes of all their schemas and descriptions together.
const LISTED: usize = 4 << 20;

/// What a server is told of its client, and what it told without being asked. A client that
/// offers nothing: who asks it for a model, for folders or for a person is refused.
#[derive(Debug, Default)]
struct Handler {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("wildgym", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    #[expect(deprecated, reason = "servers still ask for it, and get the refusal")]
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<rmcp::model::ListRootsRequestMethod>())
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }
}

/// Whether a server can still be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Well,
    /// A call could not be sent; what that means is found out when the next one comes.
    Suspect,
    /// A call waited for its limit, so it may be stuck: it is being asked.
    Asked,
    /// It was asked and did not answer.
    Stuck,
}

type Running = RunningService<RoleClient, Handler>;

/// A connection.
#[derive(Debug)]
pub(super) struct Session {
    peer: Peer<RoleClient>,
    running: tokio::sync::Mutex<Running>,
    /// The program behind it, where it is one of ours.
    process: Option<Arc<Process>>,
    stray: Stray,
    /// Whether it said that its list of tools changed.
    changed: Arc<AtomicBool>,
    health: watch::Sender<Health>,
}

impl Session {
    /// Starts or reaches a server and returns its tools, as far as they are offered, and what
    /// it lists that is none.
    pub(super) async fn open(
        spec: &Spec,
        host: &Host,
        workspace: &Workspace,
    ) -> Result<(Self, Vec<Remote>, Vec<String>), String> {
        let patience = spec.server.connect_seconds.map_or(PATIENCE, Duration::from_secs);
        let late = format!("it did not list its tools within {} s", patience.as_secs());
        let until = tokio::time::Instant::now() + patience;
        // A client of today first; a server that only knows what came after is asked again.
        let mut first = None;
        for lifecycle in [ClientLifecycleMode::Initialize, discover()] {
            let (wire, process, stray) = wire(spec, host, workspace)?;
            let served =
                tokio::time::timeout_at(until, wire.serve(Handler::default(), lifecycle)).await;
            let refused = match served {
                Ok(Ok(running)) => {
                    let session = Self {
                        peer: running.peer().clone(),
                        changed: Arc::clone(&running.service().changed),
                        running: running.into(),
                        process,
                        stray,
                        health: watch::Sender::new(Health::Well),
                    };
                    let listed = tokio::time::timeout_at(until, session.settled(spec)).await;
                    let failed = match listed {
                        Ok(Ok((tools, left_out))) => return Ok((session, tools, left_out)),
                        Ok(Err(error)) => error,
                        Err(_) => late,
                    };
                    return Err(session.end_with(&failed).await);
                }
                Ok(Err(error)) => error,
                Err(_) => return Err(why(process.as_deref(), &stray, &late).await),
            };
            let said = why(process.as_deref(), &stray, &refusal(&refused)).await;
            let again = matches!(refused, ClientInitializeError::JsonRpcError(_));
            match first {
                Some(first) => return Err(first),
                None if !again => return Err(said),
                None => first = Some(said),
            }
        }
        Err(first.unwrap_or_default())
    }

    /// Lists all tools, anew where the list changes meanwhile: some servers add tools once they
    /// know what their client can do.
    async fn settled(&self, spec: &Spec) -> Result<(Vec<Remote>, Vec<String>), String> {
        for _ in 0..SETTLING {
            self.take_changed();
            let listed = self.tools(spec).await?;
            if !self.take_changed() {
                return Ok(listed);
            }
        }
        Err(format!("its list of tools changed {SETTLING} times while it was read"))
    }

    /// Lists all tools, page by page.
    async fn tools(&self, spec: &Spec) -> Result<(Vec<Remote>, Vec<String>), String> {
        let (mut tools, mut left_out) = (Vec::<Remote>::new(), Vec::new());
        let (mut cursor, mut bytes) = (None, 0);
        let mut listed = Vec::new();
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let request = ListToolsRequest::with_param(params);
            let answered = self.peer.send_request(ClientRequest::ListToolsRequest(request)).await;
            let result =
                answered.map_err(|error| format!("it lists no tools: {}", said(&error)))?;
            let (page, none, next) = list::page(&plain(&result))?;
            left_out.extend(none);
            for tool in page {
                listed.push(tool.name.clone());
                if tools.iter().any(|known| known.name == tool.name) {
                    left_out.push(format!("`{}` for the second time", tool.name));
                } else if spec.server.offers(&tool.name) {
                    bytes += tool.description.len() + tool.schema.to_string().len();
                    tools.push(tool);
                }
            }
            if listed.len() > TOOLS || left_out.len() > TOOLS {
                return Err(format!("it lists more than {TOOLS} tools"));
            }
            if bytes > LISTED {
                return Err(format!("its list of tools has more than {} MiB", LISTED >> 20));
            }
            match next {
                Some(next) => cursor = Some(next),
                None => return list::all_named(spec, &listed).map(|()| (tools, left_out)),
            }
        }
        Err(format!("its list of tools has more than {PAGES} pages"))
    }

    /// Makes a call. Dropping the future tells the server that nobody waits any more, and asks
    /// it whether it lives: beside all calls, so that no limit of theirs cuts that short.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<Value, ServiceError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let handle = self.peer.send_cancellable_request(request, options).await?;
        let mut waiting = Waiting { session: self, handle: Some(handle) };
        let answered = match &mut waiting.handle {
            Some(handle) => (&mut handle.rx).await,
            None => return Err(ServiceError::TransportClosed),
        };
        waiting.handle = None;
        let answered = answered.map_err(|_| ServiceError::TransportClosed)?;
        if matches!(answered, Err(ServiceError::TransportSend(_))) {
            // Over HTTP each message goes by itself: what is behind the next one is unknown.
            self.health.send_replace(Health::Suspect);
        }
        answered.map(|result| plain(&result))
    }

    /// Returns whether nothing speaks against it.
    pub(super) fn is_well(&self) -> bool {
        !self.peer.is_transport_closed() && *self.health.borrow() == Health::Well
    }

    /// Returns whether it can still be used. One that is suspect is asked.
    pub(super) async fn is_alive(&self) -> bool {
        if self.peer.is_transport_closed() {
            return false;
        }
        let mut health = self.health.subscribe();
        if *health.borrow() == Health::Suspect {
            let found = ask(&self.peer).await;
            self.health.send_replace(found);
        }
        let found = health.wait_for(|health| *health != Health::Asked).await;
        found.is_ok_and(|health| *health != Health::Stuck)
    }

    /// Returns whether it was asked and did not answer, though nothing is closed.
    pub(super) fn is_stuck(&self) -> bool {
        *self.health.borrow() == Health::Stuck && !self.peer.is_transport_closed()
    }

    /// Returns whether it said that its list of tools changed, and forgets it.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }

    /// Ends the connection, and with it the program. Returns how that ended, where there is
    /// one.
    pub(super) async fn end(&self) -> Option<String> {
        let closed = async { self.running.lock().await.close_with_timeout(ENDING).await };
        let _ = tokio::time::timeout(2 * ENDING, closed).await;
        match &self.process {
            Some(process) => Some(process.end().await),
            None => None,
        }
    }

    /// Ends it, and says what came of it beside `reason`.
    pub(super) async fn end_with(&self, reason: &str) -> String {
        let _ = self.end().await;
        why(self.process.as_deref(), &self.stray, reason).await
    }

    /// Ends what is over already, and says how it ended.
    pub(super) async fn last_words(&self) -> String {
        let ended = self.end().await;
        let how = ended.unwrap_or_else(|| "the connection was closed".to_owned());
        with_stray(how, &self.stray)
    }
}

/// A call that is waited for.
struct Waiting<'a> {
    session: &'a Session,
    handle: Option<RequestHandle<RoleClient>>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (peer, health) = (self.session.peer.clone(), self.session.health.clone());
        health.send_replace(Health::Asked);
        runtime.spawn(async move {
            let reason = "the call was stopped at its limit".to_owned();
            // Who is gone needs no notice.
            let _gone = handle.cancel(Some(reason)).await;
            let found = ask(&peer).await;
            health.send_replace(found);
        });
    }
}

/// Asks a server whether it lives.
async fn ask(peer: &Peer<RoleClient>) -> Health {
    let version = peer.peer_info().map(|info| info.protocol_version.clone());
    if version.is_some_and(|version| !version.has_initialize()) {
        // That protocol has nothing to ask it by.
        return Health::Well;
    }
    let ping = ClientRequest::PingRequest(PingRequest::default());
    let asked = tokio::time::timeout(PULSE, peer.send_request(ping)).await;
    match asked {
        Ok(Ok(_) | Err(ServiceError::McpError(_))) => Health::Well,
        Ok(Err(_)) | Err(_) => Health::Stuck,
    }
}

/// Lists the tools of a server once, and what it lists that is none.
pub async fn list_tools(
    spec: &Spec,
    host: &Host,
    workspace: &Workspace,
) -> Result<(Vec<Remote>, Vec<String>), ServerError> {
    let failed = |reason: String| ServerError { server: spec.name.clone(), reason };
    let turn = host.servers.turn().await;
    let opened = Session::open(spec, host, workspace).await;
    drop(turn);
    let (session, tools, left_out) = opened.map_err(failed)?;
    session.end().await;
    if tools.is_empty() {
        return Err(failed(list::nothing("it offers no tool", &left_out)));
    }
    Ok((tools, left_out))
}

/// The way of servers that know nothing of a beginning.
fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] }
}

/// Says why a connection did not begin, without the long form of what was received.
fn refusal(error: &ClientInitializeError) -> String {
    if let ClientInitializeError::JsonRpcError(error) = error {
        return format!("it refused to begin: {}", short(&error.message));
    }
    if let ClientInitializeError::ConnectionClosed(_) = error {
        return "it ended before it answered".to_owned();
    }
    if let ClientInitializeError::ExpectedInitResponse(_)
    | ClientInitializeError::ExpectedInitResult(_) = error
    {
        return "its answer to `initialize` is none".to_owned();
    }
    if let ClientInitializeError::TransportError { error, .. } = error {
        return format!("it cannot be reached: {}", causes(error.error.as_ref()));
    }
    format!("it refused to begin: {}", short(&error.to_string()))
}

/// Says why a request failed.
pub(super) fn said(error: &ServiceError) -> String {
    if let ServiceError::McpError(error) = error {
        let text: String = error.message.chars().take(4000).collect();
        return format!("{text} (code {})", error.code.0);
    }
    if let ServiceError::TransportSend(error) = error {
        return causes(error.error.as_ref());
    }
    short(&error.to_string())
}

/// Writes an error with its causes.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = short(&error.to_string());
    // The SDK's own error names no source, though it holds one.
    let mut next = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(inner)) => std::error::Error::source(inner),
        Some(_) | None => error.source(),
    };
    while let Some(cause) = next {
        let cause_text = short(&cause.to_string());
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

/// Cuts what a server may have made long.
fn short(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(clean).take(600).collect()
}

/// Ends a program, and says what it said beside `reason`.
async fn why(process: Option<&Process>, stray: &Stray, reason: &str) -> String {
    let Some(process) = process else { return reason.to_owned() };
    let how = process.end().await;
    with_stray(format!("{reason}; {how}"), stray)
}

/// Adds what a server wrote where only messages belong.
fn with_stray(text: String, stray: &Stray) -> String {
    let stray = stray.lock().unwrap_or_else(PoisonError::into_inner);
    if stray.is_empty() { text } else { format!("{text}; on standard output: {stray}") }
}

/// Returns a result as plain JSON, whatever the SDK took it for.
fn plain(result: &ServerResult) -> Value {
    serde_json::to_value(result).unwrap_or(Value::Null)
}
