//! Which headers go out to the open web, and which come back.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use crate::web::{OF_CONNECTION, Request};

/// How requests name themselves, unless the caller does.
const AGENT: &str = concat!(
    "wildgym/",
    env!("CARGO_PKG_VERSION"),
    " (a benchmark of language-model agents; reads pages as one reader would)"
);

/// Headers that are our own business beside those of a connection, or would say that a request
/// is for another host than its URL's, and so past the block list.
const OURS: [&str; 5] = ["accept-encoding", "content-length", "expect", "host", "http2-settings"];

/// Returns the headers of a request as they are sent; one that no header can hold is left out.
pub(super) fn outgoing(request: &Request) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let name = name.to_ascii_lowercase();
        let is_ours = OURS.contains(&name.as_str()) || OF_CONNECTION.contains(&name.as_str());
        if is_ours || name.starts_with("x-forwarded-") || name == "forwarded" {
            continue;
        }
        let pair = (HeaderName::try_from(name), HeaderValue::try_from(value.as_str()));
        if let (Ok(name), Ok(value)) = pair {
            headers.append(name, value);
        }
    }
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
    headers
}

/// Returns the headers of a reply whose body was decoded, names in lower case; `length` is
/// that of the body, where there is one.
pub(super) fn incoming(headers: &HeaderMap, length: Option<usize>) -> Vec<(String, String)> {
    let gone =
        ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "trailer", "upgrade"];
    let mut kept: Vec<(String, String)> = headers
        .iter()
        .filter(|(name, _)| !gone.contains(&name.as_str()))
        .filter(|(name, _)| !(length.is_some() && name.as_str() == "content-length"))
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect();
    if let Some(length) = length {
        kept.push(("content-length".to_owned(), length.to_string()));
    }
    kept
}
