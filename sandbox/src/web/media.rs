//! Media types, both of what is served and of what is read.
//!
//! A server names the encoding of a text only where it is sure: when the bytes are
//! UTF-8. Otherwise the reader finds out as browsers do.

/// Returns the `Content-Type` of a file: from the suffix of the path at which it is served,
/// else from that of the file itself (`/a` served from `a.html`), else from its bytes.
#[must_use]
pub(super) fn content_type_of(path: &str, file: &str, bytes: &[u8]) -> String {
    let by_name = |name: &str| suffix(name).as_deref().and_then(by_suffix);
    let media = by_name(path).or_else(|| by_name(file)).unwrap_or_else(|| by_content(bytes));
    if is_text(media) && std::str::from_utf8(bytes).is_ok() {
        format!("{media}; charset=utf-8")
    } else {
        media.to_owned()
    }
}

/// Returns the suffix of the last part of a path, in lower case.
#[must_use]
pub(super) fn suffix(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, suffix)| suffix.to_ascii_lowercase())
}

/// The media types of the suffixes that sites hold.
fn by_suffix(suffix: &str) -> Option<&'static str> {
    Some(match suffix {
        "html" | "htm" | "xhtml" => "text/html",
        "txt" | "log" | "py" | "sql" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "jsonl" | "ndjson" => "application/x-ndjson",
        "rss" => "application/rss+xml",
        "atom" => "application/atom+xml",
        "xml" => "application/xml",
        "yaml" | "yml" => "application/yaml",
        "toml" => "application/toml",
        "ics" => "text/calendar",
        "pdf" => "application/pdf",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "ods" => "application/vnd.oasis.opendocument.spreadsheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "ppt" => "application/vnd.ms-powerpoint",
        "odt" => "application/vnd.oasis.opendocument.text",
        "odp" => "application/vnd.oasis.opendocument.presentation",
        "rtf" => "application/rtf",
        "eml" => "message/rfc822",
        "msg" => "application/vnd.ms-outlook",
        "zip" => "application/zip",
        "gz" => "application/gzip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "avif" => "image/avif",
        "tar" => "application/x-tar",
        "epub" => "application/epub+zip",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "aac" => "audio/aac",
        "flac" => "audio/flac",
        "oga" | "ogg" | "opus" => "audio/ogg",
        "wav" => "audio/wav",
        "mp4" | "m4v" => "video/mp4",
        "mov" => "video/quicktime",
        "ogv" => "video/ogg",
        "webm" => "video/webm",
        "vtt" => "text/vtt",
        "srt" => "application/x-subrip",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "wasm" => "application/wasm",
        _ => return None,
    })
}

/// Guesses a media type from the first bytes.
fn by_content(bytes: &[u8]) -> &'static str {
    let start = bytes.trim_ascii_start();
    let head = start.get(..start.len().min(64)).unwrap_or_default().to_ascii_lowercase();
    let known: [(&[u8], &str); 7] = [
        (b"<!doctype html", "text/html"),
        (b"<html", "text/html"),
        (b"<?xml", "application/xml"),
        (b"%pdf-", "application/pdf"),
        (b"pk\x03\x04", "application/zip"),
        (b"\x89png", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
    ];
    if let Some((_, media)) = known.iter().find(|(magic, _)| head.starts_with(magic)) {
        return media;
    }
    if bytes.contains(&0) { "application/octet-stream" } else { "text/plain" }
}

/// Returns whether a media type (without parameters) is text that people can read.
#[must_use]
pub fn is_text(media: &str) -> bool {
    media.starts_with("text/")
        || media.ends_with("+json")
        || media.ends_with("+xml")
        || matches!(
            media,
            "application/json"
                | "application/x-ndjson"
                | "application/xml"
                | "application/yaml"
                | "application/toml"
                | "application/javascript"
                | "application/x-subrip"
        )
}

/// Returns the media type of a `Content-Type`, in lower case and without parameters.
#[must_use]
pub fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "二〇二五年度财务报告：本公司全年营业收入较上年增长百分之十二。";

    #[test]
    fn types_follow_the_suffix_and_name_an_encoding_only_when_sure() {
        let gb = encoding_rs::GB18030.encode(REPORT).0.into_owned();
        let table: [(&str, &[u8], &str, &str); 7] = [
            ("/", b"<!DOCTYPE html><p>x", "text/html; charset=utf-8", "no suffix, by content"),
            ("/a.HTML", b"<p>", "text/html; charset=utf-8", "case of the suffix"),
            ("/a.csv", &gb, "text/csv", "not UTF-8, so nothing is said"),
            ("/a.pdf", b"%PDF-1.7", "application/pdf", "binary"),
            ("/dir.d/file", b"\x00\x01", "application/octet-stream", "a dot in a folder"),
            ("/v1.2/notes", b"plain", "text/plain; charset=utf-8", "text without a suffix"),
            ("/data.json", b"{}", "application/json; charset=utf-8", "JSON"),
        ];
        for (path, bytes, want, why) in table {
            assert_eq!(content_type_of(path, "", bytes), want, "{why}");
        }
        let page = content_type_of("/about", "pages/about.html", b"<p>no doctype");
        assert_eq!(page, "text/html; charset=utf-8", "the file has the suffix");
    }
}
