//! A sound on its way to an endpoint that writes down what is said.
//!
//! The request is a form of several parts (RFC 7578) with the bytes in it. What a cassette
//! keeps of it is which piece of which file it was: decoders of two versions may make two
//! sounds of one file, and a replay must not depend on that.

use std::sync::Arc;

use serde_json::json;

use super::message::Message;

/// A piece of a recording.
#[derive(Debug, Clone)]
pub struct Sound {
    /// BLAKE3 of the file that it comes from, as 64 hexadecimal digits.
    pub source: String,
    /// Where it starts, in milliseconds.
    pub start_ms: u64,
    /// Its length in milliseconds.
    pub length_ms: u64,
    /// Its bytes, as WAV.
    pub wav: Arc<[u8]>,
    /// Whether times are asked for (`verbose_json`), which not all models know.
    pub timed: bool,
}

impl Sound {
    fn format(&self) -> &'static str {
        if self.timed { "verbose_json" } else { "json" }
    }

    /// Returns the settings as JSON without the closing brace.
    pub(super) fn prefix(&self, model: &str) -> String {
        let mut text =
            json!({ "model": model, "response_format": self.format(), "temperature": 0 })
                .to_string();
        text.pop();
        text
    }

    /// Returns what is kept of it, in the place of a message.
    pub(super) fn named(&self) -> Message {
        let sound = json!({
            "source": self.source,
            "start_ms": self.start_ms,
            "length_ms": self.length_ms,
        });
        Message::from_value(&json!({ "role": "user", "sound": sound }))
    }

    /// Returns the form and the boundary between its parts, made of a digest: no sound that
    /// is not made for it holds that.
    pub(super) fn form(&self, model: &str, digest: &str) -> (String, Vec<u8>) {
        let boundary = format!("wildgym-{}", digest.get(..32).unwrap_or(digest));
        let mut body = Vec::with_capacity(self.wav.len() + 1024);
        let fields = [
            ("model", model),
            ("response_format", self.format()),
            // Without chance, so that one sound has one text.
            ("temperature", "0"),
        ];
        for (name, value) in fields {
            let part = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
            body.extend_from_slice(part.as_bytes());
        }
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; \
             filename=\"sound.wav\"\r\nContent-Type: audio/wav\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&self.wav);
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        (boundary, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_again_by_its_piece_and_not_by_its_bytes() {
        let sound = |wav: &[u8]| Sound {
            source: "ab".repeat(32),
            start_ms: 600_000,
            length_ms: 1_500,
            wav: wav.into(),
            timed: true,
        };
        let (one, other) = (sound(b"RIFF1"), sound(b"RIFF22"));
        assert_eq!(one.named(), other.named());
        assert_eq!(one.prefix("w"), other.prefix("w"));
        assert_ne!(one.prefix("w"), Sound { timed: false, ..one.clone() }.prefix("w"));
        let (boundary, form) = one.form("w", &"0".repeat(64));
        let text = String::from_utf8_lossy(&form).into_owned();
        assert!(text.starts_with(&format!("--{boundary}\r\n")), "{text}");
        assert!(text.ends_with(&format!("RIFF1\r\n--{boundary}--\r\n")), "{text}");
        assert!(text.contains("name=\"response_format\"\r\n\r\nverbose_json\r\n"), "{text}");
    }
}
