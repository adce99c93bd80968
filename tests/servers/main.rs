//! Foreign servers: what users reported of other harnesses, each a story, against a server that
//! does on request what no server should; and the official ones, where they are installed.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

#[path = "../common/mod.rs"]
mod common;
mod door;
mod official;
mod runs;
mod stage;
