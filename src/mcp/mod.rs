//! Sandboxes over the Model Context Protocol: what acts in them is any client of it.
//!
//! The protocol itself is spoken by its official SDK; here is what is said over it. A
//! [`Desk`] offers the tools of one sandbox, and where a task is served `get_task` and
//! `submit_answer` beside them. Every call goes through the sandbox's own door by way of an
//! [`Acts`], so limits, clock, faults and records are those of any other agent. Nothing here
//! knows suites, runs or scores, and nothing asks a client's model or user for anything: that
//! would be a way around the record.
//!
//! One desk, one sandbox: over standard input and output it belongs to the process, over
//! HTTP to a path that cannot be guessed.

mod acts;
mod breath;
mod desk;
mod handler;
mod http;
mod lines;
mod said;
mod snippet;
mod stdio;

pub use acts::{Acts, Free, Told};
pub use desk::{Desk, GET_TASK, Open, SUBMIT_ANSWER};
pub use handler::{Asked, Served, Tell};
pub use http::{Guard, Paths, router, token};
pub use snippet::{Client, Reach, file, snippet};
pub use stdio::stdio;

pub use rmcp::transport::stdio_pipes;

/// Types of the SDK that whoever serves something of its own needs.
pub use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ResourceContents, Tool, ToolAnnotations,
};
