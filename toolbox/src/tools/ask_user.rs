//! `ask_user`: asks the person who gave the task.
//!
//! The replies are a script of the task: the first rule whose pattern fits the question
//! replies, else a default. A reply depends on the question alone, so one question has one
//! reply, however often and whenever it is asked. On request a model plays the person; it is
//! told the request and the replies of the rules and nothing else, and what it says is cut to
//! a few sentences. Without rules there is nothing that it could know, and it is not asked.

mod played;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wildgym_tasks::scenario_file::{ASK_USER, AskUser as Script, NO_REPLY};

use crate::ask::Ask;
use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::{CallContext, Category, Output, Tool};

/// Logical time that a person takes to reply.
const REPLY: Duration = Duration::from_mins(1);

/// Asks the person who gave the task.
#[derive(Debug, Default)]
pub struct AskUser;

/// The person who gave the task.
pub struct Person {
    /// The request that the person gave.
    pub request: String,
    /// What the person knows beyond it.
    pub script: Script,
    /// The model that plays the person; none where the script replies by itself.
    pub played_by: Option<Arc<dyn Ask>>,
}

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Person").field("script", &self.script).finish_non_exhaustive()
    }
}

/// Arguments of [`AskUser`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// One question, in the words that you would say to them; name the choices where there
    /// are some.
    #[schemars(length(min = 1, max = 2000))]
    question: String,
}

impl Tool for AskUser {
    const NAME: &'static str = ASK_USER;
    const DESCRIPTION: &'static str = "Asks the person who gave you the task, and returns \
        what they reply. For what only they can know: which of several things they mean, a \
        choice that the request leaves open. They know nothing of ids and do not look things \
        up for you.";
    const CATEGORY: Category = Category::Conversation;
    const EXAMPLE: &'static str = r#"{"question": "Do you mean the order of March or of May?"}"#;
    type Args = Args;

    fn footprint(&self, _args: &Args) -> Footprint {
        Footprint::none()
    }

    fn cost(&self, _args: &Args) -> Duration {
        REPLY
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let Some(person) = context.toolbox.user() else {
            return Ok(NO_REPLY.to_owned().into());
        };
        if let Some(model) = person.played_by.as_ref().filter(|_| !person.script.rules.is_empty()) {
            let said = played::reply(person, model, &args.question, context).await?;
            context.note(json!({ "ask_user": { "rule": said.facts.first(), "model": true } }));
            return Ok(said.reply.into());
        }
        let (rule, reply) = person.script.reply(&args.question);
        context.note(json!({ "ask_user": { "rule": rule } }));
        Ok(reply.to_owned().into())
    }
}
