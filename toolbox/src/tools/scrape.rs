//! `scrape`: reads a page of the web.
//!
//! Pages become Markdown, text comes as it is, and binary files are named, not
//! poured out: a forerunner returned a PDF as text. With a query only the passages
//! that fit are returned.

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
    AccessLog, Request, Response, Web, WebError, is_text, media_type, read_page,
};

use crate::error::ToolError;
use crate::footprint::Footprint;
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
        links. Text, JSON and CSV are returned as they are. With `query`, only the passages of the \
        page that fit it. Does not run scripts, log in or fill forms.";
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
        scrape(web, context.now, &context.accesses, args).await.map(Output::from)
    }
}

async fn scrape(
    web: &Web,
    now: Timestamp,
    log: &AccessLog,
    args: Args,
) -> Result<String, ToolError> {
    let response = web.send(Request::get(address(&args.url)?), now, log).await?;
    let query = args.query.filter(|query| !query.trim().is_empty());
    // Parsing is work for a processor: it must not hold up other attempts, and a
    // parser that panics costs this call only.
    tokio::task::spawn_blocking(move || readable(&response, query.as_deref()))
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
fn readable(response: &Response, query: Option<&str>) -> Result<String, ToolError> {
    let content_type = response.header("content-type").unwrap_or_default();
    let media = media_type(content_type);
    let bytes = response.body.get(..PARSED).unwrap_or(&response.body);
    let html = matches!(media.as_str(), "text/html" | "application/xhtml+xml");
    if response.status != 200 {
        return Err(refused(response, &media, bytes, html));
    }
    if !html && !is_text(&media) {
        return Err(ToolError::Failed(binary(&response.url, &media, bytes)));
    }
    let text = decode(bytes, Some(content_type)).text;
    let mut out = String::new();
    let content = if html {
        let page = read_page(&text, &response.url);
        if !page.title.is_empty() {
            let _ = writeln!(out, "Title: {}", page.title);
        }
        if let Some(date) = page.date {
            let _ = writeln!(out, "Date: {date}");
        }
        page.markdown
    } else {
        text
    };
    let _ = writeln!(out, "URL: {}\n", response.url);
    out.push_str(&shown(&content, query));
    if response.body.len() > PARSED {
        let _ = write!(out, "\n\n[only the first {PARSED} bytes of the page were read]");
    }
    Ok(out)
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

/// Says what a file is that is no text, and what reads it.
fn binary(url: &Url, media: &str, bytes: &[u8]) -> String {
    let path = url.path().to_ascii_lowercase();
    let is = |kinds: &[&str], suffixes: &[&str]| {
        kinds.iter().any(|kind| media.contains(kind))
            || suffixes.iter().any(|suffix| path.ends_with(suffix))
    };
    let workbook = is(&["spreadsheet", "ms-excel"], &[".xlsx", ".xls", ".ods"]);
    let document = is(
        &["pdf", "msword", "wordprocessing", "presentation"],
        &[".pdf", ".doc", ".docx", ".pptx"],
    ) || bytes.starts_with(b"%PDF-");
    let hint = if workbook {
        format!("a workbook; read it with `extract_excel_content` and `document_path` \"{url}\"")
    } else if document {
        format!("a document; read it with `extract_document_content` and `document_path` \"{url}\"")
    } else if media.starts_with("image/") {
        "an image, which has no text to return".to_owned()
    } else if is(&["zip", "gzip", "x-tar"], &[".zip", ".gz", ".tar"]) {
        "an archive; fetch and unpack it with `execute_code`".to_owned()
    } else {
        "binary data; fetch it with `execute_code`".to_owned()
    };
    let media = if media.is_empty() { "unknown type" } else { media };
    format!("`{url}` is no page ({media}, {} bytes): {hint}", bytes.len())
}

#[cfg(test)]
mod tests {
    use super::super::web_fixture::Fixture;
    use super::*;

    fn run(url: &str, query: Option<&str>) -> Result<String, ToolError> {
        let args = Args { url: url.to_owned(), query: query.map(ToOwned::to_owned) };
        Fixture::new().run(|web, now, log| Box::pin(scrape(web, now, log, args)))
    }

    #[test]
    fn a_page_is_returned_as_markdown_with_where_it_came_from() {
        let got = run("news.test/old-flood", None).unwrap();
        let want = "Title: Flood at the quay\nDate: 2026-02-20\nURL: https://news.test/flood\n\n";
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
            ("https://news.test/report.pdf", "`extract_document_content`"),
            ("https://news.test/book.xlsx", "`extract_excel_content`"),
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
