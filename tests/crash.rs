//! Nothing finished is ever lost, and nothing finished is done again.
//!
//! The process is killed with SIGKILL at a random point of a run against a scripted
//! model, then the run is resumed. The small form runs always; with `WILDGYM_BARS` set
//! it is 1,200 trials, killed 20 times (`make bars`).

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use common::{Place, is_finished, transcripts, verdicts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::json;
use wildgym_support::{ScriptedServer, calls, final_answer};

/// How much is tried.
struct Size {
    tasks: usize,
    k: usize,
    kills: u64,
}

fn size() -> Size {
    if std::env::var_os("WILDGYM_BARS").is_some() {
        Size { tasks: 40, k: 30, kills: 20 }
    } else {
        Size { tasks: 10, k: 12, kills: 2 }
    }
}

/// A model that waits 20 ms, calls once, and answers with what it read.
async fn model() -> ScriptedServer {
    ScriptedServer::start(|request| {
        let reply = match request.round {
            1 => calls([("c1", "execute_code", json!({"code": "print(open('note.txt').read())"}))]),
            _ => final_answer("done"),
        };
        reply.after(Duration::from_millis(20))
    })
    .await
}

fn finished(run: &Path) -> BTreeMap<String, String> {
    transcripts(run).into_iter().filter(|(_, text)| is_finished(text)).collect()
}

/// Names the trial of a transcript as requests carry it: condition/task/variant/k.
fn trial(path: &str) -> String {
    let parts: Vec<&str> = path.split(['/', '.']).collect();
    parts[..parts.len() - 2].join("/")
}

/// Waits until `reached`, then kills the process.
fn kill_when(mut child: Child, reached: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_mins(5);
    while !reached() {
        assert!(Instant::now() < patience, "the run got nowhere");
        if child.try_wait().unwrap().is_some() {
            return; // It was faster than the kill: a point after the end is a point too.
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_run_resumes_without_loss_or_repetition() {
    let size = size();
    let (total, k) = (size.tasks * size.k, size.k.to_string());
    for seed in 0..size.kills {
        let model = model().await;
        let (place, url) = (Place::new(), model.base_url());
        let suite = place.suite(size.tasks);
        let run = place.path().join("runs/r");
        let point = ChaCha12Rng::seed_from_u64(seed).random_range(5..=95);
        let began = Place::asking(
            &suite,
            &url,
            &["-k", &k, "--concurrency", "32", "--requests", "32", "--name", "r", "-q"],
        );
        let requests = 2 * total * point / 100;
        kill_when(place.start(&began), || model.requests().len() >= requests);
        let before = finished(&run);
        let asked = model.requests().len();
        let resumed = place.wildgym(&["resume", "runs/r", "--concurrency", "32", "--json", "-q"]);
        assert_eq!(resumed.code, Some(0), "seed {seed}: {}", resumed.err);
        let after = finished(&run);
        assert_eq!(after.len(), total, "seed {seed}: every trial has one attempt that counts");
        assert!(before.iter().all(|(path, text)| after[path] == *text), "seed {seed}: unchanged");
        let done: BTreeSet<String> = before.keys().map(|path| trial(path)).collect();
        let again = model.requests()[asked..]
            .iter()
            .filter(|request| done.contains(&request.headers["x-wildgym-trial"]))
            .count();
        assert_eq!(again, 0, "seed {seed}: requests for trials that were finished");
        assert_eq!(resumed.json()["trials"]["pass"], total, "seed {seed}: {}", resumed.out);
        assert_eq!(verdicts(&run).len(), total, "seed {seed}: one verdict a trial");
        assert_eq!(model.violations(), Vec::<String>::new());
        println!(
            "killed at {point} %: {} of {total} finished before, all unchanged, none repeated",
            before.len()
        );
    }
}

/// The kill hits while stored attempts are being judged: no verdict is lost or doubled
/// and no model is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_while_judging_loses_no_verdict() {
    let size = size();
    let (total, k) = (size.tasks * size.k, size.k.to_string());
    let model = model().await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(size.tasks);
    let run = place.path().join("runs/r");
    let first = place.wildgym(&Place::asking(
        &suite,
        &url,
        &["-k", &k, "--concurrency", "32", "--requests", "32", "--name", "r", "-q"],
    ));
    assert_eq!(first.code, Some(0), "{}", first.err);
    let (asked, before) = (model.requests().len(), transcripts(&run));
    for seed in 0..size.kills {
        // As if the judge had been down for the whole run.
        std::fs::remove_file(run.join("verdicts/exact.jsonl")).unwrap();
        let point = ChaCha12Rng::seed_from_u64(seed).random_range(5..=95);
        let wanted = total * point / 100;
        kill_when(place.start(&["resume", "runs/r", "-q"]), || verdicts(&run).len() >= wanted);
        let kept = verdicts(&run);
        let resumed = place.wildgym(&["resume", "runs/r", "--json", "-q"]);
        assert_eq!(resumed.code, Some(0), "seed {seed}: {}", resumed.err);
        let judged = verdicts(&run);
        assert_eq!(judged[..kept.len()], kept[..], "seed {seed}: kept as they were");
        let distinct: BTreeSet<String> = judged.iter().map(|v| v["trial"].to_string()).collect();
        assert_eq!((judged.len(), distinct.len()), (total, total), "seed {seed}: one a trial");
        println!("killed while judging: {} of {total} verdicts kept, none doubled", kept.len());
    }
    assert_eq!(model.requests().len(), asked, "judging asks no agent");
    assert_eq!(transcripts(&run), before, "judging touches no transcript");
}
