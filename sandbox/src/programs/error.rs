//! Why a program gave no result.

use super::Program;

/// Why a program gave no result. The messages are read by the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It is not installed.
    #[error(
        "`{}` is not on this machine, and {} need it: {} (`wildgym doctor` tells what else is \
         missing)",
        .0.name(), .0.needed_for(), .0.install()
    )]
    Missing(Program),
    /// It ended with an error; the text is the end of what it said.
    #[error("`{}` failed: {said}", .program.name())]
    Failed {
        /// The program.
        program: Program,
        /// Its last words, in one line.
        said: String,
    },
    /// It was stopped at a limit; the text says at which.
    #[error("`{}` was stopped: {limit}", .program.name())]
    Stopped {
        /// The program.
        program: Program,
        /// The limit, in words.
        limit: String,
    },
    /// It could not be started, or what it wrote could not be read.
    #[error("cannot run `{}`: {reason}", .program.name())]
    Broken {
        /// The program.
        program: Program,
        /// What the system said.
        reason: String,
    },
}
