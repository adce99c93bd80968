//! One seed, one `now`, one result.

use wildgym_sandbox::Seed;
use wildgym_sandbox::code::Exit;

use super::{Place, runtime};

const SOURCE: &str = r#"
import datetime, os, random, secrets, tempfile, time, uuid
import numpy as np
print("random", random.random(), random.sample(range(100), 3), random.SystemRandom().random())
print("numpy", np.random.rand(), np.random.default_rng().random(), np.random.RandomState().rand())
print("system", os.urandom(8).hex(), uuid.uuid4(), secrets.token_hex(4), tempfile.mktemp())
print("time", time.time(), time.monotonic(), datetime.datetime.now())
time.sleep(2.5)
print("slept", time.time(), time.perf_counter())
print("hash", hash("ferry"), {"a", "b", "c", "port"}, id(None) == id(None))
for name in ("c", "a", "b"): open(name, "w").close()
print("files", os.listdir("."), [e.name for e in os.scandir(".")], os.stat("a").st_mtime)
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_seed_and_time_give_the_same_output() {
    let Some(runtime) = runtime() else { return };
    let first = Place::new().run(runtime, SOURCE).await;
    assert_eq!(first.exit, Exit::Status(0), "{}", first.stderr);
    for _ in 0..3 {
        assert_eq!(Place::new().run(runtime, SOURCE).await, first);
    }
    assert!(first.stdout.contains("1772355602.5"), "the sleep shows: {}", first.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_seed_changes_chance_and_another_time_changes_time() {
    let Some(runtime) = runtime() else { return };
    let first = Place::new().run(runtime, SOURCE).await;
    let mut place = Place::new();
    place.seed = Seed::of_run(2);
    let seeded = place.run(runtime, SOURCE).await;
    let mut place = Place::new();
    place.now = "2031-01-01T00:00:00Z";
    let later = place.run(runtime, SOURCE).await;
    let same = |a: &str, b: &str| -> Vec<String> {
        let pairs = a.lines().zip(b.lines()).filter(|(a, b)| a == b);
        pairs.filter_map(|(a, _)| a.split(' ').next().map(str::to_owned)).collect()
    };
    assert_eq!(same(&first.stdout, &seeded.stdout), ["time", "slept", "hash", "files"]);
    assert_eq!(same(&first.stdout, &later.stdout), ["random", "numpy", "system", "hash"]);
}
