//! Feeds (RSS and Atom), read as far as a reader needs them.
//!
//! Elements are found by their tags, without a parser of XML: feeds in the wild are
//! seldom well formed. What is no feed gives none.

use std::sync::LazyLock;

use regex::Regex;

use crate::html::{unescaped, without_tags};

/// Longest summary of an entry, in characters.
const SUMMARY: usize = 300;

/// Most entries that are read.
const MOST: usize = 500;

/// A feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feed {
    /// Its title.
    pub title: String,
    /// What is in it, in its order.
    pub entries: Vec<FeedEntry>,
}

/// One entry of a feed; what it does not say is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedEntry {
    /// Its title.
    pub title: String,
    /// Where it leads.
    pub link: String,
    /// Its date, as written.
    pub date: String,
    /// What it is about, without markup, at most 300 characters.
    pub summary: String,
}

/// Reads a feed, or returns `None` where the text is none.
#[must_use]
pub fn read_feed(xml: &str) -> Option<Feed> {
    static ENTRY: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?is)<(?:item|entry)[\s>](.*?)</(?:item|entry)\s*>").ok());
    let start = xml.trim_start_matches('\u{feff}').trim_start();
    let head = start.get(..start.floor_char_boundary(2000))?.to_ascii_lowercase();
    if !["<rss", "<feed", "<rdf:rdf"].iter().any(|root| head.contains(root)) {
        return None;
    }
    let entry = ENTRY.as_ref()?;
    let first = entry.find(xml).map_or(xml.len(), |found| found.start());
    let read = |body: &str| {
        let summary = ["description", "summary", "content:encoded", "content"];
        let summary = summary.iter().find_map(|name| element(body, name)).unwrap_or_default();
        let summary = without_tags(&summary).split_whitespace().collect::<Vec<_>>().join(" ");
        let cut = summary.char_indices().nth(SUMMARY).map(|(end, _)| end);
        let dates = ["pubDate", "published", "updated", "dc:date"];
        FeedEntry {
            title: line(&element(body, "title").unwrap_or_default()),
            link: link(body),
            date: line(&dates.iter().find_map(|name| element(body, name)).unwrap_or_default()),
            summary: match cut {
                Some(end) => format!("{} …", &summary[..end]),
                None => summary,
            },
        }
    };
    Some(Feed {
        title: line(&element(&xml[..first], "title").unwrap_or_default()),
        entries: entry.captures_iter(xml).take(MOST).map(|found| read(&found[1])).collect(),
    })
}

/// Returns the text of the first element of that name.
fn element(xml: &str, name: &str) -> Option<String> {
    let pattern = format!(r"(?is)<{0}(?:\s[^>]*)?>(.*?)</{0}\s*>", regex::escape(name));
    let found = Regex::new(&pattern).ok()?;
    let text = found.captures(xml)?.get(1)?.as_str().trim();
    let cdata = text.strip_prefix("<![CDATA[").and_then(|rest| rest.strip_suffix("]]>"));
    Some(cdata.map_or_else(|| unescaped(text), ToOwned::to_owned))
}

/// Returns the address of an entry: `<link>…</link>` of RSS, `<link href="…">` of Atom.
fn link(xml: &str) -> String {
    static HREF: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?is)<link\s(?:[^>]*\s)?href\s*=\s*(?:"([^"]*)"|'([^']*)')"#).ok()
    });
    if let Some(text) = element(xml, "link").filter(|text| !text.is_empty()) {
        return line(&text);
    }
    let found = HREF.as_ref().and_then(|href| href.captures(xml));
    let target =
        found.and_then(|found| found.get(1).or(found.get(2)).map(|it| it.as_str().to_owned()));
    unescaped(&target.unwrap_or_default())
}

fn line(text: &str) -> String {
    without_tags(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_kinds_of_feed_are_read() {
        let rss = "<?xml version='1.0'?><rss><channel><title>Post</title><item>\
            <title><![CDATA[Flood & <b>tide</b>]]></title><link>https://a.test/1</link>\
            <pubDate>Tue, 03 Feb 2026</pubDate><description>&lt;p&gt;High &amp;amp; wet\
            </description></item><item><title>Two</title></item></channel></rss>";
        let feed = read_feed(rss).unwrap();
        assert_eq!((feed.title.as_str(), feed.entries.len()), ("Post", 2));
        let want = ["Flood & tide", "https://a.test/1", "Tue, 03 Feb 2026", "High & wet"];
        let FeedEntry { title, link, date, summary } = &feed.entries[0];
        assert_eq!([title, link, date, summary], want);
        assert_eq!(feed.entries[1].link, "", "what is missing is empty");
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title type='text'>潮汐</title><entry>\
            <link rel='alternate' href='https://a.test/二'/><title>二</title>\
            <updated>2026-02-03</updated></entry></feed>";
        let feed = read_feed(atom).unwrap();
        assert_eq!(
            (feed.title.as_str(), feed.entries[0].link.as_str()),
            ("潮汐", "https://a.test/二")
        );
    }

    #[test]
    fn what_is_no_feed_is_none() {
        for text in ["", "<html><body>feed", "<?xml?><note/>", "{\"rss\": 1}", "潮"] {
            assert_eq!(read_feed(text), None, "{text}");
        }
        assert_eq!(read_feed("<rss><item><title>open"), Some(Feed::default()), "cut off");
    }

    proptest! {
        #[test]
        fn any_text_is_read(xml in r#"<rss>(<(/?(item|entry|title|link|description))( href="[a-z]{0,3}")?>|潮|<!\[CDATA\[|\]\]>|&amp;| ){0,40}"#) {
            prop_assert!(read_feed(&xml).is_some());
        }
    }
}
