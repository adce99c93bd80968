//! The open web against real sockets: nothing here leaves this machine.
//!
//! Of the loopback addresses, 127.0.0.2 plays the open internet where a test needs one, and
//! 127.0.0.1 is what must not be reached.

use std::io::{self, Write as _};
use std::net::IpAddr;
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::web::{AccessLog, Web};

/// A server that notes what it is asked.
struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers every request on `address` with what `answer` makes of its head.
    async fn start(
        address: &str,
        port: u16,
        answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((address, port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (notes, answer) = (Arc::clone(&seen), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&notes), Arc::clone(&answer)));
            }
        });
        Self { port, seen }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

async fn serve(
    mut socket: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    answer: Arc<impl Fn(&str) -> Vec<u8> + Send + Sync>,
) {
    let mut read = Vec::new();
    // A greeting of TLS (its first byte is 22) has no end that is looked for here.
    while read.first() != Some(&22) && !read.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut part = [0; 4096];
        match socket.read(&mut part).await {
            Ok(0) | Err(_) => break,
            Ok(count) => read.extend_from_slice(&part[..count]),
        }
    }
    let head = String::from_utf8_lossy(&read).into_owned();
    let reply = answer(&head);
    seen.lock().unwrap().push(head);
    // A client that has seen enough goes away.
    let _ = socket.write_all(&reply).await;
}

/// Writes a reply with a body.
fn http(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut reply = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        for part in [name, ": ", value, "\r\n"] {
            reply.push_str(part);
        }
    }
    reply.push_str("connection: close\r\n\r\n");
    [reply.as_bytes(), body].concat()
}

/// Names as a test wants them, each with the addresses of its lookups in turn.
struct Told(Mutex<BTreeMap<String, Vec<Vec<IpAddr>>>>);

impl Told {
    fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let read = |turn: &&[&str]| turn.iter().map(|it| it.parse().unwrap()).collect();
        let names = names
            .iter()
            .map(|(host, turns)| ((*host).to_owned(), turns.iter().map(read).collect()));
        Arc::new(Self(Mutex::new(names.collect())))
    }
}

impl Names for Told {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut names = self.0.lock().unwrap();
        let found = match names.get_mut(&host) {
            Some(turns) if turns.len() > 1 => Ok(turns.remove(0)),
            Some(turns) => Ok(turns[0].clone()),
            None if host.starts_with("flaky") => {
                Err(io::Error::other("Temporary failure in name resolution"))
            }
            None => Err(io::Error::other("Name or service not known")),
        };
        Box::pin(std::future::ready(found))
    }
}

const REAL: Bounds = Bounds {
    time: LIMIT,
    body: MAX_BODY,
    refusal: addresses::refusal,
    name_refusal: addresses::name_refusal,
};

/// Bounds under which 127.0.0.2 counts as the open internet.
fn lenient() -> Bounds {
    let refusal: Refusal = |address| {
        let open = address == IpAddr::from([127, 0, 0, 2]);
        if open { None } else { addresses::refusal(address) }
    };
    Bounds { refusal, ..REAL }
}

fn open(names: Arc<Told>, bounds: Bounds, settings: LiveSettings) -> Arc<Live> {
    Arc::new(Live::bounded(settings, names, bounds).unwrap())
}

fn sent_to(entries: &[(&str, &str)]) -> LiveSettings {
    let mut map = HostMap::default();
    for (host, to) in entries {
        map.insert(host, to).unwrap();
    }
    LiveSettings { map, ..LiveSettings::default() }
}

fn web(live: &Arc<Live>) -> Web {
    Web::live(Arc::clone(live), &[], &[])
}

async fn send(web: &Web, request: Request) -> Result<crate::web::Response, WebError> {
    web.send(request, Timestamp::UNIX_EPOCH, &AccessLog::default()).await
}

async fn get(web: &Web, url: &str) -> Result<crate::web::Response, WebError> {
    send(web, Request::get(url.parse().unwrap())).await
}

#[tokio::test]
async fn a_mapped_host_is_asked_as_itself() {
    let packed = {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all("潮汐".repeat(500).as_bytes()).unwrap();
        packer.finish().unwrap()
    };
    let server = Server::start("127.0.0.1", 0, move |head| {
        if head.starts_with("HEAD") {
            return http("200 OK", &[("content-type", "text/html")], b"");
        }
        let headers = [("content-encoding", "gzip"), ("Set-Cookie", "a=1"), ("set-cookie", "b=2")];
        http("203 Fine", &headers, &packed)
    })
    .await;
    let live = open(Told::new(&[]), REAL, sent_to(&[("tides.example", &server.url())]));
    let mut request = Request::get("https://Tides.Example:8443/a%20b/?q=1#x".parse().unwrap());
    for (name, value) in [
        ("host", "other.example"),
        ("accept-encoding", "br"),
        ("x-forwarded-proto", "gopher"),
        ("proxy-authorization", "x"),
        ("content-length", "7"),
        ("accept", "text/html"),
        ("bad\nname", "x"),
    ] {
        request.headers.push((name.to_owned(), value.to_owned()));
    }
    let response = send(&web(&live), request).await.unwrap();
    assert_eq!(response.status, 203);
    assert_eq!(response.body, "潮汐".repeat(500), "a packed reply is unpacked");
    let length = response.body.len().to_string();
    assert_eq!(response.header("content-length"), Some(length.as_str()), "as it arrives");
    assert_eq!(response.header("content-encoding"), None);
    assert_eq!(response.headers.iter().filter(|(name, _)| name == "set-cookie").count(), 2);
    assert_eq!(response.url.as_str(), "https://tides.example:8443/a%20b/?q=1");
    let head = server.seen()[0].to_ascii_lowercase();
    assert!(head.starts_with("get /a%20b/?q=1 http/1.1"), "{head}");
    for line in ["host: tides.example:8443", "x-forwarded-proto: https", "accept: text/html"] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{line}: {head}");
    }
    assert!(head.contains("user-agent: wildgym/"), "{head}");
    for gone in ["other.example", "gopher", "proxy-auth", "br\r\n", "content-length: 7"] {
        assert!(!head.contains(gone), "{gone}: {head}");
    }
    let request = Request {
        method: http::Method::HEAD,
        ..Request::get("https://tides.example/".parse().unwrap())
    };
    let response = send(&web(&live), request).await.unwrap();
    assert_eq!((response.status, response.body.len()), (200, 0));
}

/// Every way to write or name an address that is none of the open web, as part of a URL.
fn forms() -> Vec<String> {
    let written = [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0x0.0x0.0x1",
        "0x7f.1",
        "0177.0.0.1",
        "0177.1",
        "017700000001",
        "127.0.0.1.",
        "0x7F.1.",
        "127.000.000.001",
        "０x7f.1",
        "１２７.0.0.1",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "127.0.0.1%2e",
        "me:pw@127.0.0.1",
        "0",
        "0.0.0.0",
        "0x0",
        "10.1.2.3",
        "0xa000001",
        "172.16.0.1",
        "192.168.1.1",
        "3232235777",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fd00::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[2001:db8::1]",
        "100.64.0.1",
        "255.255.255.255",
        "224.0.0.1",
        "198.18.0.1",
        "203.0.113.1",
        "240.0.0.1",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "ｌocalhost",
        "metadata.google.internal",
        "printer.local",
        "intranet",
        "router.lan",
        // These are names, and the name service says the rest.
        "loop.rebind.org",
        "private.rebind.org",
        "mapped.rebind.org",
        "nat64.rebind.org",
        "both.rebind.org",
        "ten.rebind.org",
        "cloud.rebind.org",
        "LOOP.rebind.org.",
    ];
    written.iter().map(ToString::to_string).collect()
}

/// A name service of somebody who means harm.
fn harmful() -> Arc<Told> {
    Told::new(&[
        ("loop.rebind.org", &[&["127.0.0.1"]]),
        ("private.rebind.org", &[&["192.168.0.10"]]),
        ("mapped.rebind.org", &[&["::ffff:127.0.0.1"]]),
        ("nat64.rebind.org", &[&["64:ff9b::7f00:1"]]),
        ("both.rebind.org", &[&["127.0.0.1", "::1"]]),
        ("ten.rebind.org", &[&["10.0.0.1"]]),
        ("cloud.rebind.org", &[&["169.254.169.254", "fd00:ec2::254"]]),
    ])
}

#[tokio::test]
async fn no_form_of_a_private_address_is_reached() {
    let server = Server::start("127.0.0.1", 0, |_| http("200 OK", &[], b"secret")).await;
    let live = open(harmful(), REAL, LiveSettings::default());
    let forms = forms();
    assert!(forms.len() >= 40, "{}", forms.len());
    for form in &forms {
        for scheme in ["http", "https"] {
            let text = format!("{scheme}://{form}:{}/", server.port);
            // What is no URL at all is refused before it gets here.
            let Ok(url) = Url::parse(&text) else { continue };
            let error = send(&web(&live), Request::get(url)).await.unwrap_err();
            let said = error.to_string();
            let wanted = ["is not on the open web", "addresses are not served", "this machine"];
            let fits = wanted.iter().any(|want| said.contains(want));
            assert!(fits, "{text}: {error:?}");
        }
    }
    assert_eq!(server.seen(), Vec::<String>::new(), "nothing arrived");
}

#[tokio::test]
async fn no_redirect_leads_to_a_private_address() {
    let target = Server::start("127.0.0.1", 0, |_| http("200 OK", &[], b"secret")).await;
    let (forms, port) = (forms(), target.port);
    let count = forms.len();
    let start = Server::start("127.0.0.1", 0, move |head| {
        let number: usize = head[5..].split(' ').next().unwrap().parse().unwrap();
        let location = format!("//{}:{port}/", forms[number]);
        http("302 Found", &[("location", &location)], b"")
    })
    .await;
    let live = open(harmful(), REAL, sent_to(&[("start.org", &start.url())]));
    for number in 0..count {
        let error = get(&web(&live), &format!("https://start.org/{number}")).await.unwrap_err();
        let refused = matches!(error, WebError::Private { .. } | WebError::BadUrl { .. });
        assert!(refused, "{}: {error:?}", super::tests::forms()[number]);
    }
    assert_eq!(start.seen().len(), count, "each redirect was met");
    assert_eq!(target.seen(), Vec::<String>::new(), "and none followed");
}

#[tokio::test]
async fn a_name_is_resolved_once_and_its_address_pinned() {
    let inside = Server::start("127.0.0.1", 0, |_| http("200 OK", &[], b"secret")).await;
    let outside = Server::start("127.0.0.2", inside.port, |_| http("200 OK", &[], b"public")).await;
    let names = Told::new(&[
        // The first answer is harmless; whoever asks again learns the other one.
        ("rebind.org", &[&["127.0.0.2"], &["127.0.0.1"]]),
        ("mixed.org", &[&["127.0.0.1", "127.0.0.2", "::1"]]),
    ]);
    let live = open(names, lenient(), LiveSettings::default());
    let url = |host: &str| format!("http://{host}:{}/", inside.port);
    assert_eq!(get(&web(&live), &url("rebind.org")).await.unwrap().body, "public");
    let error = get(&web(&live), &url("rebind.org")).await.unwrap_err();
    assert!(matches!(error, WebError::Private { .. }), "a new connection asks anew: {error:?}");
    assert_eq!(get(&web(&live), &url("mixed.org")).await.unwrap().body, "public");
    assert_eq!(outside.seen().len(), 2);
    assert_eq!(inside.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn every_failure_says_what_it_is() {
    let plain = Server::start("127.0.0.2", 0, |_| http("200 OK", &[], b"not TLS")).await;
    let silent = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let rude = Server::start("127.0.0.2", 0, |_| Vec::new()).await;
    let noise = Server::start("127.0.0.2", 0, |_| b"SSH-2.0-x\r\n\r\n".to_vec()).await;
    let odd =
        Server::start("127.0.0.2", 0, |_| http("200 OK", &[("content-encoding", "br")], b"xxxx"))
            .await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let bounds = Bounds { time: Duration::from_secs(1), ..lenient() };
    let live = open(Told::new(&[("a.org", &[&["127.0.0.2"]])]), bounds, LiveSettings::default());
    let silent_port = silent.local_addr().unwrap().port();
    let table = [
        (format!("http://a.org:{closed}/"), "the connection was refused"),
        (format!("https://a.org:{}/", plain.port), "no secure connection came about (TLS)"),
        (format!("http://a.org:{silent_port}/"), "did not answer within 1 s"),
        (format!("https://a.org:{silent_port}/"), "did not answer within 1 s"),
        (format!("http://a.org:{}/", rude.port), "cannot reach `a.org`: "),
        (format!("http://a.org:{}/", noise.port), "cannot reach `a.org`: "),
        (format!("http://a.org:{}/", odd.port), "compressed as `br`"),
        ("http://nowhere.org/".to_owned(), "the host is unknown"),
        ("http://flaky.org/".to_owned(), "the name service does not answer"),
        ("ftp://a.org/".to_owned(), "only `http` and `https`"),
        ("http://a.org:22/".to_owned(), "does not answer on port 22"),
    ];
    for (url, want) in table {
        let error = get(&web(&live), &url).await.unwrap_err().to_string();
        assert!(error.contains(want), "{url}: {error}");
        assert!(error.contains("a.org") || error.contains(".org"), "names the host: {error}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_cut_off() {
    let bomb = {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&vec![0; 1 << 20]).unwrap();
        packer.finish().unwrap()
    };
    let packed = bomb.len();
    let server = Server::start("127.0.0.1", 0, move |head| match head.split(' ').nth(1) {
        Some("/declared") => b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\nx".to_vec(),
        Some("/chunks") => {
            let mut reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            for _ in 0..300 {
                reply.extend_from_slice(b"400\r\n");
                reply.extend_from_slice(&[b'x'; 1024]);
                reply.extend_from_slice(b"\r\n");
            }
            reply
        }
        Some("/bomb") => http("200 OK", &[("content-encoding", "gzip")], &bomb),
        _ => http("200 OK", &[], &vec![b'x'; 64 << 10]),
    })
    .await;
    let bounds = Bounds { body: 64 << 10, ..REAL };
    let live = open(Told::new(&[]), bounds, sent_to(&[("*", &server.url())]));
    for path in ["declared", "chunks", "bomb"] {
        let error = get(&web(&live), &format!("https://a.org/{path}")).await.unwrap_err();
        assert_eq!(error, WebError::TooLarge(64 << 10), "{path}");
    }
    assert!(packed < 64 << 10, "the bomb is small as sent: {packed}");
    let largest = get(&web(&live), "https://a.org/fits").await.unwrap();
    assert_eq!(largest.body.len(), 64 << 10, "the largest that is allowed");
}

#[tokio::test]
async fn methods_and_the_block_list_hold_at_every_hop() {
    let server = Server::start("127.0.0.1", 0, |head| match head.split(' ').nth(1) {
        Some("/to-key") => http("307 Go", &[("location", "https://b.org/x/..%2fKEY/1")], b""),
        Some("/to-host") => http("302 Go", &[("location", "//www.Bad.org./")], b""),
        Some("/search") => {
            let hits = r#"{"organic":[{"link":"https://b.org/key/1"},{"link":"https://c.org/"}]}"#;
            http("200 OK", &[("content-type", "application/json")], hits.as_bytes())
        }
        _ => http("200 OK", &[], b"fine"),
    })
    .await;
    let live = open(Told::new(&[]), REAL, sent_to(&[("*", &server.url())]));
    let blocked = ["b.org/key/*".to_owned(), "bad.org".to_owned()];
    let web = Web::live(Arc::clone(&live), &blocked, &[]);
    for (url, want) in [
        ("https://a.org/to-key", Some("b.org/x/..%2fKEY/1")),
        ("https://a.org/to-host", Some("www.bad.org")),
        ("http://bad.org/", Some("bad.org")),
        ("https://b.org/%6bey/2", Some("b.org/%6bey/2")),
        ("https://b.org/keys", None),
    ] {
        let got = get(&web, url).await;
        match want {
            Some(what) => assert_eq!(got, Err(WebError::Blocked(what.to_owned())), "{url}"),
            None => assert_eq!(got.unwrap().body, "fine", "{url}"),
        }
    }
    let post = |url: &str| Request {
        method: http::Method::POST,
        body: "{}".into(),
        ..Request::get(url.parse().unwrap())
    };
    let error = send(&web, post("https://a.org/")).await.unwrap_err().to_string();
    assert_eq!(error, "`POST` is not allowed on this web; use `GET`, `HEAD`");
    let found = send(&web, post("https://google.serper.dev/search")).await.unwrap();
    assert_eq!(found.body, r#"{"organic":[{"link":"https://c.org/"}]}"#, "blocked hits are gone");
    let generous = Web::live(live, &[], &["GET".to_owned(), "POST".to_owned()]);
    assert_eq!(send(&generous, post("https://a.org/")).await.unwrap().body, "fine");
    let head = Request { method: http::Method::HEAD, ..post("https://a.org/") };
    let error = send(&generous, head).await.unwrap_err().to_string();
    assert!(error.contains("use `GET`, `POST`"), "{error}");
}

#[tokio::test]
async fn the_key_goes_to_the_search_engine_and_nowhere_else() {
    let server = Server::start("127.0.0.1", 0, |head| match head.split(' ').nth(1) {
        Some("/search") => http("307 Go", &[("location", "https://other.org/")], b""),
        _ => http("200 OK", &[], b"fine"),
    })
    .await;
    let key = Some(SearchKey::new(" k-481\n"));
    let settings = LiveSettings { search_key: key, ..sent_to(&[("*", &server.url())]) };
    assert!(!format!("{settings:?}").contains("k-481"), "a key never shows");
    let live = open(Told::new(&[]), REAL, settings);
    get(&web(&live), "https://google.serper.dev/search").await.unwrap();
    let seen = server.seen();
    assert!(seen[0].contains("x-api-key: k-481\r\n"), "{}", seen[0]);
    assert!(!seen[1].contains("k-481"), "the redirect's target gets none: {}", seen[1]);
    // Without a key the error names what to set; a mapped search engine may want none.
    let keyless = open(Told::new(&[]), REAL, LiveSettings::default());
    assert!(!keyless.can_search());
    let error = get(&web(&keyless), "https://google.serper.dev/search").await.unwrap_err();
    assert!(error.to_string().contains("`SERPER_API_KEY`"), "{error}");
    let mapped = open(Told::new(&[]), REAL, sent_to(&[("*", &server.url())]));
    assert!(mapped.can_search() && get(&web(&mapped), "https://google.serper.dev/x").await.is_ok());
    let bad = LiveSettings { search_key: Some(SearchKey::new("a\nb")), ..LiveSettings::default() };
    assert!(matches!(Live::new(bad), Err(LiveError::Key)));
}

#[tokio::test]
async fn a_proxy_of_the_system_is_used_and_is_no_host_of_the_web() {
    let proxy = Server::start("127.0.0.1", 0, |_| http("200 OK", &[], b"through")).await;
    let direct = Server::start("127.0.0.2", 0, |_| http("200 OK", &[], b"direct")).await;
    let proxies = Proxies {
        http: Some(format!("me:pw@proxy.corp.org:{}", proxy.port)),
        https: None,
        except: Some("near.org".to_owned()),
    };
    assert!(!format!("{proxies:?}").contains("pw"), "a password never shows");
    let settings = LiveSettings { proxies, ..LiveSettings::default() };
    let names = Told::new(&[
        ("proxy.corp.org", &[&["127.0.0.1"]]),
        ("near.org", &[&["127.0.0.2"]]),
        ("trap.near.org", &[&["127.0.0.1"]]),
    ]);
    let live = open(names, lenient(), settings);
    assert_eq!(get(&web(&live), "http://far.org/x").await.unwrap().body, "through");
    assert!(proxy.seen()[0].starts_with("GET http://far.org/x HTTP/1.1"), "{:?}", proxy.seen());
    let url = format!("http://near.org:{}/", direct.port);
    assert_eq!(get(&web(&live), &url).await.unwrap().body, "direct");
    for (host, want) in [("proxy.corp.org", "proxy"), ("trap.near.org", "this machine")] {
        let url = format!("http://{host}:{}/", proxy.port);
        let error = get(&web(&live), &url).await.unwrap_err().to_string();
        assert!(error.contains(want), "{host}: {error}");
    }
    assert_eq!(proxy.seen().len(), 1);
    for bad in ["ftp://x", "http://", ""] {
        let proxies = Proxies { https: Some(bad.to_owned()), ..Proxies::default() };
        let settings = LiveSettings { proxies, ..LiveSettings::default() };
        assert!(matches!(Live::new(settings), Err(LiveError::Proxy)), "{bad}");
    }
}

#[tokio::test]
async fn the_log_has_a_line_for_every_hop_with_its_time() {
    let server = Server::start("127.0.0.1", 0, |head| match head.split(' ').nth(1) {
        Some("/a") => http("301 Go", &[("location", "http://127.0.0.1/")], b"12345"),
        _ => http("200 OK", &[], b"fine"),
    })
    .await;
    let live = open(Told::new(&[]), REAL, sent_to(&[("*", &server.url())]));
    let (log, now) = (AccessLog::default(), "2026-03-01T09:00:00Z".parse().unwrap());
    let request = Request::get("https://a.org/a".parse().unwrap());
    web(&live).send(request, now, &log).await.unwrap_err();
    let lines = log.take();
    let short: Vec<_> =
        lines.iter().map(|line| (line.url.as_str(), line.status, line.bytes)).collect();
    assert_eq!(short, [("https://a.org/a", Some(301), 5), ("http://127.0.0.1/", None, 0)]);
    assert!(lines.iter().all(|line| line.time == Some(now) && line.took_ms.is_some()));
    assert!(lines[1].error.as_ref().unwrap().contains("addresses are not served"));
}
