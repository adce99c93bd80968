//! What was said in a recording, and when.

use serde::{Deserialize, Serialize};

/// What was said in a recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// Language, as whoever wrote it down names it (`english`, `en`); none where unknown.
    pub language: Option<String>,
    /// What was said, in the order of time; empty where nothing was heard.
    pub segments: Vec<Segment>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Seconds from the start of the recording.
    pub start: f64,
    /// Where it ends, in seconds; none where only the start is known.
    pub end: Option<f64>,
    /// The words.
    pub text: String,
}

impl Transcript {
    /// Adds what was said in a piece that starts at `start` seconds.
    pub fn append(&mut self, piece: Self, start: f64) {
        self.language = self.language.take().or(piece.language);
        self.segments.extend(piece.segments.into_iter().map(|said| Segment {
            start: said.start + start,
            end: said.end.map(|end| end + start),
            text: said.text,
        }));
    }

    /// Writes it as people read it: a line for each segment, with its times.
    #[must_use]
    pub fn to_text(&self) -> String {
        let line = |said: &Segment| match said.end {
            Some(end) => format!("[{}–{}] {}", clock(said.start), clock(end), said.text.trim()),
            None => format!("[{}] {}", clock(said.start), said.text.trim()),
        };
        self.segments
            .iter()
            .filter(|said| !said.text.trim().is_empty())
            .map(line)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Writes a time as players do: `02:05.0`, `1:02:05.4`.
#[must_use]
pub fn clock(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded, and not negative"
    )]
    let tenths = (seconds.clamp(0.0, 1e9) * 10.0).round() as u64;
    let (whole, tenth) = (tenths / 10, tenths % 10);
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    let hours = if hours > 0 { format!("{hours}:") } else { String::new() };
    format!("{hours}{minutes:02}:{rest:02}.{tenth}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_players_do() {
        for (seconds, text) in [
            (0.0, "00:00.0"),
            (59.96, "01:00.0"),
            (125.44, "02:05.4"),
            (3725.0, "1:02:05.0"),
            (f64::NAN, "00:00.0"),
            (-3.0, "00:00.0"),
        ] {
            assert_eq!(clock(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn pieces_are_put_one_behind_the_other() {
        let said = |start, end, text: &str| Segment { start, end, text: text.into() };
        let piece =
            |language: &str, segments| Transcript { language: Some(language.into()), segments };
        let mut whole = Transcript::default();
        whole.append(piece("en", vec![said(0.5, Some(2.0), " Hello. ")]), 0.0);
        whole.append(piece("de", vec![said(1.0, None, "Tag"), said(2.0, None, " ")]), 600.0);
        assert_eq!(whole.language.as_deref(), Some("en"), "the first tells");
        assert_eq!(whole.to_text(), "[00:00.5–00:02.0] Hello.\n[10:01.0] Tag");
    }
}
