//! What `run` and `resume` share: the run itself, from the first trial to the table.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use url::Url;
use wildgym_tasks::scenario_file::{Replayed, solution};

use super::agent::WRONG;
use super::program::{self, PROGRAM};
use super::progress::Progress;
use super::{Code, Failure, cassette, environment, network, report, say};
use crate::agent::program::Spec;
use crate::agent::{
    Accompanied, Agent, Answers, Asking, Guess, Program, Random, React, Reference, Refuse, Silent,
};
use crate::judge::Judge;
use crate::model::{Cassette, Endpoint, Model, Secret, Settings};
use crate::record::TrialId;
use crate::runner::{self, Batch, Gym, Stop, Stopper, Summary};
use crate::store::{Condition, Lock, ModelConfig, RunConfig, Store};

/// What a run shows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Shown {
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,

    /// Print no progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// A run that is ready to start or to go on.
pub(super) struct Job {
    /// The suite with its sandboxes.
    pub(super) gym: Arc<Gym>,
    /// Where it is kept.
    pub(super) store: Store,
    /// Its configuration.
    pub(super) config: RunConfig,
    /// Its judge.
    pub(super) judge: Judge,
    /// The writer's lock.
    pub(super) lock: Lock,
    /// Attempts at once.
    pub(super) concurrency: usize,
    /// Keeps or serves the exchanges with models.
    pub(super) cassette: Option<Arc<Cassette>>,
}

/// Says what to do where a model cannot be asked, before anything is made: settings,
/// and whether anybody listens at an endpoint on this machine.
pub(super) fn check_model(
    condition: &Condition,
    cassette: Option<&Arc<Cassette>>,
) -> Result<(), Failure> {
    condition.model.as_ref().map_or(Ok(()), |config| check_endpoint(config, cassette))?;
    let speech = condition.speech_model.as_ref();
    speech.map_or(Ok(()), |config| check_endpoint(config, cassette)).map_err(|failure| {
        failure.hint(
            "start the endpoint of the speech model, or name another with `--speech-base-url`",
        )
    })?;
    let user = condition.user_model.as_ref();
    user.map_or(Ok(()), |config| check_endpoint(config, cassette)).map_err(|failure| {
        failure
            .hint("start the endpoint of the user's model, or name another with `--user-base-url`")
    })?;
    let tools = condition.tool_model.as_ref();
    tools.map_or(Ok(()), |config| check_endpoint(config, cassette)).map_err(|failure| {
        failure
            .hint("start the endpoint of the tools' model, or name another with `--tool-base-url`")
    })
}

/// The same for one model. A replayed one has no endpoint to check.
pub(super) fn check_endpoint(
    config: &ModelConfig,
    cassette: Option<&Arc<Cassette>>,
) -> Result<(), Failure> {
    client(config, cassette)?;
    if cassette::replays(cassette) {
        return Ok(());
    }
    let url = Url::parse(&config.base_url).ok().filter(|_| is_local(&config.base_url));
    let Some(addresses) = url.and_then(|url| url.socket_addrs(|| None).ok()) else {
        return Ok(());
    };
    if addresses.iter().any(|address| TcpStream::connect_timeout(address, PATIENCE).is_ok()) {
        return Ok(());
    }
    Err(Failure::usage(format!("nobody listens at `{}`", config.base_url))
        .hint("start the endpoint, or name another with `--base-url`"))
}

/// How long an endpoint on this machine may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns whether an endpoint is on this machine, where it needs no key.
fn is_local(base_url: &str) -> bool {
    ["//127.", "//localhost", "//[::1]"].iter().any(|host| base_url.contains(host))
}

/// Makes the client of a model. A replayed one needs no key and gets none.
pub(super) fn client(
    config: &ModelConfig,
    cassette: Option<&Arc<Cassette>>,
) -> Result<Model, Failure> {
    let replays = cassette::replays(cassette);
    let key = environment::get(&config.key_env).filter(|_| !replays);
    if key.is_none() && !is_local(&config.base_url) && !replays {
        return Err(Failure::usage(format!(
            "`{}` is not set, and `{}` is not a local endpoint",
            config.key_env, config.base_url
        ))
        .hint(
            "set it, name another variable with `--api-key-env`, or an endpoint with `--base-url`",
        ));
    }
    let key = key.map(|key| Secret::new(&config.key_env, &key));
    let settings = Settings {
        temperature: Some(config.temperature),
        max_tokens: config.max_tokens,
        extra: config.extra.clone(),
        request_timeout: Duration::from_secs(config.request_seconds),
        ..Settings::default()
    };
    Endpoint::new(&config.base_url, &config.name, key, config.requests as usize)
        .and_then(|endpoint| Model::new(endpoint, settings))
        .map(|model| match cassette {
            Some(cassette) => model.with_cassette(Arc::clone(cassette)),
            None => model,
        })
        .map_err(|error| Failure::usage(error.to_string()))
}

/// Runs what is left of a run, then prints its table.
pub(super) fn go(job: Job, shown: &Shown) -> Result<Code, Failure> {
    let root = job.store.root().to_owned();
    let store = job.store.clone();
    let cassette = job.cassette.clone();
    if let Some(cassette) = &cassette {
        cassette.claim(&job.config.created.to_string());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let (host, gym, suite) =
        (Arc::clone(&job.gym.host), Arc::clone(&job.gym), job.config.suite.source.clone());
    let summary = runtime.block_on(async {
        let summary = work(job, shown).await;
        if let Some(code) = &host.code {
            // What still runs was stopped, and needs the runtime to see it.
            drop(tokio::time::timeout(Duration::from_secs(5), code.idle()).await);
        }
        summary
    });
    runtime.shutdown_background();
    let summary = summary?;
    let code = report::apart(&store, shown.json)?;
    if code == Code::Interrupted {
        say(&format!("\nstopped; print the table by `wildgym report {root}`"));
        return Ok(code);
    }
    cassette::report(cassette.as_ref());
    if !shown.quiet {
        network::conclude(&suite, &gym.network);
    }
    if summary.gave_up {
        say(&format!(
            "\nstopped: the endpoint failed too many attempts in a row; mend it, then go on with \
             `wildgym resume {root}` (`--base-url` moves it)"
        ));
    }
    if !summary.interrupted {
        say_unjudged(&summary, root.as_str(), None, cassette.as_ref());
    }
    if summary.interrupted {
        say(&format!("\nstopped; go on with `wildgym resume {root}`"));
        return Ok(Code::Interrupted);
    }
    Ok(code)
}

/// Says what the judge left open, and what to do about it.
///
/// `other` is the judge's name where it is not the run's own: only the command that named
/// it asks it again.
pub(super) fn say_unjudged(
    summary: &Summary,
    root: &str,
    other: Option<&str>,
    cassette: Option<&Arc<Cassette>>,
) {
    if summary.unjudged == 0 {
        return;
    }
    let why = summary.judge_failure.as_deref().unwrap_or("no reason is known");
    let (count, noun) = match summary.unjudged {
        1 => (1, "answer"),
        count => (count, "answers"),
    };
    let lasting = match cassette {
        Some(cassette) if !cassette.is_replayed() => " with the same `--record-models`",
        Some(_) | None => "",
    };
    let again = match other {
        None => format!("`wildgym rejudge {root}`{lasting}"),
        Some(judge) => format!("the same `wildgym rejudge` command, with judge `{judge}`,"),
    };
    say(&format!(
        "\n{count} {noun} could not be judged: {why}\nnothing else is lost; {again} judges what \
         is left"
    ));
}

async fn work(job: Job, shown: &Shown) -> Result<Summary, Failure> {
    let Job { gym, store, config, judge, lock, concurrency, cassette } = job;
    let progress = Arc::new(Progress::new(shown.quiet));
    progress.label(&store, &config);
    if !shown.quiet {
        network::announce(&config.web, &gym.network);
    }
    let agents = agents(&gym, &store, &config, cassette.as_ref())?;
    let batch = Batch {
        gym,
        store,
        config: Arc::new(config),
        agents,
        judge,
        concurrency,
        events: {
            let progress = Arc::clone(&progress);
            Arc::new(move |event| progress.see(event))
        },
    };
    let summary = runner::run(batch, listen(cassette)).await?;
    progress.finish();
    drop(lock);
    Ok(summary)
}

/// Returns what is asked to stop when the user or the system wants the program to end.
pub(super) fn listen(cassette: Option<Arc<Cassette>>) -> Stop {
    let (stopper, stop) = Stopper::new();
    tokio::spawn(async move {
        asked_to_end().await;
        say("stopping: closing what runs; once more to quit at once");
        if let Some(cassette) = &cassette {
            cassette.stop();
        }
        stopper.stop();
        asked_to_end().await;
        quit();
    });
    stop
}

/// Completes when the user presses Ctrl-C or the system asks the program to end.
pub(super) async fn asked_to_end() {
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => {
            if pressed.is_err() {
                std::future::pending::<()>().await;
            }
        }
        _ = terminated.recv() => {}
    }
}

/// Leaves at once: what is finished is stored, the rest counts as killed.
#[expect(clippy::exit, reason = "the user asked twice")]
fn quit() {
    std::process::exit(3);
}

/// What agents of one condition are made of.
struct Made {
    condition: Condition,
    /// The model that acts, and the one that answers tools.
    model: Option<(Model, Model)>,
    /// The one that writes down what is said.
    speech: Option<Model>,
    /// The one that plays the person who gave the task.
    user: Option<Model>,
    /// The program that acts, where one does.
    program: Option<Arc<Spec>>,
}

impl Made {
    /// Returns what answers the tools that ask a model.
    fn asking(&self, tools: &Model, trial: &TrialId, attempt: u32) -> Asking {
        let text_only = self.condition.text_only;
        Asking::new(Some(tools.clone()), trial.to_string(), attempt, text_only)
            .hearing(self.condition.hears)
            .transcribed_by(self.speech.clone())
    }
}

/// Returns the agent, and beside it the model that plays the user, where one does.
fn accompanied(
    agent: Arc<dyn Agent>,
    user: Option<&Model>,
    (trial, attempt): (&TrialId, u32),
) -> Arc<dyn Agent> {
    let Some(model) = user else { return agent };
    let asking = Asking::new(Some(model.clone()), trial.to_string(), attempt, true);
    Arc::new(Accompanied::new(agent, Arc::new(asking) as Arc<dyn Answers>))
}

/// Returns the agent that replays a wrong solution of a task; a silent one where it has none
/// of that name.
fn wrong(gym: &Gym, task: &str, name: &str) -> Arc<dyn Agent> {
    let Ok(task) = gym.task(task) else { return Arc::new(Silent) };
    let file = task.scenario_file.as_deref();
    let named = file.and_then(|file| file.wrong.iter().find(|wrong| wrong.name == name));
    let replayed =
        named.map(|wrong| Replayed { rounds: wrong.rounds.clone(), answer: wrong.answer.clone() });
    match replayed.and_then(|replayed| solution(&replayed).ok()) {
        Some(solution) => Arc::new(Reference::new(solution, task.folder.clone())),
        None => Arc::new(Silent),
    }
}

/// Returns what makes the agent of a trial.
fn agents(
    gym: &Arc<Gym>,
    store: &Store,
    config: &RunConfig,
    cassette: Option<&Arc<Cassette>>,
) -> Result<Box<runner::MakeAgent>, Failure> {
    let mut made = BTreeMap::new();
    for (name, condition) in &config.conditions {
        let open = |config: &ModelConfig| client(config, cassette);
        let model = condition.model.as_ref().map(open).transpose()?;
        let tools = condition.tool_model.as_ref().map(open).transpose()?.or_else(|| model.clone());
        let speech = condition.speech_model.as_ref().map(open).transpose()?;
        let user = condition.user_model.as_ref().map(open).transpose()?;
        let program = condition.program.as_ref();
        let program = program.map(|program| program::spec(program, gym, store)).transpose()?;
        let condition = condition.clone();
        let model = model.zip(tools);
        made.insert(name.clone(), Made { condition, model, speech, user, program });
    }
    let gym = Arc::clone(gym);
    Ok(Box::new(move |trial: &TrialId, attempt: u32| -> Arc<dyn Agent> {
        let Some(made) = made.get(&trial.condition) else { return Arc::new(Silent) };
        accompanied(alone(&gym, made, trial, attempt), made.user.as_ref(), (trial, attempt))
    }))
}

/// Returns the agent of an attempt by itself.
fn alone(gym: &Gym, made: &Made, trial: &TrialId, attempt: u32) -> Arc<dyn Agent> {
    match (made.condition.agent.as_str(), &made.model) {
        ("react", Some((model, tools))) => {
            let browser = gym.mode(&trial.task, made.condition.browser);
            // An attempt at a task that the suite does not have is lost before it asks.
            let offer = gym.offer_under(&trial.condition, &trial.task, browser);
            let offered = offer.map(|offer| offer.offered).unwrap_or_default();
            let model = model.scoped(&trial.to_string(), attempt, "agent");
            let react = React::new(model, offered).blind(made.condition.text_only);
            Arc::new(react.answered_by(Arc::new(made.asking(tools, trial, attempt))))
        }
        (PROGRAM, model) => {
            let Some(spec) = &made.program else { return Arc::new(Silent) };
            let asking = model.as_ref().map(|(_, tools)| made.asking(tools, trial, attempt));
            let own =
                model.as_ref().map(|(own, _)| own.scoped(&trial.to_string(), attempt, "agent"));
            Arc::new(Program::new(Arc::clone(spec), own).answered_by(asking.map(Arc::new)))
        }
        ("refuse", _) => Arc::new(Refuse),
        ("random", _) => Arc::new(Random),
        ("guess", _) => Arc::new(Guess),
        ("reference", _) => match gym.task(&trial.task) {
            Ok(task) => {
                let folder = task.folder.join("reference");
                Arc::new(Reference::new(task.solution.clone(), folder))
            }
            Err(_) => Arc::new(Silent),
        },
        (other, _) => match other.strip_prefix(WRONG) {
            Some(name) => wrong(gym, &trial.task, name),
            None => Arc::new(Silent),
        },
    }
}
