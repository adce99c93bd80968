//! One attempt, from its first record to its last.

use std::sync::{Arc, PoisonError};

use wildgym_sandbox::Workspace;
use wildgym_sandbox::web::Web;
use wildgym_sandbox::world::WorldError;
use wildgym_tasks::task::Limits;
use wildgym_toolbox::{Ask, Toolbox};

use super::build::{Built, Gym};
use super::event::Stop;
use crate::agent::{Agent, Broken, Ending, Episode, event_of};
use crate::record::{
    AttemptRecord, Body, FORMAT, FileRecord, Limit, Lost, Outcome, OutcomeRecord, Record,
    StateRecord, Times, TrialId,
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
    let answers = agent.answers();
    let ask = answers.clone().map(|answers| answers as Arc<dyn Ask>);
    if let Some(lacking) = gym.lacks(&attempt.trial.task, ask.as_deref()) {
        let outcome = Outcome::Skipped(lacking.reason().to_owned());
        return begun_not(&mut transcript, outcome, lacking.remedy().to_owned());
    }
    let browser = config.conditions.get(&attempt.trial.condition).and_then(|one| one.browser);
    let mode = gym.mode(&attempt.trial.task, browser);
    let user = agent.user();
    let person = user.clone().map(|user| user as Arc<dyn Ask>);
    let built = match gym.build(&attempt.trial, (config, store), mode, (ask, person)) {
        Ok(built) => built,
        Err(error) => {
            let outcome = Outcome::Lost(Lost::Sandbox);
            return begun_not(&mut transcript, outcome, error.to_string());
        }
    };
    // Before the clock runs: nobody's working time goes into the start of foreign programs.
    if let Err((lost, detail)) = start(&built, stop).await {
        return begun_not(&mut transcript, Outcome::Lost(lost), detail);
    }
    transcript.append(&Record::Attempt(first(attempt, &built)))?;
    let Built { request, toolbox, work } = built;
    let foreign = toolbox.foreign().cloned();
    let limits = limits(gym, config, &attempt.trial);
    let episode = Episode::new(request, toolbox, limits, work.work(), transcript);
    let mut episode = episode.answered_by(answers).asked_of(user);
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
    // What could not be recorded never happened, as far as a replay goes.
    let ended = match gym.network.failure() {
        Some(detail) => Some(Err(Broken { lost: Lost::Harness, detail })),
        None => ended,
    };
    let ending = match ended {
        Some(Ok(ending)) => ending,
        Some(Err(broken)) if !episode.cut => {
            Ending::without(Outcome::Lost(broken.lost), broken.detail)
        }
        // In a replay no time passes, so the limit is reached where it was reached.
        Some(Err(_)) | None => Ending::without(Outcome::Limit(Limit::Time), episode.doing.clone()),
    };
    // What they still write into the workspace is the attempt's, and nothing after that.
    if let Some(foreign) = foreign {
        foreign.end().await;
    }
    close(&mut episode, ending, took)
}

/// Starts the foreign servers of an attempt, where it has any.
async fn start(built: &Built, stop: &mut Stop) -> Result<(), (Lost, String)> {
    let Some(foreign) = built.toolbox.foreign() else { return Ok(()) };
    let failed = tokio::select! {
        started = foreign.start() => match started {
            Ok(()) => return Ok(()),
            Err(error) => (Lost::Sandbox, error.to_string()),
        },
        () = stop.asked() => (Lost::Interrupted, "the run was stopped".to_owned()),
    };
    foreign.end().await;
    Err(failed)
}

/// Closes the transcript of an attempt that never began.
pub(super) fn begun_not(
    transcript: &mut Transcript,
    outcome: Outcome,
    detail: String,
) -> Result<OutcomeRecord, StoreError> {
    let t = Times { at_ms: transcript.at_ms(), ..Times::default() };
    let end = OutcomeRecord { t, ..OutcomeRecord::unbegun(outcome, detail) };
    transcript.append(&Record::Outcome(end.clone()))?;
    Ok(end)
}

/// Completes when the time is up; never without a limit.
pub(super) async fn reach(
    work: &wildgym_sandbox::work::WorkClock,
    time: Option<std::time::Duration>,
) {
    match time {
        Some(time) => work.reach(time).await,
        None => std::future::pending().await,
    }
}

/// Returns the limits of a trial: the task's where it sets them, else the run's.
pub(super) fn limits(gym: &Gym, config: &RunConfig, trial: &TrialId) -> Limits {
    let own = gym.task(&trial.task).map(|task| task.meta.limits).unwrap_or_default();
    Limits {
        rounds: own.rounds.or(config.limits.rounds),
        tokens: own.tokens.or(config.limits.tokens),
        seconds: own.seconds.or(config.limits.seconds),
    }
}

/// Returns the first record.
pub(super) fn first(attempt: &Attempt, built: &Built) -> AttemptRecord {
    let sandbox = built.toolbox.sandbox();
    let since_epoch = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    AttemptRecord {
        format: FORMAT,
        trial: attempt.trial.clone(),
        attempt: attempt.attempt,
        seed: sandbox.seed.to_string(),
        now: sandbox.clock.now(),
        tools: built.toolbox.catalog().names(),
        t: Times {
            at_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
            ..Times::default()
        },
    }
}

/// Writes the last record.
pub(super) fn close(
    episode: &mut Episode,
    mut ending: Ending,
    took: std::time::Duration,
) -> Result<OutcomeRecord, StoreError> {
    let toolbox = episode.toolbox.clone();
    episode.keep_asked(None)?;
    let state = match state(&toolbox, episode.transcript())? {
        None => None,
        Some(Ok(state)) => Some(state),
        Some(Err(error)) => {
            if !ending.outcome.is_lost() {
                ending = Ending::without(Outcome::Lost(Lost::Sandbox), error.to_string());
            }
            None
        }
    };
    let (tool_usage, user_usage) = (episode.tool_usage, episode.user_usage);
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
        tool_usage,
        user_usage,
        web_misses: toolbox.sandbox().web.as_ref().map_or(0, Web::misses),
        clock: toolbox.sandbox().clock.now(),
        files,
        state,
        t: Times { at_ms: transcript.at_ms(), took_ms, model_ms, tools_ms, ..Times::default() },
    };
    transcript.append(&Record::Outcome(end.clone()))?;
    Ok(end)
}

/// Lets happen in the world what is still due, and keeps its states; none without a world.
fn state(
    toolbox: &Toolbox,
    transcript: &mut Transcript,
) -> Result<Option<Result<StateRecord, WorldError>>, StoreError> {
    let sandbox = toolbox.sandbox();
    let Some(world) = &sandbox.world else { return Ok(None) };
    let mut live = world.lock().unwrap_or_else(PoisonError::into_inner);
    let happened = live.happen(sandbox.clock.now());
    for event in live.take_happened() {
        transcript.append(&Record::Event(event_of(event, None)))?;
    }
    let end = match happened.and_then(|()| live.image()) {
        Ok(end) => end,
        Err(error) => return Ok(Some(Err(error))),
    };
    let blobs = transcript.blobs();
    Ok(Some(Ok(StateRecord { start: blobs.put(live.start())?, end: blobs.put(&end)? })))
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
