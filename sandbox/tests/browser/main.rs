//! Page actions in a real browser, on pages served by the tests themselves.

mod stage;

use stage::{Server, Stage, html, run};
use wildgym_sandbox::browser::Action;

#[test]
fn smoke() {
    run(async {
        let server = Server::start([("/", html("<title>T</title><h1>Hello</h1><p>Some <b>bold</b> text<a href=/two>Two</a><form action=/two><label>Name <input name=n></label><select name=s><option>Red<option>Blue</select><input type=checkbox id=c><label for=c>Agree</label><button>Go</button></form><table><tr><th>A<th>B<tr><td>1<td>2</table><div id=l>listens</div><script>l.addEventListener('click',()=>{document.title='heard'})</script><iframe srcdoc='<button>In frame</button>' name=fr></iframe>")),("/two", html("two"))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        println!("{}", stage.seen.to_text());
        stage.fill("Name", "Ann \"世界\" 🎉").await;
        stage.click("In frame").await;
        stage.click("Agree").await;
        stage.fill("s", "blue").await;
        stage.click("listens").await;
        println!("{}", stage.seen.to_text());
        let png = stage.session.picture().await.unwrap();
        std::fs::write("/tmp/proto-actions/p.png", png).unwrap();
        stage.click("Go").await;
        println!("{}", stage.seen.to_text());
        stage.must(Action::Back).await;
        println!("{}", stage.seen.to_text());
        stage.close().await;
    });
}
