//! What the search engine knows of a page.

use std::sync::LazyLock;

use jiff::civil::Date;
use regex::Regex;
use scraper::{ElementRef, Html, Node, Selector};
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Reads an HTML page.
pub(super) fn read(html: &str) -> PageText {
    if is_bottomless(html) {
        let text = without_tags(html).replace('\n', " ");
        return PageText { text, ..PageText::default() };
    }
    let page = Html::parse_document(html);
    let first = |selector: &str| select(&page, selector).first().map(|found| text_of(*found));
    let title = first("title").or_else(|| first("h1")).unwrap_or_default();
    let headings: Vec<_> = select(&page, "h1, h2, h3").into_iter().map(text_of).collect();
    let meta = |key: &str, name: &str| {
        let found = select(&page, "meta");
        let hit = found
            .into_iter()
            .find(|meta| meta.attr(key).is_some_and(|value| value.eq_ignore_ascii_case(name)));
        hit.and_then(|meta| meta.attr("content")).unwrap_or_default().to_ascii_lowercase()
    };
    PageText {
        title,
        headings: headings.join("\n"),
        text: text_of(page.root_element()),
        news: meta("property", "og:type") == "article",
        unlisted: ["noindex", "none"].iter().any(|word| meta("name", "robots").contains(word)),
    }
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
            <ul><li>one</li><li>two</li></ul><h2>Notes</h2><footer>imprint</footer></body></html>"#;
        let page = read(html);
        assert_eq!(page.title, "Tide tables");
        assert_eq!(page.headings, "Tide tables\nNotes");
        assert_eq!(page.text, "Tide tables Highest water one two Notes");
        assert!(page.news && page.unlisted);
        assert_eq!(read("").text, "", "an empty page has no text");
    }

    #[test]
    fn deep_nesting_is_walked_without_a_stack() {
        let html = format!("{}deep{}", "<div>".repeat(50_000), "</div>".repeat(50_000));
        assert_eq!(read(&html).text, "deep");
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
