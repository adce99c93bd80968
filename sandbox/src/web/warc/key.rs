//! When two requests are the same: method, URL and body, without what differs by chance.
//!
//! URLs are compared without fragment and secrets; bodies that are JSON by their values (the
//! order of keys and white space do not count), multipart bodies without their boundary, all
//! others byte for byte. Headers do not count: they carry cookies, dates and the browser's
//! version, and hardly ever decide what is asked.

use std::borrow::Cow;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;

use super::redact;
use crate::web::Request;

/// What stands for the boundary of a multipart body.
const BOUNDARY: &[u8] = b"wildgym-boundary";

/// A digest of method, URL and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::web) struct Key([u8; 32]);

impl Key {
    /// Returns the key of a request that has no secrets in it any more.
    pub(super) fn new(method: &str, url: &str, content_type: Option<&str>, body: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(method.as_bytes()).update(b" ").update(url.as_bytes()).update(b"\n");
        hasher.update(&canonical(content_type, body));
        Self(*hasher.finalize().as_bytes())
    }
}

/// A request as it is looked up and recorded: normal, and without secrets.
#[derive(Debug)]
pub(in crate::web) struct Asked {
    /// Tells it from others.
    pub(in crate::web) key: Key,
    /// Its URL.
    pub(in crate::web) url: String,
    pub(super) method: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    /// When it was asked, in real time.
    pub(super) date: Timestamp,
}

impl Asked {
    /// Takes the secrets out of a request whose URL is normal.
    pub(in crate::web) fn new(request: &Request) -> Self {
        let url = redact::url(&request.url);
        let method = request.method.to_string();
        let named = request.headers.iter().find(|(name, _)| name == "content-type");
        let content_type = named.map(|(_, value)| value.as_str());
        let body = match redact::body(content_type, &request.body) {
            Cow::Borrowed(_) => request.body.clone(),
            Cow::Owned(body) => body.into(),
        };
        let headers = request.headers.iter();
        let headers = headers
            .map(|(name, value)| (name.clone(), redact::header(name, value).into_owned()))
            .collect();
        let key = Key::new(&method, &url, content_type, &body);
        Self { key, url, method, headers, body, date: Timestamp::now() }
    }

    /// Returns what is stored of the body of a reply: nothing for `HEAD`.
    pub(in crate::web) fn stored<'a>(&self, body: &'a [u8]) -> &'a [u8] {
        if self.method == "HEAD" { &[] } else { body }
    }
}

/// Returns a body as it is compared.
fn canonical<'a>(content_type: Option<&str>, body: &'a [u8]) -> Cow<'a, [u8]> {
    let content_type = content_type.unwrap_or_default();
    let media = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if redact::is_json(&media, body)
        && let Ok(mut value) = serde_json::from_slice::<Value>(body)
    {
        value.sort_all_objects();
        return value.to_string().into_bytes().into();
    }
    match boundary(content_type).filter(|_| media.starts_with("multipart/")) {
        Some(boundary) => replaced(body, boundary.as_bytes()).into(),
        None => body.into(),
    }
}

fn boundary(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (name.trim().eq_ignore_ascii_case("boundary") && !value.is_empty()).then_some(value)
    })
}

/// Replaces every boundary.
fn replaced(body: &[u8], boundary: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(&byte) = rest.first() {
        if let Some(after) = rest.strip_prefix(boundary) {
            out.extend_from_slice(BOUNDARY);
            rest = after;
        } else {
            out.push(byte);
            rest = &rest[1..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn key(method: http::Method, url: &str, media: &str, body: &str) -> Key {
        let headers = vec![("content-type".to_owned(), media.to_owned())];
        let (url, body) = (Url::parse(url).unwrap(), Bytes::from(body.to_owned()));
        Asked::new(&Request { method, url, headers, body }).key
    }

    #[test]
    fn what_differs_by_chance_does_not_count() {
        let post = |media, body| key(http::Method::POST, "https://a.test/", media, body);
        let json = "application/json; charset=utf-8";
        let table = [
            (json, r#"{"q":"x","page":1}"#, json, r#"{ "page": 1, "q": "x" }"#, true, "order"),
            (json, r#"{"q":"x"}"#, json, r#"{"q":"y"}"#, false, "another value"),
            (json, r#"{"a":[1,2]}"#, json, r#"{"a":[2,1]}"#, false, "a list has an order"),
            (json, r#"{"q":"x"}"#, "", r#"{"q": "x"}"#, true, "JSON without saying so"),
            (
                "multipart/form-data; boundary=one",
                "--one\r\nx\r\n--one--",
                "multipart/form-data; boundary=\"two2\"",
                "--two2\r\nx\r\n--two2--",
                true,
                "browsers draw the boundary",
            ),
            ("text/plain", "a", "text/plain", "a ", false, "other bodies by their bytes"),
            (json, r#"{"password":"K1"}"#, json, r#"{"password":"K2"}"#, true, "secrets"),
        ];
        for (media, body, other_media, other, same, why) in table {
            assert_eq!(post(media, body) == post(other_media, other), same, "{why}");
        }
    }

    #[test]
    fn method_url_and_body_count() {
        let get = key(http::Method::GET, "https://a.test/?a=1&key=K1#f", "", "");
        assert_eq!(get, key(http::Method::GET, "https://a.test/?a=1&key=K2", "", ""));
        assert_ne!(get, key(http::Method::HEAD, "https://a.test/?a=1&key=K1", "", ""));
        assert_ne!(get, key(http::Method::GET, "https://a.test/?a=2&key=K1", "", ""));
        assert_ne!(get, key(http::Method::GET, "https://a.test/?a=1&key=K1", "", "x"));
    }
}
