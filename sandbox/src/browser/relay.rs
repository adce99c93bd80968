//! A request of a page, as the web is asked it, and what it answers, as a page gets it.
//!
//! Redirects are left to the browser. Headers that concern a connection go no further,
//! and neither does what would make the browser ask a person who is not there (a login
//! window) or leave the proxy (other protocols). An unknown host looks to a page's code
//! as it does elsewhere: the connection breaks; to whoever opened it as a page, it says
//! why.

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ALT_SVC, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE,
    DATE, HOST, HeaderName, HeaderValue, UPGRADE, WWW_AUTHENTICATE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use jiff::Timestamp;
use url::Url;

use super::proxy::{Origin, Shared};
use crate::web::{self, OF_CONNECTION, WebError};

/// What goes back to the browser.
pub(super) type Reply = Response<Full<Bytes>>;

/// The connection breaks.
#[derive(Debug, thiserror::Error)]
#[error("nobody answers")]
pub(super) struct Failed;

/// The largest body that a page may send, in bytes.
const MAX_SENT: usize = 32 << 20;

/// The longest that a slow host is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// Asks the web on behalf of a page.
pub(super) async fn answer(
    request: Request<Incoming>,
    origin: &Origin,
    shared: &Shared,
) -> Result<Reply, Failed> {
    if request.headers().contains_key(UPGRADE) {
        let why = "web sockets are not available here; the page has to do with requests";
        return Ok(plain(StatusCode::NOT_IMPLEMENTED, why));
    }
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let Ok(url) = Url::parse(&format!("{}://{}{path}", origin.scheme, origin.authority)) else {
        return Ok(plain(StatusCode::BAD_REQUEST, "this is no address"));
    };
    let (method, opens) = (request.method().clone(), opens_page(request.headers()));
    let headers = asked(request.headers());
    let Ok(body) = Limited::new(request.into_body(), MAX_SENT).collect().await else {
        return Ok(plain(StatusCode::PAYLOAD_TOO_LARGE, "the form is larger than 32 MiB"));
    };
    let asked =
        web::Request { method: method.clone(), url: url.clone(), headers, body: body.to_bytes() };
    let now = shared.now();
    match shared.web.exchange(asked, now, &shared.log).await {
        Ok(response) => {
            // A page shows that it is slow; this is real time, of a task that is about it.
            tokio::time::sleep(response.delay.min(PATIENCE)).await;
            Ok(reply(&method, response, now))
        }
        Err(error) if opens => Ok(page(&url, &error, now)),
        Err(error) if is_blocked(&error) => Ok(plain(StatusCode::FORBIDDEN, &error.to_string())),
        Err(_) => Err(Failed),
    }
}

/// Whether the host is there, and the task may not reach it.
fn is_blocked(error: &WebError) -> bool {
    matches!(error, WebError::Blocked(_))
}

/// Whether what comes back is opened as a page, in a tab or a frame.
fn opens_page(headers: &HeaderMap) -> bool {
    match headers.get("sec-fetch-mode") {
        Some(mode) => mode == "navigate",
        // Over plain HTTP the browser tells no mode, but only pages are asked for so.
        None => headers.contains_key("upgrade-insecure-requests"),
    }
}

/// Returns the headers that go to the host.
fn asked(headers: &HeaderMap) -> Vec<(String, String)> {
    let hop = connection_headers(headers);
    let left = [HOST, CONTENT_LENGTH, ACCEPT_ENCODING, COOKIE];
    let mut kept: Vec<(String, String)> = headers
        .iter()
        .filter(|(name, _)| !hop.contains(name) && !left.contains(name))
        .map(|(name, value)| (name.as_str().to_owned(), text(value)))
        .collect();
    // Over HTTP/2 the browser sends each cookie in a header of its own.
    let cookies: Vec<String> = headers.get_all(COOKIE).iter().map(text).collect();
    if !cookies.is_empty() {
        kept.push((COOKIE.as_str().to_owned(), cookies.join("; ")));
    }
    kept
}

/// Returns the names of all headers that concern the connection, those that `connection`
/// lists among them.
fn connection_headers(headers: &HeaderMap) -> Vec<HeaderName> {
    let listed = headers.get_all(CONNECTION).iter().flat_map(|value| {
        text(value).split(',').filter_map(|name| name.trim().parse().ok()).collect::<Vec<_>>()
    });
    OF_CONNECTION.map(HeaderName::from_static).into_iter().chain(listed).collect()
}

/// Returns a header's value; what is not UTF-8 in it as Latin-1, as HTTP once said.
fn text(value: &HeaderValue) -> String {
    value.to_str().map_or_else(
        |_| {
            String::from_utf8(value.as_bytes().to_vec())
                .unwrap_or_else(|_| value.as_bytes().iter().map(|byte| char::from(*byte)).collect())
        },
        str::to_owned,
    )
}

/// Makes the browser's reply of the web's.
fn reply(method: &Method, response: web::Response, now: Timestamp) -> Reply {
    let status = match response.status {
        // From a host this is nonsense, and the browser would take it as ours.
        407 => StatusCode::BAD_GATEWAY,
        status => StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY),
    };
    let silent = matches!(status.as_u16(), 100..=199 | 204 | 205 | 304);
    let body = if silent || method == Method::HEAD { Bytes::new() } else { response.body };
    let mut reply = Response::new(Full::new(body.clone()));
    *reply.status_mut() = status;
    let named: HeaderMap = response
        .headers
        .iter()
        .filter_map(|(name, value)| {
            Some((
                HeaderName::from_bytes(name.as_bytes()).ok()?,
                HeaderValue::from_bytes(value.as_bytes()).ok()?,
            ))
        })
        .fold(HeaderMap::new(), |mut map, (name, value)| {
            map.append(name, value);
            map
        });
    let hop = connection_headers(&named);
    for (name, value) in &named {
        let left = hop.contains(name)
            || [WWW_AUTHENTICATE, ALT_SVC].contains(name)
            || (*name == CONTENT_LENGTH && method != Method::HEAD)
            || (*name == CONTENT_ENCODING && !is_encoded(value, &body));
        if !left {
            reply.headers_mut().append(name.clone(), value.clone());
        }
    }
    dated(reply, now)
}

/// Whether a body is still encoded as its header says. Bodies come decoded from the web;
/// an encoding that it does not know is left as it is, header and all.
fn is_encoded(encoding: &HeaderValue, body: &Bytes) -> bool {
    match encoding.as_bytes().to_ascii_lowercase().as_slice() {
        b"gzip" | b"x-gzip" => body.starts_with(&[0x1f, 0x8b]),
        b"br" | b"zstd" => true,
        _ => false,
    }
}

/// Sets the date, where the host gave none, to the logical one.
fn dated(mut reply: Reply, now: Timestamp) -> Reply {
    let date = now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    if let Ok(date) = HeaderValue::try_from(date) {
        reply.headers_mut().entry(DATE).or_insert(date);
    }
    reply
}

/// Returns a reply of plain text.
pub(super) fn plain(status: StatusCode, text: &str) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(format!("{text}\n"))));
    *reply.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, plain);
    reply
}

/// Returns the page that stands for one that cannot be shown.
fn page(url: &Url, error: &WebError, now: Timestamp) -> Reply {
    let (status, title) = if is_blocked(error) {
        (StatusCode::FORBIDDEN, "This site is blocked")
    } else {
        (StatusCode::BAD_GATEWAY, "This site cannot be reached")
    };
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\
         </head>\n<body>\n<h1>{title}</h1>\n<p>{}</p>\n<p>{}</p>\n</body>\n</html>\n",
        escape(url.as_str()),
        escape(&error.to_string())
    );
    let mut reply = Response::new(Full::new(Bytes::from(html)));
    *reply.status_mut() = status;
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    dated(reply, now)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-03-01T09:00:00Z".parse().unwrap()
    }

    fn response(status: u16, headers: &[(&str, &str)], body: &'static [u8]) -> web::Response {
        web::Response {
            status,
            url: Url::parse("https://tides.test/").unwrap(),
            headers: headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            body: Bytes::from_static(body),
            delay: Duration::ZERO,
        }
    }

    async fn body(reply: Reply) -> Bytes {
        reply.into_body().collect().await.unwrap().to_bytes()
    }

    #[test]
    fn what_concerns_the_connection_goes_no_further() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("host", "tides.test"),
            ("connection", "keep-alive, X-Secret"),
            ("x-secret", "1"),
            ("proxy-authorization", "Basic eDp5"),
            ("accept-encoding", "gzip, br"),
            ("accept-language", "en-US"),
            ("cookie", "a=1"),
            ("cookie", "b=2"),
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let kept = asked(&headers);
        let want = [("accept-language", "en-US"), ("cookie", "a=1; b=2")];
        assert_eq!(kept, want.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[tokio::test]
    async fn replies_keep_what_is_the_pages_and_lose_what_is_not() {
        let headers = [
            ("content-type", "text/html"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
            ("content-length", "999"),
            ("transfer-encoding", "chunked"),
            ("www-authenticate", "Basic realm=x"),
            ("alt-svc", "h3=\":443\""),
            ("bad name", "x"),
            ("bad-value", "a\r\nb: c"),
            ("content-encoding", "gzip"),
        ];
        let reply = reply(&Method::GET, response(401, &headers, b"<p>no</p>"), now());
        assert_eq!(reply.status(), 401);
        let names: Vec<&str> = reply.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["content-type", "set-cookie", "date"], "decoded long since, too");
        assert_eq!(reply.headers().get_all("set-cookie").iter().count(), 2);
        assert_eq!(reply.headers()["date"], "Sun, 01 Mar 2026 09:00:00 GMT");
        assert_eq!(body(reply).await, "<p>no</p>");
    }

    #[tokio::test]
    async fn some_replies_have_no_body() {
        let table = [
            (Method::HEAD, 200, 200, "", Some("5"), "HEAD: the length of what GET would bring"),
            (Method::GET, 204, 204, "", None, "nothing to show"),
            (Method::GET, 304, 304, "", None, "unchanged"),
            (Method::GET, 200, 200, "hello", None, "the length is set on sending"),
            (Method::GET, 407, 502, "hello", None, "a host is no proxy"),
            (Method::GET, 42, 502, "hello", None, "no status at all"),
        ];
        for (method, given, status, want, length, why) in table {
            let reply =
                reply(&method, response(given, &[("content-length", "5")], b"hello"), now());
            assert_eq!(reply.status(), status, "{why}");
            let said = reply.headers().get(CONTENT_LENGTH).map(|value| value.to_str().unwrap());
            assert_eq!(said, length, "{why}");
            assert_eq!(body(reply).await, want, "{why}");
        }
    }

    #[test]
    fn an_encoding_is_told_where_the_body_has_it() {
        let table: [(&str, &[u8], bool); 5] = [
            ("gzip", b"\x1f\x8b\x08", true),
            ("GZIP", b"<html>", false),
            ("br", b"\x0b\x02", true),
            ("identity", b"<html>", false),
            ("deflate", b"<html>", false),
        ];
        for (encoding, bytes, want) in table {
            let value = HeaderValue::from_str(encoding).unwrap();
            assert_eq!(is_encoded(&value, &Bytes::from_static(bytes)), want, "{encoding}");
        }
    }

    #[tokio::test]
    async fn a_page_says_why_there_is_none() {
        let url = Url::parse("https://no.test/?<b>").unwrap();
        let unknown = page(&url, &WebError::Unreachable("no.test".into()), now());
        assert_eq!(unknown.status(), 502);
        let html = body(unknown).await;
        let html = String::from_utf8_lossy(&html);
        assert!(html.contains("cannot be reached") && html.contains("unknown"), "{html}");
        assert!(!html.contains("<b>"), "the address is text: {html}");
        let blocked = page(&url, &WebError::Blocked("no.test".into()), now());
        assert_eq!(blocked.status(), 403);
        assert!(String::from_utf8_lossy(&body(blocked).await).contains("blocked"));
    }
}
