//! Pictures out of a video: at scene changes and in steps, without repetitions; and its
//! subtitles.

use super::recording::{MediaError, Recording};
use super::transcript::{Segment, Transcript};
use crate::browser::Frame;
use crate::programs::Programs;

/// Steps that a video is looked at in, at least.
const STEPS: f64 = 16.0;

/// The shortest step, in seconds.
const STEP: f64 = 2.0;

/// The step where the length is not known, in seconds.
const BLIND_STEP: f64 = 4.0;

/// How different a picture must be from the one before to be another scene, from 0 to 1.
const SCENE: f64 = 0.3;

/// The longest side of a picture, in pixels.
const SIDE: u32 = 768;

/// Pictures that are taken out of a video at most.
const TAKEN: usize = 400;

/// The longest video of which all pictures are decoded, in seconds; of longer ones, those
/// that stand for themselves (keyframes).
const WHOLE: f64 = 900.0;

/// Where the times of the pictures are written.
const TIMES: &str = "times.txt";

/// Pictures out of a video.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frames {
    /// The pictures, in the order of time.
    pub frames: Vec<Frame>,
    /// How many there were before the least telling were left out.
    pub found: usize,
}

impl Recording {
    /// Takes at most `most` pictures out of the video: where the scene changes and in
    /// steps, those left out that show what the one before shows.
    pub async fn frames(&self, programs: &Programs, most: usize) -> Result<Frames, MediaError> {
        if self.about.picture.is_none() {
            return Err(MediaError::Unreadable(format!("`{}` has no picture", self.name)));
        }
        let step = self.about.seconds.map_or(BLIND_STEP, |seconds| (seconds / STEPS).max(STEP));
        let filter = format!(
            "select='isnan(prev_selected_t)+gte(t-prev_selected_t,{step:.3})\
             +gt(scene,{SCENE})*gte(t-prev_selected_t,1)',mpdecimate,\
             scale='min({SIDE},iw)':'min({SIDE},ih)':force_original_aspect_ratio=decrease\
             :force_divisible_by=2,metadata=print:file={TIMES},format=yuvj420p"
        );
        let taken = TAKEN.to_string();
        let long = self.about.seconds.is_some_and(|seconds| seconds > WHOLE);
        let input: &[&str] = if long { &["-skip_frame", "nokey"] } else { &[] };
        let arguments = [
            "-map",
            "0:V:0",
            "-vf",
            &filter,
            "-fps_mode",
            "vfr",
            "-frames:v",
            &taken,
            "-q:v",
            "4",
            "frame-%05d.jpg",
        ];
        self.ffmpeg(programs, input, &arguments).await?;
        let lost = |error: std::io::Error| MediaError::Unreadable(error.to_string());
        let times = self.folder.read(TIMES).map_err(lost)?.unwrap_or_default();
        let times = times_of(&String::from_utf8_lossy(&times));
        let names = self.folder.names().map_err(lost)?;
        let names: Vec<String> =
            names.into_iter().filter(|name| name.starts_with("frame-")).collect();
        let found = names.len();
        let mut frames = Vec::new();
        for index in chosen(found, most) {
            if let Some(jpeg) = self.folder.read(&names[index]).map_err(lost)? {
                frames.push(Frame { at: times.get(index).copied().unwrap_or_default(), jpeg });
            }
        }
        if frames.is_empty() {
            return Err(MediaError::Unreadable(format!(
                "`{}` shows no picture: the file is damaged or cut off",
                self.name
            )));
        }
        Ok(Frames { frames, found })
    }

    /// Returns what the subtitle tracks say that are text, with their languages.
    pub async fn subtitles(&self, programs: &Programs) -> Result<Vec<Transcript>, MediaError> {
        let mut tracks = Vec::new();
        for (index, track) in self.about.subtitles.iter().enumerate() {
            if !track.is_text() {
                continue;
            }
            let map = format!("0:s:{index}");
            let arguments = ["-map", &map, "-c:s", "srt", "-f", "srt", "-y", "said.srt"];
            self.ffmpeg(programs, &[], &arguments).await?;
            let said = self.folder.read("said.srt");
            let said = said.map_err(|error| MediaError::Unreadable(error.to_string()))?;
            let segments = subrip(&String::from_utf8_lossy(&said.unwrap_or_default()));
            tracks.push(Transcript { language: track.language.clone(), segments });
        }
        Ok(tracks)
    }
}

/// Reads the times out of what the `metadata` filter printed.
fn times_of(text: &str) -> Vec<f64> {
    let time = |line: &str| line.split_once("pts_time:")?.1.split_whitespace().next()?.parse().ok();
    text.lines().filter_map(time).collect()
}

/// Chooses `most` of so many, evenly, the first and the last among them.
fn chosen(found: usize, most: usize) -> Vec<usize> {
    match (found, most) {
        (_, 0) => Vec::new(),
        (found, most) if found <= most => (0..found).collect(),
        (_, 1) => vec![0],
        (found, most) => (0..most).map(|index| index * (found - 1) / (most - 1)).collect(),
    }
}

/// Reads subtitles in the `SubRip` form, which `ffmpeg` writes: blocks of a number, a line
/// of times, and text in which tags may stand.
fn subrip(text: &str) -> Vec<Segment> {
    let text = text.replace('\r', "");
    let block = |block: &str| {
        let (start, rest) = block.split_once(" --> ")?;
        let start = moment(start.lines().last()?)?;
        let (end, words) = rest.split_once('\n').unwrap_or((rest, ""));
        let words = words.lines().map(untagged).collect::<Vec<_>>().join(" ");
        let end = end.split_whitespace().next().and_then(moment);
        (!words.trim().is_empty()).then_some(Segment { start, end, text: words })
    };
    text.split("\n\n").filter_map(block).collect()
}

/// Reads `01:02:03,450` as seconds.
fn moment(written: &str) -> Option<f64> {
    let mut seconds = 0.0;
    for part in written.trim().replace(',', ".").split(':') {
        seconds = seconds * 60.0 + part.parse::<f64>().ok().filter(|part| part.is_finite())?;
    }
    Some(seconds)
}

/// Takes tags such as `<i>` out of a line.
fn untagged(line: &str) -> String {
    let (mut text, mut inside) = (String::new(), false);
    for letter in line.chars() {
        match letter {
            '<' => inside = true,
            '>' if inside => inside = false,
            _ if inside => {}
            _ => text.push(letter),
        }
    }
    // What never closes is no tag.
    if inside { line.to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_and_the_last_are_always_among_the_chosen() {
        for (found, most, expected) in [
            (0, 5, vec![]),
            (3, 5, vec![0, 1, 2]),
            (9, 3, vec![0, 4, 8]),
            (9, 1, vec![0]),
            (9, 0, vec![]),
            (100, 4, vec![0, 33, 66, 99]),
        ] {
            assert_eq!(chosen(found, most), expected, "{most} of {found}");
        }
    }

    #[test]
    fn subtitles_are_read() {
        let text = "1\r\n00:00:01,500 --> 00:00:02,000\r\n<i>Hello</i>\r\nthere\r\n\r\n\
            2\n01:00:00,000 --> 01:00:01,000 X1:5\n2 < 3\n\n3\n00:00 --> \n\nnonsense\n\n\
            4\nx --> y\nz\n";
        let said = |start, end, text: &str| Segment { start, end: Some(end), text: text.into() };
        assert_eq!(subrip(text), [said(1.5, 2.0, "Hello there"), said(3600.0, 3601.0, "2 < 3")]);
    }

    #[test]
    fn times_are_read_in_order() {
        let text = "frame:0 pts:0 pts_time:0\nlavfi.scene_score=0.1\nframe:1 pts:9 pts_time:1.25\n";
        assert_eq!(times_of(text), [0.0, 1.25]);
    }

    proptest! {
        #[test]
        fn any_subtitles_are_read(text in "(?s).{0,300}") {
            subrip(&text);
        }
    }
}
