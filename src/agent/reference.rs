//! The agent that replays a task's reference solution through the real tools.
//!
//! It goes on after a failed call: an expression that reads the call then fails by
//! itself. So when a broken tool makes the reference fail, it is because the answer
//! needs what the tool returns.
//!
//! The steps of a call that browses are done in whichever way pages are offered: told to
//! the navigator of `browse_url`, or made as page actions, one a round. Its result, which
//! expressions read, is the same either way.

mod script;
mod seen;
mod walk;

use std::sync::Arc;

use camino::Utf8PathBuf;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use wildgym_sandbox::browser::Action;
use wildgym_tasks::solution::{Results, Solution, SolutionRound, Step};
use wildgym_toolbox::Call;
use wildgym_toolbox::tools::browse_url::report_in;
use wildgym_toolbox::tools::page_actions::arguments_of;

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
}

/// A call that browses, in direct mode.
struct Visit {
    name: String,
    start: String,
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
        Self { solution, folder, script: Arc::default() }
    }

    async fn replay(&self, episode: &mut Episode) -> Result<Ending, Broken> {
        episode.told("user", "task", &episode.request.instruction.clone())?;
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
        let direct = replay.episode.toolbox.catalog().entry("visit_page").is_ok();
        let (mut calls, mut visits) = (Vec::new(), Vec::new());
        for call in &round.calls {
            let computed = call
                .arguments(&replay.results, &self.folder)
                .and_then(|arguments| Ok((arguments, call.steps(&replay.results)?)));
            let (mut arguments, steps) = match computed {
                Ok(computed) => computed,
                Err(error) => return Ok(Some(stuck(&call.name, &error))),
            };
            if !steps.is_empty() && direct {
                let start = arguments.get("start_url").and_then(Value::as_str).unwrap_or_default();
                let (name, start) = (call.name.clone(), start.to_owned());
                visits.push(Visit { name, start, steps });
                continue;
            }
            if !steps.is_empty() {
                arguments.entry("round_limit").or_insert_with(|| ROUNDS.into());
                let number = replay.made + calls.len() as u64 + 1;
                self.script.expect(number, steps);
            }
            calls.push(call_to(&call.name, &call.tool, arguments));
        }
        if !calls.is_empty() && replay.round(calls).await?.is_none() {
            return Ok(Some(no_round()));
        }
        for visit in visits {
            if !replay.browse(visit).await? {
                return Ok(Some(no_round()));
            }
        }
        Ok(None)
    }
}

impl Replay<'_> {
    /// Makes calls and keeps their results; returns their texts, or none without a round left.
    async fn round(&mut self, calls: Vec<Call>) -> Result<Option<()>, Broken> {
        if !self.episode.next_round() {
            return Ok(None);
        }
        self.made += calls.len() as u64;
        for reply in self.episode.call(calls).await? {
            let text = match reply.call.name.as_str() {
                "browse_url" => report_in(&reply.text).map(str::to_owned),
                _ => Some(reply.text),
            };
            match text.filter(|_| reply.error.is_none()) {
                Some(text) => self.results.succeeded(reply.call.id, text),
                None => self.results.failed(reply.call.id),
            }
        }
        Ok(Some(()))
    }

    /// Browses by page actions, one a round; returns whether there were rounds enough.
    async fn browse(&mut self, visit: Visit) -> Result<bool, Broken> {
        let Visit { name, start, steps } = visit;
        let mut walk = Walk::new(steps);
        let mut action = Action::VisitPage { url: start };
        let mut seen = Seen::default();
        for number in 1_u32.. {
            if !self.episode.next_round() {
                return Ok(false);
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
                    self.results.succeeded(name, result);
                    return Ok(true);
                }
                Next::Stuck(_) => break,
            }
        }
        self.results.failed(name);
        Ok(true)
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
