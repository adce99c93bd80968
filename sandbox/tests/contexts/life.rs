//! How browsers begin and end.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wildgym_sandbox::browser::{Action, BrowserError};
use wildgym_sandbox::web::{AccessLog, Answer, Request};

use crate::rig::{Rig, chromium, eval, goto, html, page, processes_of, script, until, visit, web};

fn answer(request: &Request) -> Option<Answer> {
    (request.url.host_str() == Some("tides.test")).then(|| html("<h1>Tides</h1>"))
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_before_it_is_used_and_nothing_after() {
    let rig = Rig::new();
    let browser = rig.browser(web(answer));
    assert!(rig.processes().is_empty(), "prepared, not launched");
    assert_eq!(std::fs::read_dir(rig.scratch.path()).unwrap().count(), 0);
    let page = page(&browser).await;
    assert_eq!(goto(&page, "https://tides.test/").await, "ok");
    assert!(rig.processes().len() > 1);
    let Rig { browsers, scratch, folder } = rig;
    drop((page, browser, browsers));
    until("the processes ended", || processes_of(scratch.path()).is_empty()).await;
    let left = || std::fs::read_dir(scratch.path()).unwrap().count();
    until("the directories went", || left() == 0).await;
    drop((scratch, folder));
}

/// Started by the next test as a gym to be killed: opens a page, says where, waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a part of the next test"]
async fn a_gym_that_waits() {
    let Ok(told) = std::env::var("WILDGYM_TEST_TELL") else { return };
    let rig = Rig::new();
    let browser = rig.browser(web(answer));
    let page = page(&browser).await;
    assert_eq!(goto(&page, "https://tides.test/").await, "ok");
    std::fs::write(format!("{told}.part"), rig.scratch.path().as_str()).unwrap();
    std::fs::rename(format!("{told}.part"), told).unwrap();
    tokio::time::sleep(Duration::from_mins(10)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_gym_leaves_no_browser() {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told");
    let mut gym = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "life::a_gym_that_waits", "--ignored", "--nocapture"])
        .env("WILDGYM_TEST_TELL", &told)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the gym has a page open", || told.is_file()).await;
    let scratch = std::fs::read_to_string(&told).unwrap();
    assert!(processes_of(scratch.as_str().into()).len() > 3, "keeper, browser, its helpers");
    gym.kill().unwrap();
    gym.wait().unwrap();
    until("all processes ended", || processes_of(scratch.as_str().into()).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_browser_loses_what_was_open_and_nothing_else() {
    let rig = Rig::new();
    let (open, later) = (rig.browser(web(answer)), rig.browser(web(answer)));
    let closed = rig.browser(web(answer));
    let lost_page = page(&open).await;
    assert_eq!(goto(&lost_page, "https://tides.test/").await, "ok");
    page(&closed).await;
    closed.close().await;
    rig.processes().into_iter().for_each(kill);
    let error = {
        let mut result = open.ready().await;
        // Its end is noticed when the pipe breaks, a moment later.
        while result.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
            result = open.ready().await;
        }
        result.unwrap_err()
    };
    assert!(matches!(error, BrowserError::Lost(_)), "{error:?}");
    for browser in [&later, &closed] {
        let page = page(browser).await;
        assert_eq!(goto(&page, "https://tides.test/").await, "ok", "others get a new one");
    }
    open.close().await;
    let again = open.ready().await.unwrap_err();
    assert!(matches!(again, BrowserError::Lost(_)), "what is lost stays lost: {again:?}");
}

/// A browser that ends whenever it is started is not started for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_cannot_live_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(folder.path()).unwrap();
    let count = path.join("count");
    let text = format!("echo x >>{count}; echo 'a library is missing' >&2; exit 1");
    let program = script(&path.join("browser"), &text);
    let rig = Rig::with(program.as_std_path(), |_| {});
    for _ in 0..2 {
        let error = rig.browser(web(answer)).ready().await.unwrap_err();
        let BrowserError::Lost(why) = &error else { panic!("{error:?}") };
        assert!(why.contains("a library is missing"), "it says what was said: {why}");
    }
    assert_eq!(std::fs::read_to_string(count).unwrap().lines().count(), 3);
    assert_eq!(std::fs::read_dir(rig.scratch.path()).unwrap().count(), 0, "nothing stays");
}

#[tokio::test]
async fn without_a_browser_the_reason_is_told() {
    let rig = Rig::with(&chromium(), |settings| settings.program = Err("install one".into()));
    let error = rig.browser(web(answer)).ready().await.unwrap_err();
    assert_eq!(error, BrowserError::Missing("install one".into()));
}

/// Those who wait for a place are served in the order they came; closing, or only going
/// away, gives a place back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn places_are_given_in_the_order_of_asking() {
    let rig = Rig::with(&chromium(), |settings| settings.contexts = 2);
    let first = rig.browser(web(answer));
    let second = rig.browser(web(answer));
    first.ready().await.unwrap();
    second.ready().await.unwrap();
    let served = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    for number in 0..3 {
        let (browser, served) = (rig.browser(web(answer)), Arc::clone(&served));
        let mut ready = Box::pin(async move {
            browser.ready().await.unwrap();
            served.lock().unwrap().push(number);
            browser.close().await;
        });
        // Polled once, it stands in line.
        assert!(futures::poll!(&mut ready).is_pending());
        waiting.push(tokio::spawn(ready));
    }
    assert!(served.lock().unwrap().is_empty(), "all places are taken");
    // One place only goes round, so that one after the other has it.
    first.close().await;
    for one in waiting {
        one.await.unwrap();
    }
    assert_eq!(*served.lock().unwrap(), [0, 1, 2]);
    let last = rig.browser(web(answer));
    last.ready().await.unwrap();
    drop(second);
    rig.browser(web(answer)).ready().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_replaced_after_many_contexts_and_lives_on_for_those_open() {
    let rig = Rig::with(&chromium(), |settings| settings.renewal = 2);
    let (old, second) = (rig.browser(web(answer)), rig.browser(web(answer)));
    let kept = page(&old).await;
    second.ready().await.unwrap();
    let profiles = || std::fs::read_dir(rig.scratch.path()).unwrap().count();
    assert_eq!(profiles(), 1);
    let new = rig.browser(web(answer));
    new.ready().await.unwrap();
    assert_eq!(profiles(), 2, "the third has a new one");
    assert_eq!(goto(&kept, "https://tides.test/").await, "ok", "the old one lives on");
    assert_eq!(eval(&kept, "1 + 1").await, "2");
    second.close().await;
    old.close().await;
    until("the old one ended", || profiles() == 1).await;
    let log = AccessLog::default();
    assert!(new.page_by_hand(visit(&log)).await.is_ok());
}

/// Pages that go elsewhere without end, each in its own way.
fn flood(request: &Request) -> Option<Answer> {
    let script = match request.url.path() {
        "/states" => "for (let i = 0; i < 5; i++) history.replaceState(0, '', '?' + Math.random())",
        "/away" => "location = '/away?' + Math.random()",
        _ => return answer(request),
    };
    Some(html(format!("<h1>Flood</h1><script>setInterval(() => {{ {script} }}, 5)</script>")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_floods_the_browser_stops_nobody_else() {
    let rig = Rig::new();
    let log = AccessLog::default();
    let go = |path: &str| Action::VisitPage { url: format!("https://tides.test{path}") };
    for path in ["/states", "/away"] {
        let (loud, calm) = (rig.browser(web(flood)), rig.browser(web(flood)));
        let flooded = loud.act(&go(path), visit(&log)).await;
        assert!(
            flooded.as_ref().is_ok_and(|seen| seen.text == "# Flood"),
            "{path}: it is shown as it was at one moment: {flooded:?}"
        );
        for _ in 0..3 {
            let seen = calm.act(&go("/"), visit(&log)).await;
            assert!(seen.as_ref().is_ok_and(|seen| seen.text == "# Tides"), "{path}: {seen:?}");
        }
        let left = loud.act(&go("/"), visit(&log)).await;
        assert!(
            left.as_ref().is_ok_and(|seen| seen.text == "# Tides"),
            "{path}: it can be left: {left:?}"
        );
        loud.close().await;
        calm.close().await;
    }
}
