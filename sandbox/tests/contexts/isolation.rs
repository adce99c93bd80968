//! Two contexts of one browser, on the same hosts with different content.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chromiumoxide::Page;
use jiff::Timestamp;
use wildgym_sandbox::web::{AccessLog, Answer, Request, Web};

use crate::rig::{Rig, eval, goto, html, js, page, visit, web, with};

/// The web of an attempt: every host of `same.test` says whose it is.
fn world(name: &'static str, scripts: Arc<AtomicU32>) -> Web {
    web(move |request: &Request| answer(name, &scripts, request))
}

fn answer(name: &str, scripts: &AtomicU32, request: &Request) -> Option<Answer> {
    if !request.url.host_str()?.ends_with("same.test") {
        return None;
    }
    let sent = request.headers.iter().find(|(key, _)| key == "cookie");
    Some(match request.url.path() {
        "/cookie" => {
            let keeps = format!("kept={name}; Max-Age=9999; Path=/; HttpOnly; Secure");
            with(html(sent.map_or("none", |(_, value)| value)), "set-cookie", &keeps)
        }
        "/kept.js" => {
            let number = scripts.fetch_add(1, Ordering::Relaxed);
            let code = format!("window.kept = '{name}{number}'");
            // By its date: with the logical one it would be stale at once.
            let date = Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            with(with(js(code), "cache-control", "public, max-age=86400"), "date", &date)
        }
        "/worker.js" => js(format!(
            "oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim()); \
             onfetch = e => {{ if (e.request.url.endsWith('/probe')) \
             e.respondWith(new Response('worker of {name}')) }}"
        )),
        "/strict" => with(html("strict"), "strict-transport-security", "max-age=31536000"),
        "/name" => with(html(name), "access-control-allow-origin", "*"),
        _ => html(format!("<h1>{name} over {}</h1>", request.url.scheme())),
    })
}

const SAME: &str = "https://same.test/";

/// Leaves something everywhere that a page can, and returns what was there before.
const MARK: &str = "(async () => {
    const was = [document.cookie, localStorage.getItem('k'), sessionStorage.getItem('k')];
    const cache = await caches.open('c');
    was.push(await caches.match('/k').then(r => r ? r.text() : null));
    was.push(await new Promise(done => {
        const open = indexedDB.open('d', 1);
        open.onupgradeneeded = () => open.result.createObjectStore('s');
        open.onsuccess = () => {
            const store = open.result.transaction('s', 'readwrite').objectStore('s');
            const got = store.get('k');
            got.onsuccess = () => { store.put('there', 'k'); done(got.result ?? null) };
        };
    }));
    was.push((await navigator.serviceWorker.getRegistrations()).length || null);
    document.cookie = 'k=there; max-age=9999; path=/';
    localStorage.setItem('k', 'there');
    sessionStorage.setItem('k', 'there');
    await cache.put('/k', new Response('there'));
    await navigator.serviceWorker.register('/worker.js');
    await navigator.serviceWorker.ready;
    return was.filter(x => x).join();
})()";

/// Loads a script that may be kept for a day, and says which it is.
const LOAD: &str = "new Promise(done => {
    const script = document.createElement('script');
    script.src = '/kept.js';
    script.onload = () => done(window.kept);
    document.head.append(script);
})";

const PROBE: &str = "fetch('/probe').then(r => r.text())";
const NAME: &str = "document.querySelector('h1').innerText";

async fn open(page: &Page, url: &str) {
    assert_eq!(goto(page, url).await, "ok", "{url}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contexts_share_nothing() {
    let rig = Rig::new();
    let scripts = [Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0))];
    let a = rig.browser(world("A", Arc::clone(&scripts[0])));
    let b = rig.browser(world("B", Arc::clone(&scripts[1])));
    let (of_a, of_b) = (page(&a).await, page(&b).await);
    for (page, name) in [(&of_a, "A"), (&of_b, "B")] {
        open(page, SAME).await;
        assert_eq!(eval(page, NAME).await, format!("{name} over https"));
    }

    // The cache: each asks once, and has its own.
    for (page, name) in [(&of_a, "A"), (&of_b, "B")] {
        for round in ["first", "again"] {
            open(page, SAME).await;
            assert_eq!(eval(page, LOAD).await, format!("{name}0"), "{round}");
        }
    }
    let asked = scripts.each_ref().map(|count| count.load(Ordering::Relaxed));
    assert_eq!(asked, [1, 1], "the second time it came from the cache");

    // Cookies and storage: A leaves its marks, B finds none.
    assert_eq!(eval(&of_a, MARK).await, "", "nothing before");
    eval(&of_a, "fetch('/cookie').then(r => r.text())").await;
    let sent = eval(&of_a, "fetch('/cookie').then(r => r.text())").await;
    assert!(sent.contains("kept=A") && sent.contains("k=there"), "A sends its cookies: {sent}");
    assert_eq!(eval(&of_b, "fetch('/cookie').then(r => r.text())").await, "none");
    assert!(eval(&of_b, PROBE).await.contains("B over"), "A's worker does not answer B");
    open(&of_a, SAME).await;
    assert_eq!(eval(&of_a, PROBE).await, "worker of A", "it does answer A");
    assert_eq!(eval(&of_b, MARK).await, "", "B finds nothing of A");

    // Strict transport security: A was told, B was not.
    open(&of_a, "https://hsts.same.test/strict").await;
    open(&of_a, "http://hsts.same.test/").await;
    open(&of_b, "http://hsts.same.test/").await;
    assert_eq!(eval(&of_a, NAME).await, "A over https", "upgraded");
    assert_eq!(eval(&of_b, NAME).await, "B over http", "not upgraded");
    channels(&of_a, &of_b).await;
    connections(&of_a, &of_b).await;

    // A popup belongs to the context of its opener.
    open(&of_a, SAME).await;
    eval(
        &of_a,
        "new Promise(done => { const w = window.open('https://popup.same.test/name'); \
         setInterval(() => { try { w.document } catch { w.close(); done(1) } }, 20) })",
    )
    .await;
    let (log_a, log_b) = (AccessLog::default(), AccessLog::default());
    a.tell(visit(&log_a)).await;
    b.tell(visit(&log_b)).await;
    let of = |log: &AccessLog, part: &str| {
        log.take().iter().filter(|access| access.url.contains(part)).count()
    };
    // A busy browser may ask twice, for the page and for its icon; never in the other's name.
    assert_eq!((of(&log_a, "popup") > 0, of(&log_b, "popup")), (true, 0));
    drop((a, b, rig));
}

/// What one context sends on a channel does not arrive in the other.
async fn channels(of_a: &Page, of_b: &Page) {
    for page in [of_a, of_b] {
        open(page, SAME).await;
        let listen = "(window.got = [], window.channel = new BroadcastChannel('x'), \
                      channel.onmessage = e => got.push(e.data), 1)";
        eval(page, listen).await;
    }
    // A second frame of A says when the message has gone round.
    let heard = "new Promise(done => { const other = new BroadcastChannel('x'); \
                 other.onmessage = e => done(e.data); channel.postMessage('of A') })";
    assert_eq!(eval(of_a, heard).await, "of A");
    assert_eq!(eval(of_b, "got.join()").await, "");
}

/// Many connections at once: each answer is of the context that asked.
async fn connections(of_a: &Page, of_b: &Page) {
    let many = "Promise.all([...Array(100)].map((_, i) => \
                fetch('https://h' + i % 5 + '.same.test/name?' + i).then(r => r.text())))\
                .then(all => [...new Set(all)].join())";
    let (a, b) = tokio::join!(eval(of_a, many), eval(of_b, many));
    assert_eq!((a.as_str(), b.as_str()), ("A", "B"));
}

/// What a closed context left is not there for the next one of the same attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_context_leaves_nothing() {
    let rig = Rig::new();
    let scripts = Arc::new(AtomicU32::new(0));
    let browser = rig.browser(world("A", Arc::clone(&scripts)));
    let first = page(&browser).await;
    open(&first, "https://hsts.same.test/strict").await;
    open(&first, SAME).await;
    assert_eq!(eval(&first, MARK).await, "");
    assert_eq!(eval(&first, LOAD).await, "A0");
    assert_ne!(eval(&first, MARK).await, "", "while it is open, all is there");
    browser.close().await;
    let second = page(&browser).await;
    open(&second, SAME).await;
    assert_eq!(eval(&second, MARK).await, "");
    assert_eq!(eval(&second, LOAD).await, "A1", "asked for anew");
    open(&second, "http://hsts.same.test/").await;
    assert_eq!(eval(&second, NAME).await, "A over http");
}
