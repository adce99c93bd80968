//! The remote control of a browser: its pipe, made to look like the socket that
//! chromiumoxide speaks through.
//!
//! A browser that listens on a port obeys every process of the machine that finds the
//! port. One that is controlled through a pipe obeys its parent. chromiumoxide knows
//! only web sockets; so there is one for a moment: a listener on loopback that takes a
//! single connection, the one that knows a secret path, and is closed before the
//! browser is first asked anything.

use std::io;
use std::time::Duration;

use async_tungstenite::tokio::{TokioAdapter, accept_hdr_async_with_config};
use async_tungstenite::tungstenite::Message;
use async_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use async_tungstenite::tungstenite::http::StatusCode;
use async_tungstenite::tungstenite::protocol::WebSocketConfig;
use async_tungstenite::{WebSocketReceiver, WebSocketSender, WebSocketStream};
use chromiumoxide::error::CdpError;
use chromiumoxide::handler::{Handler, HandlerConfig};
use futures::StreamExt;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{ChildStdin, ChildStdout};

/// What ends a message in the pipe.
const END: u8 = 0;

/// How long a stranger on the listener may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(2);

/// Room for what is read from the pipe, in bytes: a screenshot is some hundred kilobytes.
const BUFFER: usize = 256 << 10;

type Socket = WebSocketStream<TokioAdapter<TcpStream>>;

/// A connection between chromiumoxide and a browser's pipe.
pub(super) struct Link {
    /// What commands are given to.
    pub(super) browser: chromiumoxide::Browser,
    /// What has to be polled from the very start.
    pub(super) handler: Handler,
    /// Carries messages; completes when the browser hangs up.
    pub(super) carry: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Links chromiumoxide to the pipe of a browser.
pub(super) async fn link(
    input: ChildStdin,
    output: ChildStdout,
    config: HandlerConfig,
) -> Result<Link, CdpError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let secret = format!("/{:032x}", rand::random::<u128>());
    let address = format!("ws://{}{secret}", listener.local_addr()?);
    let (socket, client) = tokio::join!(
        accept(listener, &secret),
        chromiumoxide::Browser::connect_with_config(address, config)
    );
    let (browser, handler) = client?;
    let carry = Box::pin(carry(socket?, input, output));
    Ok(Link { browser, handler, carry })
}

/// Takes the connection that knows the secret, and closes the listener.
async fn accept(listener: TcpListener, secret: &str) -> io::Result<Socket> {
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    loop {
        let (stream, _) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        #[expect(clippy::result_large_err, reason = "the library's own type")]
        let knows = |request: &Request, response: Response| {
            if request.uri().path() == secret {
                return Ok(response);
            }
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = StatusCode::FORBIDDEN;
            Err(refusal)
        };
        let shake = accept_hdr_async_with_config(stream, knows, Some(config));
        if let Ok(Ok(socket)) = tokio::time::timeout(PATIENCE, shake).await {
            return Ok(socket);
        }
    }
}

/// Carries messages both ways until either side hangs up.
async fn carry(socket: Socket, input: ChildStdin, output: ChildStdout) {
    let (sender, receiver) = socket.split();
    tokio::select! {
        _ = to_browser(receiver, input) => {}
        _ = from_browser(sender, output) => {}
    }
}

async fn to_browser(
    mut receiver: WebSocketReceiver<TokioAdapter<TcpStream>>,
    mut input: ChildStdin,
) -> io::Result<()> {
    while let Some(Ok(message)) = receiver.next().await {
        if let Message::Text(text) = message {
            let mut bytes = text.as_bytes().to_vec();
            bytes.push(END);
            input.write_all(&bytes).await?;
        }
    }
    Ok(())
}

async fn from_browser(
    mut sender: WebSocketSender<TokioAdapter<TcpStream>>,
    output: ChildStdout,
) -> io::Result<()> {
    let mut output = BufReader::with_capacity(BUFFER, output);
    loop {
        let mut bytes = Vec::new();
        output.read_until(END, &mut bytes).await?;
        if bytes.pop() != Some(END) {
            return Ok(());
        }
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        sender.send(Message::text(text)).await.map_err(io::Error::other)?;
    }
}
