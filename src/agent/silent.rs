//! An agent that answers at once.

use futures::future::BoxFuture;

use super::{Agent, Broken, Ending, Episode};

/// Answers with nothing, without a look at the task. It must pass no task at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Agent for Silent {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(async move {
            episode.told("user", "task", &episode.request.instruction.clone())?;
            Ok(Ending::answered(""))
        })
    }
}
