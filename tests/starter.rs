//! The built-in suite `starter`: solvable in every variant, and only by doing the work.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::Utf8PathBuf;
use common::Place;
use serde_json::Value;
use wildgym::agent::Reference;
use wildgym::judge;
use wildgym::record::TrialId;
use wildgym::runner::{Attempt, Gym, Stopper, execute};
use wildgym::store::{
    BoundsConfig, Condition, JudgeConfig, Plan, RunConfig, Store, SuiteRef, ToolsRef,
};
use wildgym::verdict::Verdict;
use wildgym_sandbox::Host;
use wildgym_sandbox::code::Runtime;
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::worker::Workers;
use wildgym_tasks::task::Limits;
use wildgym_tasks::{Suite, Variant};
use wildgym_toolbox::{Catalog, Decision, Incoming, Interceptor};

#[test]
fn the_reference_passes_every_task_in_every_variant() {
    let place = Place::new();
    let ran = place.wildgym(&[
        "run",
        "starter",
        "--agent",
        "reference",
        "--variants",
        "all",
        "-k",
        "3",
        "--json",
        "-q",
    ]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.err, ran.out);
    let trials = &ran.json()["trials"];
    let total = trials.as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!(trials["pass"].as_u64(), Some(total), "{}", ran.out);
    assert!(total >= 12 * 3, "{}", ran.out);
}

#[test]
fn agents_without_a_mind_pass_nothing() {
    let place = Place::new();
    for agent in ["silent", "random", "guess"] {
        let ran = place.wildgym(&[
            "run",
            "starter",
            "--agent",
            agent,
            "--variants",
            "all",
            "-k",
            "3",
            "--json",
            "-q",
        ]);
        assert_eq!(ran.code, Some(0), "{agent}: {}", ran.err);
        assert_eq!(ran.json()["trials"]["pass"], 0, "{agent}: {}", ran.out);
    }
}

#[test]
fn the_suite_has_no_fault_and_no_answer_in_the_open() {
    let ran = Place::new().wildgym(&["tasks", "check", "starter"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

/// Answers every call of one tool with an error.
struct Broken(String);

impl Interceptor for Broken {
    fn before(&self, call: &Incoming<'_>) -> (Decision, Option<Value>) {
        if call.call.name == self.0 {
            (Decision::Refuse("503 service unavailable".to_owned()), None)
        } else {
            (Decision::Proceed, None)
        }
    }
}

/// Each tool that a reference solution uses is needed: with it replaced by an error, the
/// solution fails. All pairs of task and tool.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_of_a_reference_is_needed() {
    let place = Place::new();
    let root = Utf8PathBuf::from_path_buf(place.path().to_owned()).unwrap();
    let cache = cache();
    let folder = wildgym_tasks::builtin::unpack("starter", &cache).unwrap();
    let suite = Arc::new(Suite::load(&folder).unwrap());
    let host = Arc::new(Host {
        scratch: Scratch::create(&root).unwrap(),
        workers: Workers::new(env!("CARGO_BIN_EXE_wildgym").into(), 2),
        code: Some(Arc::new(Runtime::load(&cache.join("code")).unwrap())),
    });
    let catalog = Arc::new(Catalog::all().unwrap());
    let (store, _lock, config) = Store::create(&root.join("run"), |_| Ok(config())).unwrap();
    let (_stopper, mut stop) = Stopper::new();
    let mut used = BTreeSet::new();
    for (id, task) in &suite.tasks {
        let calls = task.solution.rounds.iter().flat_map(|round| &round.calls);
        let tools: BTreeSet<String> = calls.map(|call| call.tool.clone()).collect();
        for (index, tool) in tools.into_iter().enumerate() {
            let broken: Vec<Arc<dyn Interceptor>> = vec![Arc::new(Broken(tool.clone()))];
            let gym =
                Gym::open(host.clone(), suite.clone(), catalog.clone(), broken, &cache).unwrap();
            let agent = Reference::new(task.solution.clone(), task.folder.join("reference"));
            let trial = TrialId {
                condition: "broken".to_owned(),
                task: id.clone(),
                variant: Variant::default(),
                k: u32::try_from(index).unwrap() + 1,
            };
            let attempt = Attempt { trial, attempt: 1 };
            let end = execute(&gym, &store, &config, &agent, &attempt, &mut stop).await.unwrap();
            let answer = end.answer.as_ref().map(|body| store.blobs().text(body).unwrap());
            let (verdict, _) =
                judge::exact::judge(&task.meta.answer, &end.outcome, answer.as_deref());
            assert_eq!(verdict, Verdict::Fail, "`{id}` passes without `{tool}`: {end:?}");
            used.insert(tool);
        }
    }
    let all: BTreeSet<String> = catalog.iter().map(|entry| entry.tool.name().to_owned()).collect();
    assert_eq!(used, all, "every tool is used by some reference");
}

/// The cache that the program uses, as its own rules find it.
fn cache() -> Utf8PathBuf {
    let set = |name: &str| std::env::var(name).ok().map(Utf8PathBuf::from);
    set("WILDGYM_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|path| path.join("wildgym")))
        .or_else(|| set("HOME").map(|path| path.join(".cache/wildgym")))
        .unwrap()
}

fn config() -> RunConfig {
    RunConfig {
        format: 1,
        wildgym: "0".to_owned(),
        created: jiff::Timestamp::UNIX_EPOCH,
        suite: SuiteRef {
            name: "starter".to_owned(),
            version: "0".to_owned(),
            digest: String::new(),
            source: "starter".to_owned(),
            tasks: String::new(),
        },
        plan: Plan {
            tasks: Vec::new(),
            variants: vec![Variant::default()],
            k: 1,
            seed: 0,
            attempts: 1,
        },
        conditions: [(
            "broken".to_owned(),
            Condition { agent: "reference".to_owned(), model: None, faults: None },
        )]
        .into(),
        limits: Limits { rounds: Some(100), tokens: None, seconds: Some(600) },
        bounds: BoundsConfig { seconds: 180, bytes: 32 << 10 },
        tools: ToolsRef { names: Vec::new(), schemas: String::new() },
        judge: JudgeConfig::exact(),
        web: "hermetic".to_owned(),
        cassette: None,
    }
}
