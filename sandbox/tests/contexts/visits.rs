//! Actions on pages, as tools ask for them: through the pool, the proxy and the log.

use std::time::Duration;

use wildgym_sandbox::browser::{Action, BrowserError};
use wildgym_sandbox::web::{AccessLog, Answer, Request};

use crate::rig::{Rig, html, visit, web};

fn answer(request: &Request) -> Option<Answer> {
    if request.url.host_str() != Some("tides.test") {
        return None;
    }
    Some(match request.url.path() {
        "/" => html(
            "<h1>Tides</h1><a href=/today>Today</a><p id=now></p><script>\
                     now.innerText = 'It is ' + new Date().toISOString().slice(0, 16)</script>",
        ),
        // Sends something when nobody looks.
        "/today" => html("<h1>Today</h1><script>setTimeout(() => fetch('/later'), 2500)</script>"),
        _ => html("ok"),
    })
}

fn open(url: &str) -> Action {
    Action::VisitPage { url: url.to_owned() }
}

/// The paths in a log.
fn paths(log: &AccessLog) -> Vec<String> {
    let path = |url: &str| url.trim_start_matches("https://tides.test").to_owned();
    log.take()
        .iter()
        .map(|access| path(&access.url))
        .filter(|path| path != "/favicon.ico")
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_opens_the_browser_and_notes_what_was_sent() {
    let rig = Rig::new();
    let browser = rig.browser(web(answer));
    let log = AccessLog::default();
    let seen = browser.act(&open("https://tides.test/"), visit(&log)).await.unwrap();
    assert!(seen.text.contains("It is 2026-03-01T09:00"), "the logical time: {}", seen.text);
    assert_eq!(paths(&log), ["/"]);

    let id = seen.elements.iter().find(|element| element.name == "Today").unwrap().id;
    let seen = browser.act(&Action::ClickId { id }, visit(&log)).await.unwrap();
    assert_eq!(seen.url, "https://tides.test/today");
    let mut sent = paths(&log);
    // What was sent between calls is noted in the next one.
    for _ in 0..1000 {
        if sent.len() > 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        browser.tell(visit(&log)).await;
        sent.extend(paths(&log));
    }
    assert_eq!(sent, ["/today", "/later"]);

    let picture = browser.picture(visit(&log)).await.unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    let refused = browser.act(&Action::ClickId { id: 9999 }, visit(&log)).await.unwrap_err();
    assert!(matches!(refused, BrowserError::Refused(_)), "{refused:?}");
    let seen = browser.observe(visit(&log)).await.unwrap();
    assert_eq!(seen.title, "", "a refusal loses nothing: {}", seen.url);
    assert!(seen.text.contains("Today"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_dies_under_an_action_is_lost() {
    let rig = Rig::new();
    // A page that keeps the browser busy until it is gone.
    let busy = |request: &Request| {
        (request.url.path() == "/").then(|| html("<script>for (;;) {}</script>"))
    };
    let browser = rig.browser(web(busy));
    browser.ready().await.unwrap();
    let acting = tokio::spawn({
        let browser = browser.clone();
        async move {
            let log = AccessLog::default();
            browser.act(&open("https://tides.test/"), visit(&log)).await
        }
    });
    for pid in rig.processes() {
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    let error = acting.await.unwrap().unwrap_err();
    assert!(matches!(error, BrowserError::Lost(_)), "{error:?}");
    let log = AccessLog::default();
    let again = browser.observe(visit(&log)).await.unwrap_err();
    assert!(matches!(again, BrowserError::Lost(_)), "{again:?}");
}

/// Unknown and blocked hosts are pages too, so an agent reads why.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_reached_says_so_on_the_page() {
    let rig = Rig::new();
    let browser = rig.browser(web(answer));
    let log = AccessLog::default();
    for (url, want) in [
        ("https://nowhere.test/", "cannot be reached"),
        ("https://blocked.test/", "blocked for this task"),
    ] {
        let seen = browser.act(&open(url), visit(&log)).await.unwrap();
        assert!(seen.text.contains(want), "{url}: {}", seen.text);
    }
}
