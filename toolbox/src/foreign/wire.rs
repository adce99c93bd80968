//! How a server is started or reached, and what messages then go over.

use std::sync::{Arc, Once};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::handler::client::ClientHandler;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use wildgym_sandbox::servers::{Order, Process};
use wildgym_sandbox::{Host, Workspace};
use wildgym_tasks::environment::Reach;

use super::Spec;
use super::line::LARGEST;
use super::lines::{Lines, Stray};

/// What messages go over.
pub(super) enum Wire {
    /// The pipes of a program of ours.
    Pipes(Lines),
    /// A connection to a URL.
    Http(StreamableHttpClientTransport<reqwest::Client>),
}

impl Wire {
    /// Begins the conversation.
    pub(super) async fn serve<H: ClientHandler>(
        self,
        handler: H,
        lifecycle: ClientLifecycleMode,
    ) -> Result<RunningService<RoleClient, H>, ClientInitializeError> {
        match self {
            Self::Pipes(lines) => handler.serve_with_lifecycle(lines, lifecycle).await,
            Self::Http(http) => handler.serve_with_lifecycle(http, lifecycle).await,
        }
    }
}

/// Starts or reaches a server.
pub(super) fn wire(
    spec: &Spec,
    host: &Host,
    workspace: &Workspace,
) -> Result<(Wire, Option<Arc<Process>>, Stray), String> {
    let stray = Stray::default();
    if let Some(url) = &spec.server.url {
        let token = spec.secrets.first().map(|(_, value)| value.as_str());
        return Ok((Wire::Http(http(url, token)?), None, stray));
    }
    let (process, pipes) = host.servers.start(&order(spec, workspace)?)?;
    let lines = Lines::open(pipes.input, pipes.output, Arc::clone(&stray));
    Ok((Wire::Pipes(lines), Some(Arc::new(process)), stray))
}

/// Says what is started for a server.
fn order(spec: &Spec, workspace: &Workspace) -> Result<Order, String> {
    let server = &spec.server;
    let granted = match server.workspace {
        Reach::None => None,
        Reach::Read | Reach::Write => {
            let path = workspace.host_path().map_err(|error| format!("no workspace: {error}"))?;
            Some((path.to_owned(), server.workspace == Reach::Write))
        }
    };
    let written = server.env.iter().map(|(name, value)| (name.clone(), value.clone()));
    Ok(Order {
        command: server.command.clone(),
        environment: written.chain(spec.secrets.iter().cloned()).collect(),
        folder: spec.folder.clone(),
        reads: spec.reads.clone(),
        workspace: granted,
        network: server.network,
    })
}

/// Makes the client of a server with a URL. Proxies of the environment are used, but not for
/// this machine; redirects are not followed, since they would carry the token elsewhere.
fn http(
    url: &str,
    token: Option<&str>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    static PROVIDER: Once = Once::new();
    // An error means that the process has a provider already, which serves as well.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("wildgym/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .pool_max_idle_per_host(0)
        .connect_timeout(Duration::from_secs(10));
    let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    if host.is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127.")) {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(|error| format!("the HTTP client fails: {error}"))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.max_sse_event_size = LARGEST;
    config.max_json_response_size = LARGEST;
    // A session that is gone is a server that lost its memory: that is said, not papered over.
    config.reinit_on_expired_session = false;
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
