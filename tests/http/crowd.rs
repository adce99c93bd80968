//! Many sessions at once. 500 with `WILDGYM_BARS` set, else 60; only then times count.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::Value;

use super::server::{Server, TASK, look_up, right};

/// Steps that every session makes.
const STEPS: usize = 8;

/// What a process holds.
#[derive(Debug)]
struct Held {
    files: usize,
    threads: usize,
    kib: u64,
    scratch: usize,
}

fn held(server: &Server) -> Held {
    let process = format!("/proc/{}", server.pid());
    let status = fs::read_to_string(format!("{process}/status")).unwrap();
    let field = |name: &str| -> u64 {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let own = fs::read_dir(server.place.path().join("tmp")).unwrap();
    let workspaces = own.flatten().flat_map(|one| fs::read_dir(one.path()).into_iter().flatten());
    Held {
        files: fs::read_dir(format!("{process}/fd")).unwrap().count(),
        threads: usize::try_from(field("Threads:")).unwrap(),
        kib: field("RssAnon:"),
        scratch: workspaces.count(),
    }
}

/// Every session is stepped at once with all others, several times, answered and judged:
/// nothing fails, nothing is mixed up, and nothing is left when all are closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_is_served_and_leaves_nothing() {
    let bars = std::env::var_os("WILDGYM_BARS").is_some();
    let count = if bars { 500 } else { 60 };
    let server = Server::start(&["--tasks", "t1-00*"]);
    // What the first sessions warm up is no leak.
    wave(&server, count).await;
    let before = held(&server);
    let (mut times, began) = (wave(&server, count).await, Instant::now());
    times.extend(wave(&server, count).await);
    let took = began.elapsed();
    times.sort();
    let after = held(&server);
    let at = |share: f64| {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a place")]
        #[expect(clippy::cast_sign_loss, reason = "a place")]
        let place = (times.len() as f64 * share) as usize;
        times[place.min(times.len() - 1)]
    };
    println!(
        "{count} sessions stepped at once: p50 {:?}, p99 {:?}, most {:?}; a wave took {took:?}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    println!("before {before:?}\nafter  {after:?}");
    let status = server.done("GET", "/v1/status", &Value::Null).await;
    assert_eq!(status["sessions"], 0, "{status}");
    assert_eq!(after.scratch, before.scratch, "workspaces");
    // Connections of this client come and go.
    assert!(after.files <= before.files + 16, "files: {before:?} {after:?}");
    assert!(after.kib <= before.kib + before.kib / 4 + 32_768, "memory: {before:?} {after:?}");
    if bars {
        assert!(at(0.99) <= Duration::from_millis(100), "p99 is {:?}", at(0.99));
    }
}

/// Opens sessions, steps them in turns of all at once, and closes them; returns how long
/// each step took.
async fn wave(server: &Server, count: usize) -> Vec<Duration> {
    let mut sessions = Vec::new();
    while sessions.len() < count {
        sessions.extend(server.open(TASK, (count - sessions.len()).min(256), None).await);
    }
    let mut times = Vec::new();
    let look_up = look_up();
    let mut contents: BTreeMap<String, usize> = BTreeMap::new();
    for turn in 0..STEPS {
        let steps = sessions.iter().map(|session| async {
            let began = Instant::now();
            let answer = server.step(session, &look_up).await;
            (began.elapsed(), answer)
        });
        for (took, answer) in join_all(steps).await {
            assert_eq!(answer.status, 200, "{}", answer.body);
            let content = answer.body["results"][0]["content"].as_str().unwrap();
            *contents.entry(content.to_owned()).or_default() += 1;
            // The first step makes the sandbox.
            if turn > 0 {
                times.push(took);
            }
        }
    }
    assert_eq!(contents.len(), 1, "all see the same: {:?}", contents.keys());
    let right = right();
    let ends = join_all(sessions.iter().map(|session| server.step(session, &right))).await;
    assert!(ends.iter().all(|end| end.body["outcome"] == "answered"));
    for (number, session) in sessions.iter().enumerate() {
        if number % 10 == 0 {
            // Eight calls are more than the task allows.
            assert_eq!(server.act(session, "evaluate").await["reward"], 0.0);
        }
    }
    let paths: Vec<String> = sessions.iter().map(|id| format!("/v1/sessions/{id}")).collect();
    join_all(paths.iter().map(|path| server.done("DELETE", path, &Value::Null))).await;
    times
}
