//! What an agent acts in, and the notes that are taken of it.

use std::sync::Arc;
use std::time::Duration;

use wildgym_sandbox::Seed;
use wildgym_sandbox::work::Working;
use wildgym_tasks::scenario::Language;
use wildgym_tasks::task::Limits;
use wildgym_toolbox::{Call, Reply, Toolbox};

use super::split::{Part, Spent, Split};
use super::{Broken, millis};
use crate::record::{CallRecord, Lost, MessageRecord, Record, Times, Usage};
use crate::store::Transcript;

/// What an agent is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The request.
    pub instruction: String,
    /// Paths of the attachments in the workspace.
    pub attachments: Vec<String>,
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
    /// What is going on now, for the detail of a time-out.
    pub doing: String,
    split: Split,
    transcript: Transcript,
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
            doing: "starting".to_owned(),
            split: Split::new(working.elapsed()),
            working,
            transcript,
        }
    }

    /// Returns the transcript.
    pub fn transcript(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    /// Notes something the agent was told outside of a call's result.
    pub fn told(&mut self, role: &str, why: &str, content: &str) -> Result<(), Broken> {
        let content = self.transcript.body(content.to_owned())?;
        let record = MessageRecord { role: role.to_owned(), content, why: why.to_owned() };
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
        // Each call holds a share of its own, so time stands while all of them wait.
        let replies = self.working.pause(self.toolbox.round(calls)).await;
        self.turn(Part::Own);
        let replies =
            replies.map_err(|lost| Broken { lost: Lost::Sandbox, detail: lost.to_string() })?;
        for reply in &replies {
            self.note(reply)?;
        }
        Ok(replies)
    }

    fn note(&mut self, reply: &Reply) -> Result<(), Broken> {
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
