//! A pool of worker processes.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::contain::MEMORY;
use super::process::{self, Cause, Failure, Process};
use super::serve::REQUEST;
use super::{Answer, Containment, Job, WorkerError};
use crate::documents::{Document, Part, Workbook};
use crate::media::{Aim, Picture, Turn};
use crate::starter::Starter;

/// Jobs after which a process is replaced, so that what parsers leak stays small.
const JOBS: u32 = 64;

/// Time on jobs after which a process is replaced; well within its processor time.
const BUSY: Duration = Duration::from_secs(30);

/// Room that a request needs beside the file, in bytes.
const HEAD: u64 = 1 << 20;

/// Limits of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time that the job may take once it has a process; a large file gets more.
    pub wall: Duration,
    /// Bytes that a worker may answer.
    pub answer: u64,
}

impl Default for Limits {
    /// 10 s and 32 MiB. Memory is 512 MiB and not to be changed.
    fn default() -> Self {
        Self { wall: Duration::from_secs(10), answer: 32 << 20 }
    }
}

/// A pool of worker processes.
///
/// It belongs to the runtime in which it is first used. A call that is dropped kills
/// its process.
#[derive(Debug)]
pub struct Workers {
    program: PathBuf,
    limits: Limits,
    slots: Semaphore,
    idle: Mutex<Vec<Process>>,
    starter: Starter,
}

impl Workers {
    /// Prepares a pool of at most `count` processes of `program worker`; they start on demand.
    #[must_use]
    pub fn new(program: PathBuf, count: usize) -> Self {
        Self::with_limits(program, count, Limits::default())
    }

    /// Prepares a pool whose jobs have these limits.
    #[must_use]
    pub fn with_limits(program: PathBuf, count: usize, limits: Limits) -> Self {
        Self {
            program,
            limits,
            slots: Semaphore::new(count.max(1)),
            idle: Mutex::default(),
            starter: Starter::default(),
        }
    }

    /// Extracts the text of a document.
    pub async fn document(
        &self,
        name: &str,
        media_type: Option<&str>,
        bytes: Vec<u8>,
    ) -> Result<Document, WorkerError> {
        self.document_from(name, media_type, 1, bytes).await
    }

    /// Extracts the text of a document; of one that has pages (PDF), from page `page` on,
    /// counted from 1. Others ignore it.
    pub async fn document_from(
        &self,
        name: &str,
        media_type: Option<&str>,
        page: usize,
        bytes: Vec<u8>,
    ) -> Result<Document, WorkerError> {
        let media_type = media_type.map(str::to_owned);
        let job = Job::Document { name: name.to_owned(), media_type, page };
        match self.run(name, job, bytes).await? {
            Answer::Document(document) => Ok(document),
            answer @ (Answer::Workbook(_)
            | Answer::Member(_)
            | Answer::Picture(_)
            | Answer::Probe(_)
            | Answer::Unreadable(_)) => Err(unreadable(name, answer)),
        }
    }

    /// Reads the sheets of a workbook, or the part that is asked for.
    pub async fn workbook(
        &self,
        name: &str,
        bytes: Vec<u8>,
        part: Part,
    ) -> Result<Workbook, WorkerError> {
        match self.run(name, Job::Workbook { name: name.to_owned(), part }, bytes).await? {
            Answer::Workbook(workbook) => Ok(workbook),
            answer @ (Answer::Document(_)
            | Answer::Member(_)
            | Answer::Picture(_)
            | Answer::Probe(_)
            | Answer::Unreadable(_)) => Err(unreadable(name, answer)),
        }
    }

    /// Unpacks one member of an archive, of at most 22 MiB; `path` may lead through
    /// archives in archives, with `!/` between them.
    pub async fn member(
        &self,
        name: &str,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, WorkerError> {
        let job = Job::Member { name: name.to_owned(), path: path.to_owned() };
        match self.run(name, job, bytes).await? {
            Answer::Member(text) => data_encoding::BASE64
                .decode(text.as_bytes())
                .map_err(|_| ended(&format!("cannot read `{name}`: the worker spoke nonsense"))),
            answer @ (Answer::Document(_)
            | Answer::Workbook(_)
            | Answer::Picture(_)
            | Answer::Probe(_)
            | Answer::Unreadable(_)) => Err(unreadable(name, answer)),
        }
    }

    /// Makes of a picture one that can be shown.
    pub async fn picture(
        &self,
        name: &str,
        bytes: Vec<u8>,
        aim: Aim,
        turn: Turn,
    ) -> Result<Picture, WorkerError> {
        match self.run(name, Job::Picture { aim, turn }, bytes).await? {
            Answer::Picture(picture) => Ok(picture),
            answer @ (Answer::Document(_)
            | Answer::Workbook(_)
            | Answer::Member(_)
            | Answer::Probe(_)
            | Answer::Unreadable(_)) => Err(unreadable(name, answer)),
        }
    }

    /// Lets a worker try what it must not be able to do.
    pub async fn containment(&self) -> Result<Containment, WorkerError> {
        match self.run("probe", Job::Probe, Vec::new()).await? {
            Answer::Probe(containment) => Ok(containment),
            answer @ (Answer::Document(_)
            | Answer::Workbook(_)
            | Answer::Member(_)
            | Answer::Picture(_)
            | Answer::Unreadable(_)) => Err(unreadable("probe", answer)),
        }
    }

    /// Does a job in a process that is free or new. A process that fails is not used again.
    async fn run(&self, name: &str, job: Job, bytes: Vec<u8>) -> Result<Answer, WorkerError> {
        let most = REQUEST - HEAD;
        if bytes.len() as u64 > most {
            let text = format!("cannot read `{name}`: it has more than {} MiB", most >> 20);
            return Err(WorkerError::Unreadable(text));
        }
        let _slot = self.slots.acquire().await.map_err(|_| ended("the pool is closed"))?;
        let mut process = match self.take() {
            Some(process) => process,
            None => self.start().await?,
        };
        let begin = Instant::now();
        let wall = self.limits.wall + more_time(bytes.len());
        let work = process.run(job, &bytes, self.limits.answer);
        let result = tokio::time::timeout(wall, work).await;
        process.jobs += 1;
        process.busy += begin.elapsed();
        match result {
            Ok(Ok(answer)) => {
                if process.jobs < JOBS && process.busy < BUSY {
                    self.idle().push(process);
                }
                Ok(answer)
            }
            Ok(Err(failure)) => Err(self.explain(name, &failure)),
            Err(_) => {
                Err(ended(&format!("reading `{name}` was stopped after {} s", wall.as_secs_f64())))
            }
        }
    }

    /// Takes a process that still lives from the idle ones.
    fn take(&self) -> Option<Process> {
        let mut idle = self.idle();
        while let Some(mut process) = idle.pop() {
            if process.is_alive() {
                return Some(process);
            }
        }
        None
    }

    async fn start(&self) -> Result<Process, WorkerError> {
        let failed = |error| ended(&format!("no worker process could be started: {error}"));
        let child = self.starter.start(process::command(&self.program)).await.map_err(failed)?;
        Process::of(child).map_err(failed)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn explain(&self, name: &str, failure: &Failure) -> WorkerError {
        let why = match failure {
            Failure::TooMuch => {
                format!("its content is larger than {} MiB", self.limits.answer >> 20)
            }
            Failure::Ended(Cause::Memory) => {
                format!("it needs more than {} MiB of memory", MEMORY >> 20)
            }
            Failure::Ended(Cause::Stack) => "it is nested too deeply".to_owned(),
            Failure::Ended(Cause::Processor) => "it needs too much processor time".to_owned(),
            Failure::Ended(Cause::Crash) => "its parser crashed; it may be damaged".to_owned(),
        };
        ended(&format!("cannot read `{name}`: {why}"))
    }
}

/// Returns what a file of so many bytes gets beyond the time of any job: nothing up to
/// 4 MiB, then a second for each. A million rows of a sheet are some 40 MiB, and reading them
/// takes 5 to 13 s; what small files can say is read in far less than 10 s.
fn more_time(bytes: usize) -> Duration {
    let beyond = bytes.saturating_sub(4 << 20) >> 20;
    Duration::from_secs(u64::try_from(beyond).unwrap_or(u64::MAX).min(60))
}

fn ended(text: &str) -> WorkerError {
    WorkerError::Ended(text.to_owned())
}

/// Words the answer that is none.
fn unreadable(name: &str, answer: Answer) -> WorkerError {
    match answer {
        Answer::Unreadable(reason) => {
            WorkerError::Unreadable(format!("cannot read `{name}`: {reason}"))
        }
        Answer::Document(_)
        | Answer::Workbook(_)
        | Answer::Member(_)
        | Answer::Picture(_)
        | Answer::Probe(_) => {
            ended(&format!("cannot read `{name}`: the worker answered another question"))
        }
    }
}
