//! The only way out of a context: a proxy that asks the attempt's web.
//!
//! Each context has a listener of its own on loopback. It speaks HTTP as a proxy does
//! (absolute addresses, and `CONNECT`), ends TLS itself with the browser's
//! [`Authority`], and hands each request to [`Web::exchange`]. Nothing here opens a
//! connection, resolves a name or reads a file: what the web does not answer is not
//! there.
//!
//! Only connections of the browser's own processes are served, since a port on loopback
//! is open to every program of the machine. Web sockets are refused with 501.

use std::io::{self, Cursor};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use jiff::Timestamp;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::LazyConfigAcceptor;

use super::authority::Authority;
use super::relay::{self, Failed, Reply};
use super::tree::Tree;
use crate::web::{AccessLog, Web};

/// How long the opening of a TLS connection may take.
const OPENING: Duration = Duration::from_secs(20);

/// The first byte of a TLS connection: a handshake record.
const HANDSHAKE: u8 = 0x16;

/// How a request reached the proxy.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    /// `http` or `https`.
    pub(super) scheme: &'static str,
    /// Host and, where it is not the scheme's own, port: `tides.test`, `[::1]:8080`.
    pub(super) authority: String,
}

/// What the connections of one context share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Who answers.
    pub(super) web: Web,
    /// What was sent and not yet told to a call.
    pub(super) log: AccessLog,
    /// The logical time of the current call, or of the last one.
    now: Mutex<Timestamp>,
    authority: Arc<Authority>,
    tree: Arc<Tree>,
    port: u16,
}

impl Shared {
    /// Returns the logical time at which a request is sent.
    pub(super) fn now(&self) -> Timestamp {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The proxy of one context. Dropping it closes its connections.
#[derive(Debug)]
pub(super) struct Proxy {
    shared: Arc<Shared>,
    /// Closed when dropped; every task of the proxy ends then.
    _open: watch::Sender<()>,
}

impl Proxy {
    /// Opens a listener on loopback whose requests go to `web`.
    pub(super) async fn open(
        web: Web,
        now: Timestamp,
        authority: Arc<Authority>,
        tree: Arc<Tree>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let log = AccessLog::default();
        let shared = Arc::new(Shared { web, log, now: Mutex::new(now), authority, tree, port });
        let (open, closed) = watch::channel(());
        tokio::spawn(listen(listener, Arc::clone(&shared), Closing(closed)));
        Ok(Self { shared, _open: open })
    }

    /// Returns the port.
    pub(super) fn port(&self) -> u16 {
        self.shared.port
    }

    /// Sets the logical time of what is sent from now on.
    pub(super) fn set_now(&self, now: Timestamp) {
        *self.shared.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Tells a call what was sent since the last one was told.
    pub(super) fn tell(&self, log: &AccessLog) {
        self.shared.log.take().into_iter().for_each(|access| log.push(access));
    }
}

/// Knows when the proxy was closed.
#[derive(Debug, Clone)]
struct Closing(watch::Receiver<()>);

impl Closing {
    /// Runs a future until it completes or the proxy is closed.
    async fn or(mut self, work: impl Future<Output = ()>) {
        tokio::select! {
            () = work => {}
            _ = self.0.changed() => {}
        }
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>, closing: Closing) {
    let accepting = async {
        loop {
            if let Ok((stream, peer)) = listener.accept().await {
                let (shared, closing) = (Arc::clone(&shared), closing.clone());
                tokio::spawn(closing.clone().or(async move {
                    if is_ours(&shared, peer).await {
                        let _ = stream.set_nodelay(true);
                        greet(stream, None, shared, closing).await;
                    }
                }));
            } else {
                // Out of descriptors; they come back.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    };
    closing.clone().or(accepting).await;
}

/// Whether a connection was made by the browser.
async fn is_ours(shared: &Arc<Shared>, peer: std::net::SocketAddr) -> bool {
    let (tree, port) = (Arc::clone(&shared.tree), shared.port);
    tokio::task::spawn_blocking(move || tree.owns(peer, port)).await.unwrap_or(false)
}

/// Looks at the first byte: TLS, which only a tunnel carries, or plain HTTP.
async fn greet(
    mut stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    tunnel: Option<String>,
    shared: Arc<Shared>,
    closing: Closing,
) {
    let Ok(first) = stream.read_u8().await else { return };
    let (read, write) = tokio::io::split(stream);
    let stream = tokio::io::join(Cursor::new([first]).chain(read), write);
    match (first, tunnel) {
        (HANDSHAKE, Some(authority)) => secure(stream, authority, shared, closing).await,
        (HANDSHAKE, None) => {}
        (_, Some(authority)) => {
            serve(stream, Some(Origin { scheme: "http", authority }), shared, closing).await;
        }
        (_, None) => serve(stream, None, shared, closing).await,
    }
}

/// Ends TLS as the host that the tunnel leads to.
async fn secure(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    authority: String,
    shared: Arc<Shared>,
    closing: Closing,
) {
    let opening = async {
        let start = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), stream).await?;
        let host = authority.parse::<http::uri::Authority>().map_err(io::Error::other)?;
        let host = host.host().trim_matches(['[', ']']);
        let config = shared.authority.config(host).map_err(io::Error::other)?;
        start.into_stream(config).await
    };
    if let Ok(Ok(stream)) = tokio::time::timeout(OPENING, opening).await {
        serve(stream, Some(Origin { scheme: "https", authority }), shared, closing).await;
    }
}

/// Serves a connection. Boxed, for a connection may hold a tunnel that is served in turn.
fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    origin: Option<Origin>,
    shared: Arc<Shared>,
    closing: Closing,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let answer = service_fn(move |request| {
            handle(request, origin.clone(), Arc::clone(&shared), closing.clone())
        });
        // What a connection ends with concerns the page only.
        let _ = auto::Builder::new(TokioExecutor::new())
            .serve_connection_with_upgrades(TokioIo::new(stream), answer)
            .await;
    })
}

/// Answers one request; an error cuts the connection, as a host that is not there does.
async fn handle(
    mut request: Request<Incoming>,
    origin: Option<Origin>,
    shared: Arc<Shared>,
    closing: Closing,
) -> Result<Reply, Failed> {
    match (origin, request.method() == Method::CONNECT) {
        (Some(origin), false) => relay::answer(request, &origin, &shared).await,
        (Some(_), true) => Ok(relay::plain(StatusCode::BAD_REQUEST, "a tunnel in a tunnel")),
        (None, true) => {
            let Some(authority) = request.uri().authority().map(ToString::to_string) else {
                return Ok(relay::plain(StatusCode::BAD_REQUEST, "a tunnel to nowhere"));
            };
            tokio::spawn(closing.clone().or(async move {
                if let Ok(upgraded) = hyper::upgrade::on(&mut request).await {
                    greet(TokioIo::new(upgraded), Some(authority), shared, closing).await;
                }
            }));
            Ok(Reply::default())
        }
        (None, false) => match (request.uri().scheme_str(), request.uri().authority()) {
            (Some("http"), Some(authority)) => {
                let origin = Origin { scheme: "http", authority: authority.to_string() };
                relay::answer(request, &origin, &shared).await
            }
            _ => Ok(relay::plain(StatusCode::BAD_REQUEST, "this is a proxy")),
        },
    }
}
