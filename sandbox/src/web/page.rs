//! The readable part of an HTML page, as Markdown.
//!
//! Navigation, scripts and decoration go; headings, lists, tables, code and links
//! stay, with absolute addresses. A page on which no article can be told from its
//! surroundings (a list of links, say) is kept whole: rather too much than a fact
//! lost. Any bytes are accepted; what nests too deep for a converter is given as
//! plain text.

use std::sync::LazyLock;

use dom_smoothie::Readability;
use jiff::civil::Date;
use regex::Regex;
use url::Url;

use super::search::declared_date;
use super::video::{self, Video};
use crate::html::{DEEPEST_TREE, is_bottomless, to_markdown, without_tags};

/// Elements that are no part of a page's content.
const CHROME: &str = "script, style, noscript, template, nav, iframe, svg, form button";

/// A page with fewer characters than this may be a mere shell, in characters.
const SHELL: usize = 400;

/// The least share of a page's text that counts as its main part, in percent.
const MAIN_SHARE: usize = 60;

/// A page, made readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its title; empty where it has none.
    pub title: String,
    /// The day it says it is of.
    pub date: Option<Date>,
    /// Its content as Markdown.
    pub markdown: String,
    /// What keeps its content from being all there is.
    pub signs: Vec<Sign>,
    /// The video that it is about.
    pub video: Option<Video>,
}

/// Something about a page that its text does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// Next to nothing is there before scripts have run.
    NeedsJavaScript,
    /// It says itself that not everybody may read all of it.
    Paywall,
    /// It sends its reader on to another page.
    SendsOn(Url),
}

/// Reads an HTML page that came from `url`.
#[must_use]
pub fn read_page(html: &str, url: &Url) -> Page {
    let source = html;
    let date = declared_date(html);
    let bare = |markdown: String| {
        let (title, signs) = (String::new(), Vec::new());
        Page { title, date, markdown, signs, video: None }
    };
    if is_bottomless(html) {
        return bare(without_tags(html));
    }
    let Ok(mut reader) = Readability::new(html, Some(url.as_str()), None) else {
        return bare(String::new());
    };
    if is_deep(&reader) {
        return bare(without_tags(html));
    }
    let noscript = reader.doc.select("noscript").text().to_ascii_lowercase();
    let scripted = reader.doc.select("script[src], script[type=module], #root, #app").exists();
    let sent_on = sends_on(&reader, url);
    let title = reader.doc.select("title").text().split_whitespace().collect::<Vec<_>>().join(" ");
    reader.doc.select(CHROME).remove();
    for (selector, attribute) in [("a[href]", "href"), ("img[src]", "src")] {
        for node in reader.doc.select(selector).nodes() {
            if let Some(Ok(target)) = node.attr(attribute).map(|target| url.join(&target)) {
                node.set_attr(attribute, target.as_str());
            }
        }
    }
    let (whole, length) = {
        let body = reader.doc.select("body");
        (body.inner_html().to_string(), visible(&body.text()))
    };
    let main = reader
        .parse()
        .ok()
        .filter(|article| visible(&article.text_content) * 100 >= length * MAIN_SHARE);
    let html = main.map_or(whole, |article| article.content.to_string());
    let mut signs = Vec::new();
    if length < SHELL {
        if length == 0 && scripted || noscript.contains("javascript") {
            signs.push(Sign::NeedsJavaScript);
        }
        signs.extend(sent_on.map(Sign::SendsOn));
    }
    if has_paywall(source) {
        signs.push(Sign::Paywall);
    }
    let markdown = to_markdown(&html).unwrap_or_else(|| without_tags(&html));
    Page { title, date, markdown, signs, video: video::read(source, url) }
}

/// Returns whether a page's tree is too deep for what walks it by recursion. Elements
/// whose end may be left out nest deeper than their tags tell.
fn is_deep(reader: &Readability) -> bool {
    let mut open = vec![(reader.doc.root(), 0_usize)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEEPEST_TREE {
            return true;
        }
        open.extend(node.children().into_iter().map(|child| (child, depth + 1)));
    }
    false
}

/// Returns where a page sends its reader: `<meta http-equiv="refresh">`.
fn sends_on(reader: &Readability, url: &Url) -> Option<Url> {
    let tags = reader.doc.select("meta[http-equiv][content]");
    let refresh = tags.nodes().iter().find(|tag| {
        tag.attr("http-equiv").is_some_and(|kind| kind.eq_ignore_ascii_case("refresh"))
    })?;
    let content = refresh.attr("content")?;
    let (_, target) = content
        .split_once(['='])
        .filter(|(head, _)| head.trim_end().to_ascii_lowercase().ends_with("url"))?;
    url.join(target.trim().trim_matches(['\'', '"'])).ok()
}

/// Returns whether a page says that it is not free to read: schema.org's
/// `isAccessibleForFree`, or the tier that publishers declare.
fn has_paywall(html: &str) -> bool {
    static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let data = r#""isAccessibleForFree"\s*:\s*"?false"#;
        let tag = r#"article:content_tier["']?\s+content=["']?(?:locked|metered)"#;
        Regex::new(&format!("(?i){data}|{tag}")).ok()
    });
    SAYS.as_ref().is_some_and(|says| says.is_match(html))
}

/// Counts the characters that a reader sees.
fn visible(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(html: &str) -> Page {
        read_page(html, &Url::parse("https://tides.test/news/").unwrap())
    }

    #[test]
    fn content_stays_and_chrome_goes() {
        let prose =
            "The harbour office measures the water every hour, and writes it down. ".repeat(12);
        let page = read(&format!(
            "<html><head><title>Spring  tide</title><meta name=date content=2026-02-03></head><body>\
             <nav><a href=/>Home</a> navigation</nav><script>var secret</script><article>\
             <h1>Spring tide</h1><p>{prose}</p><h2>Levels</h2><table><tr><th>day</th><th>m</th></tr>\
             <tr><td>1</td><td>4.2</td></tr></table><pre><code>tide --day 1</code></pre>\
             <p>See <a href='../data.csv'>the data</a>. {prose}</p></article></body></html>"
        ));
        assert_eq!(page.title, "Spring tide");
        assert_eq!(page.date.map(|day| day.to_string()).as_deref(), Some("2026-02-03"));
        let markdown = page.markdown;
        for (want, why) in [
            ("## Levels", "headings"),
            ("| 4.2", "tables"),
            ("tide --day 1", "code"),
            ("[the data](https://tides.test/data.csv)", "links, absolute"),
        ] {
            assert!(markdown.contains(want), "{why}: {markdown}");
        }
        for gone in ["navigation", "secret"] {
            assert!(!markdown.contains(gone), "{gone}: {markdown}");
        }
    }

    #[test]
    fn a_list_of_links_is_kept_whole() {
        let link = |n| format!("<li><a href=/n/{n}>Report {n}</a></li>");
        let links = (0..30).map(link).collect::<Vec<_>>().concat();
        let page = read(&format!("<body><p>Latest</p><ul>{links}</ul></body>"));
        assert!(
            page.markdown.contains("[Report 29](https://tides.test/n/29)"),
            "{}",
            page.markdown
        );
    }

    #[test]
    fn a_page_is_told_by_what_keeps_its_reader_out() {
        let next = Url::parse("https://tides.test/news/next").unwrap();
        let prose = "The water stood on the quay. ".repeat(40);
        let table = [
            (
                "<div id=root></div><script src=a.js></script>",
                vec![Sign::NeedsJavaScript],
                "a shell",
            ),
            (
                "<body><noscript>Please enable JavaScript.</noscript><p>Loading",
                vec![Sign::NeedsJavaScript],
                "it says so",
            ),
            (
                "<META HTTP-EQUIV=Refresh CONTENT=\"0; URL='next'\">",
                vec![Sign::SendsOn(next)],
                "sent on",
            ),
            (
                r#"<script type="application/ld+json">{"isAccessibleForFree": "False"}</script><p>A"#,
                vec![Sign::Paywall],
                "schema.org",
            ),
            (
                "<meta property='article:content_tier' content='locked'><p>A",
                vec![Sign::Paywall],
                "tier",
            ),
            ("<p>short", vec![], "short and whole"),
            ("", vec![], "nothing at all"),
        ];
        for (html, want, why) in table {
            assert_eq!(read(html).signs, want, "{why}");
        }
        let long = format!(
            "<body><noscript>enable JavaScript</noscript><p>{prose}<script src=a></script>"
        );
        assert_eq!(read(&long).signs, [], "a page that is there without its scripts");
    }

    #[test]
    fn hostile_pages_are_read_or_come_out_empty() {
        let deep = "<div>".repeat(60_000) + "deep";
        let (ruby, path) = ("<rt>".repeat(60_000) + "deep", "<path>".repeat(60_000) + "deep");
        let table = [
            (ruby.as_str(), "deep", "elements whose end may be left out, past every stack"),
            (path.as_str(), "deep", "drawings outside of drawings"),
            ("", "", "nothing"),
            (deep.as_str(), "deep", "nested past every stack"),
            ("<a href='http://[::bad'>x</a>", "x", "a link that is none"),
            ("<table><tr><td><table><tr><td>in", "in", "tables that do not close"),
            ("<p>\0a\u{202e}b<!-- -- > <![CDATA[ ]]>", "b", "control characters"),
            ("<title><body>x", "", "a title that never ends"),
        ];
        for (html, want, why) in table {
            assert!(read(html).markdown.contains(want), "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_markup_is_read(html in r#"(<(/?(div|p|table|tr|td|a|h1|ul|li|pre|code|b|br|img|script|article))( href="[a-z:/]{0,6}")?>|text |潮){0,60}"#) {
            let _ = read(&html);
        }
    }
}
