//! Styles of a Word document: which of them are headings, lists, or emphasis.

use std::collections::HashMap;

use crate::documents::office::marks::Face;
use crate::documents::office::xml::{Element, Tree};

/// The most styles that a chain is followed through.
const CHAIN: usize = 20;

#[derive(Debug, Default, Clone)]
struct Style {
    name: String,
    based_on: Option<String>,
    outline: Option<usize>,
    number: (Option<String>, Option<usize>),
    bold: Option<bool>,
    italic: Option<bool>,
    struck: Option<bool>,
}

/// The styles by their ids.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

impl Styles {
    /// Reads the part of the styles.
    pub(super) fn read(tree: Option<&Tree>) -> Self {
        let styles = tree.into_iter().flat_map(|tree| tree.root().all("w:style"));
        let styles =
            styles.filter_map(|style| Some((style.attr("w:styleId")?.to_owned(), read(style))));
        Self(styles.collect())
    }

    /// Follows the styles that one is based on.
    fn chain<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Style> {
        let mut next = Some(id);
        std::iter::from_fn(move || {
            let style = self.0.get(next?)?;
            next = style.based_on.as_deref();
            Some(style)
        })
        .take(CHAIN)
    }

    /// Returns the level of a heading, from 1, if the style is one.
    pub(super) fn heading(&self, id: &str) -> Option<usize> {
        let own = self.0.get(id).map_or(id, |style| style.name.as_str());
        for name in self.chain(id).map(|style| style.name.as_str()).chain([own]) {
            if let Some(level) = named_heading(name) {
                return Some(level);
            }
        }
        self.chain(id).find_map(|style| style.outline).filter(|level| *level < 9).map(|it| it + 1)
    }

    /// Returns the list that paragraphs of the style belong to, and their level in it.
    pub(super) fn number<'a>(&'a self, id: &'a str) -> (Option<&'a str>, Option<usize>) {
        let list = self.chain(id).find_map(|style| style.number.0.as_deref());
        (list, self.chain(id).find_map(|style| style.number.1))
    }

    /// Returns the emphasis of a character style.
    pub(super) fn face(&self, id: &str) -> Face {
        let on = |what: fn(&Style) -> Option<bool>| self.chain(id).find_map(what).unwrap_or(false);
        Face { bold: on(|it| it.bold), italic: on(|it| it.italic), struck: on(|it| it.struck) }
    }
}

/// Tells a heading by its style's name, in the languages that Word writes ids in.
fn named_heading(name: &str) -> Option<usize> {
    let lower = name.trim().to_lowercase();
    if matches!(lower.as_str(), "title" | "标题" | "titel" | "titre" | "título") {
        return Some(1);
    }
    let heads =
        ["heading", "标题", "標題", "überschrift", "titre", "título", "titolo", "kop", "見出し"];
    let rest = heads.iter().find_map(|head| lower.strip_prefix(head))?;
    let level: usize = rest.trim().parse().ok()?;
    (1..=9).contains(&level).then_some(level)
}

fn read(style: Element<'_>) -> Style {
    let paragraph = style.child("w:pPr");
    let run = style.child("w:rPr");
    let list = paragraph.and_then(|it| it.child("w:numPr"));
    let level = |value: Option<&str>| value.and_then(|value| value.parse().ok());
    Style {
        name: style.value("w:name").unwrap_or_default().to_owned(),
        based_on: style.value("w:basedOn").map(str::to_owned),
        outline: level(paragraph.and_then(|it| it.value("w:outlineLvl"))),
        number: (
            list.and_then(|it| it.value("w:numId")).map(str::to_owned),
            level(list.and_then(|it| it.value("w:ilvl"))),
        ),
        bold: run.and_then(|it| toggle(it, "w:b")),
        italic: run.and_then(|it| toggle(it, "w:i")),
        struck: run.and_then(|it| toggle(it, "w:strike")),
    }
}

/// Reads a property that is on or off (ECMA-376 part 1, 17.17.4), if it is there.
pub(super) fn toggle(properties: Element<'_>, name: &str) -> Option<bool> {
    let property = properties.child(name)?;
    Some(!matches!(property.attr("w:val"), Some("0" | "false" | "off" | "none")))
}
