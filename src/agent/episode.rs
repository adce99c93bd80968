//! What an agent acts in, and the notes that are taken of it.

use std::sync::Arc;
use std::time::Duration;

use wildgym_sandbox::Seed;
use wildgym_sandbox::work::Working;
use wildgym_sandbox::world::Happened;
use wildgym_tasks::scenario::Language;
use wildgym_tasks::task::Limits;
use wildgym_toolbox::{Call, Reply, SandboxLost, Toolbox, Vital};

use super::pictures::Shown;
use super::split::{Part, Spent, Split};
use super::{Answers, Asked, Broken, millis};
use crate::model::ModelError;
use crate::record::{
    CallRecord, EventRecord, Lost, MessageRecord, ModelRecord, PictureRecord, Record, Times, Usage,
};
use crate::store::{StoreError, Transcript};

/// What an agent is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The request.
    pub instruction: String,
    /// Paths of the attachments in the workspace.
    pub attachments: Vec<String>,
    /// Those of them that belong to the request as pictures.
    pub pictures: Vec<String>,
    /// Language of the request.
    pub language: Language,
}

/// One attempt, as the agent sees it.
#[derive(Debug)]
pub struct Episode {
    /// What is asked.
    pub request: Request,
    /// What can be called.
    pub toolbox: Arc<Toolbox>,
    /// Limits; the runner watches over the time.
    pub limits: Limits,
    /// The agent's share in the attempt's working time.
    pub working: Working,
    /// Where the agent's own chances come from.
    pub seed: Seed,
    /// Rounds so far.
    pub rounds: u32,
    /// Calls so far, those from executed code included.
    pub calls: u32,
    /// Tokens so far.
    pub usage: Usage,
    /// Those of them that tools used.
    pub tool_usage: Usage,
    /// Tokens of the model that played the user, which are nobody else's.
    pub user_usage: Usage,
    /// Whether a limit struck here when the attempt was recorded.
    pub cut: bool,
    /// What is going on now, for the detail of a time-out.
    pub doing: String,
    split: Split,
    transcript: Transcript,
    answers: Option<Arc<dyn Answers>>,
    user: Option<Arc<dyn Answers>>,
}

impl Episode {
    /// Begins an episode.
    #[must_use]
    pub fn new(
        request: Request,
        toolbox: Arc<Toolbox>,
        limits: Limits,
        working: Working,
        transcript: Transcript,
    ) -> Self {
        let seed = toolbox.sandbox().seed.child("agent", 0);
        Self {
            request,
            toolbox,
            limits,
            seed,
            rounds: 0,
            calls: 0,
            usage: Usage::default(),
            tool_usage: Usage::default(),
            user_usage: Usage::default(),
            cut: false,
            answers: None,
            user: None,
            doing: "starting".to_owned(),
            split: Split::new(working.elapsed()),
            working,
            transcript,
        }
    }

    /// Has what `answers` asks models on behalf of tools counted and kept.
    #[must_use]
    pub fn answered_by(self, answers: Option<Arc<dyn Answers>>) -> Self {
        Self { answers, ..self }
    }

    /// Has what `user` asks a model on behalf of the person who gave the task kept, and
    /// counted apart.
    #[must_use]
    pub fn asked_of(self, user: Option<Arc<dyn Answers>>) -> Self {
        Self { user, ..self }
    }

    /// Returns the transcript.
    pub fn transcript(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    /// Notes something the agent was told outside of a call's result.
    pub fn told(&mut self, role: &str, why: &str, content: &str) -> Result<(), Broken> {
        let content = self.transcript.body(content.to_owned())?;
        let (role, why) = (role.to_owned(), why.to_owned());
        let record = MessageRecord { role, content, why, pictures: Vec::new() };
        Ok(self.transcript.append(&Record::Message(record))?)
    }

    /// Notes what the agent was told with pictures, which are kept as blobs.
    pub(super) fn told_with(
        &mut self,
        why: &str,
        content: &str,
        shown: &[Shown],
    ) -> Result<(), Broken> {
        let mut pictures = Vec::new();
        for Shown { path, picture } in shown {
            let blob = self.transcript.blobs().put(&picture.bytes)?;
            let (media_type, bytes) = (picture.media_type.clone(), picture.bytes.len() as u64);
            pictures.push(PictureRecord { path: path.clone(), media_type, blob, bytes });
        }
        let content = self.transcript.body(content.to_owned())?;
        let (role, why) = ("user".to_owned(), why.to_owned());
        let record = MessageRecord { role, content, why, pictures };
        Ok(self.transcript.append(&Record::Message(record))?)
    }

    /// From now on the working time goes into `part`.
    pub fn turn(&mut self, part: Part) {
        self.split.turn(part, self.working.elapsed());
    }

    /// Returns what of `took`, the attempt's whole working time, went into waiting for the
    /// model, and what into rounds of calls. What was going on when a limit cut the attempt
    /// short counts up to there.
    pub fn spent(&mut self, took: Duration) -> Spent {
        self.split.turn(Part::Own, took);
        self.split.spent()
    }

    /// Begins the next round, or says that there is none left.
    pub fn next_round(&mut self) -> bool {
        let left = self.limits.rounds.is_none_or(|limit| self.rounds < limit);
        if left {
            self.rounds += 1;
        }
        left
    }

    /// Makes the calls of a round, notes them, and returns what came of them in the
    /// order asked.
    pub async fn call(&mut self, calls: Vec<Call>) -> Result<Vec<Reply>, Broken> {
        let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        self.doing = format!("round {}, calling {}", self.rounds, names.join(", "));
        self.turn(Part::Tools);
        if let Some(answers) = &self.answers {
            let used = self.usage.total();
            answers.allow(self.limits.tokens.map(|limit| limit.saturating_sub(used)));
        }
        if let Some(user) = &self.user {
            user.allow(None);
        }
        // Each call holds a share of its own, so time stands while all of them wait.
        let replies = self.working.pause(self.toolbox.round(calls)).await;
        self.turn(Part::Own);
        let replies = replies.map_err(|lost| self.broken(&lost))?;
        for reply in &replies {
            self.note(reply)?;
        }
        Ok(replies)
    }

    /// Says what of the sandbox is gone.
    fn broken(&mut self, lost: &SandboxLost) -> Broken {
        let detail = lost.to_string();
        let lost = match lost.part {
            Vital::Sandbox => Lost::Sandbox,
            Vital::Browser => Lost::Browser,
            Vital::Model => Lost::Model,
            Vital::User => Lost::User,
            Vital::Time => {
                self.cut = true;
                Lost::Model
            }
        };
        Broken { lost, detail }
    }

    /// Keeps what tools asked models: on behalf of one call, else all that is not kept yet.
    pub fn keep_asked(&mut self, call: Option<&str>) -> Result<(), StoreError> {
        let of = |answers: &Option<Arc<dyn Answers>>| -> Vec<Asked> {
            answers.as_ref().map(|answers| answers.take(call)).unwrap_or_default()
        };
        let (tools, user) = (of(&self.answers), of(&self.user));
        for asked in tools {
            let usage = self.keep(asked)?;
            self.usage.add(usage);
            self.tool_usage.add(usage);
        }
        for asked in user {
            let usage = self.keep(asked)?;
            self.user_usage.add(usage);
        }
        Ok(())
    }

    /// Keeps one exchange and returns its tokens.
    fn keep(&mut self, asked: Asked) -> Result<Usage, StoreError> {
        let usage = asked.ended.as_ref().map(|exchange| exchange.usage).unwrap_or_default();
        for picture in &asked.pictures {
            self.transcript.blobs().put(picture)?;
        }
        if let Some(record) = self.asked(asked)? {
            self.transcript.append(&Record::Model(record))?;
        }
        Ok(usage)
    }

    /// Returns the record of an exchange; none where nothing was sent.
    fn asked(&self, asked: Asked) -> Result<Option<ModelRecord>, StoreError> {
        let Asked { call, tool, purpose, messages, ended, .. } = asked;
        let failure = ended.as_ref().err().map(ModelError::failure);
        let (request, reply, status, retries, took, waited) = match (&ended, failure) {
            (Ok(it), _) => (
                &it.request_digest,
                it.reply_text.clone(),
                it.status,
                &it.retries,
                it.took,
                it.waited,
            ),
            (Err(error), Some(Some(it))) => {
                let said = if it.body.is_empty() { error.to_string() } else { it.body.clone() };
                let status = it.status.unwrap_or_default();
                (&it.request_digest, said, status, &it.retries, it.took, it.waited)
            }
            (Err(_), _) => return Ok(None),
        };
        Ok(Some(ModelRecord {
            round: self.rounds,
            role: tool.to_owned(),
            call: Some(call),
            purpose: Some(purpose.to_owned()),
            asked: Some(self.transcript.body(messages)?),
            request: request.clone(),
            reply: self.transcript.body(reply)?,
            status,
            usage: ended.as_ref().map(|exchange| exchange.usage).unwrap_or_default(),
            peculiar: ended.as_ref().map(|it| it.reply.peculiar.clone()).unwrap_or_default(),
            t: Times {
                at_ms: self.transcript.at_ms(),
                took_ms: millis(took),
                waited_ms: millis(waited),
                retries: retries.clone(),
                ..Times::default()
            },
        }))
    }

    fn note(&mut self, reply: &Reply) -> Result<(), Broken> {
        self.keep_asked(Some(&reply.ingress.to_string()))?;
        for event in &reply.happened {
            let record = event_of(event.clone(), Some(reply.ingress.to_string()));
            self.transcript.append(&Record::Event(record))?;
        }
        for child in &reply.children {
            self.note(child)?;
        }
        self.calls += 1;
        let record = CallRecord {
            round: self.rounds,
            ingress: reply.ingress.to_string(),
            id: reply.call.id.clone(),
            tool: reply.call.name.clone(),
            arguments: self.transcript.body(reply.call.arguments.clone())?,
            result: self.transcript.body(reply.text.clone())?,
            error: reply.error.map(str::to_owned),
            full: reply.full.clone(),
            clock: reply.clock,
            cost_ms: millis(reply.cost),
            web: reply.accesses.clone(),
            notes: reply.notes.clone(),
            t: Times {
                at_ms: self.transcript.at_ms(),
                took_ms: millis(reply.took),
                web_ms: reply.accesses.iter().filter_map(|access| access.took_ms).collect(),
                ..Times::default()
            },
        };
        Ok(self.transcript.append(&Record::Call(record))?)
    }
}

/// Returns the record of an event that happened before a call, or after the last one.
#[must_use]
pub fn event_of(happened: Happened, before: Option<String>) -> EventRecord {
    let Happened { event, occurrence, after_calls, at, failed } = happened;
    EventRecord { event, occurrence, before, after_calls, clock: at, failed }
}
