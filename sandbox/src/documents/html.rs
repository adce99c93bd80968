//! Pages as Markdown: the whole page, not only an article in it.

use std::sync::LazyLock;

use htmd::HtmlToMarkdown;
use htmd::options::Options;
use regex::Regex;

use super::{Document, Unreadable};

/// Nesting beyond which a page is shown as bare text: the converter is recursive, and
/// the standard's tree building slow, in depth.
const DEPTH: usize = 400;

/// Elements whose content is no text for a reader; the title is put above the page.
const SILENT: [&str; 7] = ["iframe", "noscript", "script", "style", "svg", "template", "title"];

/// Elements that never nest in themselves, or close on their own.
const FLAT: [&str; 30] = [
    "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html",
    "img", "input", "li", "link", "meta", "optgroup", "option", "p", "param", "rp", "rt", "source",
    "tbody", "td", "tfoot", "th", "tr", "wbr",
];

static TAG: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<(/?)([A-Za-z][A-Za-z0-9:-]*)[^<>]*?(/?)>").ok());

static SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>").ok()
});

static CHARSET: LazyLock<Option<regex::bytes::Regex>> = LazyLock::new(|| {
    regex::bytes::Regex::new(r#"(?i-u)<meta[^>]+charset\s*=\s*["']?([a-z0-9_:.-]+)"#).ok()
});

static TITLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?is)<title[^>]*>(.*?)</title\s*>").ok());

/// Returns the encoding that a page names in its head.
pub(super) fn charset(head: &[u8]) -> Option<String> {
    let found = CHARSET.as_ref()?.captures(head)?.get(1)?;
    Some(String::from_utf8_lossy(found.as_bytes()).into_owned())
}

/// Converts a page.
pub(super) fn read(html: &str) -> Result<Document, Unreadable> {
    let mut notes = Vec::new();
    let body = if depth(html) > DEPTH {
        notes.push(format!("nested more than {DEPTH} levels, so shown as bare text"));
        bare(html)
    } else {
        let options = Options { br_style: htmd::options::BrStyle::Backslash, ..Options::default() };
        let converter =
            HtmlToMarkdown::builder().skip_tags(SILENT.to_vec()).options(options).build();
        converter.convert(html).map_err(|error| Unreadable::damaged("HTML page", &error))?
    };
    let mut text = body.trim().to_owned();
    if let Some(title) = title(html)
        && !text.contains(title.as_str())
    {
        text = format!("# {title}\n\n{text}");
    }
    if text.is_empty() {
        notes.push("the page holds no text; it may be filled by a script".to_owned());
    }
    Ok(Document { kind: "HTML".into(), text, notes })
}

fn title(html: &str) -> Option<String> {
    let found = TITLE.as_ref()?.captures(html)?.get(1)?.as_str();
    let title = unescape(found).split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

/// The deepest nesting of elements that nest; never less than what a parser would build.
fn depth(html: &str) -> usize {
    let Some(tag) = TAG.as_ref() else { return 0 };
    let (mut open, mut deepest) = (0_usize, 0);
    for found in tag.captures_iter(html) {
        let name = found[2].to_ascii_lowercase();
        if FLAT.binary_search(&name.as_str()).is_ok() || !found[3].is_empty() {
            continue;
        }
        if found[1].is_empty() {
            open += 1;
            deepest = deepest.max(open);
        } else {
            open = open.saturating_sub(1);
        }
    }
    deepest
}

/// Takes the tags out.
fn bare(html: &str) -> String {
    let (Some(tag), Some(script)) = (TAG.as_ref(), SCRIPT.as_ref()) else {
        return html.to_owned();
    };
    let text = script.replace_all(html, " ");
    let text = unescape(&tag.replace_all(&text, "\n"));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Resolves the entities that matter for reading.
fn unescape(text: &str) -> String {
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
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
        let text = read(html).unwrap().text;
        for want in ["# Ferries & fares", "[Home](/a)", "# Times", "北港", "08:15", "Imprint"] {
            assert!(text.contains(want), "{want} is missing in {text}");
        }
        assert!(!text.contains("var x") && !text.contains("p{}"), "code is no text: {text}");
    }

    #[test]
    fn old_pages_with_unclosed_tags_are_not_deep() {
        let html = format!("<ul>{}</ul>", "<li><p>item".repeat(5000));
        assert!(depth(&html) < 10);
        assert_eq!(depth(&"<div>".repeat(5000)), 5000);
        let deep = format!("{}bottom &lt;3{}", "<div>".repeat(5000), "</div>".repeat(5000));
        assert_eq!(read(&deep).unwrap().text, "bottom <3");
    }

    #[test]
    fn flat_elements_are_sorted_for_the_search() {
        assert!(FLAT.is_sorted());
    }

    #[test]
    fn a_page_names_its_encoding() {
        assert_eq!(charset(b"<meta charset=\"gb2312\">").as_deref(), Some("gb2312"));
        let old = b"<META http-equiv=Content-Type content='text/html; charset=Big5'>";
        assert_eq!(charset(old).as_deref(), Some("Big5"));
        assert_eq!(charset(b"<p>charset=x"), None);
    }
}
