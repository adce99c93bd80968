//! Labelled pairs, put before a judge.
//!
//! The judge is taken as it is: unlike a run, a measurement asks it no first questions,
//! since a judge that gets them wrong is one to measure.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use clap::ValueEnum;
use futures::StreamExt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wildgym_tasks::judging::{self as known, Label, Pair, SHIPPED};

use super::{AgreementArgs, Failure, text_of};
use crate::cli::judging::{self, Decided, JudgeName};
use crate::cli::{say, start};
use crate::judge::llm::{Panel, Question};
use crate::judge::{Ruling, exact};
use crate::record::Outcome;
use crate::report::{AgreementView, ItemKind, LabelledItem};
use crate::store::JudgeConfig;

/// How often a line of progress is written at most, where there is no terminal.
const EVERY: Duration = Duration::from_secs(10);

/// Judges the pairs of a file, or those that come with the program.
pub(super) fn judge(
    args: &AgreementArgs,
    file: Option<&Utf8Path>,
) -> Result<AgreementView, Failure> {
    let (pairs, source) = read(file)?;
    let who = args.judge.as_deref().map(named).transpose()?;
    let config = args.models.config(who, None)?;
    let rulings = rule(&config, &pairs, args)?;
    let asked = rulings.iter().filter(|ruling| !ruling.votes.is_empty()).count();
    let judged = !config.models.is_empty();
    let without = rulings.iter().filter(|ruling| ruling.failure.is_none()).count() - asked;
    Ok(AgreementView {
        kind: ItemKind::Pair,
        judge: config.name,
        source,
        items: pairs.iter().zip(rulings).map(|(pair, ruling)| item(pair, ruling, judged)).collect(),
        unlabelled: 0,
        without_model: judged.then_some(without),
    })
}

/// Reads the judge that a flag names.
fn named(name: &str) -> Result<JudgeName, Failure> {
    let known = JudgeName::from_str(name, true).ok();
    // What rates looks at work, and a pair has none.
    known.filter(|who| *who != JudgeName::Rubric).ok_or_else(|| {
        Failure::usage(format!(
            "with `--pairs` the judge is `exact`, `llm` or `auto`, not `{name}`"
        ))
        .hint("name a judge model with `--judge-model NAME`")
    })
}

/// Reads pairs and says where they come from.
fn read(file: Option<&Utf8Path>) -> Result<(Vec<Pair>, String), Failure> {
    let hint = "`wildgym agreement --print-pairs` prints a file in the format";
    let Some(path) = file else {
        let pairs = known::read(SHIPPED).map_err(|error| Failure::usage(error.to_string()))?;
        return Ok((pairs, format!("pairs of wildgym {}", env!("CARGO_PKG_VERSION"))));
    };
    let pairs = known::read(&text_of(path)?)
        .map_err(|error| Failure::usage(format!("`{path}` cannot be used: {error}")).hint(hint))?;
    Ok((pairs, path.to_string()))
}

/// Returns what a judge says of each pair, in order.
fn rule(
    config: &JudgeConfig,
    pairs: &[Pair],
    args: &AgreementArgs,
) -> Result<Vec<Ruling>, Failure> {
    if config.models.is_empty() {
        let exactly = |pair: &Pair| {
            Ruling::of(exact::judge(&pair.reference, &Outcome::Answered, Some(&pair.answer)))
        };
        if args.every_pair {
            return Err(Failure::usage(
                "judge `exact` asks no model, so `--every-pair` has no use",
            )
            .hint("name a judge model with `--judge-model NAME`"));
        }
        return Ok(pairs.iter().map(exactly).collect());
    }
    for model in &config.models {
        start::check_endpoint(model, None).map_err(|failure| {
            failure.hint("start the judge's endpoint, or name another with `--judge-base-url`")
        })?;
    }
    let panel = judging::panel(config, None)?;
    if !args.shown.quiet {
        say(&format!(
            "judge {} · {} pairs",
            judging::label(config, false, Decided::Answer),
            pairs.len()
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let requests: usize = config.models.iter().map(|model| model.requests as usize).sum();
    let rulings = runtime.block_on(ask(&panel, pairs, requests.max(1), args));
    runtime.shutdown_background();
    Ok(rulings)
}

/// Asks a panel about all pairs, `requests` of them at once.
async fn ask(panel: &Panel, pairs: &[Pair], requests: usize, args: &AgreementArgs) -> Vec<Ruling> {
    let progress = Progress::new(pairs.len(), args.shown.quiet);
    let one = async |(index, pair): (usize, &Pair)| {
        let question = Question {
            scenario: pair.scenario,
            language: pair.language,
            question: &pair.question,
            reference: &pair.reference,
            answer: &pair.answer,
        };
        let scope = (pair.id.as_str(), 1);
        let ruling = if args.every_pair {
            panel.ask(&question, scope).await
        } else {
            panel.decide(&question, scope).await
        };
        progress.step();
        (index, ruling)
    };
    let asked = pairs.iter().enumerate().map(one);
    let mut rulings: Vec<(usize, Ruling)> =
        futures::stream::iter(asked).buffer_unordered(requests).collect().await;
    progress.finish();
    rulings.sort_by_key(|(index, _)| *index);
    rulings.into_iter().map(|(_, ruling)| ruling).collect()
}

/// Returns the group of an item by whether a model was asked about it.
pub(super) fn way(asked: bool) -> String {
    if asked { "asked of a model" } else { "decided without a model" }.to_owned()
}

/// Sets a ruling beside its pair; `by_model` says that a model judges what has to be asked.
fn item(pair: &Pair, ruling: Ruling, by_model: bool) -> LabelledItem {
    let asked = !ruling.votes.is_empty() || ruling.failure.is_some();
    let mut groups = vec![
        ("language", pair.language.name().to_owned()),
        ("difficulty", pair.difficulty.name().to_owned()),
        ("scenario", pair.scenario.to_string()),
    ];
    if by_model {
        groups.push(("way", way(asked)));
    }
    LabelledItem {
        id: pair.id.clone(),
        // Who understands one question may understand all answers to it.
        unit: pair.question.clone(),
        groups,
        label: pair.label == Label::Correct,
        verdict: Some(ruling.verdict),
        reason: ruling.reasons.into_iter().next().unwrap_or_default(),
        why: pair.why.clone(),
    }
}

/// Progress on standard error: a bar on a terminal, a line now and then elsewhere.
struct Progress {
    all: usize,
    bar: Option<ProgressBar>,
    quiet: bool,
    state: Mutex<(usize, Instant)>,
}

impl Progress {
    fn new(all: usize, quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} pairs · {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { all, bar, quiet, state: Mutex::new((0, Instant::now())) }
    }

    fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.0 += 1;
        if !self.quiet && state.1.elapsed() >= EVERY {
            state.1 = Instant::now();
            say(&format!("{}/{} pairs", state.0, self.all));
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
