//! How long an attempt waits for its world, and what a world costs.
//!
//! `cargo bench --bench world` fills the example world of the sandbox's tests until its
//! image has one MiB, then measures: from the image to the first committed operation, one
//! operation that writes, one that reads, and the memory of 500 worlds alive at once.
//! Times are medians.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::error::Error;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
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

fn main() -> Done<()> {
    let blueprint = blueprint()?;
    let image = blueprint.image().len();
    println!("image                       {:>9} KiB", image >> 10);
    println!(
        "image to first operation    {:>9.1} µs",
        micros(median(200, |seed| first(&blueprint, seed))?)
    );
    let contact = arguments(&json!({"name": "Ada Stone", "company": "Acme"}));
    let mut live = open(&blueprint, 0)?;
    let mut number = 0;
    let mut timed = |operation: &str, arguments: &Map<String, Value>| {
        median(2000, |_| {
            number += 1;
            let start = Instant::now();
            call(&mut live, operation, arguments, number)?;
            Ok(start.elapsed())
        })
    };
    println!("one operation that writes   {:>9.1} µs", micros(timed("create_contact", &contact)?));
    println!(
        "one operation that reads    {:>9.1} µs",
        micros(timed("find_products", &Map::new())?)
    );
    let before = resident()?;
    let mut alive = (0..ALIVE).map(|seed| open(&blueprint, seed)).collect::<Done<Vec<_>>>()?;
    for live in &mut alive {
        call(live, "create_contact", &contact, 1)?;
    }
    let each = resident()?.saturating_sub(before) / ALIVE;
    println!(
        "memory of each of {ALIVE} worlds {each:>8} KiB ({} beyond the image)",
        i64::try_from(each)? - i64::try_from(image >> 10)?
    );
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Copies the example world with more contacts, and makes it ready.
fn blueprint() -> Done<Blueprint> {
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

fn open(blueprint: &Blueprint, seed: u64) -> Done<Live> {
    let scene = Scene { name: "depot".to_owned(), ..Scene::default() };
    Ok(blueprint.open(scene, "2026-03-02T09:00:00Z".parse()?, Seed::of_run(seed))?)
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn call(
    live: &mut Live,
    operation: &str,
    arguments: &Map<String, Value>,
    number: u64,
) -> Done<Value> {
    let now = "2026-03-02T09:00:00Z".parse()?;
    Ok(live.call(&Call { operation, arguments, round: number, number, now })?)
}

fn first(blueprint: &Blueprint, seed: u64) -> Done<Duration> {
    let contact = arguments(&json!({"name": "Ada Stone"}));
    let start = Instant::now();
    let mut live = open(blueprint, seed)?;
    call(&mut live, "create_contact", &contact, 1)?;
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
