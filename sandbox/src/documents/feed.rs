//! Feeds (RSS and Atom): the entries with title, link, date and what they say.
//!
//! The text of an entry is HTML more often than not and becomes Markdown. A feed that
//! breaks off gives the entries before the break.

use super::Document;
use super::tree::{Id, Tree, one_line};
use crate::html::{to_markdown, without_tags};

/// Reads a feed; nothing where the XML is none.
pub(super) fn read(xml: &str) -> Option<Document> {
    let tree = Tree::of(xml);
    let root = tree.root()?;
    let kind = match tree.get(root).local().to_ascii_lowercase().as_str() {
        "rss" | "rdf" => "RSS feed",
        "feed" => "Atom feed",
        _ => return None,
    };
    let channel = tree.first(root, "channel").unwrap_or(root);
    // RSS 1.0 has its items beside the channel, not in it.
    let mut entries: Vec<Id> = Vec::new();
    for holder in if channel == root { vec![root] } else { vec![channel, root] } {
        let inner = |id: &Id| matches!(tree.get(*id).local(), "item" | "entry");
        entries.extend(tree.children(holder).filter(inner));
    }
    let mut text = format!("# {}\n", title(&tree, channel));
    for line in facts(&tree, channel) {
        text.extend(["\n- ", &line]);
    }
    let about = body(&tree, channel, &["description", "subtitle", "tagline"]);
    if !about.is_empty() {
        text.extend(["\n\n", &about]);
    }
    for entry in &entries {
        text.extend(["\n\n## ", &title(&tree, *entry), "\n"]);
        for line in facts(&tree, *entry) {
            text.extend(["\n- ", &line]);
        }
        let said = body(&tree, *entry, &["encoded", "content", "description", "summary"]);
        if !said.is_empty() {
            text.extend(["\n\n", &said]);
        }
    }
    let mut notes = vec![format!("{} entries", entries.len())];
    notes.extend(tree.broken.map(|why| format!("the feed breaks off: {why}")));
    Some(Document { kind: kind.to_owned(), text, notes })
}

fn title(tree: &Tree, id: Id) -> String {
    let title = tree.first(id, "title").map(|title| one_line(&without_tags(&tree.all_text(title))));
    title.filter(|title| !title.is_empty()).unwrap_or_else(|| "(no title)".to_owned())
}

/// Returns the lines about a feed or an entry: links, dates, authors, categories, files.
fn facts(tree: &Tree, id: Id) -> Vec<String> {
    let mut facts = Vec::new();
    let mut categories = Vec::new();
    for child in tree.children(id) {
        let element = tree.get(child);
        let text = tree.line(child);
        let fact = match element.local() {
            "link" => link(element.attribute("href").unwrap_or(&text), element.attribute("rel")),
            "pubDate" | "published" | "date" => said("published", &text),
            "updated" | "modified" | "lastBuildDate" => said("updated", &text),
            "author" | "creator" => said("by", &text),
            "guid" | "id" if text.contains("://") => None,
            "enclosure" => element.attribute("url").map(|url| format!("file: {url}")),
            "category" => {
                let name = element.attribute("term").unwrap_or(&text);
                categories.extend((!name.is_empty()).then(|| name.to_owned()));
                None
            }
            _ => None,
        };
        facts.extend(fact);
    }
    if !categories.is_empty() {
        facts.push(format!("categories: {}", categories.join(", ")));
    }
    facts
}

fn said(what: &str, text: &str) -> Option<String> {
    (!text.is_empty()).then(|| format!("{what} {text}"))
}

fn link(target: &str, relation: Option<&str>) -> Option<String> {
    let what = match relation {
        None | Some("alternate") => "link",
        Some("enclosure") => "file",
        Some(_) => return None,
    };
    (!target.is_empty()).then(|| format!("{what}: {target}"))
}

/// Returns what the first of these elements that says anything says, as Markdown.
fn body(tree: &Tree, id: Id, names: &[&str]) -> String {
    let bodies = names.iter().flat_map(|name| tree.named(id, name));
    let texts = bodies.map(|body| {
        let text = tree.all_text(body);
        let text = text.trim();
        if text.contains('<') || text.contains('&') {
            to_markdown(text).unwrap_or_else(|| without_tags(text)).trim().to_owned()
        } else {
            text.to_owned()
        }
    });
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_with_title_link_date_and_text() {
        let rss = "<rss xmlns:content='c'><channel><title>Harbour</title><link>https://a.test</link>\
            <item><title>Flood &amp; tide</title><link>https://a.test/1</link>\
            <pubDate>Tue, 03 Feb 2026</pubDate><category>Sea</category>\
            <description>short</description>\
            <content:encoded><![CDATA[<p>High <b>wet</b></p>]]></content:encoded></item>\
            <item><description>untitled</description></item></channel></rss>";
        let feed = read(rss).unwrap();
        let want = "# Harbour\n\n- link: https://a.test\n\n## Flood & tide\n\n\
            - link: https://a.test/1\n- published Tue, 03 Feb 2026\n- categories: Sea\n\n\
            High **wet**\n\n## (no title)\n\n\nuntitled";
        assert_eq!(feed.text, want);
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title>潮汐</title><entry>\
            <title>二</title><link rel='self' href='x'/><link href='https://a.test/二'/>\
            <updated>2026-02-03</updated><summary type='html'>&lt;i&gt;low&lt;/i&gt;</summary>";
        let feed = read(atom).unwrap();
        assert_eq!(feed.kind, "Atom feed");
        for want in ["## 二", "link: https://a.test/二", "updated 2026-02-03", "*low*"] {
            assert!(feed.text.contains(want), "{want} in {}", feed.text);
        }
        assert!(read("<html><body/></html>").is_none());
    }
}
