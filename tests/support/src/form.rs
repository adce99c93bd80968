//! The form that carries a sound to be written down, read as a strict endpoint would.

use serde_json::{Map, Value, json};

/// The largest file that `OpenAI`'s route takes, in bytes.
const LARGEST: usize = 25 << 20;

/// Reads a form of several parts: a text field as a string, a file as an object with its
/// `filename`, `type`, `bytes` (how many) and `seconds`, where it is WAV of 16 kHz mono.
#[must_use]
pub fn read(content_type: &str, body: &[u8]) -> Value {
    let Some((_, boundary)) = content_type.split_once("boundary=") else { return Value::Null };
    let mark = format!("--{}", boundary.trim_matches('"'));
    let mut fields = Map::new();
    for part in split(body, mark.as_bytes()) {
        let Some(end) = find(part, b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&part[..end]).into_owned();
        let content = part[end + 4..].strip_suffix(b"\r\n").unwrap_or(&part[end + 4..]);
        let Some(name) = quoted(&head, " name=") else { continue };
        let value = match quoted(&head, "filename=") {
            None => String::from_utf8_lossy(content).into_owned().into(),
            Some(filename) => {
                let kind = head.lines().find_map(|line| line.strip_prefix("Content-Type: "));
                json!({
                    "filename": filename,
                    "type": kind,
                    "bytes": content.len(),
                    "seconds": seconds(content),
                })
            }
        };
        fields.insert(name, value);
    }
    fields.into()
}

/// Returns what is wrong with a form.
#[must_use]
pub fn violations(form: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if form["model"].as_str().is_none_or(str::is_empty) {
        wrong.push("`model` is not a name".into());
    }
    let formats = ["json", "verbose_json"];
    if form["response_format"].as_str().is_none_or(|format| !formats.contains(&format)) {
        wrong.push("`response_format` is unknown".into());
    }
    let file = &form["file"];
    if file["seconds"].is_null() {
        wrong.push("`file` is no WAV of 16 kHz mono".into());
    }
    if file["bytes"].as_u64().is_none_or(|bytes| bytes > LARGEST as u64) {
        wrong.push("`file` is larger than 25 MiB".into());
    }
    wrong
}

/// Returns the length of a sound in seconds.
fn seconds(wav: &[u8]) -> Option<f64> {
    let rate = wav.get(24..28)?;
    let channels = wav.get(22..24)?;
    let plain = wav.starts_with(b"RIFF") && rate == 16_000_u32.to_le_bytes() && channels == [1, 0];
    #[expect(clippy::cast_precision_loss, reason = "sounds of tests are short")]
    plain.then(|| (wav.len() - 44) as f64 / 32_000.0)
}

fn quoted(head: &str, key: &str) -> Option<String> {
    let (_, rest) = head.split_once(key)?;
    Some(rest.strip_prefix('"')?.split_once('"')?.0.to_owned())
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}

fn split<'a>(mut bytes: &'a [u8], mark: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    while let Some(at) = find(bytes, mark) {
        parts.push(&bytes[..at]);
        bytes = &bytes[at + mark.len()..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_and_judged() {
        let mut body =
            b"--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nw\r\n".to_vec();
        body.extend(
            b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\
              Content-Type: audio/wav\r\n\r\nRIFF\r\n--b--\r\n",
        );
        let form = read("multipart/form-data; boundary=b", &body);
        assert_eq!(form["model"], "w");
        assert_eq!(form["file"]["type"], "audio/wav");
        assert_eq!(form["file"]["bytes"], 4);
        assert_eq!(violations(&form).len(), 2, "no format, no sound: {:?}", violations(&form));
        assert_eq!(violations(&read("application/json", b"{}")).len(), 4);
    }
}
