//! The open web, played by a server on this machine: a live run is recorded, the server goes
//! away, and the recording answers the same run again.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Place, Ran, cache, timeless, transcripts};
use serde_json::Value;
use tokio::net::TcpListener;
use wildgym_sandbox::web::serve::{Serve, serve};
use wildgym_sandbox::web::{Hermetic, Web};
use wildgym_tasks::Suite;

/// The sites of `starter`, served as `wildgym web serve` does, under the names of the open web.
struct Server {
    port: u16,
    asked: Arc<AtomicUsize>,
    running: tokio::runtime::Runtime,
}

impl Server {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let cache = cache();
        let folder = wildgym_tasks::builtin::unpack("starter", &cache).unwrap();
        let suite = Suite::load(&folder).unwrap();
        let hermetic = Hermetic::open(&suite.sites, &cache).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let served = Serve {
            web: Web::hermetic(Arc::new(hermetic), Vec::new()),
            hosts: Vec::new(),
            now: "2026-03-01T09:00:00Z".parse().unwrap(),
            allow_remote: false,
            log: Box::new(move |_| {
                count.fetch_add(1, Ordering::Relaxed);
            }),
        };
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(serve(served, listener, std::future::pending()));
        Self { port, asked, running: runtime }
    }

    fn map(&self) -> String {
        format!("*=http://127.0.0.1:{}", self.port)
    }

    /// Ends the server; nobody listens at its port any more.
    fn stop(self) {
        self.running.shutdown_background();
    }
}

/// Runs the program without what the environment of the test may say of the web.
fn wildgym(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.command(args);
    for name in ["SERPER_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns the verdicts of a run by trial.
fn verdicts(run: &Path) -> BTreeMap<String, Value> {
    let lines = common::verdicts(run).into_iter();
    lines.map(|line| (line["trial"].to_string(), line["verdict"].clone())).collect()
}

#[test]
fn a_recorded_live_run_replays_without_a_network() {
    let (place, server) = (Place::new(), Server::start());
    let map = server.map();
    let live = wildgym(
        &place,
        &[
            "run",
            "starter",
            "-k",
            "2",
            "--seed",
            "5",
            "--name",
            "live",
            "--web",
            "live",
            "--web-map",
            &map,
            "--allow-private",
            "--record",
            "web.warc.gz",
            "--json",
        ],
    );
    assert_eq!(live.code, Some(0), "{}{}", live.err, live.out);
    assert!(server.asked.load(Ordering::Relaxed) > 10, "the server played the open web");
    server.stop();
    let report = live.json();
    let label = &report["label"];
    assert_eq!(label["web"], "live");
    let notes = label["web_notes"].to_string();
    assert!(notes.contains("web.warc.gz") && notes.contains("127.0.0.1"), "{notes}");
    let recorded = "wildgym run starter --web replay --recording";
    assert!(live.err.contains(recorded), "says how to replay: {}", live.err);

    let replay = wildgym(
        &place,
        &[
            "run",
            "starter",
            "-k",
            "2",
            "--seed",
            "5",
            "--name",
            "replay",
            "--web",
            "replay",
            "--recording",
            "web.warc.gz",
            "--concurrency",
            "64",
            "--json",
            "-q",
        ],
    );
    assert_eq!(replay.code, Some(0), "{}{}", replay.err, replay.out);
    let label = &replay.json()["label"];
    assert_eq!(label["web"], "replay");
    assert!(label["web_misses"].is_u64(), "counted on the label: {label}");
    assert!(label["web_notes"].to_string().contains("the recording "), "{label}");

    let runs = place.path().join("runs");
    let (first, second) = (runs.join("live"), runs.join("replay"));
    assert_eq!(verdicts(&first), verdicts(&second));
    assert!(verdicts(&first).values().all(|verdict| verdict == "pass"), "{:?}", verdicts(&first));
    let (first, second) = (transcripts(&first), transcripts(&second));
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    // Which requests a browser sends, and when, is its own; calls of tools are repeated as
    // they were.
    let browses = |text: &str| text.contains("\"tool\":\"browse_url\"");
    let (paged, plain): (Vec<_>, Vec<_>) = first.iter().partition(|(_, text)| browses(text));
    assert!(paged.len() >= 12 && plain.len() >= 24, "{} and {}", paged.len(), plain.len());
    for (path, text) in plain {
        assert_eq!(timeless(text), timeless(&second[path]), "{path}");
        assert!(!second[path].contains("web_misses"), "no miss without a browser: {path}");
    }
    let all: String = first.values().map(String::as_str).collect();
    assert!(all.contains("\"web_ms\":["), "how long the open web took stands under `t`");

    told_apart(&place);
}

/// What stands between a live run and a replay is not passed over.
fn told_apart(place: &Place) {
    // The two are not compared as if nothing were between them.
    let refused = wildgym(place, &["compare", "runs/live", "runs/replay"]);
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(refused.err.contains("web: live in A, replay in B"), "{}", refused.err);
    let allowed = wildgym(place, &["compare", "runs/live", "runs/replay", "--allow", "web"]);
    assert_eq!(allowed.code, Some(0), "{}", allowed.err);

    // What is not recorded is a miss, and counted.
    let other = wildgym(
        place,
        &[
            "tools",
            "call",
            "scrape",
            r#"{"url": "https://nobody.example/"}"#,
            "--web",
            "replay",
            "--recording",
            "web.warc.gz",
        ],
    );
    assert_eq!(other.code, Some(1), "{}", other.out);
    assert!(other.out.contains("is not in the recording"), "{}", other.out);
}

#[test]
fn a_run_keeps_its_web_when_it_is_resumed() {
    let (place, server) = (Place::new(), Server::start());
    let map = server.map();
    let begin = [
        "run",
        "starter",
        "-k",
        "1",
        "--tasks",
        "ds-*",
        "--name",
        "r",
        "--web",
        "live",
        "--web-map",
        &map,
        "--allow-private",
        "--record",
        "web.warc.gz",
        "-q",
    ];
    let ran = wildgym(&place, &begin);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let text = std::fs::read_to_string(place.path().join("runs/r/run.toml")).unwrap();
    assert!(text.contains("[web]\nkind = \"live\"") && text.contains("[web.map]"), "{text}");
    // One trial is made anew.
    let (path, _) = transcripts(&place.path().join("runs/r")).pop_first().unwrap();
    std::fs::remove_file(place.path().join("runs/r/trials").join(&path)).unwrap();
    let table: [(&[&str], &str); 3] = [
        (&[], "sends hosts to addresses of its own"),
        (&["--allow-private", "--recording", "x"], "`--recording` means nothing"),
        (&["--allow-private"], ""),
    ];
    for (flags, want) in table {
        let ran = wildgym(&place, &[&["resume", "runs/r"], flags].concat());
        assert_eq!(ran.code, Some(if want.is_empty() { 0 } else { 2 }), "{flags:?}: {}", ran.err);
        assert!(ran.err.contains(want), "{flags:?}: {}", ran.err);
    }
    assert!(transcripts(&place.path().join("runs/r")).contains_key(&path), "and it was");
    server.stop();

    // A replay is resumed with its recording, wherever that is now, and with no other.
    let replay = ["run", "starter", "-k", "1", "--tasks", "ds-*", "--name", "p", "-q"];
    let from = ["--web", "replay", "--recording", "web.warc.gz"];
    let ran = wildgym(&place, &[replay.as_slice(), from.as_slice()].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let file = |name: &str| place.path().join(name);
    std::fs::rename(file("web.warc.gz"), file("moved.warc.gz")).unwrap();
    std::fs::copy(file("moved.warc.gz"), file("other.warc.gz")).unwrap();
    let mut longer = std::fs::read(file("other.warc.gz")).unwrap();
    longer.truncate(longer.len() - 10);
    std::fs::write(file("other.warc.gz"), longer).unwrap();
    let table: [(&[&str], Option<&str>); 3] = [
        (&[], Some("cannot read the recording")),
        (&["--recording", "other.warc.gz"], Some("began with another recording")),
        (&["--recording", "moved.warc.gz"], None),
    ];
    for (flags, want) in table {
        let ran = wildgym(&place, &[&["resume", "runs/p"], flags].concat());
        assert_eq!(ran.code, Some(if want.is_some() { 2 } else { 0 }), "{flags:?}: {}", ran.err);
        assert!(want.is_none_or(|want| ran.err.contains(want)), "{flags:?}: {}", ran.err);
    }
}

#[test]
fn flags_that_do_not_fit_are_refused_with_what_helps() {
    let place = Place::new();
    std::fs::write(place.path().join("no.warc"), "this is no recording\n").unwrap();
    std::fs::write(place.path().join("taken.warc.gz"), "something of mine\n").unwrap();
    let table: [(&[&str], &str); 14] = [
        (&["--web", "dark"], "hermetic, live, replay"),
        (&["--record", "x"], "`--record` means nothing without `--web live`"),
        (&["--web", "replay", "--record", "x"], "`--record` means nothing without `--web live`"),
        (&["--recording", "x"], "`--recording` means nothing without `--web replay`"),
        (&["--web", "live", "--recording", "x"], "means nothing without `--web replay`"),
        (&["--allow-private"], "`--allow-private` means nothing without `--web live`"),
        (&["--web-map", "*=http://127.0.0.1:1"], "`--web-map` means nothing without"),
        (&["--web", "live", "--web-map", "*=http://127.0.0.1:1"], "`--allow-private` accepts"),
        (&["--web", "live", "--allow-private", "--web-map", "*"], "an entry is `HOST=URL`"),
        (&["--web", "live", "--allow-private", "--web-map", "a.b=https://x"], "no plain HTTP"),
        (&["--web", "replay"], "`--recording FILE`"),
        (&["--web", "replay", "--recording", "none.warc.gz"], "cannot read the recording"),
        (&["--web", "replay", "--recording", "no.warc"], "is damaged at byte 0"),
        (&["--web", "live", "--record", "taken.warc.gz"], "exists already"),
    ];
    for (flags, want) in table {
        for command in [&["run", "starter", "--name", "x"][..], &["tools", "call", "scrape"][..]] {
            let ran = wildgym(&place, &[command, flags].concat());
            assert_eq!(ran.code, Some(2), "{command:?} {flags:?}: {}{}", ran.out, ran.err);
            assert!(ran.err.contains(want), "{command:?} {flags:?}: {}", ran.err);
        }
    }
    assert!(!place.path().join("runs/x").exists(), "nothing was begun");
    assert_eq!(
        std::fs::read_to_string(place.path().join("taken.warc.gz")).unwrap(),
        "something of mine\n",
        "and nothing of the user's touched"
    );
}

#[test]
fn a_suite_may_send_hosts_elsewhere_only_if_the_user_says_so() {
    let place = Place::new();
    let suite = place.suite(1);
    let file = suite.join("suite.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let with = |map: &str| std::fs::write(&file, format!("{text}\n[web.live]\nmap = {map}\n"));
    with("{ \"a.example\" = \"http://127.0.0.1:9\" }").unwrap();
    let suite = suite.to_str().unwrap();
    let live = ["run", suite, "-k", "1", "--web", "live"];
    let ran = wildgym(&place, &live);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("sends hosts to addresses of its own"), "{}", ran.err);
    let ran = wildgym(&place, &[&live[..], &["--allow-private"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("a.example was sent to http://127.0.0.1:9"), "{}", ran.out);
    assert!(ran.out.contains("not reproducible"), "{}", ran.out);
    assert!(ran.err.contains("`SERPER_API_KEY` is not set"), "{}", ran.err);
    assert_eq!(wildgym(&place, &["run", suite, "-k", "1"]).code, Some(0), "hermetic needs none");
    with("{ \"a.example\" = \"ftp://127.0.0.1\" }").unwrap();
    let ran = wildgym(&place, &["tasks", "check", suite]);
    assert!(ran.out.contains("web.live.map") && ran.out.contains("no plain HTTP"), "{}", ran.out);
}
