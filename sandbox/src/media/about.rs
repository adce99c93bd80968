//! What a file of sound or video holds, as `ffprobe` tells it.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// Its container, such as `MP2/3 (MPEG audio layer 2/3)`.
    pub format: String,
    /// Length in seconds, where it is written in the file; what is there may be less.
    pub seconds: Option<f64>,
    /// Its sound tracks.
    pub sounds: Vec<Sound>,
    /// Its picture, where it moves; a cover does not.
    pub picture: Option<Moving>,
    /// Its subtitle tracks.
    pub subtitles: Vec<Subtitles>,
}

/// A sound track.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sound {
    /// How it is encoded, such as `mp3`.
    pub codec: String,
    /// Channels.
    pub channels: u64,
    /// Samples a second.
    pub rate: u64,
    /// Language, where the file names it.
    pub language: Option<String>,
    /// Length in seconds, where it is written in the file.
    pub seconds: Option<f64>,
}

/// Moving pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moving {
    /// How they are encoded, such as `h264`.
    pub codec: String,
    /// Pixels across.
    pub width: u64,
    /// Pixels down.
    pub height: u64,
}

/// A subtitle track.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subtitles {
    /// How it is encoded, such as `subrip`.
    pub codec: String,
    /// Language, where the file names it.
    pub language: Option<String>,
}

impl Subtitles {
    /// Tells whether they are text; others are pictures of text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        ["subrip", "srt", "ass", "ssa", "mov_text", "webvtt", "text", "ttml", "eia_608"]
            .contains(&self.codec.as_str())
    }
}

#[derive(Deserialize)]
struct Probed {
    #[serde(default)]
    streams: Vec<Value>,
    #[serde(default)]
    format: Value,
}

/// Reads what `ffprobe` wrote.
pub(super) fn read(json: &[u8]) -> Option<About> {
    let Probed { streams, format } = serde_json::from_slice(json).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seconds = |value: &Value| {
        value.as_str()?.parse::<f64>().ok().filter(|time| time.is_finite() && *time > 0.0)
    };
    let named = &format["format_long_name"];
    let mut about = About {
        format: text(if named.is_string() { named } else { &format["format_name"] }),
        seconds: seconds(&format["duration"]),
        ..About::default()
    };
    for stream in &streams {
        let codec = text(&stream["codec_name"]);
        let language = stream["tags"]["language"].as_str();
        let language = language.filter(|it| !["", "und"].contains(it)).map(str::to_owned);
        match stream["codec_type"].as_str().unwrap_or_default() {
            "audio" => about.sounds.push(Sound {
                codec,
                channels: stream["channels"].as_u64().unwrap_or_default(),
                rate: stream["sample_rate"].as_str().and_then(|it| it.parse().ok()).unwrap_or(0),
                language,
                seconds: seconds(&stream["duration"]),
            }),
            "video" if about.picture.is_none() && stream["disposition"]["attached_pic"] != 1 => {
                let side = |name: &str| stream[name].as_u64().unwrap_or_default();
                about.picture =
                    Some(Moving { codec, width: side("width"), height: side("height") });
            }
            "subtitle" => about.subtitles.push(Subtitles { codec, language }),
            _ => {}
        }
    }
    Some(about)
}

impl fmt::Display for About {
    /// Container, length and tracks, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format)?;
        match self.seconds {
            Some(seconds) => write!(f, ", {seconds:.1} s")?,
            None => f.write_str(", of unknown length")?,
        }
        if let Some(Moving { codec, width, height }) = &self.picture {
            write!(f, ", video {codec} {width}×{height}")?;
        }
        match self.sounds.as_slice() {
            [] => f.write_str(", no sound")?,
            [first, others @ ..] => {
                let channels = match first.channels {
                    1 => "mono".to_owned(),
                    2 => "stereo".to_owned(),
                    channels => format!("{channels} channels"),
                };
                write!(f, ", sound {} {channels} {} Hz", first.codec, first.rate)?;
                if let Some(language) = &first.language {
                    write!(f, " ({language})")?;
                }
                if !others.is_empty() {
                    write!(f, " and {} more sound tracks", others.len())?;
                }
            }
        }
        match self.subtitles.len() {
            0 => Ok(()),
            1 => f.write_str(", subtitles"),
            count => write!(f, ", {count} tracks of subtitles"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_file_holds_is_read_whatever_is_missing() {
        let json = json!({
            "format": { "format_name": "mov,mp4", "duration": "12.50" },
            "streams": [
                { "codec_type": "video", "codec_name": "mjpeg", "disposition": { "attached_pic": 1 } },
                { "codec_type": "video", "codec_name": "h264", "width": 640, "height": 360 },
                { "codec_type": "audio", "codec_name": "aac", "channels": 2, "sample_rate": "44100",
                  "tags": { "language": "eng" } },
                { "codec_type": "audio", "tags": { "language": "und" } },
                { "codec_type": "subtitle", "codec_name": "mov_text" },
                { "codec_type": "data" }, 7,
            ],
        });
        let about = read(json.to_string().as_bytes()).unwrap();
        assert_eq!(
            about.to_string(),
            "mov,mp4, 12.5 s, video h264 640×360, sound aac stereo 44100 Hz (eng) and 1 more sound \
             tracks, subtitles"
        );
        assert!(about.subtitles[0].is_text());
        let table = [
            (json!({}).to_string(), Some(", of unknown length, no sound"), "nothing at all"),
            (
                json!({ "format": { "duration": "N/A" } }).to_string(),
                Some(", of unknown length, no sound"),
                "no length",
            ),
            ("7".to_owned(), None, "no object"),
            (String::new(), None, "nothing"),
        ];
        for (json, expected, why) in table {
            let found = read(json.as_bytes()).map(|about| about.to_string());
            assert_eq!(found.as_deref(), expected, "{why}");
        }
    }
}
