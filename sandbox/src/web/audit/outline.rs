//! What a page links to, and whether it has what every page should have.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use scraper::{Html, Selector};

use crate::html::{is_bottomless, without_tags};

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link {
    /// The address, as written.
    pub(super) address: String,
    /// Whether a form is sent there.
    pub(super) is_sent: bool,
}

/// A page, as far as a check needs it.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) links: BTreeSet<Link>,
    pub(super) has_title: bool,
    /// Ids that stand on more than one element.
    pub(super) double_ids: BTreeSet<String>,
    /// What the page says.
    pub(super) text: String,
}

/// Attributes that hold an address, by element.
const ADDRESSES: [(&str, &str); 12] = [
    ("a", "href"),
    ("area", "href"),
    ("link", "href"),
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("frame", "src"),
    ("source", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("track", "src"),
    ("embed", "src"),
];

/// Reads a page.
pub(super) fn read(html: &str) -> Outline {
    let text = without_tags(html);
    if is_bottomless(html) {
        return Outline { has_title: true, text, ..Outline::default() };
    }
    let page = Html::parse_document(html);
    let mut outline = Outline { text, ..Outline::default() };
    let mut ids = BTreeSet::new();
    let Ok(every) = Selector::parse("*") else { return outline };
    for element in page.select(&every) {
        let value = element.value();
        let name = value.name();
        if name == "title" && !element.text().collect::<String>().trim().is_empty() {
            outline.has_title = true;
        }
        if let Some(id) = value.attr("id")
            && !ids.insert(id.to_owned())
        {
            outline.double_ids.insert(id.to_owned());
        }
        let mut add = |address: &str, is_sent| {
            outline.links.insert(Link { address: address.trim().to_owned(), is_sent });
        };
        for (_, attribute) in ADDRESSES.iter().filter(|(element, _)| *element == name) {
            if let Some(address) = value.attr(attribute) {
                add(address, false);
            }
        }
        match name {
            "form" => {
                let post = value.attr("method").is_some_and(|it| it.eq_ignore_ascii_case("post"));
                add(value.attr("action").unwrap_or_default(), post);
            }
            "meta"
                if value
                    .attr("http-equiv")
                    .is_some_and(|it| it.eq_ignore_ascii_case("refresh")) =>
            {
                let content = value.attr("content").unwrap_or_default();
                if let Some(at) = content.to_ascii_lowercase().find("url=") {
                    add(content[at + 4..].trim_matches(['"', '\'', ' ']), false);
                }
            }
            _ => {}
        }
    }
    outline
}

/// Returns the URLs that stand in a text: a script, data, or prose.
pub(super) fn mentioned(text: &str) -> BTreeSet<Link> {
    static URL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"https?://[^\s"'<>\\`{}|^()\[\]，。；、）（」』]+"#).ok());
    let Some(pattern) = &*URL else { return BTreeSet::new() };
    let urls = pattern
        .find_iter(text)
        .map(|found| found.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?']));
    urls.map(|url| Link { address: url.to_owned(), is_sent: false }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_outlined() {
        let html = "<title> T </title><a href='/a'>x</a><img src=b.png><form action=/send method=POST>\
                    <input id=i><input id=i></form><form></form>\
                    <meta http-equiv=Refresh content=\"3; URL='/next'\">";
        let outline = read(html);
        let links: Vec<_> =
            outline.links.iter().map(|link| (link.address.as_str(), link.is_sent)).collect();
        assert_eq!(
            links,
            [("", false), ("/a", false), ("/next", false), ("/send", true), ("b.png", false)]
        );
        assert!(outline.has_title);
        assert_eq!(outline.double_ids.into_iter().collect::<Vec<_>>(), ["i"]);
        assert!(!read("<title> </title>").has_title);
    }

    #[test]
    fn urls_in_text_end_where_prose_goes_on() {
        let text = "see https://a.test/x, (http://b.test/y?z=1). \"https://c.test/\\n\" https://d.test/路。";
        let found: Vec<_> = mentioned(text).into_iter().map(|link| link.address).collect();
        assert_eq!(
            found,
            ["http://b.test/y?z=1", "https://a.test/x", "https://c.test/", "https://d.test/路"]
        );
    }
}
