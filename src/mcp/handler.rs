//! The protocol's side of what is served: one handler for every transport.

use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, RequestId,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};

/// Something whose tools a client is offered.
pub trait Served: Send + Sync + 'static {
    /// Returns what a client's model is told of the whole.
    fn instructions(&self) -> String;

    /// Returns the tools, in order.
    fn tools(&self) -> Vec<Tool>;

    /// Makes a call. Dropping the future takes the call back.
    fn call(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, CallToolResult>;
}

/// A call, as a client asks for it.
pub struct Asked {
    /// Name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: JsonObject,
    /// The number of its request, where the client numbers them.
    pub number: Option<i64>,
    /// What may be told meanwhile.
    pub tell: Tell,
}

/// Tells a client how a call gets on.
pub struct Tell {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
}

impl Tell {
    /// Tells how far a call is, where the client asked to be told.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: &str) {
        let Some(token) = &self.token else { return };
        let mut note = ProgressNotificationParam::new(token.clone(), progress);
        note.total = total;
        note.message = Some(message.to_owned()).filter(|message| !message.is_empty());
        // A client that is gone learns nothing any more.
        let _gone = self.peer.notify_progress(note).await;
    }

    /// Returns the client.
    #[must_use]
    pub fn peer(&self) -> &Peer<RoleServer> {
        &self.peer
    }
}

/// Speaks the protocol on behalf of what is served.
#[derive(Clone)]
pub(super) struct Handler(pub(super) Arc<dyn Served>);

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let own = Implementation::new("wildgym", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(self.0.instructions())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tell = Tell { token: context.meta.get_progress_token(), peer: context.peer };
        let asked = Asked {
            name: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            number: match context.id {
                RequestId::Number(number) => Some(number),
                RequestId::String(_) => None,
            },
            tell,
        };
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                // Nobody waits for this answer.
                Err(ErrorData::internal_error("the request was cancelled", None))
            }
            said = Arc::clone(&self.0).call(asked) => Ok(said.into()),
        }
    }
}
