//! How long an attempt waits for its world, and what a world costs.
//!
//! `cargo bench --bench world [-- DIR]` takes the example world of the sandbox's tests, filled
//! until its image has one MiB, and the world `enterprise`, whose image has about as much. Of
//! each it measures: from the image to the first committed operation; operations, the first
//! time that an attempt calls them (their statements are compiled then) and again; and the
//! memory of 500 worlds alive at once. The operations of `enterprise` are those of the calls in
//! `tests/enterprise/good.json`, all 43; again means those that can be done twenty times over. It
//! ends with 1 where a figure misses its bar. Into DIR goes the image, for `world_peer.py`.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use wildgym_sandbox::Seed;
use wildgym_sandbox::world::{Blueprint, Call, Live};
use wildgym_tasks::World;
use wildgym_tasks::world::Scene;

/// Contacts that make an image of about one MiB.
const CONTACTS: u32 = 7000;

/// Worlds alive at once.
const ALIVE: u64 = 500;

/// How often an operation is called again.
const AGAIN: usize = 20;

/// From the image to the first committed operation.
const FIRST: Duration = Duration::from_millis(1);

/// One operation, the middle one.
const OPERATION: Duration = Duration::from_micros(100);

/// Memory of a world beyond its image, in KiB.
const BEYOND: i64 = 512;

type Done<T> = Result<T, Box<dyn Error>>;

/// A call to time, with what is done before it.
struct Timed {
    user: Option<String>,
    before: Vec<(String, Map<String, Value>)>,
    operation: String,
    arguments: Map<String, Value>,
}

/// A world with calls to time; the first of them writes and can be repeated.
struct Subject {
    blueprint: Blueprint,
    now: Timestamp,
    timed: Vec<Timed>,
}

/// Times of the operations, by name.
type Times = BTreeMap<String, Vec<Duration>>;

fn main() -> Done<ExitCode> {
    let mut met = true;
    for subject in [depot()?, enterprise()?] {
        met &= measure(&subject)?;
        if let Some(folder) = std::env::args().skip(1).find(|word| !word.starts_with('-')) {
            let name = &subject.blueprint.world().meta.name;
            std::fs::create_dir_all(&folder)?;
            std::fs::write(format!("{folder}/{name}.db"), subject.blueprint.image())?;
        }
    }
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(subject: &Subject) -> Done<bool> {
    let image = subject.blueprint.image().len();
    println!("{}: image {} KiB", subject.blueprint.world().meta.name, image >> 10);
    let first = median((0..200).map(|seed| begin(subject, seed)).collect::<Done<Vec<_>>>()?);
    let mut met = show("image to first operation", first, Some(FIRST));
    let (once, again) = operations(subject)?;
    show(&format!("an operation, first time ({})", once.len()), middle(&once), None);
    met &= show(&format!("an operation, again ({})", again.len()), middle(&again), Some(OPERATION));
    for (name, times) in &again {
        let time = median(times.clone());
        if time > OPERATION || *name == subject.timed[0].operation {
            show(&format!("  {name}"), time, None);
        }
    }
    let before = resident()?;
    let mut alive =
        (0..ALIVE).map(|seed| open(subject, seed, &subject.timed[0])).collect::<Done<Vec<_>>>()?;
    for live in &mut alive {
        call(live, subject.now, &subject.timed[0], 1)?;
    }
    let each = resident()?.saturating_sub(before) / ALIVE;
    let beyond = i64::try_from(each)? - i64::try_from(image >> 10)?;
    let verdict = verdict(beyond <= BEYOND);
    println!("  {:36} {each:>9} KiB, {beyond} beyond the image  {verdict}", "each of 500 alive");
    Ok(met && beyond <= BEYOND)
}

fn verdict(met: bool) -> &'static str {
    if met { "(met)" } else { "(MISSED)" }
}

/// Prints a time with its bar, and returns whether it is met.
fn show(what: &str, time: Duration, bar: Option<Duration>) -> bool {
    let met = bar.is_none_or(|bar| time <= bar);
    let bar = bar.map(|bar| format!("bar {:>6.0} µs {}", micros(bar), verdict(met)));
    println!("  {what:36} {:>9.1} µs  {}", micros(time), bar.unwrap_or_default());
    met
}

/// Times every call: the first time in a fresh world, and again in that world as long as it
/// can be done.
fn operations(subject: &Subject) -> Done<(Times, Times)> {
    let (mut once, mut again) = (Times::new(), Times::new());
    for timed in &subject.timed {
        let mut repeated = Vec::new();
        for seed in 0..9 {
            let mut live = open(subject, seed, timed)?;
            let start = Instant::now();
            call(&mut live, subject.now, timed, 1)?;
            once.entry(timed.operation.clone()).or_default().push(start.elapsed());
            for number in 2..2 + AGAIN as u64 {
                let start = Instant::now();
                if call(&mut live, subject.now, timed, number).is_err() {
                    break;
                }
                repeated.push(start.elapsed());
            }
        }
        if repeated.len() == 9 * AGAIN {
            again.entry(timed.operation.clone()).or_default().extend(repeated);
        }
    }
    Ok((once, again))
}

fn middle(times: &Times) -> Duration {
    median(times.values().map(|times| median(times.clone())).collect())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Copies the example world with more contacts, and makes it ready.
fn depot() -> Done<Subject> {
    let from = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("sandbox/tests/worlds/depot");
    let held = tempfile::tempdir()?;
    let to = Utf8PathBuf::try_from(held.path().to_owned())?.join("depot");
    std::fs::create_dir_all(to.join("operations"))?;
    for name in ["world.toml", "schema.sql", "operations/crm.toml", "operations/erp.toml"] {
        std::fs::copy(from.join(name), to.join(name))?;
    }
    let seed = std::fs::read_to_string(from.join("seed.sql"))?;
    std::fs::write(to.join("seed.sql"), seed.replace("i < 20", &format!("i < {CONTACTS}")))?;
    let timed = |operation: &str, given: Value| Timed {
        user: None,
        before: Vec::new(),
        operation: operation.to_owned(),
        arguments: arguments(&given),
    };
    Ok(Subject {
        blueprint: Blueprint::build(World::load(&to)?, 0)?,
        now: "2026-03-02T09:00:00Z".parse()?,
        timed: vec![
            timed("create_contact", json!({"name": "Ada Stone", "company": "Acme"})),
            timed("find_products", json!({})),
        ],
    })
}

/// Makes the world of the suite `enterprise` ready.
fn enterprise() -> Done<Subject> {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join("tests/enterprise/good.json"))?;
    let cases: Vec<Value> = serde_json::from_str(&text)?;
    let timed = |case: &Value| Timed {
        user: case["user"].as_str().map(ToOwned::to_owned),
        before: case["before"].as_array().into_iter().flatten().map(asked).collect(),
        operation: asked(case).0,
        arguments: asked(case).1,
    };
    let folder = folder.join("tasks/suites/enterprise/worlds/enterprise");
    Ok(Subject {
        blueprint: Blueprint::build(World::load(&folder)?, 0)?,
        now: "2026-03-16T09:00:00Z".parse()?,
        timed: cases.iter().map(timed).collect(),
    })
}

fn asked(case: &Value) -> (String, Map<String, Value>) {
    (case["call"].as_str().unwrap_or_default().to_owned(), arguments(&case["arguments"]))
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Opens a world for a call, and does what comes before it.
fn open(subject: &Subject, seed: u64, timed: &Timed) -> Done<Live> {
    let name = subject.blueprint.world().meta.name.clone();
    let context = timed.user.iter().map(|user| ("user_id".to_owned(), json!(user))).collect();
    let scene = Scene { name, context, ..Scene::default() };
    let mut live = subject.blueprint.open(scene, subject.now, Seed::of_run(seed))?;
    for (number, (operation, arguments)) in timed.before.iter().enumerate() {
        let number = 1000 + number as u64;
        live.call(&Call { operation, arguments, round: number, number, now: subject.now })?;
    }
    Ok(live)
}

fn call(live: &mut Live, now: Timestamp, timed: &Timed, number: u64) -> Done<Value> {
    let (operation, arguments) = (&timed.operation, &timed.arguments);
    Ok(live.call(&Call { operation, arguments, round: number, number, now })?)
}

fn begin(subject: &Subject, seed: u64) -> Done<Duration> {
    let start = Instant::now();
    let mut live = open(subject, seed, &subject.timed[0])?;
    call(&mut live, subject.now, &subject.timed[0], 1)?;
    Ok(start.elapsed())
}

/// Returns the memory of this process, in KiB.
fn resident() -> Done<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
