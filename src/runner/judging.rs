//! Judging stored attempts, beside the trials or long after them.
//!
//! A judge reads what is stored and nothing else, so it can fail, be killed or be another
//! one without any loss: an attempt stays as it ended, and is judged when somebody asks
//! again. No agent is called here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::Value;
use tokio::task::JoinSet;

use super::event::{Event, Stop};
use super::plan::Trials;
use crate::judge::conduct;
use crate::judge::llm::rubric::{self, Work};
use crate::judge::llm::{Account, Question};
use crate::judge::{Ballot, Examiner, Judge, Reached, Ruling, Stages};
use crate::record::{FORMAT, Outcome, OutcomeRecord, Record, Retry, Times, TrialId};
use crate::store::{
    Condition, Damaged, Index, LastVerdicts, RunConfig, Store, StoreError, TaskData, Trial,
    Verdicts,
};
use crate::verdict::{Conduct, Rubric, Verdict, VerdictRecord, Vote};

/// A stored attempt that a verdict is wanted on.
#[derive(Debug, Clone)]
pub struct Case {
    /// The trial.
    pub trial: TrialId,
    /// The attempt that counts.
    pub attempt: u32,
    /// How it ended.
    pub end: OutcomeRecord,
}

/// What a run still lacks.
#[derive(Debug)]
pub struct Left {
    /// The plan.
    pub plan: Trials,
    /// Trials without an attempt that counts, by their place in the plan, and the number of
    /// the next attempt.
    pub to_try: Vec<(usize, u32)>,
    /// Trials that were skipped, in the same form: they are tried once what their tasks need
    /// is there.
    pub skipped: Vec<(usize, u32)>,
    /// Attempts that count, without a verdict that counts.
    pub to_judge: Vec<Case>,
    /// Lines of verdicts that cannot be read, which are no verdicts.
    pub bad_lines: Vec<Damaged>,
    /// Transcripts that cannot be read, which are neither tried nor judged.
    pub bad_transcripts: Vec<Damaged>,
}

impl Left {
    /// Finds what a run lacks; `judge` names whose verdicts count. A line that says `unjudged`
    /// is no verdict. A damaged transcript is an error: its trial must not be tried again.
    pub fn find(store: &Store, config: &RunConfig, judge: &str) -> Result<Self, StoreError> {
        Self::of(store, config, judge, (store.index()?, false))
    }

    /// Finds what there is to judge beside damaged transcripts; `again` wants also the
    /// verdicts that are there made anew.
    pub fn to_rejudge(
        store: &Store,
        config: &RunConfig,
        judge: &str,
        again: bool,
    ) -> Result<Self, StoreError> {
        Self::of(store, config, judge, (store.survey()?, again))
    }

    fn of(
        store: &Store,
        config: &RunConfig,
        judge: &str,
        (mut index, again): (Index, bool),
    ) -> Result<Self, StoreError> {
        let tasks = config.tasks(&store.blobs())?;
        let (mut judged, bad_lines) = store.last_verdicts(judge)?;
        judged.retain(|_, line| !again && line.verdict != Verdict::Unjudged);
        let plan = Trials::of(config, &tasks);
        let (to_try, skipped, to_judge) = (Vec::new(), Vec::new(), Vec::new());
        let bad_transcripts = std::mem::take(&mut index.damaged);
        let mut left = Self { plan, to_try, skipped, to_judge, bad_lines, bad_transcripts };
        if config.conditions.values().any(Condition::is_held) {
            left.every(&index, &tasks, &judged);
            return Ok(left);
        }
        for (place, trial) in left.plan.iter().enumerate() {
            let known = index.trials.remove(&trial).unwrap_or_default();
            let Some(stored) = known.counted() else {
                left.to_try.push((place, Trial::next(&known)));
                continue;
            };
            let attempt = stored.attempt;
            let Some(end) = &stored.end else { continue };
            if matches!(end.outcome, Outcome::Skipped(_)) {
                left.skipped.push((place, Trial::next(&known)));
            } else if !judged.contains_key(&(trial.clone(), attempt)) {
                left.to_judge.push(Case { trial, attempt, end: end.clone() });
            }
        }
        Ok(left)
    }

    /// Adds every episode that a server kept, whether a plan names it or not: whoever acts may
    /// begin them with any seed, and again with one.
    fn every(&mut self, index: &Index, tasks: &BTreeMap<String, TaskData>, judged: &LastVerdicts) {
        for (trial, known) in &index.trials {
            for stored in known.attempts.iter().filter(|_| tasks.contains_key(&trial.task)) {
                let (Some(end), attempt) = (&stored.end, stored.attempt) else { continue };
                let unjudged = end.outcome.is_lost() || matches!(end.outcome, Outcome::Skipped(_));
                if !unjudged && !judged.contains_key(&(trial.clone(), attempt)) {
                    self.to_judge.push(Case { trial: trial.clone(), attempt, end: end.clone() });
                }
            }
        }
    }
}

/// A judge at work on one run.
pub(super) struct Judging {
    store: Store,
    tasks: BTreeMap<String, TaskData>,
    stages: BTreeMap<String, Stages>,
    examiners: BTreeMap<String, Examiner>,
    judge: Judge,
    /// The tools of the run in `OpenAI` form, for a judge that rates.
    schemas: Vec<Value>,
    verdicts: Verdicts,
    events: Arc<dyn Fn(Event) + Send + Sync>,
}

/// What was decided on a case.
struct Decided {
    ruling: Ruling,
    conduct: Option<Conduct>,
    rubric: Option<Rubric>,
}

impl From<Ruling> for Decided {
    fn from(ruling: Ruling) -> Self {
        Self { ruling, conduct: None, rubric: None }
    }
}

/// What became of the cases of a session.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Cases without a verdict.
    pub(super) open: usize,
    /// Why the first of them has none.
    pub(super) why: Option<String>,
    /// What could not be stored.
    pub(super) failed: Option<StoreError>,
}

/// Cases that are being judged. Dropping it stops them.
pub(super) type Cases = JoinSet<Result<Option<String>, StoreError>>;

impl Judged {
    /// Takes note of a case that is done; returns whether it could be stored.
    pub(super) fn add(
        &mut self,
        done: Result<Result<Option<String>, StoreError>, tokio::task::JoinError>,
    ) -> bool {
        match done {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(why))) => self.leave(why),
            Ok(Err(error)) => {
                self.failed.get_or_insert(error);
            }
            Err(panic) => self.leave(format!("the judge failed: {panic}")),
        }
        self.failed.is_none()
    }

    fn leave(&mut self, why: String) {
        self.open += 1;
        self.why.get_or_insert(why);
    }
}

impl Judging {
    /// Opens the verdicts of the judge named `name`.
    pub(super) fn open(
        store: &Store,
        config: &RunConfig,
        judge: Judge,
        name: &str,
        events: Arc<dyn Fn(Event) + Send + Sync>,
    ) -> Result<Self, StoreError> {
        let tasks = config.tasks(&store.blobs())?;
        let stages = Stages::of_run(config, &tasks)?;
        let examiners = Examiner::of_run(&tasks, &store.blobs())?;
        let verdicts = store.verdicts(name)?;
        let schemas = if judge.rates() { schemas(store, config)? } else { Vec::new() };
        let store = store.clone();
        Ok(Self { store, tasks, stages, examiners, judge, schemas, verdicts, events })
    }

    /// Has a case judged beside whatever else goes on.
    pub(super) fn begin(self: &Arc<Self>, cases: &mut Cases, case: Case, stop: Stop) {
        let judging = Arc::clone(self);
        cases.spawn(async move { judging.judge(&case, stop).await });
    }

    /// Judges a case and keeps the verdict; returns why there is none.
    async fn judge(&self, case: &Case, stop: Stop) -> Result<Option<String>, StoreError> {
        if matches!(case.end.outcome, Outcome::Skipped(_)) {
            return Ok(None);
        }
        Ok(self.verdict(&self.store, case, stop).await?.err())
    }

    /// Judges a case that is kept in `store`, keeps the verdict in the run and returns its
    /// line, or why there is none.
    async fn verdict(
        &self,
        store: &Store,
        case: &Case,
        mut stop: Stop,
    ) -> Result<Result<VerdictRecord, String>, StoreError> {
        let trial = &case.trial;
        let Some(task) = self.tasks.get(&trial.task) else {
            return Ok(Err(format!("the run knows no task `{}`", trial.task)));
        };
        // What cannot be read must cost nothing else, and no question to a model.
        let (answer, reached) = match self.read(store, case) {
            Ok(read) => read,
            Err(error) if error.is_damage() => {
                let why = error.to_string();
                let (trial, verdict) = (trial.clone(), Verdict::Unjudged);
                (self.events)(Event::Judged { trial, verdict, detail: Some(why.clone()) });
                return Ok(Err(why));
            }
            Err(error) => return Err(error),
        };
        // What needs no model is decided at once, also when the run is stopped.
        let Decided { ruling, conduct, rubric } = tokio::select! {
            biased;
            decided = self.rated((store, case), task, answer.as_deref().unwrap_or_default()) => {
                match decided {
                    Err(error) if error.is_damage() => {
                        Ruling::of((Verdict::Unjudged, vec![error.to_string()])).into()
                    }
                    decided => decided?,
                }
            }
            () = stop.asked() => return Ok(Err("the session was stopped".to_owned())),
        };
        let why = ruling.reasons.first().cloned().unwrap_or_default();
        let why = ruling.failure.clone().unwrap_or(why);
        let (verdict, asked) = (ruling.verdict, !ruling.votes.is_empty());
        let record = verdict_record(&self.store, case, reached, ruling)?;
        let record = VerdictRecord { conduct, rubric, ..record };
        // Where nobody was asked, there is nothing to keep.
        if verdict != Verdict::Unjudged || asked {
            self.verdicts.append(&record)?;
        }
        let open = (verdict == Verdict::Unjudged).then_some(why);
        (self.events)(Event::Judged { trial: trial.clone(), verdict, detail: open.clone() });
        Ok(open.map_or(Ok(record), Err))
    }

    /// Decides on a case, and has it rated where the judge rates. What nobody could decide on,
    /// is not rated, and what nobody could rate, is not judged: both are for another time.
    async fn rated(
        &self,
        (store, case): (&Store, &Case),
        task: &TaskData,
        answer: &str,
    ) -> Result<Decided, StoreError> {
        let Case { trial, attempt, end } = case;
        let decided = self.decide((store, case), task, answer).await?;
        if decided.ruling.verdict == Verdict::Unjudged || !self.judge.rates() {
            return Ok(decided);
        }
        if end.outcome != Outcome::Answered || answer.trim().is_empty() {
            return Ok(Decided { rubric: Some(Rubric::default()), ..decided });
        }
        let records = store.records(trial, *attempt)?;
        let offered = records.iter().find_map(|record| match record {
            Record::Attempt(attempt) => Some(attempt.tools.as_slice()),
            Record::Message(_)
            | Record::Model(_)
            | Record::Event(_)
            | Record::Call(_)
            | Record::Outcome(_) => None,
        });
        let request = task.questions.get(&trial.variant.to_string());
        let request = request.map(String::as_str).unwrap_or_default();
        let work = Work {
            request,
            wanted: if task.wanted.is_empty() { request } else { &task.wanted },
            dependencies: &task.dependencies,
            tools: &rubric::tools(offered.unwrap_or_default(), &self.schemas),
            rounds: end.rounds,
            calls: &rubric::shown(&records, &store.blobs())?,
            answer,
        };
        let Some(rated) = self.judge.rate(&work, (&trial.to_string(), *attempt)).await else {
            return Ok(decided);
        };
        let mut ruling = decided.ruling;
        ruling.votes.extend(rated.votes);
        if rated.rubric.is_none() {
            let nothing = rated.nothing.len();
            let why = format!("no scores: {nothing} votes on the rubric came to nothing");
            ruling.verdict = Verdict::Unjudged;
            ruling.reasons = [vec![why], rated.nothing].concat();
            ruling.failure = rated.failure;
        }
        Ok(Decided { ruling, conduct: decided.conduct, rubric: rated.rubric })
    }

    /// Decides on a case: by what was done where the task says what is expected, else by the
    /// state of its world and by the answer.
    async fn decide(
        &self,
        (store, case): (&Store, &Case),
        task: &TaskData,
        answer: &str,
    ) -> Result<Decided, StoreError> {
        let Case { trial, attempt, end } = case;
        let asked = task.questions.get(&trial.variant.to_string());
        let asked = asked.map(String::as_str).unwrap_or_default();
        let name = trial.to_string();
        if let Some(examiner) = self.examiners.get(&trial.task) {
            let examined = examiner.examine(store, trial, *attempt, end)?;
            let mut ruling = Ruling::of((examined.verdict, examined.reasons));
            if let (Verdict::Pass, Some(rubric)) = (ruling.verdict, examiner.rubric()) {
                let account = Account { request: asked, rubric, calls: &examined.shown, answer };
                let review = self.judge.review(&account, (&name, *attempt)).await;
                ruling = review.map_or(ruling.clone(), |review| Ruling {
                    reasons: [review.reasons, ruling.reasons].concat(),
                    ..review
                });
            }
            return Ok(Decided { conduct: Some(examined.conduct), ..ruling.into() });
        }
        if let Some(ruling) = conduct::state_alone(store, task, end)? {
            return Ok(ruling.into());
        }
        let question = Question {
            scenario: task.scenario,
            language: task.language,
            question: asked,
            reference: &task.answer,
            answer,
        };
        Ok(self.judge.judge(&end.outcome, &question, (&name, *attempt)).await.into())
    }

    /// Reads what a case needs of its attempt: the answer, and how far the agent came.
    fn read(&self, store: &Store, case: &Case) -> Result<(Option<String>, Reached), StoreError> {
        let Case { trial, attempt, end } = case;
        let answer = end.answer.as_ref().map(|body| store.blobs().text(body)).transpose()?;
        let reached = match self.stages.get(&trial.task) {
            Some(stages) => stages.read(store, trial, *attempt)?,
            None => Reached::default(),
        };
        Ok((answer, reached))
    }
}

/// Reads the schemas of the tools that the run offers.
fn schemas(store: &Store, config: &RunConfig) -> Result<Vec<Value>, StoreError> {
    let bytes = store.blobs().get(&config.tools.schemas)?;
    serde_json::from_slice(&bytes).map_err(|error| StoreError::Corrupt {
        path: Utf8PathBuf::from(format!("blobs/{}", config.tools.schemas)),
        line: error.line(),
        reason: error.to_string(),
    })
}

/// Returns the line that is kept of a ruling; long texts become blobs.
fn verdict_record(
    store: &Store,
    case: &Case,
    reached: Reached,
    ruling: Ruling,
) -> Result<VerdictRecord, StoreError> {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let retries: Vec<Retry> =
        ruling.votes.iter().flat_map(|ballot| ballot.retries.clone()).collect();
    let (took_ms, waited_ms) = (milliseconds(ruling.took()), milliseconds(ruling.waited()));
    let votes = ruling.votes.into_iter().map(|ballot| vote(store, ballot));
    Ok(VerdictRecord {
        format: FORMAT,
        trial: case.trial.clone(),
        attempt: case.attempt,
        verdict: ruling.verdict,
        reasons: ruling.reasons,
        milestones: reached.milestones,
        steps: reached.steps,
        discovered: reached.discovered,
        conduct: None,
        rubric: None,
        votes: votes.collect::<Result<_, _>>()?,
        t: Times { took_ms, waited_ms, retries, ..Times::default() },
    })
}

fn vote(store: &Store, ballot: Ballot) -> Result<Vote, StoreError> {
    let blobs = store.blobs();
    Ok(Vote {
        number: ballot.number,
        model: ballot.model,
        digest: ballot.digest,
        request: blobs.body(ballot.request)?,
        reply: ballot.reply.map(|reply| blobs.body(reply)).transpose()?,
        verdict: ballot.verdict,
        rates: ballot.rates,
        scores: ballot.scores,
        reason: ballot.reason,
        usage: ballot.usage,
    })
}

/// Judges attempts of a run one by one, as whoever holds their sessions asks for it.
pub struct Referee(Judging);

impl Referee {
    /// Opens the verdicts of the run's own judge.
    pub fn open(store: &Store, config: &RunConfig, judge: Judge) -> Result<Self, StoreError> {
        let events: Arc<dyn Fn(Event) + Send + Sync> = Arc::new(|_| {});
        Judging::open(store, config, judge, &config.judge.name, events).map(Self)
    }

    /// Judges an attempt that is kept in `store`, keeps the verdict in the run and returns its
    /// line, or why there is none: what a lost attempt is worth nobody can say.
    pub async fn judge(
        &self,
        store: &Store,
        case: &Case,
        stop: Stop,
    ) -> Result<Result<VerdictRecord, String>, StoreError> {
        match &case.end.outcome {
            Outcome::Lost(_) | Outcome::Skipped(_) => {
                Ok(Err(format!("an attempt that ended as `{}` has no verdict", case.end.outcome)))
            }
            Outcome::Answered | Outcome::NoAnswer | Outcome::Limit(_) => {
                self.0.verdict(store, case, stop).await
            }
        }
    }
}

impl std::fmt::Debug for Referee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Referee").finish_non_exhaustive()
    }
}

/// A run to be judged from the store alone.
pub struct Rejudge {
    /// Where the run is kept.
    pub store: Store,
    /// The run's configuration.
    pub config: RunConfig,
    /// Who judges.
    pub judge: Judge,
    /// The judge's name, which is where its verdicts go.
    pub name: String,
    /// What is to be judged.
    pub cases: Vec<Case>,
    /// Is told what happens.
    pub events: Arc<dyn Fn(Event) + Send + Sync>,
}

/// Judges stored attempts; no agent is called.
pub async fn rejudge(rejudge: Rejudge, stop: Stop) -> Result<super::Summary, StoreError> {
    let Rejudge { store, config, judge, name, cases, events } = rejudge;
    let judging = Arc::new(Judging::open(&store, &config, judge, &name, events)?);
    let mut running = Cases::new();
    for case in cases {
        judging.begin(&mut running, case, stop.clone());
    }
    let mut judged = Judged::default();
    while let Some(done) = running.join_next().await {
        if !judged.add(done) {
            break;
        }
    }
    if let Some(error) = judged.failed {
        return Err(error);
    }
    Ok(super::Summary {
        unjudged: judged.open,
        judge_failure: judged.why,
        interrupted: stop.is_asked(),
        ..super::Summary::default()
    })
}
