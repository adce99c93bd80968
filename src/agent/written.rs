//! What an endpoint wrote down of a sound, read whatever form it came in.
//!
//! Reading never fails: times that are missing or odd cost the times, and not the words.

use serde::Deserialize;
use serde_json::Value;
use wildgym_sandbox::media::{Segment, Transcript};

/// Reads what was written down: with times where the endpoint tells them, else as one.
pub(super) fn words(body: &str, seconds: f64) -> Transcript {
    #[derive(Deserialize)]
    struct Written {
        #[serde(default)]
        text: String,
        #[serde(default)]
        language: Option<String>,
        #[serde(default)]
        segments: Option<Vec<Segment>>,
    }
    let written = serde_json::from_str::<Written>(body);
    // The client has seen that there is a text; whatever else is odd costs the times.
    let Ok(Written { text, language, segments }) = written else {
        let text = serde_json::from_str::<Value>(body).ok();
        let text = text.and_then(|body| body["text"].as_str().map(str::to_owned));
        return whole(text.unwrap_or_default(), None, seconds);
    };
    match segments {
        Some(segments) if !segments.is_empty() => Transcript { language, segments },
        Some(_) | None => whole(text, language, seconds),
    }
}

/// Returns a text as one segment; none where it says nothing.
fn whole(text: String, language: Option<String>, seconds: f64) -> Transcript {
    let said = !text.trim().is_empty();
    let segments =
        said.then_some(Segment { start: 0.0, end: Some(seconds), text }).into_iter().collect();
    Transcript { language, segments }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_come_with_times_or_as_one() {
        let said = |start, end, text: &str| Segment { start, end: Some(end), text: text.into() };
        let table = [
            (
                json!({ "text": "a b", "language": "english", "duration": 3.0, "segments": [
                    { "id": 0, "start": 0.0, "end": 1.5, "text": " a", "tokens": [1] },
                    { "id": 1, "start": 1.5, "end": 3.0, "text": " b" } ] }),
                Some("english"),
                vec![said(0.0, 1.5, " a"), said(1.5, 3.0, " b")],
                "with times",
            ),
            (json!({ "text": "a b" }), None, vec![said(0.0, 9.0, "a b")], "without"),
            (json!({ "text": " ", "segments": [] }), None, vec![], "silence"),
            (
                json!({ "text": "a", "segments": [{ "start": "x" }] }),
                None,
                vec![said(0.0, 9.0, "a")],
                "times that are none",
            ),
        ];
        for (body, language, segments, why) in table {
            let want = Transcript { language: language.map(str::to_owned), segments };
            assert_eq!(words(&body.to_string(), 9.0), want, "{why}");
        }
    }
}
