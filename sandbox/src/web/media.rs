//! Media types and text encodings, both of what is served and of what is read.
//!
//! A server names the encoding of a text only where it is sure: when the bytes are
//! UTF-8. Otherwise the reader finds out as browsers do, from a byte order mark, the
//! header, a `<meta>` and at last the bytes themselves. Reading never fails; bytes
//! that fit no encoding become replacement characters.

use std::sync::LazyLock;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};
use regex::bytes::Regex;

/// How far into a page its `<meta charset>` is looked for, in bytes.
const META_WINDOW: usize = 4096;

/// How much of a text its encoding is guessed from, in bytes.
const GUESS_WINDOW: usize = 256 * 1024;

/// Returns the `Content-Type` of a file, from the suffix of its name and its bytes.
#[must_use]
pub(super) fn content_type(path: &str, bytes: &[u8]) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix.to_ascii_lowercase());
    let media = suffix.as_deref().and_then(by_suffix).unwrap_or_else(|| by_content(bytes));
    if is_text(media) && std::str::from_utf8(bytes).is_ok() {
        format!("{media}; charset=utf-8")
    } else {
        media.to_owned()
    }
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
        "xml" | "rss" | "atom" => "application/xml",
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
        "zip" => "application/zip",
        "gz" => "application/gzip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
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
        )
}

/// Returns the media type of a `Content-Type`, in lower case and without parameters.
#[must_use]
pub fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Reads bytes as text. `content_type` is what the server said, if anything.
#[must_use]
pub fn decode(bytes: &[u8], content_type: Option<&str>) -> String {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        let rest = bytes.get(length..).unwrap_or_default();
        return encoding.decode_without_bom_handling(rest).0.into_owned();
    }
    if let Some(encoding) = content_type.and_then(declared).or_else(|| meta(bytes)) {
        let (text, broken) = encoding.decode_without_bom_handling(bytes);
        if !broken {
            return text.into_owned();
        }
        // A declaration that does not fit is a common mistake of servers.
        let (guessed, still_broken) = guess(bytes).decode_without_bom_handling(bytes);
        return if still_broken { text } else { guessed }.into_owned();
    }
    guess(bytes).decode_without_bom_handling(bytes).0.into_owned()
}

/// Returns the encoding that a `Content-Type` names.
fn declared(content_type: &str) -> Option<&'static Encoding> {
    let charset = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })?;
    Encoding::for_label(charset.as_bytes())
}

/// Returns the encoding that the page itself names.
fn meta(bytes: &[u8]) -> Option<&'static Encoding> {
    static CHARSET: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i)<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)"#).ok());
    let head = bytes.get(..bytes.len().min(META_WINDOW))?;
    let label = CHARSET.as_ref()?.captures(head)?.get(1)?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A page that can be read up to here is not UTF-16, whatever it says.
    Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

/// Guesses the encoding from the bytes alone.
fn guess(bytes: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes.get(..GUESS_WINDOW).unwrap_or(bytes), true);
    detector.guess(None, Utf8Detection::Allow)
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
            assert_eq!(content_type(path, bytes), want, "{why}");
        }
    }

    #[test]
    fn text_is_read_in_the_encoding_it_was_written_in() {
        let gb = encoding_rs::GB18030.encode(REPORT).0.into_owned();
        let big5_text = "臺灣觀測站的年度財務報告顯示，營業收入增加百分之十二。";
        let big5 = encoding_rs::BIG5.encode(big5_text).0.into_owned();
        let with_meta = [b"<meta charset=gb2312>".as_slice(), &gb].concat();
        let http_equiv = [
            br#"<meta http-equiv="Content-Type" content="text/html; charset=big5">"#.as_slice(),
            &big5,
        ]
        .concat();
        let bom = [b"\xef\xbb\xbf".as_slice(), REPORT.as_bytes()].concat();
        let table: [(&[u8], Option<&str>, &str, &str); 8] = [
            (&gb, Some("text/html; charset=GBK"), REPORT, "the header says"),
            (&with_meta, Some("text/html"), REPORT, "the page says"),
            (&http_equiv, None, big5_text, "the page says, the old way"),
            (&bom, Some("text/html; charset=gbk"), REPORT, "a byte order mark wins"),
            (&gb, None, REPORT, "detected"),
            (&big5, Some("text/plain"), big5_text, "detected, traditional"),
            (&gb, Some("text/html; charset=utf-8"), REPORT, "the header is wrong"),
            (REPORT.as_bytes(), Some("text/html; charset=nonsense"), REPORT, "no such encoding"),
        ];
        for (bytes, header, want, why) in table {
            let text = decode(bytes, header);
            assert!(text.ends_with(want), "{why}: {text}");
        }
    }
}
