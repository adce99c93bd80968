//! A sound or a video, opened: what is in it, its sound in pieces, its subtitles.
//!
//! All of it is read by `ffprobe` and `ffmpeg`, confined; see [`crate::programs`]. The
//! file has one name there, whatever it is called: what it is its bytes decide. Nothing is
//! left out without a note.

use std::time::Duration;

use super::about::{self, About};
use super::silence::{self, Cut};
use super::whole;
use crate::programs::{Folder, Limits, Program, ProgramError, Programs};

/// The name of the file in the directory of the call.
const INPUT: &str = "in";

/// The longest recording whose sound is read, in seconds.
const LONGEST: f64 = 8.0 * 3600.0;

/// The longest piece, in seconds: as 16 kHz mono WAV 19.2 MB, below the 25 MB that
/// `OpenAI`'s transcription takes (its API reference, "Create transcription").
const PIECE: f64 = 600.0;

/// Samples a second of the pieces: what speech models take.
const RATE: f64 = 16_000.0;

/// Bytes before the samples of a WAV file as `ffmpeg` writes it with `-bitexact`.
const HEADER: u64 = 44;

/// Bytes of a sample.
const SAMPLE: f64 = 2.0;

/// How much of its length a recording may lack before that is told: encoders pad.
const PADDING: f64 = 1.0;

/// Why a recording gave nothing. The messages are read by the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MediaError {
    /// The file is not what is needed; the text says why.
    #[error("{0}")]
    Unreadable(String),
    /// A program failed or is missing.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// A sound or a video in a directory of its own; gone when dropped.
#[derive(Debug)]
pub struct Recording {
    pub(super) folder: Folder,
    pub(super) name: String,
    /// What is in it.
    pub about: About,
    /// What its container shows to be missing.
    flaw: Option<String>,
}

/// The sound of a recording in pieces: 16 kHz, mono, WAV.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pieces {
    /// The pieces, in the order of time.
    pub pieces: Vec<Piece>,
    /// Length of the sound that could be decoded, in seconds.
    pub seconds: f64,
    /// What is to be told of it.
    pub notes: Vec<String>,
}

/// A piece of sound.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its file in the recording's directory.
    pub(super) file: String,
    /// Where it starts, in seconds.
    pub start: f64,
    /// Its length in seconds.
    pub seconds: f64,
}

impl Recording {
    /// Opens a sound or a video. `name` is what it is called in messages.
    pub async fn open(programs: &Programs, name: &str, bytes: &[u8]) -> Result<Self, MediaError> {
        if bytes.is_empty() {
            return Err(MediaError::Unreadable(format!("`{name}` is empty")));
        }
        for program in [Program::Ffprobe, Program::Ffmpeg] {
            if !programs.has(program) {
                return Err(ProgramError::Missing(program).into());
            }
        }
        let folder = programs.folder()?;
        folder.put(INPUT, bytes).map_err(|error| {
            MediaError::Unreadable(format!("cannot read `{name}`: no room for it: {error}"))
        })?;
        let arguments = [
            "-v",
            "error",
            "-protocol_whitelist",
            "file",
            "-of",
            "json",
            "-show_format",
            "-show_streams",
            INPUT,
        ];
        let limits = Limits { wall: Duration::from_secs(20), ..Limits::default() };
        let ran = match programs.run_in(&folder, Program::Ffprobe, &arguments, &limits).await {
            Ok(ran) => ran,
            Err(ProgramError::Failed { said, .. }) => {
                let said = plain(&said);
                return Err(MediaError::Unreadable(format!(
                    "`{name}` is no sound or video that can be read, or it is damaged: {said}"
                )));
            }
            Err(error) => return Err(error.into()),
        };
        let about = about::read(&ran.stdout).unwrap_or_default();
        if about.sounds.is_empty() && about.picture.is_none() {
            return Err(MediaError::Unreadable(format!(
                "`{name}` holds neither sound nor video ({})",
                if about.format.is_empty() { "nothing that is known" } else { &about.format }
            )));
        }
        Ok(Self { folder, name: name.to_owned(), about, flaw: whole::flaw(bytes) })
    }

    /// Decodes the first sound track, cut at silence where it is long.
    pub async fn pieces(&self, programs: &Programs) -> Result<Pieces, MediaError> {
        let mut notes = Vec::new();
        let Some(track) = self.about.sounds.first() else {
            return Err(MediaError::Unreadable(format!(
                "`{}` is a video without sound",
                self.name
            )));
        };
        if self.about.sounds.len() > 1 {
            let which = track.language.as_deref().unwrap_or("no language named");
            notes.push(format!(
                "it has {} sound tracks; only the first is heard ({which})",
                self.about.sounds.len()
            ));
        }
        let seconds = self.about.seconds;
        if seconds.is_some_and(|seconds| seconds > LONGEST) {
            let limit = LONGEST / 3600.0;
            return Err(MediaError::Unreadable(format!(
                "`{}` is longer than {limit:.0} hours; give a part of it",
                self.name
            )));
        }
        // A length that is not written in the file is found on the way.
        let mut cuts = match seconds {
            Some(seconds) if seconds <= PIECE => Vec::new(),
            seconds => self.find_cuts(programs, seconds.unwrap_or(LONGEST)).await?,
        };
        let (mut pieces, mut said) = self.decode(programs, &cuts).await?;
        let mut decoded = length(&pieces);
        if pieces.iter().any(|piece| piece.seconds > PIECE * 1.1) {
            // The length that the file tells, or that was guessed of its first bytes, is wrong.
            cuts = self.find_cuts(programs, decoded).await?;
            (pieces, said) = self.decode(programs, &cuts).await?;
            decoded = length(&pieces);
        }
        if decoded <= 0.0 {
            return Err(MediaError::Unreadable(format!(
                "the sound of `{}` cannot be decoded: the file is damaged or cut off",
                self.name
            )));
        }
        notes.extend(self.lack(decoded));
        notes.extend(self.flaw.clone());
        if let Some(first) = said.lines().find(|line| !line.trim().is_empty()) {
            notes.push(format!(
                "the sound is damaged in places; the decoder says: {}",
                plain(first)
            ));
        }
        notes.extend(pieces_note(&pieces, &cuts));
        Ok(Pieces { pieces, seconds: decoded, notes })
    }

    /// Says how much less could be decoded than the file tells, where that is so.
    fn lack(&self, decoded: f64) -> Option<String> {
        // The sound of a video may well be shorter than its pictures.
        let whole = self.about.seconds.filter(|_| self.about.picture.is_none());
        let told = self.about.sounds.first().and_then(|track| track.seconds).or(whole)?;
        (decoded + PADDING.max(told * 0.02) < told).then(|| {
            format!(
                "only {decoded:.1} s could be decoded of the {told:.1} s that the file tells: it \
                 may be damaged or cut off"
            )
        })
    }

    /// Returns the bytes of a piece, as WAV.
    pub fn piece(&self, piece: &Piece) -> Result<Vec<u8>, MediaError> {
        let lost = |why: String| {
            MediaError::Unreadable(format!("the sound of `{}` is lost: {why}", self.name))
        };
        let read = self.folder.read(&piece.file).map_err(|error| lost(error.to_string()))?;
        read.ok_or_else(|| lost("it was not written".to_owned()))
    }

    /// Looks for silences and returns where to cut.
    async fn find_cuts(&self, programs: &Programs, seconds: f64) -> Result<Vec<Cut>, MediaError> {
        let arguments = [
            "-map",
            "0:a:0",
            "-af",
            "aformat=channel_layouts=mono,silencedetect=noise=-35dB:d=0.4",
            "-f",
            "null",
            "-",
        ];
        let ran = self.ffmpeg(programs, &["-v", "info"], &arguments).await?;
        Ok(silence::cuts(seconds, PIECE, &silence::read(&ran)))
    }

    /// Decodes the first sound track into pieces; also returns what the decoder complained of.
    async fn decode(
        &self,
        programs: &Programs,
        cuts: &[Cut],
    ) -> Result<(Vec<Piece>, String), MediaError> {
        for file in self.piece_files()? {
            self.folder.remove(&file).map_err(|error| MediaError::Unreadable(error.to_string()))?;
        }
        let times: Vec<String> = cuts.iter().map(|cut| format!("{:.3}", cut.at)).collect();
        let times = times.join(",");
        let mut arguments = vec![
            "-map",
            "0:a:0",
            "-ac",
            "1",
            "-ar",
            "16000",
            "-c:a",
            "pcm_s16le",
            "-bitexact",
            "-map_metadata",
            "-1",
            "-f",
            "segment",
            "-segment_format",
            "wav",
            "-segment_format_options",
            "fflags=+bitexact",
        ];
        let one = format!("{:.0}", LONGEST * 2.0);
        if cuts.is_empty() {
            arguments.extend(["-segment_time", one.as_str()]);
        } else {
            arguments.extend(["-segment_times", times.as_str()]);
        }
        arguments.push("piece-%04d.wav");
        let said = self.ffmpeg(programs, &[], &arguments).await?;
        let mut pieces = Vec::new();
        let mut start = 0.0;
        for file in self.piece_files()? {
            let bytes = self.folder.size(&file).saturating_sub(HEADER);
            #[expect(clippy::cast_precision_loss, reason = "files are smaller than 2^52 bytes")]
            let seconds = bytes as f64 / (RATE * SAMPLE);
            if seconds > 0.0 {
                pieces.push(Piece { file, start, seconds });
                start += seconds;
            }
        }
        Ok((pieces, said))
    }

    /// Returns the names of the pieces, in order.
    fn piece_files(&self) -> Result<Vec<String>, MediaError> {
        let names = self.folder.names();
        let mut names = names.map_err(|error| MediaError::Unreadable(error.to_string()))?;
        names.retain(|name| name.starts_with("piece-"));
        Ok(names)
    }

    /// Runs `ffmpeg` on the recording and returns what it said, errors unless the options for
    /// its input ask for more; words for its failure name the file.
    pub(super) async fn ffmpeg(
        &self,
        programs: &Programs,
        input: &[&str],
        output: &[&str],
    ) -> Result<String, MediaError> {
        // Nothing is read but the file, whatever it refers to.
        let common = ["-nostdin", "-hide_banner", "-nostats", "-v", "error"];
        let local = ["-protocol_whitelist", "file"];
        let arguments = [&common[..], input, &local, &["-i", INPUT], output].concat();
        let limits = Limits { wall: Duration::from_mins(10), files: 3 << 30, ..Limits::default() };
        match programs.run_in(&self.folder, Program::Ffmpeg, &arguments, &limits).await {
            Ok(ran) => Ok(ran.stderr),
            Err(ProgramError::Failed { said, .. }) => Err(MediaError::Unreadable(format!(
                "`{}` cannot be decoded: {}",
                self.name,
                plain(&said)
            ))),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the length of all pieces together, in seconds.
fn length(pieces: &[Piece]) -> f64 {
    pieces.last().map_or(0.0, |last| last.start + last.seconds)
}

/// Says how a recording was cut, where it was.
fn pieces_note(pieces: &[Piece], cuts: &[Cut]) -> Option<String> {
    if pieces.len() < 2 {
        return None;
    }
    let blunt: Vec<String> = cuts
        .iter()
        .take(pieces.len() - 1)
        .filter(|cut| !cut.silent)
        .map(|cut| super::clock(cut.at))
        .collect();
    let count = pieces.len();
    Some(if blunt.is_empty() {
        format!("heard in {count} pieces, cut at silence")
    } else {
        let at = blunt.join(", ");
        format!(
            "heard in {count} pieces; no silence to cut at near {at}, where a word may be split"
        )
    })
}

/// Takes out of a program's words what means nothing to a reader: `[mov @ 0x55…]` and the
/// name that the file has there.
fn plain(said: &str) -> String {
    let words = said.split("; ").map(|line| {
        let line = line.trim();
        match line.split_once("] ") {
            Some((head, rest)) if head.starts_with('[') => rest,
            Some(_) | None => line.strip_prefix("in: ").unwrap_or(line),
        }
    });
    let mut kept: Vec<&str> = Vec::new();
    for line in words {
        if !kept.contains(&line) {
            kept.push(line);
        }
    }
    kept.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_programs_are_made_plain() {
        let table = [
            (
                "[mov,mp4 @ 0x5599] moov atom not found; in: Invalid data",
                "moov atom not found; Invalid data",
            ),
            ("a; a; b", "a; b"),
            ("", ""),
        ];
        for (said, expected) in table {
            assert_eq!(plain(said), expected);
        }
    }

    #[test]
    fn blunt_cuts_are_told() {
        let piece = |start| Piece { file: String::new(), start, seconds: 1.0 };
        let cut = |at, silent| Cut { at, silent };
        assert_eq!(pieces_note(&[piece(0.0)], &[cut(600.0, false)]), None, "not reached");
        let two = [piece(0.0), piece(600.0)];
        let note = pieces_note(&two, &[cut(600.0, true)]).unwrap();
        assert_eq!(note, "heard in 2 pieces, cut at silence");
        let note = pieces_note(&two, &[cut(600.0, false), cut(1200.0, false)]).unwrap();
        assert!(note.contains("near 10:00.0, where"), "{note}");
    }
}
