//! Nothing that a page does reaches anything but its context's proxy.
//!
//! A page tries everything (`attack.js`), while the system calls of the whole browser
//! tree are watched and every attempt has a port that the test listens on. The same
//! page in a browser without the locks is the control: there most attempts are seen to
//! connect, so the watching can see them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use chromiumoxide::BrowserConfig;
use chromiumoxide::Page;
use chromiumoxide::cdp::browser_protocol::target::SetAutoAttachParams;
use futures::StreamExt;
use regex::Regex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use url::Url;
use wildgym_sandbox::web::{Answer, Request};

use crate::proxy::listening;
use crate::rig::{Rig, chromium, eval, goto, headers, html, in_path, js, page, script, web, with};

/// Attempts that the control must be seen to make, one of each kind; several others
/// connect too, but not in every version.
const CONTROL: [&str; 22] = [
    "fetch",
    "XHR",
    "import",
    "event source",
    "beacon",
    "web socket",
    "image",
    "style sheet",
    "font",
    "script",
    "video",
    "frame",
    "form",
    "meta refresh",
    "redirect",
    "popup",
    "worker",
    "service worker",
    "STUN here",
    "TURN over TCP",
    "to 127.0.0.2",
    "to localhost",
];

/// What pages of the attacker's host answer; also used without any proxy.
fn answer(secret: &str, url: &Url) -> Answer {
    let to = url.query_pairs().find(|(key, _)| key == "u");
    let to = to.map(|(_, value)| value.into_owned()).unwrap_or_default();
    match url.path() {
        "/attack" => {
            html("<!DOCTYPE html><title>attack</title><body><script src=/attack.js></script>")
        }
        "/attack.js" => {
            js(format!("const SECRET = 'file://{secret}';\n{}", include_str!("attack.js")))
        }
        "/refresh" => html(format!("<meta http-equiv=refresh content='0;url={to}'>")),
        "/redirect" => (302, headers(&[("location", &to)]), Bytes::new()),
        "/worker.js" => js(format!("fetch('{to}', {{mode: 'no-cors'}})")),
        "/service.js" => {
            js(format!("oninstall = e => e.waitUntil(fetch('{to}', {{mode: 'no-cors'}}))"))
        }
        "/link" => with(
            html("link"),
            "link",
            &format!("<{to}>; rel=preconnect, <{to}a.css>; rel=preload; as=style"),
        ),
        "/violation" => with(
            html("<img src=/x.png>"),
            "content-security-policy",
            &format!("default-src 'none'; report-uri {to}"),
        ),
        "/reporting" => with(
            with(
                html("<img src=/x.png>"),
                "content-security-policy",
                "default-src 'none'; report-to r",
            ),
            "reporting-endpoints",
            &format!("r=\"{to}\""),
        ),
        _ => html("ok"),
    }
}

/// Listeners outside of the proxy, one for each attempt.
struct Outside {
    ports: Vec<u16>,
    hit: Arc<Mutex<BTreeSet<u16>>>,
}

impl Outside {
    async fn open(count: usize) -> Self {
        let hit = Arc::new(Mutex::new(BTreeSet::new()));
        let mut ports = Vec::new();
        while ports.len() < count {
            let tcp = TcpListener::bind("[::]:0").await.unwrap();
            let port = tcp.local_addr().unwrap().port();
            let Ok(udp) = UdpSocket::bind(("::", port)).await else { continue };
            ports.push(port);
            let seen = Arc::clone(&hit);
            tokio::spawn(async move {
                while let Ok((mut stream, _)) = tcp.accept().await {
                    seen.lock().unwrap().insert(port);
                    tokio::spawn(async move {
                        let _ = stream.read(&mut [0; 4096]).await;
                        let _ =
                            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                    });
                }
            });
            let seen = Arc::clone(&hit);
            tokio::spawn(async move {
                while udp.recv_from(&mut [0; 2048]).await.is_ok() {
                    seen.lock().unwrap().insert(port);
                }
            });
        }
        Self { ports, hit }
    }

    fn code(&self) -> String {
        format!("runAll({:?})", self.ports)
    }
}

/// Where the watched calls go to, and a browser that is watched.
fn watched(folder: &Utf8Path) -> (PathBuf, Option<Utf8PathBuf>) {
    let Some(strace) = in_path("strace") else { return (chromium(), None) };
    let log = folder.join("calls");
    let calls = "connect,sendto,sendmsg,sendmmsg,open,openat,openat2";
    // With `-yy` each descriptor is told with its protocol.
    let text = format!(
        "exec {} -f --seccomp-bpf -qq -yy -s 16 -e trace={calls} -e signal=none -o {log} {} \"$@\"",
        strace.display(),
        chromium().display()
    );
    (script(&folder.join("watched"), &text).into_std_path_buf(), Some(log))
}

/// What a browser's processes did, as the watcher wrote it.
struct Calls(String);

impl Calls {
    /// Calls that send a datagram to somewhere.
    fn datagrams(&self) -> Vec<&str> {
        self.0.lines().filter(|line| line.contains(" send") && line.contains("<UDP")).collect()
    }

    /// Calls that open a file of that name.
    fn opened(&self, name: &str) -> Vec<&str> {
        self.0.lines().filter(|line| line.contains(" open") && line.contains(name)).collect()
    }

    /// Addresses that something was sent or connected to, with one of the calls each.
    fn addresses(&self) -> BTreeMap<(String, u16), String> {
        let address = Regex::new(
            r#"sin6?_port=htons\((\d+)\),[^}]*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)""#,
        )
        .unwrap();
        let mut found = BTreeMap::new();
        for line in self.0.lines() {
            for capture in address.captures_iter(line) {
                let port: u16 = capture[1].parse().unwrap();
                found.entry((capture[2].to_owned(), port)).or_insert_with(|| line.to_owned());
            }
        }
        found
    }
}

fn secret(folder: &Utf8Path) -> Utf8PathBuf {
    let secret = folder.join("secret-of-the-host.txt");
    std::fs::write(&secret, "nobody may read this").unwrap();
    secret
}

async fn names(page: &Page) -> Vec<String> {
    let names = eval(page, "names.join('\\n')").await;
    names.lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_page_gets_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    let (program, log) = watched(folder);
    let secret = secret(folder);
    let rig = Rig::with(&program, |_| {});
    let planted = secret.to_string();
    let browser = rig.browser(web(move |request: &Request| {
        let evil = request.url.host_str() == Some("evil.test");
        evil.then(|| answer(&planted, &request.url))
    }));
    let page = page(&browser).await;
    assert_eq!(goto(&page, "https://evil.test/attack").await, "ok");
    let proxies = listening();
    let names = names(&page).await;
    assert!(names.len() > 100, "{names:?}");
    let outside = Outside::open(names.len()).await;
    assert_eq!(eval(&page, &outside.code()).await, "done");
    // Again without TLS, where loads of plain HTTP are no mixed content.
    assert_eq!(goto(&page, "http://evil.test/attack").await, "ok");
    assert_eq!(eval(&page, &outside.code()).await, "done");
    by_hand(&page, &secret).await;
    browser.close().await;
    drop((page, browser, rig));

    let hit = outside.hit.lock().unwrap().clone();
    let holes: Vec<&String> = outside
        .ports
        .iter()
        .zip(&names)
        .filter(|(port, _)| hit.contains(port))
        .map(|(_, name)| name)
        .collect();
    assert!(holes.is_empty(), "these got out: {holes:?}");
    let Some(log) = log else {
        skipped();
        return;
    };
    let calls = Calls(std::fs::read_to_string(log).unwrap());
    let addresses = calls.addresses();
    let is_proxy = |host: &str, port: u16| host == "127.0.0.1" && proxies.contains(&port);
    let others: Vec<&String> = addresses
        .iter()
        .filter(|((host, port), line)| !is_proxy(host, *port) && !asks_the_way(line))
        .map(|(_, line)| line)
        .collect();
    assert!(others.is_empty(), "connected beside the proxy: {others:#?}");
    let kept = addresses.keys().filter(|(host, port)| is_proxy(host, *port)).count();
    assert_eq!(kept, 1, "and the proxy it was connected to: {addresses:?}");
    let sent = calls.datagrams();
    assert!(sent.is_empty(), "datagrams were sent: {sent:#?}");
    let read = calls.opened(secret.file_name().unwrap());
    assert!(read.is_empty(), "the file was opened: {read:?}");
    assert!(!calls.opened("Preferences").is_empty(), "opened files are seen");
}

/// Whether a call only asks the kernel which way a datagram would go: a socket for
/// datagrams is connected to a public resolver, and nothing is sent. The browser does so
/// to see whether there is IPv6, and for calls.
fn asks_the_way(line: &str) -> bool {
    let resolver = line.contains("\"8.8.8.8\"") || line.contains("\"2001:4860:4860::8888\"");
    resolver && line.contains(" connect(") && line.contains("<UDP")
}

/// Addresses that a tool could be talked into opening, with the rights of a person.
async fn by_hand(page: &Page, secret: &Utf8Path) {
    for url in [
        format!("file://{secret}"),
        format!("view-source:file://{secret}"),
        "chrome://version".to_owned(),
        "chrome://net-export".to_owned(),
        "devtools://devtools/bundled/inspector.html".to_owned(),
    ] {
        let went = goto(page, &url).await;
        assert!(went.contains("ERR_"), "{url}: {went}");
        let text = eval(page, "document.documentElement.innerText").await;
        assert!(!text.contains("nobody may read"), "{url}: {text}");
    }
}

#[expect(clippy::print_stderr, reason = "a test that saw less says so")]
fn skipped() {
    eprintln!("system calls were not watched: there is no `strace`; run `make system`");
}

/// Without the locks, the same attempts do connect, and are seen to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_locks_pages_do_get_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    let (program, log) = watched(folder);
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let home = server.local_addr().unwrap();
    let planted = secret(folder).to_string();
    tokio::spawn(serve(server, planted));
    let (mut browser, page, handling) = bare(&program, &folder.join("profile")).await;
    assert_eq!(goto(&page, &format!("http://{home}/attack")).await, "ok");
    let names = names(&page).await;
    let outside = Outside::open(names.len()).await;
    assert_eq!(eval(&page, &outside.code()).await, "done");
    // It is asked to end: killing its tracer would leave the browser behind.
    browser.close().await.unwrap();
    browser.wait().await.unwrap();
    handling.abort();

    let port = |name: &str| outside.ports[names.iter().position(|each| each == name).unwrap()];
    let hit = outside.hit.lock().unwrap().clone();
    let missed: Vec<&str> = CONTROL.into_iter().filter(|name| !hit.contains(&port(name))).collect();
    assert!(missed.is_empty(), "not seen to connect: {missed:?}");
    let Some(log) = log else { return };
    let calls = Calls(std::fs::read_to_string(log).unwrap());
    let seen = calls.addresses();
    let missed: Vec<&str> = CONTROL
        .into_iter()
        .filter(|name| !seen.keys().any(|(_, seen)| *seen == port(name)))
        .collect();
    assert!(missed.is_empty(), "not seen in the system calls: {missed:?}");
    assert!(!calls.datagrams().is_empty(), "datagrams are seen");
}

/// A browser with none of the product's settings.
async fn bare(
    program: &Path,
    profile: &Utf8Path,
) -> (chromiumoxide::Browser, Page, tokio::task::JoinHandle<()>) {
    let config = BrowserConfig::builder()
        .chrome_executable(program)
        .no_sandbox()
        .new_headless_mode()
        .user_data_dir(profile)
        .request_timeout(Duration::from_mins(2))
        .launch_timeout(Duration::from_mins(1))
        .build()
        .unwrap();
    let (browser, mut handler) = chromiumoxide::Browser::launch(config).await.unwrap();
    let handling = tokio::spawn(async move { while handler.next().await.is_some() {} });
    let page = browser.new_page("about:blank").await.unwrap();
    // As the product does, or its service workers wait for a debugger now and then.
    let unwatched = SetAutoAttachParams::new(false, false);
    page.execute(unwatched).await.unwrap();
    (browser, page, handling)
}

/// Serves the attacker's pages without a proxy: a request, a reply, the end.
async fn serve(server: TcpListener, secret: String) {
    while let Ok((stream, _)) = server.accept().await {
        let secret = secret.clone();
        tokio::spawn(async move { serve_one(stream, &secret).await });
    }
}

async fn serve_one(mut stream: TcpStream, secret: &str) -> Option<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut some = [0; 4096];
        let count = stream.read(&mut some).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&some[..count]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1)?;
    let (status, headers, body) =
        answer(secret, &Url::parse("http://evil.test").unwrap().join(path).ok()?);
    let mut reply = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(reply, "{name}: {value}\r\n");
    }
    reply.push_str("connection: close\r\n\r\n");
    stream.write_all(reply.as_bytes()).await.ok()?;
    stream.write_all(&body).await.ok()
}
