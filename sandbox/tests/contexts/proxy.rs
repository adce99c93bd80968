//! What pages get and send through the proxy.

use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use wildgym_sandbox::web::{AccessLog, Answer, Request};

use crate::rig::{Rig, eval, goto, headers, html, page, visit, web, with};

fn answer(request: &Request) -> Option<Answer> {
    if request.url.host_str() != Some("tides.test") {
        return None;
    }
    let seen = |name: &str| {
        let values: Vec<&str> = request
            .headers
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .collect();
        values.join(" | ")
    };
    Some(match request.url.path() {
        "/" => with(
            with(html("<h1>Tides</h1>"), "set-cookie", "a=1; Path=/"),
            "set-cookie",
            "b=2; Path=/; HttpOnly",
        ),
        "/cookie" => html(seen("cookie")),
        "/headers" => {
            html(format!("[{}][{}][{}]", seen("accept-encoding"), seen("connection"), seen("host")))
        }
        "/post" => html(format!("{} {:?}", request.method, request.body)),
        "/away" => (302, headers(&[("location", "https://nowhere.test/")]), Bytes::new()),
        "/moved" => (302, headers(&[("location", "/cookie")]), Bytes::new()),
        "/login" => with(
            (401, headers(&[("content-type", "text/html")]), Bytes::from("<p>who are you?</p>")),
            "www-authenticate",
            "Basic realm=\"x\"",
        ),
        "/zipped" => with(html("<p>plain</p>"), "content-encoding", "gzip"),
        "/empty" => (204, Vec::new(), Bytes::from("nothing")),
        _ => (404, headers(&[("content-type", "text/html")]), Bytes::from("<p>no page</p>")),
    })
}

const TEXT: &str = "document.body.innerText";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_asked_for_and_shown() {
    let rig = Rig::new();
    let browser = rig.browser(web(answer));
    let page = page(&browser).await;
    let shown = [
        ("https://tides.test/", "Tides", "a page"),
        ("https://tides.test/cookie", "a=1; b=2", "cookies, joined"),
        ("http://tides.test/cookie", "a=1; b=2", "and without TLS"),
        ("https://tides.test/moved", "a=1; b=2", "a redirect, which the browser follows"),
        ("https://tides.test/headers", "[][][]", "nothing of the connection"),
        ("https://tides.test/none", "no page", "an error has its page"),
        ("https://tides.test/login", "who are you?", "a login window does not hang"),
        ("https://tides.test/zipped", "plain", "a body that was decoded before"),
        ("https://nowhere.test/a?<b>", "cannot be reached", "an unknown host says so"),
        ("http://nowhere.test/", "cannot be reached", "without TLS too"),
        ("https://tides.test/away", "cannot be reached", "and behind a redirect"),
        ("https://blocked.test/", "blocked for this task", "a blocked one"),
        ("http://127.0.0.1/", "addresses are not served", "this machine"),
        ("http://localhost/", "not part of the web", "under its name"),
    ];
    for (url, want, why) in shown {
        assert_eq!(goto(&page, url).await, "ok", "{why}: {url}");
        let text = eval(&page, TEXT).await;
        assert!(text.contains(want), "{why}: {text}");
    }
    let log = AccessLog::default();
    browser.tell(visit(&log)).await;
    let urls: Vec<String> = log.take().into_iter().map(|access| access.url).collect();
    assert!(urls.contains(&"https://tides.test/moved".to_owned()), "each hop is noted: {urls:?}");
    assert!(urls.iter().any(|url| url.starts_with("https://nowhere.test/")), "misses too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_send_and_fail_as_elsewhere() {
    let rig = Rig::new();
    let browser = rig.browser(web(answer));
    let page = page(&browser).await;
    assert_eq!(goto(&page, "https://tides.test/").await, "ok");
    let table = [
        ("fetch('/post', {method: 'POST', body: 'x=1'}).then(r => r.text())", "POST b\"x=1\""),
        ("fetch('/empty').then(r => r.status)", "204"),
        ("fetch('/cookie', {method: 'HEAD'}).then(async r => r.status + (await r.text()))", "200"),
        ("fetch('https://nowhere.test/').catch(e => e.name)", "TypeError"),
        ("isSecureContext && !!crypto.subtle", "true"),
        (
            "new Promise(r => { const w = new WebSocket('wss://tides.test/ws'); \
             w.onopen = () => r('open'); w.onerror = () => r('refused') })",
            "refused",
        ),
    ];
    for (code, want) in table {
        assert_eq!(eval(&page, code).await, want, "{code}");
    }
}

/// The ports that this process listens on, of all those in the kernel's table.
pub(crate) fn listening() -> Vec<u16> {
    let ours: Vec<String> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok()?.to_str().map(str::to_owned))
        .collect();
    std::fs::read_to_string("/proc/self/net/tcp")
        .unwrap()
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let listens = *words.get(3)? == "0A";
            let ours = ours.contains(&format!("socket:[{}]", words.get(9)?));
            let port = words.get(1)?.split_once(':')?.1;
            (listens && ours).then(|| u16::from_str_radix(port, 16).unwrap())
        })
        .collect()
}

/// The proxy's port is open to every program of the machine; it serves the browser only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_is_not_served() {
    let rig = Rig::new();
    let browser = rig.browser(web(answer));
    let page = page(&browser).await;
    assert_eq!(goto(&page, "https://tides.test/").await, "ok");
    let mut connected = 0;
    for port in listening() {
        let said = std::thread::spawn(move || {
            // Tests beside this one come and go.
            let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
            let asked = b"GET http://tides.test/ HTTP/1.1\r\nhost: tides.test\r\n\r\n";
            let _ = stream.write_all(asked);
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said);
            Some(said)
        });
        let said = tokio::task::spawn_blocking(|| said.join().unwrap()).await.unwrap();
        let said = String::from_utf8_lossy(said.as_deref().unwrap_or(b"none")).into_owned();
        connected += u32::from(said.is_empty());
        assert!(!said.contains("Tides"), "{said}");
    }
    assert!(connected > 0, "the proxy hung up on it");
}
