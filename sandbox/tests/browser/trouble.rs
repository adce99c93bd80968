//! Pages that make trouble: dialogs, floods of windows, scripts without end, crashes.

use std::time::{Duration, Instant};

use wildgym_sandbox::browser::Action;

use crate::stage::{Server, Stage, html, run};

/// Dialogs never hold anything up; how they were answered is told.
#[test]
fn dialogs_are_answered_and_told() {
    run(async {
        let page = r#"<button onclick="alert('one');document.title=confirm('two?')+' '+prompt('three?','dflt')">Ask</button>
            <button onclick="for(let i=0;i<200;i++)alert('again '+i)">Nag</button>
            <input aria-label=Note><a href=/two>Leave</a>
            <script>addEventListener('beforeunload',(e)=>{e.preventDefault();e.returnValue='x'})</script>"#;
        let server = Server::start([("/", html(page)), ("/two", html("<h1>Two</h1>"))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        stage.click("Ask").await;
        assert_eq!(stage.seen.title, "true dflt");
        let told = stage.seen.notices.join("\n");
        for word in
            ["`one`; it was closed", "`two?`; it was answered with OK", "answered with `dflt`"]
        {
            assert!(told.contains(word), "{word}: {told}");
        }
        stage.click("Nag").await;
        assert!(stage.seen.notices.len() < 16, "{:?}", stage.seen.notices);
        stage.fill("Note", "unsaved").await;
        stage.click("Leave").await;
        assert!(stage.seen.text.contains("Two"), "{}", stage.seen.to_text());
        assert!(
            stage.seen.notices.iter().any(|one| one.contains("whether to leave it")),
            "{:?}",
            stage.seen.notices
        );
        stage.close().await;
    });
}

#[test]
fn a_flood_of_windows_is_bounded() {
    run(async {
        let page = "<button onclick=\"for(let i=0;i<25;i++)window.open('/two?'+i)\">Flood</button>";
        let server = Server::start([
            ("/", html(page)),
            ("/two", html("<button onclick='window.close()'>Close</button>")),
        ])
        .await;
        let mut stage = Stage::at(&server.url("/")).await;
        stage.click("Flood").await;
        assert!(stage.seen.tabs.len() <= 8, "{:?}", stage.seen.tabs);
        assert!(
            stage.seen.notices.iter().any(|one| one.contains("at most 8 are kept")),
            "{:?}",
            stage.seen.notices
        );
        stage.click("Close").await;
        assert!(
            stage.seen.notices.iter().any(|one| one.contains("the tab was closed")),
            "{:?}",
            stage.seen.notices
        );
        stage.close().await;
    });
}

/// A script that never ends is stopped, and the session goes on.
#[test]
fn a_script_without_end_is_stopped() {
    run(async {
        let page = "<button onclick='for(;;);'>Spin</button><button onclick=\"document.title='fine'\">Fine</button>";
        let server = Server::start([
            ("/", html(page)),
            ("/spin", html("<h1>S</h1><script>for(;;);</script>")),
        ])
        .await;
        let mut stage = Stage::with(|options| {
            options.patience = Duration::from_secs(2);
            options.load = Duration::from_secs(3);
        })
        .await;
        stage.visit(&server.url("/")).await;
        let id = stage.id("Spin");
        let why = stage.refused(Action::ClickId { id }).await;
        assert!(why.contains("did not end and was stopped"), "{why}");
        stage.look().await;
        stage.click("Fine").await;
        assert_eq!(stage.seen.title, "fine");
        // One that spins while it loads is left as well.
        let _ = stage.act(&Action::VisitPage { url: server.url("/spin") }).await;
        stage.visit(&server.url("/")).await;
        assert!(stage.seen.text.contains("Fine"));
        stage.close().await;
    });
}

/// A page of 20,000 links is read within its limits, and what is left out is said.
#[test]
fn a_huge_page_is_bounded() {
    run(async {
        let links: String =
            (0..20_000).map(|n| format!("<a href=/{n}>Link {n}</a> ")).collect::<Vec<_>>().concat();
        let server = Server::start([("/", html(links))]).await;
        let mut stage = Stage::open().await;
        let begun = Instant::now();
        stage.visit(&server.url("/")).await;
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        assert!(stage.seen.elements.len() <= 1_200, "{}", stage.seen.elements.len());
        assert!(
            stage.seen.notices.iter().any(|one| one.contains("more elements")),
            "{:?}",
            stage.seen.notices
        );
        assert!(stage.seen.to_text().len() < 60_000);
        stage.must(Action::FindTextOnPage { text: "Link 19999".into() }).await;
        stage.click("Link 19999").await;
        assert_eq!(stage.seen.url, server.url("/19999"));
        stage.close().await;
    });
}

/// What the page does to its own objects does not reach the scripts.
#[test]
fn a_page_cannot_tamper_with_what_is_read() {
    run(async {
        let page = r#"<script>
              Array.prototype.map = () => { throw 1 }; String.prototype.trim = () => 'fooled';
              document.querySelectorAll = () => []; window.getComputedStyle = () => ({ display: 'none' });
              Element.prototype.getBoundingClientRect = () => { throw 2 };
              window.seen = []; for (const key of ['wild' + 'gym', '__elementId']) seen.push(key in window);
            </script><h1>Honest</h1><button onclick="document.title='clicked'">Press</button>"#;
        let server = Server::start([("/", html(page))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        stage.click("Press").await;
        assert_eq!(stage.seen.title, "clicked");
        stage.session.picture().await.unwrap();
        let html = stage
            .page_says("document.documentElement.outerHTML + Object.keys(window).join()")
            .await;
        assert!(!html.as_str().unwrap().contains("wildgym"), "nothing of it is left in the page");
        stage.close().await;
    });
}

#[test]
fn a_crash_is_told_and_survived() {
    run(async {
        let server = Server::start([("/", html("<h1>Home</h1>"))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        stage.crash().await;
        stage.look().await;
        assert!(
            stage.seen.notices.iter().any(|one| one.contains("crashed")),
            "{:?}",
            stage.seen.notices
        );
        stage.visit(&server.url("/")).await;
        assert!(stage.seen.text.contains("Home"));
        stage.close().await;
    });
}
