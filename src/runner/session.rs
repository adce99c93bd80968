//! An attempt that is held open from outside: by a trainer, or by a foreign agent.
//!
//! It has the same sandbox, door, clock, limits and records as an attempt of a run; only who
//! acts, and when, is decided elsewhere. Nothing is made until the first round, so sessions
//! that wait cost next to nothing. It judges nothing: what it leaves is a stored attempt.
//!
//! The one invariant: the transcript of a session that began is closed once, and after that
//! nothing is called in its sandbox, which is gone.

use std::sync::Arc;
use std::time::Duration;

use wildgym_sandbox::work::{Resting, WorkClock};
use wildgym_tasks::environment::BrowserMode;
use wildgym_tasks::task::Limits;
use wildgym_toolbox::foreign::ServerError;
use wildgym_toolbox::{Ask, Call, Reply, Toolbox};

use super::build::{BuildError, Built, Gym, Offer};
use super::execute::{self, Attempt};
use super::judging::Case;
use super::needs::Lacking;
use crate::agent::{Answers, Ending, Episode, Request, announced};
use crate::record::{Limit, Lost, MessageRecord, Outcome, OutcomeRecord, Record};
use crate::store::{RunConfig, Store, StoreError};

/// Whether the time between rounds is working time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It is, as in a run: the agent thinks.
    Counted,
    /// It is not: whoever holds the session has others to attend to.
    Free,
}

/// What a session is opened for.
#[derive(Clone)]
pub struct Opening {
    /// The trial and which attempt at it; its transcript must not exist.
    pub attempt: Attempt,
    /// Who answers the questions of tools; none where nobody does.
    pub answers: Option<Arc<dyn Answers>>,
    /// What the time between rounds counts as.
    pub pace: Pace,
    /// What the agent is told before the request, for the transcript.
    pub prompt: Option<&'static str>,
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpeningError {
    /// There is no such task or variant.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The task needs something that is not here.
    #[error("task `{task}` cannot be tried here: {}", lacking.reason())]
    Lacking {
        /// The task.
        task: String,
        /// What is missing.
        lacking: Lacking,
    },
}

/// An attempt that is held open.
pub struct Session {
    gym: Arc<Gym>,
    store: Store,
    config: Arc<RunConfig>,
    opening: Opening,
    mode: BrowserMode,
    request: Request,
    limits: Limits,
    state: State,
}

enum State {
    /// Nothing was asked of it yet.
    Waiting,
    /// It has a sandbox and a transcript.
    Open(Box<Open>),
    /// Its transcript is closed.
    Over(Box<OutcomeRecord>),
}

struct Open {
    episode: Episode,
    work: Arc<WorkClock>,
    resting: Option<Resting>,
}

/// What came of a round.
#[derive(Debug)]
pub struct Round {
    /// The results, in the order asked; none where the round was cut short.
    pub replies: Vec<Reply>,
    /// How the session ended, where it is over now.
    pub over: Option<OutcomeRecord>,
}

impl Session {
    /// Opens a session; nothing is made yet.
    pub fn open(
        gym: Arc<Gym>,
        store: Store,
        config: Arc<RunConfig>,
        opening: Opening,
    ) -> Result<Self, OpeningError> {
        let trial = &opening.attempt.trial;
        let task = gym.task(&trial.task)?;
        let asked = opening.answers.clone().map(|answers| answers as Arc<dyn Ask>);
        if let Some(lacking) = gym.lacks(&trial.task, asked.as_deref()) {
            return Err(OpeningError::Lacking { task: trial.task.clone(), lacking });
        }
        let given = task.given(&trial.variant).map_err(|error| BuildError::Variant {
            task: trial.task.clone(),
            variant: trial.variant.clone(),
            reason: error.to_string(),
        })?;
        let request = Request {
            instruction: given.instruction,
            attachments: given.files.keys().map(ToString::to_string).collect(),
            pictures: given.pictures.iter().map(ToString::to_string).collect(),
            language: task.meta.language,
        };
        let browser = config.conditions.get(&trial.condition).and_then(|one| one.browser);
        let mode = gym.mode(&trial.task, browser);
        gym.offer(&trial.task, mode)?;
        let limits = execute::limits(&gym, &config, trial);
        Ok(Self { gym, store, config, opening, mode, request, limits, state: State::Waiting })
    }

    /// Returns what is held.
    #[must_use]
    pub fn attempt(&self) -> &Attempt {
        &self.opening.attempt
    }

    /// Returns where it is kept.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns what is asked.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the request with its attachments announced, as a model is told of it.
    #[must_use]
    pub fn announced(&self) -> String {
        let Request { instruction, attachments, pictures, .. } = &self.request;
        announced(instruction, attachments, pictures, false)
    }

    /// Returns the tools that are offered.
    pub fn offer(&self) -> Result<&Offer, BuildError> {
        self.gym.offer(&self.opening.attempt.trial.task, self.mode)
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the rounds and the calls so far, those of executed code included.
    #[must_use]
    pub fn taken(&self) -> (u32, u32) {
        match &self.state {
            State::Waiting => (0, 0),
            State::Open(open) => (open.episode.rounds, open.episode.calls),
            State::Over(end) => (end.rounds, end.calls),
        }
    }

    /// Returns the toolbox; none before the session began, and once it is over.
    #[must_use]
    pub fn toolbox(&self) -> Option<&Arc<Toolbox>> {
        match &self.state {
            State::Open(open) => Some(&open.episode.toolbox),
            State::Waiting | State::Over(_) => None,
        }
    }

    /// Returns how it ended; none while it goes on.
    #[must_use]
    pub fn over(&self) -> Option<&OutcomeRecord> {
        match &self.state {
            State::Over(end) => Some(end),
            State::Waiting | State::Open(_) => None,
        }
    }

    /// Returns what there is to judge; none while it goes on.
    #[must_use]
    pub fn case(&self) -> Option<Case> {
        let Attempt { trial, attempt } = self.opening.attempt.clone();
        self.over().map(|end| Case { trial, attempt, end: end.clone() })
    }

    /// Makes the sandbox and begins the transcript, where that is still to be done. It works
    /// for some milliseconds without waiting.
    pub fn begin(&mut self) -> Result<(), StoreError> {
        if !matches!(self.state, State::Waiting) {
            return Ok(());
        }
        let Opening { attempt, answers, pace, prompt } = self.opening.clone();
        let mut transcript = self.store.transcript(&attempt.trial, attempt.attempt)?;
        let ask = answers.clone().map(|answers| answers as Arc<dyn Ask>);
        let pinned = (&*self.config, &self.store);
        let built = match self.gym.build(&attempt.trial, pinned, self.mode, (ask, None)) {
            Ok(built) => built,
            Err(error) => {
                let outcome = Outcome::Lost(Lost::Sandbox);
                let end = execute::begun_not(&mut transcript, outcome, error.to_string())?;
                self.state = State::Over(Box::new(end));
                return Ok(());
            }
        };
        transcript.append(&Record::Attempt(execute::first(&attempt, &built)))?;
        let Built { request, toolbox, work } = built;
        let episode = Episode::new(request, toolbox, self.limits, work.work(), transcript);
        let mut episode = episode.answered_by(answers);
        let task = self.announced();
        let said = [("system", "prompt", prompt), ("user", "task", Some(task.as_str()))];
        for (role, why, text) in said {
            let Some(text) = text else { continue };
            let content = episode.transcript().body(text.to_owned())?;
            let (role, why) = (role.to_owned(), why.to_owned());
            let record = MessageRecord { role, content, why, pictures: Vec::new() };
            episode.transcript().append(&Record::Message(record))?;
        }
        let resting = (pace == Pace::Free).then(|| work.rest());
        self.state = State::Open(Box::new(Open { episode, work, resting }));
        Ok(())
    }

    /// Makes the calls of a round and notes them. A limit that is reached ends the session,
    /// and so does what breaks its sandbox; once it is over, nothing is called.
    ///
    /// Dropping the future stops the calls without a note of them, as a limit of time does.
    pub async fn round(&mut self, calls: Vec<Call>) -> Result<Round, StoreError> {
        self.begin()?;
        let State::Open(open) = &mut self.state else { return Ok(self.finished(Vec::new())) };
        open.resting = None;
        if let Some(ending) = open.exhausted() {
            return self.cut(ending);
        }
        if let Err(error) = open.start_servers().await {
            return self.cut(Ending::without(Outcome::Lost(Lost::Sandbox), error.to_string()));
        }
        open.episode.rounds += 1;
        let time = open.episode.limits.seconds.map(Duration::from_secs);
        let ended = tokio::select! {
            biased;
            replies = open.episode.call(calls) => Some(replies),
            () = execute::reach(&open.work, time) => None,
        };
        let replies = match ended {
            Some(Ok(replies)) => replies,
            Some(Err(broken)) if !open.episode.cut => {
                return self.cut(Ending::without(Outcome::Lost(broken.lost), broken.detail));
            }
            Some(Err(_)) | None => {
                let detail = open.episode.doing.clone();
                return self.cut(Ending::without(Outcome::Limit(Limit::Time), detail));
            }
        };
        if let Some(ending) = open.exhausted() {
            self.end(ending)?;
        } else if self.opening.pace == Pace::Free {
            open.resting = Some(open.work.rest());
        }
        Ok(self.finished(replies))
    }

    /// Takes note of a round without calls and of what the agent is told then.
    pub fn remind(&mut self, text: &str) -> Result<Round, StoreError> {
        self.begin()?;
        let State::Open(open) = &mut self.state else { return Ok(self.finished(Vec::new())) };
        if open.exhausted().is_none() {
            open.episode.rounds += 1;
            let content = open.episode.transcript().body(text.to_owned())?;
            let (role, why) = ("user".to_owned(), "reminder".to_owned());
            let record = MessageRecord { role, content, why, pictures: Vec::new() };
            open.episode.transcript().append(&Record::Message(record))?;
        }
        if let Some(ending) = open.exhausted() {
            self.end(ending)?;
        }
        Ok(self.finished(Vec::new()))
    }

    /// Returns whether it has a sandbox now.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Returns whether nothing was asked of it yet.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting)
    }

    /// Ends the session with the agent's final answer, see [`Session::last`].
    pub fn answer(&mut self, text: String) -> Result<OutcomeRecord, StoreError> {
        self.last(Ending::answered(text))
    }

    /// Ends the session by what the agent did last. That is a round too: where none is left,
    /// or no time, it comes too late.
    pub fn last(&mut self, ending: Ending) -> Result<OutcomeRecord, StoreError> {
        self.begin()?;
        if let State::Open(open) = &mut self.state {
            open.resting = None;
            let late = open.exhausted();
            if late.is_none() {
                open.episode.rounds += 1;
            }
            let ending = late.unwrap_or(ending);
            self.end(ending)?;
        }
        Ok(self.ended())
    }

    /// Ends the session as `ending` says; one that never began gets a transcript too. A
    /// session that is over stays as it ended.
    pub fn close(&mut self, ending: Ending) -> Result<OutcomeRecord, StoreError> {
        self.begin()?;
        self.end(ending)?;
        Ok(self.ended())
    }

    /// Lets go of a session whose transcript can no longer be written: it is lost.
    pub fn abandon(&mut self) {
        if !matches!(self.state, State::Over(_)) {
            self.state = State::Over(Box::new(unclosed()));
        }
    }

    fn cut(&mut self, ending: Ending) -> Result<Round, StoreError> {
        self.end(ending)?;
        Ok(self.finished(Vec::new()))
    }

    fn finished(&self, replies: Vec<Reply>) -> Round {
        Round { replies, over: self.over().cloned() }
    }

    fn ended(&self) -> OutcomeRecord {
        self.over().cloned().unwrap_or_else(unclosed)
    }

    /// Closes the transcript and lets the sandbox go.
    fn end(&mut self, mut ending: Ending) -> Result<(), StoreError> {
        if matches!(self.state, State::Over(_)) {
            return Ok(());
        }
        let state = std::mem::replace(&mut self.state, State::Over(Box::new(unclosed())));
        let State::Open(mut open) = state else { return Ok(()) };
        open.resting = None;
        open.end_servers();
        let took = open.work.elapsed();
        // What could not be recorded never happened, as far as a replay goes.
        if let Some(detail) = self.gym.network.failure() {
            ending = Ending::without(Outcome::Lost(Lost::Harness), detail);
        }
        let end = execute::close(&mut open.episode, ending, took)?;
        self.state = State::Over(Box::new(end));
        Ok(())
    }
}

impl Open {
    /// Starts the foreign servers that are not started yet, where the task has any. Nobody's
    /// working time goes into that.
    async fn start_servers(&self) -> Result<(), ServerError> {
        let Some(foreign) = self.episode.toolbox.foreign() else { return Ok(()) };
        let _resting = self.work.rest();
        foreign.start().await
    }

    /// Has the foreign servers ended, without waiting for it.
    fn end_servers(&self) {
        let foreign = self.episode.toolbox.foreign().cloned();
        if let (Some(foreign), Ok(runtime)) = (foreign, tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { foreign.end().await });
        }
    }

    /// Says which limit is reached; none where another round may begin.
    fn exhausted(&self) -> Option<Ending> {
        let Episode { limits, rounds, usage, .. } = &self.episode;
        let spent = usage.total();
        if limits.tokens.is_some_and(|limit| spent >= limit) {
            let detail = format!("{spent} tokens used");
            return Some(Ending::without(Outcome::Limit(Limit::Tokens), detail));
        }
        if limits.rounds.is_some_and(|limit| *rounds >= limit) {
            return Some(Ending::without(Outcome::Limit(Limit::Rounds), "no round left"));
        }
        let time = limits.seconds.map(Duration::from_secs);
        let late = time.is_some_and(|time| self.work.elapsed() >= time);
        late.then(|| Ending::without(Outcome::Limit(Limit::Time), self.episode.doing.clone()))
    }
}

/// Stands for the end of a session whose transcript could not be closed.
fn unclosed() -> OutcomeRecord {
    let detail = "the transcript could not be closed".to_owned();
    OutcomeRecord::unbegun(Outcome::Lost(Lost::Harness), detail)
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("attempt", self.attempt()).finish_non_exhaustive()
    }
}
