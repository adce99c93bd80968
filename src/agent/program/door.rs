//! The door of an attempt: serves the endpoints of one program, and holds what it may take of
//! the gym.
//!
//! Whoever sits behind it may be hostile: the connections that it opens and the requests that
//! it sends at once are bounded, so that it can starve nobody but itself.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most connections that a program has open at once; others wait.
const CONNECTIONS: usize = 256;

/// The largest request, in bytes: pictures stand in it.
pub(super) const LARGEST: usize = 64 << 20;

/// The most of all requests that are answered at once, in KiB; others wait.
const AT_ONCE: u32 = 256 << 10;

/// Serves routes until it is aborted. `started` becomes true when the program was started,
/// where somebody tells.
pub(super) fn serve<L>(
    listener: L,
    routes: Router,
    started: Arc<AtomicBool>,
) -> tokio::task::AbortHandle
where
    L: Listener<Io: Unpin>,
    L::Addr: std::fmt::Debug,
{
    let room = Arc::new(Semaphore::new(AT_ONCE as usize));
    let told = Router::new().route("/started", post(start)).with_state(started);
    // Nothing that the program sends holds up what is told of it.
    let routes = routes.layer(from_fn_with_state(room, admit)).merge(told);
    let listener = Bounded { listener, places: Arc::new(Semaphore::new(CONNECTIONS)) };
    tokio::spawn(async move {
        // It ends with the attempt, not by itself.
        let _ended = axum::serve(listener, routes).await;
    })
    .abort_handle()
}

async fn start(State(started): State<Arc<AtomicBool>>) -> StatusCode {
    started.store(true, Ordering::Relaxed);
    StatusCode::NO_CONTENT
}

/// Has a request wait until there is room for it.
async fn admit(State(room): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let told =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    // What does not tell its length may have any that is allowed.
    let chunked = headers.contains_key(header::TRANSFER_ENCODING);
    let bytes: usize = told.unwrap_or(if chunked { LARGEST } else { 0 });
    let kib = u32::try_from(bytes.min(LARGEST) / 1024).unwrap_or(AT_ONCE).saturating_add(1);
    let Ok(_place) = room.acquire_many_owned(kib).await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    next.run(request).await
}

/// A listener that has so many connections open and no more.
struct Bounded<L> {
    listener: L,
    places: Arc<Semaphore>,
}

/// A connection, and its place.
struct Held<S> {
    stream: S,
    _place: Option<OwnedSemaphorePermit>,
}

impl<L: Listener<Io: Unpin>> Listener for Bounded<L> {
    type Io = Held<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (stream, address) = self.listener.accept().await;
        (Held { stream, _place: place }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Held<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Held<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
