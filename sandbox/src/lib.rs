//! Where a tool call happens.
//!
//! A [`Sandbox`] lives and dies with one attempt: a workspace, a network as the
//! trial sees it, a place where code runs, a clock and a seed. What all attempts of
//! a process share (the compiled code runtime, the parser processes, the scratch
//! directory) is a [`Host`].
//!
//! The one promise of this crate: what one attempt does cannot be seen by another,
//! and nothing that an agent sends, writes or downloads can do more than fail its
//! own call. This crate knows nothing of tools, models or scores, and uses of
//! `wildgym-tasks` only the plain data of environments, worlds and sites.

pub mod browser;
pub mod clock;
pub mod code;
mod compute;
pub mod documents;
pub mod encoding;
pub mod engines;
pub mod guest;
pub mod host;
mod html;
pub mod media;
pub mod passages;
pub mod programs;
pub mod sandbox;
pub mod scratch;
pub mod seed;
pub mod servers;
mod starter;
pub mod web;
mod words;
pub mod work;
pub mod worker;
pub mod workspace;
pub mod world;

pub use clock::Clock;
pub use compute::compute;
pub use engines::Engines;
pub use host::Host;
pub use sandbox::Sandbox;
pub use seed::Seed;
pub use workspace::Workspace;
