//! The tools of one sandbox, as a client is offered them.
//!
//! The sandbox is made when it is first needed, so a path that nobody comes to costs nothing
//! and no clock runs before somebody acts. After the attempt is over every call is answered
//! with why.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::{CallToolResult, JsonObject, Tool};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use wildgym_toolbox::{Call, Catalog};

use super::acts::{Acts, Withdrawn};
use super::breath::Rounds;
use super::handler::{Asked, Served, Tell};
use super::said;

/// Tells the task.
pub const GET_TASK: &str = "get_task";

/// Takes the answer.
pub const SUBMIT_ANSWER: &str = "submit_answer";

/// How often a client that asked for it hears that a call still runs. Common clients give a
/// call up after 60 s of silence.
const PULSE: Duration = Duration::from_secs(5);

/// Makes the sandbox, or says why it cannot be made.
pub type Open = dyn Fn() -> BoxFuture<'static, Result<Arc<dyn Acts>, String>> + Send + Sync;

/// A sandbox that was made, and what makes rounds of its calls.
type Taken = (Arc<dyn Acts>, Rounds);

/// The tools of one sandbox.
pub struct Desk {
    tools: Vec<Tool>,
    /// The names of the tools of the task, where one is served.
    own: Option<[String; 2]>,
    open: Box<Open>,
    opened: OnceCell<Result<Taken, String>>,
    /// Names of calls so far.
    taken: Mutex<BTreeSet<String>>,
}

impl Desk {
    /// Offers the tools of `catalog`, and where a task is served those that tell it and take
    /// its answer; `open` makes the sandbox when it is needed.
    #[must_use]
    pub fn new(catalog: &Catalog, has_task: bool, open: Box<Open>) -> Self {
        let mut tools: Vec<Tool> = Vec::new();
        let own = has_task.then(|| [GET_TASK, SUBMIT_ANSWER].map(|name| free(catalog, name)));
        if let Some([get_task, submit_answer]) = &own {
            tools.push(described(get_task, TOLD, json!({ "type": "object", "properties": {} })));
            tools.push(described(submit_answer, TAKEN, answer_schema()));
        }
        tools.extend(catalog.iter().map(|entry| {
            described(entry.tool.name(), entry.tool.description(), entry.parameters.clone())
        }));
        Self { tools, own, open, opened: OnceCell::new(), taken: Mutex::default() }
    }

    async fn opened(&self) -> Result<Taken, String> {
        let open = || async {
            let acts = (self.open)().await?;
            let rounds = Rounds::of(Arc::clone(&acts));
            Ok((acts, rounds))
        };
        self.opened.get_or_init(open).await.clone()
    }

    async fn answer(&self, asked: Asked) -> CallToolResult {
        let (acts, rounds) = match self.opened().await {
            Ok(opened) => opened,
            Err(why) => return said::failed(&why),
        };
        match &self.own {
            Some([get_task, _]) if *get_task == asked.name => match acts.task().await {
                Ok(Some(told)) => said::task(&told),
                Ok(None) => said::failed("there is no task here"),
                Err(why) => said::failed(&why),
            },
            Some([_, submit_answer]) if *submit_answer == asked.name => {
                submit(acts.as_ref(), submit_answer, &asked.arguments).await
            }
            Some(_) | None => self.call(&acts, &rounds, asked).await,
        }
    }

    /// Names a call after its request, and so that no two have one name.
    fn name(&self, number: Option<i64>) -> String {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let place = number.map_or_else(|| format!("{}", taken.len() + 1), |one| one.to_string());
        let mut name = format!("call-{place}");
        for again in 2.. {
            if taken.insert(name.clone()) {
                break;
            }
            name = format!("call-{place}-{again}");
        }
        name
    }

    /// Makes a call through the sandbox's door.
    async fn call(&self, acts: &Arc<dyn Acts>, rounds: &Rounds, asked: Asked) -> CallToolResult {
        let Asked { name, arguments, number, tell } = asked;
        let id = self.name(number);
        let withdrawn = Withdrawn::watch(acts, &id);
        let arguments = Value::Object(arguments).to_string();
        let reply = tokio::select! {
            reply = rounds.call(Call { id, name: name.clone(), arguments }, number) => reply,
            never = pulse(&tell, &name) => match never {},
        };
        withdrawn.done();
        match reply {
            Ok(reply) => said::of(&reply),
            Err(why) => said::failed(&why),
        }
    }
}

impl Served for Desk {
    fn instructions(&self) -> String {
        match &self.own {
            Some([get_task, submit_answer]) => format!(
                "A sandbox with a task. Call `{get_task}` first. Work with the other tools, \
                 several calls at once where they do not depend on each other; paths are \
                 relative to the workspace. End with one call of `{submit_answer}`; nothing can \
                 be done after it."
            ),
            None => "A sandbox without a task. Paths are relative to its workspace.".to_owned(),
        }
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.clone()
    }

    fn call(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, CallToolResult> {
        Box::pin(async move { self.answer(asked).await })
    }
}

/// Says every now and then that a call still runs.
async fn pulse(tell: &Tell, name: &str) -> Infallible {
    let begin = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(PULSE).await;
        let seconds = begin.elapsed().as_secs();
        // Whole numbers of that size are exact.
        let progress = u32::try_from(seconds).map_or(f64::MAX, f64::from);
        tell.progress(progress, None, &format!("`{name}` runs for {seconds} s")).await;
    }
}

/// Takes the answer out of arguments and hands it in.
async fn submit(acts: &dyn Acts, name: &str, arguments: &JsonObject) -> CallToolResult {
    let Some(Value::String(answer)) = arguments.get("answer") else {
        return said::failed(&format!("`{name}` takes `answer`, a text"));
    };
    match acts.answer(answer.clone()).await {
        Ok(()) => said::well("The answer is recorded and the attempt is over."),
        Err(why) => said::failed(&why),
    }
}

/// Returns the name, or another one where a tool of the sandbox has it.
fn free(catalog: &Catalog, name: &str) -> String {
    let taken = catalog.names().iter().any(|other| other == name);
    if taken { format!("wildgym_{name}") } else { name.to_owned() }
}

fn described(name: &str, description: &str, schema: Value) -> Tool {
    let schema = match schema {
        Value::Object(schema) => schema,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            JsonObject::new()
        }
    };
    Tool::new(name.to_owned(), description.to_owned(), schema)
}

/// What a model is told of the tool that tells the task.
const TOLD: &str = "Returns the task: the request, the files that belong to it, and its pictures.";

/// What a model is told of the tool that takes the answer.
const TAKEN: &str = "Hands in the final answer to the task and ends the attempt. Only the first \
    one counts. Give the answer itself, as short as the task asks for it, not how it was found.";

fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "answer": { "type": "string", "description": "The final answer." },
        },
        "required": ["answer"],
        "additionalProperties": false,
    })
}
