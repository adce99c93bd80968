//! How long `wildgym report` takes on a run of 20,000 trials.
//!
//! `cargo bench --bench report` makes such a run as the program itself would store it (500
//! tasks in eight domains, 40 trials each; transcripts of three model rounds and three
//! calls; a verdict with milestones each), then times the program on it and prints the
//! best and the median of five. `cargo bench --bench
//! report -- TRIALS DIR` makes another number of trials, and keeps them in a directory.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::collections::BTreeMap;
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde_json::{Value, json};
use wildgym::record::{
    AttemptRecord, Body, CallRecord, FORMAT, FileRecord, MessageRecord, ModelRecord, Outcome,
    OutcomeRecord, Record, Times, TrialId, Usage,
};
use wildgym::store::{
    BoundsConfig, Condition, JudgeConfig, ModelConfig, Plan, RunConfig, Store, SuiteRef, ToolsRef,
    WebConfig,
};
use wildgym::verdict::{Step, Verdict, VerdictRecord};
use wildgym_tasks::Variant;
use wildgym_tasks::task::Limits;

/// What the report must not exceed, in an optimised build.
const BAR: Duration = Duration::from_secs(2);

/// Trials of each task.
const K: u32 = 40;

/// The one condition.
const CONDITION: &str = "react-m";

type Done = Result<(), Box<dyn Error>>;

fn main() -> Done {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let trials: u32 = words.first().map_or(Ok(20_000), |word| word.parse())?;
    let scratch = tempfile::tempdir()?;
    let kept = words.get(1).map(Utf8PathBuf::from);
    let root = match kept {
        Some(root) => root,
        None => Utf8Path::from_path(scratch.path()).ok_or("not UTF-8")?.join("run"),
    };
    if !root.join("run.toml").exists() {
        let began = Instant::now();
        make(&root, trials.div_ceil(K).max(1))?;
        println!("made {trials} trials in {:.1} s", began.elapsed().as_secs_f64());
    }
    for form in [&["report"][..], &["report", "--json"][..]] {
        measure(&root, form)?;
    }
    Ok(())
}

/// Times the program and prints the figures.
fn measure(root: &Utf8Path, form: &[&str]) -> Done {
    let mut times = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        let code = Command::new(env!("CARGO_BIN_EXE_wildgym"))
            .args(form)
            .arg(root)
            .stdout(Stdio::null())
            .status()?;
        times.push(began.elapsed());
        if !code.success() {
            return Err(format!("the report failed: {code}").into());
        }
    }
    times.sort_unstable();
    let [best, _, median, ..] = times[..] else { return Err("no times".into()) };
    let met = if best <= BAR { "met" } else { "not met" };
    println!(
        "{:<16} best {:>5} ms, median {:>5} ms; at most {} ms: {met}",
        form.join(" "),
        best.as_millis(),
        median.as_millis(),
        BAR.as_millis(),
    );
    Ok(())
}

/// Stores a run of `tasks` tasks with [`K`] trials each.
fn make(root: &Utf8Path, tasks: u32) -> Done {
    let ids: Vec<String> = (0..tasks).map(|number| format!("ds-task-{number:04}")).collect();
    let (store, _lock, config) = Store::create(root, |blobs| {
        let data: BTreeMap<&String, Value> =
            ids.iter().zip(0..).map(|(id, number)| (id, task(number))).collect();
        Ok(config(&ids, blobs.put_json(&data)?))
    })?;
    let verdicts = store.verdicts(&config.judge.name)?;
    for (id, number) in ids.iter().zip(0u32..) {
        for k in 1..=K {
            let (condition, variant) = (CONDITION.to_owned(), Variant::default());
            let trial = TrialId { condition, task: id.clone(), variant, k };
            write(&store, &trial, number + k)?;
            verdicts.append(&verdict(trial, number + k))?;
        }
    }
    Ok(())
}

/// Returns what a report needs of a task.
fn task(number: u32) -> Value {
    let scenario = ["complex-tool-use", "data-analysis", "deep-search"][number as usize % 3];
    let milestones = ["finds", "reads", "asks", "computes"]
        .map(|id| json!({"id": id, "visit": {"host": "data.example"}}));
    json!({
        "title": format!("A task that is about as long as titles are, number {number}"),
        "scenario": scenario,
        "subset": if number.is_multiple_of(2) { "discovery" } else { "composition" },
        "domain": format!("domain {}", number % 8),
        "language": if number.is_multiple_of(4) { "zh" } else { "en" },
        "factors": ["hidden-information", "bias"],
        "answer": {"kind": "number", "value": number},
        "milestones": milestones,
        "discovery_hosts": ["data.example"],
        "questions": {"full": "What is asked. ".repeat(40)},
    })
}

fn config(ids: &[String], tasks: String) -> RunConfig {
    let model = ModelConfig {
        name: "m".to_owned(),
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        key_env: "KEY".to_owned(),
        temperature: 0.6,
        max_tokens: 8192,
        requests: 16,
        request_seconds: 600,
        extra: serde_json::Map::new(),
    };
    let condition = Condition { model: Some(model), ..Condition::of("react") };
    RunConfig {
        format: FORMAT,
        wildgym: env!("CARGO_PKG_VERSION").to_owned(),
        created: Timestamp::UNIX_EPOCH,
        suite: SuiteRef {
            name: "made".to_owned(),
            version: "1".to_owned(),
            digest: "0".repeat(64),
            source: "made".to_owned(),
            tasks,
            subsets: BTreeMap::new(),
        },
        plan: Plan {
            tasks: ids.to_vec(),
            variants: vec![Variant::default()],
            k: K,
            seed: 0,
            attempts: 1,
        },
        conditions: [(CONDITION.to_owned(), condition)].into(),
        limits: Limits::default(),
        bounds: BoundsConfig { seconds: 180, bytes: 32 << 10 },
        tools: ToolsRef { names: Vec::new(), schemas: String::new() },
        judge: JudgeConfig::exact(),
        web: WebConfig::default(),
        cassette: None,
        servers: BTreeMap::new(),
    }
}

/// Stores the transcript of one attempt.
fn write(store: &Store, trial: &TrialId, chance: u32) -> Done {
    let mut transcript = store.transcript(trial, 1)?;
    let t = Times { at_ms: 1, took_ms: 900, ..Times::default() };
    transcript.append(&Record::Attempt(AttemptRecord {
        format: FORMAT,
        trial: trial.clone(),
        attempt: 1,
        seed: "0".repeat(64),
        now: Timestamp::UNIX_EPOCH,
        tools: (0..27).map(|number| format!("tool_number_{number}")).collect(),
        t: t.clone(),
    }))?;
    transcript.append(&Record::Message(MessageRecord {
        role: "system".to_owned(),
        content: Body::Inline("How to work. ".repeat(100)),
        why: "prompt".to_owned(),
        pictures: Vec::new(),
    }))?;
    let usage = Usage { input: 1200, output: 150, cached: 900, reasoning: 70 };
    for round in 1..=3 {
        transcript.append(&Record::Model(ModelRecord {
            round,
            role: "agent".to_owned(),
            call: None,
            purpose: None,
            asked: None,
            request: "0".repeat(64),
            reply: Body::Inline("{\"choices\":[]} ".repeat(40)),
            status: 200,
            usage,
            peculiar: Vec::new(),
            t: t.clone(),
        }))?;
        transcript.append(&Record::Call(CallRecord {
            round,
            ingress: round.to_string(),
            id: format!("c{round}"),
            tool: "execute_code".to_owned(),
            arguments: Body::Inline("{\"code\":\"print(1)\"}".repeat(10)),
            result: Body::Inline("a result ".repeat(100)),
            error: None,
            full: None,
            clock: Timestamp::UNIX_EPOCH,
            cost_ms: 1000,
            web: Vec::new(),
            notes: Vec::new(),
            t: t.clone(),
        }))?;
    }
    let file = |number| FileRecord {
        path: format!("results/table-{number}.csv"),
        bytes: 4096,
        blob: Some("0".repeat(64)),
    };
    transcript.append(&Record::Outcome(OutcomeRecord {
        outcome: Outcome::Answered,
        answer: Some(Body::Inline(format!("{chance} metres"))),
        detail: None,
        rounds: 4 + chance % 20,
        calls: 3,
        usage,
        tool_usage: Usage::default(),
        user_usage: Usage::default(),
        state: None,
        web_misses: 0,
        clock: Timestamp::UNIX_EPOCH,
        files: (0..5).map(file).collect(),
        t: Times { model_ms: 700, tools_ms: 150, ..t },
    }))?;
    Ok(())
}

fn verdict(trial: TrialId, chance: u32) -> VerdictRecord {
    let reached = |limit| chance % 5 > limit;
    let milestones = [("finds", 0), ("reads", 1), ("asks", 2), ("computes", 3)];
    VerdictRecord {
        format: FORMAT,
        trial,
        attempt: 1,
        verdict: if chance.is_multiple_of(3) { Verdict::Pass } else { Verdict::Fail },
        reasons: vec!["another number, or outside of the tolerance".to_owned()],
        milestones: milestones.map(|(id, limit)| (id.to_owned(), reached(limit))).into(),
        steps: [("finds".to_owned(), Step { round: 1, ingress: "1".to_owned() })].into(),
        discovered: [("data.example".to_owned(), reached(1))].into(),
        conduct: None,
        rubric: None,
        votes: Vec::new(),
        t: Times { took_ms: 1, ..Times::default() },
    }
}
