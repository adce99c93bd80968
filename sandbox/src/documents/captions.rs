//! Captions (`SubRip` and `WebVTT`): what is said, a line for each cue with its times.
//!
//! Times are kept as they are written, so that a reader can cite them.

use std::sync::LazyLock;

use regex::Regex;

use super::Document;
use super::tree::one_line;
use crate::html::without_tags;

static TIMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})",
    )
    .ok()
});

static VOICE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<v(?:\.[^\s>]*)?\s+([^>]+)>").ok());

/// Whether a text starts like captions.
pub(super) fn is_captions(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(2);
    let first = lines.next().unwrap_or_default();
    first.starts_with("WEBVTT")
        || first.bytes().all(|byte| byte.is_ascii_digit())
            && lines.next().is_some_and(|line| times(line).is_some())
}

fn times(line: &str) -> Option<(&str, &str)> {
    let found = TIMES.as_ref()?.captures(line)?;
    Some((found.get(1)?.as_str(), found.get(2)?.as_str()))
}

/// Reads captions; nothing where there is no cue.
pub(super) fn read(text: &str) -> Option<Document> {
    let kind = if text.starts_with("WEBVTT") { "WebVTT captions" } else { "SubRip captions" };
    let mut out = String::new();
    let (mut count, mut last) = (0_u64, "");
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((from, to)) = times(line) else { continue };
        let mut said = Vec::new();
        while let Some(next) = lines.peek().filter(|next| !next.trim().is_empty()) {
            if times(next).is_some() {
                break;
            }
            said.push(spoken(next));
            lines.next();
        }
        // Without an empty line between cues the number of the next one ends the last.
        if lines.peek().is_some_and(|next| times(next).is_some())
            && said.last().is_some_and(|line| line.bytes().all(|byte| byte.is_ascii_digit()))
        {
            said.pop();
        }
        count += 1;
        last = to;
        out.extend(["[", from, " --> ", to, "] ", said.join(" ").trim(), "\n"]);
    }
    if count == 0 {
        return None;
    }
    let notes = vec![format!("{count} cues, the last ends at {last}")];
    Some(Document { kind: kind.to_owned(), text: out, notes })
}

/// Takes the markup out of a line; a voice's name is kept.
fn spoken(line: &str) -> String {
    let named = VOICE.as_ref().map(|voice| voice.replace_all(line, "$1: ").into_owned());
    one_line(&without_tags(named.as_deref().unwrap_or(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cue_keeps_its_times() {
        let srt = "1\r\n00:00:01,000 --> 00:00:02,500\r\nMind the <i>gap</i>\r\nplease\r\n\r\n\
            2\r\n00:00:03,000 --> 00:01:04,000\r\n潮汐\r\n";
        assert!(is_captions(srt));
        let read_srt = read(srt).unwrap();
        assert_eq!(
            read_srt.text,
            "[00:00:01,000 --> 00:00:02,500] Mind the gap please\n\
             [00:00:03,000 --> 00:01:04,000] 潮汐\n"
        );
        assert_eq!(read_srt.notes, ["2 cues, the last ends at 00:01:04,000"]);
        let vtt = "WEBVTT\n\nNOTE a remark\n\nintro\n00:01.000 --> 00:02.000 align:start\n\
            <v Ana>Good <00:01.500>day\n";
        let read_vtt = read(vtt).unwrap();
        assert_eq!(read_vtt.text, "[00:01.000 --> 00:02.000] Ana: Good day\n");
        assert!(read("WEBVTT\n").is_none() && !is_captions("1\n2\n"));
    }
}
