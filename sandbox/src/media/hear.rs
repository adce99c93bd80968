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

/// Lets the engine of this machine hear a second of silence, and returns why it cannot.
pub async fn try_engine(programs: &Programs) -> Result<(), ProgramError> {
    let limits =
        Limits { wall: Duration::from_secs_f64(LOADING), memory: MEMORY, ..Limits::default() };
    let arguments = ["-c", SCRIPT, "silence.wav"];
    let wav = silence();
    programs.run(Program::Speech, &arguments, &[("silence.wav", &wav)], &limits).await.map(drop)
}

/// Returns a second of silence as WAV, 16 kHz mono.
fn silence() -> Vec<u8> {
    const BYTES: u32 = 32_000;
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + BYTES).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    // PCM, one channel.
    wav.extend([1, 0, 1, 0]);
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend(BYTES.to_le_bytes());
    // Bytes of a frame, bits of a sample.
    wav.extend([2, 0, 16, 0]);
    wav.extend(b"data");
    wav.extend(BYTES.to_le_bytes());
    wav.resize(44 + BYTES as usize, 0);
    wav
}

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
