//! Articles: from Markdown to plain text, HTML and links.

use jiff::civil::Date;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, html};
use wildgym_tasks::environment::Article;

use super::super::pages::encoded;

/// An article, rendered.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) title: String,
    pub(super) redirects: Vec<String>,
    pub(super) disambiguation: bool,
    pub(super) date: Date,
    /// Plain text; headings stand between `==`, as in MediaWiki's extracts.
    pub(super) text: String,
    /// How many bytes of `text` come before the first heading.
    pub(super) intro: usize,
    pub(super) headings: Vec<String>,
    pub(super) html: String,
    /// Titles that the article links to, in order, each once.
    pub(super) links: Vec<String>,
    /// Bytes of the source.
    pub(super) size: usize,
}

impl Entry {
    /// Renders an article. HTML in it is shown as text.
    pub(super) fn new(article: &Article) -> Self {
        let options = Options::ENABLE_WIKILINKS | Options::ENABLE_TABLES;
        let events: Vec<_> = Parser::new_ext(&article.body, options).map(tame).collect();
        let (text, headings, intro) = plain(&events);
        let mut links = Vec::new();
        for event in &events {
            if let Event::Start(Tag::Link { dest_url, .. }) = event
                && let Some(title) = dest_url.strip_prefix("/wiki/")
            {
                let title = normal_title(&super::super::pages::decoded(title));
                if !links.contains(&title) {
                    links.push(title);
                }
            }
        }
        let mut rendered = String::new();
        html::push_html(&mut rendered, events.into_iter());
        Self {
            title: normal_title(&article.meta.title),
            redirects: article.meta.redirects.iter().map(|title| normal_title(title)).collect(),
            disambiguation: article.meta.disambiguation,
            date: article.meta.date,
            text,
            intro,
            headings,
            html: rendered,
            links,
            size: article.body.len(),
        }
    }

    /// Returns the text before the first heading.
    pub(super) fn intro(&self) -> &str {
        self.text.get(..self.intro).unwrap_or(&self.text).trim()
    }
}

/// Makes HTML text, and gives links between articles their address.
fn tame(event: Event<'_>) -> Event<'_> {
    if let Event::Html(text) | Event::InlineHtml(text) = event {
        Event::Text(text)
    } else if let Event::Start(Tag::Link { link_type, dest_url, title, id }) = event {
        let dest_url = if matches!(link_type, LinkType::WikiLink { .. }) {
            format!("/wiki/{}", path_title(&normal_title(&dest_url))).into()
        } else {
            dest_url
        };
        Event::Start(Tag::Link { link_type, dest_url, title, id })
    } else {
        event
    }
}

/// Returns the plain text, the headings, and the length of the text before the first.
fn plain(events: &[Event<'_>]) -> (String, Vec<String>, usize) {
    let mut text = String::new();
    let mut headings = Vec::new();
    let mut intro = None;
    let mut heading: Option<usize> = None;
    for event in events {
        if let Event::Text(run) | Event::Code(run) = event {
            text.push_str(run);
        } else if matches!(event, Event::SoftBreak | Event::End(TagEnd::TableCell)) {
            text.push(' ');
        } else if let Event::Start(Tag::Heading { level, .. }) = event {
            intro = intro.or(Some(text.len()));
            text.extend(["\n", &"=".repeat((*level as usize).max(2)), " "]);
            heading = Some(text.len());
        } else if let Event::End(TagEnd::Heading(level)) = event {
            let start = heading.take().unwrap_or(text.len());
            headings.push(text.get(start..).unwrap_or_default().to_owned());
            text.extend([" ", &"=".repeat((*level as usize).max(2)), "\n"]);
        } else if ends_line(event) && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    let intro = intro.unwrap_or(text.len());
    (text, headings, intro)
}

fn ends_line(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::HardBreak
            | Event::Rule
            | Event::Start(Tag::List(_))
            | Event::End(
                TagEnd::Paragraph
                    | TagEnd::Item
                    | TagEnd::TableHead
                    | TagEnd::TableRow
                    | TagEnd::CodeBlock
                    | TagEnd::HtmlBlock
            )
    )
}

/// Returns a title in its one spelling: spaces for underscores, none doubled, the
/// first letter a capital, no fragment.
pub(super) fn normal_title(written: &str) -> String {
    let written = written.split('#').next().unwrap_or_default().replace('_', " ");
    let title = written.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = title.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => title,
    }
}

/// Returns a title as it stands in a URL.
pub(super) fn path_title(title: &str) -> String {
    encoded(&title.replace(' ', "_"))
}

/// Returns the first `count` sentences of a text.
pub(super) fn sentences(text: &str, count: usize) -> &str {
    let mut left = count;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            left = left.saturating_sub(1);
            if left == 0 {
                return text.get(..at + c.len_utf8()).unwrap_or(text).trim_end();
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(body: &str) -> Entry {
        let meta = wildgym_tasks::environment::ArticleMeta {
            title: "port ellery".to_owned(),
            redirects: vec!["ellery_port".to_owned()],
            disambiguation: false,
            date: "2026-01-02".parse().unwrap(),
        };
        Entry::new(&Article { meta, body: body.to_owned(), file: "a.md".into() })
    }

    #[test]
    fn markdown_becomes_text_html_and_links() {
        let entry = entry(
            "**Port Ellery** is a [[harbour]] of [[Veldt Coast|the coast]].\nSee [x](https://x.test).\n\n\
             ## Tides\n\n| month | m |\n|---|---|\n| May | 2.1 |\n\n- <b onclick=x>one</b>\n- two\n",
        );
        assert_eq!(entry.title, "Port ellery");
        assert_eq!(entry.intro(), "Port Ellery is a harbour of the coast. See x.");
        assert_eq!(entry.links, ["Harbour", "Veldt Coast"]);
        assert_eq!(entry.headings, ["Tides"]);
        assert!(entry.text.contains("\n== Tides ==\nmonth m \nMay 2.1 \n"), "{}", entry.text);
        assert!(
            entry.html.contains("<a href=\"/wiki/Veldt_Coast\">the coast</a>"),
            "{}",
            entry.html
        );
        assert!(!entry.html.contains("<b onclick"), "HTML is shown, not obeyed: {}", entry.html);
    }

    #[test]
    fn sentences_end_where_readers_see_their_end() {
        let table = [
            ("One. Two. Three.", 2, "One. Two.", "English"),
            ("港口很深。潮汐高！其余。", 2, "港口很深。潮汐高！", "Chinese"),
            ("It rose 2.5 m. Then fell.", 1, "It rose 2.5 m.", "a point in a number"),
            ("no end", 3, "no end", "fewer than asked for"),
        ];
        for (text, count, want, why) in table {
            assert_eq!(sentences(text, count), want, "{why}");
        }
    }
}
