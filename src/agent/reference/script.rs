//! Answers the navigator of `browse_url` as a model would, out of the steps of a solution.
//!
//! It has a walk for each call that browses, by the call's number, and is asked nothing
//! else: what it cannot know it does not answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use futures::future::{BoxFuture, ready};
use serde_json::json;
use wildgym_sandbox::work::Working;
use wildgym_tasks::solution::Step;
use wildgym_toolbox::ask::Purpose;
use wildgym_toolbox::door::Ingress;
use wildgym_toolbox::{Answer, Ask, AskError, Question};

use super::seen::Seen;
use super::walk::{Next, Walk};
use crate::agent::Answers;

/// The walks of one attempt, by the number of their call.
#[derive(Debug, Default)]
pub(super) struct Script(Mutex<BTreeMap<String, Walk>>);

impl Script {
    /// Says what to do in the call that gets this number.
    pub(super) fn expect(&self, call: u64, steps: Vec<Step>) {
        self.walks().insert(call.to_string(), Walk::new(steps));
    }

    fn walks(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Walk>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, asker: &Ingress, question: &Question<'_>) -> Result<Answer, AskError> {
        let mut walks = self.walks();
        let Some(walk) = walks.get_mut(&asker.0) else { return Err(AskError::NoModel) };
        let text = match (question.purpose, question.sight) {
            (Purpose::Plan, _) => "as the reference solution says".to_owned(),
            (Purpose::Replan, _) => json!({ "replan": false, "plan": "" }).to_string(),
            (Purpose::Act, Some(sight)) => {
                let seen = Seen::of(sight.page);
                match walk.next(&seen, sight.said, sight.failed) {
                    Next::Do(action) => reply(&action.to_string(), ""),
                    Next::Done(result) => reply("stop()", &result),
                    Next::Stuck(why) => return Err(AskError::Refused(why)),
                }
            }
            (Purpose::Finish, _) => {
                let why = "the steps of the reference solution need more rounds";
                return Err(AskError::Refused(why.to_owned()));
            }
            (Purpose::Act | Purpose::Media | Purpose::Reply, _) => return Err(AskError::NoModel),
        };
        Ok(Answer { text, seen: true })
    }
}

fn reply(action: &str, result: &str) -> String {
    json!({ "observation": "", "reasoning": "", "action": action, "result": result }).to_string()
}

impl Ask for Script {
    fn sees(&self) -> bool {
        false
    }

    fn ask<'a>(
        &'a self,
        asker: &'a Ingress,
        question: &'a Question<'a>,
        _: &'a mut Working,
    ) -> BoxFuture<'a, Result<Answer, AskError>> {
        Box::pin(ready(self.answer(asker, question)))
    }
}

impl Answers for Script {}
