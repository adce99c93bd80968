//! Pages that show their content by timers: what is seen must not depend on speed.

use crate::stage::{Server, Stage, html, run};

/// A page with a line for each way in which content may come late.
const LATE: &str = r#"<script>
    const say = (text) => document.body.insertAdjacentHTML('beforeend', '<p>' + text);
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    const late = async (when) => {
        setTimeout((...words) => say(words.join(' ')), 400, when, '400');
        setTimeout(() => say(when + ' 1000'), 1000);
        setTimeout(`say('${when} text')`, 600);
        clearTimeout(setTimeout(() => say(when + ' never'), 300));
        for (const n of [1, 2, 3]) { await pause(200); say(when + ' step ' + n); }
    };
    addEventListener('load', () => late('loaded'));
</script><button onclick="late('clicked')">More</button>
<iframe srcdoc="<p>Frame</p><script>setTimeout(() => document.body.append('framed 700'), 700)</script>"></iframe>"#;

#[test]
fn what_comes_by_a_timer_is_seen() {
    run(async {
        let server = Server::start([("/", html(LATE))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        let words = ["400", "1000", "text", "step 1", "step 3"];
        for word in words {
            let want = format!("loaded {word}");
            assert!(stage.seen.text.contains(&want), "{want}: {}", stage.seen.text);
        }
        assert!(stage.seen.text.contains("framed 700"), "{}", stage.seen.text);
        stage.click("More").await;
        for word in words {
            let want = format!("clicked {word}");
            assert!(stage.seen.text.contains(&want), "{want}: {}", stage.seen.text);
        }
        assert!(!stage.seen.text.contains("never"), "{}", stage.seen.text);
        stage.close().await;
    });
}

/// What has no end, or is far away, holds nothing up: the test ends, and what would come
/// by it in its own time is not there.
#[test]
fn what_a_page_repeats_or_puts_off_is_not_waited_for() {
    run(async {
        let table = [
            ("const turn = () => setTimeout(turn, 50); turn()", "a chain"),
            (
                "(async () => { for (;;) await new Promise((done) => setTimeout(done, 50)) })()",
                "a loop",
            ),
            ("setInterval(() => setTimeout(() => {}, 100), 50)", "a repetition"),
            ("setTimeout(() => document.body.append('much later'), 60000)", "a minute"),
            (
                "const f = () => { setTimeout(() => {}, 1500); requestAnimationFrame(f) }; f()",
                "each picture",
            ),
        ];
        for (script, why) in table {
            let page = format!(
                "<h1>Here</h1><button onclick=\"document.title='done'\">Go</button><script>{script}</script>"
            );
            let server = Server::start([("/", html(page))]).await;
            let mut stage = Stage::at(&server.url("/")).await;
            stage.click("Go").await;
            assert_eq!(stage.seen.title, "done", "{why}");
            assert!(stage.seen.notices.is_empty(), "{why}: {:?}", stage.seen.notices);
            assert!(!stage.seen.text.contains("much later"), "{why}");
            stage.close().await;
        }
    });
}

/// A page finds the functions as it knows them.
#[test]
fn the_timers_of_a_page_look_and_fail_as_ever() {
    run(async {
        let server = Server::start([("/", html("<h1>Here</h1>"))]).await;
        let stage = Stage::at(&server.url("/")).await;
        let table = [
            ("setTimeout.name + setTimeout.length + clearTimeout.name", "setTimeout1clearTimeout"),
            (
                "String(/\\[native code\\]/.test(setTimeout + '' + Function.prototype.toString.call(clearTimeout)))",
                "true",
            ),
            ("typeof setTimeout(() => {})", "number"),
            ("(() => { try { setTimeout() } catch (error) { return error.name } })()", "TypeError"),
            (
                "(() => { try { new setTimeout(1) } catch (error) { return error.name } })()",
                "TypeError",
            ),
            (
                "(() => { try { setTimeout.call({}, () => {}) } catch (error) { return error.name } })()",
                "TypeError",
            ),
            ("String(Object.keys(globalThis).some((key) => key.includes('wildgym')))", "false"),
        ];
        for (script, want) in table {
            assert_eq!(stage.page_says(script).await, want, "{script}");
        }
        stage.close().await;
    });
}
