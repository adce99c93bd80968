//! How long an attempt waits for its world, and what a world costs.
//!
//! `cargo bench --bench world` takes the example world of the sandbox's tests, filled until
//! its image has one MiB, and the world `enterprise`, whose image has about as much. For each
//! it measures: from the image to the first committed operation, operations that write and
//! that read, and the memory of 500 worlds alive at once. Times are medians.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::error::Error;
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

type Done<T> = Result<T, Box<dyn Error>>;

/// A world with operations to time; the first of them writes and has no precondition that a
/// second call would break.
struct Subject {
    blueprint: Blueprint,
    now: Timestamp,
    timed: Vec<(&'static str, Value)>,
}

fn main() -> Done<()> {
    let contact = json!({"name": "Ada Stone", "company": "Acme"});
    let depot = Subject {
        blueprint: depot()?,
        now: "2026-03-02T09:00:00Z".parse()?,
        timed: vec![("create_contact", contact.clone()), ("find_products", json!({}))],
    };
    let enterprise = Subject {
        blueprint: enterprise()?,
        now: "2026-03-16T09:00:00Z".parse()?,
        timed: vec![
            ("crm_create_contact", contact),
            ("crm_search_contacts", json!({"query": "stone"})),
            ("erp_search_orders", json!({})),
            (
                "data_query",
                json!({"sql": "SELECT status, count(*) FROM rpt_orders GROUP BY status"}),
            ),
        ],
    };
    [depot, enterprise].iter().try_for_each(measure)
}

fn measure(subject: &Subject) -> Done<()> {
    let image = subject.blueprint.image().len();
    println!("{}: image {} KiB", subject.blueprint.world().meta.name, image >> 10);
    let show = |what: &str, time: Duration| println!("  {what:30} {:>9.1} µs", micros(time));
    let (first, write) = &subject.timed[0];
    let write = arguments(write);
    show("image to first operation", median(200, |seed| begin(subject, seed, first, &write))?);
    let mut live = open(subject, 0)?;
    for (operation, given) in &subject.timed {
        let given = arguments(given);
        let mut number = 0;
        let time = median(1000, |_| {
            number += 1;
            let start = Instant::now();
            call(&mut live, subject.now, operation, &given, number)?;
            Ok(start.elapsed())
        })?;
        show(operation, time);
    }
    drop(live);
    let before = resident()?;
    let mut alive = (0..ALIVE).map(|seed| open(subject, seed)).collect::<Done<Vec<_>>>()?;
    for live in &mut alive {
        call(live, subject.now, first, &write, 1)?;
    }
    let each = resident()?.saturating_sub(before) / ALIVE;
    let beyond = i64::try_from(each)? - i64::try_from(image >> 10)?;
    println!("  memory of each of {ALIVE}         {each:>9} KiB ({beyond} beyond the image)");
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Copies the example world with more contacts, and makes it ready.
fn depot() -> Done<Blueprint> {
    let from = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("sandbox/tests/worlds/depot");
    let held = tempfile::tempdir()?;
    let to = Utf8PathBuf::try_from(held.path().to_owned())?.join("depot");
    std::fs::create_dir_all(to.join("operations"))?;
    for name in ["world.toml", "schema.sql", "operations/crm.toml", "operations/erp.toml"] {
        std::fs::copy(from.join(name), to.join(name))?;
    }
    let seed = std::fs::read_to_string(from.join("seed.sql"))?;
    std::fs::write(to.join("seed.sql"), seed.replace("i < 20", &format!("i < {CONTACTS}")))?;
    Ok(Blueprint::build(World::load(&to)?, 0)?)
}

/// Makes the world of the suite `enterprise` ready.
fn enterprise() -> Done<Blueprint> {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("tasks/suites/enterprise/worlds/enterprise");
    Ok(Blueprint::build(World::load(&folder)?, 0)?)
}

fn open(subject: &Subject, seed: u64) -> Done<Live> {
    let name = subject.blueprint.world().meta.name.clone();
    let scene = Scene { name, ..Scene::default() };
    Ok(subject.blueprint.open(scene, subject.now, Seed::of_run(seed))?)
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn call(
    live: &mut Live,
    now: Timestamp,
    operation: &str,
    arguments: &Map<String, Value>,
    number: u64,
) -> Done<Value> {
    Ok(live.call(&Call { operation, arguments, round: number, number, now })?)
}

fn begin(
    subject: &Subject,
    seed: u64,
    operation: &str,
    arguments: &Map<String, Value>,
) -> Done<Duration> {
    let start = Instant::now();
    let mut live = open(subject, seed)?;
    call(&mut live, subject.now, operation, arguments, 1)?;
    Ok(start.elapsed())
}

fn median(times: u64, mut run: impl FnMut(u64) -> Done<Duration>) -> Done<Duration> {
    let mut all = (0..times).map(&mut run).collect::<Done<Vec<_>>>()?;
    all.sort();
    Ok(all[all.len() / 2])
}

/// Returns the memory of this process, in KiB.
fn resident() -> Done<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
