//! `wildgym inject`, as the people on both sides of it meet it: over real pipes and sockets,
//! with a server that does on request what no server should.
//!
//! With `WILDGYM_BARS=1` the story of 100,000 calls is told too.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

#[path = "../common/mod.rs"]
mod common;

mod bars;
mod ends;
mod http;
mod pipes;
mod stage;
