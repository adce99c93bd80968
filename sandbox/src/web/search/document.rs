//! What the search engine knows of a page.

use std::sync::LazyLock;

use jiff::civil::Date;
use regex::Regex;
use scraper::{ElementRef, Html, Node, Selector};
use serde::{Deserialize, Serialize};
use url::Url;

use super::paper::Paper;
use crate::html::{is_bottomless, without_tags};

/// Elements whose text is no part of what a page says.
const SILENT: &[&str] =
    &["script", "style", "noscript", "template", "nav", "footer", "head", "svg", "iframe"];

/// Elements that begin a new line.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "li",
    "tr",
    "br",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "section",
    "article",
    "table",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "td",
    "th",
    "pre",
    "blockquote",
    "header",
    "main",
    "figure",
    "figcaption",
    "option",
    "title",
];

/// One page or article, as the index holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::web) struct Document {
    /// Host that serves it, in its one spelling.
    pub(in crate::web) host: String,
    /// Where it is.
    pub(in crate::web) url: String,
    /// What people call the site.
    pub(in crate::web) source: String,
    /// Its title.
    pub(in crate::web) title: String,
    /// Other titles and headings, one a line.
    pub(in crate::web) headings: String,
    /// Its text, white space run together.
    pub(in crate::web) text: String,
    /// The day it says it is of.
    pub(in crate::web) date: Option<Date>,
    /// Whether it is news.
    pub(in crate::web) news: bool,
    /// The language of its site.
    pub(in crate::web) language: String,
    /// What kind of file it is, as a suffix: `html`, `pdf`.
    pub(in crate::web) filetype: String,
    /// The paper that the page is about.
    pub(in crate::web) paper: Option<Paper>,
}

/// What can be read off an HTML page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PageText {
    pub(super) title: String,
    pub(super) headings: String,
    pub(super) text: String,
    pub(super) news: bool,
    /// Whether the page asks not to be listed.
    pub(super) unlisted: bool,
    /// The paper that it is about.
    pub(super) paper: Option<Paper>,
    /// Where its links lead, and what is written on them.
    pub(super) links: Vec<(Url, String)>,
}

/// Reads an HTML page that stands at `url`.
pub(super) fn read(html: &str, url: &Url) -> PageText {
    if is_bottomless(html) {
        let text = without_tags(html).replace('\n', " ");
        return PageText { text, ..PageText::default() };
    }
    let page = Html::parse_document(html);
    let first = |selector: &str| select(&page, selector).first().map(|found| text_of(*found));
    let title = first("title").or_else(|| first("h1")).unwrap_or_default();
    let headings: Vec<_> = select(&page, "h1, h2, h3").into_iter().map(text_of).collect();
    let tags = meta_tags(&page);
    let says = |name: &str, word: &str| {
        let said = tags.iter().find(|(key, _)| key == name);
        said.is_some_and(|(_, content)| content.to_ascii_lowercase().contains(word))
    };
    PageText {
        title,
        headings: headings.join("\n"),
        text: text_of(page.root_element()),
        news: says("og:type", "article"),
        unlisted: says("robots", "noindex") || says("robots", "none"),
        paper: Paper::read(&tags, url),
        links: links(&page, url),
    }
}

/// Returns what the `<meta>` tags of a page say: `name` or `property` in lower case, and
/// `content`.
fn meta_tags(page: &Html) -> Vec<(String, String)> {
    let read = |tag: ElementRef<'_>| {
        let name = tag.attr("name").or_else(|| tag.attr("property"))?.to_ascii_lowercase();
        Some((name, tag.attr("content").unwrap_or_default().to_owned()))
    };
    select(page, "meta").into_iter().filter_map(read).collect()
}

/// Returns the links of a page with what is written on them.
fn links(page: &Html, url: &Url) -> Vec<(Url, String)> {
    let read = |link: ElementRef<'_>| {
        let mut target = url.join(link.attr("href")?).ok()?;
        target.set_fragment(None);
        Some((target, text_of(link))).filter(|(_, text)| !text.is_empty())
    };
    select(page, "a[href]").into_iter().filter_map(read).collect()
}

fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    Selector::parse(selector).map(|selector| page.select(&selector).collect()).unwrap_or_default()
}

/// Returns the text under an element, without what is not shown, in one line. Walks
/// without recursion: a page may nest as deep as it likes.
fn text_of(element: ElementRef<'_>) -> String {
    let mut text = String::new();
    let mut next = Some(*element);
    while let Some(node) = next {
        let mut descend = true;
        match node.value() {
            Node::Text(run) => text.push_str(run),
            Node::Element(tag) => {
                descend = node.id() == element.id() || !SILENT.contains(&tag.name());
                if BLOCKS.contains(&tag.name()) {
                    text.push(' ');
                }
            }
            Node::Document | Node::Fragment | Node::Doctype(_) | Node::Comment(_) => {}
            Node::ProcessingInstruction(_) => {}
        }
        next = node.first_child().filter(|_| descend);
        let mut climbing = node;
        while next.is_none() && climbing.id() != element.id() {
            next = climbing.next_sibling();
            match climbing.parent() {
                Some(parent) if next.is_none() => climbing = parent,
                Some(_) | None => break,
            }
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the day that a page says it is of: `<meta name="date" content="…">`, or
/// else its first `<time datetime="…">`.
#[must_use]
pub(in crate::web) fn declared_date(html: &str) -> Option<Date> {
    static TAG: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?is)<(meta|time)\s([^>]{0,400})>").ok());
    static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?is)([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"#).ok()
    });
    let mut time = None;
    for tag in TAG.as_ref()?.captures_iter(html) {
        let attributes = tag.get(2).map_or("", |it| it.as_str());
        let attribute = |name: &str| {
            ATTRIBUTE.as_ref()?.captures_iter(attributes).find_map(|found| {
                let value = found.get(2).or(found.get(3)).or(found.get(4))?.as_str();
                found[1].eq_ignore_ascii_case(name).then_some(value)
            })
        };
        if tag[1].eq_ignore_ascii_case("time") {
            time = time.or_else(|| attribute("datetime").and_then(day));
        } else if attribute("name").is_some_and(|name| name.eq_ignore_ascii_case("date"))
            && let Some(date) = attribute("content").and_then(day)
        {
            return Some(date);
        }
    }
    time
}

/// Reads the day off a date or a time of day.
fn day(written: &str) -> Option<Date> {
    written.trim().get(..10)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_without_what_is_not_shown() {
        let html = r#"<html><head><title> Tide  tables </title><meta name="ROBOTS" content="NoIndex">
            <meta property="og:type" content="article"></head><body><nav>Home</nav>
            <h1>Tide tables</h1><p>High<b>est</b> water</p><script>var x = "no";</script>
            <ul><li><a href="b.pdf#p">one</a></li><li>two</li></ul><h2>Notes</h2><footer>imprint</footer></body></html>"#;
        let url = Url::parse("https://tides.test/a/").unwrap();
        let page = read(html, &url);
        assert_eq!(page.title, "Tide tables");
        assert_eq!(page.headings, "Tide tables\nNotes");
        assert_eq!(page.text, "Tide tables Highest water one two Notes");
        assert!(page.news && page.unlisted);
        let links: Vec<_> =
            page.links.iter().map(|(url, text)| (url.as_str(), text.as_str())).collect();
        assert_eq!(links, [("https://tides.test/a/b.pdf", "one")]);
        assert_eq!(read("", &url).text, "", "an empty page has no text");
    }

    #[test]
    fn deep_nesting_is_walked_without_a_stack() {
        let html = format!("{}deep{}", "<div>".repeat(50_000), "</div>".repeat(50_000));
        let url = Url::parse("https://tides.test/").unwrap();
        assert_eq!(read(&html, &url).text, "deep");
    }

    #[test]
    fn the_declared_day_is_found_however_it_is_written() {
        let table = [
            (r#"<meta name="date" content="2026-02-03">"#, Some("2026-02-03"), "as documented"),
            ("<META CONTENT='2026-02-03' NAME=date>", Some("2026-02-03"), "other order and quotes"),
            (
                r#"<time datetime="2025-01-01T10:00Z">x</time><meta name=date content="2026-02-03">"#,
                Some("2026-02-03"),
                "the meta wins",
            ),
            (r#"<time class=x datetime="2025-01-01T10:00Z">"#, Some("2025-01-01"), "a time"),
            (r#"<time datetime="soon"><time datetime="2025-01-02">"#, Some("2025-01-02"), "no day"),
            ("<meta name=date content=2026-13-45>", None, "no such day"),
            ("<meta name=updated content=2026-01-01>", None, "another name"),
        ];
        for (html, want, why) in table {
            assert_eq!(declared_date(html).map(|day| day.to_string()).as_deref(), want, "{why}");
        }
    }
}
