//! `scrape`: reads a page of the web.
//!
//! Pages become Markdown, text comes as it is, documents (PDF, Word, workbooks) are read
//! as the document tool reads them, and other binary files are named, not poured out: a
//! forerunner returned a PDF's bytes as text. With a query only the passages that fit are
//! returned. What a page does not show (a paywall, scripts that have to run, another page
//! that it sends its reader to) is said.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;
use wildgym_sandbox::encoding::decode;
use wildgym_sandbox::passages::passages;
use wildgym_sandbox::web::{
    AccessLog, Page, Request, Response, Sign, Video, Web, WebError, is_text, media_type, read_feed,
    read_page,
};

use super::extract_document_content;
use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::source::{Source, name_of};
use crate::tool::{CallContext, Category, Output, Tool};

/// How much of a page is returned, in characters.
const LONGEST: usize = 40_000;

/// How much is returned when a query was given, in characters.
const LONGEST_PASSAGES: usize = 6_000;

/// How much of a page is shown when nothing in it fits the query, in characters.
const BEGINNING: usize = 1_500;

/// How much of an error page is shown, in characters.
const ERROR_TEXT: usize = 600;

/// How much of a page is parsed, in bytes.
const PARSED: usize = 4 << 20;

/// Reads a page of the web.
#[derive(Debug, Default)]
pub struct Scrape;

/// Arguments of [`Scrape`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Address of the page, such as `https://example.test/news`.
    url: String,
    /// What to look for on the page; only the passages that fit are returned. Left out: the whole page.
    #[serde(default)]
    query: Option<String>,
}

impl Tool for Scrape {
    const NAME: &'static str = "scrape";
    const DESCRIPTION: &'static str = "Read a web page: its content as Markdown, with title, date and \
        links. Text, JSON and CSV are returned as they are, feeds as a list, and PDF, Word and \
        workbook files as their text. With `query`, only the passages that fit it. Does not run \
        scripts, log in or fill forms.";
    const CATEGORY: Category = Category::WebBrowsing;
    const EXAMPLE: &'static str =
        r#"{"url": "https://data.tarrow.example/datasets/tide-gauges", "query": "Ulveth Quay"}"#;
    type Args = Args;

    fn footprint(&self, _args: &Args) -> Footprint {
        Footprint::none()
    }

    fn cost(&self, _args: &Args) -> Duration {
        Duration::from_secs(3)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let web = context.sandbox.web.as_ref().ok_or(WebError::NoWeb)?;
        let query = args.query.clone();
        match scrape(web, context.now, &context.accesses, args).await? {
            Scraped::Text(text) => Ok(text.into()),
            Scraped::Document(head, file) => {
                let text = extract_document_content::read(context, file, query).await?;
                Ok(format!("{head}{text}").into())
            }
        }
    }
}

/// What came back.
#[derive(Debug)]
enum Scraped {
    /// Text for the agent.
    Text(String),
    /// A document that a worker has to read; the text says where it came from.
    Document(String, Source),
}

async fn scrape(
    web: &Web,
    now: Timestamp,
    log: &AccessLog,
    args: Args,
) -> Result<Scraped, ToolError> {
    let asked = address(&args.url)?;
    let response = web.send(Request::get(asked.clone()), now, log).await?;
    let query = args.query.filter(|query| !query.trim().is_empty());
    // Parsing is work for a processor: it must not hold up other attempts, and a
    // parser that panics costs this call only.
    tokio::task::spawn_blocking(move || readable(&asked, &response, query.as_deref()))
        .await
        .unwrap_or_else(|_| Err(ToolError::Failed("the page cannot be parsed".to_owned())))
}

/// Reads an address; `https` is meant where no scheme is written.
fn address(written: &str) -> Result<Url, ToolError> {
    let written = written.trim();
    let refuse = |reason: String| ToolError::BadArguments { tool: Scrape::NAME.to_owned(), reason };
    if written.is_empty() {
        return Err(refuse("`url` is empty; give the address of a page".to_owned()));
    }
    let parsed = match Url::parse(written) {
        // `tides.test:80/a` reads as a scheme, and is none.
        Ok(url) if !url.scheme().contains('.') => Ok(url),
        Ok(_) | Err(url::ParseError::RelativeUrlWithoutBase) => {
            if written.starts_with(['/', '.']) || written.contains(char::is_whitespace) {
                Err(url::ParseError::RelativeUrlWithoutBase)
            } else {
                Url::parse(&format!("https://{written}"))
            }
        }
        Err(error) => Err(error),
    };
    parsed.map_err(|error| {
        refuse(format!(
            "`url` is `{written}`: {error}; give a whole address, such as `https://example.test/a`"
        ))
    })
}

/// Makes text of a reply.
fn readable(asked: &Url, response: &Response, query: Option<&str>) -> Result<Scraped, ToolError> {
    let content_type = response.header("content-type").unwrap_or_default();
    let media = media_type(content_type);
    let bytes = response.body.get(..PARSED).unwrap_or(&response.body);
    // A server that says nothing, or calls a page data, is believed only where it must be.
    let vague = media.is_empty() || media == "application/octet-stream";
    let html = matches!(media.as_str(), "text/html" | "application/xhtml+xml")
        || vague && looks_like_html(bytes);
    if !(200..300).contains(&response.status) {
        return Err(refused(response, &media, bytes, html));
    }
    let mut head = String::new();
    if let Some(document) = document(&response.url, &media, bytes) {
        let _ =
            writeln!(head, "{}\nThis is {document}; its text follows.", origin(asked, response));
        head.push('\n');
        let (name, media_type) = (name_of(response), Some(content_type.to_owned()));
        let media_type = media_type.filter(|_| !vague);
        let bytes = response.body.to_vec();
        return Ok(Scraped::Document(head, Source { name, media_type, page: 1, bytes }));
    }
    let text = vague && !bytes.contains(&0) && !bytes.is_empty();
    let empty = vague && bytes.is_empty();
    if !(html || text || empty || is_text(&media)) {
        return Err(ToolError::Failed(binary(&response.url, &media, response.body.len())));
    }
    let text = decode(bytes, Some(content_type)).text;
    let content = if html {
        let page = read_page(&text, &response.url);
        if !page.title.is_empty() {
            let _ = writeln!(head, "Title: {}", page.title);
        }
        if let Some(date) = page.date {
            let _ = writeln!(head, "Date: {date}");
        }
        let _ = writeln!(head, "{}", origin(asked, response));
        notes(&mut head, &page);
        page.markdown
    } else {
        let _ = writeln!(head, "{}", origin(asked, response));
        plain(text, &media, query.is_some())
    };
    head.push('\n');
    head.push_str(&shown(&content, query));
    if response.body.len() > PARSED {
        let _ = write!(head, "\n\n[only the first {PARSED} bytes of the page were read]");
    }
    Ok(Scraped::Text(head))
}

/// Says where the content came from, and that this is not where it was asked for.
fn origin(asked: &Url, response: &Response) -> String {
    let bare = |url: &Url| {
        let text = url.as_str().split('#').next().unwrap_or_default();
        text.split_once("://").map_or(text, |(_, rest)| rest).trim_end_matches('/').to_owned()
    };
    let mut line = format!("URL: {}", response.url);
    if bare(asked) != bare(&response.url) {
        let _ = write!(line, "\nRedirected from: {asked}");
    }
    line
}

/// Adds what a page does not show.
fn notes(head: &mut String, page: &Page) {
    for sign in &page.signs {
        let _ = match sign {
            Sign::NeedsJavaScript => {
                writeln!(head, "[the page needs JavaScript to show its content: use `browse_url`]")
            }
            Sign::Paywall => writeln!(
                head,
                "[the page says that it is behind a paywall: below is only what everybody may read]"
            ),
            Sign::SendsOn(target) => {
                writeln!(head, "[the page sends its reader on to {target}: scrape that]")
            }
        };
    }
    if let Some(video) = &page.video {
        head.push_str(&about(video));
    }
}

/// Says what is known of a page's video.
fn about(video: &Video) -> String {
    let mut out = format!("Video: {}", video.title);
    if let Some(seconds) = video.seconds {
        let _ = write!(out, " ({}:{:02} min)", seconds / 60, seconds % 60);
    }
    out.push('\n');
    if let Some(media) = &video.media {
        let _ = writeln!(out, "Media file: {media}");
    }
    for (language, url) in &video.captions {
        let language = if language.is_empty() { String::new() } else { format!(" ({language})") };
        let _ = writeln!(out, "Captions{language}: {url}");
    }
    if !video.description.is_empty() {
        let _ = writeln!(out, "Description: {}", video.description);
    }
    if let Some(transcript) = &video.transcript {
        let _ = writeln!(out, "Transcript: {transcript}");
    }
    out
}

/// Returns a text as it is; feeds as a list, and JSON in lines where passages of it are
/// looked for.
fn plain(text: String, media: &str, lines: bool) -> String {
    if (media.ends_with("xml") || media.is_empty())
        && let Some(feed) = read_feed(&text)
    {
        let mut out = format!("# {} (a feed of {} entries)\n", feed.title, feed.entries.len());
        for entry in &feed.entries {
            let _ = write!(out, "\n- {}", entry.title);
            for part in [&entry.date, &entry.link, &entry.summary] {
                if !part.is_empty() {
                    let _ = write!(out, "\n  {part}");
                }
            }
        }
        return out;
    }
    let json = media == "application/json" || media.ends_with("+json");
    if json && lines && text.lines().count() < 3 {
        let parsed = serde_json::from_str::<serde_json::Value>(&text);
        return parsed.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or(text);
    }
    text
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let start = start.get(..start.len().min(200)).unwrap_or_default().to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// Says what kind of document a file is, where its text can be extracted.
fn document(url: &Url, media: &str, bytes: &[u8]) -> Option<&'static str> {
    let path = url.path().to_ascii_lowercase();
    let zip = bytes.starts_with(b"PK\x03\x04");
    let is = |suffixes: &[&str], kinds: &[&str]| {
        zip && suffixes.iter().any(|suffix| path.ends_with(suffix))
            || kinds.iter().any(|kind| media.contains(kind))
    };
    if bytes.starts_with(b"%PDF-") {
        Some("a PDF")
    } else if is(&[".xlsx", ".ods"], &["spreadsheetml", "opendocument.spreadsheet", "ms-excel"]) {
        Some("a workbook")
    } else if is(&[".docx"], &["wordprocessingml"]) {
        Some("a Word document")
    } else if is(&[".pptx"], &["presentationml"]) {
        Some("a presentation")
    } else if is(&[".odt", ".odp"], &["opendocument.text", "opendocument.presentation"]) {
        Some("an OpenDocument file")
    } else if is(&[".epub"], &["epub+zip"]) {
        Some("a book")
    } else if bytes.starts_with(b"{\\rtf") {
        Some("an RTF document")
    } else if media == "application/pdf" {
        Some("declared a PDF")
    } else {
        None
    }
}

/// Returns the content, or as much of it as a reader can use.
fn shown(content: &str, query: Option<&str>) -> String {
    if content.trim().is_empty() {
        return "[the page holds no text]".to_owned();
    }
    let length = content.chars().count();
    if let Some(query) = query {
        let found = passages(content, query, LONGEST_PASSAGES);
        if found.chosen == 0 {
            let start = beginning(content, BEGINNING);
            return format!(
                "[nothing on the page fits the query; it has {length} characters and begins so:]\n\n\
                 {start}"
            );
        }
        return found.text;
    }
    if length <= LONGEST {
        return content.to_owned();
    }
    format!(
        "{}\n\n[cut: the first {LONGEST} of {length} characters; give `query` to get the passages \
         that fit it]",
        beginning(content, LONGEST)
    )
}

fn beginning(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// Says what a host answered instead of the page.
fn refused(response: &Response, media: &str, bytes: &[u8], html: bool) -> ToolError {
    let status = http::StatusCode::from_u16(response.status).ok();
    let reason = status.and_then(|status| status.canonical_reason()).unwrap_or_default();
    let mut message = format!("`{}` answered {} {reason}", response.url, response.status);
    let meaning = match response.status {
        401 | 407 => " (it asks for a login)",
        402 => " (it is behind a paywall)",
        403 => " (it refuses this reader; another source may serve)",
        429 => " (it is asked too often; wait, or use another source)",
        451 => " (it is not shown here for legal reasons)",
        500.. => " (its server is in trouble; try again later, or use another source)",
        _ => "",
    };
    message.push_str(meaning);
    if is_text(media) {
        let text = decode(bytes, response.header("content-type")).text;
        let text = if html { read_page(&text, &response.url).markdown } else { text };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            let _ = write!(message, ": {}", beginning(&text, ERROR_TEXT));
        }
    }
    ToolError::Failed(message)
}

/// Says what a file is that has no text to return, and what helps.
fn binary(url: &Url, media: &str, length: usize) -> String {
    let path = url.path().to_ascii_lowercase();
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| path.ends_with(suffix));
    let hint = if media.starts_with("image/") {
        "an image, which has no text to return".to_owned()
    } else if media.starts_with("audio/") || media.starts_with("video/") {
        "a recording, which has no text to return; its page may have captions or a transcript"
            .to_owned()
    } else if ["zip", "gzip", "x-tar", "x-bzip", "x-xz", "x-7z"].iter().any(|it| media.contains(it))
        || ends(&[".zip", ".gz", ".tar", ".tgz", ".bz2", ".xz"])
    {
        "an archive; fetch and unpack it with `execute_code`".to_owned()
    } else if media.contains("msword") || media.contains("presentation") || ends(&[".doc", ".pptx"])
    {
        format!(
            "a document of a kind that may not be read; try `extract_document_content` with `document_path` \"{url}\""
        )
    } else {
        "binary data; fetch it with `execute_code`".to_owned()
    };
    let media = if media.is_empty() { "unknown type" } else { media };
    format!("`{url}` is no page ({media}, {length} bytes): {hint}")
}

#[cfg(test)]
mod tests {
    use super::super::web_fixture::Fixture;
    use super::*;

    fn run(url: &str, query: Option<&str>) -> Result<String, ToolError> {
        let args = Args { url: url.to_owned(), query: query.map(ToOwned::to_owned) };
        let got = Fixture::new().run(|web, now, log| Box::pin(scrape(web, now, log, args)));
        got.map(|scraped| match scraped {
            Scraped::Text(text) => text,
            Scraped::Document(head, file) => {
                format!("{head}[{}, {:?}, {} bytes]", file.name, file.media_type, file.bytes.len())
            }
        })
    }

    fn reply(status: u16, content_type: &str, body: &[u8]) -> Result<String, ToolError> {
        let url: Url = "https://live.test/x".parse().unwrap();
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        let headers = headers.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let body = body.to_vec().into();
        let delay = Duration::ZERO;
        let response = Response { status, url: url.clone(), headers, body, delay };
        readable(&url, &response, None).map(|scraped| match scraped {
            Scraped::Text(text) => text,
            Scraped::Document(head, file) => format!("{head}[{}]", file.name),
        })
    }

    #[test]
    fn a_page_is_returned_as_markdown_with_where_it_came_from() {
        let got = run("news.test/old-flood", None).unwrap();
        let want = "Title: Flood at the quay\nDate: 2026-02-20\nURL: https://news.test/flood\n\
             Redirected from: https://news.test/old-flood\n\n";
        assert!(got.starts_with(want), "after a redirect, scheme left out: {got}");
        assert!(got.contains("| Ellery") && got.contains("[tables](https://tides.test/)"), "{got}");
    }

    #[test]
    fn text_is_returned_as_it_is_and_binary_files_are_named() {
        let got = run("https://news.test/data.csv", None).unwrap();
        assert_eq!(got, "URL: https://news.test/data.csv\n\nday,level\n1,4.2\n");
        let got = run("https://news.test/gb.txt", None).unwrap();
        assert!(got.contains("二月财务报告"), "GB18030 without a declaration: {got}");
        let table = [
            ("https://news.test/pack.zip", "`execute_code`"),
            ("https://news.test/map.png", "an image"),
            ("https://news.test/raw", "binary data"),
        ];
        for (url, want) in table {
            let error = run(url, None).unwrap_err().to_string();
            assert!(error.contains(want), "{url}: {error}");
        }
    }

    #[test]
    fn documents_are_handed_on_to_be_read() {
        let table = [
            (
                "https://news.test/report.pdf",
                "a PDF",
                "[report.pdf, Some(\"application/pdf\"), 10 bytes]",
            ),
            ("https://news.test/book.xlsx", "a workbook", "[book.xlsx, "),
        ];
        for (url, kind, file) in table {
            let got = run(url, None).unwrap();
            assert!(got.contains(&format!("This is {kind}; its text follows.")), "{got}");
            assert!(got.contains(file), "{got}");
        }
        let got = reply(200, "application/octet-stream", b"%PDF-1.7 x").unwrap();
        assert!(got.contains("This is a PDF"), "told by its bytes, as arXiv's links need: {got}");
    }

    #[test]
    fn what_the_page_does_not_show_is_said() {
        let table: [(&str, &str, &str); 9] = [
            (
                "text/html",
                "<div id=app></div><script src=a.js></script>",
                "needs JavaScript to show its content: use `browse_url`",
            ),
            (
                "text/html",
                "<meta http-equiv=refresh content='0;url=/y'>",
                "sends its reader on to https://live.test/y",
            ),
            (
                "text/html",
                "<meta property='article:content_tier' content='metered'><p>Lead",
                "behind a paywall",
            ),
            ("text/html", "", "[the page holds no text]"),
            (
                "",
                "<!DOCTYPE html><title>T</title><p>Hello",
                "Title: T\nURL: https://live.test/x\n\nHello",
            ),
            ("", "plain words", "plain words"),
            ("application/octet-stream", "<html><p>Hello", "Hello"),
            (
                "application/rss+xml",
                "<rss><channel><title>F</title><item><title>One</title><link>https://a.test/</link></item></channel></rss>",
                "# F (a feed of 1 entries)\n\n- One\n  https://a.test/",
            ),
            (
                "text/html",
                r#"<script type="application/ld+json">{"@type":"VideoObject","name":"Choir","duration":"PT75S"}</script><track kind=captions srclang=en src=/c.vtt>"#,
                "Video: Choir (1:15 min)\nCaptions (en): https://live.test/c.vtt",
            ),
        ];
        for (content_type, body, want) in table {
            let got = reply(200, content_type, body.as_bytes()).unwrap();
            assert!(got.contains(want), "{body}: {got}");
        }
        let table = [
            (402, "402 Payment Required (it is behind a paywall)"),
            (403, "403 Forbidden (it refuses this reader"),
            (429, "429 Too Many Requests (it is asked too often"),
            (503, "503 Service Unavailable (its server is in trouble"),
            (599, "answered 599"),
        ];
        for (status, want) in table {
            let error = reply(status, "text/html", b"<h1>No</h1>").unwrap_err().to_string();
            assert!(error.contains(want) && error.ends_with("# No"), "{error}");
        }
    }

    #[test]
    fn texts_are_not_garbled_whatever_the_server_says() {
        let text = "二月财务报告：利润下降，支出上升，水位四米二。";
        let utf8 = format!("<meta charset=utf-8><p>{text}");
        let gb = [&b"<meta charset=gb2312><p>"[..], GB].concat();
        let table: [(&str, &[u8], &str); 4] = [
            ("text/html", utf8.as_bytes(), "UTF-8, declared in the page"),
            ("text/html; charset=utf-8", text.as_bytes(), "UTF-8, declared by the server"),
            ("text/html", &gb, "GB2312, declared in the page"),
            ("text/html", GB, "GB2312, declared by nobody"),
        ];
        for (content_type, body, why) in table {
            let got = reply(200, content_type, body).unwrap();
            assert!(got.contains("二月财务报告"), "{why}: {got}");
        }
    }

    /// `二月财务报告：利润下降，支出上升。` in GB18030.
    const GB: &[u8] = b"\xb6\xfe\xd4\xc2\xb2\xc6\xce\xf1\xb1\xa8\xb8\xe6\xa3\xba\xc0\xfb\xc8\xf3\xcf\xc2\xbd\xb5\xa3\xac\xd6\xa7\xb3\xf6\xc9\xcf\xc9\xfd\xa1\xa3";

    #[test]
    fn with_a_query_only_what_fits_is_returned() {
        let got = run("https://news.test/long", Some("lighthouse keeper")).unwrap();
        assert!(got.contains("The lighthouse keeper is Ida Holm."), "{got}");
        assert!(got.chars().count() < 7_000, "{} characters", got.chars().count());
        let got = run("https://news.test/long", Some("zeppelin")).unwrap();
        assert!(got.contains("nothing on the page fits the query"), "{got}");
        let got = run("https://news.test/long", None).unwrap();
        assert!(got.contains("[cut: the first 40000 of"), "a long page is cut with a note");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let table = [
            ("https://news.test/gone", "answered 404 Not Found"),
            ("https://nowhere.test/", "the host is unknown"),
            ("https://blocked.test/", "blocked for this task"),
            ("", "`url` is empty"),
            ("/flood", "give a whole address"),
            ("what is a tide", "give a whole address"),
            ("http://", "give a whole address"),
            ("file:///etc/passwd", "local files"),
            ("javascript:alert(1)", "only `http` and `https`"),
            ("mailto:a@news.test", "only `http` and `https`"),
            ("http://127.0.0.1/", "addresses are not served"),
        ];
        for (url, want) in table {
            let got = run(url, None);
            let text = got.unwrap_or_else(|error| error.to_string());
            assert!(text.contains(want), "{url}: {text}");
        }
    }
}
