//! What comes back: responses as they are, and those in which replies are changed or made late.
//!
//! A response is looked into only where a reply in it is waited for; all others are streams that
//! nobody reads on the way.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};

use super::super::desk::Settled;
use super::super::sse::{self, Events, Piece};
use super::super::{HEADER, LARGEST};
use super::headers::{drop_of_connection, text};
use super::{Asked, Proxy, SESSION, Waited};

/// Adds replies to a response.
pub(super) async fn joined(response: Response, own: &[String]) -> Response {
    let (mut parts, body) = response.into_parts();
    let kind = text(&parts.headers, CONTENT_TYPE.as_str()).unwrap_or_default().to_owned();
    if kind.starts_with("text/event-stream") {
        let events = format!("data: {}\n\n", own.join("\n\ndata: "));
        let first = stream::once(async move { Ok::<_, axum::Error>(Bytes::from(events)) });
        parts.headers.remove(CONTENT_LENGTH);
        return Response::from_parts(
            parts,
            Body::from_stream(first.chain(body.into_data_stream())),
        );
    }
    let said = axum::body::to_bytes(body, LARGEST).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said = said.trim().trim_start_matches('[').trim_end_matches(']');
    let all: Vec<&str> =
        own.iter().map(String::as_str).chain(Some(said).filter(|said| !said.is_empty())).collect();
    let body = format!("[{}]", all.join(","));
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

/// Answers in the server's place.
pub(super) fn answered(asked: &Asked, reply: String, mark: Option<HeaderValue>) -> Response {
    let (kind, body) = if asked.takes_json() {
        ("application/json", reply)
    } else {
        ("text/event-stream", format!("event: message\ndata: {reply}\n\n"))
    };
    with_mark(([(CONTENT_TYPE, kind)], body).into_response(), mark)
}

/// Tells of a fault in a header.
pub(super) fn with_mark(mut response: Response, mark: Option<HeaderValue>) -> Response {
    if let Some(mark) = mark {
        response.headers_mut().insert(HeaderName::from_static(HEADER), mark);
    }
    response
}

/// Passes a response as it is.
pub(super) fn plain(response: reqwest::Response) -> Response {
    let response: axum::http::Response<reqwest::Body> = response.into();
    let (mut parts, body) = response.into_parts();
    drop_of_connection(&mut parts.headers);
    Response::from_parts(parts, Body::new(body))
}

fn of_response(response: &reqwest::Response) -> HeaderMap {
    let mut headers = response.headers().clone();
    drop_of_connection(&mut headers);
    headers
}

/// Passes a response in which replies are to be changed or made late.
pub(super) fn settled(
    proxy: &Arc<Proxy>,
    asked: &Asked,
    response: reqwest::Response,
    waited: Arc<Waited>,
    mark: Option<HeaderValue>,
) -> Response {
    let kind = text(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
    let is_stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
    let is_json = kind.trim_start().to_ascii_lowercase().starts_with("application/json");
    if waited.is_empty() || !(is_stream || is_json) {
        return with_mark(plain(response), mark);
    }
    let (status, mut headers) = (response.status(), of_response(&response));
    headers.remove(CONTENT_LENGTH);
    let body = if is_stream {
        // A session begins with the response that names it.
        let named = text(&headers, SESSION).map(str::to_owned);
        let session = named.unwrap_or_else(|| asked.session());
        Body::from_stream(events(Arc::clone(proxy), session, waited, response.bytes_stream()))
    } else {
        Body::from_stream(document(Arc::clone(proxy), waited, response))
    };
    with_mark((status, headers, body).into_response(), mark)
}

/// Returns a reply that comes as one document.
fn document(
    proxy: Arc<Proxy>,
    waited: Arc<Waited>,
    response: reqwest::Response,
) -> impl Stream<Item = Result<Bytes, reqwest::Error>> {
    stream::once(async move {
        let bytes = response.bytes().await?;
        Ok(settle(&proxy, &waited, bytes).await)
    })
}

async fn settle(proxy: &Proxy, waited: &Waited, bytes: Bytes) -> Bytes {
    let Ok(message) = std::str::from_utf8(&bytes) else { return bytes };
    let Settled { text, delay } = proxy.desk.settle(message, &mut |key| waited.get(key).cloned());
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    text.map_or(bytes, Bytes::from)
}

/// Returns a reply that comes among other messages in a stream of events.
fn events<S>(
    proxy: Arc<Proxy>,
    session: String,
    waited: Arc<Waited>,
    from: S,
) -> impl Stream<Item = Result<Bytes, reqwest::Error>>
where
    S: Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
{
    let state = (Box::pin(from), Events::new(), VecDeque::new(), false);
    stream::unfold(state, move |(mut from, mut events, mut ready, mut over)| {
        let (proxy, session, waited) = (Arc::clone(&proxy), session.clone(), Arc::clone(&waited));
        async move {
            loop {
                if let Some(piece) = ready.pop_front() {
                    let bytes = match piece {
                        Piece::Bytes(bytes) => Bytes::from(bytes),
                        Piece::Event(bytes) => {
                            event(&proxy, &session, &waited, Bytes::from(bytes)).await
                        }
                    };
                    return Some((Ok(bytes), (from, events, ready, over)));
                }
                if over {
                    return None;
                }
                match from.next().await {
                    Some(Ok(more)) => ready.extend(events.take(&more)),
                    Some(Err(error)) => return Some((Err(error), (from, events, ready, true))),
                    None => {
                        over = true;
                        let rest = events.rest();
                        ready.extend((!rest.is_empty()).then_some(Piece::Bytes(rest)));
                    }
                }
            }
        }
    })
}

/// Does what is to be done with an event.
async fn event(proxy: &Proxy, session: &str, waited: &Arc<Waited>, bytes: Bytes) -> Bytes {
    let Ok(event) = std::str::from_utf8(&bytes) else { return bytes };
    let (data, id) = sse::read(event);
    if let Some(id) = id {
        proxy.remember(session, id, waited);
    }
    let Some(data) = data else { return bytes };
    let Settled { text, delay } = proxy.desk.settle(&data, &mut |key| waited.get(key).cloned());
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    match text {
        Some(text) => sse::with_data(event, &text).into(),
        None => bytes,
    }
}
