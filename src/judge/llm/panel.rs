//! Several votes on one answer.
//!
//! The votes are cast one after another, by the models in turn, until more than half of all
//! votes that may be cast agree, or no longer can. So the verdict is the one that all votes
//! would lead to, and what is not needed is not asked. Votes for nothing count as cast.

use super::vote::{Cast, Member, word};
use super::{Account, Matter, Question, gate};
use crate::judge::{Ballot, Ruling};
use crate::model::{Model, ModelError};
use crate::verdict::Verdict;

/// Most votes of a panel.
const MOST: u32 = 99;

/// Models that judge.
#[derive(Debug)]
pub struct Panel {
    pub(super) members: Vec<Member>,
    votes: u32,
}

/// Why models cannot be a panel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PanelError {
    /// There is no model.
    #[error("a panel needs a model")]
    NoModel,
    /// The number of votes has no majority, or is out of range.
    #[error("{0} votes cannot decide: an odd number from 1 to {MOST} can")]
    Votes(u32),
    /// Some models would never be asked.
    #[error("{votes} votes are too few for {models} models")]
    TooFew {
        /// Number of votes.
        votes: u32,
        /// Number of models.
        models: usize,
    },
    /// A model's settings cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Panel {
    /// Makes a panel of models that vote in turn: the first casts the first vote.
    ///
    /// `votes` is odd, from 1 to 99, and at least the number of models.
    pub fn new(models: Vec<Model>, votes: u32) -> Result<Self, PanelError> {
        Self::check(models.len(), votes)?;
        let members =
            models.into_iter().map(|model| Member::new(&model)).collect::<Result<_, _>>()?;
        Ok(Self { members, votes })
    }

    /// Says whether that many models with that many votes can decide.
    pub fn check(models: usize, votes: u32) -> Result<(), PanelError> {
        if models == 0 {
            return Err(PanelError::NoModel);
        }
        if votes.is_multiple_of(2) || votes > MOST {
            return Err(PanelError::Votes(votes));
        }
        if (votes as usize) < models {
            return Err(PanelError::TooFew { votes, models });
        }
        Ok(())
    }

    /// Judges an answer: without a model where [`gate`] can, else by votes.
    ///
    /// `scope` is the trial and the attempt in whose name the models are asked; it is sent
    /// in headers and moves no verdict.
    pub async fn decide(&self, question: &Question<'_>, scope: (&str, u32)) -> Ruling {
        match gate(question.reference, question.answer) {
            Some(decided) => Ruling::of(decided),
            None => self.ask(question, scope).await,
        }
    }

    /// Judges an answer by votes alone.
    pub async fn ask(&self, question: &Question<'_>, scope: (&str, u32)) -> Ruling {
        self.poll(Matter::Answer(question), scope).await
    }

    /// Judges an account of what was done: pass where it keeps to the rubric and agrees with
    /// the calls, fail where it does not.
    pub async fn review(&self, account: &Account<'_>, scope: (&str, u32)) -> Ruling {
        self.poll(Matter::Account(account), scope).await
    }

    async fn poll(&self, matter: Matter<'_>, scope: (&str, u32)) -> Ruling {
        let mut ballots = Vec::new();
        let mut count = Count::new(self.votes);
        for (number, member) in (1..=self.votes).zip(self.members.iter().cycle()) {
            count.add(member.vote(matter, scope, number, &mut ballots).await);
            if count.is_settled() {
                break;
            }
        }
        count.ruling(ballots)
    }

    /// Returns for each model whether its endpoint is asked without a schema for the reply.
    #[must_use]
    pub fn plain(&self) -> Vec<bool> {
        self.members.iter().map(Member::is_plain).collect()
    }

    /// Takes over what another panel of the same models learnt, see [`plain`](Self::plain).
    pub fn set_plain(&self, plain: &[bool]) {
        for (member, is_plain) in self.members.iter().zip(plain) {
            member.set_plain(*is_plain);
        }
    }
}

/// The votes so far.
#[derive(Debug)]
pub(super) struct Count {
    of: u32,
    cast: u32,
    pass: u32,
    fail: u32,
    /// The reason of the first vote on each side.
    why_pass: String,
    why_fail: String,
    /// Why votes came to nothing.
    nothing: Vec<String>,
    failure: Option<String>,
}

impl Count {
    pub(super) fn new(of: u32) -> Self {
        let (why_pass, why_fail) = (String::new(), String::new());
        Self {
            of,
            cast: 0,
            pass: 0,
            fail: 0,
            why_pass,
            why_fail,
            nothing: Vec::new(),
            failure: None,
        }
    }

    pub(super) fn add(&mut self, cast: Cast) {
        self.cast += 1;
        match cast {
            Cast::For(opinion) if opinion.verdict == Verdict::Pass => {
                self.pass += 1;
                if self.why_pass.is_empty() {
                    self.why_pass = opinion.reason;
                }
            }
            Cast::For(opinion) => {
                self.fail += 1;
                if self.why_fail.is_empty() {
                    self.why_fail = opinion.reason;
                }
            }
            Cast::Nothing(why) => self.nothing.push(why),
            Cast::Failed(why) => {
                self.failure.get_or_insert_with(|| why.clone());
                self.nothing.push(why);
            }
        }
    }

    fn has_majority(&self, votes: u32) -> bool {
        votes > self.of / 2
    }

    /// Returns whether the votes to come change nothing.
    pub(super) fn is_settled(&self) -> bool {
        let left = self.of - self.cast;
        let open = self.has_majority(self.pass + left) || self.has_majority(self.fail + left);
        self.has_majority(self.pass) || self.has_majority(self.fail) || !open
    }

    pub(super) fn ruling(self, votes: Vec<Ballot>) -> Ruling {
        for (verdict, count, why) in
            [(Verdict::Pass, self.pass, &self.why_pass), (Verdict::Fail, self.fail, &self.why_fail)]
        {
            if self.has_majority(count) {
                let said = word(verdict);
                let colon = if why.is_empty() { "" } else { ": " };
                let first = format!("judged {said}{colon}{why}");
                let tally = format!("{} of {} votes cast, {count} agree", self.cast, self.of);
                let reasons = if self.of == 1 { vec![first] } else { vec![first, tally] };
                return Ruling { verdict, reasons, votes, failure: None };
            }
        }
        let mut reasons = vec![match self.nothing.first() {
            Some(why) if self.of == 1 => format!("no verdict: {why}"),
            _ => format!(
                "no majority: {} correct, {} incorrect, {} for nothing, of {} votes",
                self.pass,
                self.fail,
                self.nothing.len(),
                self.of
            ),
        }];
        if self.of > 1 {
            reasons.extend(self.nothing);
        }
        Ruling { verdict: Verdict::Unjudged, reasons, votes, failure: self.failure }
    }
}
