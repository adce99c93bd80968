//! One server of an attempt: started when it is needed, started anew once, then given up.

use std::sync::Arc;

use rmcp::model::JsonObject;
use rmcp::service::ServiceError;
use serde_json::json;
use tokio::sync::Mutex;
use wildgym_sandbox::{Host, Workspace};

use super::session::{Session, said};
use super::{Pinned, list, result};
use crate::error::ToolError;
use crate::tool::{CallContext, Output};

/// How often a server is started in one attempt.
const STARTS: u32 = 2;

/// A server with what it is started with.
#[derive(Debug)]
pub(super) struct Server {
    pinned: Arc<Pinned>,
    host: Arc<Host>,
    workspace: Arc<Workspace>,
    /// Held while it starts: who fails beside others waits for the one new start.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    starts: u32,
    session: Option<Arc<Session>>,
    /// Why it is not started any more.
    gone: Option<String>,
}

/// A connection that can be used.
pub(super) struct Ready {
    session: Arc<Session>,
    /// How the one before it ended, where it replaces one.
    before: Option<String>,
}

impl Server {
    pub(super) fn new(pinned: Arc<Pinned>, host: Arc<Host>, workspace: Arc<Workspace>) -> Self {
        Self { pinned, host, workspace, state: Mutex::default() }
    }

    /// Returns its connection, and makes one where there is none that lives; otherwise says
    /// why there is none.
    pub(super) async fn session(&self) -> Result<Ready, String> {
        let mut state = self.state.lock().await;
        if let Some(gone) = &state.gone {
            return Err(gone.clone());
        }
        let mut before = None;
        if let Some(session) = state.session.clone() {
            if session.is_alive().await {
                return Ok(Ready { session, before });
            }
            state.session = None;
            let stuck =
                if session.is_stuck() { "it did not answer any more, and was ended: " } else { "" };
            before = Some(format!("{stuck}{}", session.last_words().await));
        }
        if state.starts >= STARTS {
            let how = before.unwrap_or_default();
            let gone = format!("it ended again and is not started any more: {how}");
            state.gone = Some(gone.clone());
            return Err(gone);
        }
        state.starts += 1;
        match self.open().await {
            Ok(session) => {
                let session = Arc::new(session);
                state.session = Some(Arc::clone(&session));
                Ok(Ready { session, before })
            }
            Err(error) => {
                let gone = match before {
                    Some(how) => format!("it ended ({how}) and cannot be started anew: {error}"),
                    None => error,
                };
                state.gone = Some(gone.clone());
                Err(gone)
            }
        }
    }

    /// Starts it, and refuses it where it lists other tools than were pinned.
    async fn open(&self) -> Result<Session, String> {
        let turn = self.host.servers.turn().await;
        let opened = Session::open(&self.pinned.spec, &self.host, &self.workspace).await;
        drop(turn);
        let (session, tools, _) = opened?;
        match list::drift(&self.pinned.tools, &tools) {
            None => Ok(session),
            Some(drift) => {
                session.end().await;
                Err(format!("its tools are not those that the run began with: {drift}"))
            }
        }
    }

    /// Ends it, where it runs.
    pub(super) async fn end(&self) {
        let mut state = self.state.lock().await;
        state.gone = Some("the attempt is over".to_owned());
        if let Some(session) = state.session.take() {
            session.end().await;
        }
    }

    /// Makes a call.
    pub(super) async fn call(
        &self,
        context: &CallContext,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<Output, ToolError> {
        let name = &self.pinned.spec.name;
        let failed = |what: String| ToolError::Failed(format!("server `{name}`: {what}"));
        let Ready { session, before } = self.session().await.map_err(failed)?;
        let mut note = json!({ "external": name, "tool": tool });
        if let Some(how) = &before {
            note["restarted"] = json!(how);
        }
        let answered = session.call(tool, arguments).await;
        if session.take_changed() {
            note["tools-changed"] = json!(true);
        }
        context.note(note);
        let result = match answered {
            Ok(result) => result,
            Err(error) if self.is_over(&session, &error).await => {
                return Err(failed(self.died(&session).await));
            }
            Err(error) => return Err(failed(said(&error))),
        };
        let read = result::read(name, &result, &context.ingress.0, &context.sandbox.workspace);
        let Some(how) = before else { return read.map(Into::into) };
        let told = format!(
            "[server `{name}` had ended and was started anew; what it remembered is gone ({how})]\n"
        );
        match read {
            Ok(text) => Ok((told + &text).into()),
            Err(ToolError::Failed(text)) => Err(ToolError::Failed(told + &text)),
            Err(error) => Err(error),
        }
    }

    /// Returns whether a failed call is the end of its connection.
    async fn is_over(&self, session: &Session, error: &ServiceError) -> bool {
        let answered = matches!(error, ServiceError::McpError(_));
        let closed = matches!(error, ServiceError::TransportClosed);
        !answered && (closed || !session.is_alive().await)
    }

    /// Says how a server ended while it worked on a call, and what that means.
    async fn died(&self, session: &Session) -> String {
        let how = session.last_words().await;
        let left = self.state.lock().await.starts < STARTS;
        let next = if left { "the next call starts it anew" } else { "it is not started any more" };
        format!(
            "it ended before it answered: {how}. Whether the call had effects is unknown; {next}"
        )
    }
}
