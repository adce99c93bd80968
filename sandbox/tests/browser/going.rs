//! Going to addresses and back, scrolling, finding, telling the address.

use std::time::Duration;

use wildgym_sandbox::browser::Action;

use crate::stage::{Server, Stage, file, html, run};

fn long(rows: usize) -> String {
    (0..rows).map(|n| format!("<p>Row {n}</p>")).collect::<Vec<_>>().concat()
}

#[test]
fn visits_tell_what_came() {
    run(async {
        let server = Server::start([
            ("/", html("<title>Home</title><h1>Home</h1>")),
            ("/moved", html("").status(302).header("location", "/")),
            ("/circle", html("").status(302).header("location", "/circle")),
            ("/gone", html("<h1>Gone</h1>").status(410)),
            ("/nothing", html("").status(204)),
            ("/bare", file("text/plain", None, "").status(503)),
        ])
        .await;
        let mut stage = Stage::at(&server.url("/moved")).await;
        assert_eq!(stage.seen.url, server.url("/"), "redirects are followed");
        stage.visit(&server.url("/gone")).await;
        assert!(stage.seen.feedback.contains("the server answered 410"), "{}", stage.seen.feedback);
        stage.must(Action::GetUrl).await;
        assert_eq!(stage.seen.feedback, server.url("/gone"));
        let dead = { Server::start([]).await.url("/") };
        let table = [
            (server.url("/circle"), "redirects in circles"),
            (server.url("/nothing"), "nothing to show"),
            (dead, "nothing answers there"),
            ("http://no-such-host.invalid/".into(), "no such host"),
            ("file:///etc/passwd".into(), "only `http` and `https`"),
            ("view-source:http://a.test/".into(), "only `http` and `https`"),
            ("javascript:alert(1)".into(), "only `http` and `https`"),
            ("chrome://version".into(), "only `http` and `https`"),
            (String::new(), "there is no address"),
        ];
        for (url, word) in table {
            let why = stage.refused(Action::VisitPage { url: url.clone() }).await;
            assert!(why.contains(word), "{url}: {why}");
        }
        stage.visit(&server.url("/")).await;
        assert_eq!(stage.seen.title, "Home", "and it goes on after all of that");
        stage.close().await;
    });
}

/// A page that never comes is given up after two tries; one that never ends is shown.
#[test]
fn pages_that_never_end() {
    run(async {
        let server = Server::start([
            ("/never", html("x").after(Duration::from_mins(1))),
            ("/half", html("<h1>Half</h1><img src=/never><script>fetch('/never')</script>")),
            ("/", html("<h1>Home</h1>")),
        ])
        .await;
        let mut stage = Stage::with(|options| options.load = Duration::from_secs(2)).await;
        stage.visit(&server.url("/")).await;
        let why = stage.refused(Action::VisitPage { url: server.url("/never") }).await;
        assert!(why.contains("did not answer within 2 s, twice"), "{why}");
        stage.visit(&server.url("/half")).await;
        assert!(stage.seen.text.contains("Half"));
        assert!(
            stage.seen.notices.iter().any(|one| one.contains("still loading")),
            "{:?}",
            stage.seen.notices
        );
        stage.visit(&server.url("/")).await;
        assert!(stage.seen.text.contains("Home"));
        stage.close().await;
    });
}

#[test]
fn back_goes_back_and_says_where_it_cannot() {
    run(async {
        let server = Server::start([
            ("/", html("<a href=/two>Two</a> <a href=/two target=_blank>Window</a>")),
            ("/two", html("<h1>Second</h1><button onclick=\"history.pushState(0,'','/three')\">Push</button>")),
        ]).await;
        let mut stage = Stage::open().await;
        let why = stage.refused(Action::Back).await;
        assert!(why.contains("no page before this one"), "{why}");
        stage.visit(&server.url("/")).await;
        let why = stage.refused(Action::Back).await;
        assert!(why.contains("no page before this one"), "the empty page is none: {why}");
        stage.click("Two").await;
        stage.click("Push").await;
        assert_eq!(stage.seen.url, server.url("/three"));
        stage.must(Action::Back).await;
        assert_eq!(stage.seen.url, server.url("/two"));
        stage.must(Action::Back).await;
        assert_eq!(stage.seen.url, server.url("/"));
        stage.click("Window").await;
        assert!(
            stage.seen.notices.iter().any(|one| one.contains("a new tab opened")),
            "{:?}",
            stage.seen.notices
        );
        assert_eq!(stage.seen.tabs, [server.url("/two"), server.url("/")]);
        stage.must(Action::Back).await;
        assert!(stage.seen.feedback.contains("closed the tab"), "{}", stage.seen.feedback);
        assert_eq!(stage.seen.tabs, [server.url("/")]);
        stage.close().await;
    });
}

#[test]
fn scrolling_moves_what_scrolls() {
    run(async {
        let grows = "<div id=list></div><script>let n=0;const more=()=>{for(let i=0;i<30;i++)list.insertAdjacentHTML('beforeend','<p>Item '+(n++))};more();addEventListener('scroll',()=>{if(innerHeight+scrollY>=document.body.scrollHeight-5&&n<200)setTimeout(more,150)})</script>";
        let server = Server::start([
            ("/long", html(long(200))),
            ("/short", html("<p>All of it")),
            ("/part", html(format!("<style>body{{margin:0;height:100vh;overflow:hidden}}</style><div style='height:300px;overflow:auto'>{}</div>", long(60)))),
            ("/grows", html(grows)),
            ("/frame", html(format!("<style>body{{margin:0;overflow:hidden}}</style><iframe srcdoc=\"{}\" style='width:600px;height:300px'></iframe>", long(80)))),
        ]).await;
        let mut stage = Stage::at(&server.url("/long")).await;
        assert!(stage.seen.text.contains("Row 0") && !stage.seen.text.contains("Row 199"));
        stage.must(Action::ScrollDown).await;
        assert!(
            stage.seen.scroll.top > 600 && !stage.seen.text.contains("Row 0\n"),
            "{}",
            stage.seen.to_text()
        );
        stage.must(Action::ScrollUp).await;
        assert_eq!(stage.seen.scroll.top, 0);
        stage.must(Action::ScrollUp).await;
        assert!(stage.seen.feedback.contains("at the top already"), "{}", stage.seen.feedback);
        stage.must(Action::ScrollToBottom).await;
        assert!(stage.seen.text.contains("Row 199"));
        stage.must(Action::ScrollDown).await;
        assert!(stage.seen.feedback.contains("at the bottom already"), "{}", stage.seen.feedback);
        stage.must(Action::ScrollToTop).await;
        assert!(stage.seen.text.contains("Row 0"));
        stage.visit(&server.url("/short")).await;
        for action in
            [Action::ScrollDown, Action::ScrollUp, Action::ScrollToBottom, Action::ScrollToTop]
        {
            stage.must(action).await;
            assert!(stage.seen.feedback.contains("nothing to scroll"), "{}", stage.seen.feedback);
        }
        for path in ["/part", "/frame"] {
            stage.visit(&server.url(path)).await;
            stage.must(Action::ScrollToBottom).await;
            assert!(
                stage.seen.text.contains(if path == "/part" { "Row 59" } else { "Row 79" }),
                "{}",
                stage.seen.to_text()
            );
        }
        stage.visit(&server.url("/grows")).await;
        stage.must(Action::ScrollToBottom).await;
        assert!(stage.seen.feedback.contains("the page grew from"), "{}", stage.seen.feedback);
        assert!(
            stage.seen.text.contains("Item 59") && !stage.seen.text.contains("Item 119"),
            "once"
        );
        stage.close().await;
    });
}

#[test]
fn text_is_found_wherever_it_is() {
    run(async {
        let page = format!(
            "<p>It’s <b>in</b> <i>pieces</i></p>{}<p>He said “so be it” &amp; left</p><p>重要 通知</p><p>شكرا جزيلا</p>{}<p>it's in pieces again</p>
             <x-box></x-box><iframe srcdoc='<p>framed words</p>'></iframe>
             <script>customElements.define('x-box', class extends HTMLElement {{ connectedCallback() {{ this.attachShadow({{mode:'open'}}).innerHTML='<p>shadow words</p>' }} }})</script>",
            long(60), long(60)
        );
        let server = Server::start([("/", html(page))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        let find = |text: &str| Action::FindTextOnPage { text: text.into() };
        for (text, word) in [
            ("IT'S IN   PIECES", "hit 1 of 2"),
            ("IT'S IN   PIECES", "hit 2 of 2"),
            ("IT'S IN   PIECES", "hit 1 of 2"),
            ("\"so be it\" & left", "hit 1 of 1"),
            ("重要 通知", "hit 1 of 1"),
            ("شكرا جزيلا", "hit 1 of 1"),
            ("Shadow words", "hit 1 of 1"),
            ("framed WORDS", "hit 1 of 1"),
        ] {
            stage.must(find(text)).await;
            assert!(stage.seen.feedback.contains(word), "{text}: {}", stage.seen.feedback);
        }
        assert!(stage.seen.text.contains("framed words"), "it was brought into the window");
        for text in ["nowhere to be found", "'); alert(1); ('", "\\u0000 \" ' `"] {
            stage.must(find(text)).await;
            assert!(
                stage.seen.feedback.contains("is nowhere on the page"),
                "{text}: {}",
                stage.seen.feedback
            );
        }
        for (text, word) in
            [("", "no text to look for"), ("   ", "no text"), (&"x".repeat(2_000), "too long")]
        {
            let why = stage.refused(find(text)).await;
            assert!(why.contains(word), "{why}");
        }
        stage.close().await;
    });
}
