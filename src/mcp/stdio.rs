//! One client over a pair of streams: standard input and output.

use std::sync::Arc;

use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

use super::handler::{Handler, Served};
use super::lines::Lines;

/// Serves one client until it closes its end. Lines may have 16 MiB, and what is no message is
/// answered by an error.
///
/// An error says what was wrong with how the client began; whoever closes its end before it
/// said anything did nothing wrong.
pub async fn stdio(
    served: Arc<dyn Served>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let running = match Handler(served).serve(Lines::open(input, output)).await {
        Ok(running) => running,
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    running.waiting().await.map(drop).map_err(|error| error.to_string())
}
