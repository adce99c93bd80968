//! Any program as an agent.
//!
//! For each attempt the program is started anew. It finds the task in a file and on standard
//! input, the tools at an endpoint of MCP, and its model, where the run has one, behind an
//! endpoint that speaks the chat-completions protocol, counts, and has the run's limits. Its
//! answer is what it hands in by `submit_answer`, else what it writes to a file, else to
//! standard output.
//!
//! It is a guest of the machine: contained, it sees its own files, the workspace and these two
//! endpoints, and nothing else. Whatever it started ends with the attempt.

mod bounds;
mod door;
mod end;
mod post;
mod proxy;
mod startable;
mod words;

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use futures::future::BoxFuture;
use wildgym_sandbox::guest::Mount;

pub use post::OUTSIDE;
pub use startable::startable;
pub use words::{files, own, split};

use super::{Agent, Answers, Asking, Broken, Ending, Episode, Seat, drive};
use crate::model::Model;
use crate::record::{Lost, Outcome};
use bounds::Bounds;
use end::Output;
use post::Post;

/// How a program is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// More variables of its environment.
    pub environment: Vec<(String, String)>,
    /// How it is walled in; none where it is not.
    pub cage: Option<Walls>,
    /// The gym's own program, whose mode `keeper` ends what it started.
    pub keeper: Utf8PathBuf,
}

/// What a contained program is walled in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walls {
    /// bubblewrap.
    pub bubblewrap: Utf8PathBuf,
    /// The program `wildgym-relay`.
    pub relay: Utf8PathBuf,
    /// The program's own files.
    pub mounts: Vec<Mount>,
    /// What it must not see.
    pub hidden: Vec<Utf8PathBuf>,
    /// Folders of the programs that it may start, as `PATH` has them.
    pub path: String,
    /// Whether it can make no user namespaces.
    pub closed: bool,
}

/// A program as an agent.
#[derive(Debug, Clone)]
pub struct Program {
    spec: Arc<Spec>,
    model: Option<Model>,
    answers: Option<Arc<Asking>>,
}

impl Program {
    /// Returns an agent that runs a program; `model` is what answers it, where the run has
    /// one.
    #[must_use]
    pub fn new(spec: Arc<Spec>, model: Option<Model>) -> Self {
        Self { spec, model, answers: None }
    }

    /// Has the questions of tools answered by `asking`.
    #[must_use]
    pub fn answered_by(self, asking: Option<Arc<Asking>>) -> Self {
        Self { answers: asking, ..self }
    }

    async fn act(&self, episode: &mut Episode) -> Result<Ending, Broken> {
        let broken = |what: &str, error: &dyn std::fmt::Display| Broken {
            lost: Lost::Harness,
            detail: format!("{what}: {error}"),
        };
        let (seat, mut wishes) = Seat::at(episode);
        let workspace = episode.toolbox.sandbox().workspace.host_path().map(Utf8Path::to_owned);
        let workspace =
            workspace.map_err(|error| broken("the workspace cannot be shown", &error))?;
        let scratch = episode.toolbox.sandbox().host.scratch.path().to_owned();
        let place = (&*scratch, self.spec.cage.is_some());
        let post = Post::open(place, &seat, self.model.as_ref(), &episode.request).await;
        let post =
            post.map_err(|error| broken("the program's endpoints cannot be opened", &error))?;
        let started = post.start(&self.spec, &workspace, self.model.as_ref());
        let (mut guest, output) =
            started.map_err(|error| broken("the program cannot be started", &error))?;
        let output = Output::read(output);
        let bounds = Bounds::of(&episode.toolbox.sandbox().workspace, post.place(), guest.keeper());
        let bounds =
            bounds.map_err(|error| broken("what the program fills cannot be watched", &error))?;
        // The seat at which the program's end is told must not keep the episode alive.
        let driving = drive(episode, &mut wishes, self.model.as_ref());
        let leaving = async {
            let left = guest.ended().await;
            match end::of(&post, left, output).await {
                Ok(ending) => {
                    let _over = seat.end(ending).await;
                    std::future::pending().await
                }
                Err(broken) => broken,
            }
        };
        // What is under way then is cut off by no limit.
        let filled = async {
            let said = bounds.exceeded().await;
            self.model.iter().for_each(Model::leave);
            said
        };
        tokio::select! {
            biased;
            ended = driving => ended,
            broken = leaving => Err(broken),
            said = filled => Ok(Ending::without(Outcome::NoAnswer, said)),
        }
    }
}

impl Agent for Program {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(self.act(episode))
    }

    fn answers(&self) -> Option<Arc<dyn Answers>> {
        self.answers.clone().map(|asking| asking as Arc<dyn Answers>)
    }

    fn is_recorded(&self) -> bool {
        self.model.as_ref().is_some_and(Model::is_recorded)
    }
}
