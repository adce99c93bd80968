//! Foreign programs that read foreign bytes: decoders, text and speech recognition.
//!
//! They are large, written by others, and fed what an agent downloaded. So each call runs
//! in a process that gave up its rights before it became the program: it reads the
//! system's programs and libraries and nothing else of the machine, writes to a directory
//! of the call's own, has no network, can start no other process, and ends with the call
//! and with the gym. A file that breaks out of a decoder costs one call.
//!
//! [`Programs`] is the host's side (`run`, `folder`, `find`), [`speech`] installs the one
//! program that is not the system's, [`confine`] the first life of
//! the process, before it becomes the program (`confine`). Nothing here looks into what a
//! program says; a program that is not installed is an error that names its package.

mod confine;
mod error;
mod find;
mod folder;
mod program;
mod run;
pub mod speech;

pub use confine::confine;
pub use error::ProgramError;
pub use find::{Engine, Search};
pub use folder::Folder;
pub use program::Program;
pub use run::{Limits, Programs, Ran};
