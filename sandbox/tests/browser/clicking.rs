//! Clicking, hovering, blank areas, downloads.

use std::time::Duration;

use wildgym_sandbox::browser::Action;

use crate::stage::{Server, Stage, file, html, run};

/// Each click that cannot be done says why, and nothing of the page hears of it.
#[test]
fn a_click_says_what_is_in_its_way() {
    run(async {
        let page = r#"<button id=a style="position:absolute;left:20px;top:20px">Under</button>
            <div id=cover style="position:absolute;left:0;top:0;width:300px;height:80px;background:#eee">Accept our cookies</div>
            <p style="margin-top:100px"><button disabled>Off</button>
            <button aria-disabled=true>Dim</button>
            <button id=hide>Hides</button> <button id=drop>Drops</button>
            <select name=s><option>A<option>B</select> <input type=file aria-label=File>
            <script>
              window.clicks = 0;
              addEventListener('click', () => clicks++);
              hide.onclick = () => { hide.style.display = 'none'; };
              drop.onclick = () => drop.remove();
            </script>"#;
        let server = Server::start([("/", html(page))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        let click = |stage: &Stage, name: &str| Action::ClickId { id: stage.id(name) };
        let table = [
            ("Under", "covered by <div id=\"cover\"> with the text \"Accept our cookies\""),
            ("Off", "it is disabled"),
            ("Dim", "it is disabled"),
            ("s", "fill_input_id("),
            ("File", "attaches a file of the workspace"),
        ];
        for (name, word) in table {
            let action = click(&stage, name);
            let why = stage.refused(action).await;
            assert!(why.contains(word), "{name}: {why}");
        }
        assert_eq!(stage.page_says("clicks").await, 0, "none of them was clicked");
        let (hide, drop) = (stage.id("Hides"), stage.id("Drops"));
        stage.click("Hides").await;
        stage.click("Drops").await;
        let why = stage.refused(Action::ClickId { id: hide }).await;
        assert!(why.contains("hidden"), "{why}");
        let why = stage.refused(Action::ClickId { id: drop }).await;
        assert!(
            why.contains("button \"Drops\"") && why.contains("not on the page any more"),
            "{why}"
        );
        for (id, word) in [(9999, "the ids go from 10 to"), (0, "no element [0]")] {
            let why = stage.refused(Action::ClickId { id }).await;
            assert!(why.contains(word), "{id}: {why}");
        }
        stage.close().await;
    });
}

/// Labels, summaries, links over two lines, things in frames and in shadow trees.
#[test]
fn clicks_reach_what_they_mean() {
    run(async {
        let inner = r#"<button onclick="this.textContent='frame done'">In a frame</button>
            <iframe srcdoc="<button onclick='this.textContent=&quot;deep done&quot;'>Deep</button>"></iframe>"#;
        let page = |frame: &str| {
            html(format!(
                r#"<details><summary>More</summary><p>Hidden words</details>
                <label><input type=checkbox style="position:absolute;opacity:0;width:0;height:0"> Styled box</label>
                <div style="width:120px">long words before it <a href=/#x id=l>a link of several words on two lines</a></div>
                <outer-box></outer-box>
                <div style="height:1500px"></div>
                <iframe src="{frame}" width=400 height=300></iframe>
                <script>
                  class Inner extends HTMLElement {{ connectedCallback() {{
                    this.attachShadow({{ mode: 'open' }}).innerHTML = '<button>In two shadows</button>';
                    this.shadowRoot.querySelector('button').addEventListener('click', (e) => e.target.textContent = 'shadow done');
                  }} }}
                  class Outer extends HTMLElement {{ connectedCallback() {{
                    this.attachShadow({{ mode: 'open' }}).innerHTML = '<inner-box></inner-box>';
                  }} }}
                  customElements.define('inner-box', Inner);
                  customElements.define('outer-box', Outer);
                </script>"#
            ))
        };
        let frames = Server::start([("/in", html(inner))]).await;
        let server = Server::start([("/", page(&frames.other("/in")))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        stage.click("More").await;
        assert!(stage.seen.text.contains("Hidden words"), "{}", stage.seen.to_text());
        stage.click("Styled box").await;
        assert_eq!(stage.element("Styled box").states[0], "checked");
        stage.click("a link of several words on two lines").await;
        assert!(stage.seen.url.ends_with("#x"));
        stage.click("In two shadows").await;
        assert!(stage.seen.text.contains("shadow done"), "{}", stage.seen.to_text());
        stage.click("In a frame").await;
        stage.click("Deep").await;
        assert!(stage.seen.text.contains("deep done"), "{}", stage.seen.to_text());
        assert!(stage.element("frame done").frame.is_some(), "of another origin");
        let mut ids: Vec<u32> = stage.seen.elements.iter().map(|element| element.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "no id is given twice, in whatever frame");
        stage.close().await;
    });
}

/// What covers a frame covers what is in it.
#[test]
fn a_covered_frame_is_told() {
    run(async {
        let page = r#"<iframe srcdoc="<button>Inside</button>" style="position:absolute;left:0;top:0"></iframe>
            <div role=dialog aria-label=Offer tabindex=0 style="position:absolute;left:0;top:0;width:400px;height:300px;background:white">Buy now</div>"#;
        let server = Server::start([("/", html(page))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        let id = stage.id("Inside");
        let why = stage.refused(Action::ClickId { id }).await;
        assert!(
            why.contains("its frame is covered by") && why.contains("dialog \"Offer\""),
            "{why}"
        );
        stage.close().await;
    });
}

/// A page that covers or drops a thing as the pointer comes is caught before the press.
#[test]
fn a_page_that_changes_under_the_pointer() {
    run(async {
        let page = r#"<button id=a onmouseover="c.style.display='block'">Shy</button>
            <div id=c style="display:none;position:fixed;inset:0;background:#ccc">Curtain</div>
            <p><button id=b onmouseover="this.remove()" style="margin-top:60px">Gone</button>"#;
        let server = Server::start([("/", html(page))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        let id = stage.id("Gone");
        let why = stage.refused(Action::ClickId { id }).await;
        assert!(why.contains("took it away when the pointer came"), "{why}");
        let id = stage.id("Shy");
        let why = stage.refused(Action::ClickId { id }).await;
        assert!(
            why.contains("when the pointer came, it is covered by") && why.contains("Curtain"),
            "{why}"
        );
        stage.close().await;
    });
}

#[test]
fn hovering_opens_what_hovering_opens() {
    run(async {
        let page = r#"<style>ul{display:none} li:hover ul{display:block}</style>
            <li tabindex=0 style="width:200px">Menu<ul><li><a href=/two>Entry</a></ul></li>
            <button style="visibility:hidden">Invisible</button>"#;
        let server = Server::start([("/", html(page)), ("/two", html("<h1>Two</h1>"))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        assert!(!stage.seen.text.contains("Entry"));
        let id = stage.seen.elements[0].id;
        stage.must(Action::HoverId { id }).await;
        stage.click("Entry").await;
        assert!(stage.seen.text.contains("Two"));
        for (id, word) in [(id, "[10]"), (77, "no element [77]"), (u32::MAX, "no element")] {
            let why = stage.refused(Action::HoverId { id }).await;
            assert!(why.contains(word), "{why}");
        }
        stage.close().await;
    });
}

/// A click beside everything closes what such a click closes, and presses no button.
#[test]
fn a_blank_area_is_really_blank() {
    run(async {
        let modal = r#"<button style="position:fixed;left:0;top:0;width:100px;height:60px" onclick="document.title='wrong'">Corner</button>
            <div id=back style="position:fixed;inset:0;background:rgba(0,0,0,.5)" onclick="if(event.target===this)this.remove()">
            <div style="margin:100px auto;width:300px;background:#fff">A dialog <button>OK</button></div></div>"#;
        let full = r#"<style>*{margin:0}</style><button style="position:fixed;inset:0;width:100%;height:100%">All</button>"#;
        let server = Server::start([
            ("/modal", html(format!("<title>T</title>{modal}"))),
            ("/full", html(full)),
            ("/menu", html("<title>T</title><p id=m>open</p><script>document.body.parentNode.onclick=()=>m.textContent='closed'</script>")),
        ]).await;
        let mut stage = Stage::at(&server.url("/menu")).await;
        stage.must(Action::ClickBlankArea).await;
        assert!(stage.seen.text.contains("closed"));
        stage.visit(&server.url("/modal")).await;
        stage.must(Action::ClickBlankArea).await;
        assert!(!stage.seen.text.contains("A dialog"), "{}", stage.seen.to_text());
        assert_eq!(stage.seen.title, "T");
        stage.visit(&server.url("/full")).await;
        let why = stage.refused(Action::ClickBlankArea).await;
        assert!(why.contains("no blank area"), "{why}");
        stage.close().await;
    });
}

/// Downloads come into the workspace under safe names of their own, or are told to be
/// too large, and leave nothing in between.
#[test]
fn downloads_come_into_the_workspace() {
    run(async {
        let page = r#"<a href=/a>Table</a> <a href=/evil>Evil</a> <a href=/big>Big</a> <a href=/huge>Huge</a>
            <a href=/page>Page</a> <button onclick="1">Nothing</button>
            <a href="data:text/plain,made" download="made up.txt">Made</a>"#;
        let server = Server::start([
            ("/", html(page)),
            ("/page", html("<h1>Only a page</h1>")),
            ("/a", file("text/csv", Some("t%C3%A4ble.csv"), "a,b\n1,2\n")),
            ("/evil", file("application/octet-stream", Some("..%2F..%2F.bashrc"), "x")),
            ("/big", file("application/octet-stream", Some("big.bin"), vec![7; 900_000])),
            ("/huge", file("application/octet-stream", Some("huge.bin"), vec![7; 3_000_000])),
            ("/doc.pdf", file("application/pdf", None, "%PDF-1.4 x")),
        ])
        .await;
        let mut stage = Stage::with(|options| {
            options.download_limit = 2_000_000;
            options.load = Duration::from_secs(10);
        })
        .await;
        stage.visit(&server.url("/")).await;
        let download = |stage: &Stage, name: &str| Action::DownloadFileId { id: stage.id(name) };
        let table = [
            ("Table", "`downloads/täble.csv` (8 bytes)"),
            ("Table", "`downloads/täble-2.csv` (8 bytes)"),
            ("Evil", "(1 bytes) into the workspace"),
            ("Made", "`downloads/made up.txt` (4 bytes)"),
            ("Big", "`downloads/big.bin` (900000 bytes)"),
            ("Big", "the workspace is full"),
            ("Huge", "more than 1 MiB"),
            ("Nothing", "nothing was downloaded"),
        ];
        for (name, word) in table {
            let action = download(&stage, name);
            let told = stage.must(action).await.feedback.clone();
            assert!(told.contains(word), "{name}: {told}");
        }
        assert_eq!(std::fs::read(stage.folder.join("downloads/täble.csv")).unwrap(), b"a,b\n1,2\n");
        assert!(!stage.folder.parent().unwrap().join(".bashrc").exists(), "nothing climbs out");
        let left: Vec<_> =
            std::fs::read_dir(stage.folder.parent().unwrap().join("staging")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        // A click that downloads beside what it is for tells it too, and so does a visit.
        stage.click("Table").await;
        assert!(
            stage.seen.notices.iter().any(|notice| notice.contains("täble-3.csv")),
            "{:?}",
            stage.seen.notices
        );
        assert_eq!(stage.seen.downloads, ["downloads/täble-3.csv"]);
        stage.visit(&server.url("/doc.pdf")).await;
        assert!(
            stage.seen.feedback.contains("is a file")
                && stage.seen.notices.iter().any(|notice| notice.contains("doc.pdf")),
            "{}",
            stage.seen.to_text()
        );
        let action = download(&stage, "Page");
        let told = stage.must(action).await.feedback.clone();
        assert!(
            told.contains("nothing was downloaded") && stage.seen.text.contains("Only a page"),
            "{told}"
        );
        for id in [9, 4_000] {
            assert!(stage.refused(Action::DownloadFileId { id }).await.contains("no element"));
        }
        stage.close().await;
    });
}
