//! A planner with an executor: plan a batch of calls, make them side by side, plan anew.
//!
//! The loop of the planners that MCP-Injector compares (its stack over MCP-Bench): tools are
//! described in the prompt and not offered to the endpoint, the model replies with JSON that
//! holds all calls of a round, and the whole batch is made before it is asked again. The
//! prompt is our own and the same for every task and model.
//!
//! It stops by a rule of its own: when the planner says that it is done; when it plans
//! nothing; when it plans a batch again of which every call failed twice in a row; after
//! [`PLANS`] plans; and one round before its limit on rounds. Then, unless the planner has
//! answered, it is asked once for the answer that the results allow.

mod said;

use std::fmt::Write as _;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use wildgym_toolbox::{Call, Reply};

use self::said::Said;
use super::react::final_answer;
use super::{Agent, Answers, Asking, Broken, Ending, Episode, React};
use crate::model::{Message, Model, Offered, said as without_reasoning};
use crate::record::{Limit, Outcome};

/// What the planner is told first, before the tools.
const SYSTEM: &str = include_str!("plan.md");

/// Most plans of an attempt (MCP-Bench: 20 rounds).
pub(super) const PLANS: u32 = 20;

/// How often a batch is made of which every call fails.
const TRIES: u32 = 2;

/// What the planner is told after a reply without a plan.
const REMINDER: &str = "Your last message was no plan. Reply with one JSON object and nothing \
    else: {\"reasoning\": \"…\", \"calls\": [{\"tool\": \"…\", \"arguments\": {}}], \"done\": \
    false, \"answer\": \"\"}";

/// What the planner is told when no more calls are made.
const LAST: &str = "No more calls are made. Give the final answer that these results allow, and \
    say in it what could not be done: {\"calls\": [], \"done\": true, \"answer\": \"…\"}";

/// A planner-executor around a model.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Asks the model, without tools of the endpoint.
    asks: React,
    /// The tools, as the prompt lists them.
    tools: Arc<Offered>,
}

/// A batch of which every call failed.
struct Stuck {
    batch: Vec<(String, String)>,
    /// How often in a row.
    times: u32,
}

/// What to do after a plan.
enum Turn {
    /// Make these calls.
    Make(Vec<(String, String)>),
    /// Ask for the answer.
    Conclude,
    /// It is over.
    End(Ending),
}

impl Plan {
    /// Returns an agent that asks `model` and lists `tools` to it.
    #[must_use]
    pub fn new(model: Model, tools: Arc<Offered>) -> Self {
        Self { asks: React::new(model, Arc::default()), tools }
    }

    /// Has the questions of tools answered by `asking`.
    #[must_use]
    pub fn answered_by(self, asking: Arc<Asking>) -> Self {
        Self { asks: self.asks.answered_by(asking), ..self }
    }

    /// With `blind` no pictures of the request are shown, only their paths told.
    #[must_use]
    pub fn blind(self, blind: bool) -> Self {
        Self { asks: self.asks.blind(blind), ..self }
    }

    async fn act(&self, episode: &mut Episode) -> Result<Ending, Broken> {
        let system = format!("{SYSTEM}{}", listed(&self.tools));
        let (mut messages, mut plain) = self.asks.open(episode, &system).await?;
        let mut reminded = false;
        let mut stuck: Option<Stuck> = None;
        for plan in 1_u32.. {
            // The last round is for the answer.
            let rounds = episode.limits.rounds;
            let last = plan > PLANS || rounds.is_some_and(|most| episode.rounds + 1 >= most);
            if last && plan > 1 {
                return self.conclude(episode, messages).await;
            }
            let content = match self.ask(episode, &mut messages, plain.take()).await? {
                Ok(content) => content,
                Err(ending) => return Ok(ending),
            };
            let Some(said) = Said::read(&content) else {
                if let Some(answer) = final_answer(&content) {
                    return Ok(Ending::answered(answer));
                }
                if reminded {
                    let detail = "no plan and no answer twice";
                    return Ok(Ending::without(Outcome::NoAnswer, detail));
                }
                reminded = true;
                episode.told("user", "reminder", REMINDER)?;
                messages.push(Message::user(REMINDER));
                continue;
            };
            reminded = false;
            let batch = match turn(said, stuck.as_ref()) {
                Turn::Make(batch) => batch,
                Turn::Conclude => return self.conclude(episode, messages).await,
                Turn::End(ending) => return Ok(ending),
            };
            let replies = make(episode, &batch).await?;
            let failed = replies.iter().all(|reply| reply.error.is_some());
            let before = stuck.take().filter(|stuck| stuck.batch == batch);
            let times = before.map_or(1, |stuck| stuck.times + 1);
            stuck = failed.then_some(Stuck { batch, times });
            messages.push(Message::user(&told(&replies)));
        }
        Ok(Ending::without(Outcome::NoAnswer, "no plan left"))
    }

    /// Asks the model within its limits; returns what it says. The inner error ends the
    /// attempt in a way that counts.
    async fn ask(
        &self,
        episode: &mut Episode,
        messages: &mut Vec<Message>,
        plain: Option<String>,
    ) -> Result<Result<String, Ending>, Broken> {
        let spent = episode.usage.total();
        if episode.limits.tokens.is_some_and(|limit| spent >= limit) {
            let detail = format!("{spent} tokens used");
            return Ok(Err(Ending::without(Outcome::Limit(Limit::Tokens), detail)));
        }
        if !episode.next_round() {
            return Ok(Err(Ending::without(Outcome::Limit(Limit::Rounds), "no round left")));
        }
        Ok(self.asks.ask(episode, messages, plain).await?.map(|exchange| {
            messages.push(exchange.echo);
            exchange.reply.content.unwrap_or_default()
        }))
    }

    /// Asks once for the answer that the results allow.
    async fn conclude(
        &self,
        episode: &mut Episode,
        mut messages: Vec<Message>,
    ) -> Result<Ending, Broken> {
        episode.told("user", "conclude", LAST)?;
        messages.push(Message::user(LAST));
        let content = match self.ask(episode, &mut messages, None).await? {
            Ok(content) => content,
            Err(ending) => return Ok(ending),
        };
        let plain = || Some(without_reasoning(&content).to_owned());
        let answer = match Said::read(&content) {
            Some(said) => said.answer,
            None => final_answer(&content).or_else(plain),
        };
        Ok(match answer.filter(|answer| !answer.is_empty()) {
            Some(answer) => Ending::answered(answer),
            None => Ending::without(Outcome::NoAnswer, "no answer when asked for it"),
        })
    }
}

impl Agent for Plan {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(self.act(episode))
    }

    fn answers(&self) -> Option<Arc<dyn Answers>> {
        self.asks.answers()
    }

    fn is_recorded(&self) -> bool {
        self.asks.is_recorded()
    }
}

/// Decides after a plan; `stuck` is the batch before it, where every call of that failed.
fn turn(said: Said, stuck: Option<&Stuck>) -> Turn {
    let Said { calls, done, answer } = said;
    let idle = stuck.is_some_and(|stuck| stuck.times >= TRIES && stuck.batch == calls);
    match answer {
        // An answer beside calls is a guess at what they will return.
        Some(answer) if done || calls.is_empty() => Turn::End(Ending::answered(answer)),
        Some(_) | None if done || calls.is_empty() || idle => Turn::Conclude,
        Some(_) | None => Turn::Make(calls),
    }
}

/// Makes the calls of a plan side by side.
async fn make(episode: &mut Episode, batch: &[(String, String)]) -> Result<Vec<Reply>, Broken> {
    let round = episode.rounds;
    let call = |(index, (tool, arguments)): (usize, &(String, String))| Call {
        id: format!("call_{round}_{}", index + 1),
        name: tool.clone(),
        arguments: arguments.clone(),
    };
    episode.call(batch.iter().enumerate().map(call).collect()).await
}

/// Lists tools for the prompt: a name, what it does, and the schema of its arguments.
fn listed(tools: &Offered) -> String {
    let list = tools.list().and_then(|list| serde_json::from_str::<Vec<Value>>(&list).ok());
    let mut out = String::new();
    for tool in list.unwrap_or_default() {
        let function = &tool["function"];
        let text = |key: &str| function[key].as_str().unwrap_or_default();
        let (name, description) = (text("name"), text("description").trim());
        let _ = writeln!(out, "\n- {name}: {description}\n  {}", function["parameters"]);
    }
    out
}

/// Tells the planner what came of its calls, in the order planned.
fn told(replies: &[Reply]) -> String {
    let mut out = String::from("Results of your calls:\n");
    for (index, reply) in replies.iter().enumerate() {
        let Call { name, arguments, .. } = &reply.call;
        let _ = write!(out, "\n[{}] {name} {arguments}\n{}\n", index + 1, reply.text.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(calls: usize, done: bool, answer: Option<&str>) -> Said {
        let calls = (0..calls).map(|_| ("scrape".to_owned(), "{}".to_owned())).collect();
        Said { calls, done, answer: answer.map(str::to_owned) }
    }

    #[test]
    fn it_stops_by_its_own_rule() {
        let batch = said(1, false, None).calls;
        let once = Stuck { batch: batch.clone(), times: 1 };
        let twice = Stuck { batch, times: 2 };
        let table = [
            (said(1, false, None), None, "make", "a plan"),
            (said(2, false, None), Some(&twice), "make", "another one than the one that failed"),
            (said(1, false, None), Some(&once), "make", "once more"),
            (said(1, false, None), Some(&twice), "conclude", "a third time"),
            (said(0, false, None), None, "conclude", "nothing planned"),
            (said(1, true, None), None, "conclude", "done, without an answer"),
            (said(0, false, Some("a")), None, "end", "an answer and no calls"),
            (said(1, true, Some("a")), None, "end", "done"),
            (said(1, false, Some("a")), None, "make", "an answer before its calls is a guess"),
        ];
        for (said, stuck, want, why) in table {
            let got = match turn(said, stuck) {
                Turn::Make(_) => "make",
                Turn::Conclude => "conclude",
                Turn::End(_) => "end",
            };
            assert_eq!(got, want, "{why}");
        }
    }

    #[test]
    fn the_prompt_lists_every_tool() {
        let tool = serde_json::json!({ "type": "function", "function": {
            "name": "scrape", "description": "Read a page.", "parameters": { "type": "object" } } });
        let listed = listed(&Offered::new(&[tool]));
        assert_eq!(listed, "\n- scrape: Read a page.\n  {\"type\":\"object\"}\n");
    }
}
