//! What a foreign tool returned, as an agent reads it.
//!
//! Texts are given as they are. Pictures, sounds and files are put into the workspace, where
//! the other tools of the trial take them, and their paths are told. Structured content is
//! added where no text says the same. What is none of these is shown as the JSON that it is.

use camino::Utf8PathBuf;
use data_encoding::{BASE64, BASE64_NOPAD};
use serde_json::Value;
use wildgym_sandbox::Workspace;

use crate::error::ToolError;

/// Folder of the workspace that takes what is no text.
const FOLDER: &str = ".results";

/// Most parts of a result.
const PARTS: usize = 1000;

/// Reads a result. `ingress` is the call's number, which names its files.
pub(super) fn read(
    server: &str,
    result: &Value,
    ingress: &str,
    workspace: &Workspace,
) -> Result<String, ToolError> {
    let kind = result.get("resultType").and_then(Value::as_str);
    if kind == Some("input_required") || result.get("inputRequests").is_some() {
        return Err(ToolError::Failed(format!(
            "server `{server}` asks for input before it goes on, and nobody here gives any"
        )));
    }
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    let parts = match result.get("content") {
        Some(Value::Array(parts)) => parts.as_slice(),
        Some(Value::Null) | None if structured.is_some() => &[],
        Some(Value::Null) | None if result.as_object().is_some_and(serde_json::Map::is_empty) => {
            &[]
        }
        Some(_) | None => {
            return Err(ToolError::Failed(format!(
                "server `{server}` answered with what is no result of a call: {}",
                cut(&result.to_string(), 400)
            )));
        }
    };
    let mut place = Place { ingress, workspace, files: 0 };
    let mut texts: Vec<String> = parts.iter().take(PARTS).map(|part| place.part(part)).collect();
    if parts.len() > PARTS {
        texts.push(format!("[… {} more parts are left out …]", parts.len() - PARTS));
    }
    if let Some(value) = structured
        && !texts.iter().any(|text| says(text, value))
    {
        texts.push(value.to_string());
    }
    let text = texts.join("\n");
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        let said = if text.trim().is_empty() { "it does not say why" } else { &text };
        return Err(ToolError::Failed(said.to_owned()));
    }
    Ok(if text.is_empty() { "(the tool returned nothing)".to_owned() } else { text })
}

/// Returns whether a text says the same as structured content: as JSON, or as the one text
/// that it wraps.
fn says(text: &str, value: &Value) -> bool {
    let wraps = |fields: &serde_json::Map<String, Value>| {
        fields.len() == 1 && fields.values().all(|only| only.as_str() == Some(text))
    };
    value.as_object().is_some_and(wraps)
        || serde_json::from_str::<Value>(text).is_ok_and(|read| read == *value)
}

/// Where files of a result go.
struct Place<'a> {
    ingress: &'a str,
    workspace: &'a Workspace,
    files: usize,
}

impl Place<'_> {
    fn part(&mut self, part: &Value) -> String {
        let text = |name: &str| part.get(name).and_then(Value::as_str);
        match text("type") {
            Some("text") => text("text").unwrap_or_default().to_owned(),
            Some(kind @ ("image" | "audio")) => {
                self.keep(kind, text("mimeType").unwrap_or_default(), text("data"), None)
            }
            Some("resource") => self.resource(part.get("resource").unwrap_or(&Value::Null)),
            Some("resource_link") => {
                let name = text("title").or_else(|| text("name")).unwrap_or("unnamed");
                let uri = text("uri").unwrap_or_default();
                let about = text("description").map(|one| format!(": {one}")).unwrap_or_default();
                format!("[resource `{name}` at {uri}{about}]")
            }
            Some(_) | None => {
                format!("[of a kind that is not known: {}]", cut(&part.to_string(), 2000))
            }
        }
    }

    fn resource(&mut self, resource: &Value) -> String {
        let text = |name: &str| resource.get(name).and_then(Value::as_str);
        let uri = text("uri").unwrap_or("without address");
        if let Some(content) = text("text") {
            return format!("[resource {uri}]\n{content}");
        }
        self.keep("resource", text("mimeType").unwrap_or_default(), text("blob"), Some(uri))
    }

    /// Puts bytes into the workspace and says where.
    fn keep(&mut self, kind: &str, media: &str, data: Option<&str>, uri: Option<&str>) -> String {
        let media: String = media.chars().filter(|c| !c.is_control()).take(80).collect();
        let of = uri.map(|uri| format!(" {uri}")).unwrap_or_default();
        let bytes = data.and_then(|data| {
            let clean: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            BASE64.decode(&clean).or_else(|_| BASE64_NOPAD.decode(&clean)).ok()
        });
        let Some(bytes) = bytes else {
            return format!("[{kind}{of} of type `{media}`, whose data is no base64]");
        };
        self.files += 1;
        let name = format!("{}-{}.{}", self.ingress, self.files, extension(kind, &media));
        let path = Utf8PathBuf::from(FOLDER).join(name);
        match self.workspace.write(&path, &bytes) {
            Ok(()) => format!("[{kind}{of} of type `{media}`, {} bytes: `{path}`]", bytes.len()),
            Err(error) => format!("[{kind}{of} of type `{media}`, which cannot be kept: {error}]"),
        }
    }
}

/// Returns how a file of a type is called.
fn extension(kind: &str, media: &str) -> &'static str {
    let known = [
        ("image/png", "png"),
        ("image/jpeg", "jpg"),
        ("image/gif", "gif"),
        ("image/webp", "webp"),
        ("image/svg+xml", "svg"),
        ("audio/wav", "wav"),
        ("audio/x-wav", "wav"),
        ("audio/mpeg", "mp3"),
        ("audio/ogg", "ogg"),
        ("application/pdf", "pdf"),
        ("application/json", "json"),
        ("text/csv", "csv"),
        ("text/plain", "txt"),
    ];
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let found = known.iter().find(|(name, _)| *name == media).map(|(_, ending)| *ending);
    found.unwrap_or(match kind {
        "image" => "image",
        "audio" => "audio",
        _ => "bin",
    })
}

/// Cuts a text to so many characters.
fn cut(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use proptest::prelude::*;
    use serde_json::json;
    use wildgym_sandbox::workspace::Quota;

    use super::*;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let workspace = Workspace::attach(path, Quota::default()).unwrap();
        (folder, workspace)
    }

    #[test]
    fn every_kind_of_content_is_told() {
        let (_folder, workspace) = workspace();
        let link = json!({"type": "resource_link", "uri": "file:///a", "name": "A"});
        let table = [
            (json!({"content": [{"type": "text", "text": "a"}]}), "a", "a text"),
            (json!({"content": []}), "(the tool returned nothing)", "nothing"),
            (json!({}), "(the tool returned nothing)", "not even a list"),
            (json!({"structuredContent": {"a": 1}}), r#"{"a":1}"#, "structured alone"),
            (
                json!({"content": [{"type": "text", "text": "{\"a\": 1}"}], "structuredContent": {"a": 1}}),
                r#"{"a": 1}"#,
                "said by a text already",
            ),
            (
                json!({"content": [{"type": "text", "text": "a\n"}], "structuredContent": {"content": "a\n"}}),
                "a\n",
                "a text that is only wrapped",
            ),
            (json!({"content": [link]}), "[resource `A` at file:///a]", "a link"),
            (
                json!({"content": [{"type": "resource", "resource": {"uri": "u:1", "text": "t"}}]}),
                "[resource u:1]\nt",
                "a resource of text",
            ),
            (
                json!({"content": [{"type": "image", "mimeType": "image/png", "data": "AQID"}]}),
                "[image of type `image/png`, 3 bytes: `.results/7-1.png`]",
                "a picture",
            ),
            (
                json!({"content": [{"type": "audio", "data": "?"}]}),
                "[audio of type ``, whose data is no base64]",
                "no base64",
            ),
            (json!({"content": [7]}), "[of a kind that is not known: 7]", "no part at all"),
        ];
        for (result, want, why) in table {
            assert_eq!(read("s", &result, "7", &workspace).unwrap(), want, "{why}");
        }
        let kept = workspace.read(Utf8Path::new(".results/7-1.png"), 10).unwrap();
        assert_eq!(kept, [1, 2, 3]);
    }

    #[test]
    fn an_error_is_the_tools_own() {
        let (_folder, workspace) = workspace();
        let table = [
            (json!({"isError": true, "content": [{"type": "text", "text": "no"}]}), "no", "said"),
            (json!({"isError": true, "content": []}), "does not say why", "not said"),
            (json!({"content": "x"}), "no result of a call", "no list"),
            (json!(null), "no result of a call", "nothing"),
            (json!({"tools": []}), "no result of a call", "of another request"),
            (json!({"resultType": "input_required"}), "asks for input", "a question"),
        ];
        for (result, want, why) in table {
            let error = read("s", &result, "1", &workspace).unwrap_err().to_string();
            assert!(error.contains(want), "{why}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_result_harms(kind in "(text|image|resource|.{0,5})", data in ".{0,20}", n in any::<i64>()) {
            let (_folder, workspace) = workspace();
            for part in [json!({"type": kind, "data": data, "text": n}), json!([n]), json!(data)] {
                let _ = read("s", &json!({"content": [part]}), "1", &workspace);
            }
        }
    }
}
