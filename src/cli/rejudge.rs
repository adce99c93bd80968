//! `wildgym rejudge`: verdicts on stored attempts, without an agent.

use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::cassette::{self, CassetteArgs};
use super::judging::{self, Decided, JudgeName, ModelsArgs};
use super::progress::Progress;
use super::start::{self, Shown};
use super::{Code, Failure, report, say};
use crate::judge::Judge;
use crate::model::Cassette;
use crate::runner::{self, Left, Rejudge, Summary};
use crate::store::{JudgeConfig, RunConfig, Store};

/// Judge the stored attempts of a run
///
/// Without `--judge`, `--judge-model`, `--judge-votes` or `--judge-extra` the run's own judge
/// judges what has no verdict yet; `WILDGYM_JUDGE_MODEL` does not change that. Another judge
/// judges everything that it has not judged; its verdicts go into a file of their own, and
/// `wildgym report RUN --judge NAME` shows them. No agent is run, no transcript touched.
#[derive(Debug, Args)]
#[command(mut_arg("judge_model", |arg| arg.help(MODEL)))]
#[command(mut_arg("judge_votes", |arg| arg.help(VOTES)))]
#[command(mut_arg("judge_extra", |arg| arg.help(EXTRA)))]
#[command(mut_arg("judge_base_url", |arg| arg.help(BASE_URL)))]
#[command(mut_arg("judge_api_key_env", |arg| arg.help(KEY)))]
#[command(mut_arg("judge_requests", |arg| arg.help(REQUESTS)))]
#[command(mut_arg("judge_request_seconds", |arg| arg.help(SECONDS)))]
pub(super) struct RejudgeArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Judge again what has a verdict of this judge; the new one counts
    #[arg(long)]
    all: bool,

    /// Who judges: equality alone, or a model where equality does not decide, which may rate
    /// too how the work was done [default: the run's judge]
    #[arg(long, value_enum, value_name = "WHO", help_heading = "Judge")]
    judge: Option<Who>,

    #[command(flatten)]
    models: ModelsArgs,

    #[command(flatten)]
    cassette: CassetteArgs,

    #[command(flatten)]
    shown: Shown,
}

// What the flags of a judge mean for a run that has one.
const MODEL: &str = "Another model that judges, by the name its endpoint knows; several take turns \
                     [default: the run's]";
const VOTES: &str = "Votes on an answer, an odd number; more than half must agree [default: the \
                     run's; with `--judge-model` 1 (5 where it rates), or the next odd number that \
                     lets every model vote]";
const EXTRA: &str = "More fields of every request to the judge, as a JSON object [default: the \
                     run's; none with `--judge-model`]";
const BASE_URL: &str = "Base URL of the judge's endpoint [default: that of the run's judge, else of \
                        the run's agent, else `OPENAI_BASE_URL`, else `https://api.openai.com/v1`]";
const KEY: &str = "Environment variable that holds the key of the judge's endpoint [default: the \
                   run's at the run's endpoint, else `OPENAI_API_KEY`]";
const REQUESTS: &str = "Requests in flight at the judge's endpoint at once [default: the run's; 16 \
                        with `--judge-model`]";
const SECONDS: &str = "How long a request to the judge may take, in seconds [default: the run's; \
                       300 with `--judge-model`]";

/// The judges that can be named in place of the run's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Who {
    /// Equality with the reference or an accepted form
    Exact,
    /// The run's judge models, or those of `--judge-model`; for a run that has none, also the
    /// one that `WILDGYM_JUDGE_MODEL` names
    Llm,
    /// The same models, which rate too how the work was done
    Rubric,
}

impl Who {
    fn name(self) -> JudgeName {
        match self {
            Self::Exact => JudgeName::Exact,
            Self::Llm => JudgeName::Llm,
            Self::Rubric => JudgeName::Rubric,
        }
    }
}

pub(super) fn run(args: &RejudgeArgs) -> Result<Code, Failure> {
    let store = Store::open(&args.run)?;
    let config = store.config()?;
    let judged = args.models.for_run(args.judge.map(Who::name), &config)?;
    let lock = store.lock()?;
    args.cassette.refuse_unused([], &judged)?;
    let cassette = args.cassette.open()?;
    if let Some(cassette) = &cassette {
        cassette.claim(&config.created.to_string());
    }
    let left = Left::to_rejudge(&store, &config, &judged.name, args.all)?;
    super::say_damaged(&left.bad_lines, judging::BAD_LINE);
    super::say_damaged(&left.bad_transcripts, super::LEFT_OUT);
    let summary = if left.to_judge.is_empty() {
        if !args.shown.quiet {
            say(&format!("judge {} has a verdict on every answer", judged.name));
        }
        Summary::default()
    } else {
        judging::check_questions(&store, &config, &judged)?;
        let progress = Progress::new(args.shown.quiet);
        // Before the first request, so that a wrong address can still be stopped.
        let replayed = cassette::replays(cassette.as_ref());
        let decided = Decided::in_run(&store, &config);
        progress.judging(&judged, left.to_judge.len(), replayed, decided);
        let judge = judging::checked(&judged, cassette.as_ref())?;
        work(progress, &store, (config, cassette.clone()), judge, &judged, left)?
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

fn work(
    progress: Progress,
    store: &Store,
    (config, cassette): (RunConfig, Option<Arc<Cassette>>),
    judge: Judge,
    judged: &JudgeConfig,
    left: Left,
) -> Result<Summary, Failure> {
    let progress = Arc::new(progress);
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
