//! `wildgym annotate`: what went wrong in the trials that did not pass.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use clap::Args;
use futures::{StreamExt, stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::agent::ModelArgs;
use super::cassette::{self, CassetteArgs};
use super::judging::BAD_LINE;
use super::{Code, Failure, LEFT_OUT, data, say, say_damaged, start};
use crate::annotate::{Annotated, Annotator, Case, Told, tell};
use crate::model::Asked;
use crate::record::{
    AnnotationCall, AnnotationRecord, FORMAT, OutcomeRecord, Times, TrialId, Usage,
};
use crate::report::{self, ErrorsView, FailedTrial};
use crate::store::{Annotations, RunConfig, Store, StoreError, TaskData};
use crate::verdict::{Verdict, VerdictRecord};

/// Trials in a row whose request the endpoint may fail before the rest is left for later.
const GIVE_UP: usize = 5;

/// The temperature of an annotator: it is to repeat itself.
const TEMPERATURE: f64 = 0.0;

/// How often a line of progress is written at most.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Say by a model what went wrong in each trial that did not pass
///
/// The model reads a digest of the transcript beside the reference solution and names one of
/// eight types of error, with a passage of the transcript as evidence; what it cannot
/// prove stays unannotated. Everything is kept in the run, in `annotations/`; called
/// again, only what is unannotated is asked. Verdicts are never touched.
#[derive(Debug, Args)]
#[command(mut_arg("temperature", |arg| arg.help("Sampling temperature [default: 0]")))]
pub(super) struct AnnotateArgs {
    /// Directory of the run
    run: Utf8PathBuf,

    /// Annotate all trials anew, also those that have an annotation
    #[arg(long)]
    all: bool,

    /// Trials at once
    #[arg(long, value_name = "COUNT", default_value = "8")]
    concurrency: NonZeroU32,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    cassette: CassetteArgs,

    #[command(flatten)]
    shown: start::Shown,
}

pub(super) fn run(args: &AnnotateArgs) -> Result<Code, Failure> {
    let store = Store::open(&args.run)?;
    let Some(model) = args.model.config(TEMPERATURE)? else {
        return Err(Failure::usage("`annotate` needs a model")
            .hint("name one with `--model NAME`, and its endpoint with `--base-url URL`"));
    };
    let config = store.config()?;
    let work = Work::read(&store, &config)?;
    say_damaged(&store.read_annotations(&model.name)?.1, "this line counts as no annotation");
    let before = annotations(&store, &model.name)?;
    let missing = |failed: &&Failed| {
        let known = before.get(&(failed.id.clone(), failed.attempt));
        args.all || known.is_none_or(|record| record.annotation.is_none())
    };
    let left: Vec<&Failed> = work.failed.iter().filter(missing).collect();
    let mut ended = Ended::default();
    if !left.is_empty() {
        let cassette = args.cassette.open()?;
        start::check_endpoint(&model, cassette.as_ref())?;
        let client = start::client(&model, cassette.as_ref())?;
        let annotator =
            Annotator::new(&client).map_err(|error| Failure::usage(error.to_string()))?;
        let _lock = store.lock()?;
        if let Some(cassette) = &cassette {
            cassette.claim(&config.created.to_string());
        }
        let job = Job {
            annotations: store.annotations(&model.name)?,
            store: &store,
            work: &work,
            annotator,
            model: model.name.clone(),
            broken: AtomicUsize::new(0),
        };
        let concurrency = args.concurrency.get() as usize;
        ended = job.run(&left, concurrency, args.shown.quiet, || {
            if let Some(cassette) = &cassette {
                cassette.stop();
            }
        })?;
        cassette::report(cassette.as_ref());
    }
    let view = view(&store, &config, &work, &model.name)?;
    print(&view, args.shown.json);
    let code = close(&ended, &view, &store);
    Ok(if code == Code::Done && !work.whole { Code::Incomplete } else { code })
}

/// Says what is left and returns the exit code.
fn close(ended: &Ended, view: &ErrorsView, store: &Store) -> Code {
    let root = store.root();
    if ended.interrupted {
        say(&format!("\nstopped; the same command goes on with `{root}`"));
        return Code::Interrupted;
    }
    if ended.gave_up {
        say(&format!(
            "\nstopped: the endpoint failed {GIVE_UP} trials in a row; mend it, then give the same \
             command again: what `{root}` holds is kept"
        ));
    }
    if view.unannotated() > 0 { Code::Incomplete } else { Code::Done }
}

fn print(view: &ErrorsView, json: bool) {
    if json {
        data(&report::errors_json(view).to_string());
        return;
    }
    let (width, colour) = super::terminal();
    data(&report::errors(view, width, colour));
}

/// A trial that did not pass.
struct Failed {
    id: TrialId,
    attempt: u32,
    end: OutcomeRecord,
    verdict: VerdictRecord,
}

/// What a run holds to be annotated.
struct Work {
    tasks: BTreeMap<String, TaskData>,
    failed: Vec<Failed>,
    /// Whether all that is stored could be read.
    whole: bool,
}

impl Work {
    /// Finds the attempts that count and whose last verdict is `fail` or `degraded`.
    fn read(store: &Store, config: &RunConfig) -> Result<Self, StoreError> {
        let tasks = config.tasks(&store.blobs())?;
        let (mut verdicts, bad_lines) = store.last_verdicts(&config.judge.name)?;
        say_damaged(&bad_lines, BAD_LINE);
        let index = store.survey()?;
        say_damaged(&index.damaged, LEFT_OUT);
        let whole = bad_lines.is_empty() && index.damaged.is_empty();
        let mut failed = Vec::new();
        for (id, trial) in index.trials {
            let Some(stored) = trial.counted() else { continue };
            let (Some(end), attempt) = (stored.end.clone(), stored.attempt) else { continue };
            let Some(verdict) = verdicts.remove(&(id.clone(), attempt)) else { continue };
            if matches!(verdict.verdict, Verdict::Fail | Verdict::Degraded)
                && tasks.contains_key(&id.task)
            {
                failed.push(Failed { id, attempt, end, verdict });
            }
        }
        Ok(Self { tasks, failed, whole })
    }
}

/// Returns for each attempt the last annotation, or the last try where there is none.
fn annotations(
    store: &Store,
    model: &str,
) -> Result<BTreeMap<(TrialId, u32), AnnotationRecord>, StoreError> {
    let mut all = BTreeMap::new();
    for record in store.read_annotations(model)?.0 {
        let key = (record.trial.clone(), record.attempt);
        let known: Option<&AnnotationRecord> = all.get(&key);
        if record.annotation.is_some() || known.is_none_or(|known| known.annotation.is_none()) {
            all.insert(key, record);
        }
    }
    Ok(all)
}

fn view(
    store: &Store,
    config: &RunConfig,
    work: &Work,
    model: &str,
) -> Result<ErrorsView, StoreError> {
    let mut known = annotations(store, model)?;
    let trials = work.failed.iter().filter_map(|failed| {
        let record = known.remove(&(failed.id.clone(), failed.attempt));
        let (annotation, problem) =
            record.map(|record| (record.annotation, record.problem)).unwrap_or_default();
        Some(FailedTrial {
            id: failed.id.clone(),
            attempt: failed.attempt,
            scenario: work.tasks.get(&failed.id.task)?.scenario,
            verdict: failed.verdict.verdict,
            annotation,
            problem,
        })
    });
    Ok(ErrorsView {
        run: store.root().to_string(),
        model: model.to_owned(),
        judge: config.judge.name.clone(),
        trials: trials.collect(),
    })
}

/// How the work ended.
#[derive(Default)]
struct Ended {
    interrupted: bool,
    gave_up: bool,
}

/// The work on what is left.
struct Job<'a> {
    store: &'a Store,
    work: &'a Work,
    annotator: Annotator,
    annotations: Annotations,
    model: String,
    /// Trials in a row that the endpoint failed.
    broken: AtomicUsize,
}

impl Job<'_> {
    /// Annotates all that is left, several at once; `stopping` is called when the user
    /// wants to end it.
    fn run(
        &self,
        left: &[&Failed],
        concurrency: usize,
        quiet: bool,
        stopping: impl Fn(),
    ) -> Result<Ended, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
        let mut progress = Progress::new(left.len(), quiet);
        runtime.block_on(async {
            let mut running = stream::iter(left)
                .map(|failed| self.annotate(failed))
                .buffer_unordered(concurrency);
            let work = async {
                while let Some(done) = running.next().await {
                    progress.see(done?.as_ref());
                }
                Ok::<_, StoreError>(())
            };
            let interrupted = tokio::select! {
                worked = work => worked.map(|()| false)?,
                () = start::asked_to_end() => {
                    stopping();
                    true
                }
            };
            progress.finish();
            let gave_up = self.broken.load(Ordering::Relaxed) >= GIVE_UP;
            Ok(Ended { interrupted, gave_up })
        })
    }

    /// Annotates one trial and keeps what came of it; none where the endpoint was given up.
    async fn annotate(&self, failed: &Failed) -> Result<Option<AnnotationRecord>, StoreError> {
        let Some(task) = self.work.tasks.get(&failed.id.task) else { return Ok(None) };
        if self.broken.load(Ordering::Relaxed) >= GIVE_UP {
            return Ok(None);
        }
        let began = Instant::now();
        let (told, answer) = match self.read(failed) {
            Ok(read) => read,
            Err(error) if error.is_damage() => {
                say(&format!("{} not annotated: {error}", failed.id));
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let case = Case {
            trial: &failed.id,
            attempt: failed.attempt,
            task,
            verdict: failed.verdict.verdict,
            reasons: &failed.verdict.reasons,
            outcome: failed.end.outcome.to_string(),
            answer,
            told: &told,
        };
        let annotated = self.annotator.annotate(&case).await;
        if annotated.endpoint_failed {
            self.broken.fetch_add(1, Ordering::Relaxed);
        } else if self.broken.load(Ordering::Relaxed) < GIVE_UP {
            self.broken.store(0, Ordering::Relaxed);
        }
        let record = self.record(failed, annotated, began.elapsed())?;
        self.annotations.append(&record)?;
        Ok(Some(record))
    }

    /// Reads what a trial did and what it answered.
    fn read(&self, failed: &Failed) -> Result<(Told, Option<String>), StoreError> {
        let blobs = self.store.blobs();
        let told = tell(&self.store.records(&failed.id, failed.attempt)?, |body| blobs.text(body))?;
        let answer = failed.end.answer.as_ref().map(|body| blobs.text(body)).transpose()?;
        Ok((told, answer))
    }

    fn record(
        &self,
        failed: &Failed,
        annotated: Annotated,
        took: Duration,
    ) -> Result<AnnotationRecord, StoreError> {
        let calls = annotated.calls.into_iter().map(|(asked, problem)| self.call(asked, problem));
        Ok(AnnotationRecord {
            format: FORMAT,
            model: self.model.clone(),
            prompts: self.annotator.prompts().to_owned(),
            trial: failed.id.clone(),
            attempt: failed.attempt,
            annotation: annotated.annotation,
            problem: annotated.problem,
            calls: calls.collect::<Result<_, _>>()?,
            t: Times {
                at_ms: u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default(),
                took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                ..Times::default()
            },
        })
    }

    fn call(&self, asked: Asked, problem: Option<String>) -> Result<AnnotationCall, StoreError> {
        let blobs = self.store.blobs();
        let (status, reply, usage) = match &asked.ended {
            Ok(exchange) => (Some(exchange.status), exchange.reply_text.clone(), exchange.usage),
            Err(error) => {
                let failure = error.failure();
                let body = failure.map(|failure| failure.body.clone()).unwrap_or_default();
                (failure.and_then(|failure| failure.status), body, Usage::default())
            }
        };
        Ok(AnnotationCall {
            digest: blake3::hash(asked.request.as_bytes()).to_hex().to_string(),
            request: blobs.body(asked.request)?,
            status,
            reply: status.map(|_| blobs.body(reply)).transpose()?,
            problem,
            usage,
        })
    }
}

/// Progress, on standard error: a bar on a terminal, plain lines elsewhere.
struct Progress {
    quiet: bool,
    bar: Option<ProgressBar>,
    total: usize,
    done: usize,
    unannotated: usize,
    usage: Usage,
    said: Instant,
}

impl Progress {
    fn new(total: usize, quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(total as u64), target);
            let style = ProgressStyle::with_template("{bar:30} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let (done, unannotated, usage) = (0, 0, Usage::default());
        Self { quiet, bar, total, done, unannotated, usage, said: Instant::now() }
    }

    fn see(&mut self, record: Option<&AnnotationRecord>) {
        self.done += usize::from(record.is_some());
        self.unannotated += usize::from(record.is_none_or(|record| record.annotation.is_none()));
        for call in record.iter().flat_map(|record| &record.calls) {
            self.usage.add(call.usage);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
            bar.set_message(self.line());
        } else if !self.quiet && self.said.elapsed() >= PLAIN_EVERY {
            self.said = Instant::now();
            say(&self.line());
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if !self.quiet {
            say(&self.line());
        }
    }

    fn line(&self) -> String {
        let (done, total, tokens) = (self.done, self.total, self.usage.total());
        format!("{done}/{total} trials · unannotated {} · {tokens} tokens", self.unannotated)
    }
}
