//! Shows a web to a person: one server on this machine for all hosts.
//!
//! A request finds its host in three ways: by `Host` (for live runs that are mapped here),
//! by an absolute address (for browsers that use the server as their HTTP proxy), and by
//! a path `/~/host/…`, whose pages have their links rewritten so that any browser can
//! click around. What the server itself shows is for the names of this machine only: a
//! foreign name that was pointed here is refused, and so is a foreign page's request.

mod links;

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use url::Url;

use super::media::media_type;
use super::reply::escape;
use super::{AccessLog, OF_CONNECTION, Request, Response, Web, WebError};
use crate::encoding::decode;

/// Largest body of a request, in bytes.
const LARGEST: usize = 8 << 20;

/// Most connections at once.
const MOST: usize = 256;

/// Longest that a slow page is waited for.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// How long a connection may take to send its head.
const HEAD: Duration = Duration::from_secs(30);

/// How long a connection may take to send the body of a request.
const BODY: Duration = Duration::from_secs(30);

type Answer = hyper::Response<Full<Bytes>>;

/// What a server shows, and how.
pub struct Serve {
    /// The web.
    pub web: Web,
    /// Hosts and what people call them, for the index.
    pub hosts: Vec<(String, String)>,
    /// The logical time of every reply.
    pub now: Timestamp,
    /// Whether the index is shown under addresses of other machines, too.
    pub allow_remote: bool,
    /// Takes a line for each request.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
}

/// Serves until `stop` is done; requests that are not answered by then are dropped.
pub async fn serve(serve: Serve, listener: TcpListener, stop: impl Future<Output = ()>) {
    let serve = Arc::new(serve);
    let places = Arc::new(Semaphore::new(MOST));
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, say: others will be closed soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let place = tokio::select! {
            () = &mut stop => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let Ok(place) = place else { break };
        let serve = Arc::clone(&serve);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let serve = Arc::clone(&serve);
                async move { Ok::<_, Infallible>(serve.answer(request).await) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // A connection that breaks has nobody left to tell.
            let _broken = server.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
    connections.shutdown().await;
}

/// How a request found its host.
enum Target {
    /// By `Host`, or as at a proxy.
    Site { url: String, by_proxy: bool },
    /// By a path of the server's own.
    Shown { host: String, rest: String },
    /// The server itself.
    Own(String),
    /// Not at all.
    Refused(StatusCode, String),
}

impl Serve {
    async fn answer(&self, request: hyper::Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let line = format!("{} {}", head.method, described(&head.uri, &head.headers));
        let answer = match self.target(&head.method, &head.uri, &head.headers) {
            Target::Refused(status, problem) => told(status, &problem),
            Target::Own(path) => self.own(&path, &head.uri, &head.headers),
            Target::Site { url, by_proxy } => match self.ask(&url, head, body).await {
                Ok(response) => given(response, by_proxy, &|headers| headers),
                Err(problem) => problem,
            },
            Target::Shown { host, rest } => {
                let url = format!("http://{host}{rest}");
                match self.ask(&url, head, body).await {
                    Ok(response) => Self::shown(&host, response),
                    Err(problem) => problem,
                }
            }
        };
        (self.log)(&format!("{line} {}", answer.status().as_u16()));
        answer
    }

    /// Finds the host that a request is for.
    fn target(&self, method: &http::Method, uri: &Uri, headers: &HeaderMap) -> Target {
        if *method == http::Method::CONNECT {
            let problem = "this proxy speaks http only; open the page as http://";
            return Target::Refused(StatusCode::NOT_IMPLEMENTED, problem.to_owned());
        }
        if uri.scheme().is_some() {
            let host = uri.host().unwrap_or_default();
            if self.is_own(host) {
                let problem = "this is the proxy itself; open it without a proxy";
                return Target::Refused(StatusCode::LOOP_DETECTED, problem.to_owned());
            }
            return Target::Site { url: uri.to_string(), by_proxy: true };
        }
        let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let authority = named.and_then(|host| host.parse::<http::uri::Authority>().ok());
        let Some(authority) = authority else {
            let problem = "the request names no host";
            return Target::Refused(StatusCode::BAD_REQUEST, problem.to_owned());
        };
        let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        if !self.is_own(authority.host()) {
            return Target::Site {
                url: format!("http://{}{path}", self.played(authority.host())),
                by_proxy: false,
            };
        }
        let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes);
        if origin.is_some_and(|origin| origin != format!("http://{authority}").as_bytes()) {
            let problem = "a page of another origin may not ask here";
            return Target::Refused(StatusCode::FORBIDDEN, problem.to_owned());
        }
        let Some(below) = path.strip_prefix("/~/") else { return Target::Own(path.to_owned()) };
        match below.find(['/', '?']) {
            Some(at) if at > 0 => {
                let (host, rest) = below.split_at(at);
                let slash = if rest.starts_with('/') { "" } else { "/" };
                Target::Shown { host: host.to_owned(), rest: format!("{slash}{rest}") }
            }
            Some(_) | None => Target::Own(path.to_owned()),
        }
    }

    /// Returns the host that plays one of the open web's services for a mapped live run:
    /// the suite's search engine and encyclopedias, where it has no host of that name.
    fn played<'a>(&'a self, host: &'a str) -> &'a str {
        let wanted = host.to_ascii_lowercase();
        if self.hosts.iter().any(|(host, _)| *host == wanted) {
            return host;
        }
        let endpoints = self.web.endpoints();
        let url = if wanted == "google.serper.dev" {
            Some(&endpoints.search)
        } else {
            let language = wanted.strip_suffix(".wikipedia.org");
            language.and_then(|language| endpoints.encyclopedia.get(language))
        };
        url.and_then(Url::host_str).unwrap_or(host)
    }

    /// Returns whether the name is one of this machine: no name that others can point here.
    fn is_own(&self, host: &str) -> bool {
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| self.allow_remote || address.is_loopback())
    }

    /// Shows the index, or sends on what a page asked for by a path of its own.
    fn own(&self, path: &str, uri: &Uri, headers: &HeaderMap) -> Answer {
        if matches!(uri.path(), "/" | "/~/") {
            return page(StatusCode::OK, &self.index());
        }
        if let Some(host) = path.strip_prefix("/~/").filter(|it| !it.starts_with(['/', '?'])) {
            return sent_on(&format!("/~/{host}/"));
        }
        // A script or a style names `/x` and means its own host.
        let referer = headers.get(header::REFERER).and_then(|it| it.to_str().ok());
        let from = referer.and_then(|it| it.parse::<Uri>().ok());
        let from = from.filter(|uri| uri.host().is_some_and(|host| self.is_own(host)));
        let host = from.as_ref().and_then(|uri| uri.path().strip_prefix("/~/")?.split('/').next());
        match host.filter(|host| !host.is_empty()) {
            Some(host) => sent_on(&format!("/~/{host}{path}")),
            None => told(StatusCode::NOT_FOUND, "nothing is here; the hosts are listed at /"),
        }
    }

    fn index(&self) -> String {
        let mut body = String::from("<h1>The web of this suite</h1>\n<ul>\n");
        for (host, title) in &self.hosts {
            let (host, title) = (escape(host), escape(title));
            let _infallible = writeln!(body, "<li><a href=\"/~/{host}/\">{host}</a> {title}</li>");
        }
        let _infallible = write!(
            body,
            "</ul>\n<p>It is {} here. As an HTTP proxy, this server shows the same hosts under \
             their own names (http:// only).</p>",
            self.now
        );
        body
    }

    /// Asks the web, and waits as long as the host takes.
    async fn ask(
        &self,
        url: &str,
        head: http::request::Parts,
        body: Incoming,
    ) -> Result<Response, Answer> {
        let url = Url::parse(url)
            .map_err(|error| told(StatusCode::BAD_REQUEST, &format!("no address: {error}")))?;
        let body = tokio::time::timeout(BODY, Limited::new(body, LARGEST).collect()).await;
        let body = body.map_err(|_| {
            let problem = format!("the body is not here after {} s", BODY.as_secs());
            told(StatusCode::REQUEST_TIMEOUT, &problem)
        })?;
        let body = body.map_err(|_| {
            told(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the body breaks off, or has more than {LARGEST} bytes"),
            )
        })?;
        let ours = ["host", "origin", "referer", "content-length", "accept-encoding"];
        let kept = |name: &HeaderName| {
            !OF_CONNECTION.contains(&name.as_str()) && !ours.contains(&name.as_str())
        };
        let headers = head.headers.iter().filter(|(name, _)| kept(name));
        let headers = headers.map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let request =
            Request { method: head.method, url, headers: headers.collect(), body: body.to_bytes() };
        match self.web.exchange(request, self.now, &AccessLog::default()).await {
            Ok(response) => {
                tokio::time::sleep(response.delay.min(LONGEST_WAIT)).await;
                Ok(response)
            }
            Err(error @ WebError::Unreachable(_)) => {
                let problem = format!("{error}; this server knows the hosts of its suite only");
                Err(told(StatusCode::MISDIRECTED_REQUEST, &problem))
            }
            Err(error) => Err(told(StatusCode::BAD_GATEWAY, &error.to_string())),
        }
    }

    /// Makes a page whose links stay on this server.
    fn shown(host: &str, mut response: Response) -> Answer {
        let map = |address: &str| mapped(host, address);
        let kind = response.header("content-type").unwrap_or_default().to_owned();
        if media_type(&kind) == "text/html" {
            let text = decode(&response.body, Some(&kind)).text;
            response.body = Bytes::from(links::rewritten(&text, &map));
        }
        given(response, true, &|(name, value): (String, String)| match name.as_str() {
            "location" => (name, map(&value).unwrap_or(value)),
            "set-cookie" => {
                let value = value.replace("; Path=/", &format!("; Path=/~/{host}/"));
                (name, value)
            }
            "content-type" if value.starts_with("text/html") => {
                (name, "text/html; charset=utf-8".to_owned())
            }
            _ => (name, value),
        })
    }
}

/// Returns the address on this server of what a page of `host` links to.
fn mapped(host: &str, address: &str) -> Option<String> {
    if address.starts_with('/') && !address.starts_with("//") {
        return Some(format!("/~/{host}{address}"));
    }
    let scheme = if address.starts_with("//") { "http:" } else { "" };
    let url = Url::parse(&format!("{scheme}{address}")).ok()?;
    let rest = &url[url::Position::BeforePath..];
    let is_web = matches!(url.scheme(), "http" | "https");
    is_web.then(|| Some(format!("/~/{}{rest}", url.host_str()?)))?
}

/// Makes an answer of a response. Over plain http, what asks for https is left out: no
/// browser would keep such a cookie, or open such a page again.
fn given(
    response: Response,
    is_plain: bool,
    map: &dyn Fn((String, String)) -> (String, String),
) -> Answer {
    let left_out = ["strict-transport-security", "content-security-policy"];
    let mut answer = hyper::Response::new(Full::new(response.body.clone()));
    *answer.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let has_length = response.body.is_empty() && response.status != 304;
    for (name, value) in response.headers {
        if (is_plain && left_out.contains(&name.as_str()))
            || OF_CONNECTION.contains(&name.as_str())
            || (name == "content-length" && !has_length)
        {
            continue;
        }
        let (name, mut value) = map((name, value));
        if is_plain && name == "set-cookie" {
            value = value.replace("; Secure", "");
        }
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            answer.headers_mut().append(name, value);
        }
    }
    answer
}

/// Says what is wrong, in words.
fn told(status: StatusCode, problem: &str) -> Answer {
    let mut answer = hyper::Response::new(Full::new(Bytes::from(format!("{problem}\n"))));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// Makes a page of the server's own, which no other page may frame.
fn page(status: StatusCode, body: &str) -> Answer {
    let page = super::reply::Reply::html(status.as_u16(), "en", "wildgym web", body);
    let mut answer = hyper::Response::new(Full::new(page.body));
    *answer.status_mut() = status;
    let headers =
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::X_FRAME_OPTIONS, "DENY")];
    for (name, value) in headers {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Sends on, with method and body.
fn sent_on(to: &str) -> Answer {
    let mut answer = told(StatusCode::TEMPORARY_REDIRECT, to);
    if let Ok(value) = HeaderValue::from_bytes(to.as_bytes()) {
        answer.headers_mut().insert(header::LOCATION, value);
    }
    answer
}

/// Words a request for the log: the host where the path does not name it.
fn described(uri: &Uri, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("?");
    // `CONNECT` has an authority for its address.
    let is_whole = uri.authority().is_some();
    let text = if is_whole { uri.to_string() } else { format!("{host}{uri}") };
    text.chars().filter(|c| !c.is_control()).take(300).collect()
}
