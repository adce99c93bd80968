//! Words out of sounds: by the speech model where one is named, else by the engine of this
//! machine. Which of them heard is always said, and what was not heard as well.

use std::fmt::Write as _;
use std::sync::Arc;

use wildgym_sandbox::documents::Document;
use wildgym_sandbox::media::{ENGINE, Media, Pieces, Recording, Transcript, media};
use wildgym_sandbox::programs::Program;

use crate::ask::Speech;
use crate::error::ToolError;
use crate::source::Source;
use crate::tool::CallContext;

/// What is said where nobody hears.
const NOBODY: &str = "this needs someone who hears, and there is nobody here: name a speech model \
    with `--speech-model NAME` (and `--speech-base-url URL`), or install the engine of this \
    machine with `wildgym setup --speech`";

/// What was said in a recording, and how that is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    /// The words.
    pub transcript: Transcript,
    /// Who heard them.
    pub by: String,
    /// What is to be told beside.
    pub notes: Vec<String>,
    /// Length of the sound in seconds.
    pub seconds: f64,
}

/// Tells whether anybody here writes down what is said.
pub(crate) fn is_possible(context: &CallContext) -> bool {
    context.transcriber().is_some() || context.sandbox.host.programs.has(Program::Speech)
}

/// Opens a sound or a video.
pub(crate) async fn open(context: &CallContext, file: &Source) -> Result<Recording, ToolError> {
    Ok(Recording::open(&context.sandbox.host.programs, &file.name, &file.bytes).await?)
}

/// Writes down what is said in a recording.
pub(crate) async fn listen(
    context: &CallContext,
    tool: &'static str,
    recording: &Recording,
    file: &Source,
) -> Result<Heard, ToolError> {
    // A file without sound is refused for that, whoever would hear it.
    let able = is_possible(context);
    if !able && !recording.about.sounds.is_empty() {
        return Err(ToolError::Unavailable(NOBODY.to_owned()));
    }
    let programs = &context.sandbox.host.programs;
    let pieces = recording.pieces(programs).await?;
    let (transcript, by) = if let Some(model) = context.transcriber() {
        let transcript = ask(context, tool, recording, &pieces, file).await?;
        (transcript, format!("the speech model `{model}`"))
    } else {
        let heard = context.engine(recording.hear(programs, &pieces)).await?;
        (heard, ENGINE.to_owned())
    };
    Ok(Heard { transcript, by, notes: pieces.notes, seconds: pieces.seconds })
}

/// Has the speech model write down piece by piece.
async fn ask(
    context: &CallContext,
    tool: &'static str,
    recording: &Recording,
    pieces: &Pieces,
    file: &Source,
) -> Result<Transcript, ToolError> {
    let source: Arc<[u8]> = file.bytes.as_slice().into();
    let mut whole = Transcript::default();
    for piece in &pieces.pieces {
        let speech = Speech {
            tool,
            source: Arc::clone(&source),
            start: piece.start,
            seconds: piece.seconds,
            wav: recording.piece(piece)?.into(),
        };
        whole.append(context.transcribe(&speech).await?, piece.start);
    }
    Ok(whole)
}

impl Heard {
    /// Returns what is to be told of the words: who heard them, in which language, and notes.
    pub(crate) fn told(&self) -> Vec<String> {
        let mut told = format!("heard by {}", self.by);
        if let Some(language) = &self.transcript.language {
            let _ = write!(told, ", language: {language}");
        }
        [told].into_iter().chain(self.notes.iter().cloned()).collect()
    }

    /// Returns the words with their times, or that there are none.
    pub(crate) fn words(&self) -> String {
        let text = self.transcript.to_text();
        if text.is_empty() { "[no speech was heard]".to_owned() } else { text }
    }
}

/// Writes what the agent reads of a recording: what it is, what is to be told, the words.
pub(crate) fn report(name: &str, recording: &Recording, heard: &Heard) -> String {
    let mut text = format!("`{name}`: {}", described(recording, heard));
    for note in heard.told() {
        text.push_str("\n- ");
        text.push_str(&note);
    }
    text + "\n\n" + &heard.words()
}

/// Says what a recording is; a length that its file does not tell is the decoded one.
fn described(recording: &Recording, heard: &Heard) -> String {
    let mut about = recording.about.clone();
    about.seconds = about.seconds.or(Some(heard.seconds));
    about.to_string()
}

/// Returns the words of a sound or a video as a document; none where a file is neither.
pub(crate) async fn document(
    context: &CallContext,
    tool: &'static str,
    file: &Source,
) -> Result<Option<Document>, ToolError> {
    match media(&file.bytes) {
        Some(Media::Sound | Media::Video) => {}
        Some(Media::Picture) | None => return Ok(None),
    }
    let recording = open(context, file).await?;
    let heard = listen(context, tool, &recording, file).await?;
    Ok(Some(Document {
        kind: described(&recording, &heard),
        text: heard.words(),
        notes: heard.told(),
    }))
}

#[cfg(test)]
mod tests {
    use wildgym_sandbox::media::Segment;

    use super::*;

    #[test]
    fn what_was_heard_is_told_with_who_heard_it() {
        let segments = vec![Segment { start: 0.0, end: Some(1.0), text: "Hello.".into() }];
        let heard = Heard {
            transcript: Transcript { language: Some("en".into()), segments },
            by: ENGINE.into(),
            notes: vec!["heard in 2 pieces, cut at silence".into()],
            seconds: 1.0,
        };
        assert_eq!(
            heard.told(),
            [
                "heard by the speech engine of this machine (Whisper base), language: en",
                "heard in 2 pieces, cut at silence",
            ]
        );
        assert_eq!(heard.words(), "[00:00.0–00:01.0] Hello.");
        assert_eq!(Heard::default().words(), "[no speech was heard]");
    }
}
