//! Many attempts alive at once, each alone with its own.
//!
//! The model holds every second round until all attempts have written in their first;
//! then each reads its own file back. 200 attempts with `WILDGYM_BARS` set, else 40.

mod common;

use common::{Place, transcripts};
use serde_json::json;
use wildgym_support::{ScriptedServer, calls, final_answer};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_alive_at_once_see_only_their_own() {
    let count = if std::env::var_os("WILDGYM_BARS").is_some() { 200 } else { 40 };
    let model = ScriptedServer::start(move |request| {
        let mark = request.headers["x-wildgym-trial"].clone();
        match request.round {
            1 => {
                let code = format!("open('a.txt', 'w').write('{mark}')");
                calls([("w", "execute_code", json!({"code": code}))])
            }
            2 => calls([("r", "execute_code", json!({"code": "print(open('a.txt').read())"}))])
                .hold_until("all have written", count),
            _ => {
                let own = request.results() == [format!("{mark}\n").as_str()]
                    || request.results().iter().any(|text| text.trim() == mark);
                final_answer(if own { "done" } else { "not mine" })
            }
        }
    })
    .await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(count);
    let wide = count.to_string();
    let ran = place.wildgym(&Place::asking(
        &suite,
        &url,
        &["-k", "1", "--concurrency", &wide, "--requests", &wide, "--name", "r", "--json", "-q"],
    ));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.json()["trials"]["pass"], count, "{}", ran.out);
    assert!(model.most_in_flight() >= count, "only {} at once", model.most_in_flight());
    assert_eq!(transcripts(&place.path().join("runs/r")).len(), count);
    println!("{count} attempts alive at once: each read back its own file");
}
