//! The built-in suite `starter`: solvable in every variant, and only by doing the work.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use common::{Place, cache};
use serde_json::Value;
use wildgym::agent::Reference;
use wildgym::judge;
use wildgym::record::{Outcome, TrialId};
use wildgym::runner::{Attempt, Gym, Stopper, execute};
use wildgym::store::{
    BoundsConfig, Condition, JudgeConfig, Lock, Plan, RunConfig, Store, SuiteRef, ToolsRef,
    WebConfig,
};
use wildgym::verdict::Verdict;
use wildgym_sandbox::Host;
use wildgym_sandbox::browser::{BrowserSettings, Browsers};
use wildgym_sandbox::code::Runtime;
use wildgym_sandbox::programs::{Programs, Search, speech};
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::worker::Workers;
use wildgym_tasks::environment::BrowserMode;
use wildgym_tasks::task::Limits;
use wildgym_tasks::{Suite, Task, Variant};
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
        "1",
        "--json",
        "-q",
    ]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.err, ran.out);
    let trials = &ran.json()["trials"];
    let count = |state: &str| trials[state].as_u64().unwrap_or(0);
    let total = trials.as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>();
    // What a machine has no engine for is skipped, and nothing else is.
    assert_eq!(count("pass") + count("skipped"), total, "{}", ran.out);
    assert!(total >= 24 * 3, "{}", ran.out);
    assert!(count("pass") >= 19 * 3, "{}", ran.out);
}

/// The same steps on pages lead to the answer where page actions are tools of the agent's own.
#[test]
fn the_reference_passes_with_page_actions_of_its_own() {
    let place = Place::new();
    let tasks = "{ct-regatta-dues,ct-freight-claim,da-kitchen-scores,da-zh-danche-zaogaofeng,\
        ds-cutter-namesake,ds-lost-recorder,ds-zh-langqiao-helong}";
    let common = ["run", "starter", "--agent", "reference", "--browser", "direct", "-k", "1"];
    let more = ["--tasks", tasks, "--variants", "all", "--json", "-q"];
    let ran = place.wildgym(&[&common[..], &more].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.err, ran.out);
    let report = ran.json();
    let trials = report["trials"].as_object().unwrap();
    let total = trials.values().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!(report["trials"]["pass"].as_u64(), Some(total), "{}", ran.out);
    assert_eq!(report["scores"]["overall"]["tasks"], 7, "{}", ran.out);
}

/// Once each where a developer waits, three times with `WILDGYM_BARS` set.
#[test]
fn agents_without_a_mind_pass_nothing() {
    let k = if std::env::var_os("WILDGYM_BARS").is_some() { "3" } else { "1" };
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
            k,
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

/// Answers every call of one tool with an error, and keeps the names of all that were called.
#[derive(Default)]
struct Watch {
    broken: String,
    called: Mutex<BTreeSet<String>>,
}

impl Watch {
    fn breaking(tool: &str) -> Arc<Self> {
        Arc::new(Self { broken: tool.to_owned(), called: Mutex::default() })
    }

    fn called(&self) -> BTreeSet<String> {
        self.called.lock().unwrap().clone()
    }
}

impl Interceptor for Watch {
    fn before(&self, call: &Incoming<'_>) -> (Decision, Option<Value>) {
        self.called.lock().unwrap().insert(call.call.name.clone());
        if call.call.name == self.broken {
            (Decision::Refuse("503 service unavailable".to_owned()), None)
        } else {
            (Decision::Proceed, None)
        }
    }
}

/// The built-in suite on this machine, ready for single attempts.
struct Bench {
    _place: Place,
    host: Arc<Host>,
    suite: Arc<Suite>,
    catalog: Arc<Catalog>,
    store: Store,
    /// Held as long as the store is written.
    _lock: Lock,
    config: RunConfig,
    cache: Utf8PathBuf,
    tried: u32,
}

impl Bench {
    fn open(browser: BrowserMode) -> Self {
        let place = Place::new();
        let root = Utf8PathBuf::from_path_buf(place.path().to_owned()).unwrap();
        let cache = cache();
        let folder = wildgym_tasks::builtin::unpack("starter", &cache).unwrap();
        let scratch = Scratch::create(&root).unwrap();
        let program = PathBuf::from(env!("CARGO_BIN_EXE_wildgym"));
        let settings = BrowserSettings::new(chromium(), program.clone(), scratch.path().to_owned());
        let runtime = Arc::new(Runtime::load(&cache.join("code")).unwrap());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let speech = match speech::status(&cache.join("speech")) {
            speech::Status::Ready(engine) => Some(engine),
            speech::Status::Missing | speech::Status::Unusable(_) => None,
        };
        let search = Search { path, speech, ..Search::default() };
        let programs =
            Programs::new(program.clone(), scratch.path().as_std_path().to_owned(), 2, search);
        let workers = Workers::new(program, 2);
        let host = Host::new(Browsers::new(settings), scratch, workers, Some(runtime));
        let (store, lock, config) =
            Store::create(&root.join("run"), |_| Ok(config(browser))).unwrap();
        Self {
            _place: place,
            host: Arc::new(host.with_programs(programs)),
            suite: Arc::new(Suite::load(&folder).unwrap()),
            catalog: Arc::new(Catalog::all().unwrap()),
            store,
            _lock: lock,
            config,
            cache,
            tried: 0,
        }
    }

    /// Has the reference try a task; returns how that was judged, none where it was skipped.
    async fn attempt(&mut self, task: &Task, watch: &Arc<Watch>) -> Option<Verdict> {
        self.tried += 1;
        let watching: Vec<Arc<dyn Interceptor>> = vec![Arc::clone(watch) as Arc<dyn Interceptor>];
        let (host, suite) = (Arc::clone(&self.host), Arc::clone(&self.suite));
        let catalog = Arc::clone(&self.catalog);
        let gym = Gym::open(host, suite, catalog, watching, &self.cache).unwrap();
        let agent = Reference::new(task.solution.clone(), task.folder.join("reference"));
        let trial = TrialId {
            condition: "broken".to_owned(),
            task: task.meta.id.clone(),
            variant: Variant::default(),
            k: self.tried,
        };
        let (_stopper, mut stop) = Stopper::new();
        let attempt = Attempt { trial, attempt: 1 };
        let end = execute(&gym, &self.store, &self.config, &agent, &attempt, &mut stop);
        let end = end.await.unwrap();
        if matches!(end.outcome, Outcome::Skipped(_)) {
            return None;
        }
        let answer = end.answer.as_ref().map(|body| self.store.blobs().text(body).unwrap());
        Some(judge::exact::judge(&task.meta.answer, &end.outcome, answer.as_deref()).0)
    }
}

/// Returns the tools that a solution names itself.
fn named(task: &Task) -> BTreeSet<String> {
    let calls = task.solution.rounds.iter().flat_map(|round| &round.calls);
    calls.map(|call| call.tool.clone()).collect()
}

fn browses(task: &Task) -> bool {
    let mut calls = task.solution.rounds.iter().flat_map(|round| &round.calls);
    calls.any(|call| !call.navigate.is_empty())
}

/// Each tool that a reference solution uses is needed: with it replaced by an error, the
/// solution fails. All pairs of task and tool, and every tool is in one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_of_a_reference_is_needed() {
    let mut bench = Bench::open(BrowserMode::Delegated);
    let suite = Arc::clone(&bench.suite);
    let mut used = BTreeSet::new();
    for (id, task) in &suite.tasks {
        for tool in named(task) {
            let verdict = bench.attempt(task, &Watch::breaking(&tool)).await;
            let needed = matches!(verdict, None | Some(Verdict::Fail));
            assert!(needed, "`{id}` passes without `{tool}`: {verdict:?}");
            used.insert(tool);
        }
    }
    let offered = bench.catalog.offered(BrowserMode::Delegated).names();
    // It is of files and of pages; the references ask about pages, below.
    let idle = |name: &&String| !used.contains(*name) && *name != "ask_question_about_video";
    let idle: Vec<_> = offered.iter().filter(idle).collect();
    assert!(idle.is_empty(), "used by no reference: {idle:?}");
}

/// The same of the page actions: each is done by some reference, which fails without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_action_is_needed_by_a_reference() {
    let mut bench = Bench::open(BrowserMode::Direct);
    let suite = Arc::clone(&bench.suite);
    let mut users: BTreeMap<String, &Task> = BTreeMap::new();
    for task in suite.tasks.values().filter(|task| browses(task)) {
        let watch = Watch::breaking("");
        let verdict = bench.attempt(task, &watch).await;
        if verdict.is_none() {
            continue;
        }
        assert_eq!(verdict, Some(Verdict::Pass), "{}", task.meta.id);
        for tool in watch.called() {
            users.entry(tool).or_insert(task);
        }
    }
    let others = bench.catalog.offered(BrowserMode::Delegated).names();
    let actions = bench.catalog.offered(BrowserMode::Direct).names();
    let mut actions: BTreeSet<String> = actions.into_iter().collect();
    let video = "ask_question_about_video";
    actions.retain(|name| !others.contains(name) || name == video);
    // The navigator of `browse_url` says it in each of its calls, in the other mode.
    actions.remove("stop");
    for action in actions {
        let Some(task) = users.get(&action) else {
            // What is used by nothing else may need an engine that this machine lacks.
            let skipped = suite.tasks.values().any(|task| !task.meta.environment.needs.is_empty());
            assert!(skipped && !has_tesseract(), "used by no reference: `{action}`");
            continue;
        };
        let verdict = bench.attempt(task, &Watch::breaking(&action)).await;
        assert_eq!(verdict, Some(Verdict::Fail), "`{}` passes without `{action}`", task.meta.id);
    }
}

fn has_tesseract() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("tesseract").is_file())
}

/// The browser of this machine.
fn chromium() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
    found.into_iter().find(|file| file.is_file()).ok_or_else(|| "no `chromium`".to_owned())
}

fn config(browser: BrowserMode) -> RunConfig {
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
            subsets: std::collections::BTreeMap::new(),
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
            Condition { browser: Some(browser), ..Condition::of("reference") },
        )]
        .into(),
        limits: Limits { rounds: Some(100), tokens: None, seconds: Some(600) },
        bounds: BoundsConfig { seconds: 180, bytes: 32 << 10 },
        tools: ToolsRef { names: Vec::new(), schemas: String::new() },
        judge: JudgeConfig::exact(),
        web: WebConfig::default(),
        cassette: None,
        servers: std::collections::BTreeMap::new(),
    }
}
