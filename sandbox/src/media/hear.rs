//! Speech recognition on this machine, with what `wildgym setup --speech` installed.

use std::time::Duration;

use super::recording::{MediaError, Pieces, Recording};
use super::transcript::Transcript;
use crate::programs::{Limits, Program, ProgramError, Programs};

/// What the engine's Python runs.
const SCRIPT: &str = include_str!("hear.py");

/// What the engine is called in results.
pub const ENGINE: &str = "the speech engine of this machine (Whisper base)";

/// How much longer than the recording the engine may take: on two busy cores it takes about
/// as long.
const SLOWER: f64 = 6.0;

/// Time to start and load, in seconds.
const LOADING: f64 = 120.0;

/// Memory of the engine in bytes: the model, its runtimes and ten minutes of sound.
const MEMORY: u64 = 3 << 30;

impl Recording {
    /// Has the engine of this machine write down what is said.
    pub async fn hear(
        &self,
        programs: &Programs,
        pieces: &Pieces,
    ) -> Result<Transcript, MediaError> {
        let mut arguments = vec!["-c", SCRIPT];
        arguments.extend(pieces.pieces.iter().map(|piece| piece.file.as_str()));
        let limits = Limits {
            wall: Duration::from_secs_f64(LOADING + pieces.seconds * SLOWER),
            memory: MEMORY,
            files: 3 << 30,
            ..Limits::default()
        };
        let ran = programs.run_in(&self.folder, Program::Speech, &arguments, &limits).await?;
        let broken = |reason: String| ProgramError::Broken { program: Program::Speech, reason };
        let mut whole = Transcript::default();
        let lines: Vec<&[u8]> =
            ran.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        if lines.len() != pieces.pieces.len() {
            let reason = format!("it heard {} of {} pieces", lines.len(), pieces.pieces.len());
            return Err(broken(reason).into());
        }
        for (line, piece) in lines.iter().zip(&pieces.pieces) {
            let heard: Transcript =
                serde_json::from_slice(line).map_err(|error| broken(error.to_string()))?;
            whole.append(heard, piece.start);
        }
        Ok(whole)
    }
}
