//! What a redirect asks for: the next request, without what was meant for one host alone.

use bytes::Bytes;

use super::reply::Reply;
use super::{Request, WebError};

/// Returns the request that a redirect asks for, or `None` where the reply is none.
pub(super) fn next(request: &Request, reply: &Reply) -> Result<Option<Request>, WebError> {
    if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = reply.header("location") else { return Ok(None) };
    let url = request.url.join(location).map_err(|error| WebError::BadUrl {
        url: location.to_owned(),
        reason: format!("`{}` redirects there, and it is no URL: {error}", request.url),
    })?;
    let mut next = Request { url, ..request.clone() };
    let place = |url: &url::Url| (url.host_str().map(ToOwned::to_owned), url.port());
    let in_clear = request.url.scheme() == "https" && next.url.scheme() == "http";
    if place(&next.url) != place(&request.url) || in_clear {
        // What was meant for one host is told neither to another nor to whoever listens.
        next.headers.retain(|(name, _)| {
            !["authorization", "cookie", "x-api-key"].contains(&name.to_ascii_lowercase().as_str())
        });
    }
    let keeps_method = matches!(reply.status, 307 | 308)
        || matches!(request.method, http::Method::GET | http::Method::HEAD);
    if !keeps_method {
        next.method = http::Method::GET;
        next.body = Bytes::new();
        next.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
    }
    Ok(Some(next))
}
