//! What every caller may rely on at the door, shown with tools made for the purpose in
//! a real sandbox. Time is paused, so every claim about it is exact.

#![expect(clippy::unwrap_used, reason = "the makers of test tools are not tests themselves")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wildgym_sandbox::browser::{BrowserSettings, Browsers};
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::worker::Workers;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::{Clock, Host, Sandbox, Seed};
use wildgym_toolbox::tool::AnyTool;
use wildgym_toolbox::{
    Bounds, Call, CallContext, Catalog, Category, Decision, Footprint, Incoming, Interceptor,
    Output, Reply, Tool, ToolError, Toolbox,
};

/// Sleeps, and notes when it began and ended.
#[derive(Default)]
struct Sleeper {
    log: Mutex<Vec<String>>,
    alive: AtomicU32,
}

/// Arguments of [`Sleeper`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nap {
    /// How long to sleep, in seconds.
    seconds: u64,
    /// File that is read.
    #[serde(default)]
    reads: Option<String>,
    /// Whether anything may be written.
    #[serde(default)]
    writes: bool,
}

impl Tool for Sleeper {
    const NAME: &'static str = "sleeper";
    const DESCRIPTION: &'static str = "Sleep.";
    const CATEGORY: Category = Category::CodeExecution;
    const EXAMPLE: &'static str = r#"{"seconds": 1}"#;
    type Args = Nap;

    fn footprint(&self, args: &Nap) -> Footprint {
        match (&args.reads, args.writes) {
            (_, true) => Footprint::writes_workspace(),
            (Some(path), false) => Footprint::reads_file(Utf8Path::new(path)),
            (None, false) => Footprint::none(),
        }
    }

    fn cost(&self, args: &Nap) -> Duration {
        Duration::from_secs(args.seconds)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Nap) -> Result<Output, ToolError> {
        self.log.lock().unwrap().push(format!("{} begins", context.ingress));
        self.alive.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(args.seconds)).await;
        self.alive.fetch_sub(1, Ordering::SeqCst);
        self.log.lock().unwrap().push(format!("{} ends", context.ingress));
        Ok(format!("{} at {} with {}", context.ingress, context.now, context.seed).into())
    }
}

/// Returns as many bytes as asked, or loses the sandbox.
struct Talker;

/// Arguments of [`Talker`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Talk {
    /// Bytes; none breaks the sandbox.
    bytes: Option<usize>,
}

impl Tool for Talker {
    const NAME: &'static str = "talker";
    const DESCRIPTION: &'static str = "Talk.";
    const CATEGORY: Category = Category::WebBrowsing;
    const EXAMPLE: &'static str = r#"{"bytes": 3}"#;
    type Args = Talk;

    fn footprint(&self, _args: &Talk) -> Footprint {
        Footprint::none()
    }

    async fn call(&self, _context: &Arc<CallContext>, args: Talk) -> Result<Output, ToolError> {
        match args.bytes {
            Some(bytes) => Ok("é".repeat(bytes / 2).into()),
            None => Err(ToolError::SandboxLost("the disk is gone".to_owned())),
        }
    }
}

struct Rig {
    toolbox: Arc<Toolbox>,
    sleeper: Arc<Sleeper>,
    work: Arc<WorkClock>,
    _folder: tempfile::TempDir,
}

fn rig(interceptors: Vec<Arc<dyn Interceptor>>) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    let scratch = Scratch::create(&path).unwrap();
    let no_browser = Err("this test has none".to_owned());
    let settings = BrowserSettings::new(no_browser, "/nonexistent".into(), path.clone());
    let workers = Workers::new("/nonexistent".into(), 1);
    let host = Arc::new(Host::new(Browsers::new(settings), scratch, workers, None));
    let workspace = Arc::new(Workspace::create(&host.scratch, Quota::default()));
    let sandbox = Arc::new(Sandbox {
        host,
        workspace,
        web: None,
        browser: None,
        world: None,
        clock: Clock::starting_at("2026-03-01T09:00:00Z".parse().unwrap()),
        seed: Seed::of_run(1),
    });
    let sleeper = Arc::new(Sleeper::default());
    let tools: Vec<Arc<dyn AnyTool>> = vec![sleeper.clone(), Arc::new(Talker)];
    let catalog = Arc::new(Catalog::of(tools).unwrap());
    let work = Arc::new(WorkClock::default());
    let bounds = Bounds { time: Duration::from_secs(10), text: 1000 };
    let toolbox = Toolbox::new(sandbox, catalog, interceptors, bounds, work.clone());
    Rig { toolbox: Arc::new(toolbox), sleeper, work, _folder: folder }
}

fn call(id: &str, name: &str, arguments: &Value) -> Call {
    Call { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_string() }
}

fn nap(id: &str, arguments: &Value) -> Call {
    call(id, "sleeper", arguments)
}

impl Rig {
    async fn round(&self, calls: Vec<Call>) -> Vec<Reply> {
        self.toolbox.round(calls).await.unwrap()
    }
}

/// Two reads asked for in one round overlap, and their results go back in the order
/// asked, not the order finished.
#[tokio::test(start_paused = true)]
async fn parallel_calls_overlap_and_answer_in_order() {
    let rig = rig(vec![]);
    let start = tokio::time::Instant::now();
    let replies = rig
        .round(vec![nap("slow", &json!({"seconds": 5})), nap("fast", &json!({"seconds": 1}))])
        .await;
    assert_eq!(start.elapsed(), Duration::from_secs(5)); // 6 s would mean one after the other
    let ids: Vec<_> = replies.iter().map(|reply| reply.call.id.as_str()).collect();
    assert_eq!(ids, ["slow", "fast"]);
    assert_eq!(*rig.sleeper.log.lock().unwrap(), ["1 begins", "2 begins", "2 ends", "1 ends"]);
}

/// A read of a file waits for the write that was asked before it, though another read
/// does not; the numbers stay in the order asked.
#[tokio::test(start_paused = true)]
async fn conflicting_calls_wait_for_earlier_ones() {
    let rig = rig(vec![]);
    let start = tokio::time::Instant::now();
    rig.round(vec![
        nap("write", &json!({"seconds": 2, "writes": true})),
        nap("read", &json!({"seconds": 2, "reads": "a.csv"})),
        nap("else", &json!({"seconds": 3})),
        nap("write", &json!({"seconds": 1, "writes": true})),
    ])
    .await;
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    let want =
        ["1 begins", "3 begins", "1 ends", "2 begins", "3 ends", "2 ends", "4 begins", "4 ends"];
    assert_eq!(*rig.sleeper.log.lock().unwrap(), want);
}

/// Logical times follow the declared costs in the order asked, not the schedule; a call
/// that is refused costs nothing.
#[tokio::test(start_paused = true)]
async fn the_logical_clock_moves_in_the_order_asked() {
    let rig = rig(vec![]);
    let replies = rig
        .round(vec![
            nap("a", &json!({"seconds": 5})),
            nap("b", &json!({"seconds": "x"})),
            nap("c", &json!({"seconds": 1})),
        ])
        .await;
    let times: Vec<_> = replies.iter().map(|reply| reply.clock.to_string()).collect();
    assert_eq!(times, ["2026-03-01T09:00:00Z", "2026-03-01T09:00:05Z", "2026-03-01T09:00:05Z"]);
    assert_eq!(rig.toolbox.sandbox().clock.now().to_string(), "2026-03-01T09:00:06Z");
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_round() {
    let mut rounds = Vec::new();
    for _ in 0..2 {
        let rig = rig(vec![]);
        let calls = (0..20).map(|n| nap("x", &json!({"seconds": n % 4, "writes": n % 5 == 0})));
        let replies = rig.round(calls.collect()).await;
        rounds.push(replies.into_iter().map(|reply| reply.text).collect::<Vec<_>>());
    }
    assert_eq!(rounds[0], rounds[1]);
    let distinct: std::collections::BTreeSet<_> = rounds[0].iter().collect();
    assert_eq!(distinct.len(), 20, "each call has chances of its own");
}

/// Each row is a call that cannot run, and what the agent is told about it.
#[tokio::test(start_paused = true)]
async fn bad_calls_are_results_that_say_what_was_expected() {
    let rig = rig(vec![]);
    //             name       arguments            kind             text                                why
    let table = [
        (
            "sleepr",
            "{}",
            "unknown-tool",
            "there is no tool `sleepr`; the nearest is `sleeper`",
            "misspelt",
        ),
        ("", "{}", "unknown-tool", "there is no tool ``", "empty name"),
        (
            "sleeper",
            "{\"seconds\":",
            "bad-arguments",
            "they are not JSON (EOF while parsing",
            "cut JSON",
        ),
        ("sleeper", "now", "bad-arguments", "they are not JSON", "no JSON"),
        ("sleeper", "[1]", "bad-arguments", "[1] is not of type \"object\"", "not an object"),
        (
            "sleeper",
            "",
            "bad-arguments",
            "\"seconds\" is a required property",
            "nothing counts as {}",
        ),
        (
            "sleeper",
            "{}",
            "bad-arguments",
            "expected {seconds: integer, reads?: string or null, writes?: boolean}",
            "missing",
        ),
        (
            "sleeper",
            "{\"seconds\":\"2\"}",
            "bad-arguments",
            "`seconds`: \"2\" is not of type \"integer\"",
            "wrong type",
        ),
        (
            "sleeper",
            "{\"seconds\":-1}",
            "bad-arguments",
            "`seconds`: -1 is less than the minimum of 0",
            "out of range",
        ),
        (
            "sleeper",
            "{\"seconds\":1,\"naps\":2}",
            "bad-arguments",
            "'naps' was unexpected",
            "unknown field",
        ),
    ];
    for (name, arguments, kind, text, why) in table {
        let asked = Call { id: "c".into(), name: name.into(), arguments: arguments.into() };
        let reply = rig.toolbox.call(asked).await.unwrap();
        assert_eq!(reply.error, Some(kind), "{why}: {}", reply.text);
        assert!(
            reply.text.starts_with("error: ") && reply.text.contains(text),
            "{why}: {}",
            reply.text
        );
    }
    assert!(rig.sleeper.log.lock().unwrap().is_empty(), "none of them ran");
}

/// The limit stops a call, and the call stops working: nothing of it stays behind.
#[tokio::test(start_paused = true)]
async fn a_call_ends_at_its_limit() {
    let rig = rig(vec![]);
    let start = tokio::time::Instant::now();
    let reply = rig.toolbox.call(nap("long", &json!({"seconds": 60}))).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(10));
    assert_eq!(reply.text, "error: `sleeper` was stopped after its limit of 10 s");
    assert_eq!(reply.error, Some("timed-out"));
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(*rig.sleeper.log.lock().unwrap(), ["1 begins"]);
}

#[tokio::test(start_paused = true)]
async fn a_long_result_is_cut_visibly_and_kept_whole() {
    let rig = rig(vec![]);
    let reply = rig.toolbox.call(call("t", "talker", &json!({"bytes": 3001}))).await.unwrap();
    assert_eq!(reply.full.as_deref(), Some(".results/1.txt"));
    assert!(
        reply.text.contains("[… 2000 of 3000 bytes cut; the full text is in `.results/1.txt` …]"),
        "{}",
        reply.text
    );
    assert!(reply.text.starts_with("éé") && reply.text.ends_with("éé"));
    let kept = rig.toolbox.sandbox().workspace.read(Utf8Path::new(".results/1.txt"), 1 << 20);
    assert_eq!(kept.unwrap(), "é".repeat(1500).into_bytes());
}

#[tokio::test(start_paused = true)]
async fn only_a_broken_sandbox_ends_the_attempt() {
    let rig = rig(vec![]);
    let lost = rig.toolbox.round(vec![call("t", "talker", &json!({"bytes": null}))]).await;
    assert_eq!(lost.unwrap_err().to_string(), "the sandbox stopped: the disk is gone");
}

/// Working time is what the calls of a round take together, and stands with them.
#[tokio::test(start_paused = true)]
async fn working_time_is_that_of_the_longest() {
    let rig = rig(vec![]);
    rig.round(vec![nap("a", &json!({"seconds": 5})), nap("b", &json!({"seconds": 3}))]).await;
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(rig.work.elapsed(), Duration::from_secs(5));
}

/// Decides by the call's id, and stamps what passes.
struct Meddler;

impl Interceptor for Meddler {
    fn before(&self, call: &Incoming<'_>) -> (Decision, Option<Value>) {
        let decision = match call.call.id.as_str() {
            "delay" => Decision::Delay(Duration::from_secs(5)),
            "late" => Decision::Delay(Duration::from_secs(10)),
            "drop" => Decision::Drop,
            "refuse" => Decision::Refuse("503 service unavailable".to_owned()),
            _ => Decision::Proceed,
        };
        let note = (decision != Decision::Proceed).then(|| json!({"fault": call.call.id}));
        (decision, note)
    }

    fn after(&self, _call: &Incoming<'_>, reply: &mut Reply) {
        if reply.call.id == "change" {
            "changed".clone_into(&mut reply.text);
        }
    }
}

/// Faults act on the logical clock and cost no real time; all are noted.
#[tokio::test(start_paused = true)]
async fn interceptors_delay_drop_refuse_and_change() {
    let rig = rig(vec![Arc::new(Meddler)]);
    let start = tokio::time::Instant::now();
    let ids = ["plain", "delay", "late", "drop", "refuse", "change"];
    let replies = rig.round(ids.map(|id| nap(id, &json!({"seconds": 1}))).into()).await;
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    let seen: Vec<_> = replies
        .iter()
        .map(|reply| (reply.error, reply.cost.as_secs(), reply.notes.clone()))
        .collect();
    let want = [
        (None, 1, vec![]),
        (None, 6, vec![json!({"fault": "delay"})]),
        (Some("timed-out"), 10, vec![json!({"fault": "late"})]),
        (Some("timed-out"), 10, vec![json!({"fault": "drop"})]),
        (Some("failed"), 0, vec![json!({"fault": "refuse"})]),
        (None, 1, vec![]),
    ];
    assert_eq!(seen, want);
    assert_eq!(replies[4].text, "error: 503 service unavailable");
    assert_eq!(replies[5].text, "changed");
}
