//! What an agent can call.
//!
//! A tool is one file in `tools/` and one line in [`catalog`]. Its definition gives
//! both the schema that a model reads and the code that runs, so the two cannot
//! drift apart. Every call, whoever makes it, goes through one door,
//! [`Toolbox::call`]; what wants to watch or change calls from above (recording,
//! faults) enters there as an [`Interceptor`].
//!
//! This crate knows nothing of models, transcripts or scores.

pub mod ask;
pub mod catalog;
pub mod door;
pub mod error;
pub mod footprint;
pub mod foreign;
pub mod schema;
mod serper;
mod sight;
mod source;
mod speech;
pub mod tool;
pub mod tools;
pub mod wording;

pub use ask::{Answer, Ask, AskError, Question};
pub use catalog::Catalog;
pub use door::{Bounds, Call, Decision, Incoming, Interceptor, Reply, SandboxLost, Toolbox};
pub use error::{Blame, ToolError, Vital};
pub use footprint::Footprint;
pub use foreign::Foreign;
pub use tool::{CallContext, Category, Output, Tool};
pub use tools::operation::Operation;
pub use wording::Wording;
