//! The sessions that are open, and what is done in them. It knows nothing of HTTP.
//!
//! What is asked for is either refused at once or done to its end, whether anybody still
//! waits for the reply or not: a step is never torn by a lost connection. Work is bounded
//! three times: sessions that may be open, requests that are worked on at once, and requests
//! that may wait for that.

mod judged;
mod line;
mod work;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Semaphore;
use wildgym_tasks::Variant;
use wildgym_toolbox::catalog::Entry;

use self::line::Line;
use super::Problem;
use super::seat::Seat;
use super::types::{
    Action, BatchAsked, BatchItem, BatchReply, Closed, Create, Observation, Opened, Reply, Reset,
    Status, TaskInfo, TaskList, ToolList,
};
use crate::agent::Answers;
use crate::record::TrialId;
use crate::runner::{Attempt, Gym, Offer, Referee, Stop, Stopper};
use crate::store::{RunConfig, Store};

/// Most sessions that are opened at once.
const MOST_OPENED: u32 = 256;

/// Most requests of a batch.
const MOST_BATCHED: usize = 1024;

/// Largest seed: the store finds trials up to this number.
const LARGEST_SEED: u32 = 1_000_000;

/// Closed sessions that are remembered, so that who asks for one is told.
const REMEMBERED: usize = 16_384;

/// How long a stopping server waits for what is being worked on.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes who answers the questions of an attempt's tools; none where nobody does.
pub type MakeAnswers = dyn Fn(&Attempt) -> Option<Arc<dyn Answers>> + Send + Sync;

/// How much is done at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Sessions that may be open.
    pub sessions: usize,
    /// Requests that are worked on at once.
    pub at_once: usize,
    /// Requests that may wait for that.
    pub queue: usize,
    /// A session that nobody used for this long is closed.
    pub idle: Duration,
    /// A step that takes longer is told later: the client asks again.
    pub patience: Duration,
    /// Whether an episode's records go with it, its verdict excepted.
    pub forget: bool,
}

/// The sessions of a server.
pub struct Desk {
    gym: Arc<Gym>,
    store: Store,
    config: Arc<RunConfig>,
    referee: Referee,
    answers: Arc<MakeAnswers>,
    bounds: Bounds,
    /// Name of the one condition.
    condition: String,
    seats: Mutex<HashMap<String, Arc<Seat>>>,
    gone: Mutex<Gone>,
    counts: Mutex<Counts>,
    line: Line,
    /// What computes for milliseconds: as many at once as there are cores.
    heavy: Arc<Semaphore>,
    stopping: AtomicBool,
    /// How many places were made for episodes that do not stay.
    places: AtomicU64,
    /// Asked once what was worked on when the server stopped had its time.
    stop: (Stopper, Stop),
}

/// Sessions that are no more.
#[derive(Default)]
struct Gone {
    why: HashMap<String, &'static str>,
    order: VecDeque<String>,
}

/// How often what was begun.
#[derive(Default)]
struct Counts {
    /// Attempts, by a digest of task, variant and seed.
    attempts: HashMap<u128, u32>,
    /// The last seed that was given out, by task.
    seeds: HashMap<String, u32>,
}

impl Desk {
    /// Opens a desk over a run whose configuration has one condition.
    #[must_use]
    pub fn new(
        (gym, store, config): (Arc<Gym>, Store, Arc<RunConfig>),
        referee: Referee,
        answers: Arc<MakeAnswers>,
        bounds: Bounds,
    ) -> Self {
        let condition = config.conditions.keys().next().cloned().unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            gym,
            store,
            config,
            referee,
            answers,
            bounds,
            condition,
            seats: Mutex::default(),
            gone: Mutex::default(),
            counts: Mutex::default(),
            line: Line::new(bounds.at_once, bounds.queue),
            heavy: Arc::new(Semaphore::new(cores)),
            stopping: AtomicBool::new(false),
            places: AtomicU64::new(0),
            stop: Stopper::new(),
        }
    }

    /// Opens sessions, and begins an episode in each where one is named.
    pub fn create(&self, asked: &Create) -> Result<Opened, Problem> {
        self.refuse_stopping()?;
        let count = asked.count;
        if !(1..=MOST_OPENED).contains(&count) {
            return Err(Problem::invalid(format!("`count` is {count}, and may be 1 to 256")));
        }
        if let Some(episode) = &asked.episode {
            self.refuse_unserved(&episode.task)?;
        }
        let seats: Vec<Arc<Seat>> = (0..count).map(|_| Arc::new(Seat::new(fresh_id()))).collect();
        // What is refused takes no seed and no number of an attempt: who asks again later meets
        // what it would have met at once.
        let mut open = lock(&self.seats);
        if open.len() + seats.len() > self.bounds.sessions {
            return Err(Problem::too_many(self.bounds.sessions));
        }
        open.extend(seats.iter().map(|seat| (seat.id.clone(), Arc::clone(seat))));
        drop(open);
        if let Some(episode) = &asked.episode
            && let Err(problem) = self.begin_all(&seats, episode)
        {
            let mut open = lock(&self.seats);
            for seat in &seats {
                open.remove(&seat.id);
            }
            return Err(problem);
        }
        let shown = |seat: &Arc<Seat>| seat.look().shown.as_ref().clone();
        Ok(Opened { sessions: seats.iter().map(shown).collect() })
    }

    /// Begins an episode in each of some sessions, all of one seed.
    fn begin_all(&self, seats: &[Arc<Seat>], episode: &Reset) -> Result<(), Problem> {
        let seed = self.seed(episode)?;
        for seat in seats {
            let mut held = seat.occupy()?;
            self.begin(&mut held, episode, seed)?;
        }
        Ok(())
    }

    /// Returns how a session stands; what it is worth only `for_trainer`.
    pub fn observe(&self, id: &str, for_trainer: bool) -> Result<Observation, Problem> {
        let seat = self.seat(id)?;
        seat.touch();
        let inner = seat.look();
        let mut shown = inner.shown.as_ref().clone();
        let evaluation = inner.evaluation.as_ref().filter(|_| for_trainer);
        shown.evaluation = evaluation.map(|evaluation| evaluation.as_ref().clone());
        Ok(shown)
    }

    /// Does several things side by side.
    pub async fn batch(self: &Arc<Self>, asked: BatchAsked) -> Result<BatchReply, Problem> {
        let count = asked.requests.len();
        if count > MOST_BATCHED {
            let problem = format!("`requests` has {count} entries, and may have {MOST_BATCHED}");
            return Err(Problem::invalid(problem));
        }
        let replies = asked.requests.into_iter().map(|item| self.reply(item));
        Ok(BatchReply { replies: join_all(replies).await })
    }

    async fn reply(self: &Arc<Self>, item: BatchItem) -> Reply {
        let BatchItem { session: id, action } = item;
        let mut reply =
            Reply { status: 200, observation: None, evaluation: None, closed: None, error: None };
        let done = match action {
            Action::Reset(asked) => {
                self.reset(&id, asked).await.map(|seen| reply.observation = Some(seen))
            }
            Action::Observe => self.observe(&id, true).map(|seen| reply.observation = Some(seen)),
            Action::Step(asked) => {
                let stepped = self.step(&id, asked).await;
                stepped.map(|seen| reply.observation = Some(seen.as_ref().clone()))
            }
            Action::Evaluate => {
                let judged = self.evaluate(&id).await;
                judged.map(|judged| reply.evaluation = Some(judged.as_ref().clone()))
            }
            Action::Close => self.close(&id).await.map(|closed| reply.closed = Some(closed)),
        };
        if let Err(problem) = done {
            reply.status = problem.status;
            reply.error = Some(problem.refusal());
        }
        reply
    }

    /// Returns the tasks that are served.
    pub fn tasks(&self) -> Result<TaskList, Problem> {
        let info = |id: &String| -> Result<TaskInfo, Problem> {
            let task = self.gym.task(id).map_err(|_| Problem::no_task(id))?;
            let meta = &task.meta;
            Ok(TaskInfo {
                id: id.clone(),
                title: meta.title.clone(),
                scenario: meta.scenario,
                domain: meta.domain.clone(),
                language: meta.language,
                factors: meta.factors.iter().copied().collect(),
                tools: self.offer(id)?.schemas.len(),
                lacking: self.gym.lacks(id, None).map(|lacking| lacking.reason().to_owned()),
            })
        };
        let tasks = self.config.plan.tasks.iter().map(info).collect::<Result<_, _>>()?;
        let (suite, digest) = (&self.config.suite.name, &self.config.suite.digest);
        Ok(TaskList { suite: suite.clone(), digest: digest.clone(), tasks })
    }

    /// Returns the tools that a task offers.
    pub fn tools(&self, task: &str) -> Result<ToolList, Problem> {
        self.refuse_unserved(task)?;
        Ok(ToolList { tools: self.offer(task)?.schemas.as_ref().clone() })
    }

    fn offer(&self, task: &str) -> Result<&Offer, Problem> {
        let browser = self.config.conditions.get(&self.condition).and_then(|one| one.browser);
        let offer = self.gym.offer(task, self.gym.mode(task, browser));
        offer.map_err(|_| Problem::no_task(task))
    }

    /// Returns the tools of a task as name, arguments and what each is for, in one line each.
    pub(super) fn signatures(&self, task: &str) -> Result<Vec<(String, String, String)>, Problem> {
        let line = |entry: &Entry| {
            let summary = entry.tool.description().lines().next().unwrap_or_default();
            (entry.tool.name().to_owned(), entry.signature(), summary.to_owned())
        };
        Ok(self.offer(task)?.catalog.iter().map(line).collect())
    }

    /// Returns the id of the task at a place in the list, from 0, and how many there are.
    pub(super) fn task_at(&self, place: usize) -> (Option<&str>, usize) {
        let tasks = &self.config.plan.tasks;
        (tasks.get(place).map(String::as_str), tasks.len())
    }

    /// Returns how the server is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        let (working, waiting) = self.line.figures();
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run: self.store.root().to_string(),
            sessions: lock(&self.seats).len(),
            most_sessions: self.bounds.sessions,
            working,
            waiting,
        }
    }

    /// Closes sessions that nobody used for long, from time to time, for ever.
    pub async fn sweep(self: Arc<Self>) {
        let (shortest, longest) = (Duration::from_millis(50), Duration::from_secs(30));
        let pause = (self.bounds.idle / 4).clamp(shortest, longest);
        loop {
            tokio::time::sleep(pause).await;
            let all: Vec<Arc<Seat>> = lock(&self.seats).values().cloned().collect();
            for seat in all.iter().filter(|seat| seat.is_idle(self.bounds.idle)) {
                // Who came just now keeps it.
                if let Ok(held) = seat.occupy() {
                    self.dismiss(held, "was closed: nobody used it for too long").await;
                }
            }
        }
    }

    /// Takes in nothing more, and closes all sessions: what is open counts as interrupted.
    /// What is being worked on has some seconds, all of it together; then its calls are stopped.
    pub async fn finish(self: &Arc<Self>) {
        self.stopping.store(true, Ordering::Release);
        let all: Vec<Arc<Seat>> = lock(&self.seats).values().cloned().collect();
        free(&all, PATIENCE).await;
        self.stop.0.stop();
        free(&all, PATIENCE).await;
        for seat in all {
            if let Ok(held) = seat.occupy() {
                self.dismiss(held, "was closed: the server stopped").await;
            }
        }
    }

    /// Closes a session.
    pub async fn close(self: &Arc<Self>, id: &str) -> Result<Closed, Problem> {
        let held = self.seat(id)?.occupy()?;
        self.dismiss(held, "was closed").await;
        Ok(Closed { session: id.to_owned(), closed: true })
    }

    fn refuse_stopping(&self) -> Result<(), Problem> {
        if self.stopping.load(Ordering::Acquire) { Err(Problem::stopping()) } else { Ok(()) }
    }

    fn refuse_unserved(&self, task: &str) -> Result<(), Problem> {
        let served = self.config.plan.tasks.iter().any(|id| id == task);
        if served { Ok(()) } else { Err(Problem::no_task(task)) }
    }

    /// Returns a session, or says what became of it.
    fn seat(&self, id: &str) -> Result<Arc<Seat>, Problem> {
        self.refuse_stopping()?;
        if let Some(seat) = lock(&self.seats).get(id) {
            return Ok(Arc::clone(seat));
        }
        match lock(&self.gone).why.get(id) {
            Some(why) => Err(Problem::gone(id, why)),
            None => Err(Problem::no_session(id)),
        }
    }

    /// Takes a session out, and remembers why.
    fn forget(&self, id: &str, why: &'static str) {
        lock(&self.seats).remove(id);
        let mut gone = lock(&self.gone);
        gone.why.insert(id.to_owned(), why);
        gone.order.push_back(id.to_owned());
        if gone.order.len() > REMEMBERED
            && let Some(oldest) = gone.order.pop_front()
        {
            gone.why.remove(&oldest);
        }
    }

    /// Returns the seed of an episode: the one that is asked for, else the task's next.
    fn seed(&self, asked: &Reset) -> Result<u32, Problem> {
        self.refuse_unserved(&asked.task)?;
        let range = || Problem::invalid(format!("`seed` may be 1 to {LARGEST_SEED}"));
        match asked.seed {
            Some(seed) if (1..=LARGEST_SEED).contains(&seed) => Ok(seed),
            Some(_) => Err(range()),
            None => {
                let mut counts = lock(&self.counts);
                let last = counts.seeds.entry(asked.task.clone()).or_insert(0);
                if *last >= LARGEST_SEED {
                    return Err(range());
                }
                *last += 1;
                Ok(*last)
            }
        }
    }

    /// Returns the number of the next attempt at a trial.
    fn next_attempt(&self, trial: &TrialId) -> u32 {
        let digest = blake3::hash(trial.to_string().as_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&digest.as_bytes()[..16]);
        let mut counts = lock(&self.counts);
        let last = counts.attempts.entry(u128::from_le_bytes(key)).or_insert(0);
        *last = last.saturating_add(1);
        *last
    }

    /// Returns the trial of an episode.
    fn trial(&self, asked: &Reset, seed: u32) -> Result<TrialId, Problem> {
        let task = self.gym.task(&asked.task).map_err(|_| Problem::no_task(&asked.task))?;
        let own = |factor: &wildgym_tasks::Factor| task.meta.factors.contains(factor);
        let variant = Variant::ideal(asked.idealise.iter().copied().filter(own));
        let (condition, task) = (self.condition.clone(), asked.task.clone());
        Ok(TrialId { condition, task, variant, k: seed })
    }
}

/// Waits until nobody works in any of these sessions, for so long at most.
async fn free(seats: &[Arc<Seat>], time: Duration) {
    let free = async {
        while seats.iter().any(|seat| seat.is_occupied()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // What is still worked on then is left to those who work.
    let _freed = tokio::time::timeout(time, free).await;
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

/// Returns an id that nobody can guess: 128 random bits as 32 hexadecimal digits.
fn fresh_id() -> String {
    let bytes: [u8; 16] = rand::random();
    data_encoding::HEXLOWER.encode(&bytes)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
