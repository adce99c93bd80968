//! One attempt, from its first record to its last.

use wildgym_sandbox::Workspace;
use wildgym_tasks::task::Limits;

use super::build::{Built, Gym};
use super::event::Stop;
use super::faults;
use crate::agent::{Agent, Broken, Ending, Episode};
use crate::record::{
    AttemptRecord, Body, FORMAT, FileRecord, Limit, Lost, Outcome, OutcomeRecord, Record, Times,
    TrialId,
};
use crate::store::{RunConfig, Store, StoreError, Transcript};

/// Files of the final workspace above this size are listed but not kept.
const LARGEST_FILE: u64 = 16 << 20;

/// Bytes of the final workspace that are kept, in the order of paths.
const MOST_BYTES: u64 = 64 << 20;

/// What is run.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The trial.
    pub trial: TrialId,
    /// Which attempt at it, from 1.
    pub attempt: u32,
}

/// Runs an attempt and closes its transcript. An error means that not even that could
/// be done.
pub async fn execute(
    gym: &Gym,
    store: &Store,
    config: &RunConfig,
    agent: &dyn Agent,
    attempt: &Attempt,
    stop: &mut Stop,
) -> Result<OutcomeRecord, StoreError> {
    let mut transcript = store.transcript(&attempt.trial, attempt.attempt)?;
    let built = gym
        .task(&attempt.trial.task)
        .and_then(|task| faults::injectors(task, store, config, &attempt.trial))
        .and_then(|faults| gym.build(&attempt.trial, config.plan.seed, &config.bounds, faults));
    let built = match built {
        Ok(built) => built,
        Err(error) => {
            let end = OutcomeRecord {
                outcome: Outcome::Lost(Lost::Sandbox),
                answer: None,
                detail: Some(error.to_string()),
                rounds: 0,
                calls: 0,
                usage: crate::record::Usage::default(),
                clock: jiff::Timestamp::UNIX_EPOCH,
                files: Vec::new(),
                t: Times { at_ms: transcript.at_ms(), ..Times::default() },
            };
            transcript.append(&Record::Outcome(end.clone()))?;
            return Ok(end);
        }
    };
    transcript.append(&Record::Attempt(first(gym, attempt, &built)))?;
    let Built { request, toolbox, work } = built;
    let limits = limits(gym, config, &attempt.trial);
    let mut episode = Episode::new(request, toolbox, limits, work.work(), transcript);
    let time = limits.seconds.map(std::time::Duration::from_secs);
    let ended = tokio::select! {
        biased;
        ended = agent.run(&mut episode) => Some(ended),
        () = reach(&work, time) => None,
        () = stop.asked() => Some(Err(Broken {
            lost: Lost::Interrupted,
            detail: "the run was stopped".to_owned(),
        })),
    };
    let took = work.elapsed();
    let ending = match ended {
        Some(Ok(ending)) => ending,
        Some(Err(broken)) => Ending::without(Outcome::Lost(broken.lost), broken.detail),
        None => Ending::without(Outcome::Limit(Limit::Time), episode.doing.clone()),
    };
    close(&mut episode, ending, took)
}

/// Completes when the time is up; never without a limit.
async fn reach(work: &wildgym_sandbox::work::WorkClock, time: Option<std::time::Duration>) {
    match time {
        Some(time) => work.reach(time).await,
        None => std::future::pending().await,
    }
}

/// Returns the limits of a trial: the task's where it sets them, else the run's.
fn limits(gym: &Gym, config: &RunConfig, trial: &TrialId) -> Limits {
    let own = gym.task(&trial.task).map(|task| task.meta.limits).unwrap_or_default();
    Limits {
        rounds: own.rounds.or(config.limits.rounds),
        tokens: own.tokens.or(config.limits.tokens),
        seconds: own.seconds.or(config.limits.seconds),
    }
}

fn first(gym: &Gym, attempt: &Attempt, built: &Built) -> AttemptRecord {
    let sandbox = built.toolbox.sandbox();
    let since_epoch = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    AttemptRecord {
        format: FORMAT,
        trial: attempt.trial.clone(),
        attempt: attempt.attempt,
        seed: sandbox.seed.to_string(),
        now: sandbox.clock.now(),
        tools: gym.catalog.iter().map(|entry| entry.tool.name().to_owned()).collect(),
        t: Times {
            at_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
            ..Times::default()
        },
    }
}

/// Writes the last record.
fn close(
    episode: &mut Episode,
    ending: Ending,
    took: std::time::Duration,
) -> Result<OutcomeRecord, StoreError> {
    let toolbox = episode.toolbox.clone();
    let (rounds, calls, usage) = (episode.rounds, episode.calls, episode.usage);
    let spent = episode.spent(took);
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let (took_ms, model_ms, tools_ms) = (ms(took), ms(spent.model), ms(spent.tools));
    let transcript = episode.transcript();
    let files = files(&toolbox.sandbox().workspace, transcript)?;
    let answer: Option<Body> = ending.answer.map(|answer| transcript.body(answer)).transpose()?;
    let end = OutcomeRecord {
        outcome: ending.outcome,
        answer,
        detail: ending.detail,
        rounds,
        calls,
        usage,
        clock: toolbox.sandbox().clock.now(),
        files,
        t: Times { at_ms: transcript.at_ms(), took_ms, model_ms, tools_ms, ..Times::default() },
    };
    transcript.append(&Record::Outcome(end.clone()))?;
    Ok(end)
}

/// Keeps the files of the workspace. One that cannot be read is listed without a blob.
fn files(workspace: &Workspace, transcript: &Transcript) -> Result<Vec<FileRecord>, StoreError> {
    let mut kept = 0;
    let mut files = Vec::new();
    for entry in workspace.list().unwrap_or_default() {
        let fits = entry.bytes <= LARGEST_FILE && kept + entry.bytes <= MOST_BYTES;
        let bytes = if fits { workspace.read(&entry.path, LARGEST_FILE).ok() } else { None };
        let blob = bytes.map(|bytes| transcript.blobs().put(&bytes)).transpose()?;
        if blob.is_some() {
            kept += entry.bytes;
        }
        files.push(FileRecord { path: entry.path.to_string(), bytes: entry.bytes, blob });
    }
    Ok(files)
}
