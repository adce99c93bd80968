//! Models that rate, and what their votes come to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::super::reply::Unread;
use super::super::vote::{GIVE_UP, TRIES, short};
use super::{Work, prompt, reply};
use crate::judge::Ballot;
use crate::judge::llm::{Panel, PanelError};
use crate::model::{Asked, Model, ModelError, Retrying, Settings, Structured};
use crate::record::Usage;
use crate::verdict::{Rubric, Scores};

/// Models that rate, in turn.
#[derive(Debug)]
pub struct Raters {
    members: Vec<Rater>,
    votes: u32,
}

#[derive(Debug)]
struct Rater {
    model: Structured,
    name: String,
    /// Exchanges in a row that the endpoint broke.
    broken: AtomicUsize,
}

/// What came of the votes on an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Rated {
    /// The scores; none where not more than half of the votes could be read.
    pub rubric: Option<Rubric>,
    /// Every call of a model, in the order made.
    pub votes: Vec<Ballot>,
    /// Why votes came to nothing.
    pub nothing: Vec<String>,
    /// What an endpoint said, where one would not or could not answer.
    pub failure: Option<String>,
}

/// What a vote came to.
enum Cast {
    Scores(Scores),
    Nothing(String),
    Failed(String),
}

impl Raters {
    /// Makes raters of models, which vote in turn: the first casts the first vote. `votes` is
    /// odd, from 1 to 99, and at least the number of models.
    pub fn new(models: &[Model], votes: u32) -> Result<Self, PanelError> {
        Panel::check(models.len(), votes)?;
        let members = models.iter().map(Rater::new).collect::<Result<_, _>>()?;
        Ok(Self { members, votes })
    }

    /// Has an attempt rated by all votes, one after another; stops where so many came to
    /// nothing that the rest cannot help. `scope` is the trial and the attempt.
    pub async fn rate(&self, work: &Work<'_>, scope: (&str, u32)) -> Rated {
        let mut rated =
            Rated { rubric: None, votes: Vec::new(), nothing: Vec::new(), failure: None };
        let mut given = Vec::new();
        for (number, member) in (1..=self.votes).zip(self.members.iter().cycle()) {
            match member.vote(work, scope, number, &mut rated.votes).await {
                Cast::Scores(scores) => given.push(scores),
                Cast::Nothing(why) => rated.nothing.push(why),
                Cast::Failed(why) => {
                    rated.failure.get_or_insert_with(|| why.clone());
                    rated.nothing.push(why);
                }
            }
            if rated.nothing.len() > (self.votes / 2) as usize {
                return rated;
            }
        }
        Rated { rubric: Rubric::of(&given), failure: None, ..rated }
    }
}

impl Rater {
    /// Prepares a model for rating: temperature 0, few retries, and a form for the reply.
    fn new(model: &Model) -> Result<Self, ModelError> {
        let given = model.settings().clone();
        let tries = given.retrying.tries.min(TRIES);
        let retrying = Retrying { tries, format_tries: 1, ..given.retrying };
        let settings = Settings { temperature: Some(0.0), seed: None, retrying, ..given };
        let model = model.with_settings(settings)?;
        let name = model.endpoint().model().to_owned();
        let model = Structured::new(&model, prompt::FORM, &prompt::schema())?;
        Ok(Self { model, name, broken: AtomicUsize::new(0) })
    }

    /// Casts the vote of that number, with a second try where a reply cannot be read.
    async fn vote(
        &self,
        work: &Work<'_>,
        scope: (&str, u32),
        number: u32,
        ballots: &mut Vec<Ballot>,
    ) -> Cast {
        if self.broken.load(Ordering::Relaxed) >= GIVE_UP {
            let name = &self.name;
            return Cast::Failed(format!(
                "`{name}` is left alone after {GIVE_UP} failures in a row"
            ));
        }
        let model = self.model.scoped(scope.0, scope.1, &format!("rubric-{number}"));
        let mut said = Cast::Nothing(String::new());
        for again in [false, true] {
            let messages = prompt::messages(work, scope, number, again);
            let mut may_be_read = false;
            for asked in model.chat(&messages).await {
                let (ballot, cast, unreadable) = self.read(asked, number, work.answer);
                ballots.push(ballot);
                (said, may_be_read) = (cast, unreadable);
            }
            if !may_be_read {
                break;
            }
        }
        match said {
            Cast::Failed(_) => drop(self.broken.fetch_add(1, Ordering::Relaxed)),
            Cast::Scores(_) | Cast::Nothing(_) => self.broken.store(0, Ordering::Relaxed),
        }
        said
    }

    /// Reads what came of a request; the last value says whether asking again may help.
    fn read(&self, asked: Asked, number: u32, answer: &str) -> (Ballot, Cast, bool) {
        let digest = blake3::hash(asked.request.as_bytes()).to_hex().to_string();
        let mut ballot = Ballot {
            number,
            model: self.name.clone(),
            digest,
            request: asked.request,
            reply: None,
            verdict: None,
            rates: true,
            scores: None,
            reason: String::new(),
            usage: Usage::default(),
            took: Duration::ZERO,
            waited: Duration::ZERO,
            retries: Vec::new(),
        };
        let (cast, again) = match asked.ended {
            Err(error) => {
                let said = failed(&error, &mut ballot);
                (said, false)
            }
            Ok(exchange) => {
                let read = reply::read(&exchange, answer);
                ballot.reply = Some(exchange.reply_text);
                ballot.usage = exchange.usage;
                (ballot.took, ballot.waited) = (exchange.took, exchange.waited);
                ballot.retries = exchange.retries;
                match read {
                    Ok(given) => {
                        ballot.reason = short(&given.reason);
                        ballot.scores = Some(given.scores);
                        (Cast::Scores(given.scores), false)
                    }
                    Err(Unread::Unreadable(why)) => {
                        ballot.reason = short(&why);
                        (Cast::Nothing(why), true)
                    }
                    Err(Unread::Withheld(why)) => {
                        ballot.reason = short(&why);
                        (Cast::Nothing(why), false)
                    }
                }
            }
        };
        (ballot, cast, again)
    }
}

/// Keeps what an endpoint said instead of a reply.
fn failed(error: &ModelError, ballot: &mut Ballot) -> Cast {
    ballot.reason = short(&error.to_string());
    if let Some(failure) = error.failure() {
        ballot.reply = (!failure.body.is_empty()).then(|| failure.body.clone());
        (ballot.took, ballot.waited) = (failure.took, failure.waited);
        ballot.retries.clone_from(&failure.retries);
    }
    let why = ballot.reason.clone();
    match error {
        ModelError::ContextOverflow(_) => Cast::Nothing(why),
        ModelError::Refused(_)
        | ModelError::Gone(_)
        | ModelError::Misconfigured(_)
        | ModelError::Cassette(_) => Cast::Failed(why),
    }
}
