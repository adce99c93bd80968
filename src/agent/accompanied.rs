//! An agent beside whom a model plays the person who gave the task.
//!
//! Any agent can be accompanied, one without a model too; it does not know.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Agent, Answers, Broken, Ending, Episode};

/// An agent, and who plays the person that gave it its task.
pub struct Accompanied {
    agent: Arc<dyn Agent>,
    user: Arc<dyn Answers>,
}

impl Accompanied {
    /// Has `user` asked what `agent` asks the person who gave the task.
    #[must_use]
    pub fn new(agent: Arc<dyn Agent>, user: Arc<dyn Answers>) -> Self {
        Self { agent, user }
    }
}

impl std::fmt::Debug for Accompanied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accompanied").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Agent for Accompanied {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        self.agent.run(episode)
    }

    fn answers(&self) -> Option<Arc<dyn Answers>> {
        self.agent.answers()
    }

    fn user(&self) -> Option<Arc<dyn Answers>> {
        Some(Arc::clone(&self.user))
    }

    fn is_recorded(&self) -> bool {
        self.agent.is_recorded()
    }
}
