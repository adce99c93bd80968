//! The agent that replays a task's reference solution through the real tools.
//!
//! It goes on after a failed call: an expression that reads the call then fails by
//! itself. So when a broken tool makes the reference fail, it is because the answer
//! needs what the tool returns.

use camino::Utf8PathBuf;
use futures::future::BoxFuture;
use wildgym_tasks::solution::{Results, Solution};
use wildgym_toolbox::Call;

use super::{Agent, Broken, Ending, Episode};
use crate::record::{Limit, Outcome};

/// Replays a reference solution.
#[derive(Debug, Clone)]
pub struct Reference {
    solution: Solution,
    folder: Utf8PathBuf,
}

impl Reference {
    /// Returns an agent that replays `solution`, whose files lie in `folder`.
    #[must_use]
    pub fn new(solution: Solution, folder: Utf8PathBuf) -> Self {
        Self { solution, folder }
    }

    async fn replay(&self, episode: &mut Episode) -> Result<Ending, Broken> {
        episode.told("user", "task", &episode.request.instruction.clone())?;
        let mut results = Results::default();
        for round in &self.solution.rounds {
            if !episode.next_round() {
                return Ok(Ending::without(Outcome::Limit(Limit::Rounds), "no round left"));
            }
            let mut calls = Vec::new();
            for call in &round.calls {
                let arguments = match call.arguments(&results, &self.folder) {
                    Ok(arguments) => arguments,
                    Err(error) => return Ok(stuck(&call.name, &error)),
                };
                calls.push(Call {
                    id: call.name.clone(),
                    name: call.tool.clone(),
                    arguments: serde_json::Value::Object(arguments).to_string(),
                });
            }
            for reply in episode.call(calls).await? {
                match reply.error {
                    None => results.succeeded(reply.call.id, reply.text),
                    Some(_) => results.failed(reply.call.id),
                }
            }
        }
        Ok(match self.solution.answer.evaluate(&results) {
            Ok(answer) => Ending::answered(answer),
            Err(error) => stuck("answer", &error),
        })
    }
}

/// Ends where an expression cannot be computed.
fn stuck(place: &str, error: &dyn std::error::Error) -> Ending {
    Ending::without(Outcome::NoAnswer, format!("`{place}` cannot be computed: {error}"))
}

impl Agent for Reference {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(self.replay(episode))
    }
}
