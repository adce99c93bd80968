//! `wildgym tasks check --run`: every solution of every scenario, tried and judged, and that of
//! every task whose tools are servers of the suite's worlds.
//!
//! A reference must pass and a wrong solution must fail for the reason that it names. What
//! is made lies in a directory of its own and is gone afterwards. No program is started that
//! somebody else wrote: tasks with such servers are not tried.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::Utf8Path;
use wildgym_tasks::scenario_file::{Flaw, Replayed, ScenarioFile, solution};
use wildgym_tasks::solution::Solution;
use wildgym_tasks::{Suite, Task, Variant};

use super::super::run::rehearsal;
use super::super::{Code, Failure, data, say};
use super::counted;
use crate::agent::Reference;
use crate::judge::llm::rubric::shown;
use crate::judge::{Examiner, judge};
use crate::record::{OutcomeRecord, TrialId};
use crate::runner::{Attempt, Gym, Stopper, execute};
use crate::store::{RunConfig, Store, StoreError};
use crate::verdict::Verdict;

/// Tries all solutions of a suite; `only` limits them to some tasks.
pub(super) fn rehearse(named: &str) -> Result<Code, Failure> {
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::usage(format!("no directory can be made: {error}")))?;
    let root = Utf8Path::from_path(folder.path())
        .ok_or_else(|| Failure::usage("the directory for temporary files is not UTF-8"))?;
    let (gym, store, config) = rehearsal(named, root)?;
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let examiners = Examiner::of_run(&config.tasks(&store.blobs())?, &store.blobs())?;
    let (mut tried, mut wrong) = (0, 0);
    for (id, task) in &gym.suite.tasks {
        for part in parts(task, &gym.suite) {
            let examiner = examiners.get(id);
            let stage = Stage { gym: &gym, store: &store, config: &config, examiner };
            let found = runtime.block_on(stage.play(id, task, &part))?;
            let problem = part.problem(&found);
            tried += 1;
            let Part { name, .. } = &part;
            let said = found.reasons.first().map_or("", String::as_str);
            match problem {
                None => data(&format!("{id} {name}: {}: {said}", found.verdict.name())),
                Some(problem) => {
                    wrong += 1;
                    data(&format!("{id} {name}: PROBLEM: {problem}"));
                    for reason in found.reasons.iter().chain(&part.failures(&found)) {
                        data(&format!("    {reason}"));
                    }
                }
            }
        }
    }
    if tried == 0 {
        return Err(Failure::usage(format!("suite `{named}` has nothing that is tried here"))
            .hint("other tasks are tried by `wildgym run SUITE --agent reference`"));
    }
    say(&format!("{} tried, {}", counted(tried, "solution"), counted(wrong, "problem")));
    Ok(if wrong == 0 { Code::Done } else { Code::Incomplete })
}

/// A solution of a scenario.
struct Part<'a> {
    name: String,
    solution: Solution,
    /// The file's word on a wrong one; none for the reference.
    wrong: Option<&'a wildgym_tasks::scenario_file::WrongSolution>,
}

/// Returns the solutions that are tried of a task.
fn parts<'a>(task: &'a Task, suite: &Suite) -> Vec<Part<'a>> {
    let Some(file) = &task.scenario_file else {
        let servers = &task.meta.environment.servers;
        let own = |name: &String| {
            suite.meta.servers.get(name).is_some_and(|server| server.world.is_some())
        };
        let tried = !servers.is_empty() && servers.iter().all(own);
        let (name, solution) = ("reference".to_owned(), task.solution.clone());
        return if tried { vec![Part { name, solution, wrong: None }] } else { Vec::new() };
    };
    of_scenario(task, file)
}

fn of_scenario<'a>(task: &Task, file: &'a ScenarioFile) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    if file.reference.is_some() {
        let (name, solution) = ("reference".to_owned(), task.solution.clone());
        parts.push(Part { name, solution, wrong: None });
    }
    for wrong in &file.wrong {
        let (rounds, answer) = (wrong.rounds.clone(), wrong.answer.clone());
        // The loader has made it once already.
        if let Ok(solution) = solution(&Replayed { rounds, answer }) {
            let name = format!("wrong:{}", wrong.name);
            parts.push(Part { name, solution, wrong: Some(wrong) });
        }
    }
    parts
}

impl Part<'_> {
    /// Names the calls of a reference that failed: what stands after one of them is mostly
    /// why it does not pass. Wrong solutions are meant to fail.
    fn failures(&self, found: &Found) -> Vec<String> {
        let failed = found.calls.iter().filter(|call| call["failed"] == true);
        let said = failed.map(|call| {
            let text = |name: &str| call[name].as_str().unwrap_or_default().trim().to_owned();
            format!("call {} (`{}`) failed: {}", call["number"], text("tool"), text("result"))
        });
        if self.wrong.is_none() { said.collect() } else { Vec::new() }
    }

    /// Says what is not as the file says.
    fn problem(&self, found: &Found) -> Option<String> {
        let verdict = found.verdict.name();
        let Some(wrong) = self.wrong else {
            let passed = found.verdict == Verdict::Pass;
            return (!passed).then(|| format!("the reference should pass, and is {verdict}"));
        };
        let reason = wrong.reason.name();
        let flaws: Vec<&str> = found.flaws.iter().map(|flaw| flaw.name()).collect();
        if matches!(found.verdict, Verdict::Pass | Verdict::Unjudged) {
            return Some(format!("it should fail for `{reason}`, and is {verdict}"));
        }
        (!found.flaws.contains(&wrong.reason)).then(|| {
            format!("it should fail for `{reason}`, and is {verdict} for `{}`", flaws.join("`, `"))
        })
    }
}

/// What came of a solution.
struct Found {
    verdict: Verdict,
    reasons: Vec<String>,
    /// What was found wrong with its calls.
    flaws: BTreeSet<Flaw>,
    /// The calls, as a judge with a model is shown them.
    calls: Vec<serde_json::Value>,
}

struct Stage<'a> {
    gym: &'a Arc<Gym>,
    store: &'a Store,
    config: &'a RunConfig,
    /// Of a scenario, who judges its calls; without one the answer decides.
    examiner: Option<&'a Examiner>,
}

impl Stage<'_> {
    async fn play(&self, id: &str, task: &Task, part: &Part<'_>) -> Result<Found, StoreError> {
        let condition = part.name.replace(':', "-");
        let variant = Variant::default();
        let trial = TrialId { condition, task: id.to_owned(), variant, k: 1 };
        let agent = Reference::new(part.solution.clone(), task.folder.clone());
        let attempt = Attempt { trial: trial.clone(), attempt: 1 };
        let (_stopper, mut stop) = Stopper::new();
        let end = execute(self.gym, self.store, self.config, &agent, &attempt, &mut stop).await?;
        let mut found = match self.examiner {
            Some(examiner) => {
                let seen = examiner.examine(self.store, &trial, 1, &end)?;
                let (reasons, flaws) = (seen.reasons, seen.conduct.flaws);
                Found { verdict: seen.verdict, reasons, flaws, calls: seen.shown }
            }
            None => self.held_against(task, &trial, &end)?,
        };
        if let Some(detail) = &end.detail {
            found.reasons.push(format!("the attempt ended as {}: {detail}", end.outcome));
        }
        Ok(found)
    }

    /// Holds the answer against the task's.
    fn held_against(
        &self,
        task: &Task,
        trial: &TrialId,
        end: &OutcomeRecord,
    ) -> Result<Found, StoreError> {
        let blobs = self.store.blobs();
        let answer = end.answer.as_ref().map(|body| blobs.text(body)).transpose()?;
        let (verdict, reasons) = judge(&task.meta.answer, &end.outcome, answer.as_deref());
        let calls = shown(&self.store.records(trial, 1)?, &blobs)?;
        Ok(Found { verdict, reasons, flaws: BTreeSet::new(), calls })
    }
}
