//! The default agent: reason, call, observe, in a loop.
//!
//! The loop of `AgentGym2` (section 5.1.2): tools in `OpenAI` schema, several calls a round,
//! an answer between `<final_answer>` tags. The system prompt is our own and the same
//! for every task and model.

use std::sync::Arc;

use futures::future::BoxFuture;
use wildgym_toolbox::Call;

use super::asking::refused;
use super::noted::Noted;
use super::{Agent, Answers, Asking, Broken, Ending, Episode, Part, Request, pictures};
use crate::model::{CassetteError, Exchange, Message, Model, ModelError, Offered};
use crate::record::{Limit, Lost, Outcome};

/// What every agent is told first.
pub const SYSTEM: &str = include_str!("react.md");

/// What an agent is told that neither called nor answered.
pub const REMINDER: &str = "Your last message contained neither a tool call nor a final answer. \
Call a tool to go on, or end with <final_answer>your answer</final_answer>.";

/// Opens a final answer.
const OPEN: &str = "<final_answer>";

/// Closes a final answer.
const CLOSE: &str = "</final_answer>";

/// An agent around a model.
#[derive(Debug, Clone)]
pub struct React {
    model: Model,
    offered: Arc<Offered>,
    answers: Option<Arc<Asking>>,
    blind: bool,
}

impl React {
    /// Returns an agent that asks `model` and offers it `offered`.
    #[must_use]
    pub fn new(model: Model, offered: Arc<Offered>) -> Self {
        Self { model, offered, answers: None, blind: false }
    }

    /// Has the questions of tools answered by `asking`.
    #[must_use]
    pub fn answered_by(self, asking: Arc<Asking>) -> Self {
        Self { answers: Some(asking), ..self }
    }

    /// With `blind` no pictures of the request are shown, only their paths told.
    #[must_use]
    pub fn blind(self, blind: bool) -> Self {
        Self { blind, ..self }
    }

    /// Tells the agent what it is asked, after the system prompt `system`. Where pictures are
    /// shown with the request, the request without them is returned too, for an endpoint that
    /// takes none.
    pub(super) async fn open(
        &self,
        episode: &mut Episode,
        system: &str,
    ) -> Result<(Vec<Message>, Option<String>), Broken> {
        let shown = if self.blind {
            Vec::new()
        } else {
            pictures::shown(&episode.toolbox, &episode.request).await
        };
        let Request { instruction, attachments, pictures, .. } = &episode.request;
        let plain = announced(instruction, attachments, pictures, false);
        episode.told("system", "prompt", system)?;
        if shown.is_empty() {
            episode.told("user", "task", &plain)?;
            return Ok((vec![Message::system(system), Message::user(&plain)], None));
        }
        let Request { instruction, attachments, .. } = &episode.request;
        let paths: Vec<String> = shown.iter().map(|one| one.path.clone()).collect();
        let task = announced(instruction, attachments, &paths, true);
        episode.told_with("task", &task, &shown)?;
        let first = pictures::message(&task, &shown);
        Ok((vec![Message::system(system), first], Some(plain)))
    }

    async fn act(&self, episode: &mut Episode) -> Result<Ending, Broken> {
        let (mut messages, mut plain) = self.open(episode, SYSTEM).await?;
        let mut reminded = false;
        loop {
            let spent = episode.usage.total();
            if episode.limits.tokens.is_some_and(|limit| spent >= limit) {
                let detail = format!("{spent} tokens used");
                return Ok(Ending::without(Outcome::Limit(Limit::Tokens), detail));
            }
            if !episode.next_round() {
                return Ok(Ending::without(Outcome::Limit(Limit::Rounds), "no round left"));
            }
            let exchange = match self.ask(episode, &mut messages, plain.take()).await? {
                Ok(exchange) => exchange,
                Err(ending) => return Ok(ending),
            };
            let content = exchange.reply.content.as_deref().unwrap_or_default();
            if let Some(answer) = final_answer(content) {
                return Ok(Ending::answered(answer));
            }
            messages.push(exchange.echo);
            let calls = exchange.reply.calls;
            if !calls.is_empty() {
                reminded = false;
                self.observe(episode, calls, &mut messages).await?;
            } else if reminded {
                let finish = exchange.reply.finish.unwrap_or_else(|| "nothing".to_owned());
                let detail = format!("neither call nor answer twice; finish reason: {finish}");
                return Ok(Ending::without(Outcome::NoAnswer, detail));
            } else {
                reminded = true;
                episode.told("user", "reminder", REMINDER)?;
                messages.push(Message::user(REMINDER));
            }
        }
    }

    /// Makes the calls of a round and tells the model what came of them.
    async fn observe(
        &self,
        episode: &mut Episode,
        calls: Vec<Call>,
        messages: &mut Vec<Message>,
    ) -> Result<(), Broken> {
        for reply in episode.call(calls).await? {
            messages.push(Message::tool(&reply.call.id, &reply.text));
        }
        Ok(())
    }

    /// Sends the conversation.
    async fn send(
        &self,
        episode: &mut Episode,
        messages: &[Message],
    ) -> Result<Exchange, ModelError> {
        episode.doing = format!("round {}, waiting for the model", episode.rounds);
        episode.turn(Part::Model);
        let working = Some(&mut episode.working);
        let asked = self.model.chat(episode.rounds, messages, &self.offered, working).await;
        episode.turn(Part::Own);
        asked
    }

    /// Asks the model and notes the exchange. The inner error ends the attempt in a way
    /// that counts. Where the request shows pictures and the endpoint refuses it, `plain` is
    /// the request that it is asked again with.
    pub(super) async fn ask(
        &self,
        episode: &mut Episode,
        messages: &mut [Message],
        plain: Option<String>,
    ) -> Result<Result<Exchange, Ending>, Broken> {
        let round = episode.rounds;
        let mut asked = self.send(episode, messages).await;
        if let (Some(plain), true) = (plain, refused(&asked).is_some())
            && let Some(request) = messages.last_mut()
        {
            episode.told("user", "pictures-refused", &plain)?;
            *request = Message::user(&plain);
            asked = self.send(episode, messages).await;
        }
        match asked {
            Ok(exchange) => {
                episode.usage.add(exchange.usage);
                let noted = Noted::good(round, &exchange);
                noted.append(episode.transcript())?;
                Ok(Ok(exchange))
            }
            // What does not fit in the first round never will: the run is misconfigured.
            Err(error @ ModelError::ContextOverflow(_)) if round == 1 => Err(Broken {
                lost: Lost::Model,
                detail: format!("{error}; in round 1, so perhaps `--max-tokens` is too large"),
            }),
            Err(error @ ModelError::ContextOverflow(_)) => {
                let outcome = Outcome::Limit(Limit::Context);
                Ok(Err(Ending::without(outcome, error.to_string())))
            }
            // In a replay no time passes, so the limit is reached where it was reached.
            Err(ModelError::Cassette(error)) if *error == CassetteError::CutOff => {
                let detail = episode.doing.clone();
                Ok(Err(Ending::without(Outcome::Limit(Limit::Time), detail)))
            }
            Err(
                error @ (ModelError::Misconfigured(_)
                | ModelError::Refused(_)
                | ModelError::Gone(_)
                | ModelError::Cassette(_)),
            ) => Err(Broken { lost: Lost::Model, detail: error.to_string() }),
        }
    }
}

impl Agent for React {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(self.act(episode))
    }

    fn answers(&self) -> Option<Arc<dyn Answers>> {
        self.answers.clone().map(|asking| asking as Arc<dyn Answers>)
    }

    fn is_recorded(&self) -> bool {
        self.model.is_recorded()
    }
}

/// Returns the request with the attachments announced, as the model is told of them;
/// `pictures` are those that belong to the request, and `shown` tells whether they are
/// shown with it.
#[must_use]
pub fn announced(
    instruction: &str,
    attachments: &[String],
    pictures: &[String],
    shown: bool,
) -> String {
    let remark = if shown {
        " (a picture, shown with this request)"
    } else {
        " (a picture that belongs to this request)"
    };
    let mut text = instruction.trim_end().to_owned();
    if !attachments.is_empty() {
        text.push_str("\n\nAttached files, in your workspace:\n");
        for path in attachments {
            text.push_str("- ");
            text.push_str(path);
            if pictures.contains(path) {
                text.push_str(remark);
            }
            text.push('\n');
        }
    }
    text
}

/// Returns the text between the first pair of tags outside of reasoning, trimmed. Tags
/// are read in any case; one that is never closed holds the rest, for a reply may be
/// cut at its length limit.
#[must_use]
pub fn final_answer(content: &str) -> Option<String> {
    let said = without_reasoning(content);
    let start = find(&said, OPEN)? + OPEN.len();
    let rest = &said[start..];
    let inner = find(rest, CLOSE).map_or(rest, |end| &rest[..end]);
    Some(inner.trim().to_owned())
}

/// Returns a text without `<think>…</think>`, which endpoints without a parser for
/// reasoning leave in the content. Some templates open the tag themselves, so a closing
/// tag alone ends reasoning that began with the text.
fn without_reasoning(content: &str) -> String {
    const BEGIN: &str = "<think>";
    const END: &str = "</think>";
    let mut rest = content;
    let mut said = String::new();
    while let Some(end) = find(rest, END) {
        let begin = find(&rest[..end], BEGIN);
        said.push_str(&rest[..begin.unwrap_or(0)]);
        rest = &rest[end + END.len()..];
    }
    said + rest
}

/// Finds an ASCII tag in any case.
fn find(text: &str, tag: &str) -> Option<usize> {
    text.to_ascii_lowercase().find(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_final_answer_counts() {
        let table = [
            ("It is <final_answer> 42 </final_answer>.", Some("42"), "trimmed"),
            ("<final_answer>a</final_answer><final_answer>b</final_answer>", Some("a"), "first"),
            ("<final_answer>x\ny</final_answer>", Some("x\ny"), "over lines"),
            ("<final_answer>cut off", Some("cut off"), "never closed"),
            ("<final_answer></final_answer>", Some(""), "empty is an answer"),
            ("<FINAL_ANSWER>5</Final_Answer>", Some("5"), "in any case"),
            (
                "<think><final_answer>9</final_answer></think><final_answer>2</final_answer>",
                Some("2"),
                "not in reasoning",
            ),
            (
                "maybe <final_answer>9</final_answer></think> <final_answer>2</final_answer>",
                Some("2"),
                "reasoning opened by the template",
            ),
            (
                "答案 <think>嗯</think><final_answer>十</final_answer>",
                Some("十"),
                "Chinese beside it",
            ),
            (
                "<think>never ends <final_answer>3</final_answer>",
                Some("3"),
                "reasoning never closed",
            ),
            ("no tag 42", None, "no tag"),
            ("</final_answer>", None, "only the end"),
        ];
        for (content, want, why) in table {
            assert_eq!(final_answer(content).as_deref(), want, "{why}");
        }
    }
}
