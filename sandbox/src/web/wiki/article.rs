//! Articles: their revisions, and from Markdown to plain text, HTML, sections and links.
//!
//! An article is rendered when it is first asked for. HTML in it is shown as text.

use std::sync::OnceLock;

use jiff::civil::Date;
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};
use wildgym_tasks::environment::Article;

use super::super::pages::{decoded, encoded};

/// An article with its history.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) title: String,
    pub(super) redirects: Vec<String>,
    pub(super) disambiguation: bool,
    pub(super) categories: Vec<String>,
    /// The same article in other languages: language, title, address.
    pub(super) languages: Vec<(&'static str, String, String)>,
    /// The oldest first; the last is what the article says. Never empty.
    pub(super) revisions: Vec<Revision>,
    rendered: OnceLock<Rendered>,
}

/// What an article said from some day on.
#[derive(Debug, Clone)]
pub(super) struct Revision {
    /// Its number in the encyclopedia.
    pub(super) id: u64,
    pub(super) date: Date,
    pub(super) user: String,
    pub(super) comment: String,
    /// The source, Markdown.
    pub(super) body: String,
}

/// An article, rendered.
#[derive(Debug, Clone, Default)]
pub(super) struct Rendered {
    /// Plain text; headings stand between `==`, as in MediaWiki's extracts.
    pub(super) text: String,
    /// How many bytes of `text` come before the first heading.
    intro: usize,
    pub(super) html: String,
    pub(super) sections: Vec<Section>,
    /// Titles that the article links to, in order, each once.
    pub(super) links: Vec<String>,
    /// Addresses outside that it links to, in order, each once.
    pub(super) external: Vec<String>,
}

/// A heading and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// From 1 to 6.
    pub(super) level: usize,
    pub(super) title: String,
    /// The fragment that leads there.
    pub(super) anchor: String,
    /// Where it begins in the HTML, in bytes.
    html: usize,
    /// Where it begins in the source, in bytes.
    source: usize,
}

impl Entry {
    /// Takes over an article; its revisions have no numbers yet.
    pub(super) fn new(article: &Article) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let meta = &article.meta;
        let mut revisions: Vec<_> = article
            .revisions
            .iter()
            .map(|old| Revision {
                id: 0,
                date: old.meta.date,
                user: text(&old.meta.user),
                comment: text(&old.meta.comment),
                body: old.body.clone(),
            })
            .collect();
        revisions.push(Revision {
            id: 0,
            date: meta.date,
            user: text(&meta.user),
            comment: text(&meta.comment),
            body: article.body.clone(),
        });
        let languages = meta.languages.iter();
        Self {
            title: normal_title(&meta.title),
            redirects: meta.redirects.iter().map(|title| normal_title(title)).collect(),
            disambiguation: meta.disambiguation,
            categories: meta.categories.iter().map(|title| normal_title(title)).collect(),
            languages: languages
                .map(|(language, title)| (language.name(), normal_title(title), String::new()))
                .collect(),
            revisions,
            rendered: OnceLock::new(),
        }
    }

    /// Returns the article as it is now.
    pub(super) fn rendered(&self) -> &Rendered {
        self.rendered.get_or_init(|| Rendered::new(self.body()))
    }

    /// Returns the source of the article.
    pub(super) fn body(&self) -> &str {
        self.revisions.last().map_or("", |last| &last.body)
    }

    /// Returns the day of the last revision.
    pub(super) fn date(&self) -> Date {
        self.revisions.last().map_or(Date::ZERO, |last| last.date)
    }
}

impl Rendered {
    /// Renders a source.
    pub(super) fn new(body: &str) -> Self {
        let options = Options::ENABLE_WIKILINKS | Options::ENABLE_TABLES;
        let parser = Parser::new_ext(body, options).into_offset_iter();
        let (mut events, places): (Vec<_>, Vec<_>) =
            parser.map(|(event, place)| (tame(event), place.start)).unzip();
        let mut rendered = Self::default();
        rendered.read_text(&events, &places);
        rendered.read_links(&events);
        let mut anchors = rendered.sections.iter().map(|section| section.anchor.clone());
        for event in &mut events {
            if let Event::Start(Tag::Heading { id, .. }) = event {
                *id = anchors.next().map(CowStr::from);
            }
        }
        let heads: Vec<usize> = (0..events.len())
            .filter(|at| matches!(events[*at], Event::Start(Tag::Heading { .. })))
            .collect();
        let mut events = events.into_iter();
        let mut done = 0;
        for (number, head) in heads.into_iter().enumerate() {
            html::push_html(&mut rendered.html, events.by_ref().take(head - done));
            done = head;
            rendered.sections[number].html = rendered.html.len();
        }
        html::push_html(&mut rendered.html, events);
        rendered
    }

    /// Returns the text before the first heading.
    pub(super) fn intro(&self) -> &str {
        self.text.get(..self.intro).unwrap_or(&self.text).trim()
    }

    /// Returns the HTML of a section and those below it; section 0 is what comes before
    /// the first heading.
    pub(super) fn section_html(&self, number: usize) -> Option<&str> {
        let (first, next) = self.bounds(number)?;
        let end = next.map_or(self.html.len(), |next| next.html);
        self.html.get(first.map_or(0, |first| first.html)..end)
    }

    /// Returns the source of a section.
    pub(super) fn section_source<'a>(&self, body: &'a str, number: usize) -> Option<&'a str> {
        let (first, next) = self.bounds(number)?;
        let end = next.map_or(body.len(), |next| next.source);
        body.get(first.map_or(0, |first| first.source)..end).map(str::trim_end)
    }

    /// Returns the heading of a section, and the one at which it ends.
    fn bounds(&self, number: usize) -> Option<(Option<&Section>, Option<&Section>)> {
        let Some(index) = number.checked_sub(1) else {
            return Some((None, self.sections.first()));
        };
        let first = self.sections.get(index)?;
        let next = self.sections[index + 1..].iter().find(|next| next.level <= first.level);
        Some((Some(first), next))
    }

    /// Reads the plain text and the headings.
    fn read_text(&mut self, events: &[Event<'_>], places: &[usize]) {
        let text = &mut self.text;
        let mut intro = None;
        let mut heading: Option<usize> = None;
        for (event, place) in events.iter().zip(places) {
            if let Event::Text(run) | Event::Code(run) = event {
                text.push_str(run);
            } else if matches!(event, Event::SoftBreak | Event::End(TagEnd::TableCell)) {
                text.push(' ');
            } else if let Event::Start(Tag::Heading { level, .. }) = event {
                intro = intro.or(Some(text.len()));
                let level = *level as usize;
                text.extend(["\n", &"=".repeat(level.max(2)), " "]);
                heading = Some(text.len());
                let title = String::new();
                let section =
                    Section { level, title, anchor: String::new(), html: 0, source: *place };
                self.sections.push(section);
            } else if let Event::End(TagEnd::Heading(level)) = event {
                let start = heading.take().unwrap_or(text.len());
                let title = text.get(start..).unwrap_or_default().to_owned();
                let anchor = title.replace(' ', "_");
                let same = self.sections.iter().filter(|other| other.title == title).count();
                if let Some(section) = self.sections.last_mut() {
                    section.anchor =
                        if same == 0 { anchor } else { format!("{anchor}_{}", same + 1) };
                    section.title = title;
                }
                text.extend([" ", &"=".repeat((*level as usize).max(2)), "\n"]);
            } else if ends_line(event) && !text.ends_with('\n') {
                text.push('\n');
            }
        }
        self.intro = intro.unwrap_or(text.len());
    }

    fn read_links(&mut self, events: &[Event<'_>]) {
        for event in events {
            let Event::Start(Tag::Link { dest_url, .. }) = event else { continue };
            let (list, target) = match dest_url.strip_prefix("/wiki/") {
                Some(title) => (&mut self.links, normal_title(&decoded(title))),
                None if dest_url.contains("://") => (&mut self.external, dest_url.to_string()),
                None => continue,
            };
            if !list.contains(&target) {
                list.push(target);
            }
        }
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles_have_one_spelling() {
        for (written, want) in [
            ("port_ellery", "Port ellery"),
            ("  Port__Ellery ", "Port Ellery"),
            ("Port Ellery#Tides", "Port Ellery"),
            ("云岫港", "云岫港"),
            ("", ""),
        ] {
            assert_eq!(normal_title(written), want);
        }
    }

    #[test]
    fn markdown_becomes_text_html_and_links() {
        let body = "**Port Ellery** is a [[harbour]] of [[Veldt Coast|the coast]].\n\
             See [x](https://x.test).\n\n## Tides\n\n| month | m |\n|---|---|\n| May | 2.1 |\n\n\
             - <b onclick=x>one</b>\n- two\n";
        let got = Rendered::new(body);
        assert_eq!(got.intro(), "Port Ellery is a harbour of the coast. See x.");
        assert_eq!(got.links, ["Harbour", "Veldt Coast"]);
        assert_eq!(got.external, ["https://x.test"]);
        assert!(got.text.contains("\n== Tides ==\nmonth m \nMay 2.1 \n"), "{}", got.text);
        assert!(got.html.contains("<a href=\"/wiki/Veldt_Coast\">the coast</a>"), "{}", got.html);
        assert!(!got.html.contains("<b onclick"), "HTML is shown, not obeyed: {}", got.html);
    }

    #[test]
    fn sections_end_where_the_next_of_their_kind_begins() {
        let body = "Lead.\n\n## A b\n\none\n\n### Deep\n\ntwo\n\n## A b\n\nthree\n";
        let got = Rendered::new(body);
        let seen: Vec<_> = got
            .sections
            .iter()
            .map(|it| (it.level, it.title.as_str(), it.anchor.as_str()))
            .collect();
        assert_eq!(seen, [(2, "A b", "A_b"), (3, "Deep", "Deep"), (2, "A b", "A_b_2")]);
        let table = [
            (0, "Lead.", "<p>Lead.</p>\n"),
            (
                1,
                "## A b\n\none\n\n### Deep\n\ntwo",
                "<h2 id=\"A_b\">A b</h2>\n<p>one</p>\n<h3 id=\"Deep\">Deep</h3>\n<p>two</p>\n",
            ),
            (2, "### Deep\n\ntwo", "<h3 id=\"Deep\">Deep</h3>\n<p>two</p>\n"),
            (3, "## A b\n\nthree", "<h2 id=\"A_b_2\">A b</h2>\n<p>three</p>\n"),
        ];
        for (number, source, html) in table {
            assert_eq!(got.section_source(body, number), Some(source), "{number}");
            assert_eq!(got.section_html(number), Some(html), "{number}");
        }
        assert_eq!(got.section_html(4), None);
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

    proptest! {
        #[test]
        fn any_source_is_rendered(body in r"([#>|*\-\[\]()`\n ]|\n\n|## |潮|a|<b>){0,40}") {
            let got = Rendered::new(&body);
            for number in 0..=got.sections.len() {
                prop_assert!(got.section_html(number).is_some());
                prop_assert!(got.section_source(&body, number).is_some());
            }
        }
    }
}
