//! Pages as Markdown: the whole page, not only an article in it.

use std::sync::LazyLock;

use regex::Regex;

use super::Document;
use crate::html::{to_markdown, unescaped, without_tags};

static TITLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?is)<title[^>]*>(.*?)</title\s*>").ok());

/// Converts a page.
pub(super) fn read(html: &str) -> Document {
    let mut notes = Vec::new();
    let body = to_markdown(html).unwrap_or_else(|| {
        notes.push("its elements nest too deep, so shown as bare text".to_owned());
        without_tags(html)
    });
    let mut text = body.trim().to_owned();
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
    let title = unescaped(found).split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
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
    fn old_pages_with_unclosed_tags_are_not_deep() {
        let html = format!("<ul>{}</ul>", "<li><p>item".repeat(5000));
        assert_eq!(read(&html).notes, [""; 0]);
        let deep = format!("{}bottom &lt;3{}", "<div>".repeat(5000), "</div>".repeat(5000));
        assert_eq!(read(&deep).text, "bottom <3");
    }
}
