//! One seed and the same replies give the same bytes, whatever the scheduler does.

mod common;

use common::{Place, timeless, transcripts};
use serde_json::json;
use wildgym_support::{ScriptedServer, calls, final_answer, says};

/// Everything in it could betray a schedule: chance, the clock, hashes, parallel calls
/// that conflict, errors, calls made from code, cut results.
async fn model() -> ScriptedServer {
    let chance = "import random, time, os, numpy\n\
                  print(random.random(), numpy.random.rand(), os.urandom(4).hex(), time.time())\n\
                  print({'a', 'b', 'c'}, hash('x'))\n\
                  open('seen.txt', 'a').write(str(random.random()))\n\
                  print([(entry.name, entry.inode(), os.stat(entry).st_ino) for entry in os.scandir()])\n\
                  print(os.path.samefile('note.txt', './note.txt'), os.path.samefile('note.txt', 'seen.txt'))";
    ScriptedServer::start(move |request| match request.round {
        1 => calls([
            ("a", "execute_code", json!({"code": chance})),
            ("b", "extract_document_content", json!({"document_path": "note.txt"})),
            ("c", "execute_code", json!({"code": "print(open('seen.txt').read())"})),
            ("d", "search_serper", json!({"query": "anything"})),
            ("e", "no_such_tool", json!({})),
        ]),
        2 => says("Let me think."),
        3 => calls([("f", "execute_code", json!({"code": "print('x' * 100_000)"}))]),
        _ => final_answer("done"),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transcripts_are_equal_at_any_concurrency() {
    let model = model().await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(20);
    let mut runs = Vec::new();
    for concurrency in ["1", "64"] {
        let ran = place.wildgym(&Place::asking(
            &suite,
            &url,
            &[
                "-k",
                "2",
                "--seed",
                "7",
                "--concurrency",
                concurrency,
                "--requests",
                "64",
                "--name",
                concurrency,
                "-q",
            ],
        ));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let all = transcripts(&place.path().join("runs").join(concurrency));
        assert_eq!(all.len(), 40);
        runs.push(all);
    }
    for (path, text) in &runs[0] {
        assert_eq!(timeless(text), timeless(&runs[1][path]), "{path}");
    }
    let distinct: std::collections::BTreeSet<_> = runs[0].values().map(|t| timeless(t)).collect();
    assert_eq!(distinct.len(), 40, "each trial has chances of its own");
    assert_eq!(model.violations(), Vec::<String>::new());
}
