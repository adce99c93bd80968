//! What clients of MCP, and programs that act over it, rely on.
//!
//! Stories with the official SDKs and the conformance suite run where `tests/mcp.sh` has
//! fetched them; stories with contained programs run where bubblewrap can build its walls.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]
#![expect(clippy::print_stderr, reason = "a skipped test must be seen")]

#[path = "../common/mod.rs"]
mod common;

mod client;
mod conformance;
mod fixture;
mod injected;
mod kept;
mod lines;
mod peers;
mod prisoner;
mod program;
mod server;
mod subagents;
mod suite;
