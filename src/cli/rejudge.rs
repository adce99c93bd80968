//! `wildgym rejudge`: verdicts on stored attempts, without an agent.

use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::Args;

use super::cassette::{self, CassetteArgs};
use super::judging::{self, JudgeArgs};
use super::progress::Progress;
use super::start::{self, Shown};
use super::{Code, Failure, report, say};
use crate::judge::Judge;
use crate::model::Cassette;
use crate::runner::{self, Left, Rejudge, Summary};
use crate::store::{JudgeConfig, RunConfig, Store};

/// Judge the stored attempts of a run
///
/// Without `--judge` or `--judge-model` the run's own judge judges what has no verdict yet.
/// Another judge judges everything that it has not judged; its verdicts go into a file of
/// their own, and `wildgym report RUN --judge NAME` shows them. No agent is run, no
/// transcript touched.
#[derive(Debug, Args)]
pub(super) struct RejudgeArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    #[command(flatten)]
    judge: JudgeArgs,

    /// Judge again what has a verdict of this judge; the new one counts
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    cassette: CassetteArgs,

    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(args: &RejudgeArgs) -> Result<Code, Failure> {
    let store = Store::open(&args.run)?;
    let config = store.config()?;
    let judged = judge_of(args, &config)?;
    let lock = store.lock()?;
    let cassette = args.cassette.open()?;
    if let Some(cassette) = &cassette {
        cassette.claim(&config.created.to_string());
    }
    let left = Left::find(&store, &config, &judged.name, args.all)?;
    let summary = if left.to_judge.is_empty() {
        if !args.shown.quiet {
            say(&format!("judge {} has a verdict on every answer", judging::label(&judged)));
        }
        Summary::default()
    } else {
        judging::check_questions(&store, &config, &judged)?;
        let judge = judging::checked(&judged, cassette.as_ref())?;
        work(args, &store, (config, cassette.clone()), judge, &judged, left)?
    };
    drop(lock);
    let view = report::view_by(&store, Some(&judged.name))?;
    report::print(&view, args.shown.json);
    cassette::report(cassette.as_ref());
    if summary.interrupted {
        say(&format!("\nstopped; go on with the same command on `{}`", store.root()));
        return Ok(Code::Interrupted);
    }
    let other = view.label.other_judge.then_some(judged.name.as_str());
    start::say_unjudged(&summary, store.root().as_str(), other, cassette.as_ref());
    Ok(report::code(&view))
}

/// Returns the judge that is meant: the run's own, perhaps moved, or another one.
fn judge_of(args: &RejudgeArgs, config: &RunConfig) -> Result<JudgeConfig, Failure> {
    if args.judge.names_a_judge() {
        return args.judge.config(None);
    }
    let mut own = config.judge.clone();
    args.judge.apply(&mut own)?;
    judging::check_prompts(config)?;
    Ok(own)
}

fn work(
    args: &RejudgeArgs,
    store: &Store,
    (config, cassette): (RunConfig, Option<Arc<Cassette>>),
    judge: Judge,
    judged: &JudgeConfig,
    left: Left,
) -> Result<Summary, Failure> {
    let progress = Arc::new(Progress::new(args.shown.quiet));
    progress.judging(judged, left.to_judge.len());
    let rejudge = Rejudge {
        store: store.clone(),
        config,
        judge,
        name: judged.name.clone(),
        cases: left.to_judge,
        events: {
            let progress = Arc::clone(&progress);
            Arc::new(move |event| progress.see(event))
        },
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let summary =
        runtime.block_on(async { runner::rejudge(rejudge, start::listen(cassette)).await });
    runtime.shutdown_background();
    progress.finish();
    Ok(summary?)
}
