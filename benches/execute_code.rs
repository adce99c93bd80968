//! How long executed code takes, through [`Runtime::execute`] as a trial does it.
//!
//! `cargo bench --bench execute_code` prints the median, the 95th
//! percentile and the least of each program. The runtime has to be set up; its home is
//! `WILDGYM_CODE_HOME`, else `~/.cache/wildgym/code`. `bwrap_python.py` beside this file
//! measures the same programs under bubblewrap and a native Python: run both in one sitting.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use futures::future::BoxFuture;
use serde_json::Value;
use wildgym_sandbox::Seed;
use wildgym_sandbox::code::{Execution, Exit, HostCalls, Limits, Runtime};
use wildgym_sandbox::workspace::Quota;

/// Executions that are measured, after some that warm up.
const RUNS: usize = 200;
const WARM: usize = 10;

/// The programs, each with the median that it must not exceed.
const PROGRAMS: [(&str, Duration, &str); 3] = [
    ("print", Duration::from_millis(2), "print(1)"),
    ("group-by", Duration::from_millis(40), include_str!("group_by.py")),
    ("workbook", Duration::from_millis(200), include_str!("workbook.py")),
];

/// Answers nothing.
struct Deaf;

impl HostCalls for Deaf {
    fn call(&self, name: String, _: Value) -> BoxFuture<'_, Result<Value, String>> {
        Box::pin(async move { Err(format!("there is no `{name}` here")) })
    }
}

/// Writes 10,000 sales of 40 shops.
fn sales() -> String {
    let mut text = "shop,day,amount\n".to_owned();
    for row in 0_u32..10_000 {
        let amount = row.wrapping_mul(2_654_435_761) % 100_000;
        let _ = writeln!(text, "s{},{},{}.{:02}", row % 40, row % 365, amount / 100, amount % 100);
    }
    text
}

async fn run(
    runtime: &Runtime,
    folder: &Utf8Path,
    source: &str,
) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    let done = runtime
        .execute(Execution {
            source,
            workspace: &folder.join("workspace"),
            quota: Quota::default(),
            scratch: folder,
            now: "2026-03-01T09:00:00Z".parse()?,
            seed: Seed::of_run(1),
            limits: Limits::default(),
            host: Arc::new(Deaf),
        })
        .await?;
    let took = start.elapsed();
    if done.exit != Exit::Status(0) || done.stdout.is_empty() {
        return Err(format!("{:?}: {}", done.exit, done.stderr).into());
    }
    Ok(took)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let home = std::env::var("WILDGYM_CODE_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cache/wildgym/code")))?;
    let start = Instant::now();
    let runtime = Runtime::load(Utf8Path::new(&home))?;
    println!("load      {:>8.2?}", start.elapsed());
    let folder = tempfile::tempdir()?;
    let folder = Utf8Path::from_path(folder.path()).ok_or("the path is not UTF-8")?;
    std::fs::create_dir(folder.join("workspace"))?;
    std::fs::write(folder.join("workspace/sales.csv"), sales())?;
    let mut slow = Vec::new();
    for (name, most, source) in PROGRAMS {
        let mut took = Vec::new();
        for _ in 0..WARM + RUNS {
            took.push(run(&runtime, folder, source).await?);
        }
        let mut took = took.split_off(WARM);
        took.sort();
        let (median, late) = (took[RUNS / 2], took[RUNS * 95 / 100]);
        println!("{name:<9} median {median:>8.2?}  p95 {late:>8.2?}  least {:>8.2?}", took[0]);
        if median > most {
            slow.push(format!("`{name}` took {median:.2?}, more than {most:.2?}"));
        }
    }
    if slow.is_empty() { Ok(()) } else { Err(slow.join("; ").into()) }
}
