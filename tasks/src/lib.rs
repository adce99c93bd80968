//! What wildgym keeps in files.
//!
//! A suite is a folder of tasks; a task is a request, an initial state and what
//! counts as done. This crate reads those folders, reports every fault in them at
//! once, and turns a task and a set of idealised factors into what an agent is
//! given. It knows nothing of sandboxes, tools or models, runs nothing, and never
//! prints.
//!
//! The file formats are described in `tasks/README.md`; `wildgym tasks schema`
//! prints their JSON Schemas.

pub mod answer;
pub mod builtin;
pub mod check;
mod digest;
pub mod environment;
pub mod factor;
pub mod fault;
pub mod given;
pub mod judging;
mod load;
pub mod scenario;
pub mod scenario_file;
pub mod schema;
pub mod solution;
pub mod suite;
pub mod task;
pub mod template;
pub mod variant;
pub mod world;

pub use answer::{Answer, AnswerKind};
pub use factor::Factor;
pub use fault::{Fault, Faults};
pub use given::{ComposeError, Given};
pub use scenario::Scenario;
pub use suite::Suite;
pub use task::Task;
pub use variant::Variant;
pub use world::World;
