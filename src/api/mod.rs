//! Episodes over HTTP, for trainers.
//!
//! A trainer opens sessions, begins an episode of a task in each, and steps it: a step is a
//! round, one or several calls at once or the final answer. What happened is judged when the
//! trainer asks for it, once an episode, from what was stored. The parts: `desk` holds the
//! sessions and knows nothing of HTTP; `types` are what travels; `routes` is the one list of
//! routes, from which the server and its `OpenAPI` document are made; `agentgym` speaks the
//! dialect of another gym's clients.
//!
//! It never lets one session see another, never judges what goes on, and never tells an agent
//! what an episode is worth: that takes the trainer's token. Load that cannot be carried is
//! refused with the time after which to come again; nothing piles up without a bound.

mod action;
mod agentgym;
mod desk;
mod openapi;
mod problem;
mod routes;
mod seat;
mod serve;
mod strangers;
mod token;
mod types;

pub use desk::{Bounds, Desk, MakeAnswers};
pub use openapi::document;
pub use problem::{Problem, Refusal, Refused};
pub use serve::{Served, serve};
pub use token::{Role, Tokens};
pub use types::{
    Action, Asked, BatchAsked, BatchItem, BatchReply, Call, CallResult, Closed, Create, Deed,
    Episode, Evaluation, Figures, Observation, Opened, Parts, Reply, Reset, Said, SaidCall,
    SaidFunction, Status, Step, TaskInfo, TaskList, Told, ToolList,
};
