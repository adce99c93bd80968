//! Pages as Markdown: the whole page, not only an article in it.
//!
//! The one frame that is left out is a wiki's, whose menus and lists of languages are
//! longer than most of its articles, and that is noted.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use scraper::{Html, Selector};

use super::links::resolved;
use super::notebook::without_data;
use super::{Document, tree::one_line};
use crate::html::{is_bottomless, to_markdown, unescaped, without_tags};

static TITLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?is)<title[^>]*>(.*?)</title\s*>").ok());

/// Converts a page.
pub(super) fn read(html: &str) -> Document {
    let mut notes = Vec::new();
    let article = article(html);
    if article.is_some() {
        notes.push("a page of a wiki; its menus are left out".to_owned());
    }
    let shown = resolved(article.as_deref().unwrap_or(html));
    let body = to_markdown(&shown).unwrap_or_else(|| {
        notes.push("its elements nest too deep, so shown as bare text".to_owned());
        without_tags(&shown)
    });
    let mut text = without_data(body.trim());
    if let Some(title) = title(html)
        && !text.contains(title.as_str())
    {
        text = format!("# {title}\n\n{text}");
    }
    if text.is_empty() {
        notes.push("the page holds no text; it may be filled by a script".to_owned());
    }
    Document { kind: "HTML".into(), text, notes }
}

fn title(html: &str) -> Option<String> {
    let found = TITLE.as_ref()?.captures(html)?.get(1)?.as_str();
    let title = one_line(&unescaped(found));
    (!title.is_empty()).then_some(title)
}

/// Returns heading and text of a page that `MediaWiki` made.
fn article(html: &str) -> Option<Cow<'_, str>> {
    if !html.contains("mw-content-text") || is_bottomless(html) {
        return None;
    }
    let page = Html::parse_document(html);
    let first = |selector: &str| {
        let selector = Selector::parse(selector).ok()?;
        page.select(&selector).next().map(|element| element.html())
    };
    let text = first("#mw-content-text")?;
    Some(Cow::Owned(first("h1#firstHeading").unwrap_or_default() + &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_page_is_kept() {
        let html = "<html><head><title>Ferries &amp; fares</title><style>p{}</style></head><body>\
            <nav><a href='/a'>Home</a></nav><h1>Times</h1><table><tr><th>From</th><th>At</th></tr>\
            <tr><td>北港</td><td>08:15</td></tr></table><script>var x = 1</script>\
            <footer>Imprint</footer></body></html>";
        let text = read(html).text;
        for want in ["# Ferries & fares", "[Home](/a)", "# Times", "北港", "08:15", "Imprint"] {
            assert!(text.contains(want), "{want} is missing in {text}");
        }
        assert!(!text.contains("var x") && !text.contains("p{}"), "code is no text: {text}");
    }

    #[test]
    fn structure_is_kept() {
        let html = "<html><body><h2>List</h2><ol><li>one<ul><li>inner</li></ul></li><li>two</li></ol>\
            <p>Noted<sup><a href='#n1'>1</a></sup> <b>bold</b></p><hr><ol><li id='n1'>the note</li></ol>\
            <img alt='a chart' src='data:image/png;base64,".to_owned() + &"A".repeat(400) + "'></body></html>";
        let text = read(&html).text;
        for want in ["## List", "1.", "inner", "[1](#n1)", "**bold**", "the note", "a chart"] {
            assert!(text.contains(want), "{want} is missing in {text}");
        }
        assert!(!text.contains("AAAAAAAA"), "pictures are not written out: {text}");
    }

    #[test]
    fn the_frame_of_a_wiki_is_left_out() {
        let html = "<html><body><div>154 languages</div><h1 id='firstHeading'>Port</h1>\
            <div id='mw-content-text'><p>A <b>town</b>.</p></div><div>log in</div></body></html>";
        let got = read(html);
        assert_eq!(got.text, "# Port\n\nA **town**.");
        assert_eq!(got.notes, ["a page of a wiki; its menus are left out"]);
    }

    #[test]
    fn old_pages_with_unclosed_tags_are_not_deep() {
        let html = format!("<ul>{}</ul>", "<li><p>item".repeat(5000));
        assert_eq!(read(&html).notes, [""; 0]);
        let deep = format!("{}bottom &lt;3{}", "<div>".repeat(5000), "</div>".repeat(5000));
        assert_eq!(read(&deep).text, "bottom <3");
    }
}
