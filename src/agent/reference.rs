//! The agent that replays a task's reference solution through the real tools.
//!
//! It goes on after a failed call: an expression that reads the call then fails by
//! itself. So when a broken tool makes the reference fail, it is because the answer
//! needs what the tool returns.
//!
//! The steps of a call that browses are done in whichever way pages are offered: told to
//! the navigator of `browse_url`, or made as page actions, one a round. Its result, which
//! expressions read, is the same either way.
//!
//! With a [`Manner`] it is a scripted agent, which follows the solution too and does something
//! known about a call that fails.

mod manner;
mod script;
mod seen;
mod walk;

use std::sync::Arc;

use camino::Utf8PathBuf;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use wildgym_sandbox::browser::Action;
use wildgym_tasks::solution::{Results, Solution, SolutionCall, SolutionRound, Step};
use wildgym_toolbox::Call;
use wildgym_toolbox::tools::browse_url::report_in;
use wildgym_toolbox::tools::page_actions::arguments_of;

pub use self::manner::Manner;
use self::manner::{After, claim, honest, is_failure};
use self::script::Script;
use self::seen::Seen;
use self::walk::{Next, Walk};
use super::{Agent, Answers, Broken, Ending, Episode};
use crate::record::{Limit, Outcome};

/// Rounds that a call of `browse_url` may take where the solution gives no number.
const ROUNDS: u32 = 50;

/// Replays a reference solution.
#[derive(Debug)]
pub struct Reference {
    solution: Solution,
    folder: Utf8PathBuf,
    script: Arc<Script>,
    manner: Manner,
}

/// A call of the solution, computed.
struct Due {
    /// Its name in the solution.
    name: String,
    /// The tool.
    tool: String,
    arguments: Map<String, Value>,
    /// What to do on the pages, where it browses.
    steps: Vec<Step>,
}

/// The replay, as far as it went.
struct Replay<'a> {
    episode: &'a mut Episode,
    results: Results,
    /// Calls so far, which are numbered in the order asked.
    made: u64,
}

impl Reference {
    /// Returns an agent that replays `solution` once; its files lie in `folder`.
    #[must_use]
    pub fn new(solution: Solution, folder: Utf8PathBuf) -> Self {
        Self { solution, folder, script: Arc::default(), manner: Manner::default() }
    }

    /// Does what `manner` says about calls that fail.
    #[must_use]
    pub fn with(self, manner: Manner) -> Self {
        Self { manner, ..self }
    }

    async fn replay(&self, episode: &mut Episode) -> Result<Ending, Broken> {
        episode.told("user", "task", &episode.request.instruction.clone())?;
        if self.manner == Manner::Bypass {
            return Ok(Ending::answered(claim(episode.request.language)));
        }
        let mut replay = Replay { episode, results: Results::default(), made: 0 };
        for round in &self.solution.rounds {
            if let Some(ending) = self.round(round, &mut replay).await? {
                return Ok(ending);
            }
        }
        Ok(match self.solution.answer.evaluate(&replay.results) {
            Ok(answer) => Ending::answered(answer),
            Err(error) => stuck("answer", &error),
        })
    }

    /// Makes the calls of a round; returns the ending where one cannot go on.
    async fn round(
        &self,
        round: &SolutionRound,
        replay: &mut Replay<'_>,
    ) -> Result<Option<Ending>, Broken> {
        let mut due = match self.due(round, &replay.results) {
            Ok(due) => due,
            Err(ending) => return Ok(Some(ending)),
        };
        for tries in 0_u32.. {
            let Some(failed) = replay.make(due, tries, &self.script).await? else {
                return Ok(Some(no_round()));
            };
            let Some(first) = failed.first() else { break };
            let language = replay.episode.request.language;
            match self.manner.after(tries) {
                After::Next => break,
                After::Again => due = failed,
                After::Honest => return Ok(Some(Ending::answered(honest(language, &first.tool)))),
                After::Claim => {
                    let answer = self.solution.answer.evaluate(&replay.results);
                    let answer = answer.unwrap_or_else(|_| claim(language).to_owned());
                    return Ok(Some(Ending::answered(answer)));
                }
            }
        }
        Ok(None)
    }

    /// Computes the calls of a round.
    fn due(&self, round: &SolutionRound, results: &Results) -> Result<Vec<Due>, Ending> {
        let due = |call: &SolutionCall| {
            let arguments = call.arguments(results, &self.folder);
            let steps = call.steps(results);
            match arguments.and_then(|arguments| Ok((arguments, steps?))) {
                Ok((arguments, steps)) => {
                    let (name, tool) = (call.name.clone(), call.tool.clone());
                    Ok(Due { name, tool, arguments, steps })
                }
                Err(error) => Err(stuck(&call.name, &error)),
            }
        };
        round.calls.iter().map(due).collect()
    }
}

impl Due {
    /// Returns the call; one that is made again gets an id of its own.
    fn call(&self, tries: u32) -> Call {
        let id = match tries {
            0 => self.name.clone(),
            tries => format!("{}-{}", self.name, tries + 1),
        };
        call_to(&id, &self.tool, self.arguments.clone())
    }
}

impl Replay<'_> {
    /// Makes calls that were made `tries` times before and keeps their results; returns those
    /// that failed, or none without a round left.
    async fn make(
        &mut self,
        due: Vec<Due>,
        tries: u32,
        script: &Script,
    ) -> Result<Option<Vec<Due>>, Broken> {
        let direct = self.episode.toolbox.catalog().entry("visit_page").is_ok();
        let (visits, mut calls): (Vec<Due>, Vec<Due>) =
            due.into_iter().partition(|due| !due.steps.is_empty() && direct);
        for (place, due) in calls.iter_mut().enumerate().filter(|(_, due)| !due.steps.is_empty()) {
            due.arguments.entry("round_limit").or_insert_with(|| ROUNDS.into());
            script.expect(self.made + place as u64 + 1, due.steps.clone());
        }
        let mut failed = Vec::new();
        if !calls.is_empty() {
            let Some(one) = self.call(calls, tries).await? else { return Ok(None) };
            failed = one;
        }
        for visit in visits {
            match self.browse(&visit, tries).await? {
                None => return Ok(None),
                Some(true) => {}
                Some(false) => failed.push(visit),
            }
        }
        Ok(Some(failed))
    }

    /// Makes the calls of one round and keeps their results.
    async fn call(&mut self, calls: Vec<Due>, tries: u32) -> Result<Option<Vec<Due>>, Broken> {
        if !self.episode.next_round() {
            return Ok(None);
        }
        self.made += calls.len() as u64;
        let asked = calls.iter().map(|due| due.call(tries)).collect();
        let replies = self.episode.call(asked).await?;
        let mut failed = Vec::new();
        for (due, reply) in calls.into_iter().zip(replies) {
            let text = match reply.call.name.as_str() {
                "browse_url" => report_in(&reply.text).map(str::to_owned),
                _ => Some(reply.text),
            };
            if let Some(text) = text.filter(|_| reply.error.is_none()) {
                self.results.succeeded(due.name, text);
                continue;
            }
            self.results.failed(due.name.clone());
            if reply.error.is_none_or(is_failure) {
                failed.push(due);
            }
        }
        Ok(Some(failed))
    }

    /// Browses by page actions, one a round; returns whether that came to a result, or none
    /// where there were not rounds enough.
    async fn browse(&mut self, visit: &Due, tries: u32) -> Result<Option<bool>, Broken> {
        let start = visit.arguments.get("start_url").and_then(Value::as_str).unwrap_or_default();
        let mut walk = Walk::new(visit.steps.clone());
        let mut action = Action::VisitPage { url: start.to_owned() };
        let mut seen = Seen::default();
        let name = visit.call(tries).id;
        for number in 1_u32.. {
            if !self.episode.next_round() {
                return Ok(None);
            }
            let arguments = arguments_of(&action).as_object().cloned().unwrap_or_default();
            self.made += 1;
            let call = call_to(&format!("{name}.{number}"), action.name(), arguments);
            let replies = self.episode.call(vec![call]).await?;
            let Some(reply) = replies.into_iter().next() else { break };
            let failed = reply.error.is_some();
            let asked = matches!(action, Action::AskQuestionAboutVideo { .. });
            match reply.page {
                Some(page) => seen = Seen::of(&page),
                // Something between the page and the agent changed what it got to read.
                None if !asked && !failed => break,
                None => {}
            }
            match walk.next(&seen, &reply.text, failed) {
                Next::Do(next) => action = next,
                Next::Done(result) => {
                    self.results.succeeded(&visit.name, result);
                    return Ok(Some(true));
                }
                Next::Stuck(_) => break,
            }
        }
        self.results.failed(&visit.name);
        Ok(Some(false))
    }
}

fn call_to(id: &str, tool: &str, arguments: Map<String, Value>) -> Call {
    Call {
        id: id.to_owned(),
        name: tool.to_owned(),
        arguments: Value::Object(arguments).to_string(),
    }
}

fn no_round() -> Ending {
    Ending::without(Outcome::Limit(Limit::Rounds), "no round left")
}

/// Ends where an expression cannot be computed.
fn stuck(place: &str, error: &dyn std::error::Error) -> Ending {
    Ending::without(Outcome::NoAnswer, format!("`{place}` cannot be computed: {error}"))
}

impl Agent for Reference {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(self.replay(episode))
    }

    fn answers(&self) -> Option<Arc<dyn Answers>> {
        Some(Arc::clone(&self.script) as Arc<dyn Answers>)
    }
}
