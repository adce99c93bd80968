//! One server of an attempt: started when it is needed, started anew once, then given up.

use std::sync::Arc;

use rmcp::model::JsonObject;
use rmcp::service::ServiceError;
use serde_json::json;
use tokio::sync::{Mutex, watch};
use wildgym_sandbox::{Host, Workspace};

use super::session::{Session, said};
use super::{Pinned, list, result};
use crate::error::ToolError;
use crate::tool::{CallContext, Output};

/// How often a server is started in one attempt.
const STARTS: u32 = 2;

/// A server of an attempt.
#[derive(Debug)]
pub(super) struct Server {
    own: Arc<Own>,
    /// Whether the attempt is over.
    over: watch::Sender<bool>,
}

/// A server with what it is started with.
#[derive(Debug)]
struct Own {
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
    /// How the one before it ended, until some call has told that.
    untold: Option<String>,
    /// Why it is not started any more.
    gone: Option<String>,
}

impl Server {
    pub(super) fn new(pinned: Arc<Pinned>, host: Arc<Host>, workspace: Arc<Workspace>) -> Self {
        let own = Own { pinned, host, workspace, state: Mutex::default() };
        Self { own: Arc::new(own), over: watch::Sender::new(false) }
    }

    /// Returns its connection, and makes one where there is none that lives; otherwise says
    /// why there is none.
    ///
    /// Whoever waits may be stopped at a limit of its own. What was begun then goes on: a start
    /// that takes longer than a call may is there for the next one, and is not made again.
    pub(super) async fn session(&self) -> Result<Arc<Session>, String> {
        if let Some(session) = self.own.well().await {
            return Ok(session);
        }
        let (own, over) = (Arc::clone(&self.own), self.over.subscribe());
        let made = tokio::spawn(async move { own.renewed(over).await });
        made.await.unwrap_or_else(|panic| Err(format!("its start broke off: {panic}")))
    }

    /// Ends it, where it runs.
    pub(super) async fn end(&self) {
        self.over.send_replace(true);
        let mut state = self.own.state.lock().await;
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
        let name = &self.own.pinned.spec.name;
        let failed = |what: String| ToolError::Failed(format!("server `{name}`: {what}"));
        let session = self.session().await.map_err(failed)?;
        let mut note = json!({ "external": name, "tool": tool });
        let answered = session.call(tool, arguments).await;
        // A call that came to nothing, or was stopped, leaves it to the next one to tell.
        let before = match &answered {
            Ok(_) => self.own.state.lock().await.untold.take(),
            Err(_) => None,
        };
        if let Some(how) = &before {
            note["restarted"] = json!(how);
        }
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
        let left = self.own.state.lock().await.starts < STARTS;
        let next = if left { "the next call starts it anew" } else { "it is not started any more" };
        format!(
            "it ended before it answered: {how}. Whether the call had effects is unknown; {next}"
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.send_replace(true);
    }
}

impl Own {
    /// Returns the connection, where nothing speaks against it.
    async fn well(&self) -> Option<Arc<Session>> {
        self.state.lock().await.session.clone().filter(|session| session.is_well())
    }

    /// Returns the connection, or a new one, unless the attempt ends meanwhile.
    async fn renewed(&self, mut over: watch::Receiver<bool>) -> Result<Arc<Session>, String> {
        let mut state = self.state.lock().await;
        if let Some(gone) = &state.gone {
            return Err(gone.clone());
        }
        if let Some(session) = state.session.clone() {
            if session.is_alive().await {
                return Ok(session);
            }
            let stuck =
                if session.is_stuck() { "it did not answer any more, and was ended: " } else { "" };
            state.untold = Some(format!("{stuck}{}", session.last_words().await));
            state.session = None;
        }
        if state.starts >= STARTS {
            let how = state.untold.take().unwrap_or_default();
            let gone = format!("it ended again and is not started any more: {how}");
            state.gone = Some(gone.clone());
            return Err(gone);
        }
        state.starts += 1;
        let opened = tokio::select! {
            biased;
            _ = over.wait_for(|over| *over) => Err("the attempt is over".to_owned()),
            opened = self.open() => opened,
        };
        match opened {
            Ok(session) => {
                let session = Arc::new(session);
                state.session = Some(Arc::clone(&session));
                Ok(session)
            }
            Err(error) => {
                let gone = match state.untold.take() {
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
}
